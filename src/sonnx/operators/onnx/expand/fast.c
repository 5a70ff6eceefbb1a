/* Expand: operands are input, output. Neighbouring axes are merged: the output is
       copied0 x repeated0 x copied1 x repeated1 x copied2 x repeated2 x block,
   the input the same without the repeated axes. A run is the last two: a block of the input, repeated. */
#include "shared/kernel.h"
#include "shared/stream.h"

/* What is made before it is written to memory. Aligned to its size it lies in one page: runs begin anywhere in
   it, and stores across pages are slow. */
#define PART_BYTES 1024
#define PART (PART_BYTES / (int64_t)sizeof(element))

struct parameters {
    int64_t elements;
    int64_t task_elements;
    int64_t streamed;
    int64_t copied0, repeated0;
    int64_t copied1, repeated1;
    int64_t copied2, repeated2;
    int64_t block;
};

/* Where the output has come to: the block of the present run, the indices that count runs, and how many
   elements of the run there are already. */
struct place {
    const element *block;
    int64_t repeated0, copied1, repeated1, copied2;
    int64_t offset;
};

INLINE struct place place_at(const struct parameters *p, const element *input, int64_t position)
{
    struct place at;
    const int64_t run = p->repeated2 * p->block;
    int64_t runs = position / run;
    at.offset = position % run;
    at.copied2 = runs % p->copied2;
    runs /= p->copied2;
    at.repeated1 = runs % p->repeated1;
    runs /= p->repeated1;
    at.copied1 = runs % p->copied1;
    runs /= p->copied1;
    at.repeated0 = runs % p->repeated0;
    runs /= p->repeated0;
    at.block = input + ((runs * p->copied1 + at.copied1) * p->copied2 + at.copied2) * p->block;
    return at;
}

/* Behind the last block of a copied axis stands the next one of the copied axis outside it; only where a
   repeated axis comes between, the same blocks begin again. */
INLINE void next_run(const struct parameters *p, struct place *at)
{
    at->offset = 0;
    at->block += p->block;
    if (++at->copied2 < p->copied2) return;
    at->copied2 = 0;
    if (++at->repeated1 < p->repeated1) {
        at->block -= p->copied2 * p->block;
        return;
    }
    at->repeated1 = 0;
    if (++at->copied1 < p->copied1) return;
    at->copied1 = 0;
    if (++at->repeated0 < p->repeated0) {
        at->block -= p->copied1 * p->copied2 * p->block;
        return;
    }
    at->repeated0 = 0;
}

INLINE void copy(element *restrict to, const element *restrict from, int64_t count)
{
    for (int64_t i = 0; i < count; i++) to[i] = from[i];
}

INLINE void fill(element *restrict to, element value, int64_t count)
{
    for (int64_t i = 0; i < count; i++) to[i] = value;
}

INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

/* `count` elements of a block repeated without end, from its element `phase` on. */
INLINE void repeat(element *to, const element *block, int64_t size, int64_t phase, int64_t count)
{
    const int64_t first = least(size - phase, count);
    copy(to, block + phase, first);
    element *again = to + first;
    const int64_t rest = count - first;
    int64_t done = least(size, rest);
    copy(again, block, done);
    /* What stands there is whole blocks until the last step: it doubles. */
    for (int64_t n; done < rest; done += n) {
        n = least(done, rest - done);
        copy(again + done, again, n);
    }
}

INLINE void produce(const struct parameters *p, struct place *at, element *to, int64_t count)
{
    const int64_t run = p->repeated2 * p->block;
    for (int64_t done = 0, n; done < count; done += n) {
        n = least(run - at->offset, count - done);
        if (p->block == 1) {
            fill(to + done, *at->block, n);
        } else {
            repeat(to + done, at->block, p->block, at->offset == 0 ? 0 : at->offset % p->block, n);
        }
        at->offset += n;
        if (at->offset == run) next_run(p, at);
    }
}

/* As `produce`, past the caches and for whole parts only; returns how many elements there are now. */
INLINE int64_t produce_streamed(const struct parameters *p, struct place *at, element *to, int64_t count)
{
    element part[PART] __attribute__((aligned(PART_BYTES)));
    const int64_t run = p->repeated2 * p->block;
    /* Whole lines and, where the block is short, whole blocks: then parts of one run are all the same. */
    const int64_t lines = p->block * (STREAM_LINE / (int64_t)sizeof(element));
    const int64_t size = lines <= PART ? PART / lines * lines : PART;
    int same = 0;
    int64_t done = stream_head(to, 1, count);
    produce(p, at, to, done);
    for (; count - done >= size; done += size) {
        if (same && run - at->offset > size) {
            at->offset += size;
        } else {
            produce(p, at, part, size);
            same = at->offset >= size && size % p->block == 0;
        }
        stream(to + done, part, size);
    }
    stream_end();
    return done;
}

void KERNEL(expand)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank);

void KERNEL(expand)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank)
{
    const int64_t begin = task * p->task_elements;
    const int64_t count = least(p->elements - begin, p->task_elements);
    element *to = (element *)operands[1] + begin;
    struct place at = place_at(p, (const element *)operands[0], begin);
    const int64_t done = p->streamed ? produce_streamed(p, &at, to, count) : 0;
    (void)rank;
    produce(p, &at, to + done, count - done);
}
