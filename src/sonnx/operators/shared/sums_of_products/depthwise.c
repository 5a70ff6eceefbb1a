/* One kernel a channel. */
#include "shared/sums_of_products/sums.h"

/* One channel: where a strip of its padded plane begins, its kernel and bias. */
struct channel {
    const SUM *strip;
    const int64_t *offsets; /* of taps, in the strip */
    const SUM *weights;
    SUM bias;
};

/* The first `count` lanes of `tall` lines of sums; a function of its own, which few lines need. */
static void deliver_lanes(const struct parameters *p, int tall, const vector *sums, int64_t count, TYPE *out)
{
    SUM lanes[4 * VECTOR_BYTES / SUM_BYTES];
    for (int i = 0; i < tall; i++) store(lanes + i * LANES, sums[i]);
    deliver(lanes, tall, LANES, count, 1, out, p->out_width);
}

/* `tall` lines of a vector of sums, whose first window begins at `from`. */
INLINE void add_taps(const struct parameters *p, const struct channel *c, const int tall, const SUM *from,
                     vector *sums)
{
    const int64_t taps = p->kernel_height * p->kernel_width, down = p->stride_height * p->row;
    for (int64_t tap = 0; tap < taps; tap++) {
        const vector weight = spread(c->weights[tap]);
        const SUM *const at = from + c->offsets[tap];
        UNROLL
        for (int i = 0; i < tall; i++) {
            sums[i] = add_product(sums[i], load(at + i * down), weight);
            HOLD(sums[i]);
        }
    }
}

/* The same for kernels of 3 x 3: what one line of the input gives to several lines of Y is read once. Lines of
   the input come in their order, so each sum keeps its own. */
INLINE void add_3x3(const int tall, const int stride, const SUM *from, int64_t row, int64_t phase,
                    vector weights[9], vector *sums)
{
    UNROLL
    for (int tap = 0; tap < 9; tap++) HOLD(weights[tap]);
    UNROLL
    for (int line = 0; line < (tall - 1) * stride + 3; line++) {
        const SUM *const first = from + line * row, *const odd = first + phase;
        UNROLL
        for (int column = 0; column < 3; column++) {
            /* At a stride of 2, columns 0 and 2 of the kernel meet neighbours in one phase, column 1 the other. */
            const SUM *const at = stride == 1 ? first + column : column == 1 ? odd : first + column / 2;
            const vector x = *(const volatile loose *)at;
            UNROLL
            for (int i = 0; i < tall; i++) {
                const int tap = line - i * stride;
                if (tap < 0 || tap >= 3) continue;
                sums[i] = add_product(sums[i], x, weights[3 * tap + column]);
                HOLD(sums[i]);
            }
        }
    }
}

#if HALF
#define STORE(to, sums) (void)0 /* no vector of sums is one of outputs */
#else
#define STORE(to, sums) store(to, sums)
#endif

/* `tall` lines of outputs; `stride` is known where there is a way for it, else 0. */
INLINE void lines(const struct parameters *p, const struct channel *c, const int tall, const int stride,
                  const SUM *from, TYPE *out)
{
    const int64_t width = p->out_width, row = p->row, phase = p->phase, whole = HALF ? 0 : width / LANES * LANES;
    vector weights[9], sums[4];
    UNROLL
    for (int tap = 0; tap < 9; tap++) weights[tap] = spread(stride ? c->weights[tap] : 0);
    for (int64_t column = 0; column < width; column += LANES) {
        UNROLL
        for (int i = 0; i < tall; i++) sums[i] = spread(c->bias);
        if (stride) {
            add_3x3(tall, stride, from + column, row, phase, weights, sums);
        } else {
            add_taps(p, c, tall, from + column, sums);
        }
        if (column < whole) {
            UNROLL
            for (int i = 0; i < tall; i++) STORE(out + i * width + column, sums[i]);
        } else {
            vector last[4]; /* a copy: what another function sees cannot stay in registers */
            UNROLL
            for (int i = 0; i < tall; i++) last[i] = sums[i];
            deliver_lanes(p, tall, last, least(LANES, width - column), out + column);
        }
    }
}

/* A function each: alone, they are given registers better than within a larger one. */
#define LINES(tall, stride)                                                                                       \
    static ALONE void lines_##tall##_##stride(const struct parameters *p, const struct channel *c,                \
                                              const SUM *from, TYPE *out)                                         \
    {                                                                                                             \
        lines(p, c, tall, stride, from, out);                                                                     \
    }
LINES(1, 0)
LINES(1, 1)
LINES(1, 2)
LINES(4, 0)
LINES(4, 1)
LINES(4, 2)

typedef void some_lines(const struct parameters *p, const struct channel *c, const SUM *from, TYPE *out);

/* `count` lines of outputs, four at a time and the rest one by one. */
INLINE void strip(const struct parameters *p, const struct channel *c, some_lines *four, some_lines *one,
                  int64_t count, TYPE *out)
{
    const int64_t down = p->stride_height * p->row;
    int64_t line = 0;
    for (; line + 4 <= count; line += 4) four(p, c, c->strip + line * down, out + line * p->out_width);
    for (; line < count; line++) one(p, c, c->strip + line * down, out + line * p->out_width);
}

/* X, W, offsets (, B) (, what follows) -> Y, scratch; a task is a channel of an image. It is padded and done strip by
   strip, so that a strip stays in the cache nearest to the processor. */
void KERNEL(sums_depthwise)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank)
{
    const int64_t taps = p->kernel_height * p->kernel_width, channel = task % p->channels;
    const TYPE *const image = (const TYPE *)operands[0] + task * p->height * p->width;
    const TYPE *const given = (const TYPE *)operands[1] + channel * taps;
    void *const *const results = operands + 3 + p->biased + p->beside;
    TYPE *const out = (TYPE *)results[0] + task * p->out_height * p->out_width;
    SUM *const weights = (SUM *)results[1] + rank * p->scratch, *const padded = weights + taps;
    const struct channel c = {
        .strip = padded,
        .offsets = operands[2],
        .weights = weights,
        .bias = p->biased ? widened(((const TYPE *)operands[3])[channel]) : 0,
    };
    const int small = p->kernel_height == 3 && p->kernel_width == 3 && p->dilation_height == 1 &&
                      p->dilation_width == 1 && p->stride_height == p->stride_width;
    for (int64_t tap = 0; tap < taps; tap++) weights[tap] = widened(given[tap]);
    for (int64_t line = 0; line < p->out_height; line += p->tiles) {
        const int64_t count = least(p->tiles, p->out_height - line), begin = line * p->stride_height;
        const int64_t end = begin + (count - 1) * p->stride_height + (p->kernel_height - 1) * p->dilation_height + 1;
        pad_lines(p, image, begin, end, padded, p->phase);
        if (small && p->stride_height == 1) {
            strip(p, &c, lines_4_1, lines_1_1, count, out + line * p->out_width);
        } else if (small && p->stride_height == 2) {
            strip(p, &c, lines_4_2, lines_1_2, count, out + line * p->out_width);
        } else {
            strip(p, &c, lines_4_0, lines_1_0, count, out + line * p->out_width);
        }
        made(p, operands + 3 + p->biased, channel, 1, (task * p->out_height + line) * p->out_width,
             count * p->out_width);
    }
}
