/* costs.h - what the hours and dollars of a sweep were spent on
 *
 * A list of lines, which the text, the JSON and the CSV of 'report --cost' all
 * show; docs/report.md says what each means.  Dollars are those of the rates at
 * the time (report_cost.h); those of a GPU are its share of its host.
 */
#ifndef FA_COORDINATOR_COSTS_COSTS_H
#define FA_COORDINATOR_COSTS_COSTS_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct report_cost;
struct store;

enum costs_scope {
    COSTS_GPU,    /* name: "HOST UUID"; item: a kind of gpu_time.h */
    COSTS_PHASE,  /* item: search proof confirm bench profile builds */
    COSTS_RUN,    /* name: the epoch of a run; item: its phase */
    COSTS_SPENT,  /* item: failures lost retries until_winner */
    COSTS_SAVED,  /* item: gates cache shared_code */
    COSTS_SERIAL, /* item: tuner */
};

struct costs_line {
    enum costs_scope scope;
    char *name;       /* "" if the scope has none */
    const char *item; /* a word of this list; of static storage */
    int64_t count;    /* of what it was spent on; -1: nothing is counted */
    double seconds;   /* NaN: not known */
    double usd;       /* likewise, or unpriced */
};

struct costs {
    struct costs_line *lines;
    size_t n;
};

const char *costs_scope_name(enum costs_scope scope);

/* 'winner' is the key of the configuration that was chosen, or NULL.
 * ERR_STORE */
int costs_load(struct store *store, const struct report_cost *cost,
               const char *winner, struct costs **out, struct err *err);
void costs_free(struct costs *costs); /* NULL is fine */

#endif
