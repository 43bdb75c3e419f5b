/* landscape.h - a tuning space with recorded measurements
 *
 * It is read from a Kernel Tuner cache file or a T4 file, gzip or plain; a file
 * that ends early because its writer crashed is read as far as it goes.  Or it
 * is read from the database of a sweep: its headline shape, and the
 * configurations that were settled.  A configuration has the number of its
 * point in the domain. Immutable once read; any thread may read it.
 */
#ifndef FA_COORDINATOR_REPLAY_LANDSCAPE_H
#define FA_COORDINATOR_REPLAY_LANDSCAPE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/outcome.h"

struct gpu_arch_facts;
struct domain;
struct err;

/* Members of a configuration that only fa-coord writes.  Kernel Tuner has no
 * words for some failures, and no reasons. */
#define LANDSCAPE_OUTCOME "fa_outcome"
#define LANDSCAPE_REASON "fa_reason"

struct landscape_tunable {
    char *name;
    bool ordered;    /* all values are numbers; they ascend */
    int n;           /* number of values, which are the levels of the domain */
    char **texts;    /* as JSON would write them, texts without quotes */
    double *numbers; /* NAN if the value is not a number */
};

struct landscape_config {
    enum outcome outcome;
    double time_s;    /* as recorded: a mean; > 0 if timed */
    size_t sample_at; /* index in 'samples' */
    int samples_n;
    double compile_s, verify_s, bench_s; /* 0: not recorded */
    int64_t recorded_utc;                /* 0: not known */
    char *reason;                        /* of a failure; NULL: not recorded */
};

struct landscape {
    char *device, *kernel;        /* "" when not recorded */
    char *problem;                /* its sizes, in JSON; NULL: not known */
    struct gpu_arch_facts *facts; /* of the device; NULL: not recorded */
    struct landscape_tunable *tunables;
    int tunables_n;
    struct domain *domain;
    struct landscape_config *configs; /* [domain_size] */
    double *samples;                  /* seconds, not normalised, of all
                                       * configurations */
    size_t samples_n;
    int best;      /* the fastest point, or -1 */
    int baseline;  /* the configuration that others were compared with, or -1 */
    bool unclosed; /* the file ends before its last brace */
    int repeated;  /* duplicate configurations; the first one counts */
};

/* ERR_INPUT with "file:line: what", ERR_SYSTEM when it cannot be read. */
int landscape_load(const char *path, struct landscape **out, struct err *err);
/* Give the tunables and texts names that a sweep file accepts.  Characters that
 * it does not accept become '_'. A name that is a keyword or already taken gets
 * another '_'. */
void landscape_fit_names(struct landscape *landscape);
void landscape_free(struct landscape *landscape); /* NULL is fine */

#endif
