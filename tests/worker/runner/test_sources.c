/* test_sources.c - fa-runner builds on a host from the sources that fa-worker
 * carries, with the commands of sources.h alone
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/outcome.h"
#include "tests/worker/runner/box.h"
#include "worker/build/runner_files.h"
#include "worker/runner/sources.h"

enum {
    ARGV_MAX = 64
};

static char folder[] = "/tmp/fa-sources-XXXXXX";

static const struct embed *file_of(const char *path)
{
    for (const struct embed *file = runner_files; file->name; file++)
        if (strcmp(file->name, path) == 0)
            return file;
    return NULL;
}

static void lay_out(const struct embed *file)
{
    char path[256];
    FILE *stream;

    snprintf(path, sizeof(path), "%s", file->name);
    for (char *slash = strchr(path, '/'); slash;
         slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        (void)mkdir(path, 0700); /* there already, or fopen says so */
        *slash = '/';
    }
    stream = fopen(path, "w");
    assert_non_null(stream);
    assert_int_equal(fwrite(file->bytes, 1, file->len, stream), file->len);
    assert_int_equal(fclose(stream), 0);
}

static int set_up(void **state)
{
    (void)state;
    return mkdtemp(folder) ? 0 : -1;
}

/* A folder with only the files that are listed for the device. */
static void go_to_sources(unsigned device, const char *name)
{
    assert_int_equal(chdir(folder), 0);
    assert_int_equal(mkdir(name, 0700), 0);
    assert_int_equal(chdir(name), 0);
    for (size_t i = 0; runner_sources[i].path; i++)
        if (runner_sources[i].devices & device) {
            assert_non_null(file_of(runner_sources[i].path));
            lay_out(file_of(runner_sources[i].path));
        }
}

static int tear_down(void **state)
{
    (void)state;
    return chdir("/") == 0 && box_command((const char *[]){ "rm", "-rf", folder,
                                                            NULL }) == 0
               ? 0
               : -1;
}

static void host_compiler_builds_the_cpu_runner(void **state)
{
    static const char *const before[] = {
        "cc",        "-O2", "-I.",           "-Ikernels/include",
        "-rdynamic", "-o",  "fa-runner-cpu", NULL
    };
    static const char *const after[] = { "-lstdc++", "-ldl", "-lm", "-lpthread",
                                         NULL };
    struct box box;

    (void)state;
    go_to_sources(RUNNER_CPU, "cpu");
    assert_int_equal(box_build(RUNNER_CPU, before, after), 0);
    box_start(&box, "./fa-runner-cpu");
    assert_true(box_open(&box, "cpu"));
    assert_int_equal(box_measure(&box, "right")->outcome, OUTCOME_CORRECT);
    assert_int_equal(box_stop(&box), 0);
}

static void host_compiler_builds_the_replay_runner(void **state)
{
    static const char *const before[] = {
        "cc", "-O2", "-I.", "-o", "fa-runner-replay", NULL
    };
    static const char *const after[] = { "-lm", NULL };
    struct box box;

    (void)state;
    go_to_sources(RUNNER_REPLAY, "replay");
    assert_int_equal(box_build(RUNNER_REPLAY, before, after), 0);
    box_start(&box, "./fa-runner-replay");
    assert_true(box_open(&box, "replay"));
    assert_int_equal(box.reply.kind, WIRE_OK);
    assert_int_equal(box_stop(&box), 0);
}

#ifdef FA_NVCC_PATH
/* Without a GPU here the runner says so; otherwise it opens one. */
static void nvcc_builds_the_cuda_runner(void **state)
{
    static const char *const before[] = { FA_NVCC_PATH, "-O2", "-arch=sm_90",
                                          "-I.",        "-o",  "fa-runner-cuda",
                                          NULL };
    static const char *const after[] = { "-ldl", NULL };
    struct box box;

    (void)state;
    go_to_sources(RUNNER_CUDA, "cuda");
    assert_int_equal(box_build(RUNNER_CUDA, before, after), 0);
    box_start(&box, "./fa-runner-cuda");
    assert_true(box_open(&box, "cuda"));
    if (box.reply.kind == WIRE_ERROR)
        assert_true(strlen(box.reply.error) > 10);
    (void)box_stop(&box); /* 1 without a GPU */
}

static void nvcc_builds_fa_facts_which_measures_nothing(void **state)
{
    static const char *const before[] = { FA_NVCC_PATH, "-I.",           "-o",
                                          "fa-facts",   "-D_GNU_SOURCE", NULL };
    static const char *const after[] = { "-ldl", NULL };
    struct box box;

    (void)state;
    go_to_sources(RUNNER_FACTS, "facts");
    assert_int_equal(box_build(RUNNER_FACTS, before, after), 0);
    box_start(&box, "./fa-facts");
    assert_true(box_open(&box, "cuda"));
    if (box.reply.kind == WIRE_ERROR)
        assert_true(strlen(box.reply.error) > 10);
    (void)box_stop(&box); /* 1 without a GPU */
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(host_compiler_builds_the_cpu_runner),
        cmocka_unit_test(host_compiler_builds_the_replay_runner),
#ifdef FA_NVCC_PATH
        cmocka_unit_test(nvcc_builds_the_cuda_runner),
        cmocka_unit_test(nvcc_builds_fa_facts_which_measures_nothing),
#endif
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}
