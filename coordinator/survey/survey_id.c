#include "coordinator/survey/survey_id.h"

#include <string.h>

#include "common/hash.h"

#define HALF 16 /* digits */

static uint64_t read_half(const char *digits)
{
    uint64_t number = 0;

    for (int i = 0; i < HALF; i++) {
        char c = digits[i];

        number = number << 4 | (uint64_t)(c <= '9' ? c - '0' : c - 'a' + 10);
    }
    return number;
}

bool survey_id_of(const char *text, struct survey_id *out)
{
    char hash[HASH_HEX];
    bool is_hash = hash_is_hex(text);

    if (!is_hash)
        hash_of(text, strlen(text), hash);
    *out = (struct survey_id){ read_half(is_hash ? text : hash),
                               read_half((is_hash ? text : hash) + HALF) };
    return is_hash;
}

int survey_id_compare(const struct survey_id *a, const struct survey_id *b)
{
    if (a->high != b->high)
        return a->high < b->high ? -1 : 1;
    return (a->low > b->low) - (a->low < b->low);
}
