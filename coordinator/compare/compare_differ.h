/* compare_differ.h - differences of two databases besides the kernel
 *
 * A time depends on the card, its clock, the driver and the compiler as well as
 * on the kernel.  Some differences make a comparison meaningless; the reader
 * must know about the others.
 * Pure but for allocation; any thread.
 */
#ifndef FA_COORDINATOR_COMPARE_COMPARE_DIFFER_H
#define FA_COORDINATOR_COMPARE_COMPARE_DIFFER_H

#include <stdbool.h>
#include <stddef.h>

struct compare_side;
struct err;

/* ERR_INPUT, with the reason, if the times cannot be compared: another kind of
 * device or model of GPU, another cache treatment, another kernel.  With
 * 'across_gpus' records may have two models, and then two names. */
int compare_refuse(const struct compare_side *a, const struct compare_side *b,
                   bool across_gpus, struct err *err);

/* One sentence for each difference; the caller frees them and the list. */
void compare_warn(const struct compare_side *a, const struct compare_side *b,
                  char ***out, size_t *n);

#endif
