/* What is left of x by y: exact, with the sign of x; a NaN where x is infinite, y is 0, or one of them is a NaN. */
/*@ assigns \nothing;
    ensures same_float(\result, left_over_float(x, y)); */
static float left_over_of_float(float x, float y)
{
    union {
        float value;
        uint32_t bits;
    } made;
    made.value = y;
    const uint32_t divisor = made.bits & 0x7fffffffu;
    made.value = x;
    const uint32_t sign = made.bits & 0x80000000u;
    const uint32_t dividend = made.bits & 0x7fffffffu;
    if (dividend >= 0x7f800000u || divisor > 0x7f800000u || divisor == 0u) {
        made.bits = 0x7fc00000u;
        return made.value;
    }
    if (dividend < divisor) {
        return x;
    }
    /* Both as integers with a power of two; what is subnormal has the least one, and no leading bit. */
    const uint32_t over = dividend >> 23;
    const uint32_t under = divisor >> 23;
    const uint32_t least = under == 0u ? divisor : (divisor & 0x7fffffu) + 0x800000u;
    uint32_t rest = over == 0u ? dividend : (dividend & 0x7fffffu) + 0x800000u;
    uint32_t power = under != 0u ? under : 1u;
    rest %= least;
    /*@ loop assigns rest, left;
        loop variant left; */
    for (uint32_t left = over > power ? over - power : 0u; left > 0u; left--) {
        rest = (rest << 1) % least;
    }
    /*@ loop assigns rest, power;
        loop variant power; */
    for (; power > 1u && rest < 0x800000u; power--) {
        rest <<= 1;
    }
    made.bits = sign | (rest < 0x800000u ? rest : (power << 23) + (rest - 0x800000u));
    return made.value;
}
