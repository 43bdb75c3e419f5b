#include "tests/worker/build/build_fixture.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/hash.h"
#include "common/mem.h"
#include "worker/build/build.h"
#include "worker/process/child.h"
#include "worker/store/build_dir.h"

#define KEY "00112233445566778899aabbccddeeff"

/* The part of fa/emulation.h that a host compiler needs for a kernel. */
#define EMULATION                                                  \
    "#define __global__ __attribute__((visibility(\"hidden\")))\n" \
    "#define FA_EMULATION_ENTRY(name) \\\n"                        \
    "extern \"C\" __attribute__((visibility(\"default\"))) \\\n"   \
    "void *fa_entry() { return (void *)name; }\n"

char build_fixture_dir[] = "/tmp/fa-test-build-XXXXXX";
struct build_tools build_fixture_tools;

int build_fixture_set_up(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(hash_setup(&err), 0);
    assert_non_null(mkdtemp(build_fixture_dir));
    if (cache_open(build_fixture_dir, build_fixture_dir, CACHE_BYTES,
                   &build_fixture_tools.cache, &err) < 0)
        fail_msg("%s", err.text);
    return 0;
}

int build_fixture_entries(const char *folder)
{
    char *path = mem_printf("%s/%s", build_fixture_dir, folder);
    DIR *open = opendir(path);
    int n = 0;

    assert_non_null(open);
    for (struct dirent *entry; (entry = readdir(open));)
        n += entry->d_name[0] != '.';
    closedir(open);
    free(path);
    return n;
}

int build_fixture_tear_down(void **state)
{
    (void)state;
    assert_int_equal(build_fixture_entries("tmp"), 0);
    cache_close(build_fixture_tools.cache);
    assert_true(build_dir_remove_tree(build_fixture_dir));
    return 0;
}

struct build_job build_fixture_job(const char *source, const char *header)
{
    static const char *const names[] = { "kernel.cu", "fa/emulation.h" };
    static struct bytes contents[2];
    struct build_job job = {
        .key = KEY,
        .names = { names, 2 },
        .contents = { contents, 2 },
        .source = "kernel.cu",
        .header = header,
        .entry = "kernel",
        .standard = "c++17",
        .arch = "cpu",
    };

    contents[0] = (struct bytes){ source, strlen(source) };
    contents[1] = (struct bytes){ EMULATION, strlen(EMULATION) };
    build_fixture_tools.compiler = "/usr/bin/g++";
    build_fixture_tools.toolkit = "g++ test";
    return job;
}

struct build_job build_fixture_real_job(const char *source, const char *key)
{
    static const char *const names[] = {
        "kernel.cu",          "fa/emulation.h", "fa/emulator.h",
        "fa/vectors.h",       "fa/builtins.h",  "fa/intrinsics.h",
        "fa/atomics.h",       "fa/half.h",      "fa/half_types.h",
        "fa/checks.h",        "fa/casts.h",     "fa/clock.h",
        "fa/simd.h",          "fa/groups.h",    "fa/pipeline.h",
        "fa/rounding.h",      "fa/cub.h",       "fa/wmma.h",
        "fa_cuda/cuda_fp16.h"
    };
    enum {
        N_NAMES = sizeof(names) / sizeof(names[0])
    };
    static struct bytes contents[N_NAMES];
    static char text[N_NAMES - 1][32768];
    struct build_job job = build_fixture_job(source, "");

    contents[0] = job.contents.items[0];
    for (size_t i = 0; i < N_NAMES - 1; i++) {
        char *path =
            mem_printf("%s/kernels/include/%s", FA_SOURCE_DIR, names[i + 1]);
        FILE *file = fopen(path, "rb");

        assert_non_null(file);
        contents[i + 1] =
            (struct bytes){ text[i], fread(text[i], 1, sizeof(text[i]), file) };
        fclose(file);
        free(path);
    }
    job.key = key;
    job.names = (struct texts){ names, N_NAMES };
    job.contents = (struct blobs){ contents, N_NAMES };
    return job;
}

struct build_job build_fixture_nvcc_job(const char *nvcc, const char *source,
                                        const char *key)
{
    struct build_job job = build_fixture_job(source, "#define BLOCK 128\n");

    job.key = key;
    job.arch = "sm_89";
    build_fixture_tools.compiler = nvcc;
    build_fixture_tools.toolkit = "nvcc test";
    return job;
}

struct build_result build_fixture_finish(struct build *build)
{
    int64_t now_ns = clock_boot_ns(), until_ns = now_ns + 60 * NS_PER_S;
    struct build_result result;

    while (!build_step(build, now_ns)) {
        struct pollfd fds[CHILD_FDS_MAX];
        int64_t wait_ns = build_deadline_ns(build) - now_ns;

        assert_true(now_ns < until_ns);
        if (wait_ns > NS_PER_S)
            wait_ns = NS_PER_S;
        poll(fds, (nfds_t)build_poll(build, fds, CHILD_FDS_MAX),
             wait_ns > 0 ? (int)(wait_ns / NS_PER_MS) + 1 : 0);
        now_ns = clock_boot_ns();
    }
    build_take_result(build, &result);
    build_free(build);
    assert_int_equal(build_fixture_entries("tmp"), 0);
    return result;
}

struct build_result build_fixture_run(const struct build_job *job)
{
    return build_fixture_finish(
        build_start(&build_fixture_tools, job, clock_boot_ns()));
}

void build_fixture_assert_unfit(struct build_job job, const char *detail)
{
    struct build_result result = build_fixture_run(&job);

    assert_string_equal(result.detail, detail);
    assert_int_equal(result.outcome, OUTCOME_COMPILE);
    assert_true(result.unfit);
    build_result_fini(&result);
}
