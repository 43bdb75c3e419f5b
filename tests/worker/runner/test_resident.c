/* test_resident.c - how many copies of its inputs a rotation needs, and values
 * that no launch has seen */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "worker/runner/resident.h"

#define MIB ((size_t)1 << 20)

/* Flash attention at s512 on an H200: 48 MiB of q, k and v, 60 MiB of L2. */
static void copies_are_larger_than_the_cache(void **state)
{
    (void)state;
    assert_int_equal(resident_copies(48 * MIB, 60 * MIB), 2);
    assert_int_equal(resident_copies(60 * MIB, 60 * MIB), 1);
    assert_int_equal(resident_copies(200 * MIB, 60 * MIB), 1);
    assert_int_equal(resident_copies(1 * MIB, 60 * MIB), 60);
    assert_int_equal(resident_copies(4096, 0), 1);
}

static void small_inputs_and_none_are_not_rotated(void **state)
{
    (void)state;
    assert_int_equal(resident_copies(MIB / 2, 60 * MIB), 0);
    assert_int_equal(resident_copies(0, 60 * MIB), 0);
    assert_int_equal(resident_copies(0, 0), 0);
}

static void add_array(struct wire_measure *want, const char *name,
                      enum fill_kind fill, enum wire_role role)
{
    struct wire_arg *arg = &want->args[want->n_args++];

    snprintf(arg->name, sizeof(arg->name), "%s", name);
    arg->type = ELEMENT_FP32;
    arg->buffer = true;
    arg->role = role;
    arg->fill = fill;
    arg->count = 100;
    arg->scale = 1;
}

/* a + b, with one trial with an edge. */
static void make_sum(struct wire_measure *want)
{
    static const struct wire_kernel reference = {
        .path = FA_BINARY_DIR "/tests/fixtures/sum.so",
        .entry = "sum",
        .grid = { 1, 1, 1 },
        .block = { 128, 1, 1 },
    };

    memset(want, 0, sizeof(*want));
    want->reference = reference;
    add_array(want, "a", FILL_NORMAL, WIRE_IN);
    add_array(want, "b", FILL_NORMAL, WIRE_IN);
    add_array(want, "out", FILL_POISON, WIRE_OUT);
    want->args[want->n_args++] =
        (struct wire_arg){ .name = "n", .type = ELEMENT_INT32, .integer = 100 };
    want->seed = 1;
    want->trials = (struct trials){ .seeds = 2,
                                    .edges = { 1u << EDGE_LARGE },
                                    .n_edges = 1 };
}

static void assert_other_values(const struct problem *a,
                                const struct problem *b)
{
    for (unsigned i = 0; i < a->n_seeds; i++)
        for (unsigned k = 0; k < b->n_seeds; k++) {
            assert_true(a->trials[i].input_sums[0] !=
                        b->trials[k].input_sums[0]);
            assert_true(a->trials[i].reference_sums[2] !=
                        b->trials[k].reference_sums[2]);
        }
}

/* So a kernel that remembers results finds none of them again. */
static void renewed_values_are_others_each_time(void **state)
{
    static struct wire_measure want;
    struct problem *own, *renewed = NULL, first;
    struct device *device;
    struct resident *resident;
    struct device_err err = { .poisoned = false };

    (void)state;
    make_sum(&want);
    assert_int_equal(device_open("0", &device, &err), 0);
    resident = resident_new(device);
    if (resident_problem(resident, &want, &own, &err) != 0 ||
        resident_renew(resident, &want, own, &renewed, &err) != 0)
        fail_msg("%s", err.text);
    assert_int_equal(renewed->n_seeds, own->n_seeds);
    assert_int_equal(renewed->n_trials, own->n_seeds); /* no edges */
    assert_other_values(own, renewed);
    first = *renewed; /* its sums; its buffers are freed now */
    assert_int_equal(resident_renew(resident, &want, own, &renewed, &err), 0);
    assert_other_values(own, renewed);
    assert_other_values(&first, renewed);
    assert_true(resident_has(resident, &want)); /* its own values are kept */
    resident_free(resident);
    device_close(device);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(renewed_values_are_others_each_time),
        cmocka_unit_test(copies_are_larger_than_the_cache),
        cmocka_unit_test(small_inputs_and_none_are_not_rotated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
