/* fa-coord release: stop the machines that a sweep acquired and still has. */
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "coordinator/cli/cmd.h"
#include "coordinator/rental/release.h"
#include "coordinator/rental/rental_rows.h"
#include "coordinator/dbpath/dbpath.h"
#include "coordinator/store/store.h"
#include "coordinator/options/fail.h"
#include "coordinator/model_sweeps/model_sweeps.h"
#include "coordinator/options/options.h"
#include "coordinator/tasks/run.h"
#include "coordinator/tasks/run_rental.h"
#include "coordinator/text/exit_code.h"
#include "coordinator/text/json_out.h"
#include "coordinator/text/terminal.h"

static void put_rows(const struct store_acquisition *rows, size_t n)
{
    struct json_out out;

    json_out_init(&out, stdout);
    json_out_open(&out, NULL, '{');
    json_out_open(&out, "machines", '[');
    for (size_t i = 0; i < n; i++) {
        json_out_open(&out, NULL, '{');
        json_out_text(&out, "host", rows[i].host);
        json_out_text(&out, "id", rows[i].id);
        json_out_text(&out, "state", rows[i].state);
        json_out_text(&out, "machine", rows[i].machine);
        json_out_utc(&out, "started", rows[i].started_utc);
        if (isnan(rows[i].rate_usd_per_h))
            json_out_null(&out, "usd_per_hour");
        else
            json_out_real(&out, "usd_per_hour", rows[i].rate_usd_per_h);
        json_out_text(&out, "why", rows[i].why);
        json_out_close(&out);
    }
    json_out_close(&out);
    json_out_close(&out);
}

static int list(struct store *store, bool json, struct err *err)
{
    struct store_acquisition *rows = NULL;
    size_t n = 0;
    char text[1200];
    int rc = rental_rows_open(store, &rows, &n, err);

    if (rc == 0 && json) {
        put_rows(rows, n);
    } else if (rc == 0) {
        for (size_t i = 0; i < n; i++) {
            release_describe(&rows[i], text, sizeof(text));
            printf("%s\n", text);
        }
        if (n == 0)
            printf("every machine is released\n");
    }
    free(rows);
    return rc == 0 ? terminal_flush(stdout, err) : rc;
}

/* release_all() reads them. */
static void block_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

static int release(const char *path, int64_t patience_s)
{
    struct store *store = NULL;
    struct err err;
    int rc;

    rc = store_open(path, STORE_WRITE, &store, &err);
    block_signals();
    if (rc == ERR_STORE)
        run_rental_release_unwritten(path, patience_s, &err);
    if (rc == 0)
        rc = run_rental_release(store, patience_s, &err);
    if (rc == 0)
        printf("every machine is released\n");
    store_close(store);
    return rc < 0 ? fail_with(rc, &err) : rc > 0 ? EXIT_PARTIAL : 0;
}

/* What would be stopped. */
static int dry_run(const char *path, bool json)
{
    struct store *store = NULL;
    struct err err;
    int rc = store_open(path, STORE_READ, &store, &err);

    if (rc == 0)
        rc = list(store, json, &err);
    store_close(store);
    return rc < 0 ? fail_with(rc, &err) : 0;
}

int cmd_release(int argc, char *argv[])
{
    bool json = false, dry = false;
    int64_t patience_s = RELEASE_PATIENCE_S;
    struct dbpath_models models = { .n = 0 };
    const char *given = NULL;
    const struct option flags[] = {
        { "dry-run", OPTION_FLAG, &dry, NULL,
          "show which machines are not released", NULL },
        { "patience", OPTION_INT, &patience_s, "S",
          "seconds that a start= has to end, and a stop= to be run again",
          NULL },
        { "json", OPTION_FLAG, &json, NULL, "for programs; with --dry-run",
          NULL },
        { "db", OPTION_TEXT, &given, "FILE",
          "the database, instead of as an argument", NULL },
    };
    const struct options options = {
        .command = "release",
        .arguments = "[DB]",
        .what = "Stop the machines that a sweep acquired and did not release.",
        .list = flags,
        .n = sizeof(flags) / sizeof(flags[0]),
        .needing = "json",
        .needed = "dry-run",
        .first_flag = "db",
        .arguments_max = 1,
        .plain = &given,
    };
    char *path = NULL;
    struct err err;
    int rc = options_parse(&options, argc, argv, &err);

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc == 0 && !given)
        dbpath_models_find(&models);
    if (models.n > 0) {
        rc = model_sweeps_each(argv, json, &models);
        dbpath_models_fini(&models);
        return rc;
    }
    if (rc == 0)
        rc = dbpath_find(given, &path, &err);
    rc = rc < 0 ? fail_with(rc, &err)
         : dry  ? dry_run(path, json)
                : release(path, patience_s);
    free(path);
    return rc;
}
