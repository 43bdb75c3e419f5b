/* Sixty configurations of kernels/flash_attention, compiled: what the gates
 * pass builds, and what a rule of limits.h refuses fails with its name.
 *
 * A host compiler reads 54 of them and nvcc, where there is one, builds 6: it
 * takes 1 to 3 s for each.  All of them: fa-coord space --build --arch sm_89.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/err.h"
#include "tests/kernels/fixture.h"
#include "tests/kernels/flash_space.h"

#define KERNEL "kernels/flash_attention/flash_attention.cu"
#define HEADER FA_BINARY_DIR "/tests/kernels/flash_build.h"

enum {
    SAID_MAX = 60000,
    MACROS_MAX = 4000
};

static struct flash_space sweep, wide;

/* The compiler's output for macros followed by 'more'; "" if there is none. */
static const char *compiler_says(const char *macros, const char *more)
{
    static char text[SAID_MAX];
    FILE *file = fopen(HEADER, "w");
    int status;

    assert_non_null(file);
    fprintf(file, "%s%s", macros, more);
    assert_int_equal(fclose(file), 0);
    status = fixture_said(
        (const char *[]){ "c++", "-std=c++17", "-w", "-fsyntax-only", "-x",
                          "c++", "-I", FA_SOURCE_DIR "/kernels/include",
                          "-include", "fa/emulation.h", "-include", HEADER,
                          FA_SOURCE_DIR "/" KERNEL, NULL },
        text, sizeof(text));
    assert_int_equal(status == 0, text[0] == '\0');
    return text;
}

static void point_compiles(const struct flash_space *file, int64_t number)
{
    struct buf macros;
    const char *said;

    buf_init(&macros, MACROS_MAX);
    flash_space_macros(file, number, &macros);
    said = compiler_says(buf_text(&macros), "");
    if (said[0] != '\0')
        fail_msg("%s: %s", flash_space_text(file, number), said);
    buf_fini(&macros);
}

static void point_builds(const struct flash_space *file, int64_t number)
{
    struct buf macros;

    buf_init(&macros, MACROS_MAX);
    flash_space_macros(file, number, &macros);
    if (!fixture_builds_for_gpu("flash_build", KERNEL, buf_text(&macros)))
        fail_msg("%s", flash_space_text(file, number));
    buf_fini(&macros);
}

/* All that pass sweep.json, every 'step'th from 'first' on. */
static int passing(int first, int step,
                   void (*does)(const struct flash_space *file, int64_t number))
{
    struct space_point point;
    struct err err;
    int i = 0, n = 0;

    while (space_next(sweep.space, &point, &err) > 0)
        if (i++ % step == first) {
            does(&sweep, point.number);
            n++;
        }
    return n;
}

/* Odd steps: even ones would not vary the tunables of two values, which vary
 * fastest. */
static void configurations_that_pass_compile(void **state)
{
    (void)state;
    assert_int_equal(passing(0, 33, point_compiles), 30);
}

static void configurations_that_pass_build_for_a_gpu(void **state)
{
    (void)state;
    assert_int_equal(passing(5, 163, point_builds), 6);
}

static void fails_by(const char *rule, const char *said, const char *text)
{
    char named[80];

    snprintf(named, sizeof(named), "static assertion failed: %s\n", rule);
    if (!strstr(said, named))
        fail_msg("%s is not refused by %s: %s", text, rule, said);
}

/* The first 'n' that this rule refuses, in steps that reach every value. */
static void refused(const struct flash_space *file, const char *rule, int n,
                    int64_t step)
{
    const int64_t size = space_size(file->space);
    int limits[FLASH_LIMIT_MACROS], r = 0;

    while (strcmp(flash_limit_rules[r], rule) != 0)
        r++;
    for (int64_t i = 0, number = 0; n > 0; i++, number += step) {
        struct buf macros;

        assert_true(i < size);
        flash_space_limits(file, number % size, limits);
        if (!(flash_limits_refuse(limits) >> r & 1))
            continue;
        buf_init(&macros, MACROS_MAX);
        flash_space_macros(file, number % size, &macros);
        fails_by(rule, compiler_says(buf_text(&macros), ""),
                 flash_space_text(file, number % size));
        buf_fini(&macros);
        n--;
    }
}

static void a_refused_configuration_fails_with_the_rules_name(void **state)
{
    (void)state;
    refused(&sweep, "warp_tile", 8, 595);
    refused(&wide, "warp_tile", 2, 3633211);
    refused(&wide, "slice", 2, 3633211);
    refused(&wide, "pipeline", 2, 3633211);
    refused(&wide, "stages", 2, 3633211);
    refused(&wide, "grid", 2, 3633211);
}

static void changed(const char *macro, int value, const char *rule)
{
    char more[120], text[120];
    struct buf macros;

    snprintf(more, sizeof(more), "#undef %s\n#define %s %d\n", macro, macro,
             value);
    snprintf(text, sizeof(text), "%s %d", macro, value);
    buf_init(&macros, MACROS_MAX);
    flash_space_macros(&sweep, 0, &macros);
    fails_by(rule, compiler_says(buf_text(&macros), more), text);
    buf_fini(&macros);
}

/* Rules that no point of the two files breaks, because their values satisfy
 * them. */
static void rules_beyond_the_axes_fail_too(void **state)
{
    (void)state;
    changed("NUM_WARPS", 64, "threads");
    changed("COPY_BYTES", 8, "alignment");
    changed("HEAD_DIM", 80, "alignment");
    changed("BLOCK_K", 24, "block_k");
    changed("BLOCK_K", 128, "block_k");
    changed("SMEM_BYTES", 1024, "smem_overflow");
}

static int set_up(void **state)
{
    (void)state;
    flash_space_open(&sweep, "sweep.json");
    flash_space_open(&wide, "wide.json");
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    flash_space_close(&sweep);
    flash_space_close(&wide);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(configurations_that_pass_compile),
        cmocka_unit_test(configurations_that_pass_build_for_a_gpu),
        cmocka_unit_test(a_refused_configuration_fails_with_the_rules_name),
        cmocka_unit_test(rules_beyond_the_axes_fail_too),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
