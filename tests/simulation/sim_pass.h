/* sim_pass.h - what a seed is to do: screening, and what stands on it
 *
 * As coordinator/tasks/confirm_pipeline.c and the commands do it, without their
 * output.
 */
#ifndef FA_TESTS_SIMULATION_SIM_PASS_H
#define FA_TESTS_SIMULATION_SIM_PASS_H

struct sim_run;

void sim_pass_run(struct sim_run *run);

#endif
