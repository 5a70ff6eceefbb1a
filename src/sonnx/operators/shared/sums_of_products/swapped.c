/* Channels in the vector and pixels broadcast: for maps too small to fill vectors. */
#include "shared/kernel.h"
#define ACROSS 1 /* a bias is one of a lane */
#include "shared/sums_of_products/sums.h"

/* W and B -> packed weights, in tiles of WIDE channels; a task is an output channel, idle ones included. */
void KERNEL(sums_pack_swapped)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank)
{
    (void)rank;
    pack_row(p, operands, task, task / WIDE * WIDE, WIDE);
}

/* The pixels of a map in tiles: `pixels`, and idle ones where there are fewer than a tile needs; mirrors `_filled` of
   planning.py. */
INLINE int64_t columns(int64_t pixels)
{
    return pixels / parts(pixels) < 4 ? 4 * parts(pixels) : pixels;
}

/* padded X, offsets -> blocks of terms in which tiles of pixels follow one another; a task is a tile of an image. */
void KERNEL(sums_pixels)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank)
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

/* packed pixels, packed weights (, what follows) -> Y, scratch; a task is `tiles` times WIDE channels of an image, which
   share a block of pixels while it is in the cache. */
void KERNEL(sums_swapped)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank)
{
    const int64_t pixels = p->out_height * p->out_width, all = columns(pixels);
    const int64_t terms = p->channels * p->kernel_height * p->kernel_width, wide = p->tiles * WIDE;
    const int64_t tasks = (p->rows + wide - 1) / wide, image = task / tasks;
    const int64_t begin = task % tasks * wide, end = least(begin + wide, p->rows);
    const SUM *const packed = operands[1], *const from = (const SUM *)operands[0] + image * terms * all;
    void *const *const results = operands + 2 + p->beside;
    TYPE *const out = (TYPE *)results[0] + image * p->outputs * pixels;
    SUM *const sums = (SUM *)results[1] + rank * p->scratch;
    for (int64_t k = 0; k < terms; k += p->block) {
        const int64_t some = least(p->block, terms - k);
        for (int64_t channel = begin; channel < end; channel += WIDE) {
            const SUM *const weights = packed + p->rows * (1 + k) + channel * some;
            const SUM *const bias = k == 0 ? packed + channel : NULL;
            block_of_terms(all, some, from + all * k, weights, bias, sums + (channel - begin) * all, WIDE);
        }
    }
    for (int64_t channel = begin; channel < end; channel += WIDE) {
        const int64_t count = least(WIDE, p->outputs - channel);
        deliver(sums + (channel - begin) * all, count, 1, pixels, WIDE, out + channel * pixels, pixels);
    }
    made(p, operands + 2, begin, least(end, p->outputs) - begin, (image * p->outputs + begin) * pixels, pixels);
}
