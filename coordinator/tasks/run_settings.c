#include "coordinator/tasks/run_settings.h"

#include <assert.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "common/device_kind.h"
#include "common/err.h"
#include "coordinator/link/listen.h"
#include "coordinator/remote/remote.h"
#include "coordinator/rental/rental_plan.h"
#include "coordinator/search/effort.h"
#include "coordinator/search/strategy.h"
#include "coordinator/spec/search_settings.h"
#include "coordinator/spec/spec.h"
#include "coordinator/options/options.h"
#include "coordinator/text/suggest.h"

#define RECORD "replay=" /* followed by the name of a file */
#define SPEED_UP_MOST 1e9
#define LINGER_MAX_S 86400
#define OWN_MAX 16 /* flags that only one command has */

/* ---- flags by command ---- */

#define OF(kind) (1U << (kind))
#define SWEEP OF(RUN_SWEEP)
#define RESUME OF(RUN_RESUME)
#define CONFIRM OF(RUN_CONFIRM)
#define BENCH OF(RUN_BENCH)
#define PROFILE (OF(RUN_PROFILE) | OF(RUN_EXPLAIN))
#define FUZZ OF(RUN_FUZZ)
#define SEARCHES (SWEEP | RESUME)
#define ALL (SEARCHES | CONFIRM | BENCH | PROFILE | FUZZ)

#define AT(field) offsetof(struct run_settings, field)

static const struct row {
    unsigned of;
    const char *name;
    enum option_kind kind;
    size_t at; /* offset in the settings */
    const char *value, *help, *excludes;
} rows[] = {
    { SWEEP | FUZZ, "hosts", OPTION_TEXT, AT(hosts), "FILE",
      "the machines to use (default: this one)", NULL },
    { RESUME | CONFIRM, "hosts", OPTION_TEXT, AT(hosts), "FILE",
      "use other machines than before", NULL },
    { BENCH, "hosts", OPTION_TEXT, AT(hosts), "FILE",
      "use other machines than the sweep did", NULL },
    { PROFILE, "hosts", OPTION_TEXT, AT(hosts), "FILE",
      "use the first of these machines instead of the sweep's", NULL },
    { SWEEP, "db", OPTION_TEXT, AT(db), "FILE",
      "the database (default: NAME.db beside the sweep file)", NULL },
    { BENCH, "db", OPTION_TEXT, AT(db), "FILE",
      "the sweep's database (default: NAME.db beside the sweep file)", NULL },
    { FUZZ, "db", OPTION_TEXT, AT(db), "FILE",
      "the sweep's database NAME.db; fuzz writes NAME.fuzz.db", NULL },
    { RESUME | CONFIRM | PROFILE, "db", OPTION_TEXT, AT(db), "FILE",
      "the database, instead of as an argument", NULL },
    { SWEEP, "device", OPTION_TEXT, AT(device), "cuda|cpu|replay=FILE",
      "run on GPUs, emulate them, or replay a record", NULL },
    { FUZZ, "device", OPTION_TEXT, AT(device), "cuda|cpu",
      "run on GPUs, or emulate them", NULL },
    { SWEEP, "speed-up", OPTION_REAL, AT(speed_up), "N",
      "replay builds and measurements N times faster", NULL },
    { RESUME, "speed-up", OPTION_REAL, AT(speed_up), "N",
      "for a replay: another speed-up than before", NULL },
    { SWEEP, "cards", OPTION_TEXT, AT(cards), "FILE",
      "for a replay: how its GPUs differ from the recorded one", NULL },
    { SWEEP | FUZZ, "arch", OPTION_TEXT, AT(rented.arch), "sm_89|...",
      "evaluate the gates for this architecture (cpu device, rented GPUs)",
      NULL },
    { ALL, "ssh", OPTION_TEXT, AT(reach.ssh), "CLIENT",
      "auto, libssh2 or openssh: how to reach the hosts", NULL },
    { ALL, "listen", OPTION_TEXT, AT(reach.listen), "ADDRESS[:PORT]",
      "where workers that dial back reach this machine", NULL },
    { ALL, "accept-new-host-keys", OPTION_FLAG, AT(accept_new_host_keys), NULL,
      "add unknown host keys to known_hosts", NULL },
    { SEARCHES | CONFIRM, "budget", OPTION_REAL, AT(budget_usd), "USD",
      "stop when the sweep has cost this much", NULL },
    { SEARCHES, "times", OPTION_TEXT, AT(times), "DB",
      "plan with the durations of another sweep, from its database", NULL },
    { SEARCHES | CONFIRM, "effort", OPTION_TEXT, AT(effort),
      "quick|normal|full", "how much to try and to confirm", NULL },
    { SEARCHES, "strategy", OPTION_TEXT, AT(strategy), "TEXT",
      "auto, lhs:20,tpe:100, ...; 'help' lists them", NULL },
    { SEARCHES, "evaluations", OPTION_INT, AT(search.evaluations), "N",
      "try at most this many configurations", NULL },
    { SWEEP, "warm", OPTION_TEXT, AT(warm), "FILE",
      "begin with the times of another sweep: a database or a record", NULL },
    { SEARCHES, "seed", OPTION_INT, AT(search.seed), "N", "of the strategy",
      NULL },
    { SEARCHES, "in-flight", OPTION_INT, AT(search.in_flight), "N",
      "have at most this many configurations without a result", NULL },
    { ALL, "max-hours", OPTION_REAL, AT(max_hours), "H",
      "stop this run after this many hours", NULL },
    { ALL, "linger", OPTION_INT, AT(linger_s), "S",
      "seconds that workers wait for a coordinator that died", NULL },
    { SEARCHES | CONFIRM, "plan", OPTION_TEXT, AT(rented.plan),
      "cheapest|balanced|fastest", "which hosts with start= to acquire", NULL },
    { SWEEP, "dry-run", OPTION_FLAG, AT(dry_run), NULL,
      "show the plan and stop", NULL },
    { SWEEP, "fresh", OPTION_FLAG, AT(fresh), NULL,
      "start over; the old database is renamed", "dry-run" },
    { ALL, "log", OPTION_TEXT, AT(told.log), "FILE", "append events to a file",
      NULL },
    { SEARCHES | CONFIRM | BENCH, "metrics", OPTION_TEXT, AT(told.metrics),
      "FILE", "keep the state in this file, for Prometheus", "dry-run" },
    { SEARCHES | CONFIRM, "on-event", OPTION_TEXT, AT(told.on_event), "CMD",
      "run a command for each event, with a JSON object on its stdin",
      "dry-run" },
    { ALL, "json", OPTION_FLAG, AT(json), NULL, "for programs", NULL },
    { ALL, "quiet", OPTION_FLAG, AT(quiet), NULL, "no progress", NULL },
};

_Static_assert(sizeof(rows) / sizeof(rows[0]) <= RUN_FLAGS_MAX,
               "the budget covers all of them");

size_t run_settings_flags(struct run_settings *set, enum run_kind kind,
                          struct option *out)
{
    size_t n = 0;

    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const struct row *row = &rows[i];

        if (row->of & OF(kind))
            out[n++] = (struct option){ .name = row->name,
                                        .kind = row->kind,
                                        .out = (char *)set + row->at,
                                        .value = row->value,
                                        .help = row->help,
                                        .excludes = row->excludes };
    }
    return n;
}

/* ---- parsing ---- */

static bool lists_strategies(const struct run_settings *set)
{
    if (!set->strategy || strcmp(set->strategy, "help") != 0)
        return false;
    printf("--strategy NAME, or NAME:EVALUATIONS,NAME:EVALUATIONS,...\n");
    strategy_list(stdout);
    printf("  %-11s a program that speaks JSON lines on stdin and stdout\n",
           "external:COMMAND");
    return true;
}

#define NOT_GIVEN (-1.0)

/* 0 in the settings means no cap, so a cap of 0 must not get there. */
static int take_cap(double *cap, const char *name, const char *unit,
                    struct err *err)
{
    if (*cap >= SPEC_BUDGET_LEAST)
        return 0;
    if (*cap != NOT_GIVEN)
        return err_set(err, ERR_INPUT,
                       "--%s=%g: a cap is at least %g %s; leave it out for no "
                       "cap",
                       name, *cap, SPEC_BUDGET_LEAST, unit);
    *cap = 0;
    return 0;
}

int run_settings_parse(struct run_settings *set, enum run_kind kind,
                       const struct options *own, int argc, char *argv[],
                       struct err *err)
{
    struct option list[OWN_MAX + RUN_FLAGS_MAX];
    struct options options = *own;
    int rc;

    assert(own->n <= OWN_MAX);
    for (size_t i = 0; i < own->n; i++)
        list[i] = own->list[i];
    options.list = list;
    options.n = own->n + run_settings_flags(set, kind, list + own->n);
    set->budget_usd = set->max_hours = NOT_GIVEN;
    rc = options_parse(&options, argc, argv, err);
    if (rc == 0)
        rc = take_cap(&set->budget_usd, "budget", "dollars", err);
    if (rc == 0)
        rc = take_cap(&set->max_hours, "max-hours", "hours", err);
    return rc == 0 && lists_strategies(set) ? OPTIONS_HELP : rc;
}

/* ---- checking ---- */

static int check_replay(struct run_settings *set, bool runs_kernels,
                        struct err *err)
{
    const char *device = set->device ? set->device : "";
    bool is_replay = device_kind_is(device, DEVICE_KIND_REPLAY);

    if (strncmp(device, RECORD, strlen(RECORD)) == 0) {
        set->record = device + strlen(RECORD);
        set->device = device_kind_name(DEVICE_KIND_REPLAY);
        is_replay = true;
    }
    if (!is_replay && (set->speed_up >= 0 || set->cards))
        return err_set(err, ERR_INPUT,
                       "--%s works only with --device replay=FILE",
                       set->cards ? "cards" : "speed-up");
    if (!is_replay)
        return 0;
    if (runs_kernels)
        return err_set(err, ERR_INPUT,
                       "--device=replay: a record has times and failures but "
                       "no kernels to run");
    if (!set->record || !set->record[0])
        return err_set(
            err, ERR_INPUT,
            "--device=replay: the record is missing: write --device "
            "replay=FILE with a Kernel Tuner cache or the database of a sweep");
    if (set->speed_up > SPEED_UP_MOST)
        return err_set(err, ERR_INPUT, "--speed-up=%g: at most %g",
                       set->speed_up, SPEED_UP_MOST);
    if (set->speed_up == 0)
        return err_set(
            err, ERR_INPUT,
            "--speed-up=0: choose a number above 0; 1 is the recorded speed");
    if (set->speed_up < 0)
        set->speed_up = 1;
    return 0;
}

const char *run_settings_device_ending(const char *word, char *out)
{
    const char *names[DEVICE_KINDS];

    for (int i = 0; i < DEVICE_KINDS; i++)
        names[i] = device_kind_name((enum device_kind)i);
    *out = '\0';
    if (strcasecmp(word, "gpu") != 0) /* spelt like cpu, but means cuda */
        (void)suggest_ending(word, strcspn(word, "="), names, DEVICE_KINDS,
                             out);
    return out;
}

int run_settings_check(struct run_settings *set, bool runs_kernels,
                       struct err *err)
{
    const struct gpu_arch_facts *facts;
    char ending[SUGGEST_BYTES];
    enum device_kind kind;
    struct listen listen;
    enum remote_ssh ssh;
    enum rental_goal goal;
    enum effort effort;
    int rc = check_replay(set, runs_kernels, err);

    if (rc < 0)
        return rc;
    if (rental_goal_read(set->rented.plan, &goal, err) < 0)
        return ERR_INPUT;
    if (set->effort && effort_read(set->effort, &effort, err) < 0)
        return ERR_INPUT;
    if (set->device && !device_kind_read(set->device, &kind))
        return err_set(
            err, ERR_INPUT, "--device=%.32s: choose cuda, cpu or replay=FILE%s",
            set->device, run_settings_device_ending(set->device, ending));
    rc = listen_read(set->reach.listen, &listen, err);
    if (rc < 0)
        return rc;
    rc = remote_ssh_read(set->reach.ssh, &ssh, err);
    if (rc < 0)
        return rc;
    if (set->linger_s > LINGER_MAX_S)
        return err_set(err, ERR_INPUT, "--linger: at most %d seconds",
                       LINGER_MAX_S);
    if (set->search.evaluations == 0)
        return err_set(err, ERR_INPUT, "--evaluations: at least 1");
    if (set->search.in_flight == 0 ||
        set->search.in_flight > SEARCH_SETTINGS_IN_FLIGHT_MAX)
        return err_set(err, ERR_INPUT, "--in-flight=%" PRId64 ": 1 to %d",
                       set->search.in_flight, SEARCH_SETTINGS_IN_FLIGHT_MAX);
    if (set->rented.arch)
        set->arch = set->rented.arch;
    return gpu_arch_find_named(set->arch, &facts, err);
}
