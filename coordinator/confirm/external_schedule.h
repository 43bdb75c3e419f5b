/* external_schedule.h - when an external baseline runs, in which blocks
 *
 * It joins a block when the block begins, and then runs once at each shape.  If
 * it does not work on a host, repeated attempts there would each take as long
 * as a failure takes.  So a run at a shape that has no time on its host yet is
 * on trial: while one is, no other such run may start on that host.  After a
 * failed run, none may start there.  Hosts are judged separately.
 *
 * Pure: no clock, no socket, no database.  Hosts, shapes and rounds are numbers
 * chosen by the caller; a round is one block.
 */
#ifndef FA_COORDINATOR_CONFIRM_EXTERNAL_SCHEDULE_H
#define FA_COORDINATOR_CONFIRM_EXTERNAL_SCHEDULE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct external_schedule;

struct external_schedule_design {
    int hosts, shapes;
    int blocks;   /* blocks that it joins, over all hosts */
    int attempts; /* runs in a row that may be lost on a host */
};

/* How many blocks one joins.
 * asked    by the sweep file
 * needed   with fewer, its comparisons can show nothing
 *          (verdict_blocks_needed())
 * first    after so many, results decide when the pass ends (look_plan.h); a
 *          number of blocks that depended on them would void its intervals
 * decides  the rule is against it: it joins all */
int external_schedule_blocks(int asked, size_t needed, int first, bool decides);

enum external_schedule_answer {
    EXTERNAL_SCHEDULE_NO,
    EXTERNAL_SCHEDULE_YES,
    EXTERNAL_SCHEDULE_LATER, /* ask again when a run on the host has ended */
};

/* The outcome of a run. */
enum external_schedule_end {
    EXTERNAL_SCHEDULE_TIMED,
    EXTERNAL_SCHEDULE_FAILED,
    EXTERNAL_SCHEDULE_DROPPED, /* it will not run; the host is not to blame */
};

struct external_schedule *
external_schedule_new(const struct external_schedule_design *design);
void external_schedule_free(
    struct external_schedule *external_schedule); /* NULL is fine */

/* Restore from an earlier run of the pass: a block with a time, and a host on
 * which it failed. */
void external_schedule_had(struct external_schedule *external_schedule,
                           int blocks);
void external_schedule_failed(struct external_schedule *external_schedule,
                              int host);
bool external_schedule_is_off(const struct external_schedule *external_schedule,
                              int host);

/* Does it join the block that begins?  'shape' is the first one. */
enum external_schedule_answer
external_schedule_join(struct external_schedule *external_schedule, int round,
                       int host, int shape);
/* May it run at this shape now?  Only for a block that it joined. */
enum external_schedule_answer
external_schedule_ask(const struct external_schedule *external_schedule,
                      int host, int shape);
/* The block is complete, or does not count.  If it gave no time that counts,
 * another block may take its place. */
void external_schedule_complete(struct external_schedule *external_schedule,
                                int round);
void external_schedule_broken(struct external_schedule *external_schedule,
                              int round);

/* A run was ordered, under a number that the caller chooses. */
void external_schedule_begin(struct external_schedule *external_schedule,
                             int64_t id, int round, int host, int shape);
/* False if there is no such run. */
bool external_schedule_end(struct external_schedule *external_schedule,
                           int64_t id, enum external_schedule_end how);
/* A run was lost and may be repeated.  True if too many were lost in a row:
 * that counts as a failure. */
bool external_schedule_lost(struct external_schedule *external_schedule,
                            int host);

/* Run 'i' of those under way, in no particular order: its number, or 0 past the
 * last, and where it runs. */
int64_t external_schedule_at(const struct external_schedule *external_schedule,
                             size_t i, int *round, int *host);
bool external_schedule_runs(const struct external_schedule *external_schedule,
                            int round); /* a run of this round is under way */

#endif
