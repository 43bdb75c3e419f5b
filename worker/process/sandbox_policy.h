/* sandbox_policy.h - the sandbox of everything that a worker starts
 *
 * Compilers, fa-runner and commands of a sweep need neither the home folder
 * nor the work folder: keys, tokens, the worker's socket and journal and the
 * artifacts of others are there.  Each sees only what it is given.
 */
#ifndef FA_WORKER_PROCESS_SANDBOX_POLICY_H
#define FA_WORKER_PROCESS_SANDBOX_POLICY_H

#include <stdbool.h>

#include "common/err.h"

struct sandbox;

/* Borrowed during the call. */
struct sandbox_policy {
    const char *dir;      /* the work folder */
    const char *home;     /* NULL or not absolute: unknown */
    const char *database; /* of the coordinator, which may be on this machine;
                           * "": unknown.  NAME.db and NAME.fuzz.db, of a
                           * sweep and of its proof, are hidden together */
    const char *allow;    /* folders in the home folder that are shown to be
                           * read, "~/a:/home/ada/b"; never those that hold
                           * keys or tokens */
};

/* Hidden are the home folder, the work folder, the database, and what runs
 * programs for others: the user's services (XDG_RUNTIME_DIR), containers; where
 * HOME is not the folder of the user, also the keys in that.  'allow' is shown,
 * and what holds keys hidden in it.  It is offline where this host can do that:
 * a program that may have network gets it.  ERR_INPUT names the folder of
 * 'allow' that cannot be shown. */
int sandbox_policy_new(const struct sandbox_policy *policy,
                       struct sandbox **out, struct err *err);

/* Is what is hidden of the one database hidden of the other as well? */
bool sandbox_policy_hides_both(const char *database, const char *other);

/* A copy for one program, in which this user's sockets in /tmp are hidden as
 * well, of ssh-agent and tmux for example: each login may make new ones.  NULL
 * of NULL. */
struct sandbox *sandbox_policy_copy(const struct sandbox *sandbox);

const char *sandbox_policy_means(const struct sandbox *sandbox);
/* What is open to the programs all the same, for people; "" if nothing. */
const char *sandbox_policy_warning(const struct sandbox *sandbox);

#endif
