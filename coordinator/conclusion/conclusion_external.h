/* conclusion_external.h - the external baseline in a conclusion
 *
 * It is a part of a conclusion, filled in after conclusion_judge().
 */
#ifndef FA_COORDINATOR_CONCLUSION_CONCLUSION_EXTERNAL_H
#define FA_COORDINATOR_CONCLUSION_CONCLUSION_EXTERNAL_H

#include <stddef.h>
#include <stdio.h>

#include "coordinator/confirm/analysis.h"

struct conclusion;
struct conclusion_sample;
struct err;
struct json_out;
struct store;

/* The external baseline at a shape, in the blocks that it joined. */
struct conclusion_against {
    struct block_time time; /* NAN if there are none */
    struct speedup *over;   /* speedup of each entry over it */
};

struct conclusion_external {
    char *name;         /* its name in the sweep file */
    char *says;         /* its own name for itself, "" if it prints none */
    size_t ran, failed; /* runs of the command */
    char *why;          /* why the first failed run did; "" */
    struct conclusion_against *shapes; /* NULL if no candidate was compared */
};

/* Call it after conclusion_judge(): adds the runs of the external baseline.
 * ERR_STORE */
int conclusion_take_external(struct conclusion *conclusion, struct store *store,
                             const struct conclusion_sample *samples, size_t n,
                             struct err *err);
void conclusion_external_free(struct conclusion *conclusion);
void conclusion_external_print(const struct conclusion *conclusion, FILE *to);
void conclusion_external_json(const struct conclusion *conclusion,
                              struct json_out *out);

#endif
