/* space_internal.h - shared by the files of the space
 *
 * space.c opens it, space_number.c numbers the points, space_sql.c writes the
 * queries, space_table.c makes tables of gates, space_walk.c walks the points,
 * space_count.c counts by gate.  space_eval.c evaluates rules for one
 * configuration: space_derived.c, space_launch.c, space_arguments.c,
 * space_metrics.c and space_gate.c choose the rules and check their results.
 *
 * In a query, a tunable with one value is a literal.  Any other is a table "tI"
 * of rows (k, v): v is the value and k its part of the point's number.  So the
 * number of a point is the sum of the k of its rows, and rows come in order of
 * number.
 */
#ifndef FA_COORDINATOR_SPACE_SPACE_INTERNAL_H
#define FA_COORDINATOR_SPACE_SPACE_INTERNAL_H

#include <sqlite3.h>

#include "coordinator/sandbox/sql_rule.h"
#include "coordinator/sandbox/sql_sandbox.h"
#include "coordinator/space/space.h"
#include "coordinator/space/space_eval.h"

struct point_diagram;

struct space_gate {
    struct sql_rule_needs needs;
    bool trusted; /* known to yield 0 or 1 everywhere */
    /* One bit for each combination of its tunables, in order (point_walker.h);
     * NULL if there is no table (yet). Combinations that one of 'given', a set
     * of rejecting gates, hits are undefined. */
    uint64_t *hits;
    uint64_t given;
    struct space_eval eval;
};

/* The position of space_next(). */
struct space_walk {
    struct point_walker *walker;   /* walks the points if all gates have tables
                                    * ... */
    struct point_diagram *diagram; /* ... or are as many as this knows ... */
    bool tried;                    /* to make the diagram */
    bool by_diagram;               /* it walks them */
    int64_t rank;                  /* in it, of the next point */
    sqlite3_stmt *points;          /* ... and otherwise this query does */
    int number_at, warned_at;      /* its columns */
    uint64_t gated; /* tunables up to the last one that a gate names */
    int64_t run;    /* points for each row of 'points' */
    int64_t left;   /* of these, not returned yet */
    struct space_point next;
    bool begun;
    size_t only_at; /* index in 'only' of the next point */
};

/* Rules that are evaluated together for one configuration. */
struct space_evals {
    struct space_eval derived, launch, reference, arguments, fills, floors;
    struct space_eval metrics[SPEC_LIST_MAX];
};

/* Result of the last space_derive(). */
struct space_derivation {
    char *texts[SPEC_LIST_MAX];
    uint64_t axes; /* tunables that derived values name */
    struct value from[SPEC_AXES_MAX];
    bool holds;
};

struct space {
    const struct spec *spec;
    const struct space_only *only; /* NULL: the points that the gates let
                                    * pass */
    struct gpu_arch_facts facts;
    const struct spec_shape *shapes;
    size_t n_shapes;
    int64_t size;
    int64_t stride[SPEC_AXES_MAX];
    struct sql_sandbox sandbox;

    struct sql_rule_needs derived[SPEC_LIST_MAX];
    struct space_gate gates[SPEC_LIST_MAX];
    struct { /* the table that fa_hits() is filling */
        size_t gate;
        int64_t at; /* the next combination */
    } filling;

    struct space_walk walk;
    struct space_evals evals;
    struct space_derivation last;

    struct { /* a rule that yielded neither 0 nor 1 */
        bool set;
        int gate;
        int64_t number; /* of the named tunables; the others are at their first
                         * value */
        char value[80];
    } flaw;
};

/* ---- space_number.c */

/* Number the points; ERR_INPUT when there are too many. */
int space_number_open(struct space *space, struct err *err);
/* Combinations of these tunables. */
int64_t space_product(const struct space *space, uint64_t axes);

/* ---- one configuration: check and prepare the rules.  Check the derived
 * values and gates first.  ERR_INPUT as space_open(). space_close() closes what
 * is open. */

int space_derived_open(struct space *space, struct err *err);
int space_launch_open(struct space *space, struct err *err);
int space_arguments_open(struct space *space, struct err *err);
int space_gate_open(struct space *space, struct err *err);
int space_metrics_open(struct space *space, struct err *err);

#endif
