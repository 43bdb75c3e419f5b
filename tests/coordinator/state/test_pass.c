#include <poll.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/live/progress.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

static struct rig rig;
static struct err err;
static char calls[64];        /* a letter each, in order */
static int answers[2];        /* of choose and lead, by pass */
static const char *waits_for; /* of the second pass */
static int samples[2];

static void note(char what, const struct pass *pass)
{
    const char text[] = { what, (char)('0' + pass->index), '\0' };

    strncat(calls, text, sizeof(calls) - strlen(calls) - 1);
}

static int on_choose(struct sweep *sweep, struct pass *pass, int64_t passed,
                     struct err *why)
{
    (void)sweep;
    (void)passed;
    (void)why;
    note('c', pass);
    return answers[pass->index];
}

static int on_lead(struct sweep *sweep, struct pass *pass, struct err *why)
{
    (void)sweep;
    (void)why;
    note('l', pass);
    return answers[pass->index];
}

static int on_begin(struct sweep *sweep, struct pass *pass, struct err *why)
{
    (void)sweep;
    (void)why;
    note('b', pass);
    return answers[pass->index];
}

static void on_turn(struct sweep *sweep, struct pass *pass)
{
    (void)sweep;
    note('t', pass);
}

static void on_waits(const struct sweep *sweep, const struct pass *pass,
                     pass_wait_fn *tell, void *arg)
{
    (void)sweep;
    if (pass->index == 1 && waits_for)
        tell(arg,
             &(struct pass_wait){ .what = waits_for, .end = PASS_WAIT_HOST });
}

static bool on_bans(const struct sweep *sweep, const struct pass *pass,
                    size_t host, int gpu)
{
    (void)sweep;
    return pass->index == 1 && host == 0 && gpu == 2;
}

static int on_recall(struct sweep *sweep, struct pass *pass,
                     struct past_runs *past, struct err *why)
{
    (void)sweep;
    (void)past;
    (void)why;
    note('r', pass);
    return answers[pass->index];
}

static void on_poll(struct sweep *sweep, struct pass *pass, struct pollfd *fds)
{
    (void)sweep;
    fds[pass->index] = (struct pollfd){ .fd = 7 + pass->index };
}

static void on_host_up(struct sweep *sweep, struct pass *pass, size_t host)
{
    (void)sweep;
    assert_int_equal(host, 3);
    note('u', pass);
}

static void on_host_down(struct sweep *sweep, struct pass *pass, size_t host)
{
    (void)sweep;
    assert_int_equal(host, 3);
    note('d', pass);
}

static void on_measured(struct sweep *sweep, struct pass *pass,
                        const struct sched_lease *job,
                        const struct msg_measured *result)
{
    (void)sweep;
    (void)job;
    (void)result;
    note('m', pass);
}

static void on_settled(struct sweep *sweep, struct pass *pass, int unit,
                       int shape, enum outcome outcome, double median_s)
{
    (void)sweep;
    assert_int_equal(unit, 4);
    assert_int_equal(shape, 0);
    assert_int_equal(outcome, OUTCOME_CORRECT);
    assert_true(median_s == 1e-3);
    note('s', pass);
}

static int on_samples(const struct sweep *sweep, const struct pass *pass,
                      const struct sched_lease *lease)
{
    (void)sweep;
    (void)lease;
    return samples[pass->index];
}

static const char *on_method(const struct sweep *sweep, const struct pass *pass)
{
    (void)sweep;
    return pass->index == 0 ? "random" : "genetic";
}

static void on_progress(const struct sweep *sweep, const struct pass *pass,
                        struct progress_facts *facts)
{
    (void)sweep;
    facts->total += 10 + pass->index;
}

static bool on_bundle(struct sweep *sweep, struct pass *pass, const char *hash,
                      struct msg_bundle *out)
{
    (void)sweep;
    (void)out;
    note('B', pass);
    return strcmp(hash, pass->index == 0 ? "aa" : "bb") == 0;
}

static void on_free(struct pass *pass)
{
    note('f', pass);
}

static const struct pass_ops ops[2] = {
    { .name = "first",
      .purposes = 1U << SCHED_CANARY,
      .start = { .choose = on_choose,
                 .lead = on_lead,
                 .recall = on_recall,
                 .begin = on_begin },
      .commands = { .bundle = on_bundle },
      .turn = on_turn,
      .poll = on_poll,
      .host_up = on_host_up,
      .host_down = on_host_down,
      .measured = on_measured,
      .settled = on_settled,
      .amounts.samples = on_samples,
      .amounts.repeats = on_samples,
      .method = on_method,
      .progress = on_progress,
      .free = on_free },
    { .name = "second",
      .purposes = 1U << SCHED_CONFIRM,
      .start = { .choose = on_choose,
                 .lead = on_lead,
                 .recall = on_recall,
                 .begin = on_begin },
      .commands = { .bundle = on_bundle },
      .turn = on_turn,
      .poll = on_poll,
      .host_up = on_host_up,
      .host_down = on_host_down,
      .measured = on_measured,
      .settled = on_settled,
      .amounts.samples = on_samples,
      .amounts.repeats = on_samples,
      .method = on_method,
      .progress = on_progress,
      .waits_for = on_waits,
      .bans = on_bans,
      .free = on_free },
};

static int set_up(void **state)
{
    static const struct pass_ops *const both[] = { &ops[0], &ops[1], NULL };

    (void)state;
    rig_open(&rig, 1);
    memset(answers, 0, sizeof(answers));
    memset(samples, 0, sizeof(samples));
    calls[0] = '\0';
    waits_for = NULL;
    pass_init(&rig.sweep.passes, both);
    rig.sweep.passes.list[2] = (struct pass){ &ops[0], 2, &rig }; /* beyond */
    for (int i = 0; i < 2; i++)
        rig.sweep.passes.list[i].state = &rig;
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static void all_that_take_part_have_their_turn(void **state)
{
    (void)state;
    assert_int_equal(rig.sweep.passes.n, 2);
    pass_turn(&rig.sweep);
    rig.sweep.passes.list[0].state = NULL;
    pass_turn(&rig.sweep);
    assert_string_equal(calls, "t0t1t1");
}

static void they_are_asked_in_order_until_one_chooses(void **state)
{
    (void)state;
    assert_int_equal(pass_choose(&rig.sweep, 30, &err), 0);
    assert_string_equal(calls, "c0c1");
    answers[0] = 1;
    assert_int_equal(pass_choose(&rig.sweep, 30, &err), 1);
    assert_string_equal(calls, "c0c1c0");
    answers[0] = ERR_INPUT;
    assert_int_equal(pass_choose(&rig.sweep, 30, &err), ERR_INPUT);
    assert_string_equal(calls, "c0c1c0c0f0");
}

static void one_may_lead(void **state)
{
    (void)state;
    assert_in_range(pass_lead(&rig.sweep, &err), 0, 1);
    assert_null(rig.sweep.passes.lead);
    answers[1] = 1;
    assert_in_range(pass_lead(&rig.sweep, &err), 0, 1);
    assert_ptr_equal(rig.sweep.passes.lead, &rig.sweep.passes.list[1]);
    answers[1] = ERR_STORE;
    assert_int_equal(pass_lead(&rig.sweep, &err), ERR_STORE);
}

static void all_begin_until_one_cannot(void **state)
{
    (void)state;
    assert_int_equal(pass_begin(&rig.sweep, &err), 0);
    assert_string_equal(calls, "b0b1");
    answers[0] = ERR_STORE;
    assert_int_equal(pass_begin(&rig.sweep, &err), ERR_STORE);
    assert_string_equal(calls, "b0b1b0f0");
}

static void one_that_failed_half_way_takes_no_part(void **state)
{
    struct progress_facts facts = { .total = 100 };

    (void)state;
    answers[1] = ERR_STORE;
    assert_int_equal(pass_lead(&rig.sweep, &err), ERR_STORE);
    assert_string_equal(calls, "l0l1f1");
    pass_progress(&rig.sweep, &facts);
    assert_int_equal(facts.total, 110);
    pass_turn(&rig.sweep);
    assert_string_equal(calls, "l0l1f1t0");
}

static void who_takes_part_recalls_until_one_cannot(void **state)
{
    (void)state;
    assert_int_equal(pass_recall(&rig.sweep, NULL, &err), 0);
    assert_string_equal(calls, "r0r1");
    answers[0] = ERR_STORE;
    assert_int_equal(pass_recall(&rig.sweep, NULL, &err), ERR_STORE);
    assert_string_equal(calls, "r0r1r0");
    rig.sweep.passes.list[0].state = NULL;
    assert_int_equal(pass_recall(&rig.sweep, NULL, &err), 0);
    assert_string_equal(calls, "r0r1r0r1");
}

static void all_hear_of_hosts_and_results(void **state)
{
    (void)state;
    pass_host_up(&rig.sweep, 3);
    pass_host_down(&rig.sweep, 3);
    pass_measured(&rig.sweep, NULL, NULL);
    pass_settled(&rig.sweep, 4, 0, OUTCOME_CORRECT, 1e-3);
    assert_string_equal(calls, "u0u1d0d1m0m1s0s1");
}

static void what_none_waits_for_is_no_descriptor(void **state)
{
    struct pollfd fds[PASS_FDS + 1] = { { 0 } };

    (void)state;
    fds[PASS_FDS].fd = 5; /* not a pass's */
    pass_poll(&rig.sweep, fds);
    assert_int_equal(fds[0].fd, 7);
    assert_int_equal(fds[1].fd, 8);
    rig.sweep.passes.list[1].state = NULL;
    pass_poll(&rig.sweep, fds);
    assert_int_equal(fds[0].fd, 7);
    assert_int_equal(fds[1].fd, -1);
    assert_int_equal(fds[PASS_FDS].fd, 5);
}

static void the_first_that_wants_a_number_of_samples_has_it(void **state)
{
    (void)state;
    assert_int_equal(pass_samples(&rig.sweep, NULL), 0);
    samples[1] = 7;
    assert_int_equal(pass_samples(&rig.sweep, NULL), 7);
    samples[0] = 5;
    assert_int_equal(pass_samples(&rig.sweep, NULL), 5);
    assert_int_equal(pass_repeats(&rig.sweep, NULL), 5);
    samples[0] = 0;
    assert_int_equal(pass_repeats(&rig.sweep, NULL), 7);
}

static void the_first_that_takes_part_names_the_method(void **state)
{
    (void)state;
    assert_string_equal(pass_method(&rig.sweep), "random");
    rig.sweep.passes.list[0].state = NULL;
    assert_string_equal(pass_method(&rig.sweep), "genetic");
    rig.sweep.passes.list[1].state = NULL;
    assert_string_equal(pass_method(&rig.sweep), "exhaustive");
}

static void all_add_to_the_progress(void **state)
{
    struct progress_facts facts = { .total = 100 };

    (void)state;
    pass_progress(&rig.sweep, &facts);
    assert_int_equal(facts.total, 121);
}

static void a_bundle_is_of_the_pass_that_has_it(void **state)
{
    struct msg_bundle out;

    (void)state;
    assert_true(pass_bundle(&rig.sweep, "aa", &out));
    assert_string_equal(calls, "B0");
    assert_true(pass_bundle(&rig.sweep, "bb", &out));
    assert_false(pass_bundle(&rig.sweep, "cc", &out));
    assert_string_equal(calls, "B0B0B1B0B1");
}

static void functions_that_a_pass_has_not_are_not_called(void **state)
{
    static const struct pass_ops none = { .name = "none" };
    struct pollfd fds[PASS_FDS];
    struct progress_facts facts = { .total = 1 };
    struct msg_bundle out;

    (void)state;
    for (int i = 0; i < 2; i++)
        rig.sweep.passes.list[i].ops = &none;
    assert_int_equal(pass_choose(&rig.sweep, 30, &err), 0);
    assert_int_equal(pass_lead(&rig.sweep, &err), 0);
    assert_int_equal(pass_begin(&rig.sweep, &err), 0);
    assert_int_equal(pass_recall(&rig.sweep, NULL, &err), 0);
    pass_turn(&rig.sweep);
    pass_poll(&rig.sweep, fds);
    pass_host_up(&rig.sweep, 3);
    pass_host_down(&rig.sweep, 3);
    pass_measured(&rig.sweep, NULL, NULL);
    pass_settled(&rig.sweep, 4, 0, OUTCOME_CORRECT, 1e-3);
    assert_false(pass_bans(&rig.sweep, 0, 2));
    assert_int_equal(pass_samples(&rig.sweep, NULL), 0);
    assert_false(pass_bundle(&rig.sweep, "aa", &out));
    assert_string_equal(pass_method(&rig.sweep), "exhaustive");
    assert_false(pass_waits(&rig.sweep));
    pass_progress(&rig.sweep, &facts);
    assert_int_equal(facts.total, 1);
    assert_string_equal(calls, "");
}

static void an_order_belongs_to_the_pass_of_its_purpose(void **state)
{
    (void)state;
    assert_ptr_equal(pass_of(&rig.sweep, SCHED_CANARY),
                     &rig.sweep.passes.list[0]);
    assert_ptr_equal(pass_of(&rig.sweep, SCHED_CONFIRM),
                     &rig.sweep.passes.list[1]);
    assert_null(pass_of(&rig.sweep, SCHED_PROFILE));
    rig.sweep.passes.list[1].state = NULL;
    assert_null(pass_of(&rig.sweep, SCHED_CONFIRM));
    assert_ptr_equal(pass_at(&rig.sweep, 0), &rig.sweep.passes.list[0]);
    assert_ptr_equal(pass_state(&rig.sweep, &ops[0]), &rig);
    assert_null(pass_state(&rig.sweep, &ops[1]));
    rig.sweep.passes.list[1].state = &rig;
    rig.sweep.passes.n = 1; /* the second is of an earlier sweep */
    assert_null(pass_state(&rig.sweep, &ops[1]));
}

static void what_one_waits_for_all_wait_for(void **state)
{
    (void)state;
    assert_false(pass_waits(&rig.sweep));
    waits_for = "a canary";
    assert_true(pass_waits(&rig.sweep));
    rig.sweep.passes.list[1].state = NULL; /* it takes no part */
    assert_false(pass_waits(&rig.sweep));
}

static void what_one_bans_is_not_used(void **state)
{
    (void)state;
    assert_true(pass_bans(&rig.sweep, 0, 2));
    assert_false(pass_bans(&rig.sweep, 0, 1));
    rig.sweep.passes.list[1].state = NULL;
    assert_false(pass_bans(&rig.sweep, 0, 2));
}

static void who_took_part_is_freed(void **state)
{
    (void)state;
    rig.sweep.passes.list[0].state = NULL;
    pass_free(&rig.sweep.passes);
    assert_string_equal(calls, "f1");
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(all_that_take_part_have_their_turn),
        CASE(they_are_asked_in_order_until_one_chooses),
        CASE(one_may_lead),
        CASE(all_begin_until_one_cannot),
        CASE(one_that_failed_half_way_takes_no_part),
        CASE(who_takes_part_recalls_until_one_cannot),
        CASE(all_hear_of_hosts_and_results),
        CASE(what_none_waits_for_is_no_descriptor),
        CASE(the_first_that_wants_a_number_of_samples_has_it),
        CASE(the_first_that_takes_part_names_the_method),
        CASE(all_add_to_the_progress),
        CASE(a_bundle_is_of_the_pass_that_has_it),
        CASE(functions_that_a_pass_has_not_are_not_called),
        CASE(an_order_belongs_to_the_pass_of_its_purpose),
        CASE(what_one_waits_for_all_wait_for),
        CASE(what_one_bans_is_not_used),
        CASE(who_took_part_is_freed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
