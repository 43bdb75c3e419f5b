/* simulate.c - whole sweeps in one process, from one seed each (F20)
 *
 *   simulate --seeds 1..1000 [--pass NAME] [--twice] [--dial] [--full]
 *   simulate --seed 17 --trace
 *
 * --twice runs each seed again, which must give the same trace.  --idle also
 * checks that idle GPUs help out (F28).  With --dial the workers of most hosts
 * dial back.  With --full there are also rented machines, caps, and more kinds
 * of hosts and faults (sim_full.h).
 *
 * Prints one line for each seed with a finding, and how many there were.
 * Exit status: 0 none, 1 some, 2 usage.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "common/hash.h"
#include "common/log.h"
#include "tests/simulation/sim_run.h"
#include "tests/simulation/sim_sweep.h"
#include "tests/simulation/sim_world.h"

/* A coordinator that is killed may leave descriptors open. */
#define DESCRIPTORS 4096

struct arguments {
    uint64_t from, to;
    enum sim_pass pass;
    bool trace; /* print everything that happened */
    bool twice; /* run each seed twice, and compare */
    bool idle;  /* check F28, too */
    bool dial;  /* most hosts dial back */
    bool full;  /* all that can be drawn */
    bool all;   /* print all findings, not only the first */
};

static int usage(void)
{
    fputs("usage: simulate --seeds A..B | --seed N [--trace] [--pass NAME] "
          "[--twice] [--idle] [--dial] [--full] [--all]\n",
          stderr);
    return 2;
}

static bool spec_read_arguments(int argc, char *argv[], struct arguments *out)
{
    for (int i = 1; i < argc; i++) {
        const char *next = i + 1 < argc ? argv[i + 1] : "";

        if (strcmp(argv[i], "--trace") == 0) {
            out->trace = true;
        } else if (strcmp(argv[i], "--twice") == 0) {
            out->twice = true;
        } else if (strcmp(argv[i], "--idle") == 0) {
            out->idle = true;
        } else if (strcmp(argv[i], "--dial") == 0) {
            out->dial = true;
        } else if (strcmp(argv[i], "--full") == 0) {
            out->full = true;
        } else if (strcmp(argv[i], "--all") == 0) {
            out->all = true;
        } else if (strcmp(argv[i], "--seed") == 0 &&
                   sscanf(next, "%" SCNu64, &out->from) == 1) {
            out->to = out->from;
            i++;
        } else if (strcmp(argv[i], "--seeds") == 0 &&
                   sscanf(next, "%" SCNu64 "..%" SCNu64, &out->from,
                          &out->to) == 2) {
            i++;
        } else if (strcmp(argv[i], "--pass") == 0 &&
                   sim_pass_named(next) != SIM_PASSES) {
            out->pass = sim_pass_named(next);
            i++;
        } else {
            return false;
        }
    }
    return out->from <= out->to;
}

static void print_findings(const struct arguments *arguments,
                           const struct sim_run *run)
{
    const struct sim_world *world = run->world;
    size_t n = run->n < SIM_FINDINGS_MAX ? run->n : SIM_FINDINGS_MAX;

    for (size_t i = 0; i < (arguments->all ? n : n > 0); i++)
        printf("seed %" PRIu64 " (%s, %s, %zu hosts, %d lives): %s: %s\n",
               world->seed, sim_pass_name(world->scene.pass),
               world->scene.device, world->scene.n_hosts, world->life.number,
               run->findings[i].check, run->findings[i].text);
}

static bool run_seed(const struct arguments *arguments, uint64_t seed,
                     char hash[HASH_HEX])
{
    static struct sim_world world;
    static struct sim_run run;
    bool found;

    run = (struct sim_run){ .world = &world,
                            .idle = arguments->idle,
                            .dial = arguments->dial,
                            .full = arguments->full };
    sim_run_seed(&run, seed, arguments->pass);
    if (arguments->trace)
        sim_trace_print(&world.trace, stdout);
    print_findings(arguments, &run);
    sim_trace_hash(&world.trace, hash);
    found = run.n > 0;
    sim_world_fini(&world);
    return found;
}

static size_t run_all(const struct arguments *arguments)
{
    size_t found = 0;

    for (uint64_t seed = arguments->from; seed <= arguments->to; seed++) {
        char hash[HASH_HEX], again[HASH_HEX];
        bool is = run_seed(arguments, seed, hash);

        if (arguments->twice) {
            (void)run_seed(arguments, seed, again);
            if (strcmp(hash, again) != 0) {
                printf("seed %" PRIu64 ": the second run differs\n", seed);
                is = true;
            }
        }
        found += is;
        fflush(stdout);
    }
    return found;
}

int main(int argc, char *argv[])
{
    const struct rlimit descriptors = { DESCRIPTORS, DESCRIPTORS };
    struct arguments arguments = { .from = 1, .to = 0 };
    struct err err;
    size_t found;

    if (!spec_read_arguments(argc, argv, &arguments))
        return usage();
    (void)setrlimit(RLIMIT_NOFILE,
                    &descriptors); /* without it, fewer seeds run */
    if (hash_setup(&err) < 0 || sim_sweep_setup(&err) < 0) {
        fprintf(stderr, "simulate: %s\n", err.text);
        return 2;
    }
    if (arguments.trace)
        log_setup(stderr, LOG_I);
    found = run_all(&arguments);
    printf("%zu of %" PRIu64 " seeds with findings\n", found,
           arguments.to - arguments.from + 1);
    sim_sweep_cleanup();
    return found > 0;
}
