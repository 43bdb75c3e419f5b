/* cloud.h - a cloud in simulated time: start= and stop= commands, and machines
 *
 * A command is a process: it goes on when it is told to, does its work at one
 * moment and ends at another, or never.  It outlives the coordinator.  What the
 * machines and commands really did is noted, to be compared with the rows.
 *
 * There is one cloud, because the coordinator's own functions are replaced:
 * those of rental_command.h, clocks, kill(), COMMIT and the ids of acquisitions
 * (cloud_calls.c).  Most of them are places where the coordinator may be
 * killed.
 */
#ifndef FA_TESTS_SIMULATION_CLOUD_H
#define FA_TESTS_SIMULATION_CLOUD_H

#include <setjmp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/clock.h"
#include "coordinator/stats/prng.h"
#include "coordinator/store/store_acquisition.h"

#define CLOUD_MOST 8192 /* machines, and processes, of one run */
/* The longest command, until it is killed. */
#define CLOUD_LASTS_NS (600 * NS_PER_S)
#define CLOUD_PID 100000000 /* no process of this machine has such a pid */

struct cloud_machine { /* of one acquisition */
    char id[STORE_ACQUISITION_ID], host[16];
    bool is_on;
    bool vanished;       /* a spot machine was taken away */
    int64_t vanishes_ns; /* 0: it stays */
    int64_t forked_ns;   /* when the process of its start= was made */
    int64_t asked_ns;    /* when its start= went on; 0: never */
    int64_t
        released_ns; /* the end of the last stop= that was heard to end well */
};

struct cloud_process {
    size_t machine;
    bool is_start, went, is_over;
    int64_t forked_ns;
    int64_t acts_ns, ends_ns; /* 0: never */
    int status;
};

/* What is around the cloud, if a whole sweep uses it. */
struct cloud_world {
    void *self;
    void (*seam)(void *self); /* the coordinator may be killed here */
    void (*run)(void *self, int64_t until_ns);
    bool (*is_disk_full)(void *self);
    int64_t (*utc_ns)(void *self);
    int64_t (*steady_utc_ns)(void *self); /* as the coordinator counts it */
    void (*changes)(void *self, const struct cloud_machine *machine);
    void (*lasts)(void *self, int64_t until_ns); /* something is not well */
};

struct cloud {
    struct prng prng;
    struct prng ids; /* of acquisitions; they are drawn apart from all else */
    bool is_there;   /* cloud_init() was called */
    int64_t now_ns;
    bool is_well; /* no command fails or hangs any more */
    struct cloud_machine machines[CLOUD_MOST];
    struct cloud_process processes[CLOUD_MOST];
    size_t n_machines, n_processes;
    int kill_in; /* calls until the coordinator is killed; 0: it is not */
    jmp_buf killed;
    bool interrupts; /* Ctrl-C comes while machines are released */
    const struct cloud_world *world; /* NULL: the cloud alone */
};

extern struct cloud cloud;

void cloud_init(uint64_t seed);
int64_t cloud_between(int64_t low, int64_t high); /* [low, high] */
bool cloud_chance(int percent);
/* Everything until then happens. */
void cloud_run(int64_t until_ns);
/* The coordinator may be killed here. */
void cloud_seam(void);
/* A process that waits for cloud_go(); returns its pid. */
int64_t cloud_fork(const struct store_acquisition *row, bool is_start);
void cloud_go(int64_t pid);
struct cloud_process *cloud_process(int64_t pid); /* NULL: not of the cloud */
/* Those that were not told to go on end with the coordinator. */
void cloud_coordinator_died(void);

#endif
