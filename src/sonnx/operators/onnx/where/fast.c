/* Where: operands are condition, X, Y, output. An element is WORDS words of TYPE, of which only bits are moved. */
#include "shared/kernel.h"
#include "shared/stream.h"

/* What is done between reading and writing memory: little enough to stay in registers. */
#define PART_BYTES 256
#define PART (PART_BYTES / WORDS / (int64_t)sizeof(element))

struct parameters {
    int64_t elements;
    int64_t task_elements;
    int64_t streamed;
};

/* Mirrors `choose` of meaning.py: a byte that is not zero is true. A mask selects, since compilers do not read
   both X and Y where a branch would read one. */
INLINE void choose(element *restrict to, const uint8_t *restrict condition, const element *restrict X,
                   const element *restrict Y, int64_t count)
{
    for (int64_t i = 0; i < count; i++) {
        const element chosen = (element)(0 - (element)(condition[i] != 0));
        for (int64_t word = i * WORDS; word < (i + 1) * WORDS; word++) {
            to[word] = (element)((X[word] & chosen) | (Y[word] & ~chosen));
        }
    }
}

void KERNEL(where)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank);

void KERNEL(where)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank)
{
    const int64_t begin = task * p->task_elements;
    const int64_t left = p->elements - begin;
    const int64_t count = left < p->task_elements ? left : p->task_elements;
    const uint8_t *condition = (const uint8_t *)operands[0] + begin;
    const element *X = (const element *)operands[1] + begin * WORDS;
    const element *Y = (const element *)operands[2] + begin * WORDS;
    element *to = (element *)operands[3] + begin * WORDS;
    (void)rank;
    int64_t done = 0;
    if (p->streamed) {
        element part[PART * WORDS] __attribute__((aligned(PART_BYTES)));
        done = stream_head(to, WORDS, count);
        choose(to, condition, X, Y, done);
        for (; count - done >= PART; done += PART) {
            stream_ask(X + done * WORDS, PART * WORDS);
            stream_ask(Y + done * WORDS, PART * WORDS);
            choose(part, condition + done, X + done * WORDS, Y + done * WORDS, PART);
            stream(to + done * WORDS, part, PART * WORDS);
        }
        stream_end();
    }
    choose(to + done * WORDS, condition + done, X + done * WORDS, Y + done * WORDS, count - done);
}
