    {
        static const int64_t values[] = {
$values
        };
        void *const operands[] = {
            $operands,
        };
        $function(values, operands, $tasks);
    }
