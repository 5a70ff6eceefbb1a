/* Pixels in the vector and channels broadcast. */
#include "shared/kernel.h"
#define ACROSS 0 /* a bias is one of a row */
#include "shared/sums_of_products/sums.h"

/* W and B -> packed weights, in tiles of channels; a task is an output channel. */
void KERNEL(sums_pack)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank)
{
    const int64_t count = parts(p->rows), small = p->rows / count, larger = p->rows % count;
    const int64_t behind = task - larger * (small + 1); /* the first parts have one row more */
    const int64_t part = behind < 0 ? task / (small + 1) : larger + behind / small;
    (void)rank;
    pack_row(p, operands, task, part_start(p->rows, part), part_size(p->rows, part));
}

/* Where the windows of a tile's pixels lie: vector v is read at from[v][0] in whole, or up to lane `turn`
   there and from it on at from[v][1], or lane by lane. */
struct places {
    int64_t pixel, count;
    int64_t from[2][2];
    int64_t turn[2];
    int turns; /* most line ends within one of the vectors: 0, 1, or 2 for several */
    int64_t lanes[2 * VECTOR_BYTES / sizeof(SUM)];
};

/* Where in Y a pixel lies. */
struct spot {
    int64_t line, column;
};

INLINE struct spot forward(const struct parameters *p, struct spot at, int64_t count)
{
    at.column += count;
    while (at.column >= p->out_width) {
        at.column -= p->out_width;
        at.line++;
    }
    return at;
}

INLINE int64_t window_at(const struct parameters *p, struct spot at)
{
    return at.line * p->stride_height * p->row + at.column;
}

INLINE struct places places_of(const struct parameters *p, int64_t pixel, int64_t pixels)
{
    struct places found;
    const struct spot start = {pixel / p->out_width, pixel % p->out_width};
    found.pixel = pixel;
    found.count = least(WIDE, pixels - pixel);
    found.turns = found.count < WIDE ? 2 : 0;
    for (int v = 0; v < 2 && found.turns < 2; v++) {
        const struct spot at = v ? forward(p, start, LANES) : start;
        const int64_t left = p->out_width - at.column;
        found.from[v][0] = found.from[v][1] = window_at(p, at);
        found.turn[v] = LANES;
        if (left + p->out_width < LANES) {
            found.turns = 2;
        } else if (left < LANES) {
            found.turns = 1;
            found.turn[v] = left;
            found.from[v][1] = window_at(p, (struct spot){at.line + 1, 0}) - left;
        }
    }
    if (found.turns == 2) {
        struct spot at = start;
        for (int64_t lane = 0; lane < WIDE; lane++) {
            found.lanes[lane] = window_at(p, at);
            if (lane + 1 < found.count) at = forward(p, at, 1); /* idle lanes do what the last one does */
        }
    }
    return found;
}

INLINE void one_term(const struct places *at, const int turns, const mask *masks, const SUM *from, SUM *panel)
{
    if (turns == 0) {
        store(panel, load(from + at->from[0][0]));
        store(panel + LANES, load(from + at->from[1][0]));
    } else if (turns == 1) {
        for (int v = 0; v < 2; v++) {
            const vector before = load(from + at->from[v][0]), behind = load(from + at->from[v][1]);
            store(panel + v * LANES, chosen(masks[v], before, behind));
        }
    } else {
        for (int64_t lane = 0; lane < WIDE; lane++) panel[lane] = from[at->lanes[lane]];
    }
}

/* The input's part in `terms` products of a tile, from term `first` on, in the order of use. */
INLINE void pack_panel(const struct parameters *p, const struct places *at, const int turns,
                       const int64_t *offsets, const SUM *image, int64_t first, int64_t terms, SUM *panel)
{
    const int64_t taps = p->kernel_height * p->kernel_width;
    const SUM *from = image + first / taps * p->plane;
    int64_t tap = first % taps;
    mask masks[2] = {{0}, {0}};
    for (int v = 0; v < 2 && turns == 1; v++) {
        for (int64_t lane = 0; lane < LANES; lane++) masks[v][lane] = lane < at->turn[v] ? -1 : 0;
    }
    while (terms > 0) {
        const int64_t run = least(taps - tap, terms);
        for (int64_t k = tap; k < tap + run; k++, panel += WIDE) {
            one_term(at, turns, masks, from + offsets[k], panel);
        }
        terms -= run;
        tap = 0;
        from += p->plane;
    }
}

/* One block of terms of one tile: the panel is packed, then all channels use it. */
INLINE void block_of_tile(const struct parameters *p, const struct places *at, const int64_t *offsets,
                          const SUM *image, const SUM *packed, int64_t first, int64_t terms, SUM *panel,
                          SUM *out, int64_t pitch)
{
    const SUM *const weights = packed + p->rows * (1 + first);
    if (at->turns == 0) {
        pack_panel(p, at, 0, offsets, image, first, terms, panel);
    } else if (at->turns == 1) {
        pack_panel(p, at, 1, offsets, image, first, terms, panel);
    } else {
        pack_panel(p, at, 2, offsets, image, first, terms, panel);
    }
    block_of_terms(p->rows, terms, weights, panel, first == 0 ? packed : NULL, out, pitch);
}

/* padded X, packed weights, offsets (, what follows) -> Y, scratch; a task is some tiles of one image. */
void KERNEL(sums_dense)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank)
{
    const int64_t pixels = p->out_height * p->out_width, terms = p->channels * p->kernel_height * p->kernel_width;
    const int64_t tiles = (pixels + WIDE - 1) / WIDE, tasks = (tiles + p->tiles - 1) / p->tiles;
    const int64_t image = task / tasks, begin = task % tasks * p->tiles, end = least(begin + p->tiles, tiles);
    const SUM *const padded = (const SUM *)operands[0] + image * p->channels * p->plane;
    const SUM *const packed = operands[1];
    const int64_t *const offsets = operands[2];
    void *const *const results = operands + 3 + p->beside;
    TYPE *const out = (TYPE *)results[0] + image * p->outputs * pixels;
    SUM *const panel = (SUM *)results[1] + rank * p->scratch, *const waiting = panel + p->block * WIDE;
    for (int64_t first = 0; first < terms; first += p->block) {
        const int64_t some = least(p->block, terms - first);
        for (int64_t tile = begin; tile < end; tile++) {
            const struct places at = places_of(p, tile * WIDE, pixels);
#if !HALF
            if (at.count == WIDE && p->rows == p->outputs) {
                block_of_tile(p, &at, offsets, padded, packed, first, some, panel, out + at.pixel, pixels);
                continue;
            }
#endif
            SUM *const sums = waiting + (tile - begin) * p->rows * WIDE;
            block_of_tile(p, &at, offsets, padded, packed, first, some, panel, sums, WIDE);
            if (first + some == terms) deliver(sums, p->outputs, WIDE, at.count, 1, out + at.pixel, pixels);
        }
    }
    const int64_t place = begin * WIDE;
    made(p, operands + 3, 0, p->outputs, image * p->outputs * pixels + place, least(end * WIDE, pixels) - place);
}
