/* poison.h - what an output holds before a launch
 *
 * A kernel that reads its output, or leaves an element out, is right with some
 * contents by chance: fmaxf(out[i], x) is x when out[i] is NaN.  So the
 * contents change from launch to launch.  Compiled by the host and by nvcc.
 */
#ifndef FA_WORKER_RUNNER_DEVICE_POISON_H
#define FA_WORKER_RUNNER_DEVICE_POISON_H

#include "worker/runner/wire/element.h"
#include "worker/runner/wire/fill_random.h"

enum poison_kind {
    POISON_UNWRITTEN, /* bytes of ELEMENT_POISON: NaN, or -1 of an integer */
    POISON_MINUS_ONE,
    POISON_LARGE,  /* finite, and larger than what kernels compute */
    POISON_RANDOM, /* any bits */
    POISON_ZERO    /* as memory that is new, or was cleared once */
};

enum {
    POISON_KINDS = 5
};

struct poison {
    enum poison_kind kind;
    uint64_t key; /* of POISON_RANDOM */
};

ELEMENT_FN double poison_large(enum element_type type)
{
    switch (type) {
    case ELEMENT_FP16:
        return 60000;
    case ELEMENT_BF16:
    case ELEMENT_FP32:
        return 1e30;
    case ELEMENT_FP64:
        return 1e300;
    case ELEMENT_INT8:
        return 113;
    case ELEMENT_INT32:
        return 2013265921;
    case ELEMENT_INT64:
        return 0x1p62;
    }
    return 0;
}

/* Eight bytes of equal elements. */
ELEMENT_FN uint64_t poison_repeated(enum element_type type, double value)
{
    uint64_t word = 0;

    for (size_t i = 0; i < sizeof(word) / element_bytes(type); i++)
        element_store(&word, type, (int64_t)i, value);
    return word;
}

/* The eight bytes at 8 * i of a buffer of this type. */
ELEMENT_FN uint64_t poison_word(const struct poison *poison,
                                enum element_type type, int64_t i)
{
    switch (poison->kind) {
    case POISON_UNWRITTEN:
        break;
    case POISON_MINUS_ONE:
        return poison_repeated(type, -1);
    case POISON_LARGE:
        return poison_repeated(type, poison_large(type));
    case POISON_RANDOM:
        return fill_bits(poison->key, i);
    case POISON_ZERO:
        return 0;
    }
    return ELEMENT_POISON * 0x0101010101010101u;
}

#endif
