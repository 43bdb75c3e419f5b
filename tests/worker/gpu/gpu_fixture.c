#include "tests/worker/gpu/gpu_fixture.h"

#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/hash.h"
#include "worker/gpu/gpu_spares.h"
#include "worker/process/child.h"
#include "worker/store/build_dir.h"

enum {
    FDS_MAX = CHILD_FDS_MAX * (2 + 2 * GPU_SPARES_MAX)
};

char gpu_fixture_dir[] = "/tmp/fa-test-gpu-XXXXXX";

int gpu_fixture_set_up(void **state)
{
    (void)state;
    assert_int_equal(hash_setup(NULL), 0);
    assert_non_null(mkdtemp(gpu_fixture_dir));
    return 0;
}

int gpu_fixture_tear_down(void **state)
{
    (void)state;
    assert_true(build_dir_remove_tree(gpu_fixture_dir));
    return 0;
}

void gpu_fixture_write(const char *name, const char *text, char path[64])
{
    FILE *file;

    snprintf(path, 64, "%s/%s", gpu_fixture_dir, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\n%s\n", text);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0700), 0);
}

const char *gpu_fixture_script(const char *text)
{
    static char path[64];

    gpu_fixture_write("runner", text, path);
    return path;
}

void gpu_fixture_step(struct gpu *gpu)
{
    struct pollfd fds[FDS_MAX];
    int64_t wait_ns = gpu_deadline_ns(gpu) - clock_boot_ns();

    if (wait_ns > NS_PER_S)
        wait_ns = NS_PER_S;
    poll(fds, (nfds_t)gpu_poll(gpu, fds, FDS_MAX),
         wait_ns > 0 ? (int)(wait_ns / NS_PER_MS) + 1 : 0);
    gpu_step(gpu, clock_boot_ns());
}

enum gpu_state gpu_fixture_settle(struct gpu *gpu)
{
    int64_t until_ns = clock_boot_ns() + 30 * NS_PER_S;

    while (gpu_state(gpu) == GPU_STARTING) {
        assert_true(clock_boot_ns() < until_ns);
        gpu_fixture_step(gpu);
    }
    return gpu_state(gpu);
}

static struct gpu *open_with(const char *device, const char *program,
                             bool facts_only, size_t spares)
{
    struct gpu_spec spec = { .device = device,
                             .gpu = "0",
                             .runner = program,
                             .facts_only = facts_only,
                             .dir = gpu_fixture_dir,
                             .spares = spares };
    struct gpu *gpu;
    struct err err;

    if (gpu_open(&spec, clock_boot_ns(), &gpu, &err) < 0)
        fail_msg("%s", err.text);
    return gpu;
}

struct gpu *gpu_fixture_open(const char *runner)
{
    return open_with("cpu", runner, false, 0);
}

struct gpu *gpu_fixture_open_cuda(const char *runner)
{
    return open_with("cuda", runner, false, 0);
}

struct gpu *gpu_fixture_open_spares(const char *runner, size_t spares)
{
    return open_with("cpu", runner, false, spares);
}

struct gpu *gpu_fixture_open_facts(const char *facts)
{
    return open_with("cpu", facts, true, 0);
}

struct gpu_result gpu_fixture_measure_job(struct gpu *gpu,
                                          const struct gpu_job *job)
{
    int64_t until_ns = clock_boot_ns() + 30 * NS_PER_S;
    struct gpu_result result;
    struct err err;

    if (gpu_fixture_settle(gpu) != GPU_IDLE)
        fail_msg("%s", gpu_trouble(gpu));
    if (gpu_measure(gpu, job, clock_boot_ns(), &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(gpu_state(gpu), GPU_BUSY);
    while (!gpu_next_result(gpu, &result)) {
        assert_true(clock_boot_ns() < until_ns);
        gpu_fixture_step(gpu);
    }
    assert_int_equal(result.lease, 7);
    return result;
}

struct gpu_result gpu_fixture_measure(struct gpu *gpu, const char *request,
                                      const char *artifact, int64_t limit_ns)
{
    struct gpu_job job = {
        .lease = 7,
        .request = request,
        .artifact = artifact,
        .reference = KERNELS "sum.so",
        .limit_ns = limit_ns,
    };

    return gpu_fixture_measure_job(gpu, &job);
}
