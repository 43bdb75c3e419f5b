#include "coordinator/rental/release.h"

#include <math.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/int64.h"
#include "common/mem.h"
#include "coordinator/rental/rental_command.h"
#include "coordinator/rental/rental_rows.h"
#include "coordinator/store/store.h"

#define TURN_MS 20
#define PAUSE_FIRST_MS 250
#define PAUSE_MAX_MS 15000

/* A machine that is being stopped. */
struct machine {
    struct store_acquisition row;
    struct rental_command stop;
    int64_t next_ns, pause_ms;
    bool is_released, is_given_up;
    bool waits; /* for its start=; that was said */
};

struct release {
    struct store *store;
    const struct release_options *options;
    struct machine *machines;
    size_t n;
    int64_t until_ns;
    bool hurries; /* a signal came */
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

    clock_iso(row->started_utc, since);
    if (!isnan(row->rate_usd_per_h))
        snprintf(rate, sizeof(rate), "$%g an hour", row->rate_usd_per_h);
    snprintf(out, size, "%s: STILL RUNNING, costs %s since %s%s%s", row->host,
             rate, since, row->why[0] ? ": " : "", row->why);
}

static int put(struct release *release, const struct machine *machine,
               struct err *err)
{
    int rc = store_acquisition_put(release->store, &machine->row, err);

    return rc < 0 ? rc : store_commit(release->store, err);
}

/* What a start= does after a stop= would not be seen. */
static bool start_has_ended(struct release *release, struct machine *machine)
{
    const struct store_acquisition *row = &machine->row;
    int64_t limit =
        row->started_utc + RENTAL_COMMAND_START_S * NS_PER_S - clock_utc_ns();

    if (!rental_rows_starts(row))
        return true;
    if (limit > 0 && !release->hurries) {
        if (!machine->waits)
            say(release, machine,
                "its start= still runs (pid %lld); waiting for its end",
                (long long)row->pid);
        machine->waits = true;
        return false;
    }
    kill((pid_t)-row->pid, SIGKILL);
    return !rental_rows_starts(row);
}

static int begin(struct release *release, struct machine *machine, int64_t now,
                 struct err *err)
{
    struct err why;
    int rc;

    snprintf(machine->row.state, sizeof(machine->row.state), "stopping");
    machine->row.stop_tries++;
    rc = put(release, machine, err);
    if (rc < 0)
        return rc;
    if (rental_command_begin(&machine->stop, false, &machine->row, now, &why) <
        0) {
        say(release, machine, "%s", why.text);
        machine->is_given_up = true;
        return 0;
    }
    rental_command_go(&machine->stop);
    return 0;
}

static void failed(struct release *release, struct machine *machine,
                   int64_t now, const char *why)
{
    snprintf(machine->row.why, sizeof(machine->row.why), "%s", why);
    machine->is_given_up = release->hurries || now >= release->until_ns;
    machine->next_ns = now + machine->pause_ms * NS_PER_MS;
    machine->pause_ms = int64_min(2 * machine->pause_ms, PAUSE_MAX_MS);
    say(release, machine, "%s%s", why,
        machine->is_given_up ? "" : "; it is run again");
}

static int turn(struct release *release, struct machine *machine, int64_t now,
                struct err *err)
{
    struct err why;
    int rc;

    if (!rental_command_runs(&machine->stop)) {
        if (release->hurries && machine->row.stop_tries > 0) {
            machine->is_given_up = true;
            return 0;
        }
        return now < machine->next_ns || !start_has_ended(release, machine)
                   ? 0
                   : begin(release, machine, now, err);
    }
    rc = rental_command_poll(&machine->stop, now, &why);
    if (rc == 0)
        return 0;
    rental_command_fini(&machine->stop);
    if (rc < 0) {
        failed(release, machine, now, why.text);
        return put(release, machine, err);
    }
    machine->is_released = true;
    machine->row.why[0] = '\0';
    machine->row.released_utc = clock_utc_ns();
    snprintf(machine->row.state, sizeof(machine->row.state), "released");
    say(release, machine, "released");
    return put(release, machine, err);
}

/* One signal ends the repetitions. */
static void take_signals(struct release *release)
{
    const struct timespec none = { 0 };
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    while (sigtimedwait(&set, NULL, &none) > 0)
        release->hurries = true;
}

static int run(struct release *release, struct err *err)
{
    bool busy = true;
    int rc = 0;

    while (busy && rc == 0) {
        busy = false;
        take_signals(release);
        for (size_t i = 0; i < release->n && rc == 0; i++) {
            struct machine *machine = &release->machines[i];

            if (machine->is_released || machine->is_given_up)
                continue;
            rc = turn(release, machine, clock_boot_ns(), err);
            busy = busy || (!machine->is_released && !machine->is_given_up);
        }
        if (busy)
            (void)poll(NULL, 0, TURN_MS);
    }
    return rc;
}

int release_all(struct store *store, const struct release_options *options,
                struct release_count *out, struct err *err)
{
    struct release release = { .store = store, .options = options };
    struct store_acquisition *rows = NULL;
    int rc = rental_rows_open(store, &rows, &release.n, err);

    *out = (struct release_count){ 0 };
    if (rc == 0 && release.n > 0) {
        release.machines = mem_new(release.n, sizeof(*release.machines));
        release.until_ns = clock_boot_ns() + options->patience_s * NS_PER_S;
        for (size_t i = 0; i < release.n; i++) {
            release.machines[i].row = rows[i];
            release.machines[i].row.stop_tries = 0;
            release.machines[i].pause_ms = PAUSE_FIRST_MS;
        }
        rc = run(&release, err);
    }
    for (size_t i = 0; i < release.n && release.machines; i++) {
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
    free(rows);
    return rc;
}
