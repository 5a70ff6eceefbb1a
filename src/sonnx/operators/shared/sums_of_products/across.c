/* One kernel a channel, where maps have too few columns for vectors: the vector is channels. */
#include "shared/sums_of_products/sums.h"

/* W (and B) -> for LANES channels after LANES channels, the bias and the taps; a task is so many channels. */
void KERNEL(sums_pack_across)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank)
{
    const int64_t taps = p->kernel_height * p->kernel_width;
    SUM *const packed = (SUM *)operands[1 + p->biased] + task * (1 + taps) * LANES;
    (void)rank;
    for (int64_t i = 0; i < LANES; i++) {
        const int64_t channel = task * LANES + i, idle = channel >= p->channels;
        packed[i] = p->biased && !idle ? widened(((const TYPE *)operands[1])[channel]) : 0;
        for (int64_t tap = 0; tap < taps; tap++) {
            packed[(1 + tap) * LANES + i] = idle ? 0 : widened(((const TYPE *)operands[0])[channel * taps + tap]);
        }
    }
}

/* One channel of an image, padded, as lane of vectors; lines are `row` vectors. */
INLINE void weave(const struct parameters *p, const TYPE *image, SUM *lane)
{
    for (int64_t i = 0; i < p->padded_height; i++, lane += p->row * LANES) {
        const int64_t line = i - p->pad_top, behind = p->pad_left + p->width;
        if (line < 0 || line >= p->height) {
            for (int64_t j = 0; j < p->row; j++) lane[j * LANES] = 0;
            continue;
        }
        const TYPE *const from = image + line * p->width;
        for (int64_t j = 0; j < p->pad_left; j++) lane[j * LANES] = 0;
        for (int64_t j = 0; j < p->width; j++) lane[(p->pad_left + j) * LANES] = widened(from[j]);
        for (int64_t j = behind; j < p->row; j++) lane[j * LANES] = 0;
    }
}

/* X, packed weights (, what follows) -> Y, scratch; a task is LANES channels of an image. */
void KERNEL(sums_across)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank)
{
    const int64_t taps = p->kernel_height * p->kernel_width, tasks = (p->channels + LANES - 1) / LANES;
    const int64_t first = task % tasks * LANES, count = least(LANES, p->channels - first);
    const int64_t plane = task / tasks * p->channels + first, pixels = p->out_height * p->out_width;
    const SUM *const packed = (const SUM *)operands[1] + task % tasks * (1 + taps) * LANES;
    void *const *const results = operands + 2 + p->beside;
    TYPE *const out = (TYPE *)results[0] + plane * pixels;
    SUM *const woven = (SUM *)results[1] + rank * p->scratch;
    for (int64_t i = 0; i < LANES; i++) {
        /* Idle lanes do what the last one does. */
        weave(p, (const TYPE *)operands[0] + (plane + least(i, count - 1)) * p->height * p->width, woven + i);
    }
    for (int64_t pixel = 0; pixel < pixels; pixel++) {
        const int64_t line = pixel / p->out_width * p->stride_height, column = pixel % p->out_width * p->stride_width;
        const SUM *weights = packed + LANES;
        vector sums = load(packed);
        for (int64_t i = 0; i < p->kernel_height; i++) {
            const SUM *const from = woven + ((line + i * p->dilation_height) * p->row + column) * LANES;
            for (int64_t j = 0; j < p->kernel_width; j++, weights += LANES) {
                sums = add_product(sums, load(from + j * p->dilation_width * LANES), load(weights));
            }
        }
        SUM lanes[VECTOR_BYTES / SUM_BYTES];
        store(lanes, sums);
        deliver(lanes, count, 1, 1, 1, out + pixel, pixels);
    }
    made(p, operands + 2, first, count, plane * pixels, pixels);
}
