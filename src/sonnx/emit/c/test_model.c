/* $about
   Runs the model on the inputs in vectors.bin and compares every bit with the outputs there, which come from
   the definitions of the operators: ./test_model [FOLDER], the folder with the files, or else the current one.
   Exits with 0 if all agree, 1 if not, 2 if a file is missing or damaged, or if this build does not compute as
   IEEE 754 says. */
#include <inttypes.h>
//if FUSED
#include <math.h>
//end
#include <stdio.h>
#include <string.h>

#include "checks.h"
#include "model.h"

$arrays

/* A tensor is a number of parts, each of `width` bytes; a complex element has two. Bits above those of
   `infinity`, the sign apart, are a NaN; where it was calculated, `any_nan` says that any other will do. */
struct tensor {
    const char *name;
    unsigned char *data;
    size_t parts;
    size_t width;
    uint64_t infinity;
    int any_nan;
    int is_output;
};

static const struct tensor tensors[] = {
$tensors
    {NULL, NULL, 0, 0, 0, 0, 0},
};

static const char *const vectors[] = {
$vectors
};

/* What the model returns for each of them; where that is not 0, the file has no outputs. */
static const int32_t statuses[] = {
$statuses
};

$arithmetic

static const char *arithmetic(void)
{
    const char *wrong = arithmetic_float();
    return wrong != NULL ? wrong : arithmetic_double();
}

static uint64_t stored(const unsigned char *data, size_t width)
{
    uint16_t two;
    uint32_t four;
    uint64_t eight;
    switch (width) {
    case 1:
        return data[0];
    case 2:
        memcpy(&two, data, sizeof two);
        return two;
    case 4:
        memcpy(&four, data, sizeof four);
        return four;
    default:
        memcpy(&eight, data, sizeof eight);
        return eight;
    }
}

static void store(unsigned char *data, size_t width, uint64_t word)
{
    const uint16_t two = (uint16_t)(word & 0xffffu);
    const uint32_t four = (uint32_t)(word & 0xffffffffu);
    switch (width) {
    case 1:
        data[0] = (unsigned char)(word & 0xffu);
        break;
    case 2:
        memcpy(data, &two, sizeof two);
        break;
    case 4:
        memcpy(data, &four, sizeof four);
        break;
    default:
        memcpy(data, &word, sizeof word);
        break;
    }
}

/* The file is little-endian, whatever the machine is. */
static int read_word(FILE *file, size_t width, uint64_t *word)
{
    *word = 0;
    for (size_t i = 0; i < width; i++) {
        const int byte = getc(file);
        if (byte == EOF) {
            return 0;
        }
        *word |= (uint64_t)byte << (8 * i);
    }
    return 1;
}

static int is_nan(const struct tensor *tensor, uint64_t word)
{
    const uint64_t sign = (uint64_t)1 << (8 * tensor->width - 1);
    return tensor->infinity != 0 && (word & ~sign) > tensor->infinity;
}

static uint32_t checksum(uint32_t crc, uint64_t word, size_t width)
{
    for (size_t i = 0; i < 8 * width; i++) {
        const uint32_t bit = (crc ^ (uint32_t)(word >> i)) & 1u;
        crc = bit != 0u ? (crc >> 1) ^ 0xedb88320u : crc >> 1;
    }
    return crc;
}

static int read_input(FILE *file, const struct tensor *tensor)
{
    for (size_t i = 0; i < tensor->parts; i++) {
        uint64_t word;
        if (!read_word(file, tensor->width, &word)) {
            return 0;
        }
        store(tensor->data + i * tensor->width, tensor->width, word);
    }
    return 1;
}

/* Answers the number of parts that differ, or -1 where the file ends. For the checksum a calculated NaN is the
   one with the bits of infinity and the highest bit below them. */
static long compare_output(FILE *file, const struct tensor *tensor)
{
    size_t equal = 0;
    uint32_t crc = 0xffffffffu;
    for (size_t i = 0; i < tensor->parts; i++) {
        uint64_t expected;
        uint64_t found = stored(tensor->data + i * tensor->width, tensor->width);
        const int open = tensor->any_nan && is_nan(tensor, found);
        if (!read_word(file, tensor->width, &expected)) {
            return -1;
        }
        if (found == expected || (open && is_nan(tensor, expected))) {
            equal++;
        }
        if (open) {
            found = tensor->infinity | (tensor->infinity >> 1);
        }
        crc = checksum(crc, found, tensor->width);
    }
    printf("  %s: %lu of %lu agree, crc32 %08" PRIx32 "\n", tensor->name, (unsigned long)equal,
           (unsigned long)tensor->parts, crc ^ 0xffffffffu);
    return (long)(tensor->parts - equal);
}

/* Answers the number of bytes that somebody wrote to, where nobody should have. */
static long written(const struct tensor *tensor)
{
    long found = 0;
    for (size_t i = 0; i < tensor->parts * tensor->width; i++) {
        found += tensor->data[i] != 0xa5;
    }
    printf("  %s: nothing is written%s\n", tensor->name, found == 0 ? "" : ", but is");
    return found;
}

/* Answers NULL where the file is not there. */
static FILE *opened(const char *folder, const char *name)
{
    char path[4096];
    const int length = snprintf(path, sizeof path, "%s/%s", folder, name);
    if (length < 0 || (size_t)length >= sizeof path) {
        return NULL;
    }
    return fopen(path, "rb");
}

/* Whether the file is the one that was written with this program: otherwise its verdict would mean nothing. */
static int is_whole(FILE *file)
{
    uint64_t size = 0;
    uint32_t crc = 0xffffffffu;
    for (int byte = getc(file); byte != EOF; byte = getc(file)) {
        crc = checksum(crc, (uint64_t)byte, 1);
        size++;
    }
    rewind(file);
    return size == UINT64_C($vector_bytes) && (crc ^ 0xffffffffu) == ${vector_crc}u;
}

//if LOADED
static int load_weights(const char *folder)
{
    static unsigned char bytes[$weight_bytes + 1];
    FILE *file = opened(folder, "weights.bin");
    if (file == NULL) {
        return 1;
    }
    const size_t size = fread(bytes, 1, sizeof bytes, file);
    fclose(file);
    return ${prefix}_load(bytes, size);
}

//end
static int test(FILE *file)
{
    long different = 0;
    for (size_t v = 0; v < sizeof vectors / sizeof vectors[0]; v++) {
        printf("%s\n", vectors[v]);
        for (const struct tensor *tensor = tensors; tensor->name != NULL; tensor++) {
            if (tensor->is_output) {
                /* What the model does not write must not look right. */
                memset(tensor->data, 0xa5, tensor->parts * tensor->width);
            } else if (!read_input(file, tensor)) {
                return 2;
            }
        }
        const int32_t status = $call;
        if (status != statuses[v]) {
            printf("  returns %ld instead of %ld\n", (long)status, (long)statuses[v]);
            return 1;
        }
        for (const struct tensor *tensor = tensors; tensor->name != NULL; tensor++) {
            long wrong = 0;
            if (tensor->is_output) {
                wrong = statuses[v] == 0 ? compare_output(file, tensor) : written(tensor);
            }
            if (wrong < 0) {
                return 2;
            }
            different += wrong;
        }
    }
    if (different != 0) {
        printf("%ld elements differ\n", different);
        return 1;
    }
    printf("all bits agree\n");
    return 0;
}

int main(int count, char **arguments)
{
    const char *folder = count > 1 ? arguments[1] : ".";
    const char *wrong = arithmetic();
    if (wrong != NULL) {
        fprintf(stderr, "this build does not compute as IEEE 754 says: %s\n", wrong);
        return 2;
    }
    FILE *file = opened(folder, "vectors.bin");
    if (file == NULL) {
        fprintf(stderr, "%s/vectors.bin cannot be read\n", folder);
        return 2;
    }
    int outcome = 2;
    if (!is_whole(file)) {
        fprintf(stderr, "vectors.bin is damaged, or not the one that belongs to this project\n");
//if LOADED
    } else if (load_weights(folder) != 0) {
        fprintf(stderr, "weights.bin cannot be read, is damaged, or not the one that belongs to this project\n");
//end
    } else {
        outcome = test(file);
    }
    fclose(file);
    return outcome;
}
