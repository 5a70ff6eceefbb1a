//if PADDED
/* The zeros of the padding take part in the sum (D-CONV-5). */
static void ${function}_pad(void)
{
    for (int32_t t = 0; t < $padded_count; t++) {
//if IMAGE
//if LINES
        const int32_t i = $padded_line;
//end
//if COLUMNS
        const int32_t j = $padded_column;
//end
        if ($inside) {
            $padded[t] = $X[$source];
        } else {
            $padded[t] = 0;
        }
//else
        $padded[t] = 0;
//end
    }
}

//end
//if TERMS
/* The sum starts at the bias and takes one term after the other: channel, kernel line, kernel column (D-CONV-6). */
//else
/* There are no terms: the sum is the bias (D-CONV-6). */
//end
static $element ${function}_element($parameters)
{
    $accumulator s = $start;
//if TERMS
    for (int32_t ci = 0; ci < $group_channels; ci++) {
        for (int32_t p = 0; p < $kernel_lines; p++) {
            for (int32_t q = 0; q < $kernel_columns; q++) {
//if LINE
                const int32_t i = $line;
//end
//if COLUMN
                const int32_t j = $column;
//end
//if HALF
                const float x = float_of_half($read[$x]);
                const float w = float_of_half($W[$w]);
//else
                const $accumulator x = $read[$x];
                const $accumulator w = $W[$w];
//end
//if FUSED
                s = $fma(x, w, s);
//else
                const $accumulator product = x * w;
                s = s + product;
//end
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

static void $function(void)
{
//if PADDED
    ${function}_pad();
//end
    for (int32_t t = 0; t < $count; t++) {
        $Y[t] = ${function}_element($arguments);
    }
}
