/* An axis of size 1 is repeated, every other kept (D-BCAST-1, D-BCAST-2); bits are moved (D-ALL-4). */
/*@ // Where the element `t` of the output is read: the indices of `t`, axis by axis, 0 where the input has size 1.
    logic integer ${function}_place(integer t) =
      $place; */
/*@ assigns $output[0 .. $last];
    ensures \forall integer k; 0 <= k < $count ==> $same($output[k], $input[${function}_place(k)]); */
static void $function(void)
{
    /*@ loop invariant 0 <= t <= $count;
        loop invariant \forall integer k; 0 <= k < t ==> $same($output[k], $input[${function}_place(k)]);
        loop assigns t, $output[0 .. $last];
        loop variant $count - t; */
    for (int32_t t = 0; t < $count; t++) {
        //@ assert place: $source == ${function}_place(t) && 0 <= $source < $read;
        $output[t] = $input[$source];
    }
}
