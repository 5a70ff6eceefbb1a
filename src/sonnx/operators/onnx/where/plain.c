/* Every byte but 0 is true (D-WHERE-1); the chosen element keeps its bits (D-WHERE-2). */
/*@ predicate ${function}_chosen($element z, uint8_t condition, $element x, $element y) =
      (condition != 0 ==> $same(z, x)) && (condition == 0 ==> $same(z, y)); */
/*@ assigns \nothing;
    ensures ${function}_chosen(\result, condition, x, y); */
static $element ${function}_element(uint8_t condition, $element x, $element y)
{
    if (condition != 0) {
        return x;
    }
    return y;
}

/*@ assigns $output[0 .. $last];
    ensures \forall integer k; 0 <= k < $count ==> ${function}_chosen($output[k], $condition[k], $X[k], $Y[k]); */
static void $function(void)
{
    /*@ loop invariant 0 <= i <= $count;
        loop invariant \forall integer k; 0 <= k < i ==>
          ${function}_chosen($output[k], $condition[k], $X[k], $Y[k]);
        loop assigns i, $output[0 .. $last];
        loop variant $count - i; */
    for (int32_t i = 0; i < $count; i++) {
        $output[i] = ${function}_element($condition[i], $X[i], $Y[i]);
    }
}
