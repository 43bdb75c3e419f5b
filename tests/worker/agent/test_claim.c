#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "worker/agent/claim.h"

static const struct invite ada = {
    .epoch = 100,
    .owner = { .id = "00000000000000000000000000000001",
               .user = "ada",
               .machine = "laptop",
               .database = "/home/ada/flash/flash.db",
               .pid = 4711,
               .since_utc = INT64_C(1795341662000000000) },
};

static struct invite other(int64_t epoch)
{
    struct invite invite = ada;

    invite.epoch = epoch;
    invite.owner.id[0] = 'f';
    invite.owner.pid = 12;
    return invite;
}

static void the_first_invitation_is_accepted(void **state)
{
    (void)state;
    assert_int_equal(claim_check(NULL, 0, true, &ada, NULL), 0);
}

static void another_sweep_is_told_whose_worker_it_is(void **state)
{
    struct invite newer = other(200), older = other(50);
    struct err err;

    (void)state;
    assert_int_equal(claim_check(&ada, 4 * NS_PER_S, true, &newer, &err),
                     ERR_AUTH);
    assert_string_equal(
        err.text, "its worker serves another sweep: ada@laptop, pid 4711, "
                  "/home/ada/flash/flash.db, since 2026-11-22T10:01:02Z; wait "
                  "for it, or give this sweep another workdir=");
    assert_int_equal(claim_check(&ada, 4 * NS_PER_S, true, &older, &err),
                     ERR_AUTH);
}

static void an_owner_that_is_silent_gives_way_whatever_its_epoch(void **state)
{
    struct invite newer = other(200), older = other(50);

    (void)state;
    assert_int_equal(claim_check(&ada, 29 * NS_PER_S, true, &newer, NULL),
                     ERR_AUTH);
    assert_int_equal(claim_check(&ada, 30 * NS_PER_S, true, &newer, NULL), 0);
    assert_int_equal(claim_check(&ada, 30 * NS_PER_S, true, &older, NULL), 0);
}

static void an_owner_that_is_gone_may_come_back_for_a_while(void **state)
{
    struct invite newer = other(200);

    (void)state;
    assert_int_equal(claim_check(&ada, 9 * NS_PER_S, false, &newer, NULL),
                     ERR_NETWORK);
    assert_int_equal(claim_check(&ada, 10 * NS_PER_S, false, &newer, NULL), 0);
}

static void a_resumed_sweep_gets_its_worker_back_at_once(void **state)
{
    struct invite resumed = ada, stale = ada;
    struct err err;

    (void)state;
    resumed.epoch = 101;
    resumed.owner.pid = 12;
    assert_int_equal(claim_check(&ada, 4 * NS_PER_S, true, &resumed, NULL), 0);
    assert_int_equal(claim_check(&ada, 4 * NS_PER_S, true, &ada, NULL), 0);
    stale.epoch = 99;
    assert_int_equal(claim_check(&ada, 4 * NS_PER_S, true, &stale, &err),
                     ERR_AUTH);
    assert_string_equal(err.text, "the worker refuses: older epoch");
}

static void a_process_may_continue_with_another_database(void **state)
{
    struct invite proof = other(50);

    (void)state;
    proof.owner.pid = ada.owner.pid;
    assert_int_equal(claim_check(&ada, 4 * NS_PER_S, true, &proof, NULL), 0);
}

static void long_names_leave_room_for_what_to_do(void **state)
{
    struct invite now = ada, newcomer = other(1);
    const char *end = "another workdir=";
    struct err err;

    (void)state;
    memset(now.owner.user, 'u', sizeof(now.owner.user) - 1);
    memset(now.owner.machine, 'm', sizeof(now.owner.machine) - 1);
    memset(now.owner.database, 'd', sizeof(now.owner.database) - 1);
    assert_int_equal(claim_check(&now, 0, true, &newcomer, &err), ERR_AUTH);
    assert_string_equal(err.text + strlen(err.text) - strlen(end), end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_invitation_is_accepted),
        cmocka_unit_test(another_sweep_is_told_whose_worker_it_is),
        cmocka_unit_test(an_owner_that_is_silent_gives_way_whatever_its_epoch),
        cmocka_unit_test(an_owner_that_is_gone_may_come_back_for_a_while),
        cmocka_unit_test(a_resumed_sweep_gets_its_worker_back_at_once),
        cmocka_unit_test(a_process_may_continue_with_another_database),
        cmocka_unit_test(long_names_leave_room_for_what_to_do),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
