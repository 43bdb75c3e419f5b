/* external_baseline.h - an external baseline: a command that measures other
 * software
 *
 * A command of the sweep file for a shape, and the parser of its output
 * (docs/external-baseline.md). Only workers run it.
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_PLAN_EXTERNAL_BASELINE_H
#define FA_COORDINATOR_PLAN_EXTERNAL_BASELINE_H

#include <stddef.h>

#include "common/hash.h"

struct err;
struct spec;
struct spec_external;
struct spec_shape;

/* Substitute the variables of the shape into the command: [n_command] texts. */
char **external_baseline_command(const struct spec *spec,
                                 const struct spec_external *external,
                                 const struct spec_shape *shape);
void external_baseline_command_free(const struct spec_external *external,
                                    char **command); /* NULL is fine */

/* The line that it is asked by, a JSON list of texts; NULL if it is started for
 * each run.  The caller frees it. */
char *external_baseline_ask(const struct spec *spec,
                            const struct spec_external *external,
                            const struct spec_shape *shape);

/* The identity of the command's result: the command, what it is asked, its
 * files, the number of samples asked for.  'bundle' is the hash of the files.
 */
void external_baseline_key(const struct spec_external *external,
                           char *const *command, const char *ask,
                           const char *bundle, char out[HASH_HEX]);

struct external_baseline_output {
    char *name;      /* its own name for itself; "" if it prints none */
    double *samples; /* seconds, positive and finite, in order */
    size_t n;        /* 1 to SPEC_SAMPLES_MAX */
};

/* Parse the output of a command that ran for 'seconds'. ERR_INPUT, in one line,
 * if the text is not one JSON object with plausible "samples". */
int external_baseline_read(const char *text, size_t len, double seconds,
                           struct external_baseline_output *out,
                           struct err *err);
void external_baseline_output_fini(struct external_baseline_output *output);

#endif
