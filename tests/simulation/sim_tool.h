/* sim_tool.h - the output of a TOOL: an external baseline or a profiler */
#ifndef FA_TESTS_SIMULATION_SIM_TOOL_H
#define FA_TESTS_SIMULATION_SIM_TOOL_H

#include <stddef.h>

struct msg;
struct sim_answer;
struct sim_world;

void sim_tool_run(struct sim_world *world, size_t host, const struct msg *lease,
                  struct sim_answer *out);

#endif
