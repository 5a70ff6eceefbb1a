/* The greatest integer that is not above a number; what has no fraction stays, and so does a NaN. */
/*@ assigns \nothing;
    ensures same_double(\result, rounded_down_double(x)); */
static double floor_of_double(double x)
{
    if (x == 0.0) {
        //@ assert zero: same_double(x, rounded_down_double(x));
        return x;
    }
    /* From 9007199254740992 on there are no fractions; a NaN is named for those who follow ranges. */
    if (x != x || !(x < 9007199254740992.0)) {
        //@ assert large: same_double(x, rounded_down_double(x));
        return x;
    }
    if (!(-9007199254740992.0 < x)) {
        //@ assert small: same_double(x, rounded_down_double(x));
        return x;
    }
    //@ assert near: -9007199254741992.0 < x < 9007199254741992.0;
    const int64_t cut = (int64_t)x;
    //@ assert cut: cut == cut_double(x);
    const double whole = (double)cut;
    //@ assert whole: same_double(whole, whole_double(cut_double(x)));
    if (x < whole) {
        const double below = (double)(cut - 1);
        //@ assert below: same_double(below, whole_double(cut_double(x) - 1));
        //@ assert down: same_double(below, rounded_down_double(x));
        return below;
    }
    //@ assert up: same_double(whole, rounded_down_double(x));
    return whole;
}
