/* search_settings.h - how a sweep is told to search, and what that comes to
 * here
 *
 * As the command line or the sweep file says it.  'auto' is a decision that
 * depends on how many points there are and how long they may take.
 * Pure.
 */
#ifndef FA_COORDINATOR_SPEC_SEARCH_SETTINGS_H
#define FA_COORDINATOR_SPEC_SEARCH_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/search/halving_rules.h"

struct buf;
struct err;
struct hosts;

#define SEARCH_SETTINGS_AUTO "auto"
#define SEARCH_SETTINGS_EXTERNAL "external:" /* and a command */
#define SEARCH_SETTINGS_EVALUATIONS_MAX 16777216
#define SEARCH_SETTINGS_SEED_MAX \
    INT64_C(9007199254740992) /* 2^53, exact in JSON */

struct search_settings {
    const char *strategy;
    int64_t evaluations; /* 0: not said */
    int64_t seed;
    struct successive_halving_rules race; /* first is 0 without a race */
    const char *objective; /* objective.h; the sweep file's, always */
};

/* ERR_INPUT when the strategy is not written right, or does not go with the
 * objective. */
int search_settings_check(const struct search_settings *search_settings,
                          struct err *err);
/* The command of an external strategy, NULL for another strategy. */
const char *
search_settings_command(const struct search_settings *search_settings);
/* As members of a JSON object that more follow, and back from a stored one, but
 * for the objective: a file that changed it is of another sweep.
 * What 'out' points to is for search_settings_recall()'s caller to free: its
 * strategy. */
void search_settings_put(const struct search_settings *search_settings,
                         struct buf *out);
int search_settings_recall(const char *settings, struct search_settings *out,
                           char **strategy, struct err *err);
/* Its words, parted by blanks, no quotes: argv up to a NULL.  They live in what
 * is returned, for the caller to free. */
#define SEARCH_SETTINGS_WORDS_MAX 64
char *search_settings_split(const char *command,
                            const char *argv[SEARCH_SETTINGS_WORDS_MAX + 1]);

/* A lean kernel on one core, and checking and timing it once: measured with
 * flash attention on an H200, nvcc 13.  Before anything is built there is
 * nothing better. */
#define SEARCH_SETTINGS_BUILD_S 0.4
#define SEARCH_SETTINGS_MEASURE_S 0.05

/* Where they apply. */
struct search_settings_scope {
    int64_t points; /* that pass, >= 1 */
    int shapes;
    double hours;    /* 0: no cap */
    int slots, gpus; /* >= 1, of all hosts */
};

/* What a hosts file says of them; what it leaves open is taken to be 4 slots,
 * or the cores of this machine, and one GPU. */
void search_settings_hosts(const struct hosts *hosts, int *slots, int *gpus);

struct search_settings_plan {
    const char *strategy; /* never 'auto' alone */
    int evaluations;      /* at most */
    bool all;             /* each point, in order */
    char why[200];        /* "auto: ..."; "" where nothing was decided */
};

/* ERR_INPUT when there are more points than can be searched. */
int search_settings_plan(const struct search_settings *search_settings,
                         const struct search_settings_scope *scope,
                         struct search_settings_plan *out, struct err *err);

#endif
