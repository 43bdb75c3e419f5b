#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "worker/resources/queue.h"

#define EPOCH 7

static struct lease *add(struct queue *queue, int64_t number, int place,
                         const char *a, const char *b)
{
    struct msg build = { .type = MSG_BUILD,
                         .epoch = EPOCH,
                         .build = { .work.lease = number, .bundle = a } };
    struct msg measure = { .type = MSG_MEASURE,
                           .epoch = EPOCH,
                           .measure = {
                               .work.lease = number,
                               .launch = { .artifact = a, .reference = b } } };
    struct msg msg = place == QUEUE_BUILDS ? build : measure;
    struct lease *lease;

    assert_int_equal(queue_add(queue, &msg, place, &lease, NULL), 0);
    return lease;
}

static void a_lease_waits_until_all_its_files_are_here(void **state)
{
    struct queue *queue = queue_new(1, 1, 2);
    struct lease *lease = add(queue, 1, 0, "aa", "bb");

    (void)state;
    assert_true(queue_lease_lacks(lease, "bb"));
    assert_null(queue_next(queue, 0));
    queue_arrived(queue, "bb");
    assert_false(queue_lease_lacks(lease, "bb"));
    assert_null(queue_next(queue, 0));
    queue_arrived(queue, "aa");
    assert_ptr_equal(queue_next(queue, 0), lease);
    queue_free(queue);
}

static void inputs_are_waited_for_too(void **state)
{
    static const char *const hashes[] = { "cc", "dd" };
    struct queue *queue = queue_new(1, 1, 2);
    struct msg msg = { .type = MSG_MEASURE,
                       .epoch = EPOCH,
                       .measure = { .work.lease = 1,
                                    .launch = { .artifact = "aa",
                                                .reference = "bb",
                                                .inputs = { hashes, 2 } } } };
    struct lease *lease;

    (void)state;
    assert_int_equal(queue_add(queue, &msg, 0, &lease, NULL), 0);
    assert_string_equal(lease->missing[LEASE_INPUTS + 1], "dd");
    queue_arrived(queue, "aa");
    queue_arrived(queue, "bb");
    queue_arrived(queue, "dd");
    assert_null(queue_next(queue, 0));
    assert_true(queue_lease_lacks(lease, "cc"));
    queue_arrived(queue, "cc");
    assert_ptr_equal(queue_next(queue, 0), lease);
    lease->msg.measure.launch.inputs = (struct texts){ NULL, 0 };
    queue_free(queue);
}

static void a_tool_waits_for_what_it_names_and_no_more(void **state)
{
    struct queue *queue = queue_new(1, 1, 2);
    struct msg msg = { .type = MSG_TOOL,
                       .epoch = EPOCH,
                       .tool = { .work.lease = 1,
                                 .launch = { .artifact = "", .reference = "" },
                                 .bundle = "aa" } };
    struct lease *lease;

    (void)state;
    assert_int_equal(queue_add(queue, &msg, 0, &lease, NULL), 0);
    assert_string_equal(lease->missing[LEASE_BUNDLE], "aa");
    assert_null(lease->missing[LEASE_ARTIFACT]);
    assert_null(queue_next(queue, 0));
    queue_arrived(queue, "aa");
    assert_ptr_equal(queue_next(queue, 0), lease);
    queue_free(queue);
}

static void a_file_that_is_both_arrives_once(void **state)
{
    struct queue *queue = queue_new(1, 1, 2);
    struct lease *lease = add(queue, 1, 0, "aa", "aa");

    (void)state;
    queue_lease_found(lease, "aa");
    assert_true(queue_lease_is_waiting(lease));
    queue_free(queue);
}

static void more_gpus_come_behind_the_others(void **state)
{
    struct queue *queue = queue_new(1, 1, 2);
    struct lease *first = add(queue, 1, 0, "aa", "aa"), *second;

    (void)state;
    queue_add_gpus(queue, 2);
    second = add(queue, 2, 1, "aa", "aa");
    queue_arrived(queue, "aa");
    assert_ptr_equal(queue_next(queue, 0), first);
    assert_ptr_equal(queue_next(queue, 1), second);
    queue_free(queue);
}

static void fewer_builds_run_while_the_cores_are_shared(void **state)
{
    struct queue *queue = queue_new(3, 0, 2);
    struct lease *leases[4];

    (void)state;
    for (int i = 0; i < 4; i++) { /* the credit is that of all slots */
        struct msg msg = { .type = MSG_BUILD,
                           .epoch = EPOCH,
                           .build = { .work.lease = i + 1, .bundle = "" } };
        struct err err;

        assert_int_equal(queue_add(queue, &msg, QUEUE_BUILDS, &leases[i], &err),
                         0);
    }
    queue_limit_builds(queue, 1);
    assert_ptr_equal(queue_next(queue, QUEUE_BUILDS), leases[0]);
    leases[0]->running = true;
    assert_null(queue_next(queue, QUEUE_BUILDS));
    queue_limit_builds(queue, 2);
    assert_ptr_equal(queue_next(queue, QUEUE_BUILDS), leases[1]);
    queue_limit_builds(queue, 99); /* never more than the slots */
    leases[1]->running = leases[2]->running = true;
    assert_null(queue_next(queue, QUEUE_BUILDS));
    queue_free(queue);
}

static void a_gpu_runs_one_and_holds_its_credit(void **state)
{
    struct queue *queue = queue_new(1, 2, 2);
    struct lease *first = add(queue, 1, 0, "aa", "bb"), *lease;
    struct lease *second = add(queue, 2, 0, "aa", "bb");
    struct lease *other = add(queue, 3, 1, "aa", "bb");
    struct msg msg = { .type = MSG_MEASURE,
                       .epoch = EPOCH,
                       .measure.work.lease = 4 };
    struct err err;

    (void)state;
    queue_arrived(queue, "aa");
    queue_arrived(queue, "bb");
    assert_ptr_equal(queue_next(queue, 0), first);
    first->running = true;
    assert_null(queue_next(queue, 0));
    assert_ptr_equal(queue_next(queue, 1), other);
    assert_int_equal(queue_add(queue, &msg, 0, &lease, &err), ERR_INPUT);
    assert_string_equal(err.text, "the worker is full (2 of 2 leases)");
    queue_remove(queue, first);
    assert_ptr_equal(queue_next(queue, 0), second);
    queue_free(queue);
}

static void builds_run_in_their_slots_and_one_waits(void **state)
{
    struct queue *queue = queue_new(2, 0, 2);
    struct msg msg = { .type = MSG_BUILD,
                       .epoch = EPOCH,
                       .build.work.lease = 9 };
    struct lease *lease;

    (void)state;
    for (int i = 1; i <= 3; i++)
        add(queue, i, QUEUE_BUILDS, "aa", NULL);
    assert_int_equal(queue_add(queue, &msg, QUEUE_BUILDS, &lease, NULL),
                     ERR_INPUT);
    queue_arrived(queue, "aa");
    for (int i = 1; i <= 2; i++) {
        lease = queue_next(queue, QUEUE_BUILDS);
        assert_int_equal(lease->msg.build.work.lease, i);
        lease->running = true;
    }
    assert_null(queue_next(queue, QUEUE_BUILDS));
    assert_int_equal(queue_running(queue), 2);
    queue_free(queue);
}

static void what_lacks_files_is_overtaken(void **state)
{
    struct queue *queue = queue_new(1, 0, 1);

    (void)state;
    add(queue, 1, QUEUE_BUILDS, "late", NULL);
    add(queue, 2, QUEUE_BUILDS, "here", NULL);
    queue_arrived(queue, "here");
    assert_int_equal(queue_next(queue, QUEUE_BUILDS)->msg.build.work.lease, 2);
    queue_free(queue);
}

static void a_lease_is_known_by_epoch_and_number(void **state)
{
    struct queue *queue = queue_new(1, 0, 1);
    struct lease *lease = add(queue, 5, QUEUE_BUILDS, "aa", NULL), *again;
    struct msg msg = { .type = MSG_BUILD,
                       .epoch = EPOCH,
                       .build.work.lease = 5 };
    struct err err;

    (void)state;
    assert_ptr_equal(queue_find(queue, EPOCH, 5), lease);
    assert_null(queue_find(queue, EPOCH + 1, 5));
    assert_ptr_equal(queue_numbered(queue, lease->number), lease);
    assert_int_equal(queue_add(queue, &msg, QUEUE_BUILDS, &again, &err),
                     ERR_INPUT);
    assert_string_equal(err.text, "the worker has lease 5 already");
    queue_free(queue);
}

/* The numbers of another run mean other leases. */
static void a_lease_is_cancelled_by_number_or_by_identity(void **state)
{
    static const char *const running[] = { "s/k/n/profile/0/tool/1",
                                           "s/k/n/canary/2/measure/1" };
    const struct msg_identity id = { .sweep = "s",
                                     .config = "k",
                                     .shape = "n",
                                     .purpose = "canary",
                                     .round = 2,
                                     .stage = "measure",
                                     .attempt = 1 };
    const struct msg_cancel number = { .lease = 5 };
    const struct msg_cancel second = { .running = { running, 2 } };
    const struct msg_cancel first = { .running = { running, 1 } };
    struct lease lease = { .msg = {
                               .type = MSG_MEASURE,
                               .epoch = EPOCH,
                               .measure.work = { .lease = 5, .id = id } } };

    (void)state;
    assert_true(queue_lease_is_cancelled(&lease, EPOCH, &number));
    assert_false(queue_lease_is_cancelled(&lease, EPOCH + 1, &number));
    assert_true(queue_lease_is_cancelled(&lease, EPOCH + 1, &second));
    assert_false(queue_lease_is_cancelled(&lease, EPOCH, &second));
    assert_false(queue_lease_is_cancelled(&lease, EPOCH + 1, &first));
}

static void a_new_epoch_keeps_only_what_runs(void **state)
{
    struct queue *queue = queue_new(2, 1, 2);
    struct lease *lease;

    (void)state;
    add(queue, 1, QUEUE_BUILDS, "aa", NULL);
    lease = add(queue, 2, QUEUE_BUILDS, "aa", NULL);
    add(queue, 3, 0, "aa", "bb");
    lease->running = true;
    assert_int_equal(queue_drop_idle(queue), 2);
    assert_ptr_equal(queue_first(queue), lease);
    assert_null(lease->next);
    queue_free(queue);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lease_waits_until_all_its_files_are_here),
        cmocka_unit_test(inputs_are_waited_for_too),
        cmocka_unit_test(a_tool_waits_for_what_it_names_and_no_more),
        cmocka_unit_test(a_file_that_is_both_arrives_once),
        cmocka_unit_test(more_gpus_come_behind_the_others),
        cmocka_unit_test(fewer_builds_run_while_the_cores_are_shared),
        cmocka_unit_test(a_gpu_runs_one_and_holds_its_credit),
        cmocka_unit_test(builds_run_in_their_slots_and_one_waits),
        cmocka_unit_test(what_lacks_files_is_overtaken),
        cmocka_unit_test(a_lease_is_known_by_epoch_and_number),
        cmocka_unit_test(a_lease_is_cancelled_by_number_or_by_identity),
        cmocka_unit_test(a_new_epoch_keeps_only_what_runs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
