/* Numbers rounded down to integers, by processors that can and by others; never by a call. */

#if defined(__OPTIMIZE__) && (defined(__SSE4_1__) || defined(__aarch64__))
INLINE float rounded_down_float(float x) { return __builtin_floorf(x); }
INLINE double rounded_down_double(double x) { return __builtin_floor(x); }
#else
/* From 2^23 on floats are integers: what is added to that is rounded to one, and is still one without it. Where
   that is above x, it is one too much. A NaN is not below 2^23. */
INLINE float rounded_down_float(float x)
{
    const float size = __builtin_fabsf(x);
    const float sum = size + 0x1p23f;
    const float whole = __builtin_copysignf(sum - 0x1p23f, x);
    const float below = whole - (whole > x ? 1.0f : 0.0f);
    return size < 0x1p23f ? below : x;
}

INLINE double rounded_down_double(double x)
{
    const double size = __builtin_fabs(x);
    const double sum = size + 0x1p52;
    const double whole = __builtin_copysign(sum - 0x1p52, x);
    const double below = whole - (whole > x ? 1.0 : 0.0);
    return size < 0x1p52 ? below : x;
}
#endif
