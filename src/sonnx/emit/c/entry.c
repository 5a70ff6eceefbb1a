$prototype
{
    /* All fields of the parameters are of this type. */
    const struct parameters *const parameters = (const struct parameters *)values;
    for (int64_t task = 0; task < tasks; task++) $kernel(parameters, operands, task, 0);
}
