/* The gates of kernels/flash_attention and the rules of its limits.h agree:
 * on every point of sweep.json, and on some of wide.json, for sm_89. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "tests/kernels/flash_space.h"

enum {
    POINTS = 2592,
    PASSING = 960,
    WIDE_SAMPLE = 100000
};

/* For a file: what the gate of each rule rejects, ignoring the others; NULL if
 * there is no such gate. */
struct gates {
    struct flash_space file;
    struct spec alone[FLASH_LIMIT_RULES];
    struct space *rejects[FLASH_LIMIT_RULES];
};

static struct gates sweep, wide;

static void gates_open(struct gates *gates, const char *file)
{
    struct err err;

    flash_space_open(&gates->file, file);
    for (int r = 0; r < FLASH_LIMIT_RULES; r++) {
        const struct spec *spec = gates->file.spec;

        for (size_t g = 0; g < spec->space.n_gates; g++) {
            if (strcmp(spec->space.gates[g].name, flash_limit_rules[r]) != 0)
                continue;
            gates->alone[r] = *spec;
            gates->alone[r].space.gates = &spec->space.gates[g];
            gates->alone[r].space.n_gates = 1;
            if (space_open(&gates->alone[r], gpu_arch_find("sm_89"), "cuda",
                           NULL, &gates->rejects[r], &err) < 0)
                fail_msg("%s", err.text);
        }
    }
}

static void gates_close(struct gates *gates)
{
    for (int r = 0; r < FLASH_LIMIT_RULES; r++)
        space_close(gates->rejects[r]);
    flash_space_close(&gates->file);
}

/* The first gate that rejects the point, or SPACE_PASSES. */
static int rejected(const struct flash_space *file, struct space *space,
                    int64_t point)
{
    struct value values[SPEC_AXES_MAX];
    struct err err;
    int gate;

    space_values(file->space, point, values);
    gate = space_rejected_by(space, values, &err);
    if (gate == SPACE_ERROR)
        fail_msg("%s", err.text);
    return gate;
}

/* One rule at one point.  The gate smem_overflow knows the device's limit, the
 * rule only what the kernel needs; a file without a gate needs none. */
static void agree(const struct gates *gates, int64_t point, int rule,
                  bool refused)
{
    const char *name = flash_limit_rules[rule];
    const bool has_gate =
        gates->rejects[rule] && strcmp(name, "smem_overflow") != 0;

    if (has_gate && refused == (rejected(&gates->file, gates->rejects[rule],
                                         point) == SPACE_PASSES))
        fail_msg("%s: '%s' of limits.h %s it, the gate does not",
                 flash_space_text(&gates->file, point), name,
                 refused ? "refuses" : "allows");
    if (!has_gate && refused)
        fail_msg("%s: '%s' of limits.h refuses it, and no gate does",
                 flash_space_text(&gates->file, point), name);
}

/* Returns what refuses it, a bit each. */
static unsigned agree_at(const struct gates *gates, int64_t point)
{
    int limits[FLASH_LIMIT_MACROS];
    unsigned refused;

    flash_space_limits(&gates->file, point, limits);
    refused = flash_limits_refuse(limits);
    for (int r = 0; r < FLASH_LIMIT_RULES; r++)
        agree(gates, point, r, refused >> r & 1);
    return refused;
}

/* The names of rules, each with a blank behind it. */
static const char *names(unsigned rules)
{
    static char text[200];
    int n = 0;

    text[0] = '\0';
    for (int r = 0; r < FLASH_LIMIT_RULES; r++)
        if (rules >> r & 1)
            n += snprintf(text + n, sizeof(text) - (size_t)n, "%s ",
                          flash_limit_rules[r]);
    return text;
}

static void each_rule_refuses_what_its_gate_rejects(void **state)
{
    unsigned refused = 0;

    (void)state;
    assert_int_equal(space_size(sweep.file.space), POINTS);
    for (int64_t point = 0; point < POINTS; point++)
        refused |= agree_at(&sweep, point);
    assert_string_equal(names(refused), "warp_tile ");
}

static void no_rule_refuses_what_the_gates_pass(void **state)
{
    struct space_point point;
    struct err err;
    int limits[FLASH_LIMIT_MACROS];
    int n = 0;

    (void)state;
    while (space_next(sweep.file.space, &point, &err) > 0) {
        flash_space_limits(&sweep.file, point.number, limits);
        assert_int_equal(flash_limits_refuse(limits), 0);
        n++;
    }
    assert_int_equal(n, PASSING);
}

/* A step that shares no factor with the 5,878,656 points reaches every value
 * of every tunable. */
static void the_wide_space_agrees_too(void **state)
{
    const int64_t step = 3633211, size = space_size(wide.file.space);
    unsigned refused = 0;
    int n = 0;

    (void)state;
    for (int64_t i = 0, point = 0; i < WIDE_SAMPLE; i++) {
        const unsigned here = agree_at(&wide, point);

        refused |= here;
        if (rejected(&wide.file, wide.file.space, point) == SPACE_PASSES) {
            assert_int_equal(here, 0);
            n++;
        }
        point = (point + step) % size;
    }
    assert_string_equal(names(refused),
                        "warp_tile slice pipeline stages grid ");
    assert_in_range(n, WIDE_SAMPLE / 20, WIDE_SAMPLE / 5);
}

static int set_up(void **state)
{
    (void)state;
    gates_open(&sweep, "sweep.json");
    gates_open(&wide, "wide.json");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    gates_close(&sweep);
    gates_close(&wide);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_rule_refuses_what_its_gate_rejects),
        cmocka_unit_test(no_rule_refuses_what_the_gates_pass),
        cmocka_unit_test(the_wide_space_agrees_too),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
