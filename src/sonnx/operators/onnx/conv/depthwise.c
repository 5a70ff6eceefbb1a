/* Conv with one kernel a channel. */
#include "onnx/conv/fast.h"

/* `tall` lines of `wide` vectors of outputs, from the window at `from` on. */
INLINE void depthwise_tile(const struct parameters *p, const int tall, const int wide, const SUM *from,
                           const int64_t *offsets, const SUM *weights, SUM bias, SUM *out, int64_t pitch)
{
    const int64_t taps = p->kernel_height * p->kernel_width, down = p->stride_height * p->row;
    vector sums[4][2];
    UNROLL
    for (int i = 0; i < tall; i++) {
        UNROLL
        for (int v = 0; v < wide; v++) sums[i][v] = spread(bias);
    }
    for (int64_t tap = 0; tap < taps; tap++) {
        const vector weight = spread(weights[tap]);
        const SUM *const at = from + offsets[tap];
        UNROLL
        for (int i = 0; i < tall; i++) {
            UNROLL
            for (int v = 0; v < wide; v++) {
                sums[i][v] = add_product(sums[i][v], load(at + i * down + v * LANES), weight);
            }
        }
    }
    UNROLL
    for (int i = 0; i < tall; i++) {
        UNROLL
        for (int v = 0; v < wide; v++) store(out + i * pitch + v * LANES, sums[i][v]);
    }
}

/* `tall` lines of outputs into a strip of scratch memory whose lines are whole vectors. */
INLINE void depthwise_lines(const struct parameters *p, const int tall, const SUM *from, const int64_t *offsets,
                            const SUM *weights, SUM bias, SUM *strip, int64_t pitch)
{
    int64_t column = 0;
    for (; column + WIDE <= pitch; column += WIDE) {
        depthwise_tile(p, tall, 2, from + column, offsets, weights, bias, strip + column, pitch);
    }
    for (; column < pitch; column += LANES) {
        depthwise_tile(p, tall, 1, from + column, offsets, weights, bias, strip + column, pitch);
    }
}

/* X, W (, B) (, bounds) -> Y, scratch, offsets; a task is a channel of an image. */
void KERNEL(conv_depthwise)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank)
{
    const int64_t taps = p->kernel_height * p->kernel_width, channel = task % p->channels;
    const struct bounds bounds = bounds_of(p, operands, 2 + p->biased);
    void *const *const results = operands + 2 + p->biased + 2 * p->clipped;
    TYPE *out = (TYPE *)results[0] + task * p->out_height * p->out_width;
    SUM *const padded = (SUM *)results[1] + rank * p->scratch;
    SUM *const weights = padded + p->plane, *const strip = weights + taps;
    int64_t *const offsets = (int64_t *)results[2] + rank * taps;
    const int64_t pitch = (p->out_width + LANES - 1) / LANES * LANES;
    const SUM bias = p->biased ? widened(((const TYPE *)operands[2])[channel]) : 0;
    tap_offsets(p, offsets);
    for (int64_t tap = 0; tap < taps; tap++) weights[tap] = widened(((const TYPE *)operands[1])[channel * taps + tap]);
    pad_plane(p, (const TYPE *)operands[0] + task * p->height * p->width, padded);
    for (int64_t line = 0; line < p->out_height;) {
        const SUM *const from = padded + line * p->stride_height * p->row;
        const int64_t tall = p->out_height - line >= 4 ? 4 : 1;
        if (tall == 4) {
            depthwise_lines(p, 4, from, offsets, weights, bias, strip, pitch);
        } else {
            depthwise_lines(p, 1, from, offsets, weights, bias, strip, pitch);
        }
        for (int64_t i = 0; i < tall; i++, out += p->out_width) {
            if (p->clipped) {
                for (int64_t j = 0; j < p->out_width; j++) out[j] = limited(narrowed(strip[i * pitch + j]), &bounds);
            } else {
                for (int64_t j = 0; j < p->out_width; j++) out[j] = narrowed(strip[i * pitch + j]);
            }
        }
        line += tall;
    }
}
