/* work.h - the work of a sweep, and the leases that were handed out
 */
#ifndef FA_COORDINATOR_STATE_WORK_H
#define FA_COORDINATOR_STATE_WORK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "coordinator/plan/plan.h"
#include "coordinator/schedule/sched.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/state/tried.h"

struct arrivals;
struct fetch; /* artifacts.c */
struct incumbents;
struct kept;
struct space;
struct spec;

/* The number of rounds between two rungs of a race.  Repetitions for other
 * reasons take the rounds after a rung, and must not reach the next rung. */
#define SWEEP_RUNG_ROUNDS 1000

/* A lease of this run; only its host may send the result. */
struct issued_lease {
    int unit;
    int shape;
    enum job_stage stage;
    int host;
    int64_t granted_ns, started_ns; /* CLOCK_BOOTTIME; 0: not yet */
    int64_t sent_ns;                /* likewise; a sleep does not move it */
    int64_t limit_ns;               /* that its worker was given */
    int64_t arriving_ns;            /* that do not count: files arrived */
    char artifact[HASH_HEX];        /* to be measured, or "" */
    char gpu[HASH_HEX];             /* hash_of() its UUID, or "" */
    char nonce[HASH_HEX];           /* of its result, or "" */
    int samples_most;               /* that were asked for */
    int wants;                      /* files that were sent for it */
    bool adopted;                   /* the worker had it from an earlier run */
    int64_t order;                  /* 0: no pass ordered it */
    int pass;                       /* of the order */
    enum sched_purpose purpose;
    int round;
};

/* A lease that an earlier run left open. */
struct left_lease {
    char host[320]; /* its name */
    enum job_stage stage;
    int unit, shape;
};

struct work_count {
    int settled, correct; /* measurements */
    int left_out;         /* builds that are not part of this command */
    int64_t passed;       /* points that pass the gates */
    struct tried tried;   /* the same by configuration */
};

struct work {
    struct spec *spec;
    struct space *space;
    struct plan *plan;             /* NULL until the device facts are known */
    struct sched *sched;           /* likewise */
    struct incumbents *incumbents; /* likewise */
    char arch[32];
    struct gpu_arch_facts facts; /* of the sweep's one GPU model */
    char gpu_name[256];

    char (*artifacts)[HASH_HEX]; /* of each unit and the reference; "" none */
    /* [units + 1]: how often the artifact was lost since it was last used */
    int *vanished;
    struct issued_lease *issued; /* index is lease id - 1 */
    size_t n_issued;
    struct {
        struct left_lease *list;
        size_t n;
    } left;
    struct fetch *fetches;
    size_t n_fetches;
    struct kept *kept;         /* kept_artifacts.c; NULL until used */
    struct arrivals *arrivals; /* of the files of arguments; NULL until used */
    const char *useless_on;    /* the host where the reference was of no use, or
                                * NULL */
    struct {
        double mean_ns[2]; /* of a build, of a measurement; 0: not yet known */
        double longest_measure_ns; /* of late; likewise */
    } pace;
    struct work_count count;
};

/* The purpose of the unit's build, as messages have it. */
const char *work_build_purpose(const struct work *work, int unit);
bool work_is_build_purpose(const char *word);
/* The unit of a configuration's key, or of the reference's build; or -1. */
int work_find_unit(const struct work *work, const char *config,
                   const char *purpose);

#endif
