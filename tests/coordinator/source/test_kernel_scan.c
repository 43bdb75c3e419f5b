/* What is read from the text of a kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/source/kernel_scan.h"

static void parameters_and_macros_are_read(void **state)
{
    struct kernel_scan scan;
    struct err err = { "" };

    (void)state;
    assert_int_equal(
        kernel_scan("#ifndef BLOCK // threads\n"
                    "#  define BLOCK 256 /* or more */\n#endif\n"
                    "#define FIXED 7\n"
                    "#ifndef FAST\n#define FAST false\n#endif\n"
                    "#ifndef NAME_H\n#define NAME_H\n#endif\n"
                    "__device__ float twice(float x) { return 2 * x; }\n"
                    "/* extern \"C\" __global__ void not_this(int n); */\n"
                    "extern \"C\" __global__ void __launch_bounds__(BLOCK, 2)\n"
                    "scale(const float *__restrict__ x, __half *y /* out */,\n"
                    "      long long int n, const unsigned k)\n{\n}\n",
                    NULL, &scan, &err),
        0);
    assert_string_equal(scan.entry, "scale");
    assert_int_equal(scan.n, 4);
    assert_string_equal(scan.parameters[0].name, "x");
    assert_string_equal(scan.parameters[0].type, "fp32");
    assert_true(scan.parameters[0].pointer && scan.parameters[0].constant);
    assert_string_equal(scan.parameters[1].type, "fp16");
    assert_true(scan.parameters[1].pointer && !scan.parameters[1].constant);
    assert_string_equal(scan.parameters[2].name, "n");
    assert_string_equal(scan.parameters[2].type, "int64");
    assert_false(scan.parameters[2].pointer);
    assert_string_equal(scan.parameters[3].type, "int32");
    assert_int_equal(scan.n_macros, 2);
    assert_string_equal(scan.macros[0].name, "BLOCK");
    assert_string_equal(scan.macros[0].value, "256");
    assert_string_equal(scan.macros[1].value, "false");
    kernel_scan_fini(&scan);
}

static void macros_say_what_they_are(void **state)
{
    struct kernel_scan scan;
    struct err err = { "" };

    (void)state;
    assert_int_equal(
        kernel_scan("#ifndef FAST\n# define FAST 1\n#endif\n"
                    "#ifndef ITEMS\n#define ITEMS (4)\n#endif\n"
                    "#define WARP 32\n"
                    "#if FAST\n#endif\n#if ITEMS > 2\n#endif\n"
                    "extern \"C\" __global__ void f(const float4 *x) {}\n",
                    NULL, &scan, &err),
        0);
    assert_int_equal(scan.n_macros, 2);
    assert_true(scan.macros[0].is_switch);
    assert_false(scan.macros[1].is_switch);
    assert_string_equal(scan.macros[1].value, "4");
    assert_int_equal(scan.n_fixed, 1);
    assert_string_equal(scan.fixed[0].name, "WARP");
    assert_string_equal(scan.parameters[0].type, "fp32");
    kernel_scan_fini(&scan);
    assert_int_equal(kernel_scan("extern \"C\" __global__ void f(float4 x) {}",
                                 NULL, &scan, &err),
                     ERR_INPUT);
}

/* A default, an array, a const of the pointer itself: none is the name. */
static void a_parameter_is_what_stands_around_its_name(void **state)
{
    struct kernel_scan scan;
    struct err err = { "" };

    (void)state;
    assert_int_equal(
        kernel_scan("extern \"C\" __global__ void f(const float x[], "
                    "float y[][8], float *const __restrict__ z, "
                    "float const *const w, float a = 1.0f, int n = (3)) {}",
                    NULL, &scan, &err),
        0);
    assert_int_equal(scan.n, 6);
    for (size_t i = 0; i < 6; i++) {
        const struct kernel_scan_parameter *is = &scan.parameters[i];

        assert_memory_equal(is->name, &"xyzwan"[i], 1);
        assert_int_equal(strlen(is->name), 1);
        assert_int_equal(is->pointer, i < 4);
        if (is->pointer)
            assert_int_equal(is->constant, i == 0 || i == 3);
    }
    kernel_scan_fini(&scan);
}

static void an_array_of_pointers_is_refused(void **state)
{
    static const char *const types[] = { "float **x", "float *x[4]",
                                         "const float *const *x" };

    (void)state;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        struct kernel_scan scan;
        struct err err = { "" };
        char text[128];

        snprintf(text, sizeof(text), "extern \"C\" __global__ void f(%s) {}",
                 types[i]);
        assert_int_equal(kernel_scan(text, NULL, &scan, &err), ERR_INPUT);
        assert_non_null(strstr(err.text, types[i]));
    }
}

static void a_guard_is_written_in_three_ways(void **state)
{
    struct kernel_scan scan;
    struct err err = { "" };

    (void)state;
    assert_int_equal(
        kernel_scan("\xef\xbb\xbf#ifndef A\r\n#define A 1\r\n#endif\r\n"
                    "#if !defined(B)\n#define B 2\n#endif\n"
                    "# if ! defined C // here\n#define C 3\n#endif\n"
                    "#if !definedD\n#define D 4\n#endif\n"
                    "#if !E\n#define E 5\n#endif\n"
                    "extern \"C\" __global__ void f(int n) {}\n",
                    NULL, &scan, &err),
        0);
    assert_int_equal(scan.n_macros, 3);
    assert_string_equal(scan.macros[0].name, "A");
    assert_string_equal(scan.macros[1].name, "B");
    assert_string_equal(scan.macros[2].name, "C");
    assert_int_equal(scan.n_fixed, 2);
    kernel_scan_fini(&scan);
}

static void what_cannot_be_described_is_named(void **state)
{
    struct kernel_scan scan;
    struct err err = { "" };

    (void)state;
    assert_int_equal(kernel_scan("extern \"C\" __global__ void f(int n, "
                                 "struct point p) {}",
                                 NULL, &scan, &err),
                     ERR_INPUT);
    assert_string_equal(err.text,
                        "parameter 2, 'struct point p': sweep files have no "
                        "such type (they have fp16, bf16, fp32, fp64, int8, "
                        "int32 and int64)");
}

/* Two bytes are not the four of an int. */
static void a_short_is_not_an_int(void **state)
{
    static const char *const types[] = { "short *", "unsigned short *",
                                         "short int ", "uint16_t *" };
    struct kernel_scan scan;
    struct err err = { "" };

    (void)state;
    for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
        char text[128];

        snprintf(text, sizeof(text), "extern \"C\" __global__ void f(%sx) {}",
                 types[i]);
        assert_int_equal(kernel_scan(text, NULL, &scan, &err), ERR_INPUT);
    }
}

static void broken_text_ends(void **state)
{
    static const char *const texts[] = {
        "",
        "__global__",
        "extern \"C\" __global__ void f(",
        "extern \"C\" __global__ void f(int",
        "extern \"C\" __global__ void __launch_bounds__(2",
        "/* __global__",
        "extern \"C\" __global__ void f(int n",
        "#ifndef",
        "extern \"C\" __global__ void f(float)",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(texts) / sizeof(texts[0]); i++) {
        struct kernel_scan scan;
        struct err err = { "" };

        assert_int_equal(kernel_scan(texts[i], NULL, &scan, &err), ERR_INPUT);
        assert_string_not_equal(err.text, "");
    }
}

static void a_kernel_without_parameters_has_none(void **state)
{
    struct kernel_scan scan;
    struct err err = { "" };

    (void)state;
    assert_int_equal(
        kernel_scan("extern \"C\" __global__ void f( ) {}", NULL, &scan, &err),
        0);
    assert_int_equal(scan.n, 0);
    kernel_scan_fini(&scan);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_and_macros_are_read),
        cmocka_unit_test(macros_say_what_they_are),
        cmocka_unit_test(a_parameter_is_what_stands_around_its_name),
        cmocka_unit_test(an_array_of_pointers_is_refused),
        cmocka_unit_test(a_guard_is_written_in_three_ways),
        cmocka_unit_test(what_cannot_be_described_is_named),
        cmocka_unit_test(a_short_is_not_an_int),
        cmocka_unit_test(broken_text_ends),
        cmocka_unit_test(a_kernel_without_parameters_has_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
