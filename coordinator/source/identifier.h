/* identifier.h - the names, values and flags that a sweep file may use
 *
 * Tunables and derived values become C macros and SQL names; nvcc hands names,
 * values and flags to a shell.  So only a few harmless characters are allowed
 * (docs/sweep-file.md).
 * Thread rule: no state; any thread.
 */
#ifndef FA_COORDINATOR_SOURCE_IDENTIFIER_H
#define FA_COORDINATOR_SOURCE_IDENTIFIER_H

#include <stdbool.h>
#include <stddef.h>

/* Each returns NULL if the text is allowed, otherwise the reason why not. */

/* Tunables, derived values, shape variables: SQL and C++ must both take it. */
const char *identifier_flaw(const char *name);
/* Entry points and arguments: only C++ must take them. */
const char *identifier_entry_flaw(const char *name);
/* Sweeps, gates, shapes, metrics, floors. */
const char *identifier_label_flaw(const char *label);
const char *identifier_value_flaw(const char *text); /* of a tunable */
const char *identifier_path_flaw(const char *path);  /* of a source */
const char *identifier_input_flaw(const char *path); /* of an argument's file */

/* Is flags[i] allowed?  '*taken' is 2 if the next text is its value. */
bool identifier_flag_allowed(char *const *flags, size_t n, size_t i,
                             size_t *taken);
#define IDENTIFIER_FLAGS_ALLOWED                                               \
    "-O0..-O3, -lineinfo, -maxrregcount=N, --use_fast_math, -ftz=, "           \
    "-prec-div=, -prec-sqrt=, -fmad=, --extra-device-vectorization, "          \
    "--restrict, --expt-relaxed-constexpr, -Xptxas=-O0..-O3,-v,-dlcm=,-dscm=," \
    "-warn-spills"

#endif
