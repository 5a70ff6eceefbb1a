/* $about
   Each function does all tasks of one kernel call; `values` are the fields of its parameters, in their order. */
#ifndef $guard
#define $guard

#include <stdint.h>

//if FOLLOWED
$pieces

//end
$declared

#endif
