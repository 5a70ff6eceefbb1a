/* The input with its padding, as dense.c and swapped.c read it. */
#include "shared/sums_of_products/sums.h"

/* X -> padded X; a task is a channel of an image. */
void KERNEL(sums_pad)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank)
{
    const TYPE *const image = (const TYPE *)operands[0] + task * p->height * p->width;
    SUM *const padded = (SUM *)operands[1] + task * p->plane;
    (void)rank;
    pad_lines(p, image, 0, p->padded_height, padded, p->phase);
}

/* -> where in the padded input each tap of the kernel lies, counted from where tap (0, 0) does. */
void KERNEL(sums_offsets)(const struct parameters *p, void *const *operands, int64_t task, int64_t rank)
{
    int64_t *const offsets = (int64_t *)operands[0] + task * p->kernel_width;
    (void)rank;
    for (int64_t j = 0; j < p->kernel_width; j++) {
        const int64_t along = j * p->dilation_width;
        offsets[j] = along % p->stride_width * p->phase + task * p->dilation_height * p->row + along / p->stride_width;
    }
}
