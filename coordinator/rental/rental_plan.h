/* rental_plan.h - which machines are worth their price now
 *
 * Builders first, GPUs late: while artifacts can be built without a GPU box, a
 * GPU is acquired only so early that it is there when the builds end.  A GPU
 * that has nothing to measure for longer than it takes to stop and start it is
 * released.
 *
 * Pure: literals in, literals out.  Times are seconds, prices dollars an hour.
 */
#ifndef FA_COORDINATOR_RENTAL_RENTAL_PLAN_H
#define FA_COORDINATOR_RENTAL_RENTAL_PLAN_H

#include <stdbool.h>
#include <stddef.h>

struct err;

enum rental_goal {
    RENTAL_GOAL_BALANCED, /* each further machine must save more time, in
                           * proportion, than it adds dollars */
    RENTAL_GOAL_CHEAPEST,
    RENTAL_GOAL_FASTEST,
};

int rental_goal_read(const char *word, enum rental_goal *out, struct err *err);
const char *rental_goal_name(enum rental_goal goal);

/* What is left to do. */
struct rental_work {
    bool is_known;        /* false: no device has told its facts yet */
    bool is_paced;        /* measurements are ordered one after another, as in
                           * a confirmation: some GPU is needed to the end */
    int builds;           /* that wait or run */
    int measurements;     /* not settled, their builds done or not */
    double build_s;       /* of one build, on one core */
    double measurement_s; /* of one measurement, from lease to result */
    bool is_built, is_measured; /* these times were, and are no guesses */
};

struct rental_machine {
    bool is_rented; /* by start=; others are there and cost the same */
    bool is_held;   /* acquired, or being acquired */
    bool is_lost;   /* it cannot be acquired, or used */
    bool is_busy;   /* work runs there */
    bool serves;    /* it alone has artifacts that are to be measured */
    bool measures, builds;
    int slots;      /* builds at a time */
    int gpus;       /* at least 1 if it measures */
    double rate;    /* 0: no price */
    double boot_s;  /* from start= to its first lease */
    double min_s;   /* the least that is paid for */
    double round_s; /* the bill is a multiple of it; 0: of nothing */
    double held_s;  /* since start= */
};

/* Set wanted[i] for each machine; those that are not rented are wanted,
 * unless they are lost. */
void rental_plan(enum rental_goal goal, const struct rental_work *work,
                 const struct rental_machine *machines, size_t n, bool *wanted);

#endif
