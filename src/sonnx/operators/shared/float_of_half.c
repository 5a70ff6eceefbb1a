/* The value of a float16, which is exact in float. */
/*@ assigns \nothing;
    ensures same_float(\result, value_of_half(half)); */
static float float_of_half(uint16_t half)
{
    union {
        uint32_t bits;
        float value;
    } made;
    const uint32_t sign = (uint32_t)(half & 0x8000u) << 16;
    const uint32_t exponent = (uint32_t)(half >> 10) & 31u;
    const uint32_t fraction = half & 1023u;
    if (exponent == 31u) {
        made.bits = sign | 0x7f800000u | (fraction << 13);
    } else if (exponent != 0u) {
        made.bits = sign | ((exponent + 112u) << 23) | (fraction << 13);
    } else {
        made.value = (float)fraction * 0x1p-24f;
        made.bits |= sign;
    }
    return made.value;
}
