/* sim_fault.h - what goes wrong, and when: drawn before anything begins */
#ifndef FA_TESTS_SIMULATION_SIM_FAULT_H
#define FA_TESTS_SIMULATION_SIM_FAULT_H

struct sim_world;

void sim_fault_plan(struct sim_world *world);

#endif
