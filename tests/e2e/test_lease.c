/* Leases on a real worker: built and measured, refused, cancelled. */
#include <setjmp.h>
#include <spawn.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/hash.h"
#include "tests/e2e/coord.h"
#include "tests/e2e/kernel.h"

#define RUNNERS FA_BINARY_DIR "/e2e-runners"

static struct coord coord;

/* The worker begins with the runner that rig.py keeps, if one is there:
 * building it takes far longer than the test. */
static void copy_runner(void)
{
    const char *const argv[] = { "cp", "-a", RUNNERS, coord.work, NULL };
    int status = -1;
    pid_t pid;

    if (access(RUNNERS, F_OK) < 0)
        return;
    assert_int_equal(
        posix_spawnp(&pid, "cp", NULL, NULL, (char *const *)argv, environ), 0);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static int set_up(void **state)
{
    (void)state;
    coord_open(&coord);
    coord.beats = true; /* a runner may take long to be built */
    copy_runner();
    coord.bundle = &kernel_bundle;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    coord_close(&coord);
    return 0;
}

#define MINUTE_MS 60000

/* Build and acknowledge; the artifact's hash. */
static void artifact(int64_t lease, const char *source, const char *entry,
                     char out[HASH_HEX])
{
    struct msg built;

    kernel_build(&coord, lease, source, entry);
    coord_await(&coord, MSG_BUILT, &built);
    assert_string_equal(built.built.log, "");
    assert_string_equal(built.built.result.outcome, "built");
    assert_int_equal(built.built.work.lease, lease);
    snprintf(out, HASH_HEX, "%s", built.built.artifact);
    coord_ack(&coord, built.built.result.nonce);
    msg_fini(&built);
}

/* A worker with a GPU, a reference and a kernel for it. */
struct measurable {
    char gpu[128], kernel[HASH_HEX], reference[HASH_HEX];
};

static void get_ready(const char *kernel, struct measurable *out)
{
    struct msg gpu, ready;

    coord_attach(&coord);
    coord_welcome(&coord, "all", 1);
    coord_await(&coord, MSG_GPU, &gpu);
    coord_await(&coord, MSG_READY, &ready);
    assert_int_equal(ready.ready.slots, 1);
    assert_int_equal(ready.ready.n_gpus, 1);
    artifact(1, "ref.cu", "ref", out->reference);
    artifact(2, kernel, "add", out->kernel);
    snprintf(out->gpu, sizeof(out->gpu), "%s", gpu.gpu.uuid);
    msg_fini(&ready);
    msg_fini(&gpu);
}

static void measure(int64_t lease, const struct measurable *what)
{
    struct msg msg = {
        .type = MSG_MEASURE,
        .measure = { .work = { .lease = lease,
                               .id = { "test", "add", "n200", "screen",
                                       "measure", 0, 1 },
                               .key = "00000000000000000000000000000001" },
                     .launch = { .gpu = what->gpu,
                                 .artifact = what->kernel,
                                 .reference = what->reference,
                                 .request = KERNEL_REQUEST,
                                 .limit_ms = MINUTE_MS } }
    };

    coord_send(&coord, &msg);
}

static void a_kernel_is_built_and_measured(void **state)
{
    struct measurable what;
    struct msg measured, chunk;
    struct msg fetch = { .type = MSG_FETCH, .fetch.hash = what.kernel };

    (void)state;
    get_ready("add.cu", &what);
    measure(3, &what);
    coord_await(&coord, MSG_MEASURED, &measured);
    assert_string_equal(measured.measured.result.detail, "");
    assert_string_equal(measured.measured.result.outcome, "correct");
    assert_string_equal(measured.measured.work.key,
                        "00000000000000000000000000000001");
    assert_int_equal(measured.measured.work.lease, 3);
    assert_int_equal(measured.measured.samples.n, 3);
    assert_true(coord.seen[MSG_STARTED] >= 2);
    coord_ack(&coord, measured.measured.result.nonce);
    coord_send(&coord, &fetch);
    coord_await(&coord, MSG_ARTIFACT, &chunk);
    assert_string_equal(chunk.artifact.hash, what.kernel);
    assert_int_equal(chunk.artifact.offset, 0);
    assert_true(chunk.artifact.chunk.len > 1000);
    msg_fini(&chunk);
    msg_fini(&measured);
    coord_stop(&coord, "drain");
    coord_expect(&coord, MSG_BYE);
    assert_int_equal(coord_reap_worker(&coord), 0);
    assert_int_equal(coord_await_end(&coord), 0);
}

static void an_output_that_is_wrong_by_far_is_a_result(void **state)
{
    struct measurable what;
    struct msg measured;

    (void)state;
    get_ready("huge.cu", &what);
    measure(3, &what);
    coord_await(&coord, MSG_MEASURED, &measured);
    assert_string_equal(measured.measured.result.outcome, "correctness");
    assert_true(measured.measured.relative_l2 > 1e29 &&
                measured.measured.max_error > 1e29);
    msg_fini(&measured);
}

/* The file size limit of the worker and its children from now on. */
static void limit_files(rlim_t bytes)
{
    struct rlimit limit = { bytes, RLIM_INFINITY };

    assert_int_equal(prlimit(coord.worker, RLIMIT_FSIZE, &limit, NULL), 0);
}

static void a_result_without_room_is_refused_until_there_is_some(void **state)
{
    struct measurable what;
    struct msg refuse = { 0 }, measured;

    (void)state;
    get_ready("add.cu", &what);
    limit_files(10);
    measure(3, &what);
    coord_await(&coord, MSG_REFUSE, &refuse);
    assert_int_equal(refuse.refuse.lease, 3);
    assert_non_null(
        strstr(refuse.refuse.text, "its result could not be stored: "));
    assert_non_null(strstr(refuse.refuse.text, coord.work));
    msg_fini(&refuse);
    measure(4, &what); /* nothing is begun */
    coord_await(&coord, MSG_REFUSE, &refuse);
    assert_int_equal(refuse.refuse.lease, 4);
    assert_non_null(strstr(refuse.refuse.text, coord.work));
    msg_fini(&refuse);
    limit_files(RLIM_INFINITY);
    coord_idle(&coord, 3000);
    assert_int_equal(coord.seen[MSG_MEASURED], 0);
    measure(5, &what);
    coord_await(&coord, MSG_MEASURED, &measured);
    assert_int_equal(measured.measured.work.lease, 5);
    msg_fini(&measured);
}

static void more_than_the_credit_is_refused(void **state)
{
    struct msg refuse;

    (void)state;
    coord.bundle = NULL; /* nothing can start */
    coord_up(&coord, 1);
    kernel_build(&coord, 1, "ref.cu", "ref");
    kernel_build(&coord, 2, "add.cu", "add");
    kernel_build(&coord, 3, "ref.cu", "ref");
    coord_await(&coord, MSG_REFUSE, &refuse);
    assert_int_equal(refuse.refuse.lease, 3);
    assert_string_equal(refuse.refuse.text,
                        "the worker is full (2 of 2 leases)");
    msg_fini(&refuse);
}

static void missing_files_return_the_lease(void **state)
{
    struct msg missing = { .type = MSG_MISSING,
                           .missing.hash = kernel_bundle.bundle.hash },
               refuse;

    (void)state;
    coord.bundle = NULL;
    coord_up(&coord, 1);
    kernel_build(&coord, 1, "ref.cu", "ref");
    coord_expect(&coord, MSG_WANT);
    coord_send(&coord, &missing);
    coord_await(&coord, MSG_REFUSE, &refuse);
    assert_int_equal(refuse.refuse.lease, 1);
    msg_fini(&refuse);
}

static void a_bundle_that_is_not_its_hash_is_not_used(void **state)
{
    struct msg forged = kernel_bundle, want, built;
    size_t n = kernel_bundle.bundle.names.n;

    (void)state;
    coord.bundle = NULL;
    coord_up(&coord, 1);
    kernel_build(&coord, 1, "ref.cu", "ref");
    coord_await(&coord, MSG_WANT, &want);
    assert_string_equal(want.want.what, MSG_WANT_BUNDLE);
    assert_string_equal(want.want.hash, kernel_bundle.bundle.hash);
    msg_fini(&want);
    forged.bundle.names.n = forged.bundle.contents.n = n - 1;
    coord_send(&coord, &forged);
    coord_idle(&coord, 300);
    assert_int_equal(coord.seen[MSG_STARTED], 0);
    coord.bundle = &kernel_bundle; /* it asks again */
    coord_await(&coord, MSG_BUILT, &built);
    assert_string_equal(built.built.result.outcome, "built");
    msg_fini(&built);
}

static void a_cancelled_lease_leaves_no_result(void **state)
{
    struct msg cancel = { .type = MSG_CANCEL, .cancel.lease = 1 }, built;

    (void)state;
    coord_up(&coord, 1);
    kernel_build(&coord, 1, "ref.cu", "ref");
    coord_expect(&coord, MSG_STARTED);
    coord_send(&coord, &cancel);
    kernel_build(&coord, 2, "add.cu", "add");
    coord_await(&coord, MSG_BUILT, &built);
    assert_int_equal(built.built.work.lease, 2);
    msg_fini(&built);
}

#define attached(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        attached(a_kernel_is_built_and_measured),
        attached(an_output_that_is_wrong_by_far_is_a_result),
        attached(a_result_without_room_is_refused_until_there_is_some),
        attached(more_than_the_credit_is_refused),
        attached(missing_files_return_the_lease),
        attached(a_bundle_that_is_not_its_hash_is_not_used),
        attached(a_cancelled_lease_leaves_no_result),
    };
    return cmocka_run_group_tests(tests, kernel_set_up, kernel_tear_down);
}
