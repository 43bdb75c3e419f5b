/* dial_hosts.h - the hosts whose workers dial back, as the link sees them
 *
 * A worker that still has the invitation of an earlier run, or of an earlier
 * step of the command, is sent that of this one; its messages go to the reactor
 * when it has taken it (dial_presence.h).  The server key of the invitation,
 * which both have, is the proof.
 * Thread rule: that of the ROUTER.
 */
#ifndef FA_COORDINATOR_LINK_DIAL_HOSTS_H
#define FA_COORDINATOR_LINK_DIAL_HOSTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"

struct dial_hosts;
struct dial_keys;
struct host_thread_news;
struct hosts;
struct invite;
struct listen;
struct msg;
struct owner;
struct router;
struct worker_binary;

struct dial_hosts_options {
    const char *db; /* beside it are the keys and the invitations */
    const struct listen *listen;
    int64_t epoch;
    int linger_s;
    const struct owner *owner; /* of the database */
    void *zctx;
    const struct worker_binary *program; /* for the nodes of Slurm */
};

/* Are there nodes of Slurm among them? */
bool dial_hosts_slurm(const struct hosts *hosts);

/* Does a worker of these hosts dial back? */
bool dial_hosts_any(const struct hosts *hosts);

/* The invitation of a host, without its owner and run, as 'fa-coord invite'
 * writes it and a worker begins with it.  The caller wipes it. */
int dial_hosts_invitation(struct dial_keys *keys, const struct listen *listen,
                          const char *host, struct invite *out,
                          struct err *err);

/* Listen, admit the keys of these hosts, write their invitations, and begin to
 * ask Slurm for its nodes.  'keys'
 * and 'hosts' are borrowed.  Close '*out' even after an error. */
int dial_hosts_open(const struct hosts *hosts, struct router *router,
                    struct dial_keys *keys,
                    const struct dial_hosts_options *options,
                    struct dial_hosts **out, struct err *err);
void dial_hosts_close(struct dial_hosts *dial); /* NULL is fine */

/* Does the worker of this host dial back?  'dial' may be NULL. */
bool dial_hosts_has(const struct dial_hosts *dial, size_t host);

/* A message of such a host has come over this connection: true if it is for
 * the reactor. */
bool dial_hosts_hear(struct dial_hosts *dial, size_t host,
                     const struct msg *msg, uint64_t connection);

/* A message goes to such a host. */
void dial_hosts_sent(struct dial_hosts *dial, size_t host,
                     const struct msg *msg);

/* Now and then: give nodes of Slurm back that have no work, and ask for more
 * when all have (slurm_use.h). */
void dial_hosts_step(struct dial_hosts *dial);

/* To poll for news: a socket of each line of Slurm; NULL after the last one. */
void *dial_hosts_socket(const struct dial_hosts *dial, size_t i);

/* As in struct sweep_link. */
int dial_hosts_news(struct dial_hosts *dial, size_t host,
                    struct host_thread_news *out);
void dial_hosts_reconnect(struct dial_hosts *dial, size_t host);
void dial_hosts_dismiss(struct dial_hosts *dial, size_t host);

#endif
