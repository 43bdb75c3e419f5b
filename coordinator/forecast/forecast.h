/* forecast.h - what a command will take: seconds and dollars before it begins
 *
 * The hosts of a run as machines, and what its database, or another one that is
 * named, taught about them, for coordinator/estimate.
 */
#ifndef FA_COORDINATOR_FORECAST_FORECAST_H
#define FA_COORDINATOR_FORECAST_FORECAST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/estimate/estimate.h"
#include "coordinator/stored/stored_pace.h"

struct err;
struct json_out;
struct run;

/* Fewer builds or measurements say too little. */
#define FORECAST_BUILDS_LEAST 3

struct forecast {
    const struct run *run;
    const char *learnt_from; /* borrowed from the run; NULL: nothing was */
    struct stored_pace pace; /* of that database */
    int64_t settled;         /* configurations that need no work */
    double spent_usd;        /* on its own database */
    double reserve_s;        /* that a cap keeps for a confirmation, or 0 */
    struct estimate_machine *machines; /* alike ones together */
    int *counts;                       /* how many of them would be used */
    size_t n;
    struct estimate_problem problem;
    struct estimate estimate; /* of these counts */
};

/* What is asked for: configurations to try, each at so many shapes.  Returns 0,
 * and the caller calls forecast_fini(); or ERR_STORE. */
int forecast_make(const struct run *run, int64_t evaluations, size_t shapes,
                  struct forecast *out, struct err *err);
void forecast_fini(struct forecast *forecast); /* of zeros is fine */

/* For people: lines with a label.  'columns': as those of 'check'. */
void forecast_print(const struct forecast *forecast, bool columns);
/* The members of an object that is open. */
void forecast_put(const struct forecast *forecast, struct json_out *out);
/* After the end of a command: how to go on, if it can.  'command' is "resume"
 * or "confirm", of what the forecast is, which may be of zeros. */
void forecast_say_next(const struct forecast *forecast, const struct run *run,
                       int code, const char *command);
/* What is stored at the beginning of a run, as JSON; the caller frees it. */
char *forecast_text(const struct forecast *forecast);

#endif
