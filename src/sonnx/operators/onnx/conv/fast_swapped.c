/* Conv with channels in the vector and pixels broadcast: for maps too small to fill vectors. */
#include "onnx/conv/fast.h"

/* W and B -> the bias, then blocks of terms in which tiles of WIDE channels follow one another; a task is an
   output channel, idle ones included. */
void KERNEL(conv_pack_swapped)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank)
{
    const int64_t terms = p->channels * p->kernel_height * p->kernel_width;
    const TYPE *const weights = (const TYPE *)operands[0] + least(task, p->outputs - 1) * terms;
    SUM *const packed = operands[1 + p->biased];
    (void)rank;
    packed[task] = p->biased && task < p->outputs ? widened(((const TYPE *)operands[1])[task]) : 0;
    for (int64_t k = 0; k < terms; k += p->block) {
        const int64_t some = least(p->block, terms - k);
        SUM *to = packed + p->rows * (1 + k) + task / WIDE * WIDE * some + task % WIDE;
        for (int64_t i = 0; i < some; i++, to += WIDE) *to = task < p->outputs ? widened(weights[k + i]) : 0;
    }
}

/* The pixels of a map in tiles: `pixels`, and idle ones where there are fewer than a tile needs; mirrors `_filled` of
   fast.py. */
INLINE int64_t columns(int64_t pixels)
{
    return pixels / parts(pixels) < 4 ? 4 * parts(pixels) : pixels;
}

/* padded X, offsets -> blocks of terms in which tiles of pixels follow one another; a task is a tile of an image. */
void KERNEL(conv_pixels)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank)
{
    const int64_t pixels = p->out_height * p->out_width, all = columns(pixels);
    const int64_t taps = p->kernel_height * p->kernel_width, terms = p->channels * taps;
    const int64_t image = task / parts(all), part = task % parts(all);
    const int64_t start = part_start(all, part), size = part_size(all, part);
    const SUM *const padded = (const SUM *)operands[0] + image * p->channels * p->plane;
    SUM *const packed = (SUM *)operands[2] + image * terms * all;
    const int64_t *const offsets = operands[1];
    int64_t at[TALL];
    (void)rank;
    for (int64_t j = 0; j < TALL; j++) at[j] = window(p, least(start + least(j, size - 1), pixels - 1));
    for (int64_t k = 0; k < terms; k += p->block) {
        const int64_t some = least(p->block, terms - k);
        SUM *to = packed + all * k + start * some;
        int64_t tap = k % taps;
        const SUM *from = padded + k / taps * p->plane;
        for (int64_t i = 0; i < some; i++, to += size) {
            for (int64_t j = 0; j < size; j++) to[j] = from[at[j] + offsets[tap]];
            if (++tap == taps) {
                tap = 0;
                from += p->plane;
            }
        }
    }
}

INLINE void block_of_pixels(const int tall, int64_t terms, const SUM *pixels, const SUM *weights,
                            const SUM *bias, SUM *out)
{
    vector sums[TALL][2];
    UNROLL
    for (int j = 0; j < tall; j++) {
        sums[j][0] = load(bias ? bias : out + j * WIDE);
        sums[j][1] = load((bias ? bias : out + j * WIDE) + LANES);
    }
    add_products(tall, terms, pixels, weights, sums);
    UNROLL
    for (int j = 0; j < tall; j++) {
        store(out + j * WIDE, sums[j][0]);
        store(out + j * WIDE + LANES, sums[j][1]);
    }
}

/* A function each: alone, they are given registers better than within a larger one. */
#define BLOCK_OF_PIXELS(tall)                                                                                     \
    static ALONE void block_of_##tall(int64_t terms, const SUM *pixels, const SUM *weights, const SUM *bias,      \
                                      SUM *out)                                                                   \
    {                                                                                                             \
        block_of_pixels(tall, terms, pixels, weights, bias, out);                                                 \
    }
BLOCK_OF_PIXELS(4)
BLOCK_OF_PIXELS(5)
BLOCK_OF_PIXELS(6)

/* One block of terms for WIDE channels: all pixels. */
INLINE void block_of_map(int64_t all, int64_t terms, const SUM *pixels, const SUM *weights, const SUM *bias, SUM *sums)
{
    for (int64_t part = 0; part < parts(all); part++) {
        const int64_t tall = part_size(all, part);
        if (tall == 6) {
            block_of_6(terms, pixels, weights, bias, sums);
        } else if (tall == 5) {
            block_of_5(terms, pixels, weights, bias, sums);
        } else {
            block_of_4(terms, pixels, weights, bias, sums);
        }
        pixels += tall * terms;
        sums += tall * WIDE;
    }
}

/* The sums of up to WIDE channels, as elements of Y. */
INLINE void deliver(const struct parameters *p, const SUM *sums, int64_t channels, const struct bounds *bounds,
                    TYPE *out)
{
    const int64_t pixels = p->out_height * p->out_width;
    for (int64_t j = 0; j < channels; j++) {
        for (int64_t pixel = 0; pixel < pixels; pixel++) {
            const TYPE value = narrowed(sums[pixel * WIDE + j]);
            out[j * pixels + pixel] = p->clipped ? limited(value, bounds) : value;
        }
    }
}

/* packed pixels, packed weights (, bounds) -> Y, scratch; a task is `tiles` times WIDE channels of an image, which
   share a block of pixels while it is in the cache. */
void KERNEL(conv_swapped)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank)
{
    const int64_t pixels = p->out_height * p->out_width, all = columns(pixels);
    const int64_t terms = p->channels * p->kernel_height * p->kernel_width, wide = p->tiles * WIDE;
    const int64_t tasks = (p->rows + wide - 1) / wide, image = task / tasks;
    const int64_t begin = task % tasks * wide, end = least(begin + wide, p->rows);
    const SUM *const packed = operands[1], *const from = (const SUM *)operands[0] + image * terms * all;
    const struct bounds bounds = bounds_of(p, operands, 2);
    void *const *const results = operands + 2 + 2 * p->clipped;
    TYPE *const out = (TYPE *)results[0] + image * p->outputs * pixels;
    SUM *const sums = (SUM *)results[1] + rank * p->scratch;
    for (int64_t k = 0; k < terms; k += p->block) {
        const int64_t some = least(p->block, terms - k);
        for (int64_t channel = begin; channel < end; channel += WIDE) {
            const SUM *const weights = packed + p->rows * (1 + k) + channel * some;
            const SUM *const bias = k == 0 ? packed + channel : NULL;
            block_of_map(all, some, from + all * k, weights, bias, sums + (channel - begin) * all);
        }
    }
    for (int64_t channel = begin; channel < end; channel += WIDE) {
        deliver(p, sums + (channel - begin) * all, least(WIDE, p->outputs - channel), &bounds, out + channel * pixels);
    }
}
