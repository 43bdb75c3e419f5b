/* artifacts.h - how artifacts get from host to host
 */
#ifndef FA_COORDINATOR_ARTIFACTS_ARTIFACTS_H
#define FA_COORDINATOR_ARTIFACTS_ARTIFACTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct msg;
struct sweep;

/* The host has built the unit: the cache gets a copy. */
void artifacts_built(struct sweep *sweep, size_t host, int unit);
/* A host gets what its leases may need, a few times each. */
void artifacts_want(struct sweep *sweep, size_t host, const struct msg *msg);
/* False if this chunk was not asked for, or is not the next one. */
bool artifacts_chunk(struct sweep *sweep, size_t host, const struct msg *msg);
void artifacts_missing(struct sweep *sweep, size_t host, const char *hash);
void artifacts_turn(struct sweep *sweep, int64_t now);        /* ask again */
void artifacts_forget_host(struct sweep *sweep, size_t host); /* it is lost */
void artifacts_free(struct sweep *sweep);

#endif
