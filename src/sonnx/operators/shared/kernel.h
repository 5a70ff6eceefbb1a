/* What every fast kernel begins with. A source is compiled once per variant, with these macros defined:
   VARIANT, which ends the names of its functions, and VECTOR_BYTES, the width of a vector. */
#include <stddef.h>
#include <stdint.h>

#define JOINED(name, variant) name##_##variant
#define JOIN(name, variant) JOINED(name, variant)
#define KERNEL(name) JOIN(name, VARIANT)

#define ALONE __attribute__((noinline))
#define INLINE static inline __attribute__((always_inline, unused))
