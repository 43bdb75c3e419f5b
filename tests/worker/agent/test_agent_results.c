/* How a worker handles a result that is too large for a message or the disk. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/mem.h"
#include "worker/agent/agent_internal.h"

static char path[40];

static void set_up(struct agent *agent, struct lease **lease)
{
    struct msg build = { .type = MSG_BUILD,
                         .epoch = 1,
                         .build.work = {
                             .lease = 7,
                             .id = { "s", "c", "", "kernel", "build", 0, 1 },
                             .key = "00000000000000000000000000000001" } };
    static const struct instance here = { .dir = "/tmp" };
    struct journal_damage damage;
    struct err err;

    snprintf(path, sizeof(path), "/tmp/fa-results-XXXXXX");
    close(mkstemp(path));
    *agent = (struct agent){ .instance = &here, .queue = queue_new(1, 0, 1) };
    assert_int_equal(journal_open(path, &agent->journal, &damage, &err), 0);
    assert_int_equal(queue_add(agent->queue, &build, QUEUE_BUILDS, lease, &err),
                     0);
}

static void tear_down(struct agent *agent)
{
    assert_null(queue_first(agent->queue)); /* the lease has ended */
    journal_close(agent->journal);
    queue_free(agent->queue);
    unlink(path);
}

/* Deliver it; returns the contents of the journal. */
static struct msg delivered(struct msg result)
{
    struct journal_entry *entries;
    struct lease *lease = NULL;
    struct agent agent;
    struct msg out;
    struct err err;
    size_t n;

    set_up(&agent, &lease);
    agent_deliver(&agent, lease, &result, 0);
    entries = journal_entries(agent.journal, &n);
    assert_int_equal(n, 1);
    assert_int_equal(msg_decode(entries[0].record.message,
                                entries[0].record.len, &out, &err),
                     0);
    tear_down(&agent);
    assert_int_equal(msg_work(&out)->lease, 7);
    assert_string_equal(msg_work(&out)->id.config, "c");
    return out;
}

static void assert_crash(struct msg result, const char *detail)
{
    struct msg out = delivered(result);

    assert_int_equal(out.type, result.type);
    assert_string_equal(msg_result(&out)->outcome, "crash");
    assert_string_equal(msg_result(&out)->detail, detail);
    msg_fini(&out);
}

static void a_result_too_large_for_a_message_becomes_a_crash(void **state)
{
    static const double no_time[] = { 1e-6, 0 };
    char *log = mem_new(MSG_LOG_MAX + 1000, 1);

    (void)state;
    memset(log, 'x', MSG_LOG_MAX + 999);
    assert_crash((struct msg){ .type = MSG_BUILT, .built.log = log },
                 "the worker could not encode its result: BUILT.log is over "
                 "its limit of 65792");
    assert_crash((struct msg){ .type = MSG_MEASURED,
                               .measured = { .result.outcome = "correct",
                                             .samples = { no_time, 2 } } },
                 "the worker could not encode its result: MEASURED.samples is "
                 "out of range");
    assert_crash((struct msg){ .type = MSG_MEASURED, .measured.max_error = -1 },
                 "the worker could not encode its result: MEASURED.max_error "
                 "is out of range");
    assert_crash((struct msg){ .type = MSG_RAN, .ran.result.seconds = NAN },
                 "the worker could not encode its result: RAN.seconds is out "
                 "of range");
    free(log);
}

static void what_a_crash_does_not_know_is_no_0(void **state)
{
    char *log = mem_new(MSG_LOG_MAX + 1000, 1);
    struct msg out;

    (void)state;
    memset(log, 'x', MSG_LOG_MAX + 999);
    out = delivered((struct msg){ .type = MSG_BUILT, .built.log = log });
    assert_int_equal(out.built.usage.registers, -1);
    assert_int_equal(out.built.usage.spill_bytes, -1);
    msg_fini(&out);
    out =
        delivered((struct msg){ .type = MSG_MEASURED, .measured.held_s = -1 });
    assert_int_equal(out.measured.usage.registers, -1);
    assert_int_equal(out.measured.usage.static_smem, -1);
    assert_int_equal(out.measured.max_at, -1);
    assert_int_equal(out.measured.checked.launches, -1);
    assert_int_equal(out.measured.checked.varied, -1);
    msg_fini(&out);
    free(log);
}

static void a_huge_error_is_delivered_unchanged(void **state)
{
    struct msg out =
        delivered((struct msg){ .type = MSG_MEASURED,
                                .measured = { .result.outcome = "correctness",
                                              .relative_l2 = 1e30,
                                              .max_error = INFINITY } });

    (void)state;
    assert_string_equal(out.measured.result.outcome, "correctness");
    assert_true(out.measured.relative_l2 == 1e30 &&
                isinf(out.measured.max_error));
    msg_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_result_too_large_for_a_message_becomes_a_crash),
        cmocka_unit_test(what_a_crash_does_not_know_is_no_0),
        cmocka_unit_test(a_huge_error_is_delivered_unchanged),
    };
    struct err err;

    return hash_setup(&err) < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
