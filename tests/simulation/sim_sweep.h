/* sim_sweep.h - tiny sweep files through the real loader, and a place for
 * databases
 *
 * The files lie in a folder of this process, on a file system in memory where
 * there is one.  Each kind is read once.
 */
#ifndef FA_TESTS_SIMULATION_SIM_SWEEP_H
#define FA_TESTS_SIMULATION_SIM_SWEEP_H

#include <stdbool.h>

struct err;
struct spec;

#define SIM_SWEEPS 3

/* Make the folder.  ERR_SYSTEM */
int sim_sweep_setup(struct err *err);
void sim_sweep_cleanup(void);
/* Borrowed; with the canary every few measurements, or without any. */
int sim_sweep_load(int kind, bool canary, struct spec **out, struct err *err);
/* The database, and the one of the fuzz proof; they may not exist. */
const char *sim_sweep_db(bool fuzz);
void sim_sweep_remove_db(void);

#endif
