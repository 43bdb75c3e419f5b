/* host_supply.h - end a sweep that no host can go on with
 */
#ifndef FA_COORDINATOR_STATE_HOST_SUPPLY_H
#define FA_COORDINATOR_STATE_HOST_SUPPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sweep;

/* CLOCK_BOOTTIME: without a host that can go on the sweep ends then. */
int64_t host_supply_until_ns(const struct sweep *sweep);
void host_supply_check(struct sweep *sweep, int64_t now);

#endif
