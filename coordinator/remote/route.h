/* route.h - the servers that a login goes through, the host itself last
 *
 * The jump hosts come from jump= or ProxyJump, those of a jump host included.
 * For each server the settings of ~/.ssh/config are resolved, known_hosts is
 * read, and the host key policy is applied (host_key_policy.h).  What follows
 * from it is written as a configuration file for the system's ssh: the user's
 * file with our settings in front.  The file is in memory (memfd_create(2)),
 * so nothing is left behind, and it names the file of the server before it, so
 * that our settings reach each server on the way; command line options of ssh
 * would reach the last one only.
 * Thread rule: one thread a route.
 */
#ifndef FA_COORDINATOR_REMOTE_ROUTE_H
#define FA_COORDINATOR_REMOTE_ROUTE_H

#include <stddef.h>

#include "coordinator/hosts/hosts.h"
#include "coordinator/remote/ssh_config.h"
#include "coordinator/ssh_keys/host_key_policy.h"
#include "coordinator/ssh_keys/known_hosts.h"

struct buf;
struct err;
struct remote_options;

#define ROUTE_MAX 9 /* servers; a longer route is a ring */

/* How ssh's stderr begins if the server does not have the pinned key; the type
 * and the fingerprint of its key follow. */
#define ROUTE_PIN_SAYS "fa-coord: the server has"

struct route_hop {
    struct host host; /* for ssh: no jump host, which the file has */
    struct ssh_config config;
    struct known_hosts_set known;
    struct host_key_policy policy;
    enum host_key_rule rule;
    int fd; /* of the file; -1: not written yet */
    char file[48];
};

struct route {
    const struct host *host;              /* borrowed */
    const struct remote_options *options; /* borrowed */
    struct route_hop *hops[ROUTE_MAX];    /* in the order of the way */
    size_t n;                             /* at least 1 */
};

/* Returns 0 and a route for the caller to route_free(), or
 *   ERR_INPUT    ssh refuses the configuration, or the jump hosts are a ring
 *   ERR_HOST_KEY the pinned key is @revoked
 *   ERR_SYSTEM   no ssh program, or a known_hosts file cannot be read
 *   ERR_NETWORK  ssh did not resolve the configuration in time */
int route_open(const struct host *host, const struct remote_options *options,
               struct route **out, struct err *err);
void route_free(struct route *route); /* NULL is fine */

const struct route_hop *route_target(const struct route *route);

/* The last jump host, or NULL without one. */
const struct route_hop *route_jump(const struct route *route);

/* Append a command that logs in at hops[n - 1] alone, for messages: what the
 * user can type to see what ssh says. */
void route_command(const struct route *route, size_t n, struct buf *out);

#endif
