/* kept_artifacts.h - the coordinator's own copies of artifacts
 *
 * With a cache (sweep_options.h), what goes from host to host is kept, and
 * what else was built is fetched while its host sends nothing else.  In sched,
 * the coordinator is one more host then, which has neither slots nor GPUs.
 */
#ifndef FA_COORDINATOR_ARTIFACTS_KEPT_ARTIFACTS_H
#define FA_COORDINATOR_ARTIFACTS_KEPT_ARTIFACTS_H

#include <stdbool.h>
#include <stddef.h>

struct sweep;

/* Its number in sched: after those of the fleet. */
int kept_artifacts_home(const struct sweep *sweep);

bool kept_artifacts_has(const struct sweep *sweep, const char *hash);
/* False if there is no whole copy. */
bool kept_artifacts_send(struct sweep *sweep, size_t host, const char *hash);
/* Send it as it is sent from a copy. */
void kept_artifacts_send_bytes(struct sweep *sweep, size_t host,
                               const char *hash, const char *bytes, size_t len);
void kept_artifacts_put(struct sweep *sweep, const char *hash,
                        const char *bytes, size_t len);
/* From now on the unit's artifact is had from here; false without a copy. */
bool kept_artifacts_take_over(struct sweep *sweep, int unit);

/* The host has built it: it is to be fetched some time. */
void kept_artifacts_queue(struct sweep *sweep, size_t host, int unit);
/* The next unit to be fetched from this host, which leaves the queue, or -1. */
int kept_artifacts_next(struct sweep *sweep, size_t host);
void kept_artifacts_free(struct sweep *sweep);

#endif
