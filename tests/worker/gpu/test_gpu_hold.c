#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "tests/worker/gpu/gpu_fixture.h"
#include "worker/gpu/gpu_hold.h"
#include "worker/gpu/gpulock.h"

static char uuid[GPU_UUID_BYTES]; /* of a GPU that no machine has */

static int name_it(void **state)
{
    snprintf(uuid, sizeof(uuid), "GPU-test-hold-%d", (int)getpid());
    return gpu_fixture_set_up(state);
}

static int remove_it(void **state)
{
    char path[sizeof(GPULOCK_FOLDER) + 1 + sizeof(uuid)];

    snprintf(path, sizeof(path), GPULOCK_FOLDER "/%s", uuid);
    (void)unlink(path);
    return gpu_fixture_tear_down(state);
}

static int take(struct gpu_hold *hold, int64_t now_ns)
{
    struct err err;

    return gpu_hold_take(hold, "cuda", "0", "/home", uuid, now_ns, &err);
}

static void a_gpu_that_another_has_is_waited_for(void **state)
{
    struct gpu_hold first, second;

    (void)state;
    gpu_hold_init(&first);
    gpu_hold_init(&second);
    assert_int_equal(take(&first, 10), 0);
    assert_false(gpu_hold_waits(&first, 10));
    assert_int_equal(take(&second, 100), ERR_DEVICE);
    assert_true(gpu_hold_waits(&second, 100));
    assert_int_equal(take(&second, 200), ERR_DEVICE);
    assert_true(gpu_hold_waits(&second, 99 + GPU_HOLD_WAIT_NS));
    assert_false(gpu_hold_waits(&second, 100 + GPU_HOLD_WAIT_NS));
    gpu_hold_release(&first);
    assert_int_equal(take(&second, 300), 0);
    assert_string_equal(second.uuid, uuid);
    gpu_hold_release(&second);
}

static void one_that_is_another_gpu_now_is_refused(void **state)
{
    struct gpu_hold hold;
    struct err err;

    (void)state;
    gpu_hold_init(&hold);
    assert_int_equal(take(&hold, 10), 0);
    assert_int_equal(
        gpu_hold_take(&hold, "cuda", "0", "/home", "GPU-b", 20, &err),
        ERR_DEVICE);
    assert_non_null(strstr(err.text, "and is now GPU-b"));
    assert_false(gpu_hold_waits(&hold, 20));
    gpu_hold_release(&hold);
}

static void a_worker_has_it_once_the_other_ends(void **state)
{
    int64_t until_ns = clock_boot_ns() + 30 * NS_PER_S;
    char script[256];
    struct gpu_hold other;
    struct gpu *gpu;

    (void)state;
    gpu_hold_init(&other);
    assert_int_equal(take(&other, 10), 0);
    snprintf(script, sizeof(script),
             READ_REQUEST "echo >>${0%%/*}/open; printf 'ok\\nfact uuid %s"
                          "\\n\\n'; " READ_REQUEST,
             uuid);
    gpu = gpu_fixture_open_cuda(gpu_fixture_script(script));
    snprintf(script, sizeof(script), "%s/open", gpu_fixture_dir);
    while (access(script, F_OK) < 0) {
        assert_true(clock_boot_ns() < until_ns);
        gpu_fixture_step(gpu);
    }
    for (int i = 0; i < 3; i++) { /* its answer, then attempts */
        gpu_fixture_step(gpu);
        assert_int_equal(gpu_state(gpu), GPU_STARTING);
    }
    gpu_hold_release(&other);
    assert_int_equal(gpu_fixture_settle(gpu), GPU_IDLE);
    assert_false(gpu_is_taken(gpu));
    gpu_close(gpu);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_gpu_that_another_has_is_waited_for),
        cmocka_unit_test(one_that_is_another_gpu_now_is_refused),
        cmocka_unit_test(a_worker_has_it_once_the_other_ends),
    };

    return cmocka_run_group_tests(tests, name_it, remove_it);
}
