#include "coordinator/rental/release.h"

#include <math.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/int64.h"
#include "common/mem.h"
#include "coordinator/rental/rental.h"
#include "coordinator/rental/rental_command.h"
#include "coordinator/rental/rental_rows.h"
#include "coordinator/store/store.h"

#define TURN_MS 20
#define PAUSE_FIRST_MS 250
#define PAUSE_MAX_MS 15000
/* After an interrupted command: */
#define LONG_NS NS_PER_S         /* a stop= that runs longer is named */
#define START_NS (10 * NS_PER_S) /* a start= is waited for */

/* A machine that is being stopped. */
struct machine {
    struct store_acquisition row;
    struct rental_command stop;
    int64_t next_ns, pause_ms;
    int64_t start_until_ns; /* its start= is waited for */
    int64_t until_ns;       /* a stop= that fails later is not run again */
    int64_t began_ns;       /* its stop= */
    bool is_released, is_given_up;
    bool waits;      /* for its start=; that was said */
    bool is_awaited; /* its stop=; that was said */
    bool is_unwritten;
};

struct release {
    struct store *store; /* NULL: it cannot be opened */
    const struct release_options *options;
    struct machine *machines;
    size_t n;
    bool hurries;      /* a signal came */
    int signo;         /* the last one, or 0 */
    bool is_signalled; /* just now */
    struct err why;    /* rows could not be written */
};

static void say(const struct release *release, const struct machine *machine,
                const char *fmt, ...) __attribute__((format(printf, 3, 4)));
static void say(const struct release *release, const struct machine *machine,
                const char *fmt, ...)
{
    char what[800], text[1100];
    va_list ap;

    va_start(ap, fmt);
    vsnprintf(what, sizeof(what), fmt, ap);
    va_end(ap);
    snprintf(text, sizeof(text), "%s: %s", machine->row.host, what);
    release->options->say(release->options->self, text);
}

void release_describe(const struct store_acquisition *row, char *out,
                      size_t size)
{
    char since[CLOCK_ISO_BYTES], rate[64] = "money (no rate= is known)";
    bool named = row->machine[0] != '\0';

    clock_iso(row->started_utc, since);
    if (!isnan(row->rate_usd_per_h))
        snprintf(rate, sizeof(rate), "$%g an hour", row->rate_usd_per_h);
    snprintf(out, size, "%s: STILL RUNNING, costs %s since %s (%s%s%s)%s%s",
             row->host, rate, since, row->id, named ? ", " : "", row->machine,
             row->why[0] ? ": " : "", row->why);
}

/* A machine costs money, so stop= runs also if the row cannot be written. */
static void put(struct release *release, struct machine *machine)
{
    struct err err;

    if (!release->store)
        return;
    machine->is_unwritten =
        store_acquisition_put(release->store, &machine->row, &err) < 0 ||
        store_commit(release->store, &err) < 0;
    if (!machine->is_unwritten)
        return;
    store_rollback(release->store);
    release->why = err;
}

static int64_t start_left_ns(const struct release *release,
                             const struct machine *machine, int64_t now)
{
    int64_t limit_utc =
        machine->row.started_utc + RENTAL_COMMAND_START_S * NS_PER_S;

    if (release->hurries)
        return 0;
    return int64_min(limit_utc - rental_rows_now_utc(&machine->row),
                     machine->start_until_ns - now);
}

static void listen_to(const struct release *release, struct machine *machine,
                      bool is_over)
{
    if (release->options->rental)
        rental_listen(release->options->rental, machine->row.id, is_over,
                      &machine->row);
}

/* What a start= does after a stop= would not be seen. */
static bool start_has_ended(struct release *release, struct machine *machine,
                            int64_t now)
{
    const struct store_acquisition *row = &machine->row;
    int64_t left_ns = start_left_ns(release, machine, now);

    if (!rental_rows_starts(row))
        return true;
    if (left_ns > 0) {
        if (!machine->waits)
            say(release, machine,
                "its start= still runs (pid %lld); waiting up to %lld s for "
                "its end, Ctrl-C ends it now",
                (long long)row->pid,
                (long long)((left_ns + NS_PER_S - 1) / NS_PER_S));
        machine->waits = true;
        listen_to(release, machine, false);
        return false;
    }
    kill((pid_t)-row->pid, SIGKILL);
    machine->until_ns = now + release->options->patience_s * NS_PER_S;
    return !rental_rows_starts(row);
}

static void failed(struct release *release, struct machine *machine,
                   int64_t now, const char *why)
{
    snprintf(machine->row.why, sizeof(machine->row.why), "%s", why);
    machine->is_given_up = release->hurries || now >= machine->until_ns;
    machine->next_ns = now + machine->pause_ms * NS_PER_MS;
    machine->pause_ms = int64_min(2 * machine->pause_ms, PAUSE_MAX_MS);
    say(release, machine, "%s%s", why,
        machine->is_given_up ? "" : "; it is run again");
}

/* No process can be made now, perhaps: that may change. */
static void begin(struct release *release, struct machine *machine, int64_t now)
{
    struct err why;

    if (machine->row.stop_tries == 0)
        listen_to(release, machine, true);
    snprintf(machine->row.state, sizeof(machine->row.state), "stopping");
    machine->row.stop_tries++;
    put(release, machine);
    if (rental_command_begin(&machine->stop, false, &machine->row, now, &why) <
        0) {
        failed(release, machine, now, why.text);
        put(release, machine);
        return;
    }
    machine->began_ns = now;
    machine->is_awaited = false;
    rental_command_go(&machine->stop);
}

/* While stop= runs: a signal says so, and one after that leaves it. */
static void hear(struct release *release, struct machine *machine, int64_t now)
{
    long long pid = machine->stop.child.pid;
    bool is_long =
        release->options->is_interrupted && now - machine->began_ns >= LONG_NS;

    if (machine->is_awaited && release->is_signalled) {
        snprintf(machine->row.why, sizeof(machine->row.why),
                 "stop= did not end and was left (pid %lld)", pid);
        machine->is_given_up = true;
        put(release, machine);
    } else if (!machine->is_awaited && (release->hurries || is_long)) {
        say(release, machine,
            "waiting for stop= (pid %lld), Ctrl-C again leaves it", pid);
        machine->is_awaited = true;
    }
}

static void take_end(struct release *release, struct machine *machine,
                     int64_t now)
{
    struct err why;
    int rc = rental_command_poll(&machine->stop, now, &why);

    if (rc == 0) {
        hear(release, machine, now);
        return;
    }
    rental_command_fini(&machine->stop);
    if (rc < 0) {
        failed(release, machine, now, why.text);
    } else {
        machine->is_released = true;
        machine->row.why[0] = '\0';
        machine->row.released_utc = rental_rows_now_utc(&machine->row);
        snprintf(machine->row.state, sizeof(machine->row.state), "released");
        say(release, machine, "released");
    }
    put(release, machine);
}

static void turn(struct release *release, struct machine *machine, int64_t now)
{
    if (rental_command_runs(&machine->stop))
        take_end(release, machine, now);
    else if (release->hurries && machine->row.stop_tries > 0)
        machine->is_given_up = true;
    else if (now >= machine->next_ns && start_has_ended(release, machine, now))
        begin(release, machine, now);
}

static void signals_of_release(sigset_t *set)
{
    sigemptyset(set);
    sigaddset(set, SIGINT);
    sigaddset(set, SIGTERM);
    sigaddset(set, SIGHUP);
}

/* One signal ends the repetitions. */
static void take_signals(struct release *release)
{
    const struct timespec none = { 0 };
    sigset_t set;

    signals_of_release(&set);
    release->is_signalled = false;
    for (int signo; (signo = sigtimedwait(&set, NULL, &none)) > 0;) {
        release->signo = signo;
        release->hurries = release->is_signalled = true;
    }
}

static void run(struct release *release)
{
    bool busy = release->n > 0; /* else a signal is the caller's */

    while (busy) {
        busy = false;
        take_signals(release);
        for (size_t i = 0; i < release->n; i++) {
            struct machine *machine = &release->machines[i];

            if (machine->is_released || machine->is_given_up)
                continue;
            turn(release, machine, clock_boot_ns());
            busy = busy || (!machine->is_released && !machine->is_given_up);
        }
        if (busy)
            (void)poll(NULL, 0, TURN_MS);
    }
}

/* The caller's stop= may still run. */
static void take_stop(const struct release *release, struct machine *machine)
{
    struct rental *rental = release->options->rental;

    machine->began_ns = clock_boot_ns();
    if (rental && rental_take_stop(rental, machine->row.id, &machine->stop))
        machine->row.stop_tries = 1;
}

/* The caller's row of a machine is the newer one, or the only one. */
static void add_machine(struct release *release,
                        const struct store_acquisition *row)
{
    const struct release_options *options = release->options;
    int64_t now = clock_boot_ns();
    int64_t patience_ns = options->patience_s * NS_PER_S;
    size_t i = 0;

    while (i < release->n && strcmp(release->machines[i].row.id, row->id) != 0)
        i++;
    if (i == release->n)
        release->machines = mem_grow(release->machines, ++release->n,
                                     sizeof(*release->machines));
    release->machines[i] = (struct machine){
        .row = *row,
        .pause_ms = PAUSE_FIRST_MS,
        .start_until_ns =
            now + (options->is_interrupted ? int64_min(START_NS, patience_ns)
                                           : patience_ns),
        .until_ns = now + patience_ns,
    };
    release->machines[i].row.stop_tries = 0;
}

/* ERR_STORE: the caller's are all that are known. */
static int find_machines(struct release *release, struct err *err)
{
    const struct release_options *options = release->options;
    struct store_acquisition *rows = NULL;
    size_t n = 0;
    int rc =
        release->store ? rental_rows_open(release->store, &rows, &n, err) : 0;

    for (size_t i = 0; i < n && rc == 0; i++)
        add_machine(release, &rows[i]);
    for (size_t i = 0; i < options->n_known; i++)
        add_machine(release, &options->known[i]);
    for (size_t i = 0; i < release->n; i++)
        take_stop(release, &release->machines[i]);
    free(rows);
    return rc;
}

/* What could not be written before may be now. */
static int write_rest(struct release *release, struct err *err)
{
    int rc = 0;

    for (size_t i = 0; i < release->n; i++) {
        if (release->machines[i].is_unwritten)
            put(release, &release->machines[i]);
        if (release->machines[i].is_unwritten)
            rc = ERR_STORE;
    }
    return rc < 0 ? err_set(err, rc, "%s", release->why.text) : 0;
}

int release_all(struct store *store, const struct release_options *options,
                struct release_count *out, struct err *err)
{
    struct release release = { .store = store, .options = options };
    struct err late;
    sigset_t set, before;
    int rc = find_machines(&release, err);

    signals_of_release(&set);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    run(&release);
    *out = (struct release_count){ .signo = release.signo };
    if (write_rest(&release, &late) < 0 && rc == 0) {
        *err = late;
        rc = ERR_STORE;
    }
    for (size_t i = 0; i < release.n; i++) {
        char text[1200];

        out->released += release.machines[i].is_released;
        out->running += !release.machines[i].is_released;
        rental_command_fini(&release.machines[i].stop);
        if (release.machines[i].is_released)
            continue;
        release_describe(&release.machines[i].row, text, sizeof(text));
        options->say(options->self, text);
    }
    free(release.machines);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return rc;
}
