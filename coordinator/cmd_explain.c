#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "coordinator/cmd.h"
#include "coordinator/dbpath.h"
#include "coordinator/explain.h"
#include "coordinator/options.h"
#include "coordinator/report.h"
#include "coordinator/store.h"
#include "coordinator/stored.h"
#include "coordinator/terminal.h"

static int run(struct store *store, const char *which, bool json,
               struct err *err)
{
    struct report *report = NULL;
    struct stored stored = { NULL, NULL, NULL };
    struct explain explain;
    int rc = report_load(store, &report, err);

    if (rc == 0)
        rc = stored_open(report, &stored, err);
    if (rc == 0)
        rc = explain_find(report, &stored, which, &explain, err);
    if (rc == 0) {
        rc = explain_print(&explain, report, &stored, store, json, stdout, err);
        explain_fini(&explain);
    }
    if (rc == 0)
        rc = terminal_flush(stdout, err);
    stored_close(&stored);
    report_free(report);
    return rc;
}

int cmd_explain(int argc, char *argv[])
{
    bool json = false;
    const char *plain[2] = { NULL, NULL };
    const struct option list[] = {
        { "json", OPTION_FLAG, &json, NULL, "every row, for programs", NULL },
    };
    const struct options options = {
        "explain",
        "[DB] CONFIG",
        "why this one was skipped, failed, retried, ranked there; CONFIG is "
        "A=1,B=2 or the first digits of a key",
        list,
        1,
        1,
        2,
        plain,
    };
    struct store *store = NULL;
    char *path = NULL;
    struct err err;
    int rc = options_parse(&options, argc, argv, &err);

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc == 0)
        rc = dbpath_find(plain[1] ? plain[0] : NULL, &path, &err);
    if (rc == 0)
        rc = store_open(path, STORE_READ, &store, &err);
    if (rc == 0)
        rc = run(store, plain[1] ? plain[1] : plain[0], json, &err);
    store_close(store);
    free(path);
    return rc < 0 ? cmd_fail(rc, &err) : 0;
}
