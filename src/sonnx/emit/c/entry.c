$prototype
{
    const struct parameters parameters = {
$fields
    };
    for (int64_t task = 0; task < tasks; task++) {
        $kernel(&parameters, operands, task, 0);
    }
}
