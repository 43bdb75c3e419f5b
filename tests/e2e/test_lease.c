/* Leases on a real worker: built and measured, refused, cancelled. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <cmocka.h>

#include "common/hash.h"
#include "tests/e2e/coord.h"
#include "tests/e2e/kernel.h"

static struct coord coord;

static int set_up(void **state)
{
    (void)state;
    coord_open(&coord);
    coord.bundle = &kernel_bundle;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    coord_close(&coord);
    return 0;
}

/* Build and acknowledge; the artifact's hash. */
static void artifact(int64_t lease, const char *source, const char *entry,
                     char out[HASH_HEX])
{
    struct msg built;

    kernel_build(&coord, lease, source, entry);
    coord_await(&coord, MSG_BUILT, &built);
    assert_string_equal(built.log, "");
    assert_string_equal(built.outcome, "built");
    assert_int_equal(built.lease, lease);
    snprintf(out, HASH_HEX, "%s", built.artifact);
    coord_ack(&coord, built.nonce);
    msg_fini(&built);
}

static void a_kernel_is_built_and_measured(void **state)
{
    char add[HASH_HEX], ref[HASH_HEX];
    struct msg gpu, ready, measured, chunk;
    struct msg fetch = { .type = MSG_FETCH, .hash = add };
    struct msg measure = { .type = MSG_MEASURE,
                           .lease = 3,
                           .key = "00000000000000000000000000000001",
                           .artifact = add,
                           .reference = ref,
                           .request = KERNEL_REQUEST,
                           .limit_ms = 60000 };

    (void)state;
    coord_attach(&coord);
    coord_welcome(&coord, "all", 1);
    coord_await(&coord, MSG_GPU, &gpu);
    coord_await(&coord, MSG_READY, &ready);
    assert_int_equal(ready.slots, 1);
    assert_int_equal(ready.n_gpus, 1);
    artifact(1, "ref.cu", "ref", ref);
    artifact(2, "add.cu", "add", add);
    measure.gpu = gpu.gpu;
    measure.id = (struct msg_identity){ "test",    "add", "n200", "screen",
                                        "measure", 0,     1 };
    coord_send(&coord, &measure);
    coord_await(&coord, MSG_MEASURED, &measured);
    assert_string_equal(measured.detail, "");
    assert_string_equal(measured.outcome, "correct");
    assert_string_equal(measured.key, measure.key);
    assert_int_equal(measured.lease, 3);
    assert_int_equal(measured.samples.n, 3);
    assert_true(coord.seen[MSG_STARTED] >= 2);
    coord_ack(&coord, measured.nonce);
    coord_send(&coord, &fetch);
    coord_await(&coord, MSG_ARTIFACT, &chunk);
    assert_string_equal(chunk.hash, add);
    assert_int_equal(chunk.offset, 0);
    assert_true(chunk.chunk.len > 1000);
    msg_fini(&chunk);
    msg_fini(&measured);
    msg_fini(&ready);
    msg_fini(&gpu);
    coord_stop(&coord, "drain");
    coord_expect(&coord, MSG_BYE);
    assert_int_equal(coord_reap_worker(&coord), 0);
    assert_int_equal(coord_await_end(&coord), 0);
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
    assert_int_equal(refuse.lease, 3);
    assert_string_equal(refuse.text, "2 leases are here already, the most");
    msg_fini(&refuse);
}

static void files_that_are_nowhere_give_the_lease_back(void **state)
{
    struct msg missing = { .type = MSG_MISSING, .hash = kernel_bundle.hash },
               refuse;

    (void)state;
    coord.bundle = NULL;
    coord_up(&coord, 1);
    kernel_build(&coord, 1, "ref.cu", "ref");
    coord_expect(&coord, MSG_WANT);
    coord_send(&coord, &missing);
    coord_await(&coord, MSG_REFUSE, &refuse);
    assert_int_equal(refuse.lease, 1);
    msg_fini(&refuse);
}

static void a_bundle_that_is_not_its_hash_is_not_used(void **state)
{
    struct msg forged = kernel_bundle, want, built;
    struct blobs cut = kernel_bundle.contents;

    (void)state;
    coord.bundle = NULL;
    coord_up(&coord, 1);
    kernel_build(&coord, 1, "ref.cu", "ref");
    coord_await(&coord, MSG_WANT, &want);
    assert_string_equal(want.what, "bundle");
    assert_string_equal(want.hash, kernel_bundle.hash);
    msg_fini(&want);
    forged.names.n = forged.contents.n = cut.n - 1;
    coord_send(&coord, &forged);
    coord_idle(&coord, 300);
    assert_int_equal(coord.seen[MSG_STARTED], 0);
    coord.bundle = &kernel_bundle; /* it asks again */
    coord_await(&coord, MSG_BUILT, &built);
    assert_string_equal(built.outcome, "built");
    msg_fini(&built);
}

static void a_cancelled_lease_leaves_no_result(void **state)
{
    struct msg cancel = { .type = MSG_CANCEL, .lease = 1 }, built;

    (void)state;
    coord_up(&coord, 1);
    kernel_build(&coord, 1, "ref.cu", "ref");
    coord_expect(&coord, MSG_STARTED);
    coord_send(&coord, &cancel);
    kernel_build(&coord, 2, "add.cu", "add");
    coord_await(&coord, MSG_BUILT, &built);
    assert_int_equal(built.lease, 2);
    msg_fini(&built);
}

#define attached(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        attached(a_kernel_is_built_and_measured),
        attached(more_than_the_credit_is_refused),
        attached(files_that_are_nowhere_give_the_lease_back),
        attached(a_bundle_that_is_not_its_hash_is_not_used),
        attached(a_cancelled_lease_leaves_no_result),
    };
    return cmocka_run_group_tests(tests, kernel_set_up, kernel_tear_down);
}
