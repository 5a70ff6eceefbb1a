/* Answers what is not as it should be in $real, or NULL. Compilers do not know what is in a volatile variable, so
   they do here what they do in the model. */
static const char *arithmetic_$real(void)
{
    static volatile $bits one_bits = $one;
    static volatile $bits nan_bits = $nan;
    static volatile $bits least_bits = 1;
    static volatile $bits sign_bits = $sign;
    static volatile $real tie = $tie;
    static volatile $real factor = $factor;
    static volatile $real square = $square;
    union {
        $bits bits;
        $real value;
    } one, nan, least, zero, made;
    one.bits = one_bits;
    nan.bits = nan_bits;
    least.bits = least_bits;
    zero.bits = sign_bits;
    if (one.value != 1) {
        return "$real has other bits, or another order of bytes than integers";
    }
    if (nan.value == nan.value || nan.value < one.value || nan.value >= one.value) {
        return "NaNs are not expected (-ffinite-math-only?)";
    }
    /* One tie is decided downwards, one upwards. */
    made.value = one.value + tie;
    const $bits lower = made.bits;
    made.value = one.value + 3 * tie;
    if (lower != $one || made.bits != $one + 2) {
        return "sums are not rounded to nearest, ties to even";
    }
    made.value = least.value + least.value;
    if (made.bits != 2 || !(least.value > 0)) {
        return "subnormal numbers are flushed to zero";
    }
    made.value = zero.value + 0;
    if (made.bits != 0) {
        return "signs of zeros are not kept (-fno-signed-zeros?)";
    }
    const $real sum = tie + $large;
    made.value = sum - $large;
    if (made.value != 0) {
        return "sums are reordered (-fassociative-math?)";
    }
    const $real x = factor;
    const $real product = x * x;
    made.value = product - square;
    if (made.value != 0) {
        return "products are contracted with sums (-ffp-contract=fast?)";
    }
//if FUSED
    if ($fma(x, x, -square) != $rest) {
        return "$fma rounds twice";
    }
//end
    return NULL;
}
