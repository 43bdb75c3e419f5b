#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "coordinator/cli/cmd.h"
#include "coordinator/inspect/explain.h"
#include "coordinator/result/report.h"
#include "coordinator/result/stored_spec.h"
#include "coordinator/store/dbpath.h"
#include "coordinator/store/store.h"
#include "coordinator/tasks/fail.h"
#include "coordinator/tasks/options.h"
#include "coordinator/text/terminal.h"

static int run(struct store *store, const char *which, bool json,
               struct err *err)
{
    struct report *report = NULL;
    struct stored_spec stored = { NULL, NULL, NULL };
    struct explain explain;
    int rc = report_load(store, &report, err);

    if (rc == 0)
        rc = stored_spec_open(report, &stored, err);
    if (rc == 0)
        rc = explain_find(report, &stored, which, &explain, err);
    if (rc == 0) {
        rc = explain_print(&explain, report, &stored, store, json, stdout, err);
        explain_fini(&explain);
    }
    if (rc == 0)
        rc = terminal_flush(stdout, err);
    stored_spec_close(&stored);
    report_free(report);
    return rc;
}

int cmd_explain(int argc, char *argv[])
{
    bool json = false;
    const char *plain[2] = { NULL, NULL };
    const struct option list[] = {
        { "json", OPTION_FLAG, &json, NULL, "print every row as JSON", NULL },
    };
    const struct options options = {
        "explain",
        "[DB] CONFIG",
        "Explain why a configuration was skipped, failed, was retried or has "
        "its rank.  CONFIG is A=1,B=2 or the first digits of its key.",
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
    return rc < 0 ? fail_with(rc, &err) : 0;
}
