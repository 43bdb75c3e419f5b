/* prune_host.h - what a host's work folder does not need any more
 *
 * The host's own fa-worker --prune looks and removes, under the lock of the
 * folder.  A host that lacks this version's program gets it first.
 * Thread rule: what remote.h asks for.
 */
#ifndef FA_COORDINATOR_PRUNE_PRUNE_HOST_H
#define FA_COORDINATOR_PRUNE_PRUNE_HOST_H

struct err;
struct host;
struct prune_list;
struct remote_options;
struct worker_binary;

/* Adds to 'list'.  A folder in which a worker runs is one entry that is kept.
 * An error of remote.h or deploy.h, or ERR_PROTO if the answer is not whole. */
int prune_host(const struct host *host, const struct remote_options *options,
               const struct worker_binary *program, struct prune_list *list,
               struct err *err);

/* Read what fa-worker --prune prints; 'folder' is the work folder.
 * ERR_PROTO */
int prune_host_read(const char *answer, const char *where, const char *folder,
                    struct prune_list *list, struct err *err);

#endif
