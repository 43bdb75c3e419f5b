/* errands.h - in which blocks the external baseline runs, and when
 *
 * It joins a block when the block begins, and is then to run once at each
 * shape.  One that cannot work on a host must not be tried there again and
 * again, each time for as long as it takes to fail: so a run at a shape that
 * had no time on its host yet is on trial, and while one is, no other of that
 * kind may run on that host.  After a run that failed none may.  What happens
 * on one host says nothing of another.
 *
 * Pure: no clock, no socket, no database.  Hosts, shapes and rounds are
 * numbers chosen by the caller; a round is one block.
 */
#ifndef FA_COORDINATOR_ERRANDS_H
#define FA_COORDINATOR_ERRANDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct errands;

struct errands_design {
    int hosts, shapes;
    int blocks;   /* that it joins, over all hosts */
    int attempts; /* runs in a row that a host may lose */
};

enum errands_answer {
    ERRANDS_NO,
    ERRANDS_YES,
    ERRANDS_LATER, /* ask again when a run on the host has ended */
};

/* What became of a run. */
enum errands_end {
    ERRANDS_TIMED,
    ERRANDS_FAILED,
    ERRANDS_DROPPED, /* it will not be, and said nothing */
};

struct errands *errands_new(const struct errands_design *design);
void errands_free(struct errands *errands); /* NULL is fine */

/* What an earlier run of the pass left: a block with a time, and a host on
 * which it failed. */
void errands_had(struct errands *errands, int blocks);
void errands_failed(struct errands *errands, int host);
bool errands_is_off(const struct errands *errands, int host);

/* Does it take part in the block that begins?  'shape' is the first. */
enum errands_answer errands_join(struct errands *errands, int round, int host,
                                 int shape);
/* May it run at the shape now?  For a block that it joined. */
enum errands_answer errands_ask(const struct errands *errands, int host,
                                int shape);
/* The block is complete, or does not count.  Its place is another's when it
 * gave no time of it that counts. */
void errands_complete(struct errands *errands, int round);
void errands_broken(struct errands *errands, int round);

/* A run was ordered, under a number of the caller's. */
void errands_begin(struct errands *errands, int64_t id, int round, int host,
                   int shape);
/* False when there is no such run. */
bool errands_end(struct errands *errands, int64_t id, enum errands_end how);
/* A run was lost, and may be made again.  True when it was once too often in
 * a row, which is as good as a failure. */
bool errands_lost(struct errands *errands, int host);

/* Run 'i' of those that are not over, in no order: its number, or 0 past the
 * last; and where it is. */
int64_t errands_at(const struct errands *errands, size_t i, int *round,
                   int *host);
bool errands_runs(const struct errands *errands, int round); /* one is out */

#endif
