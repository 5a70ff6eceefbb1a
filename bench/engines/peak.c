/* The most multiply-adds that the machine can do where everything stays in registers.

   Twelve sums that do not wait for each other, as in the convolution kernels. An empty asm after each step
   makes the compiler forget what it knows of the factor: without it one product would serve all sums. */

#if defined(__AVX512F__)
enum { width = 16 };
#elif defined(__AVX__)
enum { width = 8 };
#else
enum { width = 4 };
#endif

typedef float vector __attribute__((vector_size(width * sizeof(float))));

#if defined(__x86_64__)
#define FORGET(v) __asm__("" : "+x"(v))
#elif defined(__aarch64__)
#define FORGET(v) __asm__("" : "+w"(v))
#else
#define FORGET(v) __asm__("" : "+m"(v))
#endif

enum { sums = 12 };

#define TWELVE(step) \
    step(0) step(1) step(2) step(3) step(4) step(5) step(6) step(7) step(8) step(9) step(10) step(11)
#define DECLARE(n) vector sum##n = {0};
#define ADD(n) total += sum##n[0];

/* The products of one round, for Python. */
long products_of_one_round(void)
{
    return (long)sums * width;
}

#define SEPARATE(n) FORGET(factor); sum##n += factor * other; FORGET(sum##n);

float separate(long rounds)
{
    vector factor = {0}, other = {0};
    TWELVE(DECLARE)
    for (long round = 0; round < rounds; round++) {
        TWELVE(SEPARATE)
    }
    float total = 0;
    TWELVE(ADD)
    return total;
}

#if defined(__FMA__)
#if defined(__AVX512F__)
#define MULTIPLY_ADD(sum, a, b) __asm__("vfmadd231ps %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b))
#else
#define MULTIPLY_ADD(sum, a, b) __asm__("vfmadd231ps %2, %1, %0" : "+x"(sum) : "x"(a), "x"(b))
#endif
#elif defined(__aarch64__)
#define MULTIPLY_ADD(sum, a, b) __asm__("fmla %0.4s, %1.4s, %2.4s" : "+w"(sum) : "w"(a), "w"(b))
#else
#define MULTIPLY_ADD(sum, a, b) \
    for (int lane = 0; lane < width; lane++) \
        (sum)[lane] = __builtin_fmaf((a)[lane], (b)[lane], (sum)[lane])
#endif
#define FUSED(n) FORGET(factor); MULTIPLY_ADD(sum##n, factor, other); FORGET(sum##n);

float fused(long rounds)
{
    vector factor = {0}, other = {0};
    TWELVE(DECLARE)
    for (long round = 0; round < rounds; round++) {
        TWELVE(FUSED)
    }
    float total = 0;
    TWELVE(ADD)
    return total;
}
