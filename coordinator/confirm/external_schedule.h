/* external_schedule.h - in which blocks the external baseline runs, and when
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
#ifndef FA_COORDINATOR_CONFIRM_EXTERNAL_SCHEDULE_H
#define FA_COORDINATOR_CONFIRM_EXTERNAL_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct external_schedule;

struct external_schedule_design {
    int hosts, shapes;
    int blocks;   /* that it joins, over all hosts */
    int attempts; /* runs in a row that a host may lose */
};

enum external_schedule_answer {
    EXTERNAL_SCHEDULE_NO,
    EXTERNAL_SCHEDULE_YES,
    EXTERNAL_SCHEDULE_LATER, /* ask again when a run on the host has ended */
};

/* What became of a run. */
enum external_schedule_end {
    EXTERNAL_SCHEDULE_TIMED,
    EXTERNAL_SCHEDULE_FAILED,
    EXTERNAL_SCHEDULE_DROPPED, /* it will not be, and said nothing */
};

struct external_schedule *
external_schedule_new(const struct external_schedule_design *design);
void external_schedule_free(
    struct external_schedule *external_schedule); /* NULL is fine */

/* What an earlier run of the pass left: a block with a time, and a host on
 * which it failed. */
void external_schedule_had(struct external_schedule *external_schedule,
                           int blocks);
void external_schedule_failed(struct external_schedule *external_schedule,
                              int host);
bool external_schedule_is_off(const struct external_schedule *external_schedule,
                              int host);

/* Does it take part in the block that begins?  'shape' is the first. */
enum external_schedule_answer
external_schedule_join(struct external_schedule *external_schedule, int round,
                       int host, int shape);
/* May it run at the shape now?  For a block that it joined. */
enum external_schedule_answer
external_schedule_ask(const struct external_schedule *external_schedule,
                      int host, int shape);
/* The block is complete, or does not count.  Its place is another's when it
 * gave no time of it that counts. */
void external_schedule_complete(struct external_schedule *external_schedule,
                                int round);
void external_schedule_broken(struct external_schedule *external_schedule,
                              int round);

/* A run was ordered, under a number of the caller's. */
void external_schedule_begin(struct external_schedule *external_schedule,
                             int64_t id, int round, int host, int shape);
/* False when there is no such run. */
bool external_schedule_end(struct external_schedule *external_schedule,
                           int64_t id, enum external_schedule_end how);
/* A run was lost, and may be made again.  True when it was once too often in
 * a row, which is as good as a failure. */
bool external_schedule_lost(struct external_schedule *external_schedule,
                            int host);

/* Run 'i' of those that are not over, in no order: its number, or 0 past the
 * last; and where it is. */
int64_t external_schedule_at(const struct external_schedule *external_schedule,
                             size_t i, int *round, int *host);
bool external_schedule_runs(const struct external_schedule *external_schedule,
                            int round); /* one is out */

#endif
