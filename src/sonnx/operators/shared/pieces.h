/* A piece of a tensor with channels, some elements of each of some channels: what a kernel has just made, for a
   function that does something with it at once. */
#ifndef PIECES
#define PIECES
struct piece {
    int64_t channel, channels; /* the first, and how many */
    int64_t place;             /* of the first element in the tensor */
    int64_t pitch;             /* elements from one channel to the next */
    int64_t count;             /* elements of a channel */
};

typedef void after(void *const *operands, void *piece, const struct piece *at);
#endif
