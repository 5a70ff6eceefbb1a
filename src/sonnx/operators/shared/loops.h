/* Loops over elements: each element of the output is made from those at the same place, or from one that serves
   many, read where it lies. A task does the elements from `begin` on, so many as `count` says. */
#include "shared/kernel.h"
#include "shared/stream.h"

/* What is done between reading and writing memory: little enough to stay in registers. */
#define PART_BYTES 256

/* Elements that are only chosen, as integers of the same size. */
typedef uint8_t __attribute__((may_alias)) word8;
typedef uint16_t __attribute__((may_alias)) word16;
typedef uint32_t __attribute__((may_alias)) word32;
typedef uint64_t __attribute__((may_alias)) word64;

struct parameters {
    int64_t elements;
    int64_t task_elements;
    int64_t streamed;
    int64_t run;  /* so many elements follow one another in all operands, or are one; then axes lead on */
    int64_t axes;
    int64_t table[]; /* of axes, the last one first: the size, and how far each operand that is not whole goes on */
};

INLINE int64_t task_begin(const struct parameters *p, int64_t task) { return task * p->task_elements; }

INLINE int64_t task_count(const struct parameters *p, int64_t task)
{
    const int64_t left = p->elements - task_begin(p, task);
    return left < p->task_elements ? left : p->task_elements;
}

/* Where run number `run` begins in operands that are not whole. */
INLINE void places_of(const struct parameters *p, int64_t run, int64_t operands, int64_t *places)
{
    const int64_t *axis = p->table;
    for (int64_t k = 0; k < operands; k++) places[k] = 0;
    for (int64_t a = 0; a < p->axes; a++, axis += 1 + operands) {
        const int64_t index = run % axis[0];
        run /= axis[0];
        for (int64_t k = 0; k < operands; k++) places[k] += index * axis[1 + k];
    }
}
