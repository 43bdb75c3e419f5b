/* sim_scene.h - what a seed draws: its hosts, its sweep, how many faults */
#ifndef FA_TESTS_SIMULATION_SIM_SCENE_H
#define FA_TESTS_SIMULATION_SIM_SCENE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "coordinator/hosts/hosts.h"
#include "coordinator/rental/rental_plan.h"
#include "coordinator/spec/search_settings.h"

#define SIM_HOSTS_MAX 5
#define SIM_GPUS_MAX 3

struct sim_world;

enum sim_pass {
    SIM_PASS_ANY, /* the seed chooses */
    SIM_PASS_SCREEN,
    SIM_PASS_SEARCH,
    SIM_PASS_RACE,
    SIM_PASS_CANARY,
    SIM_PASS_FUZZ,
    SIM_PASS_CONFIRM,
    SIM_PASS_PROFILE,
    SIM_PASS_ALL,    /* a screening, a proof, a confirmation, a profile */
    SIM_PASS_BUILDS, /* builds alone */
    SIM_PASSES,
};

const char *sim_pass_name(enum sim_pass pass);
enum sim_pass sim_pass_named(const char *name); /* SIM_PASSES: unknown */

/* How a host breaks the rules of docs/protocol.md, or strains them. */
enum sim_vice {
    SIM_HONEST,
    SIM_BEATS_ONLY, /* takes leases and never answers */
    SIM_CLAIMS,     /* says in HELLO that it runs what it never got */
    SIM_LATE,       /* answers after the deadline */
    SIM_LIES,       /* sends results of others' leases, and wrong bytes */
    SIM_FLOODS,     /* asks very often for what does not exist */
    SIM_REFUSES,    /* refuses every lease */
    SIM_EVICTS,     /* loses artifacts all the time */
    SIM_VICES,
};

struct sim_scene {
    enum sim_pass pass;
    const char *device; /* cuda or cpu */
    int kind;           /* which sweep file (sim_sweep.h) */
    size_t n_hosts;
    struct host hosts[SIM_HOSTS_MAX];
    enum sim_vice vices[SIM_HOSTS_MAX];
    int gpus[SIM_HOSTS_MAX];
    size_t anchor;   /* a host that is honest, builds, measures, and recovers */
    bool hopeless;   /* no host can be used */
    int bad_percent; /* of the configurations that fail */
    int64_t slow;    /* all work takes this many times as long */
    size_t chunk_bytes; /* of artifacts; padding */
    int64_t horizon_ns; /* no fault begins after it */
    int faults;
    bool dial; /* most hosts dial back */
    /* With --full: */
    bool full;
    bool rents; /* some hosts are rented (sim_rent.h) */
    enum rental_goal goal;
    bool is_other[SIM_HOSTS_MAX]; /* its GPUs are of another model */
    size_t box[SIM_HOSTS_MAX];    /* hosts of one box have the same GPUs */
    int doubles;                  /* percent of messages that come twice */
    double budget_usd, max_hours; /* caps; 0: none */
    int breaks; /* left: their connections break when a message is sent */
};

/* The first GPU decides which model the sweep is of. */
bool sim_scene_has_other_model(const struct sim_scene *scene);
const char *sim_vice_name(enum sim_vice vice);
/* Makes the first draws from the world's random numbers.  They are the first
 * lines of the trace. */
void sim_scene_draw(struct sim_world *world, enum sim_pass pass, bool dial);

#endif
