/* bfloat16 as bits in a uint16_t, to and from float, and doubles on their way to floats of few bits; as in half.h
   values are selected by masks. */

INLINE float bfloat16_to_float(uint16_t bits)
{
    const union half_float result = {.bits = (uint32_t)bits << 16};
    return result.value;
}

/* The nearest bfloat16, of two the even one, infinity beyond the largest; a NaN becomes quiet. */
INLINE uint16_t float_to_bfloat16(float value)
{
    const union half_float given = {value};
    const uint32_t number = given.bits + 0x7fff + (given.bits >> 16 & 1);
    const int is_nan = (given.bits & 0x7fffffff) > 0x7f800000;
    return (uint16_t)(half_select(is_nan, given.bits | 0x00400000, number) >> 16);
}

/* A double that is a float, or else the one of the two floats around it whose last bit is 1: the nearest number
   with fewer bits is then the one nearest to the double. */
INLINE float double_to_odd(double value)
{
    const union half_float nearest = {(float)value};
    const double there = (double)nearest.value;
    const double size = __builtin_fabs(value), found = __builtin_fabs(there);
    const uint32_t even = ~nearest.bits & 1;
    const int64_t up = found < size ? 1 : 0, down = found > size ? 1 : 0;
    const union half_float result = {.bits = nearest.bits + ((uint32_t)(up - down) & (0 - even))};
    return result.value;
}
