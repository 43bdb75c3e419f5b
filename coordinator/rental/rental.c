#include "coordinator/rental/rental.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/hash.h"
#include "common/int64.h"
#include "common/mem.h"
#include "common/owner.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/rental/rental_answer.h"
#include "coordinator/rental/rental_command.h"
#include "coordinator/rental/rental_rows.h"
#include "coordinator/store/store.h"
#include "coordinator/store/store_acquisition.h"

#define PAUSE_FIRST_MS 250
#define PAUSE_MAX_MS 30000
#define ID_DIGITS 12

struct machine {
    enum rental_state state;
    struct host host; /* as acquired */
    struct store_acquisition row;
    struct rental_command command;
    int64_t since_ns, stopping_ns, next_ns, pause_ms;
    int tries;       /* starts that failed in a row */
    bool was_ready;  /* since its start= */
    bool is_useless; /* given up before that */
};

struct rental {
    const struct hosts *hosts;
    char folder[1024];
    struct machine *machines; /* [hosts->n] */
};

struct rental *rental_new(const struct hosts *hosts, const char *folder)
{
    struct rental *rental = mem_new(1, sizeof(*rental));

    rental->hosts = hosts;
    snprintf(rental->folder, sizeof(rental->folder), "%s", folder);
    rental->machines = mem_new(hosts->n, sizeof(*rental->machines));
    return rental;
}

void rental_free(struct rental *rental)
{
    if (!rental)
        return;
    for (size_t i = 0; i < rental->hosts->n; i++)
        rental_command_fini(&rental->machines[i].command);
    free(rental->machines);
    free(rental);
}

enum rental_state rental_state(const struct rental *rental, size_t host)
{
    return rental->machines[host].state;
}

int64_t rental_since_ns(const struct rental *rental, size_t host)
{
    return rental->machines[host].since_ns;
}

int64_t rental_stopping_since_ns(const struct rental *rental, size_t host,
                                 int *tries)
{
    *tries = (int)rental->machines[host].row.stop_tries;
    return rental->machines[host].stopping_ns;
}

void rental_note_ready(struct rental *rental, size_t host)
{
    rental->machines[host].was_ready = true;
}

bool rental_was_ready(const struct rental *rental, size_t host)
{
    return rental->machines[host].was_ready;
}

void rental_give_up(struct rental *rental, size_t host)
{
    struct machine *machine = &rental->machines[host];

    machine->tries = RENTAL_TRIES;
    if (machine->state == RENTAL_FREE)
        machine->state = RENTAL_LOST;
    if (machine->state == RENTAL_HELD)
        machine->is_useless = !machine->was_ready;
}

int rental_useless(const struct rental *rental, size_t host)
{
    const struct host *list = rental->hosts->list;
    int n = 0;

    for (size_t i = 0; i < rental->hosts->n; i++) {
        if (strcmp(list[i].rental.start, list[host].rental.start) != 0)
            continue;
        if (rental->machines[i].was_ready)
            return 0;
        n += rental->machines[i].is_useless;
    }
    return n;
}

const struct host *rental_host(const struct rental *rental, size_t host)
{
    return &rental->machines[host].host;
}

size_t rental_running(const struct rental *rental,
                      struct store_acquisition **out)
{
    size_t n = 0;

    *out = NULL;
    for (size_t i = 0; rental && i < rental->hosts->n; i++) {
        const struct machine *machine = &rental->machines[i];

        if (machine->state == RENTAL_FREE || machine->state == RENTAL_LOST)
            continue;
        *out = mem_grow(*out, n + 1, sizeof(**out));
        (*out)[n++] = machine->row;
    }
    return n;
}

static int put(struct store *store, struct machine *machine, const char *state,
               struct err *err)
{
    int rc;

    snprintf(machine->row.state, sizeof(machine->row.state), "%s", state);
    rc = store_acquisition_put(store, &machine->row, err);
    return rc < 0 ? rc : store_commit(store, err);
}

static void pause_for(struct machine *machine, int64_t now)
{
    machine->pause_ms = machine->pause_ms
                            ? int64_min(2 * machine->pause_ms, PAUSE_MAX_MS)
                            : PAUSE_FIRST_MS;
    machine->next_ns = now + machine->pause_ms * NS_PER_MS;
}

static void make_row(const struct rental *rental, struct machine *machine,
                     const struct host *host)
{
    struct store_acquisition *row = &machine->row;
    char drawn[HASH_HEX];

    memset(row, 0, sizeof(*row));
    owner_draw(drawn);
    snprintf(row->id, sizeof(row->id), "fa-%.*s", ID_DIGITS, drawn);
    snprintf(row->host, sizeof(row->host), "%s", host->name);
    snprintf(row->start_command, sizeof(row->start_command), "%s",
             host->rental.start);
    snprintf(row->stop_command, sizeof(row->stop_command), "%s",
             host->rental.stop);
    snprintf(row->folder, sizeof(row->folder), "%s", rental->folder);
    clock_boot_id(row->boot_id);
    row->rate_usd_per_h = host->has_rate ? host->rate : (double)NAN;
    row->started_utc = clock_steady_utc_ns();
}

/* The process waits until its pid is in the database. */
static int start(const struct rental *rental, struct machine *machine,
                 const struct host *host, struct store *store, int64_t now,
                 struct err *err)
{
    int rc;

    make_row(rental, machine, host);
    rc = rental_command_begin(&machine->command, true, &machine->row, now, err);
    if (rc < 0)
        return rc;
    machine->row.pid = machine->command.child.pid;
    machine->row.pid_ticks = rental_command_ticks(machine->row.pid);
    rc = put(store, machine, "starting", err);
    if (rc < 0) {
        subprocess_stop(&machine->command.child);
        return rc;
    }
    rental_command_go(&machine->command);
    machine->host = *host;
    machine->since_ns = now;
    machine->was_ready = false;
    machine->state = RENTAL_STARTING;
    return 0;
}

static int stop(struct machine *machine, struct store *store, int64_t now,
                enum rental_event *event, struct err *err)
{
    int rc;

    if (machine->row.stop_tries++ == 0)
        machine->stopping_ns = now;
    machine->state = RENTAL_STOPPING;
    rc = put(store, machine, "stopping", err);
    if (rc < 0)
        return rc;
    rc =
        rental_command_begin(&machine->command, false, &machine->row, now, err);
    if (rc < 0) {
        pause_for(machine, now);
        *event = RENTAL_NOT_RELEASED;
        return rc;
    }
    *event = RENTAL_STOPS;
    rental_command_go(&machine->command);
    return 0;
}

/* What start= printed is for stop=, also if start= fails or does not end.  True
 * if the row had other words. */
static bool note_answer(struct machine *machine,
                        const struct rental_answer *answer)
{
    struct store_acquisition *row = &machine->row;
    char address[sizeof(row->address)];

    rental_answer_text(answer, address, sizeof(address));
    if (strcmp(row->address, address) == 0 &&
        strcmp(row->machine, answer->machine) == 0)
        return false;
    snprintf(row->address, sizeof(row->address), "%s", address);
    snprintf(row->machine, sizeof(row->machine), "%s", answer->machine);
    return true;
}

bool rental_take_stop(struct rental *rental, const char *id,
                      struct rental_command *out)
{
    for (size_t i = 0; i < rental->hosts->n; i++) {
        struct machine *machine = &rental->machines[i];

        if (machine->state != RENTAL_STOPPING ||
            strcmp(machine->row.id, id) != 0 ||
            !rental_command_runs(&machine->command))
            continue;
        *out = machine->command;
        memset(&machine->command, 0, sizeof(machine->command));
        return true;
    }
    return false;
}

void rental_listen(struct rental *rental, const char *id, bool is_over,
                   struct store_acquisition *row)
{
    struct rental_answer answer;

    for (size_t i = 0; i < rental->hosts->n; i++) {
        struct machine *machine = &rental->machines[i];

        if (machine->state != RENTAL_STARTING ||
            strcmp(machine->row.id, id) != 0)
            continue;
        rental_command_read(&machine->command);
        if (!is_over)
            return;
        /* a word that cannot be used leaves the others */
        (void)rental_answer_end(&machine->command.printed, &answer, NULL);
        (void)note_answer(machine, &answer);
        memcpy(row->address, machine->row.address, sizeof(row->address));
        memcpy(row->machine, machine->row.machine, sizeof(row->machine));
    }
}

/* start= has ended well: where is the machine? */
static int acquired(struct machine *machine, struct store *store,
                    const struct rental_answer *answer, struct err *err)
{
    rental_answer_apply(answer, &machine->host);
    machine->row.acquired_utc = rental_rows_now_utc(&machine->row);
    return put(store, machine, "acquired", err);
}

/* The row keeps why; stop= follows. */
static int not_acquired(struct machine *machine, struct store *store,
                        int64_t now, const struct err *why, struct err *err)
{
    snprintf(machine->row.why, sizeof(machine->row.why), "%s", why->text);
    machine->tries++;
    machine->state = RENTAL_STOPPING;
    machine->next_ns = now;
    return put(store, machine, "stopping", err);
}

static int end_start(struct machine *machine, struct store *store, int64_t now,
                     enum rental_event *event, struct err *err)
{
    struct rental_answer answer;
    struct err why = { "" }, unread;
    int rc = rental_command_poll(&machine->command, now, &why);

    if (rc == 0)
        return note_answer(machine, &machine->command.printed.answer)
                   ? put(store, machine, "starting", err)
                   : 0;
    if (rental_answer_end(&machine->command.printed, &answer, &unread) < 0 &&
        rc == 1) {
        why = unread;
        rc = ERR_INPUT;
    }
    (void)note_answer(machine, &answer);
    if (rc == 1)
        rc = acquired(machine, store, &answer, &why);
    rental_command_fini(&machine->command);
    if (rc == 0) {
        machine->state = RENTAL_HELD;
        machine->tries = 0;
        machine->pause_ms = 0;
        *event = RENTAL_ACQUIRED;
        return 0;
    }
    *event = RENTAL_NOT_ACQUIRED;
    rc = not_acquired(machine, store, now, &why, err);
    if (rc == 0)
        *err = why;
    return rc;
}

static int end_stop(struct machine *machine, struct store *store, int64_t now,
                    enum rental_event *event, struct err *err)
{
    struct err why = { "" };
    int rc = rental_command_poll(&machine->command, now, &why);

    if (rc == 0)
        return 0;
    rental_command_fini(&machine->command);
    pause_for(machine, now);
    if (rc < 0) {
        snprintf(machine->row.why, sizeof(machine->row.why), "%s", why.text);
        *event = RENTAL_NOT_RELEASED;
        rc = put(store, machine, "stopping", err);
        if (rc == 0)
            *err = why;
        return rc;
    }
    machine->row.released_utc = rental_rows_now_utc(&machine->row);
    machine->state = machine->tries < RENTAL_TRIES ? RENTAL_FREE : RENTAL_LOST;
    if (machine->tries == 0)
        machine->pause_ms = machine->next_ns = 0;
    *event = RENTAL_RELEASED;
    return put(store, machine, "released", err);
}

static int start_or_retry(struct rental *rental, struct store *store,
                          size_t host, int64_t now, enum rental_event *event,
                          struct err *err)
{
    int rc = start(rental, &rental->machines[host], &rental->hosts->list[host],
                   store, now, err);

    if (rc == 0)
        *event = RENTAL_STARTS;
    return rc;
}

int rental_turn(struct rental *rental, struct store *store, size_t host,
                bool wanted, int64_t now_ns, enum rental_event *event,
                struct err *err)
{
    struct machine *machine = &rental->machines[host];
    bool is_time = now_ns >= machine->next_ns;

    *event = RENTAL_NOTHING;
    switch (machine->state) {
    case RENTAL_FREE:
        return wanted && is_time
                   ? start_or_retry(rental, store, host, now_ns, event, err)
                   : 0;
    case RENTAL_STARTING:
        return end_start(machine, store, now_ns, event, err);
    case RENTAL_HELD:
        if (wanted)
            return 0;
        return stop(machine, store, now_ns, event, err);
    case RENTAL_STOPPING:
        if (rental_command_runs(&machine->command))
            return end_stop(machine, store, now_ns, event, err);
        return is_time ? stop(machine, store, now_ns, event, err) : 0;
    case RENTAL_LOST:
        return 0;
    }
    return 0;
}
