/* space_eval.h - rules of a sweep evaluated for one configuration
 *
 * A batch is a list of rules to evaluate together, and the names they may use.
 * An eval is their prepared query, with one column for each rule.  Run it for
 * values of the tunables, a shape and a time, then read its columns.  Units are
 * those of the rules.
 * Private to space*.c.  Thread rule: that of the space, which outlives its
 * evals.
 */
#ifndef FA_COORDINATOR_SPACE_SPACE_EVAL_H
#define FA_COORDINATOR_SPACE_SPACE_EVAL_H

#include <sqlite3.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/sandbox/sql_rule.h"
#include "coordinator/spec/spec.h"
#include "coordinator/text/value.h"

struct err;
struct space;

#define SPACE_BATCH_MAX (SPEC_LIST_MAX * SPEC_DIMS_MAX)

struct space_batch {
    const struct spec_rule *rules[SPACE_BATCH_MAX]; /* belong to the spec */
    size_t n;
    struct sql_rule_use use;
};

/* Begin an empty batch whose rules may use these names (sql_rule.h). The texts
 * are borrowed and used in messages. */
void space_batch_init(struct space_batch *batch, const struct space *space,
                      unsigned scopes, const char *what, const char *why);
void space_batch_add(struct space_batch *batch, const struct spec_rule *rule);

/* Parameters are the tunables, then the shape variables, then the time. */
struct space_eval {
    sqlite3_stmt *stmt;
    int first; /* the column of the first rule; the others follow in order */
    uint64_t axes; /* tunables that the rules name */
};

/* Check the rules of a batch and prepare them as one query; the batch is no
 * longer needed.  Returns 0 (call space_eval_close()), or ERR_INPUT for a rule
 * that is not SQL or names something it may not. */
int space_eval_open(struct space *space, const struct space_batch *batch,
                    struct space_eval *out, struct err *err);
void space_eval_close(struct space_eval *eval); /* a struct of zeros is fine */

/* 'values' and 'shape' may be NULL if no rule names them.  Texts of values must
 * stay valid until the columns are read.  ERR_INPUT if the rules take too long
 * or SQLite refuses. */
int space_eval_run(struct space *space, const struct space_eval *eval,
                   const struct value *values, const struct spec_shape *shape,
                   double time_s, struct err *err);

/* The result of rule i of the batch; a text is valid until the next run. */
struct value space_eval_column(const struct space_eval *eval, size_t i);

/* ceil() and similar functions yield reals; whole ones are accepted. */
bool space_eval_whole(const struct value *value, int64_t *out);

/* "'grid' yields NULL for BLOCK_M=64 ..., shape 's512'"; 'values' and 'shape'
 * may be NULL.  Returns ERR_INPUT. */
int space_eval_flaw(const struct space *space, const struct spec_rule *rule,
                    const char *what, const struct value *got,
                    const struct value *values, const struct spec_shape *shape,
                    const char *why, struct err *err);

#endif
