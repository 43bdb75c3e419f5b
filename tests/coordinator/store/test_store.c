#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <fcntl.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"
#include "coordinator/sql/checksum.h"
#include "coordinator/sql/sql.h"
#include "tests/coordinator/store/store_fixture.h"

static void a_result_is_kept_once_and_counted_once(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct store_result first = fixture_result("n1", "c1");
    struct store_result late = fixture_result("n2", "c1");
    struct err err;

    assert_int_equal(store_result_put(store, &first, &err), 1);
    assert_int_equal(store_result_put(store, &first, &err), 0);
    assert_int_equal(store_result_put(store, &late, &err), 2);
    assert_int_equal(store_result_put(store, &late, &err), 0);
    assert_int_equal(store_repeats(store), 2);
    assert_int_equal(store_commit(store, &err), 0);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM result"), 2);
    assert_int_equal(
        fixture_number(store, "SELECT count(*) FROM result WHERE counted"), 1);
    store_close(store);
}

static void an_epoch_is_later_than_all_before_whatever_the_clock(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct store_run run = { .epoch = 5000, .pid = 1 };
    struct store_sweep sweep = fixture_sweep("k1");
    int64_t epoch = 0, id;
    struct err err;

    assert_int_equal(store_next_epoch(store, 4000, &epoch, &err), 0);
    assert_int_equal(epoch, 4000);
    assert_int_equal(store_run_start(store, &run, &err), 0);
    assert_int_equal(store_next_epoch(store, 4000, &epoch, &err), 0);
    assert_int_equal(epoch, 5001);
    assert_int_equal(store_next_epoch(store, 5000, &epoch, &err), 0);
    assert_int_equal(epoch, 5001);
    assert_int_equal(store_next_epoch(store, 9000, &epoch, &err), 0);
    assert_int_equal(epoch, 9000);
    sweep.created_utc = 9500;
    assert_int_equal(store_sweep_put(store, &sweep, &id, &err), 0);
    assert_int_equal(store_next_epoch(store, 9000, &epoch, &err), 0);
    assert_int_equal(epoch, 9501);
    store_close(store);
}

static void a_database_keeps_its_own_name(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    char *path = mem_printf("%s.other", (char *)*state);
    char first[HASH_HEX], again[HASH_HEX], other[HASH_HEX];
    struct err err;

    assert_int_equal(store_owner(store, first, &err), 0);
    store_close(store);
    store = fixture_open(*state, STORE_WRITE);
    assert_int_equal(store_owner(store, again, &err), 0);
    store_close(store);
    store = fixture_open(path, STORE_CREATE);
    assert_int_equal(store_owner(store, other, &err), 0);
    store_close(store);
    assert_string_equal(first, again);
    assert_string_not_equal(first, other);
    remove(path);
    free(path);
    path = mem_printf("%s.other.lock", (char *)*state);
    remove(path);
    free(path);
}

static void a_database_without_a_name_says_so(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    char name[HASH_HEX];
    struct err err;

    assert_int_equal(sql_run(store_db(store), "DELETE FROM owner", &err), 0);
    assert_int_equal(store_owner(store, name, &err), ERR_STORE);
    assert_non_null(strstr(err.text, "its name is missing from 'owner'"));
    store_close(store);
}

static struct store_tool tool_row(const char *nonce, int64_t round)
{
    return (struct store_tool){ .nonce = nonce,
                                .epoch = FIXTURE_EPOCH,
                                .purpose = "external",
                                .name = "torch",
                                .config = "c1",
                                .shape = "n16m",
                                .round = round,
                                .attempt = 1,
                                .key = "e7",
                                .host = "gpu1",
                                .gpu = "GPU-1",
                                .outcome = "ran",
                                .output = "{}",
                                .seconds = 4 };
}

static void a_run_of_a_tool_is_kept_once_and_counted_once(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct store_tool first = tool_row("n1", 10001);
    struct store_tool late = tool_row("n2", 10001);
    struct store_tool next = tool_row("n3", 10002);
    struct err err;

    fixture_owners(store, "c1");
    assert_int_equal(store_tool_put(store, &first, &err), 1);
    assert_int_equal(store_tool_put(store, &first, &err), 0);
    assert_int_equal(store_tool_put(store, &late, &err), 2);
    assert_int_equal(store_tool_put(store, &next, &err), 1);
    assert_int_equal(store_commit(store, &err), 0);
    assert_int_equal(
        fixture_number(store, "SELECT count(*) FROM tool WHERE counted"), 2);
    store_close(store);
}

static void evidence_leaves_room_for_the_result_that_counts(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct store_result doubted = fixture_result("n1", "c1");
    struct store_result alone = fixture_result("n2", "c1");
    struct err err;

    doubted.evidence = true;
    assert_int_equal(store_result_put(store, &doubted, &err), 2);
    assert_int_equal(store_result_put(store, &alone, &err), 1);
    store_close(store);
}

static void a_result_of_other_sources_counts_too(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct store_result before = fixture_result("n1", "c1");
    struct store_result after = fixture_result("n2", "c1");
    struct err err;

    after.id.source_key = "5d";
    assert_int_equal(store_result_put(store, &before, &err), 1);
    assert_int_equal(store_result_put(store, &after, &err), 1);
    store_close(store);
}

static void a_build_is_counted_once(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct store_build first = fixture_build("n1", "c1");
    struct store_build again = fixture_build("n2", "c1");
    struct err err;

    fixture_owners(store, "c1");
    assert_int_equal(store_build_put(store, &first, &err), 1);
    assert_int_equal(store_build_put(store, &first, &err), 0);
    assert_int_equal(store_build_put(store, &again, &err), 2);
    store_close(store);
}

static void samples_are_stored_as_exact_numbers(void **state)
{
    static const double samples[] = { 0.000676352, 1.0 / 3, NAN };
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct store_result result = fixture_result("n1", "c1");
    struct sqlite3_stmt *stmt;
    struct err err;

    result.timing.samples = (struct reals){ samples, 3 };
    assert_int_equal(store_result_put(store, &result, &err), 1);
    assert_int_equal(
        sql_prepare(store_db(store), "SELECT samples FROM result", &stmt, &err),
        0);
    assert_int_equal(sql_step(stmt, &err), 1);
    assert_string_equal(sql_text(stmt, 0),
                        "[0.000676352,0.33333333333333331,null]");
    sql_free(stmt);
    store_close(store);
}

static void the_checksum_of_a_row_read_back_is_the_stored_one(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct store_result result = fixture_result("n1", "c1");
    struct sql_value values[SQL_VALUES_MAX];
    struct sqlite3_stmt *stmt;
    char sum[HASH_HEX];
    struct err err;
    size_t n;

    result.error.relative_l2 = -0.0;
    result.error.max_error = NAN;
    assert_int_equal(store_result_put(store, &result, &err), 1);
    assert_int_equal(
        sql_prepare(store_db(store), "SELECT * FROM result", &stmt, &err), 0);
    assert_int_equal(sql_step(stmt, &err), 1);
    n = sql_row(stmt, values);
    assert_int_equal(n, 37);
    checksum_row(values, n - 1, sum);
    assert_string_equal(sum, values[n - 1].text);
    sql_free(stmt);
    store_close(store);
}

static void a_later_round_takes_the_place_of_an_earlier(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct store_result first = fixture_result("n0", "c1");
    struct store_result third = fixture_result("n2", "c1");
    struct store_outcome outcome = { .config = "c1",
                                     .shape = "n16m",
                                     .source_key = "5c",
                                     .measure_key = "3e",
                                     .outcome = "correct",
                                     .reason = "",
                                     .nonce = "n0",
                                     .median_s = 1 };
    struct err err;

    fixture_owners(store, "c1");
    third.id.round = 2;
    assert_int_equal(store_result_put(store, &first, &err), 1);
    assert_int_equal(store_result_put(store, &third, &err), 1);
    assert_int_equal(store_outcome_put(store, &outcome, &err), 1);
    outcome.nonce = "n2";
    assert_int_equal(store_outcome_put(store, &outcome, &err), 1);
    outcome.nonce = "n0";
    assert_int_equal(store_outcome_put(store, &outcome, &err), 0);
    assert_int_equal(
        fixture_number(store, "SELECT count(*) FROM outcome WHERE nonce='n2'"),
        1);
    store_close(store);
}

static void only_lost_and_crash_give_way(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct store_outcome outcome = { .config = "c1",
                                     .shape = "n16m",
                                     .source_key = "5c",
                                     .measure_key = "3e",
                                     .outcome = "lost",
                                     .reason = "three hosts vanished",
                                     .median_s = NAN };
    struct err err;

    fixture_owners(store, "c1");
    assert_int_equal(store_outcome_put(store, &outcome, &err), 1);
    outcome.outcome = "correct";
    assert_int_equal(store_outcome_put(store, &outcome, &err), 1);
    outcome.outcome = "timeout";
    assert_int_equal(store_outcome_put(store, &outcome, &err), 0);
    assert_int_equal(
        fixture_number(store, "SELECT count(*) FROM outcome"
                              " WHERE outcome='correct' AND nonce IS NULL"),
        1);
    store_close(store);
}

static void the_sweep_that_was_put_last_is_the_current_one(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct store_sweep one = fixture_sweep("k1"), two = fixture_sweep("k2");
    int64_t first, second, again;
    struct err err;

    assert_int_equal(store_sweep_put(store, &one, &first, &err), 0);
    one.created_utc += 5; /* the same once more: still as old */
    assert_int_equal(store_sweep_put(store, &one, &again, &err), 0);
    assert_int_equal(again, first);
    two.created_utc += 10;
    assert_int_equal(store_sweep_put(store, &two, &second, &err), 0);
    assert_true(fixture_number(store, "SELECT min(created_utc) FROM sweep") ==
                one.created_utc - 5);
    one.created_utc += 15; /* back to the first file */
    assert_int_equal(store_sweep_put(store, &one, &again, &err), 0);
    assert_int_equal(again, first);
    assert_int_equal(
        fixture_number(store, "SELECT id FROM sweep ORDER BY created_utc DESC"),
        first);
    store_close(store);
}

static void an_interval_is_extended_in_place(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct store_interval interval = { .host = "gpu1",
                                       .epoch = FIXTURE_EPOCH,
                                       .start_ns = 10,
                                       .end_ns = 20,
                                       .start_utc = 30,
                                       .category = "idle" };
    struct err err;

    fixture_owners(store, "c1");
    assert_int_equal(store_interval_put(store, &interval, &err), 0);
    interval.end_ns = 50;
    assert_int_equal(store_interval_put(store, &interval, &err), 0);
    assert_int_equal(fixture_number(store, "SELECT sum(end_ns - start_ns)"
                                           " FROM interval"),
                     40);
    store_close(store);
}

static void after_an_error_nothing_is_written_until_rollback(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct store_result result = fixture_result("n1", "c1");
    struct store_run run = { .epoch = 7, .machine = "m" };
    struct err err;

    assert_int_equal(store_run_start(store, &run, &err), 0);
    assert_int_equal(store_commit(store, &err), 0);
    assert_int_equal(store_result_put(store, &result, &err), 1);
    assert_int_equal(store_run_start(store, &run, &err), ERR_STORE);
    assert_non_null(strstr(
        err.text, "sweep.db: run_start: UNIQUE constraint failed: run.epoch"));
    assert_int_equal(store_commit(store, &err), ERR_STORE);
    assert_int_equal(store_result_put(store, &result, &err), ERR_STORE);
    store_rollback(store);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM result"), 0);
    assert_int_equal(store_result_put(store, &result, &err), 1);
    assert_int_equal(store_commit(store, &err), 0);
    assert_int_equal(store_pending(store), 0);
    store_close(store);
}

/* What another program did to the file. */
static void nothing_is_committed_to_a_file_that_has_gone(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct store_result row = fixture_result("n1", "c1");
    char *aside = mem_printf("%s.aside", (char *)*state);
    struct err err;

    fixture_owners(store, "c1");
    assert_int_equal(store_commit(store, &err), 0);
    assert_int_equal(store_result_put(store, &row, &err), 1);
    assert_int_equal(rename(*state, aside), 0);
    assert_int_equal(store_commit(store, &err), ERR_STORE);
    assert_non_null(strstr(err.text, "was deleted, moved or replaced"));
    assert_int_equal(store_begin(store, &err), ERR_STORE);
    assert_int_equal(rename(aside, *state), 0);
    store_close(store);
    store = fixture_open(*state, STORE_WRITE);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM result"), 0);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM config"), 1);
    store_close(store);
    free(aside);
}

static void what_was_not_committed_is_not_there(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct store_result result = fixture_result("n1", "c1");
    struct err err;

    assert_int_equal(store_result_put(store, &result, &err), 1);
    store_close(store);
    store = fixture_open(*state, STORE_WRITE);
    assert_int_equal(fixture_number(store, "SELECT count(*) FROM result"), 0);
    store_close(store);
}

/* Put results for ever and say each number after its commit. */
static void put_until_killed(const char *path, int to)
{
    struct store *store = fixture_open(path, STORE_CREATE);
    struct err err;

    for (int32_t i = 0;; i++) {
        char nonce[16];
        struct store_result result;

        snprintf(nonce, sizeof(nonce), "n%d", i);
        result = fixture_result(nonce, nonce);
        if (store_result_put(store, &result, &err) != 1 ||
            store_commit(store, &err) < 0 ||
            write(to, &i, sizeof(i)) != sizeof(i))
            _exit(1);
    }
}

static void acknowledged_results_survive_kill_9(void **state)
{
    for (int round = 0; round < 5; round++) {
        int fds[2], status;
        int32_t last = -1, i;
        struct store *store;
        pid_t pid;

        assert_int_equal(pipe(fds), 0);
        pid = fork();
        if (pid == 0)
            put_until_killed(mem_printf("%s", (char *)*state), fds[1]);
        close(fds[1]);
        while (last < 7 && read(fds[0], &i, sizeof(i)) == sizeof(i))
            last = i;
        kill(pid, SIGKILL);
        while (read(fds[0], &i, sizeof(i)) == sizeof(i))
            last = i;
        close(fds[0]);
        waitpid(pid, &status, 0);
        assert_true(WIFSIGNALED(status));
        store = fixture_open(*state, STORE_WRITE);
        assert_true(fixture_number(store, "SELECT count(*) FROM result") >
                    last);
        assert_int_equal(
            fixture_number(store, "SELECT count(DISTINCT nonce) - count(*)"
                                  " FROM result"),
            0);
        store_close(store);
        assert_int_equal(unlink(*state), 0);
    }
}

/* 40 MiB of rows, in transactions as a sweep has them. */
static void writing_much_needs_little_memory(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    char text[4096];
    const struct store_event event = { 1, "I", "MUCH", text };
    struct err err;

    memset(text, 'x', sizeof(text) - 1);
    text[sizeof(text) - 1] = '\0';
    for (int i = 0; i < 10000; i++) {
        assert_int_equal(store_event(store, &event, &err), 0);
        if (i % 200 == 199)
            assert_int_equal(store_commit(store, &err), 0);
    }
    assert_in_range(sqlite3_memory_used(), 1 << 20, 20 << 20);
    store_close(store);
}

int main(void)
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_result_is_kept_once_and_counted_once),
        TEST(an_epoch_is_later_than_all_before_whatever_the_clock),
        TEST(a_database_keeps_its_own_name),
        TEST(a_database_without_a_name_says_so),
        TEST(a_run_of_a_tool_is_kept_once_and_counted_once),
        TEST(evidence_leaves_room_for_the_result_that_counts),
        TEST(a_result_of_other_sources_counts_too),
        TEST(a_build_is_counted_once),
        TEST(samples_are_stored_as_exact_numbers),
        TEST(the_checksum_of_a_row_read_back_is_the_stored_one),
        TEST(only_lost_and_crash_give_way),
        TEST(a_later_round_takes_the_place_of_an_earlier),
        TEST(the_sweep_that_was_put_last_is_the_current_one),
        TEST(an_interval_is_extended_in_place),
        TEST(after_an_error_nothing_is_written_until_rollback),
        TEST(nothing_is_committed_to_a_file_that_has_gone),
        TEST(what_was_not_committed_is_not_there),
        TEST(writing_much_needs_little_memory),
        TEST(acknowledged_results_survive_kill_9),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
