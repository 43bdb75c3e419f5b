/* sim_device.h - what a build or a measurement comes to, and how long it takes
 *
 * The seed decides what each configuration does: it is correct, wrong, does not
 * compile, crashes or hangs.  The checker reads the same truth.
 */
#ifndef FA_TESTS_SIMULATION_SIM_DEVICE_H
#define FA_TESTS_SIMULATION_SIM_DEVICE_H

#include <stddef.h>
#include <stdint.h>

#include "common/hash.h"
#include "common/msg.h"

struct sim_world;

#define SIM_SAMPLES_MAX 64

enum sim_truth {
    SIM_RIGHT,
    SIM_NOT_COMPILED,
    SIM_WRONG,
    SIM_RUNTIME,
    SIM_DIES,    /* its process dies every time */
    SIM_FLAKY,   /* its process dies at the first attempt */
    SIM_HANGS,   /* it hangs until the limit */
    SIM_NO_BUILD /* the compiler hangs until the limit */
};

enum sim_truth sim_device_truth(const struct sim_world *world,
                                const char *config);

/* A result, without the fields that the lease and the journal add. */
struct sim_answer {
    struct msg msg;
    double samples[SIM_SAMPLES_MAX];
    char artifact[HASH_HEX];
    char output[4096];
};

void sim_device_answer(struct sim_world *world, size_t host,
                       const struct msg *lease, struct sim_answer *out);
int64_t sim_device_takes_ns(struct sim_world *world, size_t host,
                            const struct msg *lease);

#endif
