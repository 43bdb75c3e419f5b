/* Tools on a real worker: ordered, run, and their results kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>

#include <cmocka.h>

#include "common/hash.h"
#include "common/sources.h"
#include "tests/e2e/coord.h"

#define SCRIPT "echo \"$1 $(cat lib/words)\"\n"

static struct coord coord;
static char bundle_hash[HASH_HEX], gpu[128];

static int set_up(void **state)
{
    static const char *const names[] = { "say.sh", "lib/words" };
    static const struct bytes contents[] = { { SCRIPT, sizeof(SCRIPT) - 1 },
                                             { "words", 5 } };
    static struct msg bundle = { .type = MSG_BUNDLE,
                                 .bundle = { .hash = bundle_hash,
                                             .names = { names, 2 },
                                             .contents = { contents, 2 } } };
    struct err err;
    struct msg msg;

    (void)state;
    assert_int_equal(hash_setup(&err), 0);
    sources_hash(&bundle.bundle.names, &bundle.bundle.contents, bundle_hash);
    coord_open(&coord);
    coord.bundle = &bundle;
    coord.beats = true; /* the runner is compiled, maybe for long */
    coord_attach(&coord);
    coord_welcome(&coord, "all", 1);
    coord_await(&coord, MSG_GPU, &msg);
    snprintf(gpu, sizeof(gpu), "%s", msg.gpu.uuid);
    msg_fini(&msg);
    coord_expect(&coord, MSG_READY);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    coord_close(&coord);
    return 0;
}

static void ask(int64_t lease, const char *const *command, size_t n)
{
    struct msg msg = {
        .type = MSG_TOOL,
        .tool = { .work = { .lease = lease,
                            .id = { "test", "", "n200", "external", "tool", 3,
                                    1 },
                            .key = "00000000000000000000000000000001" },
                  .launch = { .gpu = gpu, .limit_ms = 60000 },
                  .bundle = bundle_hash,
                  .command = { command, n } }
    };

    coord_send(&coord, &msg);
}

static void
it_runs_with_its_files_and_is_offered_until_acknowledged(void **state)
{
    const char *const command[] = { "sh", "say.sh", "two" };
    const char *const endless[] = { "sleep", "1000" };
    struct msg first, again;

    (void)state;
    ask(1, command, 3);
    coord_expect(&coord, MSG_STARTED);
    coord_await(&coord, MSG_RAN, &first);
    assert_string_equal(first.ran.result.outcome, "ran");
    assert_string_equal(first.ran.output, "two words\n");
    assert_string_equal(first.ran.work.id.purpose, "external");
    assert_int_equal(first.ran.work.id.round, 3);
    assert_string_equal(first.ran.gpu, gpu);
    assert_string_equal(first.ran.work.key, "00000000000000000000000000000001");
    coord_cut(&coord);
    coord.epoch++;
    coord_attach(&coord);
    coord_welcome(&coord, "all", 1);
    coord_await(&coord, MSG_RAN, &again);
    assert_string_equal(again.ran.result.nonce, first.ran.result.nonce);
    coord_ack(&coord, again.ran.result.nonce);
    msg_fini(&first);
    msg_fini(&again);
    ask(1, endless, 2);
    coord_expect(&coord, MSG_STARTED);
    coord_stop(&coord, "now");
    coord_await(&coord, MSG_BYE, &again);
    assert_int_equal(again.bye.journal, 0);
    msg_fini(&again);
    assert_int_equal(coord_reap_worker(&coord), 0);
}

static void a_host_without_the_program_says_so_and_goes_on(void **state)
{
    const char *const command[] = { "no-such-program-of-ours" };
    const char *const other[] = { "echo", "on" };
    struct msg ran;

    (void)state;
    ask(1, command, 1);
    ask(2, other, 2);
    coord_await(&coord, MSG_RAN, &ran);
    assert_string_equal(ran.ran.result.outcome, "missing");
    assert_non_null(strstr(ran.ran.result.detail, "'no-such-program-of-ours'"));
    assert_int_equal(ran.ran.status, -1);
    coord_ack(&coord, ran.ran.result.nonce);
    msg_fini(&ran);
    coord_await(&coord, MSG_RAN, &ran);
    assert_string_equal(ran.ran.output, "on\n");
    coord_ack(&coord, ran.ran.result.nonce);
    msg_fini(&ran);
}

static void a_cancelled_tool_frees_its_gpu(void **state)
{
    const char *const command[] = { "sleep", "1000" };
    const char *const other[] = { "echo", "on" };
    struct msg cancel = { .type = MSG_CANCEL, .cancel.lease = 1 }, ran;

    (void)state;
    ask(1, command, 2);
    coord_expect(&coord, MSG_STARTED);
    ask(2, other, 2);
    coord_send(&coord, &cancel);
    coord_await(&coord, MSG_RAN, &ran);
    assert_int_equal(ran.ran.work.lease, 2);
    coord_ack(&coord, ran.ran.result.nonce);
    msg_fini(&ran);
}

static void await_hello(size_t running)
{
    struct msg hello;
    size_t n;

    do {
        coord_await(&coord, MSG_HELLO, &hello);
        n = hello.hello.running.n;
        msg_fini(&hello);
    } while (n != running);
}

/* In a newer run the lease has another number; the HELLO says which. */
static void what_an_older_run_asked_for_ends_though_it_has_no_room(void **state)
{
    const char *const command[] = { "sleep", "3" };
    struct rlimit none = { 10, RLIM_INFINITY };

    (void)state;
    ask(1, command, 2);
    coord_expect(&coord, MSG_STARTED);
    assert_int_equal(prlimit(coord.worker, RLIMIT_FSIZE, &none, NULL), 0);
    coord_cut(&coord);
    coord.epoch++;
    coord_attach(&coord);
    await_hello(1);
    coord_welcome(&coord, "all", 1);
    await_hello(0);
    coord_welcome(&coord, "all", 1);
    coord_expect(&coord, MSG_READY);
    assert_int_equal(coord.seen[MSG_REFUSE], 0);
    none.rlim_cur = RLIM_INFINITY;
    assert_int_equal(prlimit(coord.worker, RLIMIT_FSIZE, &none, NULL), 0);
    coord_idle(&coord, 3000);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_host_without_the_program_says_so_and_goes_on),
        cmocka_unit_test(a_cancelled_tool_frees_its_gpu),
        cmocka_unit_test(
            what_an_older_run_asked_for_ends_though_it_has_no_room),
        /* ends the worker */
        cmocka_unit_test(
            it_runs_with_its_files_and_is_offered_until_acknowledged),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
