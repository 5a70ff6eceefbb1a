//if PADDED
/* The zeros of the padding take part in the sum. */
static void ${function}_pad(void)
{
    for (int32_t t = 0; t < $padded_count; t++) {
        const int32_t i = t / $padded_columns % $padded_lines$above;
        const int32_t j = t % $padded_columns$before;
        if (i >= 0 && i < $lines && j >= 0 && j < $columns) {
            $padded[t] = $X[(t / $padded_image * $lines + i) * $columns + j];
        } else {
            $padded[t] = 0;
        }
    }
}

//end
/* The sum starts at the bias and takes one term after the other: channel, kernel line, kernel column. */
static $element ${function}_element(int32_t b, int32_t c, int32_t m, int32_t n)
{
    $accumulator s = $start;
    for (int32_t ci = 0; ci < $group_channels; ci++) {
        for (int32_t p = 0; p < $kernel_lines; p++) {
            for (int32_t q = 0; q < $kernel_columns; q++) {
                const int32_t i = $line;
                const int32_t j = $column;
//if HALF
                const float x = float_of_half($read[((b * $channels + $channel) * $padded_lines + i) * $padded_columns + j]);
                const float w = float_of_half($W[((c * $group_channels + ci) * $kernel_lines + p) * $kernel_columns + q]);
//else
                const $accumulator x = $read[((b * $channels + $channel) * $padded_lines + i) * $padded_columns + j];
                const $accumulator w = $W[((c * $group_channels + ci) * $kernel_lines + p) * $kernel_columns + q];
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
        const int32_t c = t / $output_image % $output_channels;
        const int32_t m = t / $output_columns % $output_lines;
        $Y[t] = ${function}_element(t / $output_batch, c, m, t % $output_columns);
    }
}
