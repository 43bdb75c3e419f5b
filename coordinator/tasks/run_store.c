#include "coordinator/tasks/run_store.h"

#include <assert.h>
#include <stddef.h>
#include <string.h>
#include <sys/stat.h>

#include "common/clock.h"
#include "common/device_kind.h"
#include "common/err.h"
#include "coordinator/spec/spec.h"
#include "coordinator/store/dbfile.h"
#include "coordinator/store/store.h"
#include "coordinator/store/whole.h"
#include "coordinator/stored/past_runs.h"
#include "coordinator/tasks/run.h"
#include "coordinator/text/outfile.h"

/* Also of files that do not exist yet. */
static bool is_same_file(const char *a, const char *b)
{
    struct stat of_a, of_b;
    bool a_is = stat(a, &of_a) == 0, b_is = stat(b, &of_b) == 0;

    if (a_is && b_is)
        return of_a.st_dev == of_b.st_dev && of_a.st_ino == of_b.st_ino;
    return !a_is && !b_is && strcmp(a, b) == 0;
}

/* What the run tells goes into files of its own: to make them first and the
 * database after them would mix both. */
static int check_told(const char *flag, const char *file, const struct run *run,
                      struct err *err)
{
    const struct {
        const char *is, *path;
    } taken[] = { { "database", run->db },
                  { "sweep file", run->spec ? run->spec->file.path : NULL },
                  { "hosts file", run->hosts_file },
                  { "record", run->set.record } };
    int rc;

    if (!file)
        return 0;
    for (size_t i = 0; i < sizeof(taken) / sizeof(taken[0]); i++)
        if (taken[i].path && is_same_file(file, taken[i].path))
            return err_set(err, ERR_INPUT,
                           "--%s=%s: this is the %s; name another file", flag,
                           file, taken[i].is);
    rc = outfile_folder(file, err);
    if (rc == 0)
        rc = outfile_spare(file, err);
    return err_within(err, rc, "--%s", flag);
}

int run_store_check_place(const struct run *run, struct err *err)
{
    const struct run_settings *set = &run->set;
    int rc = err_within(err, outfile_folder(run->db, err), "--db");

    if (rc == 0)
        rc = check_told("log", set->told.log, run, err);
    if (rc == 0)
        rc = check_told("metrics", set->told.metrics, run, err);
    if (rc < 0 || !set->record || !is_same_file(set->record, run->db))
        return rc;
    return err_set(err, ERR_INPUT,
                   "%s is the record that is replayed, so it cannot take the "
                   "results; name another database with --db",
                   run->db);
}

/* Databases of a sweep and of a fuzz proof are different. */
static int check_kind(const struct store_sweep *was, bool asked,
                      const char *path, struct err *err)
{
    if (past_runs_asked(was) == asked)
        return 0;
    return asked ? err_set(err, ERR_INPUT,
                           "%s holds a sweep; fuzz needs a database of its "
                           "own: name another one with --db",
                           path)
                 : err_set(err, ERR_INPUT,
                           "%s holds results of fa-coord fuzz; a sweep needs a "
                           "database of its own: name another one with --db",
                           path);
}

static int check_sweep(const struct store_sweep *was, const struct run *run,
                       struct err *err)
{
    static const char what_to_do[] =
        "name another database with --db, or start with 'fa-coord sweep "
        "--fresh', which keeps this one under another name";

    assert(was->name && was->device);
    if (!*was->name) /* its row was lost, and 'fa-coord recover' made one */
        return 0;
    if (strcmp(was->name, run->spec->name) != 0)
        return err_set(err, ERR_INPUT,
                       "%s holds the sweep '%.64s', not '%.64s'; %s", run->db,
                       was->name, run->spec->name, what_to_do);
    /* what was rented for is not given up for what any machine can do again */
    if (device_kind_is(was->device, DEVICE_KIND_CUDA) &&
        strcmp(was->device, run->set.device) != 0)
        return err_set(err, ERR_INPUT,
                       "%s holds results of device %.16s, not %.16s; %s",
                       run->db, was->device, run->set.device, what_to_do);
    return 0;
}

static int check_work(const struct run *run, struct store *store, bool asked,
                      struct err *err)
{
    struct store_sweep was = { .key = NULL };
    struct past_runs *past = NULL;
    int rc = past_runs_open(store, &past, err);

    if (rc == 0)
        rc = past_runs_sweep(past, &was, err);
    if (rc == 1) {
        rc = check_kind(&was, asked, store_path(store), err);
        /* a proof runs on either device before the sweep */
        if (rc == 0 && !asked)
            rc = check_sweep(&was, run, err);
    }
    past_runs_close(past);
    return rc;
}

/* Opening a database to write brings it to the newest format, after which an
 * older fa-coord cannot read it.  One that is refused stays as it is.  What
 * cannot be read is for the one that opens it to say. */
static int check_unchanged(const struct run *run, bool asked, struct err *err)
{
    struct store *store;
    struct err later;
    int rc;

    if (dbfile_is_new(run->db) ||
        store_open(run->db, STORE_READ, &store, &later) < 0)
        return 0;
    rc = check_work(run, store, asked, err);
    store_close(store);
    return rc == ERR_INPUT ? rc : 0;
}

/* Once a command, so that a report can set what the command took beside what it
 * was thought to take. */
static int put_begun(struct run *run, struct store *store, struct err *err)
{
    const struct store_event event = {
        .at_utc = clock_utc_ns() - (clock_boot_ns() - run->began_ns),
        .level = "I",
        .name = STORE_COMMAND_BEGUN,
        .text = run->begun.forecast ? run->begun.forecast : "{}",
    };

    if (run->begun.is_stored)
        return 0;
    run->begun.is_stored = true;
    return store_event(store, &event, err);
}

int run_store_open(struct run *run, bool asked, struct store **out,
                   struct err *err)
{
    int rc = check_unchanged(run, asked, err);

    if (rc == 0)
        rc = store_open(run->db, STORE_CREATE, out, err);
    if (rc < 0)
        return rc;
    rc = err_within(err, whole_check(store_db(*out), err), "%s", run->db);
    if (rc == 0)
        rc = check_work(run, *out, asked, err);
    if (rc == 0)
        rc = run_fuzz_bill(run->db, *out, NULL, err);
    if (rc == 0 && !asked)
        rc = put_begun(run, *out, err);
    if (rc == 0)
        rc = store_commit(*out, err);
    if (rc < 0)
        store_close(*out);
    return rc;
}
