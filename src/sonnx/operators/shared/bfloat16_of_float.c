/* The bfloat16 nearest to a float, ties to even. */
/*@ assigns \nothing;
    ensures same_uint16_t(\result, nearest_bfloat16(value)); */
static uint16_t bfloat16_of_float(float value)
{
    union {
        float value;
        uint32_t bits;
    } given;
    given.value = value;
    if (value != value) {
        return (uint16_t)((given.bits >> 16) | 0x0040u);
    }
    return (uint16_t)((given.bits + 0x7fffu + ((given.bits >> 16) & 1u)) >> 16);
}
