static $part part_$number(const unsigned char *bytes)
{
    union {
        $bits bits;
        $part value;
    } made;
    made.bits = 0;
    for (int32_t i = 0; i < $width; i++) {
        made.bits = ($bits)(made.bits | (($bits)bytes[i] << (8 * i)));
    }
    return made.value;
}

static void decode_$number($element *to, int32_t count, const unsigned char *bytes)
{
    for (int32_t i = 0; i < count; i++) {
//if COMPLEX
        to[i].real = part_$number(bytes + $offset);
        to[i].imaginary = part_$number(bytes + $offset + $width);
//else
        to[i] = part_$number(bytes + $offset);
//end
    }
}
