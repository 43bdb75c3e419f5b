/* external_strategy.h - a strategy that is a program of the user
 *
 * The program speaks JSON lines on its stdin and stdout (docs/strategies.md).
 * It is told the tunables, asked for points and told results.  It need not know
 * which points are legal or already measured: if it names such a point, it is
 * told so at once, and asked for another.
 *
 * Nothing here blocks.  external_strategy_ask() sends the question and says
 * STRATEGY_WAIT; the owner polls external_strategy_poll() until
 * external_strategy_deadline(), calls external_strategy_work() and asks again.
 * After an error the program cannot be used any more: the owner continues with
 * another strategy, or ends.  Thread rule: one thread.  The domain outlives it.
 */
#ifndef FA_COORDINATOR_SEARCH_EXTERNAL_STRATEGY_H
#define FA_COORDINATOR_SEARCH_EXTERNAL_STRATEGY_H

#include <poll.h>
#include <stdbool.h>
#include <stdint.h>

#include "coordinator/search/strategy.h"

struct err;
struct external_strategy;

struct external_strategy_tunable {
    const char *name;
    const char *const *values; /* [levels] each as JSON */
};

struct external_strategy_options {
    const char *const *argv; /* the first is looked up in PATH; no shell */
    const struct domain *domain;
    const struct external_strategy_tunable
        *tunables;             /* one for each of the domain */
    const char *const *shapes; /* names; the first is the headline */
    int n_shapes;              /* 0: it is told no shapes */
    const char *objective;     /* objective.h */
    int budget;                /* 0: as many as there are points */
    uint64_t seed;
    int64_t answer_ns; /* time limit for each answer */
};

/* ERR_SYSTEM if it cannot be started. */
int external_strategy_start(const struct external_strategy_options *options,
                            struct external_strategy **out, struct err *err);
void external_strategy_stop(
    struct external_strategy *external); /* NULL is fine */

enum strategy_answer external_strategy_ask(struct external_strategy *external,
                                           int *point);
/* As strategy_expect(). The program is not told. */
void external_strategy_expect(struct external_strategy *external, int point);
/* times  [n_shapes] of a timed point, NaN for a shape without a time; NULL: not
 * known */
void external_strategy_tell(struct external_strategy *external, int point,
                            enum strategy_outcome outcome, double time,
                            const double *times);

#define EXTERNAL_STRATEGY_FDS 2
void external_strategy_poll(const struct external_strategy *external,
                            struct pollfd fds[EXTERNAL_STRATEGY_FDS]);
int64_t external_strategy_deadline(const struct external_strategy *external);

/* Read and write as much as possible without blocking.  An error has the
 * program's name:
 *   ERR_PROTO    its answer breaks the protocol
 *   ERR_NETWORK  it ended, or did not answer in time */
int external_strategy_work(struct external_strategy *external, int64_t now_ns,
                           struct err *err);

/* It has said that it is ready. */
bool external_strategy_is_ready(const struct external_strategy *external);
const char *external_strategy_name(
    const struct external_strategy *external); /* as it says */

#endif
