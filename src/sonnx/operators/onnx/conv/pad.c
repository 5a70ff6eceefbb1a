/* The input of a Conv with its padding, as dense.c and swapped.c read it. */
#include "onnx/conv/fast.h"

/* X -> padded X; a task is a channel of an image. */
void KERNEL(conv_pad)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank)
{
    (void)rank;
    pad_plane(p, (const TYPE *)operands[0] + task * p->height * p->width, (SUM *)operands[1] + task * p->plane);
}
