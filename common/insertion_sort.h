/* insertion_sort.h - a few numbers in order
 *
 * Fastest for the few dozen samples of a configuration, most of which are near
 * their place; takes n * n steps at worst, so not for thousands.
 * Pure; any thread.  Uses nothing but the C library, no allocation.
 */
#ifndef FA_COMMON_INSERTION_SORT_H
#define FA_COMMON_INSERTION_SORT_H

#include <stddef.h>

/* Put 'x' [n] in ascending order; n may be 0, and none of them is NAN. */
void insertion_sort(double *x, size_t n);

#endif
