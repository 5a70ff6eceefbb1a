/* $about */
#ifndef $guard
#define $guard

#include <stdint.h>

#include "model.h"

//if LOADED
/* Whether ${prefix}_load has succeeded. */
extern int ${prefix}_loaded;

//end
$declared

#endif
