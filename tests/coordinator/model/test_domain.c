#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/model/domain.h"

static const double sizes[] = { 16, 32, 48, 64 };

/* BLOCK of four sizes and MODE of three, without (64, 2). */
static struct domain *block_mode(void)
{
    const struct domain_tunable tunables[] = {
        { .levels = 4, .ordered = true, .values = sizes },
        { .levels = 3 },
    };
    struct domain *domain = domain_new(tunables, 2);

    for (uint16_t a = 0; a < 4; a++)
        for (uint16_t b = 0; b < 3; b++)
            if (a != 3 || b != 2)
                domain_add(domain, (uint16_t[]){ a, b });
    return domain;
}

static void a_point_is_found_by_its_levels(void **state)
{
    struct domain *domain = block_mode();

    (void)state;
    assert_int_equal(domain_size(domain), 11);
    assert_int_equal(domain_find(domain, (uint16_t[]){ 1, 2 }), 5);
    assert_int_equal(domain_find(domain, (uint16_t[]){ 3, 2 }), -1);
    assert_int_equal(domain_add(domain, (uint16_t[]){ 1, 2 }), -1);
    assert_int_equal(domain_size(domain), 11);
    domain_free(domain);
}

static void neighbours_differ_in_one_tunable_and_are_legal(void **state)
{
    struct domain *domain = block_mode();
    int out[5];

    (void)state;
    assert_int_equal(domain_hood_max(domain), 5);
    assert_int_equal(domain_neighbours(domain, 0, false, out), 5);
    assert_int_equal(domain_neighbours(domain, 0, true, out), 3);
    assert_int_equal(out[0], 3); /* the next block size, the same mode */
    assert_int_equal(domain_neighbours(domain, 2, false, out), 4);
    assert_int_equal(domain_line(domain, 2, 1, out), 2);
    domain_free(domain);
}

static void distance_counts_shares_and_differences(void **state)
{
    struct domain *domain = block_mode();
    const uint16_t a[] = { 0, 0 }, b[] = { 3, 0 }, c[] = { 1, 2 };

    (void)state;
    assert_float_equal(domain_distance(domain, a, b), 1.0, 1e-12);
    assert_float_equal(domain_distance(domain, a, c), 1.0 / 3 + 1, 1e-12);
    domain_free(domain);
}

static void powers_of_two_tell_only_beside_other_numbers(void **state)
{
    const double powers[] = { 16, 32, 64, 128 };
    const struct domain_tunable tunable = { .levels = 4,
                                            .ordered = true,
                                            .values = powers };
    struct domain *domain = block_mode();
    struct domain *plain = domain_new(&tunable, 1);

    (void)state;
    assert_int_equal(domain_twos(domain, 0, 0), 4);
    assert_int_equal(domain_twos(domain, 0, 2), 4);
    assert_int_equal(domain_twos(domain, 0, 3), 6);
    assert_int_equal(domain_twos(plain, 0, 3), 0);
    domain_free(plain);
    domain_free(domain);
}

static void a_million_points_are_found_again(void **state)
{
    const struct domain_tunable tunables[] = {
        { .levels = 1000, .ordered = true },
        { .levels = 1000, .ordered = true },
    };
    struct domain *domain = domain_new(tunables, 2);

    (void)state;
    for (int i = 0; i < 1000000; i++)
        domain_add(domain,
                   (uint16_t[]){ (uint16_t)(i / 1000), (uint16_t)(i % 1000) });
    assert_int_equal(domain_size(domain), 1000000);
    for (int i = 0; i < 1000000; i += 997)
        assert_int_equal(
            domain_find(domain, (uint16_t[]){ (uint16_t)(i / 1000),
                                              (uint16_t)(i % 1000) }),
            i);
    domain_free(domain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_point_is_found_by_its_levels),
        cmocka_unit_test(neighbours_differ_in_one_tunable_and_are_legal),
        cmocka_unit_test(distance_counts_shares_and_differences),
        cmocka_unit_test(powers_of_two_tell_only_beside_other_numbers),
        cmocka_unit_test(a_million_points_are_found_again),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
