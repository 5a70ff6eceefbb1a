/* Moves: operands are what is read, then the output. The output is made of boxes, and in a box every element is
   read at an affine function of its index. A box is a number of runs: one axis after the other leads from run to
   run, and a run is `rows` of `line`:

       one line         elements one after the other, one element again and again, every so manieth one
       the same line    several times, one after the other (rows.from == 0)
       a transposition  lines that lie across those of what is read (rows.from == 1)

   TYPE is an integer of the size of an element, or of a part of a complex one. */
#include "shared/kernel.h"
#include "shared/stream.h"

/* Kernels that only move elements see them as integers of the same size. */
typedef TYPE element __attribute__((may_alias));

/* What is made before it is written to memory. Aligned to its size it lies in one page: runs begin anywhere in
   it, and stores across pages are slow. */
#define PART_BYTES 1024
#define PART (PART_BYTES / (int64_t)sizeof(element))

/* More axes than a tensor can have. */
#define MOST_AXES 80

struct parameters {
    int64_t elements;
    int64_t task_elements;
    int64_t streamed;
    int64_t output;  /* which operand that is */
    int64_t table[]; /* of boxes */
};

/* How many there are, and how far the next one is, in the output and in what is read. */
struct axis {
    int64_t size, to, from;
};

struct box {
    int64_t length;   /* of this entry of the table */
    int64_t elements; /* of the box */
    int64_t to;       /* where it begins in the output */
    int64_t operand;  /* what is read, or -1 where all elements are the same bits */
    int64_t from;     /* where it begins there, or those bits */
    int64_t straight; /* whether its elements follow one another in the output */
    struct axis line, rows;
    int64_t rank;
    struct axis axes[]; /* that lead from run to run, the last one first */
};

/* Where a box has come to: the present run, the indices that count runs, and how many elements of the run there
   are already. */
struct place {
    const element *from;
    element *to;
    int64_t offset;
    int64_t index[MOST_AXES];
};

INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

INLINE void place_at(const struct box *box, struct place *at, int64_t position)
{
    const int64_t run = box->rows.size * box->line.size;
    int64_t runs = position / run;
    at->offset = position % run;
    for (int64_t k = 0; k < box->rank; k++) {
        const struct axis axis = box->axes[k];
        at->index[k] = runs % axis.size;
        runs /= axis.size;
        at->from += at->index[k] * axis.from;
        at->to += at->index[k] * axis.to;
    }
}

INLINE void next_run(const struct box *box, struct place *at)
{
    at->offset = 0;
    for (int64_t k = 0; k < box->rank; k++) {
        const struct axis axis = box->axes[k];
        if (++at->index[k] < axis.size) {
            at->from += axis.from;
            at->to += axis.to;
            return;
        }
        at->index[k] = 0;
        at->from -= (axis.size - 1) * axis.from;
        at->to -= (axis.size - 1) * axis.to;
    }
}

INLINE void copy(element *restrict to, const element *restrict from, int64_t count)
{
    for (int64_t i = 0; i < count; i++) to[i] = from[i];
}

INLINE void fill(element *restrict to, element value, int64_t count)
{
    for (int64_t i = 0; i < count; i++) to[i] = value;
}

/* `count` elements of a line repeated without end, from its element `phase` on. */
INLINE void repeat(element *to, const element *line, int64_t size, int64_t phase, int64_t count)
{
    const int64_t first = least(size - phase, count);
    copy(to, line + phase, first);
    element *again = to + first;
    const int64_t rest = count - first;
    int64_t done = least(size, rest);
    copy(again, line, done);
    /* What stands there is whole lines until the last step: it doubles. */
    for (int64_t n; done < rest; done += n) {
        n = least(done, rest - done);
        copy(again + done, again, n);
    }
}

/* Elements that lie apart, or are written apart. Steps that are known make a loop of vectors. */
ALONE static void step(element *restrict to, int64_t apart, const element *restrict from, int64_t stride,
                       int64_t count)
{
    if (apart == 1 && stride == 2) {
        for (int64_t i = 0; i < count; i++) to[i] = from[2 * i];
    } else if (apart == 1 && stride == -1) {
        for (int64_t i = 0; i < count; i++) to[i] = from[-i];
    } else if (apart == 1) {
        for (int64_t i = 0; i < count; i++) to[i] = from[i * stride];
    } else {
        for (int64_t i = 0; i < count; i++) to[i * apart] = from[i * stride];
    }
}

/* Elements of the present run, of which there are so many; one after the other if the run is written so. */
ALONE static void produce_run(const struct box *box, const struct place *at, element *to, int64_t count)
{
    const struct axis line = box->line;
    if (line.to != 1) {
        step(to, line.to, at->from + at->offset * line.from, line.from, count);
    } else if (line.from == 0) {
        fill(to, *at->from, count);
    } else if (line.from != 1) {
        step(to, 1, at->from + at->offset * line.from, line.from, count);
    } else if (box->rows.size == 1) {
        copy(to, at->from + at->offset, count);
    } else {
        repeat(to, at->from, line.size, at->offset == 0 ? 0 : at->offset % line.size, count);
    }
}

/* As many whole runs along the first axis as `count` elements have, for runs that are short; returns the elements.
   Only for lines that are written one after the other; `to` goes on as the output does. */
INLINE int64_t produce_runs(const struct box *box, struct place *at, element *to, int64_t count)
{
    const struct axis line = box->line;
    if (at->offset > 0 || count < line.size || box->rank == 0 || box->rows.size > 1 || line.to != 1) return 0;
    const struct axis next = box->axes[0];
    const int64_t runs = least(next.size - at->index[0], count / line.size);
    const element *const from = at->from;
    if (line.from == 0) {
        for (int64_t r = 0; r < runs; r++) fill(to + r * next.to, from[r * next.from], line.size);
    } else if (line.from == 1) {
        for (int64_t r = 0; r < runs; r++) copy(to + r * next.to, from + r * next.from, line.size);
    } else {
        for (int64_t r = 0; r < runs; r++) step(to + r * next.to, 1, from + r * next.from, line.from, line.size);
    }
    at->index[0] += runs - 1;
    at->from += (runs - 1) * next.from;
    at->to += (runs - 1) * next.to;
    next_run(box, at);
    return runs * line.size;
}

/* `count` elements of a box that are written one after the other. */
ALONE static void produce(const struct box *box, struct place *at, element *to, int64_t count)
{
    const int64_t run = box->rows.size * box->line.size;
    for (int64_t done = 0, n; done < count; done += n) {
        n = produce_runs(box, at, to + done, count - done);
        if (n > 0) continue;
        n = least(run - at->offset, count - done);
        produce_run(box, at, to + done, n);
        at->offset += n;
        if (at->offset == run) next_run(box, at);
    }
}

/* As `produce`, past the caches and for whole parts only; returns how many elements there are now. */
INLINE int64_t produce_streamed(const struct box *box, struct place *at, element *to, int64_t count)
{
    element part[PART] __attribute__((aligned(PART_BYTES)));
    /* What comes again and again within a run: a line that is repeated, or one element. */
    const int64_t period = box->rows.size > 1 ? box->line.size : box->line.from == 0 ? 1 : 0;
    const int64_t run = box->rows.size * box->line.size;
    /* Whole lines of the cache and, where they are short, whole periods: then parts of one run are all the same. */
    const int64_t lines = period * (STREAM_LINE / (int64_t)sizeof(element));
    const int64_t size = lines > 0 && lines <= PART ? PART / lines * lines : PART;
    int same = 0;
    int64_t done = stream_head(to, (int64_t)sizeof *to, count);
    produce(box, at, to, done);
    for (; count - done >= size; done += size) {
        const element *ready = part;
        const int64_t phase = box->rows.size > 1 ? at->offset % box->line.size : at->offset;
        if (same && run - at->offset > size) {
            at->offset += size;
        } else if (box->line.from == 1 && box->line.size - phase >= size && run - at->offset > size) {
            ready = at->from + phase; /* there it is as it is to be written */
            at->offset += size;
        } else {
            produce(box, at, part, size);
            same = period > 0 && at->offset >= size && size % period == 0;
        }
        stream(to + done, ready, size * (int64_t)sizeof *to);
    }
    return done;
}

/* How much of a transposition is done at a time: neighbours in what is read, and neighbours in the output. */
#define ACROSS 16
#define ALONG 8

INLINE void transpose(element *restrict to, int64_t apart, const element *restrict from, int64_t stride)
{
    for (int64_t i = 0; i < ACROSS; i++) {
        for (int64_t j = 0; j < ALONG; j++) to[i * apart + j] = from[i + j * stride];
    }
}

/* So many whole lines of a transposition. */
ALONE static void produce_rows(const struct box *box, element *to, const element *from, int64_t rows)
{
    const struct axis line = box->line;
    const int64_t apart = box->rows.to;
    int64_t i = 0;
    for (; rows - i >= ACROSS; i += ACROSS) {
        int64_t j = 0;
        for (; line.size - j >= ALONG; j += ALONG) {
            transpose(to + i * apart + j, apart, from + i + j * line.from, line.from);
        }
        for (int64_t k = i; k < i + ACROSS; k++) {
            step(to + k * apart + j, 1, from + k + j * line.from, line.from, line.size - j);
        }
    }
    for (; i < rows; i++) step(to + i * apart, 1, from + i, line.from, line.size);
}

INLINE void produce_transposed(const struct box *box, struct place *at, int64_t count)
{
    const struct axis line = box->line;
    for (int64_t done = 0, n; done < count; done += n) {
        const int64_t row = at->offset / line.size, column = at->offset % line.size;
        element *const to = at->to + row * box->rows.to;
        const element *const from = at->from + row;
        const int64_t rows = least(box->rows.size - row, (count - done) / line.size);
        if (column > 0 || rows == 0) {
            n = least(line.size - column, count - done);
            step(to + column, 1, from + column * line.from, line.from, n);
        } else {
            n = rows * line.size;
            produce_rows(box, to, from, rows);
        }
        at->offset += n;
        if (at->offset == box->rows.size * line.size) next_run(box, at);
    }
}

/* `count` elements of a box, run by run. */
INLINE void produce_apart(const struct box *box, struct place *at, int64_t count, int streamed)
{
    const int64_t run = box->rows.size * box->line.size;
    for (int64_t done = 0, n; done < count; done += n) {
        n = streamed && run >= 2 * PART ? 0 : produce_runs(box, at, at->to, count - done);
        if (n > 0) continue;
        n = least(run - at->offset, count - done);
        element *to = at->to + at->offset * box->line.to;
        int64_t first = 0;
        if (streamed && box->line.to == 1 && n >= 2 * PART) first = produce_streamed(box, at, to, n);
        /* The last part of a run may have led to the next one. */
        if (first < n) {
            produce_run(box, at, to + first * box->line.to, n - first);
            at->offset += n - first;
            if (at->offset == run) next_run(box, at);
        }
    }
}

ALONE static void produce_box(const struct box *box, void *const *operands, element *output, int64_t begin,
                              int64_t count, int streamed)
{
    const element value = box->operand < 0 ? (element)box->from : 0;
    struct place at;
    at.from = box->operand < 0 ? &value : (const element *)operands[box->operand] + box->from;
    at.to = output + box->to;
    place_at(box, &at, begin);
    if (box->straight) {
        element *const to = output + box->to + begin;
        const int64_t done = streamed ? produce_streamed(box, &at, to, count) : 0;
        produce(box, &at, to + done, count - done);
    } else if (box->rows.from == 1) {
        produce_transposed(box, &at, count);
    } else {
        produce_apart(box, &at, count, streamed);
    }
}

void KERNEL(boxes)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank);

void KERNEL(boxes)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank)
{
    int64_t begin = task * p->task_elements;
    int64_t left = least(p->elements - begin, p->task_elements);
    const int streamed = p->streamed != 0;
    const int64_t *entry = p->table;
    (void)rank;
    while (left > 0) {
        const struct box *const box = (const struct box *)entry;
        const int64_t count = least(box->elements - begin, left);
        if (count > 0) {
            produce_box(box, operands, (element *)operands[p->output], begin, count, streamed);
            left -= count;
            begin += count;
        }
        begin -= box->elements;
        entry += box->length;
    }
    if (streamed) stream_end();
}
