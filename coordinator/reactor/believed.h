/* believed.h - facts of a GPU that none has told yet
 *
 * With hosts that are rented, builds may begin before any GPU is held: gates
 * are evaluated with the facts that an earlier run stored, or else with those
 * of the table for the model that the hosts file names.  The first GPU is asked
 * before it gets work.  If a fact that the sweep file uses is another one, the
 * run ends, and the next one begins with the facts of that GPU (sweep_run()).
 */
#ifndef FA_COORDINATOR_REACTOR_BELIEVED_H
#define FA_COORDINATOR_REACTOR_BELIEVED_H

#include <stdbool.h>
#include <stddef.h>

struct err;
struct gpu_arch_facts;
struct sweep;

/* Would the sweep file come to the same with both?  It would not with another
 * architecture, or if a fact differs whose name stands in the text; then 'why'
 * says which, as in "sm_count is 60, not 58".  Pure. */
bool believed_is_same(const char *sweep_file,
                      const struct gpu_arch_facts *believed,
                      const struct gpu_arch_facts *real, char *why,
                      size_t size);

/* The host has said what its GPUs are.  Returns whether it may get work; if
 * not, the run ends.  Nothing is believed any more. */
bool believed_check(struct sweep *sweep, size_t host, struct err *err);

#endif
