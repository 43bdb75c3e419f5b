/* stored_samples.h - samples as the database has them: "[0.1,0.2]"
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_STORED_STORED_SAMPLES_H
#define FA_COORDINATOR_STORED_STORED_SAMPLES_H

#include <stddef.h>

/* The numbers of an array, MSG_SAMPLES_MAX at most; null is skipped.  For the
 * caller to free. */
double *stored_samples_read(const char *json, size_t *n);

double stored_samples_median(const char *json); /* NAN when there are none */

#endif
