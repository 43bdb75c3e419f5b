/* simulate_rental.c - machines that are rented, over many lives of a
 * coordinator, from one seed each
 *
 *   simulate_rental --seeds 1..1000
 *
 * The real rental.c and release.c use a cloud in simulated time (cloud.h):
 * start= and stop= fail, hang, act and then fail, or take a minute; machines
 * vanish; the coordinator is killed at any call.  What a plan wants changes at
 * random.  Checked, whenever a coordinator is gone:
 *
 *   - every machine that runs, or that a start= may yet start, has a row that
 * is not released, so that 'fa-coord release' names it
 *   - no host is acquired twice at a time
 *   - after a release in which nothing fails, none runs, and none will
 *   - a row's times, and so its dollars, are within a second of when start=
 * went on and when the last stop= ended
 *
 * Prints one line for each seed with a finding, and how many there were.  Exit
 * status: 0 none, 1 some, 2 usage.
 */
#include <inttypes.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/hash.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/rental/release.h"
#include "coordinator/rental/rental.h"
#include "coordinator/rental/rental_rows.h"
#include "coordinator/sql/row.h"
#include "coordinator/sql/sql.h"
#include "coordinator/store/store.h"
#include "tests/coordinator/store/blank_db.h"
#include "tests/simulation/cloud.h"

#define HOSTS 3
#define LIVES_MAX 5
#define NEAR_S 1.0
#define RATE 3600.0                        /* a dollar a second */
#define LATE_NS (INT64_C(1000) * NS_PER_S) /* no command lasts longer */

static struct run {
    uint64_t seed;
    char folder[64], path[96];
    struct host list[HOSTS];
    struct hosts hosts;
    struct store *store;
    struct rental *rental;
    int findings;
} run;

static void finds(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
static void finds(const char *fmt, ...)
{
    va_list ap;

    if (run.findings++ > 0)
        return; /* others may follow from the first */
    printf("seed %" PRIu64 " (rental, at %.1f s): ", run.seed,
           (double)cloud.now_ns / (double)NS_PER_S);
    va_start(ap, fmt);
    vprintf(fmt, ap);
    va_end(ap);
    putchar('\n');
}

static void say(void *self, const char *text)
{
    (void)self;
    (void)text;
}

/* ---- the coordinator */

/* Of those that were asked for since then: another one of a host is not started
 * while one runs. */
static void check_single(int64_t since_ns)
{
    for (size_t i = 0; i < cloud.n_machines; i++)
        for (size_t j = 0; j < i; j++) {
            const struct cloud_machine *a = &cloud.machines[i];
            const struct cloud_machine *b = &cloud.machines[j];

            if (a->is_on && b->is_on && a->asked_ns >= since_ns &&
                b->asked_ns >= since_ns && strcmp(a->host, b->host) == 0)
                finds("%s runs twice: %s and %s", a->host, a->id, b->id);
        }
}

/* A plan that changes its mind. */
static int rent(struct err *err)
{
    int64_t since_ns = cloud.now_ns;
    int64_t until_ns = since_ns + cloud_between(1, 120) * NS_PER_S;
    bool wanted[HOSTS] = { true, true };
    int rc = 0;

    run.rental = rental_new(&run.hosts, "/");
    while (cloud.now_ns < until_ns && rc == 0) {
        for (size_t i = 0; i < HOSTS && rc == 0; i++) {
            enum rental_event event;

            wanted[i] = wanted[i] != cloud_chance(3);
            rc = rental_turn(run.rental, run.store, i, wanted[i], cloud.now_ns,
                             &event, err);
            if (rc != ERR_STORE)
                rc = 0;
        }
        cloud_run(cloud.now_ns + cloud_between(20, 500) * NS_PER_MS);
        check_single(since_ns);
    }
    rental_free(run.rental);
    run.rental = NULL;
    return rc;
}

static int release(size_t *running, struct err *err)
{
    const struct release_options options = { .say = say,
                                             .patience_s = RELEASE_PATIENCE_S };
    struct release_count count = { 0 };
    int rc = release_all(run.store, &options, &count, err);

    *running = count.running;
    return rc;
}

static int work(struct err *err)
{
    size_t running;
    int rc = store_open(run.path, STORE_WRITE, &run.store, err);

    if (rc == 0)
        rc = sql_run(store_db(run.store), "PRAGMA synchronous=OFF", err);
    if (rc == 0)
        rc = release(&running, err);
    if (rc == 0)
        rc = rent(err);
    return rc == 0 ? release(&running, err) : rc;
}

/* A function of its own, so that a longjmp() leaves no local variable
 * indeterminate. */
static int live(struct err *err)
{
    return setjmp(cloud.killed) == 0 ? work(err) : 0;
}

static void one_life(void)
{
    struct err err = { "" };

    cloud.kill_in = cloud_chance(70) ? (int)cloud_between(1, 400) : 0;
    cloud.interrupts = cloud_chance(20);
    if (live(&err) < 0)
        finds("it failed: %s", err.text);
    cloud.kill_in = 0;
    cloud.interrupts = false;
    rental_free(run.rental);
    run.rental = NULL;
    store_close(run.store);
    run.store = NULL;
    cloud_coordinator_died();
}

/* ---- what must hold */

static bool may_run(size_t machine)
{
    if (cloud.machines[machine].is_on)
        return true;
    for (size_t i = 0; i < cloud.n_processes; i++) {
        const struct cloud_process *process = &cloud.processes[i];

        if (process->machine == machine && process->is_start && process->went &&
            !process->is_over && process->acts_ns)
            return true;
    }
    return false;
}

static void check_listed(void)
{
    struct store_acquisition *rows = NULL;
    struct store *store = NULL;
    struct err err;
    size_t n = 0;

    if (store_open(run.path, STORE_READ, &store, &err) < 0 ||
        rental_rows_open(store, &rows, &n, &err) < 0)
        finds("%s", err.text);
    for (size_t i = 0; i < cloud.n_machines; i++) {
        size_t row = 0;

        while (row < n && strcmp(rows[row].id, cloud.machines[i].id) != 0)
            row++;
        if (may_run(i) && row == n)
            finds("machine %s runs or will, and no row says so",
                  cloud.machines[i].id);
    }
    free(rows);
    store_close(store);
}

static const struct cloud_machine *machine_of(const char *id)
{
    for (size_t i = 0; i < cloud.n_machines; i++)
        if (strcmp(cloud.machines[i].id, id) == 0)
            return &cloud.machines[i];
    return NULL;
}

/* Seconds by which a row is later. */
static double later_s(int64_t utc, int64_t ns)
{
    return (double)(utc - clock_utc_ns() + cloud.now_ns - ns) /
           (double)NS_PER_S;
}

/* A row whose start= never went on has no machine to compare it with. */
static void check_times(void)
{
    struct row_query query = { .stmt = NULL };
    struct store_acquisition row;
    struct store *store = NULL;
    struct err err;
    int rc = store_open(run.path, STORE_READ, &store, &err);

    if (rc == 0)
        rc = row_open(store_db(store), "SELECT * FROM acquisition",
                      &store_acquisition_shape, &query, &err, "");
    while (rc >= 0 && (rc = row_next(&query, &row, &err)) == 1) {
        const struct cloud_machine *machine = machine_of(row.id);
        double begun, ended, usd, paid;

        if (!machine || machine->asked_ns == 0)
            continue;
        begun = later_s(row.started_utc, machine->asked_ns);
        ended = later_s(row.released_utc, machine->released_ns);
        if (fabs(begun) > NEAR_S || fabs(ended) > NEAR_S)
            finds("%s was started %.1f s before its row and released %.1f s",
                  row.id, begun, ended);
        usd = (double)(row.released_utc - row.started_utc) / 3.6e12 *
              row.rate_usd_per_h;
        paid =
            (double)(machine->released_ns - machine->asked_ns) / 3.6e12 * RATE;
        if (!(usd > paid - 1 && usd < paid + 1))
            finds("%s cost $%.3f, and its row says $%.3f", row.id, paid, usd);
    }
    if (rc < 0)
        finds("%s", err.text);
    row_close(&query);
    store_close(store);
}

/* The cloud is well, and a person runs 'fa-coord release'. */
static void check_end(void)
{
    struct err err = { "" };
    size_t running = 0;

    cloud.is_well = true;
    if (store_open(run.path, STORE_WRITE, &run.store, &err) < 0 ||
        release(&running, &err) < 0)
        finds("%s", err.text);
    store_close(run.store);
    run.store = NULL;
    if (running > 0)
        finds("%zu machines are not released, and nothing failed", running);
    check_times();
    cloud_run(cloud.now_ns + LATE_NS);
    for (size_t i = 0; i < cloud.n_machines; i++)
        if (cloud.machines[i].is_on)
            finds("machine %s runs after the release", cloud.machines[i].id);
}

/* ---- seeds */

static void remove_db(void)
{
    static const char *const ends[] = { "", "-wal", "-shm", ".lock" };
    char name[128];

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        snprintf(name, sizeof(name), "%s%s", run.path, ends[i]);
        (void)unlink(name); /* a run need not make every file */
    }
}

static int run_seed(uint64_t seed)
{
    struct err err;
    int lives;

    run.seed = seed;
    run.findings = 0;
    remove_db();
    cloud_init(seed);
    if (blank_db(run.path, &err) < 0) {
        finds("%s", err.text);
        return 1;
    }
    lives = (int)cloud_between(1, LIVES_MAX);
    for (int i = 0; i < lives; i++) {
        one_life();
        check_listed();
        cloud_run(cloud.now_ns + cloud_between(0, 900) * NS_PER_S);
        check_listed();
    }
    check_end();
    return run.findings > 0;
}

static int set_up(struct err *err)
{
    const char *tmp = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";

    snprintf(run.folder, sizeof(run.folder), "%s/fa-rental-XXXXXX", tmp);
    if (!mkdtemp(run.folder))
        return err_set(err, ERR_SYSTEM, "%s cannot be made", run.folder);
    snprintf(run.path, sizeof(run.path), "%s/t.db", run.folder);
    run.hosts = (struct hosts){ .list = run.list, .n = HOSTS };
    for (size_t i = 0; i < HOSTS; i++) {
        struct host *host = &run.list[i];

        snprintf(host->name, sizeof(host->name), "gpu%zu", i);
        snprintf(host->rental.start, sizeof(host->rental.start), "rent start");
        snprintf(host->rental.stop, sizeof(host->rental.stop), "rent stop");
        host->has_rate = true;
        host->rate = RATE;
    }
    return hash_setup(err);
}

int main(int argc, char *argv[])
{
    uint64_t from, to;
    uint64_t found = 0;
    struct err err;

    if (argc != 3 || strcmp(argv[1], "--seeds") != 0 ||
        sscanf(argv[2], "%" SCNu64 "..%" SCNu64, &from, &to) != 2) {
        fputs("usage: simulate_rental --seeds A..B\n", stderr);
        return 2;
    }
    if (set_up(&err) < 0) {
        fprintf(stderr, "simulate_rental: %s\n", err.text);
        return 2;
    }
    for (uint64_t seed = from; seed <= to; seed++)
        found += (uint64_t)run_seed(seed);
    printf("%" PRIu64 " of %" PRIu64 " seeds with findings\n", found,
           to - from + 1);
    remove_db();
    (void)rmdir(run.folder);
    return found > 0;
}
