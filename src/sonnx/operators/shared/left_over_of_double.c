/* What is left of x by y: exact, with the sign of x; a NaN where x is infinite, y is 0, or one of them is a NaN. */
/*@ assigns \nothing;
    ensures same_double(\result, left_over_double(x, y)); */
static double left_over_of_double(double x, double y)
{
    union {
        double value;
        uint64_t bits;
    } made;
    made.value = y;
    const uint64_t divisor = made.bits & 0x7fffffffffffffffu;
    made.value = x;
    const uint64_t sign = made.bits & 0x8000000000000000u;
    const uint64_t dividend = made.bits & 0x7fffffffffffffffu;
    if (dividend >= 0x7ff0000000000000u || divisor > 0x7ff0000000000000u || divisor == 0u) {
        made.bits = 0x7ff8000000000000u;
        return made.value;
    }
    if (dividend < divisor) {
        return x;
    }
    /* Both as integers with a power of two; what is subnormal has the least one, and no leading bit. */
    const uint64_t over = dividend >> 52;
    const uint64_t under = divisor >> 52;
    const uint64_t least = under == 0u ? divisor : (divisor & 0xfffffffffffffu) + 0x10000000000000u;
    uint64_t rest = over == 0u ? dividend : (dividend & 0xfffffffffffffu) + 0x10000000000000u;
    uint64_t power = under != 0u ? under : 1u;
    rest %= least;
    /*@ loop assigns rest, left;
        loop variant left; */
    for (uint64_t left = over > power ? over - power : 0u; left > 0u; left--) {
        rest = (rest << 1) % least;
    }
    /*@ loop assigns rest, power;
        loop variant power; */
    for (; power > 1u && rest < 0x10000000000000u; power--) {
        rest <<= 1;
    }
    made.bits = sign | (rest < 0x10000000000000u ? rest : (power << 52) + (rest - 0x10000000000000u));
    return made.value;
}
