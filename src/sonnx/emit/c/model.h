/* $about */
#ifndef $guard
#define $guard

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

//if STRUCTURES
$structures
//end
//if LOADED
/* Takes the $bytes bytes of weights.bin; to be called once, before the model is run.
   Returns 0, 1 where the number of bytes is another, 2 where they are not the ones that were written. */
int ${prefix}_load(const unsigned char *bytes, size_t size);

//end
/* Runs the model. Arrays are in C order.
//if COPIED
   An output may be the same array as an input.
//else
   No output may share memory with an input or another output.
//end
$returns
$ports */
int32_t ${prefix}_run($parameters);

#ifdef __cplusplus
}
#endif

#endif
