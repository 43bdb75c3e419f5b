/* report_loaded.h - all that a report shows, read from one database
 *
 * The sweep, its cost, its verdict, its profiles and its lessons are read in
 * one transaction, so that they agree while a coordinator writes.  It lasts
 * until the store is closed, so that what is read later agrees, too.  Metrics
 * and lessons may be missing: times and failures are useful without them.
 */
#ifndef FA_COORDINATOR_REPORT_REPORT_LOADED_H
#define FA_COORDINATOR_REPORT_REPORT_LOADED_H

#include "common/err.h"
#include "coordinator/costs/foreseen.h"
#include "coordinator/inspect/profile.h"
#include "coordinator/lessons/lessons.h"
#include "coordinator/report/report_print.h"

struct store;
struct survey;

struct report_loaded {
    struct report_view view; /* of what follows */
    struct report *report;
    struct survey *survey; /* that the report is of; NULL: it was read whole */
    struct report_cost *cost;
    struct costs *costs;
    struct conclusion *conclusion;
    struct lessons lessons;
    struct profile profiles;
    struct foreseen foreseen;
    struct err no_metrics, no_lessons; /* why; "" if they are there */
    struct err no_match;               /* of report_where_remark() */
};

/* The configurations that the report is to have. */
struct report_wanted {
    bool whole;        /* all */
    size_t top;        /* the first ones by rank, and those that others name */
    const char *where; /* all, and this selects some (report_where.h) */
};

/* 'store' was opened to read.  Returns 0, or the error of what could not be
 * read; report_loaded_fini() either way. */
int report_loaded_init(struct store *store, const struct report_wanted *wanted,
                       struct report_loaded *out, struct err *err);
/* Also read what the cost was spent on, into the view.  ERR_STORE */
int report_loaded_costs(struct store *store, struct report_loaded *loaded,
                        struct err *err);
void report_loaded_fini(struct report_loaded *loaded);

#endif
