/* host_state.h - a host as the reactor sees it
 *
 *   AWAY --attached--> GREETED --welcome, READY--> READY
 *     ^                   |                          |
 *     '------------- connection gone ----------------'    FAILED: for good
 */
#ifndef FA_COORDINATOR_STATE_HOST_STATE_H
#define FA_COORDINATOR_STATE_HOST_STATE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/hash.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/link/budget.h"

struct host;

#define HOST_STATE_GPUS_MAX 64
#define ACKS_MAX 256 /* results in one commit, and nonces in one ACK */
#define LIES_MAX 3   /* results that are refused, then the host is dropped */

enum host_state_state {
    HOST_STATE_AWAY,
    HOST_STATE_GREETED,
    HOST_STATE_READY,
    HOST_STATE_FAILED
};

struct host_state_gpu {
    char uuid[128];
    char name[256];
    char driver[128];
    struct gpu_arch_facts facts;
};

struct host_connection {
    bool attached;     /* a relay is up */
    bool waits;        /* its worker is another sweep's: see 'why' */
    int64_t heard_ns;  /* last message, CLOCK_BOOTTIME */
    int64_t linked_ns; /* when its relay was up */
    int64_t deaf_ns;   /* since then it has sent only HELLO; or 0 */
    int64_t leave_ns;  /* it was told to stop: dismissed then; 0: it was not */
    int64_t lost_ns;   /* its worker dials back, and was lost then; or 0 */
    int tries;         /* connections that broke */
    bool is_rented;    /* start= acquires it, and may do so again */
    bool is_wanted, is_parked, is_linked; /* its thread waits, or was told */
    bool was_cut;  /* its upload was, and the user was told */
    char bye[256]; /* why its worker ended, as the worker says */
    int code;      /* ERR_* of the last that broke */
    char why[sizeof(((struct err *)0)->text)];
};

struct host_conduct { /* how it handled its leases */
    int refusals;     /* leases it refused since its last result */
    int64_t rests_ns; /* no lease is offered until then, after refusals */
    int expired;      /* leases that expired since its last result */
    bool has_foreign; /* it has results for another database */
    bool has_damage;  /* its journal lost results, and the user was told */
    bool condemned;   /* it will be given up: see conn.code and conn.why */
    int lies;         /* results that were refused */
    char lied[LIES_MAX][HASH_HEX]; /* their nonces: they will come again */
};

/* Its worker, as HELLO and READY say. */
struct host_worker {
    int64_t pid, cpus;
    char boot_id[CLOCK_BOOT_ID_BYTES];
    char machine[256];
    bool is_elsewhere; /* on another machine than the one READY before */
    char version[128];
    char toolkit[256];
    char **running; /* identities of the work it had at its HELLO */
    size_t n_running;
    int slots, credit; /* the latter for each GPU, at most */
};

struct host_state {
    const struct host *host; /* borrowed from the hosts list */
    enum host_state_state state;
    struct host_connection conn;
    struct host_conduct conduct;
    struct budget budget; /* what it may still send */
    struct host_worker worker;
    bool was_ready;       /* in this run */
    bool warned, is_slow; /* said: its READY had a warning; it is not ready */
    bool same_worker;     /* the same process that was READY before */
    bool suspect;         /* silent for 15 s: no new work */
    bool is_lost;         /* silent for 30 s: its work went to others */
    /* For each GPU, and last for the build slots: when a lease began or ended
     * there, and when the lease that runs there must end (leases.c). */
    int64_t moved_ns[HOST_STATE_GPUS_MAX + 1];
    int64_t busy_until_ns[HOST_STATE_GPUS_MAX + 1];
    struct host_state_gpu gpus[HOST_STATE_GPUS_MAX];
    int n_gpus;
    /* GPUs by their numbers in sched; a new connection may change them */
    char known[HOST_STATE_GPUS_MAX][128];
    int n_known;
    char acks[ACKS_MAX][HASH_HEX]; /* stored, to be sent after COMMIT */
    size_t n_acks;
};

/* Give it up at the loop's next turn, and take no message of it before.  The
 * first reason counts. */
void host_state_condemn(struct host_state *host_state, int code,
                        const char *why);
/* It sends more than its work explains. */
void host_state_floods(struct host_state *host_state);
bool host_state_is_connected(const struct host_state *host_state);
/* Not ready, but may be soon; never a machine that the plan does not want. */
bool host_state_is_to_come(const struct host_state *host_state);
/* Are two hosts of the file the same worker? */
bool host_state_same_worker(const struct host_state *a,
                            const struct host_state *b);
void host_state_forget_running(struct host_state *host_state);

#endif
