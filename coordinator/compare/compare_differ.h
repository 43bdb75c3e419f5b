/* compare_differ.h - what makes two databases differ besides the kernel
 *
 * Some of it leaves nothing to compare, the rest the reader must know: a time
 * is that of a kernel on a card, with a clock, a driver and a compiler.
 * Pure but for allocation; any thread.
 */
#ifndef FA_COORDINATOR_COMPARE_COMPARE_DIFFER_H
#define FA_COORDINATOR_COMPARE_COMPARE_DIFFER_H

#include <stddef.h>

struct compare_side;
struct err;

/* ERR_INPUT, with the reason, when the times are of different things: another
 * kind of device or model of GPU, another treatment of the cache, another
 * kernel. */
int compare_refuse(const struct compare_side *a, const struct compare_side *b,
                   struct err *err);

/* A sentence for each difference; the caller frees them and the list. */
void compare_warn(const struct compare_side *a, const struct compare_side *b,
                  char ***out, size_t *n);

#endif
