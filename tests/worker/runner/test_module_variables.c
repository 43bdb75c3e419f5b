#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "worker/runner/cuda/module_variables.h"

#define CUBINS FA_SOURCE_DIR "/tests/fixtures/cubins/"

static unsigned char *load(const char *path, size_t *len)
{
    FILE *file = fopen(path, "rb");
    unsigned char *bytes;

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *len = (size_t)ftell(file);
    bytes = malloc(*len);
    assert_non_null(bytes);
    rewind(file);
    assert_int_equal(fread(bytes, 1, *len, file), *len);
    fclose(file);
    return bytes;
}

static bool has(const struct module_variables *variables, const char *name)
{
    for (size_t i = 0; i < variables->n; i++)
        if (strstr(variables->names[i], name))
            return true;
    return false;
}

static void all_device_variables_are_found_and_nothing_else(void **state)
{
    struct module_variables variables;
    size_t len;
    unsigned char *bytes = load(CUBINS "variables.cubin", &len);

    (void)state;
    assert_true(module_variables_of(bytes, len, &variables));
    assert_int_equal(variables.n, 4);
    assert_true(has(&variables, "scale")); /* a constant */
    assert_true(has(&variables, "zeros"));
    assert_true(has(&variables, "set"));
    assert_true(has(&variables, "launches"));
    free(bytes);
}

static void a_module_without_variables_has_none(void **state)
{
    struct module_variables variables;
    size_t len;
    unsigned char *bytes = load(CUBINS "sm_90.cubin", &len);

    (void)state;
    assert_true(module_variables_of(bytes, len, &variables));
    assert_int_equal(variables.n, 0);
    free(bytes);
}

/* Then it is loaded for each launch. */
static void what_is_no_cubin_is_not_known(void **state)
{
    static const char ptx[] = ".version 8.0";
    struct module_variables variables;

    (void)state;
    assert_false(module_variables_of(ptx, sizeof(ptx), &variables));
}

static void assert_memory(const char *file, bool allocates, bool reads_local)
{
    size_t len;
    unsigned char *bytes = load(file, &len);

    assert_int_equal(module_allocates(bytes, len), allocates);
    assert_int_equal(module_reads_local(bytes, len), reads_local);
    free(bytes);
}

static void memory_that_outlasts_a_launch_is_seen_in_the_code(void **state)
{
    (void)state;
    assert_memory(CUBINS "heap.cubin", true, true);
    assert_memory(CUBINS "stack.cubin", false, true);
    assert_memory(CUBINS "generic.cubin", false, true);
    assert_memory(CUBINS "prints.cubin", false, false);
    assert_memory(CUBINS "variables.cubin", false, false);
    assert_memory(CUBINS "sm_90.cubin", false, false);
}

static void of_what_is_no_cubin_all_is_expected(void **state)
{
    static const char ptx[] = ".version 8.0";

    (void)state;
    assert_true(module_allocates(ptx, sizeof(ptx)));
    assert_true(module_reads_local(ptx, sizeof(ptx)));
}

/* In a block that ends where it ends, for ASan. */
static void a_cubin_that_is_cut_is_read_no_further(void **state)
{
    struct module_variables variables;
    size_t len;
    unsigned char *bytes = load(CUBINS "variables.cubin", &len);

    (void)state;
    for (size_t n = 0; n < len; n += 7) {
        unsigned char *cut = malloc(n ? n : 1);

        assert_non_null(cut);
        memcpy(cut, bytes, n);
        module_variables_of(cut, n, &variables);
        assert_in_range(variables.n, 0, 4);
        module_allocates(cut, n);
        module_reads_local(cut, n);
        free(cut);
    }
    free(bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(all_device_variables_are_found_and_nothing_else),
        cmocka_unit_test(a_module_without_variables_has_none),
        cmocka_unit_test(what_is_no_cubin_is_not_known),
        cmocka_unit_test(memory_that_outlasts_a_launch_is_seen_in_the_code),
        cmocka_unit_test(of_what_is_no_cubin_all_is_expected),
        cmocka_unit_test(a_cubin_that_is_cut_is_read_no_further),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
