/* Element by element: what every kernel shares that makes each element of its output from those at the same place.
   A task does the elements from `begin` on, so many as `count` says. */
#include "shared/kernel.h"
#include "shared/stream.h"

/* Kernels that only move elements see them as integers of the same size. */
typedef TYPE element __attribute__((may_alias));

/* What is done between reading and writing memory: little enough to stay in registers. */
#define PART_BYTES 256
#define PART (PART_BYTES / WORDS / (int64_t)sizeof(element))

struct parameters {
    int64_t elements;
    int64_t task_elements;
    int64_t streamed;
};

INLINE int64_t task_begin(const struct parameters *p, int64_t task) { return task * p->task_elements; }

INLINE int64_t task_count(const struct parameters *p, int64_t task)
{
    const int64_t left = p->elements - task_begin(p, task);
    return left < p->task_elements ? left : p->task_elements;
}
