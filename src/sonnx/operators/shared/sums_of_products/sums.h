/* Sums of products over windows at the speed of the machine, with the bits of their definition: every output
   element is one sum, started at the bias and continued term by term in the order input channel, kernel line, kernel
   column (D-CONV-6; a product of matrices has one line and one column).
   Vectors run across output elements, never along a sum, so the width of a vector changes no bit.

   TYPE is the type of tensors, SUM that of sums; HALF where TYPE holds float16 bits; FUSED rounds once a term.
   The padded input holds every phase of a strided line apart: neighbours in it meet neighbouring outputs. */
#include "shared/kernel.h"
#include "shared/pieces.h"
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
    int64_t tiles;                            /* tiles of a task; of depthwise kernels, lines of a strip */
    int64_t scratch;                          /* elements of SUM that a thread has for itself */
    int64_t biased, followed;                 /* whether there is a bias, and something to be done with Y at once */
    int64_t beside;                           /* tensors that this takes beside Y */
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

/* Sums as elements of Y: what is no whole vector, or has to be rounded. They lie `row` and `column` elements
   apart. */
INLINE void deliver(const SUM *sums, int64_t rows, int64_t row, int64_t columns, int64_t column, TYPE *out,
                    int64_t pitch)
{
    for (int64_t i = 0; i < rows; i++) {
        for (int64_t j = 0; j < columns; j++) out[i * pitch + j] = narrowed(sums[i * row + j * column]);
    }
}

/* Elements of Y are there: `count` of each of some channels. Operands are those of what follows, then Y, memory, and
   where its function is. */
INLINE void made(const struct parameters *p, void *const *operands, int64_t channel, int64_t channels, int64_t place,
                 int64_t count)
{
    if (!p->followed) return;
    after *const function = *(after *const *)operands[p->beside + 2];
    const struct piece at = {channel, channels, place, p->out_height * p->out_width, count};
    function(operands, (TYPE *)operands[p->beside] + place, &at);
}

/* --- the input with its padding ------------------------------------------------------------------------ */

INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
INLINE int64_t between(int64_t low, int64_t value, int64_t high)
{
    return value < low ? low : value > high ? high : value;
}

/* A phase of a line of the padded input: element j is column j * stride + f of it. Those from `first` up to
   `after` lie in the image. */
struct phase {
    int64_t first, after;
};

INLINE struct phase phase_of(const struct parameters *p, int64_t f)
{
    const int64_t stride = p->stride_width;
    const int64_t first = between(0, (p->pad_left - f + stride - 1) / stride, p->row);
    const int64_t after = between(first, (p->pad_left + p->width - f + stride - 1) / stride, p->row);
    return (struct phase){first, after};
}

/* Few elements at an end of a line: a compiler would make calls of these loops, which cost more. */
INLINE void zeros(SUM *to, int64_t begin, int64_t end)
{
    for (int64_t j = begin; j < end; j++) {
        to[j] = 0;
        ONE_BY_ONE(j);
    }
}

INLINE void few(SUM *to, const TYPE *line, int64_t shift, int64_t stride, int64_t begin, int64_t end)
{
    for (int64_t j = begin; j < end; j++) {
        to[j] = widened(line[j * stride + shift]);
        ONE_BY_ONE(j);
    }
}

/* Elements `begin` up to `end` of a line at a stride of 1. */
INLINE void many(SUM *to, const TYPE *line, int64_t shift, int64_t begin, int64_t end)
{
#if !HALF
    if (end - begin >= LANES) {
        const TYPE *const from = line + (begin + shift);
        SUM *const target = to + begin;
        int64_t j = 0;
        for (; j + WIDE <= end - begin; j += WIDE) {
            store(target + j, load(from + j));
            store(target + j + LANES, load(from + j + LANES));
        }
        for (; j + LANES <= end - begin; j += LANES) store(target + j, load(from + j));
        j = end - begin - LANES; /* the last vector may overlap the one before */
        store(target + j, load(from + j));
        return;
    }
    few(to, line, shift, 1, begin, end);
#else
    for (int64_t j = begin; j < end; j++) to[j] = widened(line[j + shift]);
#endif
}

/* One phase of a line: element j of it is column j * stride + shift of the image. */
INLINE void pad_phase(const struct phase *ph, const TYPE *line, int64_t shift, int64_t stride, int64_t row, SUM *to)
{
    zeros(to, 0, ph->first);
    if (stride == 1) {
        many(to, line, shift, ph->first, ph->after);
    } else {
        for (int64_t j = ph->first; j < ph->after; j++) to[j] = widened(line[j * stride + shift]);
    }
    zeros(to, ph->after, row);
}

#if !HALF
/* Both phases of a line at a stride of 2, from `begin` up to `end`. */
INLINE void split(const TYPE *line, int64_t shift, int64_t begin, int64_t end, SUM *even, SUM *odd)
{
    if (end - begin < LANES) {
        few(even, line, shift, 2, begin, end);
        few(odd, line, shift + 1, 2, begin, end);
        return;
    }
    const TYPE *const from = line + (2 * begin + shift);
    int64_t j = 0;
    for (; j + LANES <= end - begin; j += LANES) separate(from + 2 * j, even + begin + j, odd + begin + j);
    j = end - begin - LANES; /* the last vector may overlap the one before */
    separate(from + 2 * j, even + begin + j, odd + begin + j);
}

/* Both phases of a line of the image. Elements in the padding are read from the lines around it, if the image has
   enough of them, and zeroed afterwards: that is quicker than leaving them out. */
INLINE void pad_both(const struct parameters *p, const struct phase ph[2], const TYPE *image, int64_t number,
                     SUM *even, SUM *odd)
{
    const TYPE *const line = image + number * p->width;
    const int64_t row = p->row, shift = -p->pad_left, before = number * p->width;
    if (p->pad_left <= before && before + shift + 2 * row <= p->height * p->width) {
        split(line, shift, 0, row, even, odd);
    } else {
        few(even, line, shift, 2, ph[0].first, ph[0].after);
        few(odd, line, shift + 1, 2, ph[1].first, ph[1].after);
    }
    zeros(even, 0, ph[0].first);
    zeros(odd, 0, ph[1].first);
    zeros(even, ph[0].after, row);
    zeros(odd, ph[1].after, row);
}
#endif

INLINE void zero_line(SUM *to, int64_t row)
{
    for (int64_t j = 0; j < row; j++) to[j] = 0;
}

/* Lines `begin` up to `end` of the padded input; phases lie `phase` apart. */
INLINE void pad_lines(const struct parameters *p, const TYPE *image, int64_t begin, int64_t end, SUM *padded,
                      int64_t phase)
{
    const int64_t stride = p->stride_width, row = p->row;
#if !HALF
    const struct phase both[2] = {phase_of(p, 0), phase_of(p, 1)};
#endif
    for (int64_t f = 0; f < stride; f++) {
        const struct phase ph = phase_of(p, f);
        for (int64_t i = begin; i < end; i++) {
            const int64_t line = i - p->pad_top;
            SUM *const to = padded + f * phase + (i - begin) * row;
            if (line < 0 || line >= p->height) {
                zero_line(to, row);
#if !HALF
                if (stride == 2) zero_line(to + phase, row);
            } else if (stride == 2) {
                pad_both(p, both, image, line, to, to + phase);
#endif
            } else {
                pad_phase(&ph, image + line * p->width, f - p->pad_left, stride, row, to);
            }
        }
#if !HALF
        if (stride == 2) return; /* both phases are done */
#endif
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

/* The heart: sums[j][.] += a[k][j] * b[k][.], k strictly in order. */
INLINE void add_products(const int tall, int64_t terms, const SUM *a, const SUM *b, vector sums[TALL][2])
{
    for (int64_t k = 0; k < terms; k++) {
        /* Read once: gcc would rather read them again for every row, which takes longer. */
        const vector b0 = *(const volatile loose *)b, b1 = *(const volatile loose *)(b + LANES);
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

/* A row's part in all terms, widened: the bias, then blocks of terms. In a block tiles follow one another, and in a
   tile, which begins at row `start` and has `size` rows, the weights of one term stand together: the order of use. */
INLINE void pack_row(const struct parameters *p, void *const *operands, int64_t row, int64_t start, int64_t size)
{
    const int64_t terms = p->channels * p->kernel_height * p->kernel_width, idle = row >= p->outputs;
    const TYPE *const weights = (const TYPE *)operands[0] + (idle ? 0 : row * terms);
    SUM *const packed = operands[1 + p->biased];
    packed[row] = p->biased && !idle ? widened(((const TYPE *)operands[1])[row]) : 0;
    for (int64_t k = 0; k < terms; k += p->block) {
        const int64_t some = least(p->block, terms - k);
        SUM *to = packed + p->rows * (1 + k) + start * some + (row - start);
        for (int64_t i = 0; i < some; i++, to += size) *to = idle ? 0 : widened(weights[k + i]);
    }
}

/* A tile's `tall` rows of sums through one block of terms. They start at the bias, which is one of each row, or of
   each lane where `across`; without one they have waited in `out`, which is exact. */
INLINE void block_of(const int tall, const int across, int64_t terms, const SUM *a, const SUM *b, const SUM *bias,
                     SUM *out, int64_t pitch)
{
    vector sums[TALL][2];
    UNROLL
    for (int j = 0; j < tall; j++) {
        UNROLL
        for (int v = 0; v < 2; v++) {
            sums[j][v] = bias && !across ? spread(bias[j]) : load((bias ? bias : out + j * pitch) + v * LANES);
        }
    }
    add_products(tall, terms, a, b, sums);
    UNROLL
    for (int j = 0; j < tall; j++) {
        UNROLL
        for (int v = 0; v < 2; v++) store(out + j * pitch + v * LANES, sums[j][v]);
    }
}

#if defined(ACROSS)
/* A function each: alone, they are given registers better than within a larger one. */
#define BLOCK_OF(tall)                                                                                            \
    static ALONE void block_of_##tall(int64_t terms, const SUM *a, const SUM *b, const SUM *bias, SUM *out,        \
                                      int64_t pitch)                                                              \
    {                                                                                                             \
        block_of(tall, ACROSS, terms, a, b, bias, out, pitch);                                                    \
    }
BLOCK_OF(4)
BLOCK_OF(5)
BLOCK_OF(6)

/* One block of terms for all `rows`, tile by tile. */
INLINE void block_of_terms(int64_t rows, int64_t terms, const SUM *a, const SUM *b, const SUM *bias, SUM *out,
                           int64_t pitch)
{
    for (int64_t part = 0, count = parts(rows); part < count; part++) {
        const int64_t tall = part_size(rows, part);
        if (tall == 6) {
            block_of_6(terms, a, b, bias, out, pitch);
        } else if (tall == 5) {
            block_of_5(terms, a, b, bias, out, pitch);
        } else {
            block_of_4(terms, a, b, bias, out, pitch);
        }
        a += tall * terms;
        out += tall * pitch;
        if (bias && !ACROSS) bias += tall;
    }
}
#endif
