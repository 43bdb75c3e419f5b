/* sim_life.h - one run of the coordinator, and the seams it sees
 *
 * The real reactor runs on the stack of the caller.  A seam is a call of the
 * reactor to the clock, the network or the disk.  A kill -9 is a longjmp out of
 * a seam: the reactor's memory leaks, its transaction is rolled back with the
 * connection to the database, and nothing else remains.
 */
#ifndef FA_TESTS_SIMULATION_SIM_LIFE_H
#define FA_TESTS_SIMULATION_SIM_LIFE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clock.h"
#include "common/owner.h"
#include "coordinator/dial/dial_presence.h"
#include "coordinator/link/host_threads.h"
#include "coordinator/link/sweep_io.h"
#include "tests/simulation/sim_held.h"
#include "tests/simulation/sim_line.h"
#include "tests/simulation/sim_scene.h"

struct rental;
struct sim_world;
struct store;

/* Three leases of 330 s may be lost in turn. */
#define SIM_STUCK_NS (1200 * NS_PER_S)   /* without progress */
#define SIM_ALL_NS (3 * 3600 * NS_PER_S) /* of a life, whatever happens */

enum sim_out {
    SIM_OUT_ENDED = 1, /* it ended with an exit code */
    SIM_OUT_KILLED,
    SIM_OUT_STUCK, /* it should have ended long ago */
    SIM_OUT_SPINS, /* its loop turns and time stands still */
};

struct sim_mail {
    size_t host;
    struct sim_parcel *parcel;
};

struct sim_life {
    bool alive;
    int number; /* 1 is the first */
    int64_t epoch, began_ns;
    int64_t utc_off_ns; /* of the world as it began: the steady clock's */
    struct owner owner; /* the owner that its database names */
    int64_t linger_ns;
    int64_t until_ns;     /* after this time it is STUCK */
    unsigned char *known; /* by name of the trace: it was seen */
    size_t n_known;
    jmp_buf out;
    int kill_in; /* killed after so many seams; 0: never */
    int64_t spins;
    int64_t spin_ns;

    struct sim_mail *mail;
    size_t n_mail, at_mail;
    struct host_thread_news *news;
    size_t n_news;
    struct dial_presence presence[SIM_HOSTS_MAX]; /* of those that dial back */
    int64_t sleep_ns; /* how long the process will not run */
    int64_t commit_ns;
    bool disk_full;
    struct sim_held held;
    int signals; /* the descriptor, or -1 */
    struct store *store;
    struct store *rents;     /* of the rows of its machines; may be 'store' */
    struct rental *machines; /* or NULL */
    int fails_in;            /* after so many COMMITs one fails; 0: none */
};

/* The tables of functions for sweep_run_with(). */
struct sweep_io sim_life_io(struct sim_world *world);

/* It calls out: here it may be killed. */
void sim_life_seam(struct sim_world *world);
/* The coordinator gets a message, or news of a connection. */
void sim_life_hear(struct sim_world *world, size_t host,
                   struct sim_parcel *parcel);
void sim_life_news(struct sim_world *world, size_t host,
                   enum host_threads_event event, int code, const char *text);
/* The coordinator has ended: drop what it had not read. */
void sim_life_over(struct sim_world *world);
void sim_life_fini(struct sim_life *life);

#endif
