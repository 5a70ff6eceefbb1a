/* Clip: operands are input, min, max, output. TYPE is the element type, HALF is 1 for binary16 in uint16_t. */
#include "shared/kernel.h"
#include "shared/half.h"
#include "shared/stream.h"

/* What is done between reading and writing memory: little enough to stay in registers. */
#define PART_BYTES 256
#define PART (PART_BYTES / (int64_t)sizeof(element))

struct parameters {
    int64_t elements;
    int64_t task_elements;
    int64_t streamed;
};

#if HALF
INLINE int less(element a, element b) { return half_to_float(a) < half_to_float(b); }
#else
INLINE int less(element a, element b) { return a < b; }
#endif

/* Mirrors `cases` of meaning.py on every bit. A comparison with a NaN is false: a NaN bound does not bound, a
   NaN element stays. Where min > max, the first comparison leaves nothing below min, so the second gives max. */
INLINE void limit(element *restrict to, const element *restrict from, int64_t count, element min, element max)
{
    for (int64_t i = 0; i < count; i++) {
        const element x = from[i];
        const element y = less(x, min) ? min : x;
        to[i] = less(max, y) ? max : y;
    }
}

void KERNEL(clip)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank);

void KERNEL(clip)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank)
{
    const int64_t begin = task * p->task_elements;
    const int64_t left = p->elements - begin;
    const int64_t count = left < p->task_elements ? left : p->task_elements;
    const element *from = (const element *)operands[0] + begin;
    const element min = *(const element *)operands[1];
    const element max = *(const element *)operands[2];
    element *to = (element *)operands[3] + begin;
    (void)rank;
    int64_t done = 0;
    if (p->streamed) {
        element part[PART] __attribute__((aligned(PART_BYTES)));
        done = stream_head(to, 1, count);
        limit(to, from, done, min, max);
        for (; count - done >= PART; done += PART) {
            stream_ask(from + done, PART);
            limit(part, from + done, PART, min, max);
            stream(to + done, part, PART);
        }
        stream_end();
    }
    limit(to + done, from + done, count - done, min, max);
}
