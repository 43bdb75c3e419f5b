/* sim_pass.h - the passes of a seed: screening, and those that follow it
 *
 * They run as coordinator/tasks/confirm_pipeline.c and the commands run them,
 * without their output.
 */
#ifndef FA_TESTS_SIMULATION_SIM_PASS_H
#define FA_TESTS_SIMULATION_SIM_PASS_H

struct sim_run;

void sim_pass_run(struct sim_run *run);

#endif
