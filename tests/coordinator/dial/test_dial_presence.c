#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/dial/dial_presence.h"

#define MS NS_PER_MS

/* What is done with a message of this run. */
static struct dial_presence_answer hear(struct dial_presence *presence,
                                        enum msg_type type, uint64_t connection,
                                        int64_t at_ns)
{
    return dial_presence_hear(
        presence, &(struct dial_presence_message){ .type = type,
                                                   .is_of_run = true,
                                                   .connection = connection,
                                                   .at_ns = at_ns });
}

static struct dial_presence_answer hear_old(struct dial_presence *presence,
                                            enum msg_type type,
                                            uint64_t connection, int64_t at_ns)
{
    return dial_presence_hear(
        presence, &(struct dial_presence_message){
                      .type = type, .connection = connection, .at_ns = at_ns });
}

/* Its HELLO came over connection 1, and the reactor knows. */
static struct dial_presence here(void)
{
    struct dial_presence presence = { .where = DIAL_PRESENCE_AWAY };

    assert_true(hear(&presence, MSG_HELLO, 1, 1 * MS).takes);
    assert_int_equal(dial_presence_next(&presence), DIAL_PRESENCE_CAME);
    assert_int_equal(dial_presence_next(&presence), DIAL_PRESENCE_NOTHING);
    return presence;
}

static void it_comes_with_the_hello_of_this_run(void **state)
{
    struct dial_presence presence = { .where = DIAL_PRESENCE_AWAY };
    struct dial_presence_answer answer = hear(&presence, MSG_HELLO, 1, 1);

    (void)state;
    assert_true(answer.takes && answer.has_come && !answer.invites);
    assert_int_equal(presence.where, DIAL_PRESENCE_HERE);
    answer = hear(&presence, MSG_HELLO, 1, 2); /* WELCOME was on its way */
    assert_true(answer.takes && !answer.has_come && !answer.invites);
    answer = hear(&presence, MSG_READY, 1, 3);
    assert_true(answer.takes && !answer.invites);
}

static void the_hello_of_another_run_is_answered_by_an_invitation(void **state)
{
    struct dial_presence presence = { .where = DIAL_PRESENCE_AWAY };
    struct dial_presence_answer answer = hear_old(&presence, MSG_HELLO, 1, 1);

    (void)state;
    assert_true(answer.invites && !answer.takes);
    assert_int_equal(presence.where, DIAL_PRESENCE_AWAY);
    presence = here(); /* the next worker with its invitation */
    answer = hear_old(&presence, MSG_HELLO, 2, 5 * MS);
    assert_true(answer.invites && !answer.takes);
    answer = hear(&presence, MSG_HELLO, 2, 6 * MS);
    assert_true(answer.takes && !answer.has_come);
}

/* Its coordinator was killed, and it waits for an ACK of that run: it would
 * offer its result again and again, and never say HELLO. */
static void a_result_of_an_earlier_run_is_no_hello(void **state)
{
    struct dial_presence presence = { .where = DIAL_PRESENCE_AWAY };
    struct dial_presence_answer answer =
        hear_old(&presence, MSG_MEASURED, 1, 1 * MS);

    (void)state;
    assert_true(answer.invites && !answer.takes);
    answer = hear_old(&presence, MSG_BEAT, 1, 600 * MS);
    assert_true(answer.invites && !answer.takes);
    presence = here(); /* it offers them with their old epoch */
    answer = hear_old(&presence, MSG_MEASURED, 1, 700 * MS);
    assert_true(answer.takes && !answer.invites);
}

/* Many HELLO were queued before the coordinator listened. */
static void an_invitation_is_not_repeated_at_once(void **state)
{
    struct dial_presence presence = { .where = DIAL_PRESENCE_AWAY };

    (void)state;
    assert_true(hear_old(&presence, MSG_HELLO, 1, 1 * MS).invites);
    assert_false(hear_old(&presence, MSG_HELLO, 1, 500 * MS).invites);
    assert_true(hear_old(&presence, MSG_HELLO, 1, 501 * MS).invites);
    assert_false(hear_old(&presence, MSG_HELLO, 1, 502 * MS).invites);
    assert_true(hear_old(&presence, MSG_HELLO, 2, 503 * MS).invites);
}

/* It was frozen for longer than the coordinator waits, and does not know. */
static void one_that_was_given_up_is_asked_for_its_hello(void **state)
{
    struct dial_presence presence = here();
    struct dial_presence_answer answer;

    (void)state;
    assert_true(dial_presence_leave(&presence));
    assert_int_equal(dial_presence_next(&presence), DIAL_PRESENCE_BROKEN);
    assert_int_equal(dial_presence_next(&presence), DIAL_PRESENCE_WAITS);
    answer = hear(&presence, MSG_GPU, 1, 2 * MS); /* out of turn by now */
    assert_true(answer.invites && !answer.takes);
    answer = hear(&presence, MSG_MEASURED, 1, 3 * MS);
    assert_true(answer.takes && !answer.invites);
    answer = hear(&presence, MSG_HELLO, 1, 4 * MS);
    assert_true(answer.takes && answer.has_come);
}

/* ZeroMQ connects again by itself, and what was on its way is lost: perhaps
 * READY. */
static void a_connection_begins_with_hello(void **state)
{
    struct dial_presence presence = here();
    struct dial_presence_answer answer = hear(&presence, MSG_BEAT, 2, 2 * MS);

    (void)state;
    assert_true(answer.invites && !answer.takes);
    answer = hear(&presence, MSG_MEASURED, 2, 3 * MS);
    assert_true(answer.takes);
    answer = hear(&presence, MSG_HELLO, 2, 4 * MS);
    assert_true(answer.takes && !answer.invites && !answer.has_come);
    assert_true(hear(&presence, MSG_BEAT, 2, 5 * MS).takes);
    answer = hear(&presence, MSG_BEAT, 1, 6 * MS); /* late */
    assert_true(answer.invites && !answer.takes);
}

static void its_bye_is_told_before_it_comes_again(void **state)
{
    struct dial_presence presence = here();
    struct dial_presence_answer answer = hear(&presence, MSG_BYE, 1, 2 * MS);

    (void)state;
    assert_true(answer.takes && answer.has_left);
    assert_false(hear(&presence, MSG_HELLO, 2, 3 * MS).takes);
    assert_int_equal(dial_presence_next(&presence), DIAL_PRESENCE_BROKEN);
    assert_true(hear(&presence, MSG_HELLO, 2, 1003 * MS).has_come);
    assert_int_equal(dial_presence_next(&presence), DIAL_PRESENCE_WAITS);
    assert_int_equal(dial_presence_next(&presence), DIAL_PRESENCE_CAME);
    assert_int_equal(dial_presence_next(&presence), DIAL_PRESENCE_NOTHING);
}

static void the_bye_of_an_earlier_run_says_nothing(void **state)
{
    struct dial_presence presence = here();
    struct dial_presence_answer answer = hear_old(&presence, MSG_BYE, 2, 2);

    (void)state;
    assert_true(!answer.takes && !answer.invites && !answer.has_left);
    assert_int_equal(presence.where, DIAL_PRESENCE_HERE);
}

static void a_job_that_ended_says_that_once(void **state)
{
    struct dial_presence presence = { .where = DIAL_PRESENCE_AWAY };

    (void)state;
    dial_presence_tell(&presence, DIAL_PRESENCE_STARTED);
    dial_presence_job_ended(&presence);
    assert_int_equal(dial_presence_next(&presence), DIAL_PRESENCE_BROKEN);
    assert_int_equal(dial_presence_next(&presence), DIAL_PRESENCE_ENDED);
    assert_int_equal(dial_presence_next(&presence), DIAL_PRESENCE_WAITS);
    assert_int_equal(dial_presence_next(&presence), DIAL_PRESENCE_NOTHING);
    assert_false(dial_presence_leave(&presence));
}

static void one_that_is_dismissed_may_say_bye(void **state)
{
    struct dial_presence presence = here();

    (void)state;
    dial_presence_dismiss(&presence, true);
    assert_int_equal(dial_presence_next(&presence), DIAL_PRESENCE_LOST);
    assert_false(hear(&presence, MSG_HELLO, 1, 2 * MS).takes);
    assert_false(hear_old(&presence, MSG_HELLO, 1, 3 * MS).invites);
    assert_true(hear(&presence, MSG_BYE, 1, 4 * MS).takes);
    dial_presence_dismiss(&presence, false);
    assert_int_equal(dial_presence_next(&presence), DIAL_PRESENCE_NOTHING);
}

/* ---- two workers with one invitation */

static struct dial_presence_answer hello_of(struct dial_presence *presence,
                                            const char *machine, int64_t pid,
                                            uint64_t connection, int64_t at_ns)
{
    const struct msg_hello hello = { .host = machine,
                                     .boot_id = machine,
                                     .pid = pid };

    return dial_presence_hear(
        presence, &(struct dial_presence_message){ .type = MSG_HELLO,
                                                   .is_of_run = true,
                                                   .hello = &hello,
                                                   .connection = connection,
                                                   .at_ns = at_ns });
}

/* Process 1 of machine "a" is there, over connection 1. */
static struct dial_presence first_of_two(void)
{
    struct dial_presence presence = { .where = DIAL_PRESENCE_AWAY };

    assert_true(hello_of(&presence, "a", 1, 1, 1 * MS).takes);
    assert_int_equal(dial_presence_next(&presence), DIAL_PRESENCE_CAME);
    return presence;
}

static void the_second_is_sent_away_while_the_first_gives_signs(void **state)
{
    struct dial_presence presence = first_of_two();
    struct dial_presence_answer answer =
        hello_of(&presence, "b", 1, 2, 10 * MS);

    (void)state;
    assert_true(answer.of_rival && !answer.takes && !answer.refuses);
    assert_true(hear(&presence, MSG_BEAT, 1, 20 * MS).takes);
    answer = hello_of(&presence, "b", 1, 2, 1010 * MS);
    assert_true(answer.refuses && !answer.takes && !answer.invites);
    assert_int_equal(dial_presence_next(&presence), DIAL_PRESENCE_RIVAL);
    assert_string_equal(presence.rival.worker.machine, "b");
    answer = hear(&presence, MSG_BYE, 2, 1020 * MS);
    assert_true(answer.of_rival && !answer.takes && !answer.has_left);
    assert_true(hello_of(&presence, "b", 1, 3, 9000 * MS).refuses);
    assert_int_equal(dial_presence_next(&presence), DIAL_PRESENCE_NOTHING);
    assert_true(hear(&presence, MSG_BEAT, 1, 9010 * MS).takes);
}

static void a_second_of_the_same_machine_is_one_too(void **state)
{
    struct dial_presence presence = first_of_two();

    (void)state;
    assert_true(hello_of(&presence, "a", 2, 2, 10 * MS).of_rival);
}

static void the_second_takes_the_place_of_a_silent_first(void **state)
{
    struct dial_presence presence = first_of_two();
    struct dial_presence_answer answer =
        hello_of(&presence, "b", 1, 2, 10 * MS);

    (void)state;
    answer = hello_of(&presence, "b", 1, 2, 8009 * MS);
    assert_true(answer.of_rival && !answer.has_left);
    answer = hello_of(&presence, "b", 1, 2, 8010 * MS);
    assert_true(answer.has_left && !answer.takes);
    assert_int_equal(dial_presence_next(&presence), DIAL_PRESENCE_BROKEN);
    answer = hello_of(&presence, "b", 1, 2, 9010 * MS);
    assert_true(answer.takes && answer.has_come && !answer.of_rival);
}

static void the_first_over_another_connection_is_no_second(void **state)
{
    struct dial_presence presence = first_of_two();
    struct dial_presence_answer answer =
        hello_of(&presence, "a", 1, 5, 10 * MS);

    (void)state;
    assert_true(answer.takes && !answer.of_rival);
    assert_true(hear(&presence, MSG_BEAT, 5, 20 * MS).takes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_comes_with_the_hello_of_this_run),
        cmocka_unit_test(the_hello_of_another_run_is_answered_by_an_invitation),
        cmocka_unit_test(a_result_of_an_earlier_run_is_no_hello),
        cmocka_unit_test(an_invitation_is_not_repeated_at_once),
        cmocka_unit_test(one_that_was_given_up_is_asked_for_its_hello),
        cmocka_unit_test(a_connection_begins_with_hello),
        cmocka_unit_test(its_bye_is_told_before_it_comes_again),
        cmocka_unit_test(the_bye_of_an_earlier_run_says_nothing),
        cmocka_unit_test(a_job_that_ended_says_that_once),
        cmocka_unit_test(one_that_is_dismissed_may_say_bye),
        cmocka_unit_test(the_second_is_sent_away_while_the_first_gives_signs),
        cmocka_unit_test(a_second_of_the_same_machine_is_one_too),
        cmocka_unit_test(the_second_takes_the_place_of_a_silent_first),
        cmocka_unit_test(the_first_over_another_connection_is_no_second),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
