/* sim_sweep.h - tiny sweep files, read by the real loader, and a place for
 * databases
 *
 * The files are in a folder of this process, in memory if the machine has such
 * a file system.  Each kind of sweep file is read once.
 */
#ifndef FA_TESTS_SIMULATION_SIM_SWEEP_H
#define FA_TESTS_SIMULATION_SIM_SWEEP_H

#include <stdbool.h>

struct err;
struct spec;

#define SIM_SWEEPS 3

/* Makes the folder.  ERR_SYSTEM */
int sim_sweep_setup(struct err *err);
void sim_sweep_cleanup(void);
/* Borrowed; with a canary after every few measurements, or without one. */
int sim_sweep_load(int kind, bool canary, struct spec **out, struct err *err);
/* Paths of the database and of that of the fuzz proof; neither need exist. */
const char *sim_sweep_db(bool fuzz);
/* A folder for artifacts, which need not exist. */
const char *sim_sweep_cache(void);
void sim_sweep_remove_db(void); /* and the artifacts */

#endif
