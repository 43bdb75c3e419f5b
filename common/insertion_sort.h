/* insertion_sort.h - sorts a few numbers
 *
 * It is fastest for the few dozen samples of a configuration, most of which are
 * almost in order.  It takes n * n steps at worst, so do not use it for
 * thousands.
 * Pure; any thread.  Uses nothing but the C library, no allocation.
 */
#ifndef FA_COMMON_INSERTION_SORT_H
#define FA_COMMON_INSERTION_SORT_H

#include <stddef.h>

/* Sort 'x' [n] in ascending order; n may be 0; no element may be NAN. */
void insertion_sort(double *x, size_t n);

#endif
