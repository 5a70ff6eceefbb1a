/* binary16 as bits in a uint16_t, to and from float. Values are selected by masks: with a branch, a compiler that
   respects floating-point exceptions makes no vector instructions of a loop over these functions. The results
   are the same bits on every processor that rounds to nearest, ties to even, also where it flushes subnormals. */

union half_float {
    float value;
    uint32_t bits;
};

INLINE uint32_t half_select(int condition, uint32_t chosen, uint32_t otherwise)
{
    return otherwise ^ ((chosen ^ otherwise) & (0 - (uint32_t)condition));
}

/* The same number; a NaN keeps its sign, and its payload stands at the top of the longer one. */
INLINE float half_to_float(uint16_t bits)
{
    const uint32_t sign = (uint32_t)(bits & 0x8000) << 16;
    const uint32_t magnitude = bits & 0x7fff;
    const uint32_t normal = (magnitude << 13) + ((uint32_t)(127 - 15) << 23);
    const uint32_t special = (magnitude << 13) | 0x7f800000;
    const union half_float subnormal = {(float)(int32_t)magnitude * 0x1p-24f};
    const uint32_t finite = half_select(magnitude < 0x0400, subnormal.bits, normal);
    const union half_float result = {.bits = sign | half_select(magnitude < 0x7c00, finite, special)};
    return result.value;
}

/* The nearest binary16, of two the even one, infinity from 65520 on; a NaN becomes quiet, keeps its sign and the
   top of its payload. */
INLINE uint16_t float_to_half(float value)
{
    const union half_float given = {value};
    const uint32_t sign = given.bits >> 16 & 0x8000;
    const uint32_t magnitude = given.bits & 0x7fffffff;
    const uint32_t odd = magnitude >> 13 & 1;
    const uint32_t normal = (magnitude - ((uint32_t)(127 - 15) << 23) + 0x0fff + odd) >> 13;
    const uint32_t nan = 0x7e00 | (magnitude >> 13 & 0x03ff);
    /* From one half to one, floats are as far apart as subnormal halves: the addition rounds. */
    const union half_float absolute = {.bits = magnitude};
    const union half_float shifted = {absolute.value + 0.5f};
    const uint32_t subnormal = shifted.bits - 0x3f000000;
    const uint32_t finite = half_select(magnitude < 0x38800000, subnormal, normal);
    const uint32_t number = half_select(magnitude < 0x477ff000, finite, 0x7c00);
    return (uint16_t)(sign | half_select(magnitude > 0x7f800000, nan, number));
}
