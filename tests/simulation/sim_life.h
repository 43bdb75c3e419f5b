/* sim_life.h - one run of the coordinator, and the seams it sees
 *
 * The real reactor runs on the stack of the caller.  A kill -9 is a longjmp
 * out of a seam: what the reactor had allocated leaks, its transaction is
 * dropped with the connection to the database, and nothing else of it stays.
 */
#ifndef FA_TESTS_SIMULATION_SIM_LIFE_H
#define FA_TESTS_SIMULATION_SIM_LIFE_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clock.h"
#include "common/owner.h"
#include "coordinator/link/host_threads.h"
#include "coordinator/link/sweep_io.h"
#include "tests/simulation/sim_held.h"
#include "tests/simulation/sim_line.h"

struct sim_world;
struct store;

#define SIM_STUCK_NS (900 * NS_PER_S)    /* without progress */
#define SIM_ALL_NS (3 * 3600 * NS_PER_S) /* of a life, whatever happens */

enum sim_out {
    SIM_OUT_ENDED = 1, /* by itself, with an exit code */
    SIM_OUT_KILLED,
    SIM_OUT_STUCK, /* it should have ended long ago */
    SIM_OUT_SPINS, /* it does not let time pass */
};

struct sim_mail {
    size_t host;
    struct sim_parcel *parcel;
};

struct sim_life {
    bool alive;
    int number; /* 1 is the first */
    int64_t epoch, began_ns;
    struct owner owner; /* of its database */
    int64_t linger_ns;
    int64_t until_ns;     /* STUCK, after */
    unsigned char *known; /* names of the trace: results and attempts */
    size_t n_known;
    jmp_buf out;
    int kill_in; /* seams; 0: it is not killed */
    int64_t spins;
    int64_t spin_ns;

    struct sim_mail *mail;
    size_t n_mail, at_mail;
    struct host_thread_news *news;
    size_t n_news;
    int64_t sleep_ns; /* that the process will not run */
    int64_t commit_ns;
    bool disk_full;
    struct sim_held held;
    int signals; /* its descriptor, -1 */
    struct store *store;
};

/* The tables for sweep_run_with(). */
struct sweep_io sim_life_io(struct sim_world *world);

/* From the world, for the coordinator: a message, news of a connection. */
void sim_life_hear(struct sim_world *world, size_t host,
                   struct sim_parcel *parcel);
void sim_life_news(struct sim_world *world, size_t host,
                   enum host_threads_event event, int code, const char *text);
/* It runs no more: drop what it had not read. */
void sim_life_over(struct sim_world *world);
void sim_life_fini(struct sim_life *life);

#endif
