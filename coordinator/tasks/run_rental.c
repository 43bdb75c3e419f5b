/* The hosts that start= acquires, over all runs of a command. */
#include "coordinator/tasks/run.h"
#include "coordinator/tasks/run_rental.h"

#include <libgen.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/remote/ssh_config.h"
#include "coordinator/rental/release.h"
#include "coordinator/rental/rental.h"
#include "coordinator/rental/rental_bill.h"
#include "coordinator/rental/rental_plan.h"
#include "coordinator/rental/rental_rows.h"
#include "coordinator/ssh_keys/key_file.h"
#include "coordinator/store/dblock.h"
#include "coordinator/store/store.h"
#include "coordinator/options/fail.h"
#include "coordinator/text/exit_code.h"
#include "coordinator/text/shell_word.h"

struct run_rental {
    struct rental *machines; /* NULL: no host of the file is rented */
    char *db;                /* of the sweep, also while fuzz has its own */
    struct store *store;     /* open beside that of fuzz; or NULL */
    bool is_clean;           /* what earlier commands left was looked for */
};

static bool has_rented(const struct hosts *hosts)
{
    for (size_t i = 0; i < hosts->n; i++)
        if (host_is_rented(&hosts->list[i]))
            return true;
    return false;
}

/* The folder of the hosts file, for its commands. */
static struct rental *machines_of(const struct run *run)
{
    char *path = mem_strdup(run->hosts_file);
    struct rental *machines = rental_new(&run->hosts, dirname(path));

    free(path);
    return machines;
}

void run_rental_new(struct run *run)
{
    run->rental = mem_new(1, sizeof(*run->rental));
    run->rental->db = mem_strdup(run->db);
    if (has_rented(&run->hosts))
        run->rental->machines = machines_of(run);
}

int run_rental_check_keys(const struct hosts *hosts, const char *home,
                          struct err *err)
{
    for (size_t i = 0; i < hosts->n; i++) {
        const struct host *host = &hosts->list[i];
        struct key_file file;
        char path[1024];
        int rc;

        if (!host_is_rented(host) || !host->key[0])
            continue;
        ssh_config_path(host->key, home, path, sizeof(path));
        rc = key_file_read(path, &file, err);
        if (rc == 1)
            return err_set(err, ERR_INPUT,
                           "%s: key: %s does not exist; check key= in the "
                           "hosts file",
                           host->name, path);
        if (rc < 0)
            return err_within(err, ERR_INPUT, "%s", host->name);
    }
    return 0;
}

/* Before anything is measured. */
#define BUILD_S 5.0
#define MEASUREMENT_S 0.03
#define SLOTS 4

static struct rental_machine *describe_machines(const struct hosts *hosts)
{
    struct rental_machine *machines = mem_new(hosts->n, sizeof(*machines));

    for (size_t i = 0; i < hosts->n; i++) {
        const struct host *host = &hosts->list[i];

        machines[i] = (struct rental_machine){
            .is_rented = host_is_rented(host),
            .measures = host_measures(host),
            .builds = host->role != HOST_GPU,
            .slots = host->slots ? host->slots : SLOTS,
            .gpus = 1,
            .rate = host->has_rate ? host->rate : 0,
            .boot_s = host->rental.boot_s,
            .min_s = host->rental.min_bill_s,
            .round_s = host->rental.round_s,
        };
    }
    return machines;
}

/* Names of hosts that are rented and wanted; "nothing" without one. */
static void list_wanted(const struct hosts *hosts, const bool *wanted,
                        char *out, size_t size)
{
    size_t len = 0, n = 0;

    for (size_t i = 0; i < hosts->n && len < size; i++) {
        if (!wanted[i] || !host_is_rented(&hosts->list[i]))
            continue;
        len += (size_t)snprintf(out + len, size - len, "%s%s", n ? ", " : "",
                                hosts->list[i].name);
        n++;
    }
    if (n == 0)
        snprintf(out, size, "nothing");
}

/* What is not known has the times of no sweep in particular. */
static struct rental_work known_work(const struct rental_work *work)
{
    struct rental_work known = *work;

    known.is_known = true;
    if (!(known.build_s > 0))
        known.build_s = BUILD_S;
    if (!(known.measurement_s > 0))
        known.measurement_s = MEASUREMENT_S;
    return known;
}

/* For all of it, and then for the measurements alone. */
static void want(const struct run *run, const struct rental_work *work,
                 bool *first, bool *then)
{
    struct rental_machine *machines = describe_machines(&run->hosts);
    struct rental_work left = known_work(work);
    enum rental_goal goal = RENTAL_GOAL_BALANCED;

    (void)rental_goal_read(run->set.rented.plan, &goal,
                           NULL); /* it was checked */
    rental_plan(goal, &left, machines, run->hosts.n, first);
    left.builds = 0;
    rental_plan(goal, &left, machines, run->hosts.n, then);
    free(machines);
}

void run_rental_wanted(const struct run *run, const struct rental_work *work,
                       bool *wanted)
{
    bool *then = mem_new(run->hosts.n, sizeof(*then));

    want(run, work, wanted, then);
    for (size_t i = 0; i < run->hosts.n; i++)
        wanted[i] = wanted[i] || then[i];
    free(then);
}

void run_rental_plan(const struct run *run, const struct rental_work *work,
                     char *out, size_t size)
{
    const struct hosts *hosts = &run->hosts;
    bool *first, *then;
    char builds[512], measures[512];

    *out = '\0';
    if (!has_rented(hosts))
        return;
    first = mem_new(hosts->n, sizeof(*first));
    then = mem_new(hosts->n, sizeof(*then));
    want(run, work, first, then);
    list_wanted(hosts, first, builds, sizeof(builds));
    list_wanted(hosts, then, measures, sizeof(measures));
    snprintf(out, size,
             "plan %s: start= acquires %s for the builds, and %s to "
             "measure; measured times change it",
             run->set.rented.plan, builds, measures);
    free(first);
    free(then);
}

static void say(void *self, const char *text)
{
    (void)self;
    fprintf(stderr, "%s\n", text);
}

/* stop= ran without its database; 'err' says what is wrong with that. */
static int not_noted(const char *db, const struct release_count *count,
                     struct err *err)
{
    size_t n = count->released + count->running;
    struct err why = *err;
    char *word;

    if (n == 0)
        return ERR_STORE;
    word = shell_word(db);
    err_set(err, ERR_STORE,
            "%s; the end of %zu machine%s is not noted: once the database is "
            "there and can be written, 'fa-coord release %s' runs stop= again "
            "and notes it",
            why.text, n, n == 1 ? "" : "s", word);
    free(word);
    return ERR_STORE;
}

static void say_running(const char *db, size_t n)
{
    char *word = shell_word(db);

    fprintf(stderr,
            "fa-coord: %zu machine%s NOT released and still cost%s money; once "
            "stop= works again: fa-coord release %s\n",
            n, n == 1 ? " was" : "s were", n == 1 ? "s" : "", word);
    free(word);
}

int run_rental_release(struct store *store, int64_t patience_s, struct err *err)
{
    const struct release_options options = { .say = say,
                                             .patience_s = patience_s };
    struct release_count count;
    int rc = release_all(store, &options, &count, err);

    if (rc == 0)
        rc = rental_bill(store, err);
    if (rc < 0)
        rc = not_noted(store_path(store), &count, err);
    if (count.signo) /* it is meant for what follows, too */
        kill(getpid(), count.signo);
    return rc < 0 ? rc : (int)count.running;
}

void run_rental_release_unwritten(const char *path, int64_t patience_s,
                                  struct err *why)
{
    struct release_options options = { .say = say, .patience_s = patience_s };
    struct dblock_holder holder;
    struct store *store = NULL;
    struct store_acquisition *rows = NULL;
    struct release_count count;
    struct err err; /* 'why' is the reason */
    size_t n = 0;
    int rc = dblock_is_held(path, &holder)
                 ? ERR_STORE
                 : store_open(path, STORE_READ, &store, &err);

    if (rc == 0)
        rc = rental_rows_open(store, &rows, &n, &err);
    store_close(store);
    if (rc == 0 && n > 0) {
        options.known = rows;
        options.n_known = n;
        (void)release_all(NULL, &options, &count, &err); /* writes nothing */
        if (count.running > 0)
            say_running(path, count.running);
        (void)not_noted(path, &count, why);
    }
    free(rows);
}

int run_rental_print(struct store *store, FILE *to, struct err *err)
{
    struct store_acquisition *rows = NULL;
    struct dblock_holder holder;
    size_t n = 0;
    char text[1200];
    int rc = rental_rows_open(store, &rows, &n, err);

    if (dblock_is_held(store_path(store), &holder) && holder.pid != getpid())
        n = 0; /* they are used */
    for (size_t i = 0; i < n; i++) {
        release_describe(&rows[i], text, sizeof(text));
        fprintf(to, "%s; 'fa-coord release' stops it\n", text);
    }
    free(rows);
    return rc;
}

void run_rental_remind(const char *path)
{
    struct store *store = NULL;
    struct err err; /* it was said before what is wrong */
    int rc = path && access(path, F_OK) == 0
                 ? store_open(path, STORE_READ, &store, &err)
                 : ERR_STORE;

    if (rc == 0)
        (void)run_rental_print(store, stderr, &err);
    store_close(store);
}

/* Is it the sweep's own database that is open? */
static struct store *own_store(struct run *run, struct store *store)
{
    return strcmp(run->db, run->rental->db) == 0 ? store : run->rental->store;
}

int run_rental_open(struct run *run, struct store *store,
                    struct sweep_rental *out, struct err *err)
{
    struct run_rental *rental = run->rental;
    int rc = 0;

    if (strcmp(run->db, rental->db) != 0 && rental->machines)
        rc = store_open(rental->db, STORE_CREATE, &rental->store, err);
    if (rc == 0 && !rental->is_clean && own_store(run, store)) {
        rental->is_clean = true;
        rc = run_rental_release(own_store(run, store), RELEASE_PATIENCE_S, err);
    }
    if (rc < 0)
        return rc;
    out->machines = rental->machines;
    out->store = own_store(run, store);
    return rental_goal_read(run->set.rented.plan, &out->goal, err);
}

void run_rental_close(struct run *run)
{
    store_close(run->rental->store);
    run->rental->store = NULL;
}

/* The rows in memory are there also if the database is not. */
static int release(struct run *run, int code)
{
    struct store_acquisition *known;
    size_t n_known = rental_running(run->rental->machines, &known);
    const struct release_options options = {
        .say = say,
        .patience_s = RELEASE_PATIENCE_S,
        .is_interrupted = exit_code_is_signal(code),
        .known = known,
        .n_known = n_known,
        .rental = run->rental->machines,
    };
    struct release_count count;
    struct store *store = NULL;
    struct err opening, err;
    int opened = store_open(run->rental->db, STORE_WRITE, &store, &opening);
    int rc = release_all(store, &options, &count, &err);

    if (opened < 0)
        err = opening;
    else if (rc == 0)
        rc = rental_bill(store, &err);
    store_close(store);
    free(known);
    if (count.running > 0)
        say_running(run->rental->db, count.running);
    if (opened < 0 || rc < 0) {
        (void)not_noted(run->rental->db, &count, &err);
        fprintf(stderr, "fa-coord: %s\n", err.text);
        return EXIT_DATABASE;
    }
    return count.running > 0 && code == EXIT_DONE ? EXIT_PARTIAL : code;
}

int run_rental_end(struct run *run, int code)
{
    struct run_rental *rental = run->rental;

    if (!rental)
        return code;
    if (rental->machines && rental->is_clean)
        code = release(run, code);
    if (!rental->is_clean && code != EXIT_DONE)
        run_rental_remind(rental->db);
    rental_free(rental->machines);
    free(rental->db);
    free(rental);
    run->rental = NULL;
    return code;
}
