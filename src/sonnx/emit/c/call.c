    {
        static const int64_t values[] = {
$values
        };
//if FOLLOWED
        /* What is done with each piece of the result as soon as it is there. */
        static after *const follow = $after;
//end
        void *const operands[] = {
            $operands,
        };
        $function(values, operands, $tasks);
    }
