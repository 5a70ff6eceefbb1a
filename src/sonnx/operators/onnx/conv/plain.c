/*@ // The image in its padding: zeros, which take part in the sum (D-CONV-5). A plane is a channel of an item.
    logic $element ${function}_x{L}(integer plane, integer i, integer j) =
//if IMAGE
      0 <= i < $lines && 0 <= j < $columns ? $X[(plane * $lines + i) * $columns + j] : ($element)0;
//else
      ($element)0;
//end
 */
/*@ // The first terms of the sum, from the bias on: `ci` whole channels, `p` lines and `q` columns (D-CONV-6).
    logic $accumulator ${function}_sum{L}(integer b, integer c, integer m, integer n, integer ci, integer p, integer q) =
//if TERMS
      q > 0 ? $term
        : p > 0 ? ${function}_sum(b, c, m, n, ci, p - 1, $kernel_columns)
        : ci > 0 ? ${function}_sum(b, c, m, n, ci - 1, $kernel_lines, 0)
        : $first;
//else
      $first;
//end
 */
//if PADDED
/* One element of the padded image. */
/*@ requires 0 <= t < $padded_count;
    assigns \nothing;
    ensures $is_padding; */
static $element ${function}_padding(int32_t t)
{
//if IMAGE
//if LINES
    const int32_t i = $padded_line;
//end
//if COLUMNS
    const int32_t j = $padded_column;
//end
    if ($inside) {
        return $X[$source];
    }
//else
    (void)t;
//end
    return 0;
}

/*@ assigns $padded[0 .. $padded_last];
    ensures \forall integer t; 0 <= t < $padded_count ==>
      $is_padded; */
static void ${function}_pad(void)
{
    /*@ loop invariant 0 <= t <= $padded_count;
        loop invariant \forall integer k; 0 <= k < t ==>
          $was_padded;
        loop assigns t, $padded[0 .. $padded_last];
        loop variant $padded_count - t; */
    for (int32_t t = 0; t < $padded_count; t++) {
        $padded[t] = ${function}_padding(t);
    }
}

/* The padded image at a place. */
/*@ requires 0 <= plane < $planes && 0 <= i < $padded_lines && 0 <= j < $padded_columns;
    requires \forall integer t; 0 <= t < $padded_count ==>
      $is_padded;
    assigns \nothing;
    ensures $same(\result, ${function}_x(plane, i - $before, j - $left)); */
static $element ${function}_at(int32_t plane, int32_t i, int32_t j)
{
    const int32_t t = (plane * $padded_lines + i) * $padded_columns + j;
    //@ assert column: t % $padded_columns == j;
    //@ assert line: t / $padded_columns == plane * $padded_lines + i;
    //@ assert place: $place_plane == plane && $place_line == i && $place_column == j;
    return $padded[t];
}

//end
//if TERMS
/* The sum starts at the bias and takes one term after the other: channel, kernel line, kernel column (D-CONV-6). */
//else
/* There are no terms: the sum is the bias (D-CONV-6). */
//end
/*@ requires $ranges;
//if PADDED
    requires \forall integer t; 0 <= t < $padded_count ==>
      $is_padded;
//end
    assigns \nothing;
    ensures $result; */
static $element ${function}_element($parameters)
{
    $accumulator s = $start;
//if TERMS
    /*@ loop invariant 0 <= ci <= $group_channels;
        loop invariant $sum_same(s, ${function}_sum($indices, ci, 0, 0));
        loop assigns ci, s;
        loop variant $group_channels - ci; */
    for (int32_t ci = 0; ci < $group_channels; ci++) {
        /*@ loop invariant 0 <= p <= $kernel_lines;
            loop invariant $sum_same(s, ${function}_sum($indices, ci, p, 0));
            loop assigns p, s;
            loop variant $kernel_lines - p; */
        for (int32_t p = 0; p < $kernel_lines; p++) {
            /*@ loop invariant 0 <= q <= $kernel_columns;
                loop invariant $sum_same(s, ${function}_sum($indices, ci, p, q));
                loop assigns q, s;
                loop variant $kernel_columns - q; */
            for (int32_t q = 0; q < $kernel_columns; q++) {
//if LINE
                const int32_t i = $line;
//end
//if COLUMN
                const int32_t j = $column;
//end
//if HALF
                const float x = float_of_half($x);
                const float w = float_of_half($W[$w]);
//else
                const $accumulator x = $x;
                const $accumulator w = $W[$w];
//end
                //@ assert operand: $sum_same(x, $operand);
//if FUSED
                s = $fma(x, w, s);
//else
                const $accumulator product = x * w;
                s = s + product;
//end
                //@ assert term: $sum_same(s, ${function}_sum($indices, ci, p, q + 1));
            }
        }
    }
//end
//if HALF
    return half_of_float(s);
//else
    return s;
//end
}

/*@ assigns $written;
    ensures \forall integer t; 0 <= t < $count ==> $made; */
static void $function(void)
{
//if PADDED
    ${function}_pad();
//end
    /*@ loop invariant 0 <= t <= $count;
        loop invariant \forall integer k; 0 <= k < t ==> $made_before;
        loop assigns t, $Y[0 .. $last];
        loop variant $count - t; */
    for (int32_t t = 0; t < $count; t++) {
        $Y[t] = ${function}_element($arguments);
    }
}
