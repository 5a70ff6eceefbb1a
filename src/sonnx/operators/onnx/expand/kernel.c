static void $function(void)
{
    for (int32_t t = 0; t < $count; t++) {
        $output[t] = $input[$source];
    }
}
