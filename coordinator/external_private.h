/* external_private.h - the inside of an external
 *
 * Private to external.c (its process and pipes), external_outbox.c and
 * external_inbox.c (the lines of docs/strategies.md, either way).
 */
#ifndef FA_COORDINATOR_EXTERNAL_PRIVATE_H
#define FA_COORDINATOR_EXTERNAL_PRIVATE_H

#include <stdint.h>

#include "common/buf.h"
#include "coordinator/child.h"
#include "coordinator/external.h"
#include "coordinator/tail.h"
#include "coordinator/trials.h"

#define EXTERNAL_LINE_MAX 65536 /* bytes of an answer */

enum external_phase {
    EXTERNAL_STARTING, /* until it says ready */
    EXTERNAL_IDLE,     /* nothing was asked */
    EXTERNAL_ASKED,
    EXTERNAL_ANSWERED, /* 'point' waits to be taken */
    EXTERNAL_RESTING,  /* it said wait: until the next tell */
    EXTERNAL_DONE,
};

struct external {
    struct child child;
    char *program; /* for messages */
    char *name;
    const struct domain *domain;
    char **tunables; /* their names */
    struct trials trials;
    int n_shapes;
    double *times; /* [trials][n_shapes], NaN where there is none */
    int times_n;   /* trials */
    int budget;
    int64_t answer_ns, deadline_ns;
    enum external_phase phase;
    int point, refused, lines;
    struct buf in, out;
    struct tail errors;
};

/* external_outbox.c: one line each, to be written when the pipe takes it. */
void external_put_start(struct external *external,
                        const struct external_options *options);
/* Its time to answer begins. */
void external_put_ask(struct external *external);
/* What is known of a point that was asked for. */
void external_put_tell(struct external *external, int point);
/* levels  one of each tunable; there is no such point */
void external_put_illegal(struct external *external, const uint16_t *levels);

/* external_inbox.c: take all whole lines that were read.  ERR_PROTO */
int external_take_lines(struct external *external, struct err *err);

#endif
