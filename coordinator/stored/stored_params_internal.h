/* stored_params_internal.h - the quick reader of stored_params.c
 *
 * Private to stored_params.c and its test: what this reader leaves alone is
 * read by cJSON, which takes longer and finds the same.
 */
#ifndef FA_COORDINATOR_STORED_STORED_PARAMS_INTERNAL_H
#define FA_COORDINATOR_STORED_STORED_PARAMS_INTERNAL_H

#include <stdbool.h>

#include "coordinator/stored/stored_params.h"

/* False if it is not a flat object without escapes, as the database has them;
 * it may be an object all the same.  'out' is for stored_params_fini() either
 * way. */
bool stored_params_read_plain(const char *json, struct stored_params *out);

#endif
