/* How many threads a block has in a sweep that is made for a kernel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/source/kernel_scan.h"
#include "coordinator/templates/kernel_sweep.h"

#define KERNEL "extern \"C\" __global__ void f(const float *x, float *y, int n)"

/* The sweep file of this source has each of these texts. */
static void makes(const char *code, const char *tunable, const char *block)
{
    struct kernel_scan scan;
    struct err err;
    char *text;

    if (kernel_scan(code, NULL, &scan, &err) < 0)
        fail_msg("%s", err.text);
    text = kernel_sweep_json(&scan, "f.cu", code);
    if (!strstr(text, tunable) || !strstr(text, block))
        fail_msg("%s and %s are not in\n%s", tunable, block, text);
    free(text);
    kernel_scan_fini(&scan);
}

static void a_macro_that_may_change_is_the_tunable(void **state)
{
    (void)state;
    makes("#ifndef BLOCK\n#define BLOCK 128\n#endif\n" KERNEL " {}",
          "\"BLOCK\": [64, 128, 256]", "\"block\": [\"BLOCK\"]");
}

static void without_macros_one_is_added(void **state)
{
    (void)state;
    makes(KERNEL " {}", "\"BLOCK\": [128, 256, 512]", "\"block\": [\"BLOCK\"]");
}

/* -D would change the source where it has the name. */
static void what_is_added_has_a_name_that_the_source_has_not(void **state)
{
    (void)state;
    makes("constexpr int BLOCK = 64;\n" KERNEL " {}",
          "\"BLOCK_SIZE\": [128, 256, 512]", "\"block\": [\"BLOCK_SIZE\"]");
    makes("constexpr int BLOCKS = 64, MY_BLOCK = 2;\n" KERNEL " {}",
          "\"BLOCK\": [128, 256, 512]", "\"block\": [\"BLOCK\"]");
    makes("int BLOCK, BLOCK_SIZE;\n" KERNEL " {}",
          "\"THREADS\": [128, 256, 512]", "\"block\": [\"THREADS\"]");
}

/* The source counts on them: no others are launched. */
static void threads_that_are_fixed_are_launched(void **state)
{
    (void)state;
    makes("#define BLOCK 64\n" KERNEL " {}", "\"BLOCK_SIZE\": [64]",
          "\"baseline\": { \"BLOCK_SIZE\": 64 }");
    makes("#define BLOCK 64\n#ifndef TILE\n#define TILE 2\n#endif\n" KERNEL
          " {}",
          "\"TILE\": [1, 2, 4]", "\"block\": [\"64\"]");
}

#define MACRO(name, value) \
    "#ifndef " name "\n#define " name " " value "\n#endif\n"

/* Names of tunables and shapes differ, in more than case. */
static void a_factor_called_n_is_a_tunable(void **state)
{
    (void)state;
    makes(MACRO("N", "4") KERNEL " {}", "\"N\": [2, 4, 8]",
          "{ \"name\": \"n16m\", \"SIZE\": 16777216 }");
    makes(MACRO("N", "4") KERNEL " {}", "\"shape\": [\"SIZE\"]",
          "\"value\": \"SIZE\"");
    makes(MACRO("n", "2048") MACRO("SIZE", "1023") KERNEL " {}",
          "\"n\": [1024, 2048, 4096]", "\"LENGTH\": 16777216");
    makes(MACRO("N", "1023") KERNEL " {}", "\"N\": [1023, 2046]",
          "[\"(SIZE + 255) / 256\"]");
}

/* The reference has no tunables, so it could not have the same size. */
static void a_size_called_n_is_the_shape(void **state)
{
    (void)state;
    makes(MACRO("N", "1024") MACRO("BLOCK", "64") KERNEL " {}",
          "\"tunables\": {\n    \"BLOCK\": [32, 64, 128]\n",
          "\"shapes\": [ { \"name\": \"n1024\", \"N\": 1024 } ],\n\n");
    makes(MACRO("N", "4096") KERNEL " {}", "\"BLOCK\": [128, 256, 512]",
          "\"baseline\": { \"BLOCK\": 256 }");
    makes("#define N 4096\n" KERNEL " {}", "\"N\": 4096 } ]",
          "\"shape\": [\"N\"]");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_macro_that_may_change_is_the_tunable),
        cmocka_unit_test(without_macros_one_is_added),
        cmocka_unit_test(what_is_added_has_a_name_that_the_source_has_not),
        cmocka_unit_test(threads_that_are_fixed_are_launched),
        cmocka_unit_test(a_factor_called_n_is_a_tunable),
        cmocka_unit_test(a_size_called_n_is_the_shape),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
