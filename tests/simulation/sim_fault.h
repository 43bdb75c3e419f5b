/* sim_fault.h - which faults occur, and when; drawn before the run begins */
#ifndef FA_TESTS_SIMULATION_SIM_FAULT_H
#define FA_TESTS_SIMULATION_SIM_FAULT_H

struct sim_world;

void sim_fault_plan(struct sim_world *world);
/* So many more, of those that only --full draws. */
void sim_fault_plan_more(struct sim_world *world, int n);

#endif
