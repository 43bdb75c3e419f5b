#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/cksum.h"

enum {
    BYTES = 1000
};

static void fill(unsigned char bytes[BYTES])
{
    for (int i = 0; i < BYTES; i++)
        bytes[i] = (unsigned char)(i * 7 + 3);
}

static void checksums_are_those_of_cksum(void **state)
{
    static const struct {
        size_t len;
        uint32_t cksum;
    } said[] = { { 0, 4294967295 },   { 1, 2312486299 }, { 7, 2683505172 },
                 { 8, 1002360118 },   { 9, 2425606739 }, { 16, 1459881877 },
                 { 1000, 3299097258 } };
    unsigned char bytes[BYTES];

    (void)state;
    fill(bytes);
    for (size_t i = 0; i < sizeof(said) / sizeof(*said); i++)
        assert_int_equal(cksum_of(bytes, said[i].len), said[i].cksum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(checksums_are_those_of_cksum),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
