/* Vectors of SUM, VECTOR_BYTES wide; SUM_BYTES is the size of SUM, FUSED how a product is added. */
#if SUM_BYTES == 8
typedef int64_t lane;
#else
typedef int32_t lane;
#endif
typedef SUM vector __attribute__((vector_size(VECTOR_BYTES)));
typedef lane mask __attribute__((vector_size(VECTOR_BYTES)));
/* A vector anywhere in memory. */
typedef SUM loose __attribute__((vector_size(VECTOR_BYTES), aligned(SUM_BYTES), may_alias));
#define LANES ((int64_t)(VECTOR_BYTES / SUM_BYTES))

#if defined(__clang__)
#define UNROLL _Pragma("unroll")
#else
#define UNROLL _Pragma("GCC unroll 16")
#endif

/* Keeps a sum in its register: without this gcc moves some of them to memory and back at every term. */
#if defined(__x86_64__) && (VECTOR_BYTES == 16 || (VECTOR_BYTES == 32 && defined(__AVX__)) || defined(__AVX512F__))
#define HOLD(sum) __asm__ volatile("" : "+x"(sum))
#elif defined(__aarch64__) && VECTOR_BYTES == 16
#define HOLD(sum) __asm__ volatile("" : "+w"(sum))
#else
#define HOLD(sum) (void)0
#endif

/* Keeps a loop with the counter `number` as it is written. */
#define ONE_BY_ONE(number) __asm__("" : "+r"(number))

INLINE vector load(const SUM *from) { return *(const loose *)from; }
INLINE void store(SUM *to, vector value) { *(loose *)to = value; }
/* Subtracting +0 keeps every number, -0 too. */
INLINE vector spread(SUM value) { return value - (vector){0}; }
/* The lanes of `yes` where a comparison held, else those of `no`. */
INLINE vector chosen(mask where, vector yes, vector no)
{
    return (vector)(((mask)yes & where) | ((mask)no & ~where));
}

/* Of two vectors' length of numbers, those at even places into one vector and those at odd places into another. */
#if defined(__AVX__) && !defined(__clang__) && VECTOR_BYTES == 32 && SUM_BYTES == 4
/* Halves of vectors are loaded to where they are wanted: no instruction crosses between halves, which is slow. */
typedef float quarter __attribute__((vector_size(16)));
typedef float loose_quarter __attribute__((vector_size(16), aligned(4), may_alias));
INLINE vector halves(const SUM *low, const SUM *high)
{
    const vector first = __builtin_ia32_ps256_ps(*(const loose_quarter *)low);
    return __builtin_ia32_vinsertf128_ps256(first, *(const loose_quarter *)high, 1);
}
INLINE void separate(const SUM *from, SUM *even, SUM *odd)
{
    const vector a = halves(from, from + 8), b = halves(from + 4, from + 12);
    store(even, __builtin_shuffle(a, b, (mask){0, 2, 8, 10, 4, 6, 12, 14}));
    store(odd, __builtin_shuffle(a, b, (mask){1, 3, 9, 11, 5, 7, 13, 15}));
}
#else
#if VECTOR_BYTES / SUM_BYTES == 2
#define EVENS 0, 2
#define ODDS 1, 3
#elif VECTOR_BYTES / SUM_BYTES == 4
#define EVENS 0, 2, 4, 6
#define ODDS 1, 3, 5, 7
#elif VECTOR_BYTES / SUM_BYTES == 8
#define EVENS 0, 2, 4, 6, 8, 10, 12, 14
#define ODDS 1, 3, 5, 7, 9, 11, 13, 15
#else
#define EVENS 0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30
#define ODDS 1, 3, 5, 7, 9, 11, 13, 15, 17, 19, 21, 23, 25, 27, 29, 31
#endif
#if defined(__clang__)
#define LANES_OF(a, b, ...) __builtin_shufflevector(a, b, __VA_ARGS__)
#else
#define LANES_OF(a, b, ...) __builtin_shuffle(a, b, (mask){__VA_ARGS__})
#endif
INLINE void separate(const SUM *from, SUM *even, SUM *odd)
{
    const vector a = load(from), b = load(from + LANES);
    store(even, LANES_OF(a, b, EVENS));
    store(odd, LANES_OF(a, b, ODDS));
}
#endif

#if FUSED
/* One rounding a lane, as fmaf and fma of C; the compilers' own names where they have vectors of it. */
#if defined(__clang__) && defined(__has_builtin)
#if __has_builtin(__builtin_elementwise_fma)
#define FUSED_VECTOR(x, w, sum) __builtin_elementwise_fma(x, w, sum)
#endif
#elif defined(__FMA__) && VECTOR_BYTES == 16 && SUM_BYTES == 4
#define FUSED_VECTOR(x, w, sum) __builtin_ia32_vfmaddps(x, w, sum)
#elif defined(__FMA__) && VECTOR_BYTES == 16 && SUM_BYTES == 8
#define FUSED_VECTOR(x, w, sum) __builtin_ia32_vfmaddpd(x, w, sum)
#elif defined(__FMA__) && VECTOR_BYTES == 32 && SUM_BYTES == 4
#define FUSED_VECTOR(x, w, sum) __builtin_ia32_vfmaddps256(x, w, sum)
#elif defined(__FMA__) && VECTOR_BYTES == 32 && SUM_BYTES == 8
#define FUSED_VECTOR(x, w, sum) __builtin_ia32_vfmaddpd256(x, w, sum)
#elif defined(__AVX512F__) && VECTOR_BYTES == 64 && SUM_BYTES == 4
#define FUSED_VECTOR(x, w, sum) __builtin_ia32_vfmaddps512_mask(x, w, sum, (short)-1, 4)
#elif defined(__AVX512F__) && VECTOR_BYTES == 64 && SUM_BYTES == 8
#define FUSED_VECTOR(x, w, sum) __builtin_ia32_vfmaddpd512_mask(x, w, sum, (unsigned char)-1, 4)
#endif

#if defined(FUSED_VECTOR)
INLINE vector add_product(vector sum, vector x, vector w) { return FUSED_VECTOR(x, w, sum); }
#else
INLINE vector add_product(vector sum, vector x, vector w)
{
    for (int i = 0; i < (int)LANES; i++) {
#if SUM_BYTES == 8
        sum[i] = __builtin_fma(x[i], w[i], sum[i]);
#else
        sum[i] = __builtin_fmaf(x[i], w[i], sum[i]);
#endif
    }
    return sum;
}
#endif
#else
INLINE vector add_product(vector sum, vector x, vector w)
{
    const vector product = x * w;
    return sum + product;
}
#endif
