/* space_table.h - tables of gates: where each hits
 *
 * Private to space*.c.  Thread rule: that of the space.
 */
#ifndef FA_COORDINATOR_SPACE_SPACE_TABLE_H
#define FA_COORDINATOR_SPACE_SPACE_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct point_walker;
struct space;

/* A rule whose tunables have at most this many combinations is evaluated for
 * all of them. */
#define SPACE_TRIAL_MAX 65536
/* A gate with more combinations has no table (half a MiB). */
#define SPACE_TABLE_MAX (1 << 22)

/* The functions of SQL that report errors and fill tables. */
void space_add_functions(struct space *space);
/* Evaluate a gate for all combinations of its tunables, if there are few.  Then
 * it is trusted and has a table.  Queries can use its plain expression, which
 * SQLite compiles to a jump. */
int space_try_gate(struct space *space, size_t gate, struct err *err);
/* Make the tables of all other gates that can have one.  'whole': only tables
 * that are defined for every combination. */
int space_fill_tables(struct space *space, bool whole, struct err *err);
/* The set of all gates that reject, or that warn. */
uint64_t space_gates(const struct space *space, bool warning);
/* The gates that have tables. */
uint64_t space_tables(const struct space *space);
/* The number of combinations of 'axes'. */
struct point_walker *space_lattice(const struct space *space, uint64_t axes,
                                   uint64_t rejecting, uint64_t warning);

#endif
