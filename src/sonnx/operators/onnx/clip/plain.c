/* Two comparisons in this order are the definition on every bit (D-CLIP-1): a NaN compares false, and zeros of both
   signs compare equal (D-CLIP-2). */
static $element ${function}_element($element x, $element low, $element high)
{
    $element y = x;
//if HALF
    if (float_of_half(y) < float_of_half(low)) {
        y = low;
    }
    if (float_of_half(y) > float_of_half(high)) {
        y = high;
    }
//else
    if (y < low) {
        y = low;
    }
    if (y > high) {
        y = high;
    }
//end
    return y;
}

static void $function(void)
{
    for (int32_t i = 0; i < $count; i++) {
        $output[i] = ${function}_element($input[i], $min[0], $max[0]);
    }
}
