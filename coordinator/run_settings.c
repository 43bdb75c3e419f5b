#include "coordinator/run_settings.h"

#include <assert.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/options.h"
#include "coordinator/strategy.h"

#define REPLAY "replay"
#define SPEED_UP_MOST 1e9
#define LINGER_MAX_S 86400
#define OWN_MAX 16 /* flags that one command has alone */

/* ---- which flag is whose ---- */

#define OF(kind) (1U << (kind))
#define SWEEP OF(RUN_SWEEP)
#define RESUME OF(RUN_RESUME)
#define CONFIRM OF(RUN_CONFIRM)
#define BENCH OF(RUN_BENCH)
#define PROFILE OF(RUN_PROFILE)
#define FUZZ OF(RUN_FUZZ)
#define SEARCHES (SWEEP | RESUME)
#define ALL (SEARCHES | CONFIRM | BENCH | PROFILE | FUZZ)

#define AT(field) offsetof(struct run_settings, field)

static const struct row {
    unsigned of;
    const char *name;
    enum option_kind kind;
    size_t at; /* in the settings */
    const char *value, *help, *excludes;
} rows[] = {
    { SWEEP | FUZZ, "hosts", OPTION_TEXT, AT(hosts), "FILE",
      "the machines to use; without it, this one", NULL },
    { RESUME | CONFIRM, "hosts", OPTION_TEXT, AT(hosts), "FILE",
      "other machines than before", NULL },
    { BENCH, "hosts", OPTION_TEXT, AT(hosts), "FILE",
      "other machines than those of the sweep", NULL },
    { PROFILE, "hosts", OPTION_TEXT, AT(hosts), "FILE",
      "other machines than those of the sweep; the first is used", NULL },
    { SWEEP, "db", OPTION_TEXT, AT(db), "FILE",
      "the database; NAME.db beside the sweep file", NULL },
    { BENCH, "db", OPTION_TEXT, AT(db), "FILE",
      "the sweep's database; NAME.db beside the sweep file", NULL },
    { FUZZ, "db", OPTION_TEXT, AT(db), "FILE",
      "the sweep's database, NAME.db; ours is NAME.fuzz.db", NULL },
    { SWEEP, "device", OPTION_TEXT, AT(device), "cuda|cpu|replay=FILE",
      "GPUs, their emulation, or what was recorded", NULL },
    { FUZZ, "device", OPTION_TEXT, AT(device), "cuda|cpu",
      "GPUs, or their emulation", NULL },
    { SWEEP, "speed-up", OPTION_REAL, AT(speed_up), "N",
      "let a replay's builds and measurements pass N times faster", NULL },
    { RESUME, "speed-up", OPTION_REAL, AT(speed_up), "N",
      "of a replay: another one than before", NULL },
    { SWEEP, "cards", OPTION_TEXT, AT(cards), "FILE",
      "how a replay's GPUs differ from the recorded one", NULL },
    { SWEEP | FUZZ, "arch", OPTION_TEXT, AT(arch), "sm_89|...",
      "what the cpu device takes its gates from", NULL },
    { ALL, "ssh", OPTION_TEXT, AT(ssh), "libssh2|openssh",
      "how to reach the hosts", NULL },
    { ALL, "accept-new-host-keys", OPTION_FLAG, AT(accept_new_host_keys), NULL,
      "add unknown host keys to known_hosts", NULL },
    { SEARCHES | CONFIRM, "budget", OPTION_REAL, AT(budget_usd), "USD",
      "stop when the sweep has cost this much", NULL },
    { SEARCHES, "strategy", OPTION_TEXT, AT(strategy), "TEXT",
      "auto, lhs:20,tpe:100, ...; 'help' lists them", NULL },
    { SEARCHES, "evaluations", OPTION_INT, AT(evaluations), "N",
      "try at most so many configurations", NULL },
    { SEARCHES, "seed", OPTION_INT, AT(seed), "N", "of the strategy", NULL },
    { ALL, "max-hours", OPTION_REAL, AT(max_hours), "H",
      "stop this run after so many hours", NULL },
    { ALL, "linger", OPTION_INT, AT(linger_s), "S",
      "seconds a worker stays without a coordinator", NULL },
    { SWEEP, "dry-run", OPTION_FLAG, AT(dry_run), NULL,
      "say what would be done", NULL },
    { SWEEP, "fresh", OPTION_FLAG, AT(fresh), NULL,
      "begin anew; the old database is set aside", "dry-run" },
    { ALL, "log", OPTION_TEXT, AT(log), "FILE", "append events to a file",
      NULL },
    { BENCH | PROFILE | FUZZ, "json", OPTION_FLAG, AT(json), NULL,
      "for programs", NULL },
    { ALL, "quiet", OPTION_FLAG, AT(quiet), NULL, "no progress", NULL },
};

_Static_assert(sizeof(rows) / sizeof(rows[0]) <= RUN_FLAGS_MAX,
               "there is room for all of them");

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

/* ---- reading them ---- */

static bool lists_strategies(const struct run_settings *set)
{
    if (!set->strategy || strcmp(set->strategy, "help") != 0)
        return false;
    printf("--strategy NAME, or NAME:EVALUATIONS,NAME:EVALUATIONS,...\n");
    strategy_list(stdout);
    printf("  %-11s a program that is asked and told in JSON lines\n",
           "external:COMMAND");
    return true;
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
    rc = options_parse(&options, argc, argv, err);
    return rc == 0 && lists_strategies(set) ? OPTIONS_HELP : rc;
}

/* ---- what they say ---- */

static int check_replay(struct run_settings *set, bool runs_kernels,
                        struct err *err)
{
    const char *device = set->device ? set->device : "";
    bool is_replay = strcmp(device, REPLAY) == 0;

    if (strncmp(device, REPLAY "=", strlen(REPLAY "=")) == 0) {
        set->record = device + strlen(REPLAY "=");
        set->device = REPLAY;
        is_replay = true;
    }
    if (!is_replay && (set->speed_up >= 0 || set->cards))
        return err_set(err, ERR_INPUT,
                       "--%s is for a replay: --device replay=FILE",
                       set->cards ? "cards" : "speed-up");
    if (!is_replay)
        return 0;
    if (runs_kernels)
        return err_set(err, ERR_INPUT,
                       "--device=replay: a record has times and failures, no "
                       "kernels that could be run");
    if (!set->record || !set->record[0])
        return err_set(err, ERR_INPUT,
                       "--device=replay: say which record: --device "
                       "replay=FILE, a cache of Kernel Tuner or the database "
                       "of a sweep");
    if (set->speed_up > SPEED_UP_MOST)
        return err_set(err, ERR_INPUT, "--speed-up=%g: at most %g",
                       set->speed_up, SPEED_UP_MOST);
    if (set->speed_up == 0)
        return err_set(err, ERR_INPUT,
                       "--speed-up=0: above 0; 1 is as fast "
                       "as it was recorded");
    if (set->speed_up < 0)
        set->speed_up = 1;
    return 0;
}

int run_settings_check(struct run_settings *set, bool runs_kernels,
                       struct err *err)
{
    const struct arch_facts *facts;
    int rc = check_replay(set, runs_kernels, err);

    if (rc < 0)
        return rc;
    if (set->device && strcmp(set->device, "cuda") != 0 &&
        strcmp(set->device, "cpu") != 0 && strcmp(set->device, REPLAY) != 0)
        return err_set(err, ERR_INPUT,
                       "--device=%s: there are 'cuda', 'cpu' and "
                       "'replay=FILE'",
                       set->device);
    if (strcmp(set->ssh, "libssh2") != 0 && strcmp(set->ssh, "openssh") != 0)
        return err_set(err, ERR_INPUT,
                       "--ssh=%s: there are 'libssh2' and 'openssh'", set->ssh);
    if (set->linger_s > LINGER_MAX_S)
        return err_set(err, ERR_INPUT, "--linger: at most %d seconds",
                       LINGER_MAX_S);
    if (set->evaluations == 0)
        return err_set(err, ERR_INPUT, "--evaluations: one at least");
    return arch_find_named(set->arch, &facts, err);
}
