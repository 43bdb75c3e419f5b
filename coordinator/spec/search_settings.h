/* search_settings.h - the search settings of a sweep, and their resolution
 *
 * The command line or the sweep file gives them.  'auto' is resolved from the
 * number of points and the time they may take.
 * Pure.
 */
#ifndef FA_COORDINATOR_SPEC_SEARCH_SETTINGS_H
#define FA_COORDINATOR_SPEC_SEARCH_SETTINGS_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/search/effort.h"
#include "coordinator/search/halving_rules.h"

struct buf;
struct err;
struct hosts;
struct landscape;

#define SEARCH_SETTINGS_AUTO "auto"
#define SEARCH_SETTINGS_EXTERNAL "external:" /* and a command */
#define SEARCH_SETTINGS_EVALUATIONS_MAX 16777216
#define SEARCH_SETTINGS_IN_FLIGHT_MAX 65536
#define SEARCH_SETTINGS_SEED_MAX \
    INT64_C(9007199254740992) /* 2^53, exact in JSON */

struct search_settings {
    const char *strategy;
    int64_t evaluations; /* 0: not given */
    int64_t seed;
    int64_t in_flight; /* at most so many at once; 0: not given */
    struct successive_halving_rules race; /* first is 0 without a race */
    const char *objective; /* objective.h; always from the sweep file */
    enum effort effort;
    const struct landscape *warm; /* what it begins with, borrowed, or NULL; it
                                   * is not stored */
};

/* ERR_INPUT if the strategy is malformed, or does not fit the objective. */
int search_settings_check(const struct search_settings *search_settings,
                          struct err *err);
/* The command of an external strategy; NULL for other strategies. */
const char *
search_settings_command(const struct search_settings *search_settings);
/* Write them as members of a JSON object, except for the objective, and read
 * them back.  The objective is part of the sweep: a file with another objective
 * is another sweep.  The caller of search_settings_recall() frees the strategy
 * in 'out'. */
void search_settings_put(const struct search_settings *search_settings,
                         struct buf *out);
int search_settings_recall(const char *settings, struct search_settings *out,
                           char **strategy, struct err *err);
/* Split the command at blanks, without quoting: argv with a NULL at the end.
 * The caller frees the returned block, which holds the words too. */
#define SEARCH_SETTINGS_WORDS_MAX 64
char *search_settings_split(const char *command,
                            const char *argv[SEARCH_SETTINGS_WORDS_MAX + 1]);

/* Time to build a lean kernel on one core, and to check and time it once:
 * measured with flash attention on an H200, nvcc 13. Before the first build
 * nothing better is known. */
#define SEARCH_SETTINGS_BUILD_S 0.4
#define SEARCH_SETTINGS_MEASURE_S 0.05
/* The slowest builds of flash attention took so long.  What would not fit into
 * a cap then is not called sure to fit while no build time is known. */
#define SEARCH_SETTINGS_BUILD_MOST_S 18.0

/* The conditions under which they are resolved. */
struct search_settings_scope {
    int64_t points; /* that pass the gates, >= 1 */
    int shapes;
    double hours;    /* 0: no cap */
    int slots, gpus; /* >= 1, of all hosts */
    /* Seconds that were measured; 0: not known */
    double build_s, measure_s;
    bool guessed;  /* no time is known: a cap may end what seems to fit */
    double kept_s; /* of the hours, for the confirmation */
};

/* Resources of the hosts file.  What it leaves open counts as 4 slots (for this
 * machine: its cores) and one GPU. */
void search_settings_hosts(const struct hosts *hosts, int *slots, int *gpus);

struct search_settings_plan {
    const char *strategy; /* never just 'auto' */
    int evaluations;      /* at most */
    bool all;             /* every point, in order */
    int64_t most_out;     /* in flight, if given; else 0 */
    char in_flight[64];   /* ", at most 8 in flight", "" without a limit */
    double limit_s;       /* the search ends when it has lasted so long ... */
    int least;            /* ... and asked for so many; 0 s: no limit */
    bool drawn;           /* of DOMAIN_DRAWN points, as there are too many */
    char why[200];        /* "auto: ..."; "" if nothing was decided */
};

/* ERR_INPUT if there are more points than the strategy can search. */
int search_settings_plan(const struct search_settings *search_settings,
                         const struct search_settings_scope *scope,
                         struct search_settings_plan *out, struct err *err);

#endif
