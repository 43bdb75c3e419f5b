/* external_strategy_internal.h - the parts of an external strategy
 *
 * Private to external_strategy.c (its process and pipes),
 * external_strategy_outbox.c and external_strategy_inbox.c (the lines of
 * docs/strategies.md, either way).
 */
#ifndef FA_COORDINATOR_SEARCH_EXTERNAL_STRATEGY_INTERNAL_H
#define FA_COORDINATOR_SEARCH_EXTERNAL_STRATEGY_INTERNAL_H

#include <stdint.h>

#include "common/buf.h"
#include "coordinator/process/subprocess.h"
#include "coordinator/process/stderr_tail.h"
#include "coordinator/search/external_strategy.h"
#include "coordinator/search/trials.h"

#define EXTERNAL_STRATEGY_LINE_MAX 65536 /* bytes of an answer */

enum external_strategy_phase {
    EXTERNAL_STRATEGY_STARTING, /* until it says ready */
    EXTERNAL_STRATEGY_IDLE,     /* nothing was asked */
    EXTERNAL_STRATEGY_ASKED,
    EXTERNAL_STRATEGY_ANSWERED, /* 'point' waits to be taken */
    EXTERNAL_STRATEGY_RESTING,  /* it said wait: ask again after the next
                                 * tell */
    EXTERNAL_STRATEGY_DONE,
};

struct external_strategy {
    struct subprocess child;
    char *program; /* for messages */
    char *name;
    const struct domain *domain;
    char **tunables; /* their names */
    struct trials trials;
    int n_shapes;
    double *times; /* [trials][n_shapes], NaN without a time */
    int times_n;   /* trials */
    int budget;
    int64_t answer_ns, deadline_ns;
    enum external_strategy_phase phase;
    int point, refused, lines;
    struct buf in, out;
    struct stderr_tail errors;
};

/* external_strategy_outbox.c: each adds one line, written when the pipe has
 * room. */
void external_strategy_put_start(
    struct external_strategy *external,
    const struct external_strategy_options *options);
/* Its time limit to answer starts now. */
void external_strategy_put_ask(struct external_strategy *external);
/* Tell it what is known about the point it named. */
void external_strategy_put_tell(struct external_strategy *external, int point);
/* levels  one for each tunable; no such point exists */
void external_strategy_put_illegal(struct external_strategy *external,
                                   const uint16_t *levels);

/* external_strategy_inbox.c: handle all complete lines that were read.
 * ERR_PROTO */
int external_strategy_take_lines(struct external_strategy *external,
                                 struct err *err);

#endif
