/* conclusion_external.h - the external baseline in a conclusion
 *
 * Part of a conclusion, filled in after it was judged.
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

/* The external baseline at a shape, in the blocks it took part in. */
struct conclusion_against {
    struct block_time time; /* NAN without any */
    struct speedup *over;   /* of each entry over it */
};

struct conclusion_external {
    char *name;         /* as the sweep file calls it */
    char *says;         /* as it calls itself, "" when it does not */
    size_t ran, failed; /* runs of the command */
    char *why;          /* the first failed; "" */
    struct conclusion_against *shapes; /* NULL when nobody was compared */
};

/* After conclusion_judge(): the runs of the external baseline.  ERR_STORE */
int conclusion_take_external(struct conclusion *conclusion, struct store *store,
                             const struct conclusion_sample *samples, size_t n,
                             struct err *err);
void conclusion_external_free(struct conclusion *conclusion);
void conclusion_external_print(const struct conclusion *conclusion, FILE *to);
void conclusion_external_json(const struct conclusion *conclusion,
                              struct json_out *out);

#endif
