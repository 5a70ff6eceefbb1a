/* The value of a bfloat16, which is exact in float. */
/*@ assigns \nothing;
    ensures same_float(\result, value_of_bfloat16(bits)); */
static float float_of_bfloat16(uint16_t bits)
{
    union {
        uint32_t bits;
        float value;
    } made;
    made.bits = (uint32_t)bits << 16;
    return made.value;
}
