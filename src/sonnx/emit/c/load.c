/* CRC-32 as in Ethernet and zip files. */
static uint32_t checksum(const unsigned char *bytes, size_t size)
{
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < size; i++) {
        crc ^= bytes[i];
        for (int32_t bit = 0; bit < 8; bit++) {
            crc = (crc & 1u) != 0u ? (crc >> 1) ^ 0xedb88320u : crc >> 1;
        }
    }
    return crc ^ 0xffffffffu;
}

int ${prefix}_loaded = 0;

int ${prefix}_load(const unsigned char *bytes, size_t size)
{
    ${prefix}_loaded = 0;
    if (size != $size) {
        return 1;
    }
    if (checksum(bytes, size) != ${crc}u) {
        return 2;
    }
$calls
    ${prefix}_loaded = 1;
    return 0;
}
