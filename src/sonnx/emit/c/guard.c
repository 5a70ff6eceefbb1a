static int32_t $name(void)
{
$call
    for (int32_t i = 0; i < $tasks; i++) {
        if ($found[i] >= 0) {
            return 1;
        }
    }
    return 0;
}
