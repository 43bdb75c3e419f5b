/* space_private.h - what the files of the space share
 *
 * space.c opens it, space_sql.c writes the queries, space_table.c makes tables
 * of gates, space_walk.c walks the points, space_count.c counts by gate.
 * space_eval.c evaluates rules for one configuration: space_derived.c,
 * space_launch.c, space_arguments.c, space_metrics.c and space_gate.c say which
 * and what they must yield.
 *
 * A tunable with one value is a literal; each other is a table "tI" of rows
 * (k, v): v the value, k its part of the point's number, so that the number
 * of a point is the sum of its rows' k and rows come in order of number.
 */
#ifndef FA_COORDINATOR_SPACE_PRIVATE_H
#define FA_COORDINATOR_SPACE_PRIVATE_H

#include <sqlite3.h>

#include "common/buf.h"
#include "coordinator/fence.h"
#include "coordinator/rule.h"
#include "coordinator/space.h"
#include "coordinator/space_eval.h"

#define SPACE_SQL_MAX (1 << 20) /* bytes of a query; SQLite's limit too */

/* A rule whose tunables have at most that many combinations is tried on all
 * of them. */
#define SPACE_TRIAL_MAX 65536
/* A gate of more than that many has no table (half a MiB). */
#define SPACE_TABLE_MAX (1 << 22)

struct space_gate {
    struct rule_needs needs;
    bool trusted; /* it was seen to yield 0 or 1 everywhere */
    /* A bit for each combination of its tunables, in order (lattice.h); NULL
     * when there is no table (yet).  It says nothing where one of 'given', a
     * set of gates that reject, hits. */
    uint64_t *hits;
    uint64_t given;
    struct space_eval eval;
};

struct space {
    const struct spec *spec;
    struct arch_facts facts;
    const struct spec_shape *shapes;
    size_t n_shapes;
    int64_t size;
    int64_t stride[SPEC_AXES_MAX];
    struct fence fence;

    struct rule_needs derived[SPEC_LIST_MAX];
    struct space_gate gates[SPEC_LIST_MAX];
    struct { /* the table that fa_hits() fills */
        size_t gate;
        int64_t at; /* the combination that comes next */
    } filling;

    struct lattice *lattice; /* the points, when all gates have tables */
    sqlite3_stmt *points;    /* ... and when not */
    uint64_t gated;          /* tunables up to the last one that a gate names */
    int64_t run;             /* points a row of 'points' stands for */
    int64_t left;            /* of them, not handed out yet */
    struct space_point next;
    bool walking;
    int recorded_at; /* of a replay: which of its points comes next */

    struct space_eval derive, launch, reference, arguments, scales, floors;
    struct space_eval metrics[SPEC_LIST_MAX];
    char *texts[SPEC_LIST_MAX];               /* of the last space_derive() */
    uint64_t derived_axes;                    /* that derived values name */
    struct value derived_from[SPEC_AXES_MAX]; /* by the last one */
    bool is_derived;

    struct { /* a rule that yielded neither 0 nor 1 */
        bool set;
        int gate;
        int64_t number; /* of the named tunables; the others at their first */
        char value[80];
    } flaw;
};

/* ---- space_sql.c */

int space_make_tables(struct space *space, struct err *err);
/* Does SQLite take the text of this rule?  'what' is for the message. */
int space_parse(struct space *space, const struct spec_rule *rule,
                const char *what, struct err *err);
/* A rule's text for a query over the tables, for one shape. */
void space_sql_rule(const struct space *space, const char *text,
                    const struct spec_shape *shape, struct buf *out);
/* ... with parameters, for a space_eval. */
void space_sql_parameters(const struct space *space, const char *text,
                          struct buf *out);
/* " FROM ..." of the tunables in 'axes', in order; nothing for none. */
void space_sql_from(const struct space *space, uint64_t axes, struct buf *out);
/* The text of a gate for a shape; false when it is that for the one before. */
bool space_sql_gate(const struct space *space, size_t gate, size_t shape,
                    struct buf *out);
/* " AND (...)" of a gate that must not be hit, for every shape. */
void space_sql_passes(const struct space *space, size_t gate, struct buf *out);
/* The bit of a warn gate when it is hit for a shape, else 0. */
void space_sql_warned(const struct space *space, size_t gate, struct buf *out);
/* "t0.k+t3.k" of these tunables; "0" for none. */
void space_sql_number(const struct space *space, uint64_t axes,
                      struct buf *out);

/* Prepare a query of our own making. */
int space_prepare(struct space *space, const struct buf *sql,
                  sqlite3_stmt **out, struct err *err);
/* Why a step ended with an error: a rule, the clock, SQLite. */
int space_step_err(struct space *space, struct err *err);
int space_late_err(const struct space *space, struct err *err); /* the clock */

/* ---- space_table.c */

/* The functions of SQL that complain and that fill tables. */
void space_add_functions(struct space *space);
/* Try a gate on all combinations of its tunables, where these are few: then it
 * is trusted and has a table, and the queries can have its plain expression,
 * which SQLite compiles to a jump. */
int space_try_gate(struct space *space, size_t gate, struct err *err);
/* Make the tables of all other gates that can have one; 'whole': such as say
 * something everywhere. */
int space_fill_tables(struct space *space, bool whole, struct err *err);
/* The set of all gates that reject, or that warn. */
uint64_t space_gates(const struct space *space, bool warning);
/* Those that have tables. */
uint64_t space_tables(const struct space *space);
/* The points of the product of 'axes'. */
struct lattice *space_lattice(const struct space *space, uint64_t axes,
                              uint64_t rejecting, uint64_t warning);

/* ---- space_count.c */

int64_t space_product(const struct space *space, uint64_t axes);

/* ---- one configuration: check and prepare the rules, after the derived values
 * and gates have been checked; ERR_INPUT as space_open().  space_close() closes
 * what is open. */

int space_derived_open(struct space *space, struct err *err);
int space_launch_open(struct space *space, struct err *err);
int space_arguments_open(struct space *space, struct err *err);
int space_gate_open(struct space *space, struct err *err);
int space_metrics_open(struct space *space, struct err *err);

#endif
