#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "worker/runner/cuda/smem_cuda.h"

static void more_than_48_kib_must_be_asked_for(void **state)
{
    (void)state;
    assert_false(smem_cuda_must_ask(49152, 0));
    assert_true(smem_cuda_must_ask(49153, 0));
    assert_true(smem_cuda_must_ask(232448, 0));
}

static void static_and_dynamic_shared_memory_count_together(void **state)
{
    (void)state;
    assert_false(smem_cuda_must_ask(8192, 40960));
    assert_true(smem_cuda_must_ask(8193, 40960));
    assert_true(smem_cuda_must_ask(49152, 16));
    assert_true(smem_cuda_must_ask(1, 49152));
}

static void a_launch_without_dynamic_shared_memory_asks_for_none(void **state)
{
    (void)state;
    assert_false(smem_cuda_must_ask(0, 0));
    assert_false(smem_cuda_must_ask(0, 49152));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(more_than_48_kib_must_be_asked_for),
        cmocka_unit_test(static_and_dynamic_shared_memory_count_together),
        cmocka_unit_test(a_launch_without_dynamic_shared_memory_asks_for_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
