/* The greatest integer that is not above a number; what has no fraction stays, and so does a NaN. */
/*@ assigns \nothing;
    ensures same_float(\result, rounded_down_float(x)); */
static float floor_of_float(float x)
{
    if (x == 0.0f) {
        //@ assert zero: same_float(x, rounded_down_float(x));
        return x;
    }
    /* From 16777216 on there are no fractions; a NaN is named for those who follow ranges. */
    if (x != x || !(x < 16777216.0f)) {
        //@ assert large: same_float(x, rounded_down_float(x));
        return x;
    }
    if (!(-16777216.0f < x)) {
        //@ assert small: same_float(x, rounded_down_float(x));
        return x;
    }
    //@ assert near: -16777300.0 < x < 16777300.0;
    const int32_t cut = (int32_t)x;
    //@ assert cut: cut == cut_float(x);
    const float whole = (float)cut;
    //@ assert whole: same_float(whole, whole_float(cut_float(x)));
    if (x < whole) {
        const float below = (float)(cut - 1);
        //@ assert below: same_float(below, whole_float(cut_float(x) - 1));
        //@ assert down: same_float(below, rounded_down_float(x));
        return below;
    }
    //@ assert up: same_float(whole, rounded_down_float(x));
    return whole;
}
