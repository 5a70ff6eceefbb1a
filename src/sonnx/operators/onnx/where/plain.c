/* Every byte but 0 is true (D-WHERE-1); the chosen element keeps its bits (D-WHERE-2). */
static void $function(void)
{
    for (int32_t i = 0; i < $count; i++) {
        if ($condition[i] != 0) {
            $output[i] = $X[i];
        } else {
            $output[i] = $Y[i];
        }
    }
}
