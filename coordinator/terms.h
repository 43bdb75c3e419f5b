/* terms.h - how a sweep is told to search, and what that comes to here
 *
 * As the command line or the sweep file says it.  'auto' is a decision that
 * depends on how many points there are and how long they may take.
 * Pure.
 */
#ifndef FA_COORDINATOR_TERMS_H
#define FA_COORDINATOR_TERMS_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/race.h"

struct buf;
struct err;
struct hosts;

#define TERMS_AUTO "auto"
#define TERMS_EXTERNAL "external:" /* and a command */
#define TERMS_EVALUATIONS_MAX 16777216
#define TERMS_SEED_MAX INT64_C(9007199254740992) /* 2^53, exact in JSON */

struct terms {
    const char *strategy;
    int64_t evaluations; /* 0: not said */
    int64_t seed;
    struct race_rules race; /* first is 0 without a race */
    const char *objective;  /* objective.h; the sweep file's, always */
};

/* ERR_INPUT when the strategy is not written right, or does not go with the
 * objective. */
int terms_check(const struct terms *terms, struct err *err);
/* The command of an external strategy, NULL when it is none. */
const char *terms_command(const struct terms *terms);
/* As members of a JSON object that more follow, and back from a stored one, but
 * for the objective: a file that changed it is of another sweep.
 * What 'out' points to is for terms_recall()'s caller to free: its strategy. */
void terms_settings(const struct terms *terms, struct buf *out);
int terms_recall(const char *settings, struct terms *out, char **strategy,
                 struct err *err);
/* Its words, parted by blanks, no quotes: argv up to a NULL.  They live in what
 * is returned, for the caller to free. */
#define TERMS_WORDS_MAX 64
char *terms_split(const char *command, const char *argv[TERMS_WORDS_MAX + 1]);

/* A lean kernel on one core, and checking and timing it once: measured with
 * flash attention on an H200, nvcc 13.  Before anything is built there is
 * nothing better. */
#define TERMS_BUILD_S 0.4
#define TERMS_MEASURE_S 0.05

/* Where they apply. */
struct terms_scope {
    int64_t points; /* that pass, >= 1 */
    int shapes;
    double hours;    /* 0: no cap */
    int slots, gpus; /* >= 1, of all hosts */
};

/* What a hosts file says of them; what it leaves open is taken to be 4 slots,
 * or the cores of this machine, and one GPU. */
void terms_hosts(const struct hosts *hosts, int *slots, int *gpus);

struct terms_plan {
    const char *strategy; /* never 'auto' alone */
    int evaluations;      /* at most */
    bool all;             /* each point, in order */
    char why[200];        /* "auto: ..."; "" where nothing was decided */
};

/* ERR_INPUT when there are more points than can be searched. */
int terms_plan(const struct terms *terms, const struct terms_scope *scope,
               struct terms_plan *out, struct err *err);

#endif
