/* Conv at the speed of the machine, with the bits of meaning.py: every output element is one sum, started at
   the bias and continued term by term in the order input channel, kernel line, kernel column (D-CONV-6).
   Vectors run across output elements, never along a sum, so the width of a vector changes no bit.

   TYPE is the type of tensors, SUM that of sums; HALF where TYPE holds float16 bits; FUSED rounds once a term.
   The padded input holds every phase of a strided line apart: neighbours in it meet neighbouring outputs. */
#include "shared/kernel.h"
#include "shared/vector.h"
#if HALF
#include "shared/half.h"
#endif

struct parameters {
    int64_t batch, channels, outputs;
    int64_t height, width, out_height, out_width;
    int64_t kernel_height, kernel_width;
    int64_t stride_height, stride_width, dilation_height, dilation_width;
    int64_t pad_top, pad_left;
    int64_t padded_height, row, phase, plane; /* of the padded input, in elements of SUM */
    int64_t block;                            /* terms of a sum that are done at a time */
    int64_t rows;                             /* output channels, and idle ones that fill the last tile */
    int64_t tiles;                            /* tiles of neighbouring pixels that a task does */
    int64_t scratch;                          /* elements of SUM that a thread has for itself */
    int64_t biased, clipped;                  /* whether there is a bias, and a Clip at the end */
};

/* A tile of sums: up to TALL broadcast numbers times two vectors, which is what sixteen registers hold. */
#define TALL 6
#define WIDE (2 * LANES)

#if HALF
INLINE SUM widened(TYPE value) { return half_to_float(value); }
INLINE TYPE narrowed(SUM value) { return float_to_half(value); }
#else
INLINE SUM widened(TYPE value) { return value; }
INLINE TYPE narrowed(SUM value) { return value; }
#endif

/* Clip of what a Conv made, by the cases of clip/meaning.py; comparisons with a NaN bound are false. */
struct bounds {
    TYPE low, high;
};

INLINE struct bounds bounds_of(const struct parameters *p, void *const *operands, int64_t first)
{
    struct bounds found = {0, 0};
    if (p->clipped) {
        found.low = *(const TYPE *)operands[first];
        found.high = *(const TYPE *)operands[first + 1];
    }
    return found;
}

INLINE TYPE limited(TYPE value, const struct bounds *bounds)
{
    if (widened(value) < widened(bounds->low)) value = bounds->low;
    if (widened(value) > widened(bounds->high)) value = bounds->high;
    return value;
}

#if !HALF
INLINE vector limited_vector(vector value, const struct bounds *bounds)
{
    const vector low = spread(bounds->low), high = spread(bounds->high);
    value = chosen(value < low, low, value);
    return chosen(value > high, high, value);
}
#endif

/* --- the input with its padding ------------------------------------------------------------------------ */

/* Writes one line of the padded input, phase by phase: element j of phase f is column j * stride + f. */
INLINE void pad_line(const struct parameters *p, const TYPE *line, SUM *padded)
{
    for (int64_t f = 0; f < p->stride_width; f++) {
        SUM *const to = padded + f * p->phase;
        /* The first element of the phase that lies in the line, and the first one after the line. */
        int64_t first = (p->pad_left - f + p->stride_width - 1) / p->stride_width;
        int64_t after = (p->pad_left + p->width - f + p->stride_width - 1) / p->stride_width;
        if (first < 0) first = 0;
        if (first > p->row) first = p->row;
        if (after < first) after = first;
        if (after > p->row) after = p->row;
        for (int64_t j = 0; j < first; j++) to[j] = 0;
        const TYPE *const from = line + f - p->pad_left;
        if (p->stride_width == 1) {
            for (int64_t j = first; j < after; j++) to[j] = widened(from[j]);
        } else {
            for (int64_t j = first; j < after; j++) to[j] = widened(from[j * p->stride_width]);
        }
        for (int64_t j = after; j < p->row; j++) to[j] = 0;
    }
}

INLINE void pad_plane(const struct parameters *p, const TYPE *image, SUM *padded)
{
    for (int64_t i = 0; i < p->padded_height; i++) {
        const int64_t line = i - p->pad_top;
        if (line >= 0 && line < p->height) {
            pad_line(p, image + line * p->width, padded + i * p->row);
        } else {
            for (int64_t f = 0; f < p->stride_width; f++) {
                for (int64_t j = 0; j < p->row; j++) padded[f * p->phase + i * p->row + j] = 0;
            }
        }
    }
    /* Vectors may read on behind the last line; what they read there reaches no output. */
    for (int64_t j = p->stride_width * p->phase; j < p->plane; j++) padded[j] = 0;
}

/* Where in the padded input the tap (line, column) of the kernel lies, from where tap (0, 0) lies. */
INLINE int64_t tap_offset(const struct parameters *p, int64_t line, int64_t column)
{
    const int64_t along = column * p->dilation_width;
    return along % p->stride_width * p->phase + line * p->dilation_height * p->row + along / p->stride_width;
}

INLINE void tap_offsets(const struct parameters *p, int64_t *offsets)
{
    for (int64_t i = 0; i < p->kernel_height; i++) {
        for (int64_t j = 0; j < p->kernel_width; j++) *offsets++ = tap_offset(p, i, j);
    }
}

/* Where in the padded input the window of an output pixel begins. */
INLINE int64_t window(const struct parameters *p, int64_t pixel)
{
    return pixel / p->out_width * p->stride_height * p->row + pixel % p->out_width;
}

/* --- tiles --------------------------------------------------------------------------------------------- */

/* `count` things in as few parts of at most TALL as can be, as even as can be; `part` counts from 0. */
INLINE int64_t parts(int64_t count) { return (count + TALL - 1) / TALL; }
INLINE int64_t part_size(int64_t count, int64_t part)
{
    return count / parts(count) + (part < count % parts(count));
}
INLINE int64_t part_start(int64_t count, int64_t part)
{
    const int64_t larger = count % parts(count);
    return part * (count / parts(count)) + (part < larger ? part : larger);
}

INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* The heart: sums[j][.] += a[k][j] * b[k][.], k strictly in order. */
INLINE void add_products(const int tall, int64_t terms, const SUM *a, const SUM *b, vector sums[TALL][2])
{
    for (int64_t k = 0; k < terms; k++) {
        const vector b0 = load(b), b1 = load(b + LANES);
        UNROLL
        for (int j = 0; j < tall; j++) {
            const vector aj = spread(a[j]);
            sums[j][0] = add_product(sums[j][0], aj, b0);
            sums[j][1] = add_product(sums[j][1], aj, b1);
            HOLD(sums[j][0]);
            HOLD(sums[j][1]);
        }
        a += tall;
        b += WIDE;
    }
}
