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
               .command = "11111111111111111111111111111111",
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

/* Ada's worker, whose relay is connected; heard 4 s ago. */
static struct claim_owner adas(void)
{
    return (struct claim_owner){ .invite = &ada,
                                 .gpus = "0,1",
                                 .attached = true,
                                 .invited_ns = 60 * NS_PER_S,
                                 .silent_ns = 4 * NS_PER_S,
                                 .ends_ns = 101 * NS_PER_S };
}

static void the_first_invitation_is_accepted(void **state)
{
    const struct claim_owner nobody = { .gpus = "" };

    (void)state;
    assert_int_equal(claim_check(&nobody, &ada, NULL), 0);
}

static void another_sweep_is_told_whose_worker_it_is(void **state)
{
    struct invite newer = other(200), older = other(50);
    struct claim_owner owner = adas();
    struct err err;

    (void)state;
    assert_int_equal(claim_check(&owner, &newer, &err), CLAIM_BUSY);
    assert_string_equal(
        err.text, "its worker serves another sweep: ada@laptop, pid 4711, "
                  "/home/ada/flash/flash.db, since 2026-11-22T10:01:02Z, on "
                  "GPU 0,1");
    assert_int_equal(claim_check(&owner, &older, &err), CLAIM_BUSY);
    owner.gpus = "";
    assert_int_equal(claim_check(&owner, &newer, &err), CLAIM_BUSY);
    assert_non_null(strstr(err.text, "10:01:02Z"));
    assert_null(strstr(err.text, "GPU"));
}

static void an_orphan_is_nobodys_before_it_has_ended(void **state)
{
    struct invite newer = other(200);
    struct claim_owner owner = adas();
    struct err err;

    (void)state;
    owner.attached = false;
    owner.silent_ns = 104 * NS_PER_S;
    owner.ends_ns = 1 * NS_PER_S - 1;
    assert_int_equal(claim_check(&owner, &newer, &err), CLAIM_BUSY);
    assert_string_equal(
        err.text, "its worker waits for another sweep: ada@laptop, pid 4711, "
                  "/home/ada/flash/flash.db, since 2026-11-22T10:01:02Z; it is "
                  "free in at most 1 s");
    owner.dismissed = true;
    assert_int_equal(claim_check(&owner, &newer, &err), CLAIM_BUSY);
}

/* The refusal shows all of them. */
static void the_names_of_the_owner_are_not_enough(void **state)
{
    struct invite forged = ada;
    struct claim_owner owner = adas();
    struct err err;

    (void)state;
    forged.owner.id[0] = 'f';
    forged.epoch++;
    assert_int_equal(claim_check(&owner, &forged, &err), CLAIM_BUSY);
    assert_null(strstr(err.text, ada.owner.id));
}

static void a_resumed_sweep_gets_its_worker_back_at_once(void **state)
{
    struct invite resumed = ada, stale = ada;
    struct claim_owner owner = adas();
    struct err err;

    (void)state;
    resumed.epoch = 101;
    resumed.owner.pid = 12;
    assert_int_equal(claim_check(&owner, &resumed, NULL), 0);
    assert_int_equal(claim_check(&owner, &ada, NULL), 0);
    stale.epoch = 99;
    assert_int_equal(claim_check(&owner, &stale, &err), ERR_AUTH);
    assert_string_equal(err.text, "the worker refuses: older epoch");
}

/* Its database is another one, and so are its epochs. */
static void the_next_step_of_its_command_has_a_worker_that_is_kept(void **state)
{
    struct invite step = other(50), newer = other(200);
    struct claim_owner owner = adas();
    struct err err;

    (void)state;
    newer.owner.command[0] = 'f';
    assert_int_equal(claim_check(&owner, &step, &err), CLAIM_BUSY);
    owner.attached = false;
    owner.kept = true;
    assert_int_equal(claim_check(&owner, &step, &err), 0);
    assert_int_equal(claim_check(&owner, &newer, &err), CLAIM_BUSY);
    assert_non_null(strstr(err.text, "its worker serves another sweep"));
    newer = ada;
    newer.owner.command[0] = 'f'; /* the same sweep, started again */
    assert_int_equal(claim_check(&owner, &newer, &err), 0);
}

static void an_older_epoch_is_taken_when_the_newer_one_is_gone(void **state)
{
    struct invite older = ada;
    struct claim_owner owner = adas();

    (void)state;
    older.epoch = 99;
    owner.silent_ns = 30 * NS_PER_S;
    assert_int_equal(claim_check(&owner, &older, NULL), 0);
    owner.silent_ns = 30 * NS_PER_S - 1;
    assert_int_equal(claim_check(&owner, &older, NULL), ERR_AUTH);
    owner.attached = false;
    assert_int_equal(claim_check(&owner, &older, NULL), 0);
    owner.silent_ns = 10 * NS_PER_S - 1;
    assert_int_equal(claim_check(&owner, &older, NULL), ERR_AUTH);
    owner.dismissed = true;
    assert_int_equal(claim_check(&owner, &older, NULL), 0);
}

static void an_absurd_epoch_is_refused(void **state)
{
    const struct claim_owner nobody = { .gpus = "" };
    struct claim_owner owner = adas();
    struct invite later = ada;
    struct err err;

    (void)state;
    later.epoch = CLAIM_EPOCH_MAX + 1;
    assert_int_equal(claim_check(&nobody, &later, &err), ERR_AUTH);
    assert_string_equal(err.text,
                        "the worker refuses: an epoch after the year 2100; is "
                        "the coordinator's clock right?");
    later.epoch = CLAIM_EPOCH_MAX;
    assert_int_equal(claim_check(&nobody, &later, NULL), 0);
    assert_int_equal(claim_check(&owner, &later, &err), ERR_AUTH);
    later.epoch = ada.epoch + owner.invited_ns + CLAIM_EPOCH_STEP_NS;
    assert_int_equal(claim_check(&owner, &later, NULL), 0);
    later.epoch = ada.epoch + 3 * CLAIM_EPOCH_STEP_NS;
    assert_int_equal(claim_check(&owner, &later, &err), ERR_AUTH);
    assert_string_equal(err.text,
                        "the worker refuses: an epoch 3.0 days after its own; "
                        "is the coordinator's clock right?");
}

static void endpoints_are_of_the_kind_that_it_began_with(void **state)
{
    static const struct {
        const char *endpoint;
        bool tcp, taken;
    } rows[] = {
        { "ipc:///w/relay-12.sock", false, true },
        { "ipc:///w/relay-12.sock", true, true },
        { "tcp://10.0.0.1:5", true, true },
        { "tcp://10.0.0.1:5", false, false },
        { "ipc:///w/control.sock", false, false },
        { "ipc:///tmp/relay-12.sock", false, false },
        { "ipc:///w/relay-12.sock.evil", false, false },
        { "ipc:///w/relay-../../tmp/12.sock", false, false },
        { "relay", false, false },
    };
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_int_equal(
            claim_endpoint("/w", rows[i].tcp, rows[i].endpoint, &err),
            rows[i].taken ? 0 : ERR_AUTH);
}

static void
the_other_end_of_a_dialled_connection_leads_to_its_later_runs(void **state)
{
    struct invite next = { .epoch = ada.epoch + 5, .owner.id = "else" };
    struct claim_owner owner = adas();
    struct err err;

    (void)state;
    memcpy(next.server_key, ada.server_key, sizeof(next.server_key));
    assert_int_equal(claim_follow(&owner, &next, &err), 0);
    next.epoch = ada.epoch - 1;
    assert_int_equal(claim_follow(&owner, &next, &err), ERR_AUTH);
    next.epoch = CLAIM_EPOCH_MAX + 1;
    assert_int_equal(claim_follow(&owner, &next, &err), ERR_AUTH);
    next.epoch = ada.epoch + 5;
    next.server_key[0] ^= 1;
    assert_int_equal(claim_follow(&owner, &next, &err), ERR_AUTH);
    assert_string_equal(err.text, "the worker refuses: another server key");
}

/* The coordinator does not know a worker that thinks it is known. */
static void an_invitation_to_its_own_run_asks_for_hello(void **state)
{
    struct invite again = ada, foreign = ada;
    struct claim_owner owner = adas();
    struct err err;

    (void)state;
    assert_int_equal(claim_follow(&owner, &again, &err), CLAIM_AGAIN);
    foreign.server_key[0] ^= 1;
    assert_int_equal(claim_follow(&owner, &foreign, &err), ERR_AUTH);
}

/* The clock of its coordinator was set back between two steps. */
static void it_follows_to_an_older_epoch_when_its_own_is_over(void **state)
{
    struct invite next = other(ada.epoch - 1);
    struct claim_owner owner = adas();
    struct err err;

    (void)state;
    assert_int_equal(claim_follow(&owner, &next, &err), ERR_AUTH);
    owner.kept = true;
    assert_int_equal(claim_follow(&owner, &next, &err), 0);
    next.owner.command[0] = 'f';
    assert_int_equal(claim_follow(&owner, &next, &err), ERR_AUTH);
    owner.kept = false;
    owner.silent_ns = CLAIM_GONE_NS;
    assert_int_equal(claim_follow(&owner, &next, &err), 0);
}

static void only_messages_of_its_own_run_are_taken(void **state)
{
    (void)state;
    assert_int_equal(claim_message(100, 100), CLAIM_TAKE);
    assert_int_equal(claim_message(100, 101), CLAIM_GREET);
    assert_int_equal(claim_message(100, 99), CLAIM_DROP);
}

static void long_names_leave_room_for_the_gpus(void **state)
{
    struct invite now = ada, newcomer = other(1);
    const char *end = "GPU 0,1,2,3,4,5,6,7,8,9,10,11,12,13,14";
    struct claim_owner owner = adas();
    struct err err;

    (void)state;
    memset(now.owner.user, 'u', sizeof(now.owner.user) - 1);
    memset(now.owner.machine, 'm', sizeof(now.owner.machine) - 1);
    memset(now.owner.database, 'd', sizeof(now.owner.database) - 1);
    owner.invite = &now;
    owner.gpus = end + 4;
    assert_true(strlen(owner.gpus) < CLAIM_GPUS_BYTES);
    assert_int_equal(claim_check(&owner, &newcomer, &err), CLAIM_BUSY);
    assert_string_equal(err.text + strlen(err.text) - strlen(end), end);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_first_invitation_is_accepted),
        cmocka_unit_test(another_sweep_is_told_whose_worker_it_is),
        cmocka_unit_test(an_orphan_is_nobodys_before_it_has_ended),
        cmocka_unit_test(the_names_of_the_owner_are_not_enough),
        cmocka_unit_test(a_resumed_sweep_gets_its_worker_back_at_once),
        cmocka_unit_test(
            the_next_step_of_its_command_has_a_worker_that_is_kept),
        cmocka_unit_test(an_older_epoch_is_taken_when_the_newer_one_is_gone),
        cmocka_unit_test(an_absurd_epoch_is_refused),
        cmocka_unit_test(endpoints_are_of_the_kind_that_it_began_with),
        cmocka_unit_test(
            the_other_end_of_a_dialled_connection_leads_to_its_later_runs),
        cmocka_unit_test(an_invitation_to_its_own_run_asks_for_hello),
        cmocka_unit_test(it_follows_to_an_older_epoch_when_its_own_is_over),
        cmocka_unit_test(only_messages_of_its_own_run_are_taken),
        cmocka_unit_test(long_names_leave_room_for_the_gpus),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
