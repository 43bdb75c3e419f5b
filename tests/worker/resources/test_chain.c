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
#include "common/msg_host.h"
#include "common/outcome.h"
#include "worker/build/build.h"
#include "worker/build/toolkit.h"
#include "worker/gpu/gpus.h"
#include "worker/process/child.h"
#include "worker/resources/resources.h"
#include "worker/store/build_dir.h"

/* The path of a configuration on one host: its compiler makes fa-runner, a
 * kernel and its reference, and the runner measures them.  FA_TEST_DEVICE is
 * the device: "cpu", or "cuda" where there is a GPU. */
enum {
    FILES_MAX = 32,
    FILE_BYTES_MAX = 1 << 20
};

static char dir[] = "/tmp/fa-test-chain-XXXXXX";
static const char *device = "cpu";
static struct toolkit *toolkit;
static struct build_tools tools;
static const char *names[FILES_MAX];
static struct bytes contents[FILES_MAX];
static size_t n_files;

static void add_file(const char *name, const char *path)
{
    FILE *file = fopen(path, "r");
    char *bytes = mem_new(FILE_BYTES_MAX, 1);
    size_t len;

    assert_non_null(file);
    len = fread(bytes, 1, FILE_BYTES_MAX, file);
    fclose(file);
    assert_true(n_files < FILES_MAX);
    names[n_files] = mem_strdup(name);
    contents[n_files++] = (struct bytes){ bytes, len };
}

static void add_primitives(void)
{
    static const char folder[] = FA_SOURCE_DIR "/kernels/include/fa";
    DIR *open = opendir(folder);

    assert_non_null(open);
    for (struct dirent *entry; (entry = readdir(open));) {
        char *name = mem_printf("fa/%s", entry->d_name);
        char *path = mem_printf("%s/%s", folder, entry->d_name);

        if (entry->d_name[0] != '.')
            add_file(name, path);
        free(name);
        free(path);
    }
    closedir(open);
}

static int set_up(void **state)
{
    int64_t until_ns = clock_boot_ns() + 30 * NS_PER_S;
    struct err err = { .text = "" };
    int rc;

    (void)state;
    if (getenv("FA_TEST_DEVICE"))
        device = getenv("FA_TEST_DEVICE");
    assert_int_equal(hash_setup(&err), 0);
    assert_non_null(mkdtemp(dir));
    assert_int_equal(cache_open(dir, dir, CACHE_BYTES, &tools.cache, &err), 0);
    rc = toolkit_open(device, "", NULL, clock_boot_ns(), &toolkit, &err);
    while (rc == 0 && (rc = toolkit_step(toolkit, clock_boot_ns(), &err)) == 0)
        assert_true(clock_boot_ns() < until_ns);
    if (rc < 0)
        fail_msg("%s", err.text);
    tools.compiler = toolkit_path(toolkit);
    tools.toolkit = toolkit_text(toolkit);
    add_file("kernel.cu", FA_SOURCE_DIR "/kernels/vector_add/vector_add.cu");
    add_file("reference.cu", FA_SOURCE_DIR "/kernels/vector_add/reference.cu");
    add_file("add.cu", FA_SOURCE_DIR "/tests/fixtures/runner/add.cu");
    add_file("faults.cu", FA_SOURCE_DIR "/tests/fixtures/runner/faults.cu");
    add_file("sum.cu", FA_SOURCE_DIR "/tests/fixtures/runner/reference.cu");
    add_primitives();
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    while (n_files > 0) {
        free((char *)names[--n_files]);
        free((void *)contents[n_files].data);
    }
    toolkit_close(toolkit);
    cache_close(tools.cache);
    assert_true(build_dir_remove_tree(dir));
    return 0;
}

static struct build_result finish(struct build *build)
{
    int64_t until_ns = clock_boot_ns() + 200 * NS_PER_S;
    struct build_result result;

    while (!build_step(build, clock_boot_ns())) {
        struct pollfd fds[CHILD_FDS_MAX];

        assert_true(clock_boot_ns() < until_ns);
        poll(fds, (nfds_t)build_poll(build, fds, CHILD_FDS_MAX), 20);
    }
    build_take_result(build, &result);
    build_free(build);
    if (result.outcome != OUTCOME_BUILT)
        fail_msg("%s: %s\n%s", outcome_name(result.outcome), result.detail,
                 result.log);
    return result;
}

/* The path of what was built. */
static char *made(struct build *build)
{
    struct build_result result = finish(build);
    char path[PATH_MAX];

    assert_true(cache_path(tools.cache, result.made.artifact, path));
    build_result_fini(&result);
    return mem_strdup(path);
}

static char *build_kernel(const char *source, const char *entry,
                          const char *header, const char *arch)
{
    char key[HASH_HEX];
    struct hash hash;

    hash_init(&hash);
    hash_text(&hash, source);
    hash_text(&hash, entry);
    hash_end(&hash, key);
    return made(build_start(&tools,
                            &(struct build_job){
                                .key = key,
                                .names = { names, n_files },
                                .contents = { contents, n_files },
                                .source = source,
                                .header = header,
                                .entry = entry,
                                .standard = "c++17",
                                .arch = arch,
                            },
                            clock_boot_ns()));
}

static struct gpus *open_gpus(const char *runner)
{
    struct gpu_spec spec = { .device = device, .runner = runner, .dir = dir };
    int64_t until_ns = clock_boot_ns() + 100 * NS_PER_S;
    struct gpus *gpus;
    struct err err;
    int rc;

    assert_int_equal(
        gpus_open(&spec, "all", NULL, clock_boot_ns(), &gpus, &err), 0);
    while ((rc = gpus_step(gpus, clock_boot_ns(), &err)) == 0)
        assert_true(clock_boot_ns() < until_ns);
    if (rc < 0)
        fail_msg("%s", err.text);
    return gpus;
}

struct pair {
    const char *entry, *path; /* of the kernel */
    const char *reference_entry, *reference;
};

static char *request_for(const struct pair *pair)
{
    return mem_printf("entry %s\ngrid 20 1 1\nblock 256 1 1\nsmem 0\n"
                      "arg a fp32 buffer 5001 normal 1 in\n"
                      "arg b fp32 buffer 5001 normal 1 in\n"
                      "arg out fp32 buffer 5001 poison 1 out relative_l2 1e-6 "
                      "max_error 1e-5\narg n int32 scalar 5001\n"
                      "reference %s 20 1 1 256 1 1 0\n"
                      "seed 1\ntrials 2\nwarmups 2\nsamples 9 9\nnoise "
                      "0.01\nmargin 1.1\nincumbent_s 0\nl2 flush\n"
                      "timeout_s 2\n",
                      pair->entry, pair->reference_entry);
}

static void step(struct gpus *gpus)
{
    struct pollfd fds[GPUS_MAX];
    struct err err;

    poll(fds, (nfds_t)gpus_poll(gpus, fds, GPUS_MAX), 20);
    gpus_step(gpus, clock_boot_ns(), &err);
}

/* On the first GPU, once it is idle. */
static struct gpu_result measure(struct gpus *gpus, const struct pair *pair)
{
    char *request = request_for(pair);
    struct gpu_job job = {
        .request = request,
        .artifact = pair->path,
        .reference = pair->reference,
        .limit_ns = 4 * NS_PER_S, /* if it cannot be interrupted */
    };
    int64_t until_ns = clock_boot_ns() + 60 * NS_PER_S;
    struct gpu_result result;
    struct err err;

    while (gpu_state(gpus_at(gpus, 0)) == GPU_STARTING) {
        assert_true(clock_boot_ns() < until_ns);
        step(gpus);
    }
    if (gpu_measure(gpus_at(gpus, 0), &job, clock_boot_ns(), &err) < 0)
        fail_msg("%s %s", err.text, gpu_trouble(gpus_at(gpus, 0)));
    free(request);
    while (!gpu_next_result(gpus_at(gpus, 0), &result)) {
        assert_true(clock_boot_ns() < until_ns);
        step(gpus);
    }
    return result;
}

static void kernel_built_here_is_measured_by_a_runner_built_here(void **state)
{
    char *runner = made(build_start_runner(&tools, device, clock_boot_ns()));
    struct gpus *gpus = open_gpus(runner);
    char *arch = mem_printf("sm_%s", gpu_fact(gpus_at(gpus, 0), "arch"));
    const char *target = strcmp(device, "cpu") == 0 ? "cpu" : arch;
    char *kernel = build_kernel("kernel.cu", "vector_add",
                                "#define BLOCK_SIZE 256\n#define ITEMS 1\n"
                                "#define VECTOR 0\n#define TILE 256\n",
                                target);
    char *reference =
        build_kernel("reference.cu", "vector_add_reference", "", target);
    struct gpu_result result =
        measure(gpus, &(struct pair){ "vector_add", kernel,
                                      "vector_add_reference", reference });
    struct build_result again =
        finish(build_start_runner(&tools, device, clock_boot_ns()));

    (void)state;
    assert_string_equal(result.detail, "");
    assert_int_equal(result.outcome, OUTCOME_CORRECT);
    assert_int_equal(result.wire.n_samples, 9);
    assert_true(again.cached);
    print_message("%s %s: %g us\n", gpu_uuid(gpus_at(gpus, 0)), tools.toolkit,
                  1e6 * result.wire.samples[0]);
    build_result_fini(&again);
    gpus_close(gpus);
    free(runner);
    free(arch);
    free(kernel);
    free(reference);
}

/* What ends at once has no process that could wake the worker's loop. */
static void bench_never_waits_while_its_runner_lies_in_the_cache(void **state)
{
    const struct msg_welcome welcome = {
        .device = device, .gpus = "all", .nvcc = "", .allow = "", .slots = 1
    };
    int64_t until_ns = clock_boot_ns() + 60 * NS_PER_S;
    struct resources *resources =
        resources_open(&welcome, tools.cache, NULL, "", clock_boot_ns());

    (void)state;
    while (resources_step(resources, clock_boot_ns()) == RESOURCES_OPENING) {
        struct pollfd fds[CHILD_FDS_MAX * GPUS_MAX];
        size_t n = resources_poll(resources, fds, CHILD_FDS_MAX * GPUS_MAX);

        /* or a process that closed its pipes must be reaped */
        assert_true(n > 0 || resources_deadline_ns(resources) <=
                                 clock_boot_ns() + NS_PER_S / 10);
        assert_true(clock_boot_ns() < until_ns);
        poll(fds, (nfds_t)n, 20);
    }
    assert_int_equal(resources_state(resources), RESOURCES_READY);
    resources_close(resources);
}

/* Without GPUs only the compiler is looked for. */
static size_t builds_at_once(int64_t slots, size_t workers, size_t *all)
{
    const struct msg_welcome welcome = { .device = device,
                                         .gpus = "none",
                                         .nvcc = "",
                                         .allow = "",
                                         .slots = slots };
    int64_t until_ns = clock_boot_ns() + 60 * NS_PER_S;
    struct resources *resources =
        resources_open(&welcome, tools.cache, NULL, "", clock_boot_ns());
    size_t n;

    while (resources_step(resources, clock_boot_ns()) == RESOURCES_OPENING) {
        assert_true(clock_boot_ns() < until_ns);
        poll(NULL, 0, 5);
    }
    assert_int_equal(resources_state(resources), RESOURCES_READY);
    *all = resources_n_slots(resources);
    n = resources_builds(resources, workers);
    resources_close(resources);
    return n;
}

static void workers_of_a_host_share_its_cores(void **state)
{
    size_t all, alone = builds_at_once(0, 1, &all);

    (void)state;
    assert_int_equal(alone, all);
    assert_int_equal(builds_at_once(0, 2, &all), (alone + 1) / 2);
    assert_int_equal(builds_at_once(0, 1000, &all), 1);
    assert_int_equal(builds_at_once(3, 2, &all), 3); /* as the user says */
}

static void each_gpu_has_a_core_that_does_not_build(void **state)
{
    (void)state;
    assert_int_equal(resources_slots_beside(16, 0), 16);
    assert_int_equal(resources_slots_beside(16, 1), 15);
    assert_int_equal(resources_slots_beside(128, 8), 120);
    assert_int_equal(resources_slots_beside(8, 8), 1);
    assert_int_equal(resources_slots_beside(1, 0), 1);
    assert_int_equal(resources_slots_beside(999, 8), 256);
}

static const struct bad {
    const char *source, *entry;
    enum outcome outcome;
    bool cuda_alone;
} bad_kernels[] = {
    { "add.cu", "element_wrong", OUTCOME_CORRECTNESS, false },
    { "add.cu", "null_read", OUTCOME_RUNTIME, false },
    { "add.cu", "endless", OUTCOME_TIMEOUT, false },
    { "faults.cu", "traps", OUTCOME_RUNTIME, true },
    { "faults.cu", "misaligned", OUTCOME_RUNTIME, true },
    { "faults.cu", "wild_write", OUTCOME_RUNTIME, true },
};

static void bad_kernels_leave_the_next_one_alone(void **state)
{
    char *runner = made(build_start_runner(&tools, device, clock_boot_ns()));
    struct gpus *gpus = open_gpus(runner);
    bool cuda = strcmp(device, "cuda") == 0;
    char *arch = cuda ? mem_printf("sm_%s", gpu_fact(gpus_at(gpus, 0), "arch"))
                      : mem_strdup("cpu");
    char *right = build_kernel("add.cu", "right", "", arch);
    char *sum = build_kernel("sum.cu", "sum", "", arch);

    (void)state;
    for (size_t i = 0; i < sizeof(bad_kernels) / sizeof(bad_kernels[0]); i++) {
        const struct bad *bad = &bad_kernels[i];
        struct gpu_result result, after;
        char *path;

        if (bad->cuda_alone && !cuda)
            continue;
        path = build_kernel(bad->source, bad->entry, "", arch);
        result = measure(gpus, &(struct pair){ bad->entry, path, "sum", sum });
        after = measure(gpus, &(struct pair){ "right", right, "sum", sum });
        print_message("%s: %s (%s) in %.3g s, then %g us\n", bad->entry,
                      outcome_name(result.outcome), result.detail,
                      result.seconds, 1e6 * after.wire.samples[0]);
        assert_int_equal(result.outcome, bad->outcome);
        assert_int_equal(after.outcome, OUTCOME_CORRECT);
        free(path);
    }
    gpus_close(gpus);
    free(runner);
    free(arch);
    free(right);
    free(sum);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kernel_built_here_is_measured_by_a_runner_built_here),
        cmocka_unit_test(bench_never_waits_while_its_runner_lies_in_the_cache),
        cmocka_unit_test(workers_of_a_host_share_its_cores),
        cmocka_unit_test(each_gpu_has_a_core_that_does_not_build),
        cmocka_unit_test(bad_kernels_leave_the_next_one_alone),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
