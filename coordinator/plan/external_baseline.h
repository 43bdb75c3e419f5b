/* external_baseline.h - what others use instead, measured by its own command
 *
 * The command of a sweep file for a shape, and what a run of it printed
 * (docs/external-baseline.md).  It runs on workers alone.
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_PLAN_EXTERNAL_BASELINE_H
#define FA_COORDINATOR_PLAN_EXTERNAL_BASELINE_H

#include <stddef.h>

#include "common/hash.h"

struct err;
struct spec;
struct spec_shape;

/* The command with the variables of the shape put in: [n_command] texts. */
char **external_baseline_command(const struct spec *spec,
                                 const struct spec_shape *shape);
void external_baseline_command_free(const struct spec *spec, char **command);

/* What a result of the command is for: the command, its files, the samples it
 * was asked for.  'bundle' is the hash of the files. */
void external_baseline_key(const struct spec *spec, char *const *command,
                           const char *bundle, char out[HASH_HEX]);

struct external_baseline_output {
    char *name;      /* what it calls itself; "" when it does not */
    double *samples; /* seconds, positive and finite, in order */
    size_t n;        /* 1 to SPEC_SAMPLES_MAX */
};

/* 'seconds' it ran.  ERR_INPUT, in one line, when the text is not one JSON
 * object with "samples" that can be true. */
int external_baseline_read(const char *text, size_t len, double seconds,
                           struct external_baseline_output *out,
                           struct err *err);
void external_baseline_output_fini(struct external_baseline_output *output);

#endif
