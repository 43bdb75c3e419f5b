/* test_rental.c - the life of a machine, with commands that end at once */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/rental/release.h"
#include "coordinator/rental/rental.h"
#include "coordinator/rental/rental_rows.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/store.h"
#include "tests/coordinator/store/store_fixture.h"

#define DEADLINE_NS (60 * NS_PER_S)

static struct hosts one_host(struct host *host, const char *start,
                             const char *stop)
{
    memset(host, 0, sizeof(*host));
    snprintf(host->name, sizeof(host->name), "gpu7");
    snprintf(host->rental.start, sizeof(host->rental.start), "%s", start);
    snprintf(host->rental.stop, sizeof(host->rental.stop), "%s", stop);
    return (struct hosts){ .list = host, .n = 1 };
}

/* Turns until something happens. */
static enum rental_event next(struct rental *rental, struct store *store,
                              bool wanted, struct err *err)
{
    int64_t until = clock_boot_ns() + DEADLINE_NS;
    enum rental_event event = RENTAL_NOTHING;

    while (event == RENTAL_NOTHING && clock_boot_ns() < until) {
        assert_int_equal(
            rental_turn(rental, store, 0, wanted, clock_boot_ns(), &event, err),
            0);
        (void)poll(NULL, 0, 1);
    }
    return event;
}

static void a_machine_is_acquired_and_released(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct host host;
    struct hosts hosts =
        one_host(&host, "echo host=10.0.0.7 id=m-{host}", "true");
    struct rental *rental = rental_new(&hosts, "/");
    struct store_acquisition *rows;
    struct err err = { "" };
    size_t n;

    assert_int_equal(next(rental, store, true, &err), RENTAL_STARTS);
    assert_int_equal(next(rental, store, true, &err), RENTAL_ACQUIRED);
    assert_int_equal(rental_state(rental, 0), RENTAL_HELD);
    assert_string_equal(rental_host(rental, 0)->address, "10.0.0.7");
    assert_int_equal(rental_rows_open(store, &rows, &n, &err), 0);
    assert_int_equal(n, 1);
    assert_string_equal(rows[0].state, "acquired");
    assert_string_equal(rows[0].machine, "m-gpu7");
    free(rows);
    assert_int_equal(next(rental, store, false, &err), RENTAL_STOPS);
    assert_int_equal(next(rental, store, false, &err), RENTAL_RELEASED);
    assert_int_equal(rental_rows_open(store, &rows, &n, &err), 0);
    assert_int_equal(n, 0);
    rental_free(rental);
    store_close(store);
}

static void a_start_that_fails_is_followed_by_stop(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct host host;
    struct hosts hosts = one_host(&host, "ls /there/is/no/such/file", "true");
    struct rental *rental = rental_new(&hosts, "/");
    struct err err = { "" };

    assert_int_equal(next(rental, store, true, &err), RENTAL_STARTS);
    assert_int_equal(next(rental, store, true, &err), RENTAL_NOT_ACQUIRED);
    assert_non_null(strstr(err.text, "start= failed with status 2: "));
    assert_int_equal(next(rental, store, true, &err), RENTAL_STOPS);
    assert_int_equal(next(rental, store, true, &err), RENTAL_RELEASED);
    assert_int_equal(next(rental, store, true, &err), RENTAL_STARTS);
    rental_free(rental);
    store_close(store);
}

static void an_address_that_cannot_be_used_is_a_failed_start(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct host host;
    struct hosts hosts = one_host(&host, "echo port=99999", "true");
    struct rental *rental = rental_new(&hosts, "/");
    struct err err = { "" };

    assert_int_equal(next(rental, store, true, &err), RENTAL_STARTS);
    assert_int_equal(next(rental, store, true, &err), RENTAL_NOT_ACQUIRED);
    assert_string_equal(err.text,
                        "it printed 'port=99999': a port is in 1..65535");
    rental_free(rental);
    store_close(store);
}

struct said {
    char text[4096];
};

static void say(void *self, const char *text)
{
    struct said *said = self;
    size_t len = strlen(said->text);

    snprintf(said->text + len, sizeof(said->text) - len, "%s\n", text);
}

static void what_was_left_is_released(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct host host;
    struct hosts hosts = one_host(&host, "true", "true");
    struct rental *rental = rental_new(&hosts, "/");
    struct said said = { "" };
    const struct release_options options = { .say = say,
                                             .self = &said,
                                             .patience_s = 60 };
    struct release_count count;
    struct err err = { "" };

    assert_int_equal(next(rental, store, true, &err), RENTAL_STARTS);
    assert_int_equal(next(rental, store, true, &err), RENTAL_ACQUIRED);
    rental_free(rental);
    assert_int_equal(release_all(store, &options, &count, &err), 0);
    assert_int_equal(count.released, 1);
    assert_int_equal(count.running, 0);
    assert_string_equal(said.text, "gpu7: released\n");
    store_close(store);
}

static void what_cannot_be_released_is_said_to_run(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct host host;
    struct hosts hosts = one_host(&host, "true", "false");
    struct rental *rental = rental_new(&hosts, "/");
    struct said said = { "" };
    const struct release_options options = { .say = say, .self = &said };
    struct release_count count;
    struct err err = { "" };

    assert_int_equal(next(rental, store, true, &err), RENTAL_STARTS);
    assert_int_equal(next(rental, store, true, &err), RENTAL_ACQUIRED);
    rental_free(rental);
    assert_int_equal(release_all(store, &options, &count, &err), 0);
    assert_int_equal(count.running, 1);
    assert_non_null(strstr(said.text, "gpu7: stop= failed with status 1\n"
                                      "gpu7: STILL RUNNING, costs money"));
    store_close(store);
}

static void three_starts_that_fail_are_enough(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct host host;
    struct hosts hosts = one_host(&host, "false", "true");
    struct rental *rental = rental_new(&hosts, "/");
    struct err err = { "" };

    for (int i = 0; i < 3; i++) {
        assert_int_equal(next(rental, store, true, &err), RENTAL_STARTS);
        assert_int_equal(next(rental, store, true, &err), RENTAL_NOT_ACQUIRED);
        assert_int_equal(next(rental, store, true, &err), RENTAL_STOPS);
        assert_int_equal(next(rental, store, true, &err), RENTAL_RELEASED);
    }
    assert_int_equal(rental_state(rental, 0), RENTAL_LOST);
    rental_free(rental);
    store_close(store);
}

/* A command that fails once: it makes a file, and then it is there. */
static void write_script(const char *path)
{
    FILE *file = fopen(path, "w");

    assert_non_null(file);
    fprintf(file, "[ -e %s.ran ] && exit 0\ntouch %s.ran\nexit 1\n", path,
            path);
    assert_int_equal(fclose(file), 0);
}

static void a_stop_that_fails_is_run_again_and_its_row_says_when(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    char folder[] = "/tmp/fa-rental-XXXXXX", path[64], ran[96], command[80];
    struct host host;
    struct hosts hosts;
    struct rental *rental;
    struct said said = { "" };
    const struct release_options options = { .say = say,
                                             .self = &said,
                                             .patience_s = 60 };
    struct release_count count;
    struct store_acquisition *rows;
    struct err err = { "" };
    size_t n;

    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof(path), "%s/stop", folder);
    snprintf(ran, sizeof(ran), "%s.ran", path);
    snprintf(command, sizeof(command), "sh %s", path);
    write_script(path);
    hosts = one_host(&host, "true", command);
    host.has_rate = true;
    host.rate = 2.5;
    rental = rental_new(&hosts, "/");
    assert_int_equal(next(rental, store, true, &err), RENTAL_STARTS);
    assert_int_equal(next(rental, store, true, &err), RENTAL_ACQUIRED);
    rental_free(rental);
    assert_int_equal(release_all(store, &options, &count, &err), 0);
    assert_int_equal(count.released, 1);
    assert_string_equal(said.text,
                        "gpu7: stop= failed with status 1; it is run again\n"
                        "gpu7: released\n");
    assert_int_equal(rental_rows_all(store, &rows, &n, &err), 0);
    assert_int_equal(n, 1);
    assert_int_equal(rows[0].stop_tries, 2);
    assert_true(rows[0].rate_usd_per_h == 2.5);
    assert_true(rows[0].released_utc > rows[0].started_utc);
    free(rows);
    store_close(store);
    assert_int_equal(unlink(path) + unlink(ran) + rmdir(folder), 0);
}

/* A machine that 'rental' holds, and the release of what it knows. */
static void acquire(struct rental *rental, struct store *store)
{
    struct err err = { "" };

    assert_int_equal(next(rental, store, true, &err), RENTAL_STARTS);
    assert_int_equal(next(rental, store, true, &err), RENTAL_ACQUIRED);
}

static int release_known(struct rental *rental, struct store *store,
                         int patience_s, struct said *said,
                         struct release_count *count, struct err *err)
{
    struct store_acquisition *known;
    size_t n_known = rental_running(rental, &known);
    const struct release_options options = {
        .say = say,
        .self = said,
        .patience_s = patience_s,
        .known = known,
        .n_known = n_known,
        .rental = rental,
    };
    int rc = release_all(store, &options, count, err);

    free(known);
    return rc;
}

static void a_machine_is_stopped_though_its_row_cannot_be_written(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    char *done = mem_printf("%s.stopped", (char *)*state);
    char *stop = mem_printf("touch %s", done);
    struct host host;
    struct hosts hosts = one_host(&host, "true", stop);
    struct rental *rental = rental_new(&hosts, "/");
    struct said said = { "" };
    struct release_count count;
    struct err err = { "" };

    acquire(rental, store);
    assert_int_equal(sql_run(store_db(store), "PRAGMA query_only=ON", &err), 0);
    assert_int_equal(release_known(rental, store, 0, &said, &count, &err),
                     ERR_STORE);
    assert_int_equal(count.released, 1);
    assert_int_equal(count.running, 0);
    assert_int_equal(unlink(done), 0);
    rental_free(rental);
    store_close(store);
    free(stop);
    free(done);
}

/* The hosts of a start= that is this script; the caller removes 'path'. */
static struct hosts script_host(struct host *host, const char *path,
                                const char *text)
{
    FILE *file = fopen(path, "w");
    char command[80];

    assert_non_null(file);
    assert_int_equal(fputs(text, file) < 0, 0);
    assert_int_equal(fclose(file), 0);
    snprintf(command, sizeof(command), "sh %s", path);
    return one_host(host, command, "true");
}

/* What the only row says that start= printed. */
static void expect_words(struct store *store, const char *state,
                         const char *machine, const char *address)
{
    struct store_acquisition *rows;
    struct err err;
    size_t n;

    assert_int_equal(rental_rows_all(store, &rows, &n, &err), 0);
    assert_int_equal(n, 1);
    assert_string_equal(rows[0].state, state);
    assert_string_equal(rows[0].machine, machine);
    assert_string_equal(rows[0].address, address);
    free(rows);
}

static void what_a_start_prints_before_it_fails_is_for_stop(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    char path[64];
    struct host host;
    struct hosts hosts;
    struct rental *rental;
    struct err err = { "" };

    snprintf(path, sizeof(path), "%s.sh", (char *)*state);
    hosts = script_host(&host, path,
                        "printf 'host=10.0.0.7 port=x id=i-0abc'\nexit 1\n");
    rental = rental_new(&hosts, "/");
    assert_int_equal(next(rental, store, true, &err), RENTAL_STARTS);
    assert_int_equal(next(rental, store, true, &err), RENTAL_NOT_ACQUIRED);
    assert_string_equal(err.text, "start= failed with status 1");
    expect_words(store, "stopping", "i-0abc", "host=10.0.0.7");
    assert_int_equal(next(rental, store, true, &err), RENTAL_STOPS);
    assert_int_equal(next(rental, store, true, &err), RENTAL_RELEASED);
    rental_free(rental);
    store_close(store);
    assert_int_equal(unlink(path), 0);
}

static void what_a_start_prints_is_noted_before_it_ends(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    int64_t until = clock_boot_ns() + DEADLINE_NS;
    enum rental_event event;
    char path[64];
    struct host host;
    struct hosts hosts;
    struct rental *rental;
    struct store_acquisition *row;
    struct err err = { "" };

    snprintf(path, sizeof(path), "%s.sh", (char *)*state);
    hosts = script_host(&host, path, "echo id=i-0abc\nexec sleep 60\n");
    rental = rental_new(&hosts, "/");
    assert_int_equal(next(rental, store, true, &err), RENTAL_STARTS);
    do {
        assert_int_equal(
            rental_turn(rental, store, 0, true, clock_boot_ns(), &event, &err),
            0);
        assert_int_equal(rental_running(rental, &row), 1);
        if (row->machine[0]) {
            expect_words(store, "starting", "i-0abc", "");
            break;
        }
        free(row);
        (void)poll(NULL, 0, 1);
    } while (clock_boot_ns() < until);
    assert_string_equal(row->machine, "i-0abc");
    kill((pid_t)-row->pid, SIGKILL);
    free(row);
    rental_free(rental);
    store_close(store);
    assert_int_equal(unlink(path), 0);
}

/* More than a pipe holds, and then what stop= needs. */
static void a_start_prints_on_while_a_release_waits_for_it(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    char path[64];
    struct host host;
    struct hosts hosts;
    struct rental *rental;
    struct said said = { "" };
    struct release_count count;
    struct err err = { "" };

    snprintf(path, sizeof(path), "%s.sh", (char *)*state);
    hosts = script_host(&host, path,
                        "head -c 1000000 /dev/zero\n"
                        "head -c 1000000 /dev/zero >&2\necho id=i-0abc\n");
    rental = rental_new(&hosts, "/");
    assert_int_equal(next(rental, store, true, &err), RENTAL_STARTS);
    assert_int_equal(release_known(rental, store, 60, &said, &count, &err), 0);
    assert_int_equal(count.released, 1);
    expect_words(store, "released", "i-0abc", "");
    rental_free(rental);
    store_close(store);
    assert_int_equal(unlink(path), 0);
}

static void a_stop_that_runs_is_not_run_again_beside_itself(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    char *done = mem_printf("%s.stopped", (char *)*state);
    char *text = mem_printf("sleep 0.2\nmkdir %s\n", done);
    char path[64];
    struct host host;
    struct hosts hosts;
    struct rental *rental;
    struct said said = { "" };
    struct release_count count;
    struct err err = { "" };

    snprintf(path, sizeof(path), "%s.sh", (char *)*state);
    hosts = script_host(&host, path, text);
    snprintf(host.rental.stop, sizeof(host.rental.stop), "sh %s", path);
    snprintf(host.rental.start, sizeof(host.rental.start), "true");
    rental = rental_new(&hosts, "/");
    acquire(rental, store);
    assert_int_equal(next(rental, store, false, &err), RENTAL_STOPS);
    assert_int_equal(release_known(rental, store, 0, &said, &count, &err), 0);
    assert_string_equal(said.text, "gpu7: released\n");
    expect_words(store, "released", "", "");
    rental_free(rental);
    store_close(store);
    assert_int_equal(unlink(path) + rmdir(done), 0);
    free(text);
    free(done);
}

static void a_stop_needs_no_folder(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    char folder[] = "/tmp/fa-rental-XXXXXX";
    struct host host;
    struct hosts hosts = one_host(&host, "true", "true");
    struct rental *rental;
    struct said said = { "" };
    struct release_count count;
    struct err err = { "" };

    assert_non_null(mkdtemp(folder));
    rental = rental_new(&hosts, folder);
    acquire(rental, store);
    assert_int_equal(rmdir(folder), 0);
    assert_int_equal(release_known(rental, store, 0, &said, &count, &err), 0);
    assert_int_equal(count.released, 1);
    rental_free(rental);
    store_close(store);
}

static struct rlimit files; /* as they were */

static void say_and_let_files_be_opened(void *self, const char *text)
{
    say(self, text);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &files), 0);
}

static void a_stop_that_finds_no_process_is_run_again(void **state)
{
    struct said said = { "" };
    const struct store_acquisition known = {
        .host = "gpu7", .id = "fa-1", .folder = "/", .stop_command = "true"
    };
    const struct release_options options = { .say = say_and_let_files_be_opened,
                                             .self = &said,
                                             .patience_s = 60,
                                             .known = &known,
                                             .n_known = 1 };
    struct release_count count;
    struct err err = { "" };

    (void)state;
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &files), 0);
    assert_int_equal(
        setrlimit(RLIMIT_NOFILE, &(struct rlimit){ 0, files.rlim_max }), 0);
    assert_int_equal(release_all(NULL, &options, &count, &err), 0);
    assert_string_equal(said.text,
                        "gpu7: program '/bin/sh': Too many open files; it is "
                        "run again\ngpu7: released\n");
    assert_int_equal(count.released, 1);
}

static void machines_of_a_lost_database_are_stopped(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    struct host host;
    struct hosts hosts = one_host(&host, "echo id=i-0abc", "false");
    struct rental *rental = rental_new(&hosts, "/");
    struct said said = { "" };
    struct release_count count;
    struct err err = { "" };

    acquire(rental, store);
    store_close(store);
    assert_int_equal(release_known(rental, NULL, 0, &said, &count, &err), 0);
    assert_int_equal(count.running, 1);
    assert_non_null(strstr(said.text, "gpu7: STILL RUNNING, costs money"));
    assert_non_null(strstr(said.text, ", i-0abc): stop= failed with status 1"));
    rental_free(rental);
}

/* It is for the sweep that begins. */
static void a_signal_stays_if_there_is_nothing_to_release(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);
    const struct timespec none = { 0 };
    struct said said = { "" };
    const struct release_options options = { .say = say, .self = &said };
    struct release_count count;
    struct err err = { "" };
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, NULL);
    kill(getpid(), SIGINT);
    assert_int_equal(release_all(store, &options, &count, &err), 0);
    assert_int_equal(sigtimedwait(&set, NULL, &none), SIGINT);
    store_close(store);
}

#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, fixture_setup, fixture_teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_machine_is_acquired_and_released),
        TEST(a_start_that_fails_is_followed_by_stop),
        TEST(an_address_that_cannot_be_used_is_a_failed_start),
        TEST(what_was_left_is_released),
        TEST(what_cannot_be_released_is_said_to_run),
        TEST(three_starts_that_fail_are_enough),
        TEST(a_stop_that_fails_is_run_again_and_its_row_says_when),
        TEST(a_machine_is_stopped_though_its_row_cannot_be_written),
        TEST(what_a_start_prints_before_it_fails_is_for_stop),
        TEST(what_a_start_prints_is_noted_before_it_ends),
        TEST(a_start_prints_on_while_a_release_waits_for_it),
        TEST(a_stop_that_runs_is_not_run_again_beside_itself),
        TEST(a_stop_needs_no_folder),
        TEST(a_stop_that_finds_no_process_is_run_again),
        TEST(machines_of_a_lost_database_are_stopped),
        TEST(a_signal_stays_if_there_is_nothing_to_release),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
