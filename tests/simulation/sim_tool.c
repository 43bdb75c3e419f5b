#include "tests/simulation/sim_tool.h"

#include <stdio.h>
#include <string.h>

#include "common/msg.h"
#include "tests/simulation/sim_device.h"
#include "tests/simulation/sim_world.h"

/* Hosts without the program, and runs that die. */
#define MISSING_PERCENT 10
#define CRASH_PERCENT 5

static void print_times(struct sim_world *world, struct sim_answer *out)
{
    snprintf(out->output, sizeof(out->output),
             "{\"name\": \"library\", \"samples\": [1.%lldE-4, 1.5E-4]}",
             (long long)sim_between(world, 100, 999));
}

void sim_tool_run(struct sim_world *world, size_t host, const struct msg *lease,
                  struct sim_answer *out)
{
    char where[32];
    struct msg_ran *ran = &out->msg.ran;

    snprintf(where, sizeof(where), "tool on %zu", host);
    out->msg = (struct msg){
        .type = MSG_RAN,
        .ran = { .result = { .outcome = "ran", .detail = "", .seconds = 1 },
                 .gpu = lease->tool.launch.gpu,
                 .output = out->output,
                 .log = "" }
    };
    out->output[0] = '\0';
    if ((int)(sim_mix(world, where) % 100) < MISSING_PERCENT) {
        ran->result.outcome = "missing";
        ran->status = -1;
    } else if (sim_chance(world, CRASH_PERCENT)) {
        ran->result.outcome = "crash";
        ran->result.detail = "killed from outside";
        ran->status = -1;
    } else {
        print_times(world, out);
    }
}
