/* host_supply.h - end a sweep that no host can continue
 */
#ifndef FA_COORDINATOR_STATE_HOST_SUPPLY_H
#define FA_COORDINATOR_STATE_HOST_SUPPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sweep;

/* CLOCK_BOOTTIME: if no host can continue the sweep by then, it ends. */
int64_t host_supply_until_ns(const struct sweep *sweep);
/* May it measure, by its line of the hosts file and the GPUs that it was last
 * seen with? */
bool host_supply_may_measure(const struct sweep *sweep, size_t host);
/* Does another host measure, or might one that is still awaited? */
bool host_supply_has_other(const struct sweep *sweep, size_t host);
void host_supply_check(struct sweep *sweep, int64_t now);

#endif
