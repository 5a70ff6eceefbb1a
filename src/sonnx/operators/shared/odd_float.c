/* A double that is a float, or else the one of the two floats around it whose last bit is 1: so a number with
   fewer bits that is nearest to it is nearest to the double as well. */
/*@ assigns \nothing;
    ensures same_float(\result, beside_double(value)); */
static float odd_float(double value)
{
    union {
        float value;
        uint32_t bits;
    } made;
    made.value = (float)value;
    const double nearest = (double)made.value;
    if (nearest == value || value != value || (made.bits & 1u) != 0u) {
        return made.value;
    }
    if ((nearest < value) == (value > 0.0)) {
        made.bits++;
    } else {
        made.bits--;
    }
    return made.value;
}
