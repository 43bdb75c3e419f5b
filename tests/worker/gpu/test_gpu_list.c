#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "worker/gpu/gpu_list.h"

static void a_set_has_one_text(void **state)
{
    static const struct {
        const char *which, *sorted;
    } rows[] = { { "all", "all" },       { "none", "none" }, { "3", "3" },
                 { "10,2,0", "0,2,10" }, { "0,1", "0,1" },   { "1,0", "0,1" },
                 { "999,07", "7,999" } };
    char out[GPU_LIST_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(gpu_list_sort(rows[i].which, out), 0);
        assert_string_equal(out, rows[i].sorted);
    }
}

static void what_is_no_list_is_refused(void **state)
{
    static const char *const bad[] = { "",   "0,0", "x",  "0,",
                                       "-1", "0 1", "a1", "1000" };
    char out[GPU_LIST_BYTES];
    int indices[GPUS_MAX];

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(gpu_list_sort(bad[i], out), -1);
        assert_int_equal(gpu_list_choose("cpu", bad[i], indices), -1);
    }
}

static void the_longest_list_fits(void **state)
{
    char out[GPU_LIST_BYTES];
    int indices[GPUS_MAX];

    (void)state;
    for (int i = 0; i < GPUS_MAX; i++)
        indices[i] = GPU_LIST_INDEX_MAX - i;
    gpu_list_write(indices, GPUS_MAX, out);
    assert_int_equal(gpu_list_choose("cpu", out, indices), GPUS_MAX);
    assert_int_equal(indices[GPUS_MAX - 1], GPU_LIST_INDEX_MAX - GPUS_MAX + 1);
}

static void all_of_a_device_that_is_no_gpu_is_one(void **state)
{
    int indices[GPUS_MAX] = { 7 };

    (void)state;
    assert_int_equal(gpu_list_choose("cpu", "all", indices), 1);
    assert_int_equal(indices[0], 0);
    assert_int_equal(gpu_list_choose("replay", "none", indices), 0);
    assert_int_equal(gpu_list_choose("cpu", "2,1", indices), 2);
    assert_int_equal(indices[0], 2);
    assert_true(gpu_list_choose("cuda", "all", indices) >= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_set_has_one_text),
        cmocka_unit_test(what_is_no_list_is_refused),
        cmocka_unit_test(the_longest_list_fits),
        cmocka_unit_test(all_of_a_device_that_is_no_gpu_is_one),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
