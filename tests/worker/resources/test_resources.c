/* test_resources.c - what a worker can do, and when: with a stand-in for nvcc
 *
 * It "compiles" fa-facts and fa-runner to shell scripts that answer a request
 * to open, as soon as files beside it say so.
 */
#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/hash.h"
#include "common/mem.h"
#include "common/msg_host.h"
#include "worker/process/child.h"
#include "worker/resources/resources.h"
#include "worker/store/build_dir.h"

#define FDS_MAX 256

/* Waits for the file 'facts' or 'runner', which says how the compiler ends. */
#define NVCC                                                                  \
    "#!/bin/sh\n"                                                             \
    "case \"$*\" in\n"                                                        \
    "--version) echo 'Cuda compilation tools, release 1.0, V1.0.0'; exit;;\n" \
    "*facts_device.c*) what=facts;;\n"                                        \
    "*) what=runner;;\n"                                                      \
    "esac\n"                                                                  \
    "while [ ! -e %s/$what ]; do sleep 0.01; done\n"                          \
    "read -r fails <%s/$what\n"                                               \
    "[ $fails = 0 ] || { echo 'a.c(1): error: broken' >&2; exit 1; }\n"       \
    "cat >../out/artifact <<END\n"                                            \
    "#!/bin/sh\n"                                                             \
    "while read -r line && [ \"\\$line\" ]; do :; done\n"                     \
    "printf 'ok\\\\nfact uuid GPU-%d\\\\nfact program '$what'\\\\n\\\\n'\n"   \
    "read -r line\n"                                                          \
    "END\n"                                                                   \
    "chmod 700 ../out/artifact\n"

static char folder[64]; /* of one test */
static struct cache *cache;
static struct resources *resources;

static void write_file(const char *name, const char *text)
{
    char *path = mem_printf("%s/%s", folder, name);
    char *fresh = mem_printf("%s.new", path);
    FILE *file = fopen(fresh, "w");

    assert_non_null(file);
    fputs(text, file);
    assert_int_equal(fchmod(fileno(file), 0700), 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(rename(fresh, path), 0);
    free(fresh);
    free(path);
}

static int set_up(void **state)
{
    static const char name[] = "/tmp/fa-test-resources-XXXXXX";
    struct err err;
    char *nvcc, *work;

    (void)state;
    assert_int_equal(hash_setup(NULL), 0);
    memcpy(folder, name, sizeof(name));
    assert_non_null(mkdtemp(folder));
    nvcc = mem_printf(NVCC, folder, folder, (int)getpid());
    write_file("nvcc", nvcc);
    work = mem_printf("%s/work", folder);
    assert_int_equal(mkdir(work, 0700), 0);
    assert_int_equal(cache_open(work, work, CACHE_BYTES, &cache, &err), 0);
    free(work);
    free(nvcc);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    resources_close(resources);
    resources = NULL;
    cache_close(cache);
    assert_true(build_dir_remove_tree(folder));
    return 0;
}

static const struct msg_welcome *welcome(void)
{
    static struct msg_welcome welcome;
    static char nvcc[sizeof(folder) + 8];

    snprintf(nvcc, sizeof(nvcc), "%s/nvcc", folder);
    welcome = (struct msg_welcome){
        .device = "cuda", .gpus = "0", .nvcc = nvcc, .allow = folder, .slots = 2
    };
    return &welcome;
}

static void open_resources(void)
{
    resources = resources_open(welcome(), cache, NULL, "/sweeps/run.db",
                               clock_boot_ns());
}

static void step(void)
{
    struct pollfd fds[FDS_MAX];
    int64_t wait_ns = resources_deadline_ns(resources) - clock_boot_ns();
    size_t n = resources_poll(resources, fds, FDS_MAX);

    if (wait_ns > NS_PER_S / 50)
        wait_ns = NS_PER_S / 50;
    poll(fds, (nfds_t)n, wait_ns > 0 ? (int)(wait_ns / NS_PER_MS) + 1 : 0);
    resources_step(resources, clock_boot_ns());
}

static enum resources_state settle(void)
{
    int64_t until_ns = clock_boot_ns() + 30 * NS_PER_S;

    while (resources_state(resources) == RESOURCES_OPENING) {
        assert_true(clock_boot_ns() < until_ns);
        step();
    }
    return resources_state(resources);
}

static void wait_for_gpu(enum gpu_state wanted)
{
    int64_t until_ns = clock_boot_ns() + 30 * NS_PER_S;

    while (gpu_state(resources_gpu(resources, 0)) != wanted) {
        assert_true(clock_boot_ns() < until_ns);
        step();
    }
}

static void assert_ready(void)
{
    if (settle() != RESOURCES_READY)
        fail_msg("%s: %s", resources_what(resources), resources_why(resources));
    assert_int_equal(resources_n_slots(resources), 2);
    assert_int_equal(resources_n_gpus(resources), 1);
}

static const char *program(void)
{
    return gpu_fact(resources_gpu(resources, 0), "program");
}

static void builds_begin_while_fa_runner_is_compiled(void **state)
{
    (void)state;
    write_file("facts", "0\n");
    open_resources();
    assert_ready();
    assert_int_equal(gpu_state(resources_gpu(resources, 0)), GPU_KNOWN);
    assert_string_equal(program(), "facts");
    write_file("runner", "0\n");
    wait_for_gpu(GPU_IDLE);
    assert_string_equal(program(), "runner");
    assert_int_equal(resources_state(resources), RESOURCES_READY);
}

static void fa_runner_that_is_there_first_opens_the_gpu(void **state)
{
    (void)state;
    write_file("runner", "0\n");
    open_resources();
    assert_ready();
    assert_int_equal(gpu_state(resources_gpu(resources, 0)), GPU_IDLE);
    assert_string_equal(program(), "runner");
    write_file("facts", "0\n");
    for (int i = 0; i < 20; i++)
        step();
    assert_string_equal(program(), "runner");
}

static void without_fa_facts_the_gpu_waits_for_fa_runner(void **state)
{
    int64_t until_ns;

    (void)state;
    write_file("facts", "1\n");
    open_resources();
    for (until_ns = clock_boot_ns() + NS_PER_S; clock_boot_ns() < until_ns;)
        step();
    assert_int_equal(resources_state(resources), RESOURCES_OPENING);
    write_file("runner", "0\n");
    assert_ready();
    assert_string_equal(program(), "runner");
}

static void fa_runner_that_cannot_be_built_is_trouble_later(void **state)
{
    int64_t until_ns = clock_boot_ns() + 30 * NS_PER_S;

    (void)state;
    write_file("facts", "0\n");
    open_resources();
    assert_ready();
    write_file("runner", "1\n");
    while (resources_state(resources) == RESOURCES_READY) {
        assert_true(clock_boot_ns() < until_ns);
        step();
    }
    assert_int_equal(resources_state(resources), RESOURCES_TROUBLE);
    assert_string_equal(resources_what(resources), "runner");
    assert_string_equal(resources_why(resources),
                        "fa-runner cannot be built: a.c(1): error: broken");
}

static void cached_fa_runner_needs_no_fa_facts(void **state)
{
    (void)state;
    write_file("runner", "0\n");
    write_file("facts", "0\n");
    open_resources();
    assert_ready();
    wait_for_gpu(GPU_IDLE);
    resources_close(resources);
    write_file("nvcc", "#!/bin/sh\necho 'Cuda compilation tools, release 1.0, "
                       "V1.0.0'\n[ \"$1\" = --version ]\n");
    open_resources();
    assert_ready();
    assert_int_equal(gpu_state(resources_gpu(resources, 0)), GPU_IDLE);
    assert_string_equal(program(), "runner");
}

static void proof_of_the_sweep_finds_them_open(void **state)
{
    (void)state;
    write_file("runner", "0\n");
    open_resources();
    assert_false(resources_is_sound(resources)); /* not ready yet */
    assert_ready();
    assert_true(resources_is_sound(resources));
    resources_end_tools(resources);
    assert_non_null(resources_tools(resources));
    assert_true(resources_serves(resources, welcome(), "/sweeps/run.fuzz.db"));
    assert_true(resources_serves(resources, welcome(), "/sweeps/run.db"));
    assert_false(resources_serves(resources, welcome(), "/sweeps/other.db"));
}

#define TEST(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(builds_begin_while_fa_runner_is_compiled),
        TEST(fa_runner_that_is_there_first_opens_the_gpu),
        TEST(without_fa_facts_the_gpu_waits_for_fa_runner),
        TEST(fa_runner_that_cannot_be_built_is_trouble_later),
        TEST(cached_fa_runner_needs_no_fa_facts),
        TEST(proof_of_the_sweep_finds_them_open),
    };

    child_setup();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
