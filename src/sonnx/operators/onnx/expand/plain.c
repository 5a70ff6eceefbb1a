/* An axis of size 1 is repeated, every other kept (D-BCAST-1, D-BCAST-2); bits are moved (D-ALL-4). */
static void $function(void)
{
    for (int32_t t = 0; t < $count; t++) {
        $output[t] = $input[$source];
    }
}
