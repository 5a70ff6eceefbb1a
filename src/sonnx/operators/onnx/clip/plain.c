/*@ // By cases, in their order (D-CLIP-1): a NaN stays, a NaN bound does not bound, `high` wins over `low`. Zeros of
    // both signs are equal, so one within the bounds keeps its sign (D-CLIP-2).
    predicate ${function}_limited($element y, $element x, $element low, $element high) =
//if HALF
      \let bounded_below = !\is_NaN(value_of_half(low));
      \let bounded_above = !\is_NaN(value_of_half(high));
      \let crossed = \lt_float(value_of_half(high), value_of_half(low));
      \let below = \lt_float(value_of_half(x), value_of_half(low));
      \let above = \lt_float(value_of_half(high), value_of_half(x));
      \let unordered = \is_NaN(value_of_half(x));
//end
//if FLOATING
      \let bounded_below = !\is_NaN(low);
      \let bounded_above = !\is_NaN(high);
      \let crossed = \lt_$element(high, low);
      \let below = \lt_$element(x, low);
      \let above = \lt_$element(high, x);
      \let unordered = \is_NaN(x);
//end
//if UNORDERED
      (unordered ==> $same(y, x)) &&
      (!unordered && bounded_below && bounded_above && crossed ==> $same(y, high)) &&
      (!unordered && !(bounded_below && bounded_above && crossed) && bounded_below && below ==> $same(y, low)) &&
      (!unordered && !(bounded_below && below) && bounded_above && above ==> $same(y, high)) &&
      (!unordered && !(bounded_below && below) && !(bounded_above && above) &&
        !(bounded_below && bounded_above && crossed) ==> $same(y, x));
//else
      (high < low ==> $same(y, high)) &&
      (low <= high && x < low ==> $same(y, low)) &&
      (low <= high && high < x ==> $same(y, high)) &&
      (low <= high && low <= x <= high ==> $same(y, x));
//end
 */
/* Two comparisons in this order are the definition on every bit (D-CLIP-1): a NaN compares false, and zeros of both
   signs compare equal (D-CLIP-2). */
/*@ assigns \nothing;
    ensures ${function}_limited(\result, x, low, high); */
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

/*@ assigns $output[0 .. $last];
    ensures \forall integer k; 0 <= k < $count ==> ${function}_limited($output[k], $input[k], $min[0], $max[0]); */
static void $function(void)
{
    /*@ loop invariant 0 <= i <= $count;
        loop invariant \forall integer k; 0 <= k < i ==>
          ${function}_limited($output[k], $input[k], $min[0], $max[0]);
        loop assigns i, $output[0 .. $last];
        loop variant $count - i; */
    for (int32_t i = 0; i < $count; i++) {
        $output[i] = ${function}_element($input[i], $min[0], $max[0]);
    }
}
