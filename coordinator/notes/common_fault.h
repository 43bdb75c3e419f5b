/* common_fault.h - results that blame what all configurations have in common
 *
 * A kernel that does not take the arguments of the sweep file, and a reference
 * that faults, would fail every configuration in turn.  So the first such
 * result ends the sweep.  A GPU may be at fault for a reference, so that is
 * tried on one other host first, if there is one.
 */
#ifndef FA_COORDINATOR_NOTES_COMMON_FAULT_H
#define FA_COORDINATOR_NOTES_COMMON_FAULT_H

#include <stdbool.h>
#include <stddef.h>

struct msg;
struct sweep;

/* A result of this run for 'unit' is stored: does it blame more than its
 * configuration?  True: the sweep ends, and the result settles nothing. */
bool common_fault_take(struct sweep *sweep, size_t host, int unit,
                       const struct msg *msg);

#endif
