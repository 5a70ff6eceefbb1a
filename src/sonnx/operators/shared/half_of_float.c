/* The float16 nearest to a float, ties to even. */
/*@ assigns \nothing;
    ensures same_uint16_t(\result, nearest_half(value)); */
static uint16_t half_of_float(float value)
{
    union {
        float value;
        uint32_t bits;
    } given;
    given.value = value;
    const uint32_t sign = (given.bits >> 16) & 0x8000u;
    const uint32_t magnitude = given.bits & 0x7fffffffu;
    const uint32_t exponent = magnitude >> 23;
    uint32_t significand = (magnitude & 0x7fffffu) | 0x800000u;
    uint32_t dropped = 13u;
    uint32_t base = 0u;
    if (magnitude > 0x7f800000u) {
        return (uint16_t)(sign | 0x7e00u);
    }
    if (exponent >= 143u) {
        return (uint16_t)(sign | 0x7c00u);
    }
    if (exponent >= 113u) {
        base = (exponent - 113u) << 10;
    } else if (exponent >= 102u) {
        dropped = 126u - exponent;
    } else {
        return (uint16_t)sign;
    }
    const uint32_t rest = significand & (((uint32_t)1u << dropped) - 1u);
    const uint32_t tie = (uint32_t)1u << (dropped - 1u);
    significand >>= dropped;
    if (rest > tie || (rest == tie && (significand & 1u) != 0u)) {
        significand++;
    }
    return (uint16_t)(sign | (base + significand));
}
