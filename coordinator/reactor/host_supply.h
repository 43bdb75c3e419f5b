/* host_supply.h - end a sweep that no host can go on with
 */
#ifndef FA_COORDINATOR_REACTOR_HOST_SUPPLY_H
#define FA_COORDINATOR_REACTOR_HOST_SUPPLY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sweep;

void host_supply_check(struct sweep *sweep, int64_t now);

#endif
