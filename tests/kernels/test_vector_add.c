/* vector_add under emulation: right at sizes that do not divide, and the gate
 * 'vector_items' and the kernel's static_assert refuse the same points. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "tests/kernels/fixture.h"

#define FOLDER "kernels/vector_add/"

static void params(char *text, size_t size, int block, int items, int vector)
{
    snprintf(text, size,
             "#define BLOCK_SIZE %d\n#define ITEMS %d\n#define VECTOR %d\n"
             "#define TILE %d\n",
             block, items, vector, block * items);
}

static void run(struct device_kernel *kernel, int block, int tile, int n)
{
    struct device_buffer *a = fixture_buffer("a", ELEMENT_FP32, n);
    struct device_buffer *b = fixture_buffer("b", ELEMENT_FP32, n);
    struct device_buffer *out = fixture_buffer("out", ELEMENT_FP32, n);
    void *p[3] = { device_address(a), device_address(b), device_address(out) };
    void *args[4] = { &p[0], &p[1], &p[2], &n };
    const struct device_launch l = {
        .kernel = kernel,
        .grid = { (unsigned)((n + tile - 1) / tile), 1, 1 },
        .block = { (unsigned)block, 1, 1 },
        .args = args,
        .n_args = 4
    };
    struct device_err err;

    for (int i = 0; i < n; i++) {
        element_store(p[0], ELEMENT_FP32, i, i);
        element_store(p[1], ELEMENT_FP32, i, 3 * i);
    }
    if (device_run(NULL, &l, 10, &err) < 0)
        fail_msg("n %d: %s", n, err.text);
    for (int i = 0; i < n; i++)
        if (!(((const float *)p[2])[i] == 4.0f * (float)i))
            fail_msg("n %d: element %d", n, i);
    device_free(NULL, a);
    device_free(NULL, b);
    device_free(NULL, out);
}

static void run_at_sizes(int block, int items, int vector)
{
    static const int sizes[] = { 1, 3, 4, 5, 1023, 1024, 5001 };
    struct device_kernel *kernel;
    char text[200];

    params(text, sizeof(text), block, items, vector);
    kernel =
        fixture_load("vector_add", FOLDER "vector_add.cu", "vector_add", text);
    for (size_t i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        run(kernel, block, block * items, sizes[i]);
    device_unload(NULL, kernel);
}

static void single_elements_are_added_at_any_size(void **state)
{
    (void)state;
    run_at_sizes(64, 1, 0);
    run_at_sizes(256, 2, 0);
}

static void groups_of_four_are_added_at_any_size(void **state)
{
    (void)state;
    run_at_sizes(64, 4, 1);
    run_at_sizes(1024, 8, 1);
}

static void what_the_gates_pass_builds_for_a_gpu(void **state)
{
    char text[200];

    (void)state;
    params(text, sizeof(text), 1024, 8, 1);
    assert_true(
        fixture_builds_for_gpu("vector_add", FOLDER "vector_add.cu", text));
    assert_true(fixture_builds_for_gpu("vector_add_reference",
                                       FOLDER "reference.cu", ""));
}

static void what_vector_items_rejects_does_not_build(void **state)
{
    char text[200];

    (void)state;
    params(text, sizeof(text), 64, 2, 1);
    assert_false(fixture_builds("vector_add_rejected", FOLDER "vector_add.cu",
                                "vector_add", text));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(single_elements_are_added_at_any_size),
        cmocka_unit_test(groups_of_four_are_added_at_any_size),
        cmocka_unit_test(what_the_gates_pass_builds_for_a_gpu),
        cmocka_unit_test(what_vector_items_rejects_does_not_build),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
