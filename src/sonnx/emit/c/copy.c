/*@ requires \$valid($parameter + (0 .. $last));
    assigns $to[0 .. $last];
    ensures \forall integer k; 0 <= k < $count ==> $equal_k; */
static void copy_$parameter($declared)
{
    /*@ loop invariant 0 <= i <= $count;
        loop invariant \forall integer k; 0 <= k < i ==> $equal_k;
        loop assigns i, $to[0 .. $last];
        loop variant $count - i; */
    for (int32_t i = 0; i < $count; i++) {
        $to[i] = $source[i];
        //@ assert copied: $equal_i;
        //@ assert kept: \forall integer k; 0 <= k < i ==> $equal_k;
    }
}
