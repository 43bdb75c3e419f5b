/* test_stored_ready.c - the driver, toolkit and boot under which a result was
 * measured */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/store/store_held.h"
#include "coordinator/stored/stored_ready.h"
#include "tests/coordinator/store/store_fixture.h"

#define OF_RESULT(nonce, what)                                            \
    "SELECT count(*) FROM result r" STORED_READY " WHERE r.nonce='" nonce \
    "' AND " what

static void ok(int rc, const struct err *err)
{
    if (rc < 0)
        fail_msg("%s", err->text);
}

static void put_ready(struct store *store, int64_t at, const char *driver,
                      const char *boot)
{
    struct store_ready row = { "gpu1", "GPU-1", at, driver, boot, "1", "nvcc" };
    struct err err;

    ok(store_ready_put(store, &row, &err), &err);
}

/* Leased at 'at', measured, and delivered later. */
static void put_result(struct store *store, const char *nonce, int64_t attempt,
                       int64_t at)
{
    struct store_lease lease = { .epoch = FIXTURE_EPOCH,
                                 .id = attempt,
                                 .config = FIXTURE_KEY,
                                 .shape = "n16m",
                                 .purpose = "screen",
                                 .stage = "measure",
                                 .attempt = attempt,
                                 .host = "gpu1",
                                 .gpu = "GPU-1",
                                 .leased_utc = at };
    struct store_result result = fixture_result(nonce, FIXTURE_KEY);
    struct err err;

    result.attempt = attempt;
    result.evidence = true;
    result.received_utc = 1000;
    ok(store_lease_put(store, &lease, &err), &err);
    ok(store_result_put(store, &result, &err), &err);
}

/* The worker kept the first result in its journal while its host got another
 * driver and was started again. */
static void a_result_has_the_driver_under_which_it_was_measured(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);

    fixture_owners(store, FIXTURE_KEY);
    put_ready(store, 10, "550.54", "boot-1");
    put_result(store, "n1", 1, 20);
    put_ready(store, 30, "570.10", "boot-2");
    put_result(store, "n2", 2, 40);
    assert_int_equal(
        fixture_number(store, OF_RESULT("n1", "y.driver='550.54' AND"
                                              " y.boot_id='boot-1'")),
        1);
    assert_int_equal(
        fixture_number(store, OF_RESULT("n2", "y.driver='570.10' AND"
                                              " y.boot_id='boot-2'")),
        1);
    store_close(store);
}

static void what_is_not_known_is_null(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);

    fixture_owners(store, FIXTURE_KEY);
    put_result(store, "n1", 1, 20);
    put_ready(store, 30, "570.10", "boot-2");
    assert_int_equal(fixture_number(store, OF_RESULT("n1", "y.driver IS NULL")),
                     1);
    store_close(store);
}

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_result_has_the_driver_under_which_it_was_measured),
        TEST(what_is_not_known_is_null),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
