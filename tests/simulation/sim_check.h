/* sim_check.h - the invariants of a run, from its trace and its database
 *
 * sim_check.c the order of things, sim_check_delivery.c results and their
 * acknowledgements, sim_check_lease.c leases, sim_check_crash.c work that
 * crashes, sim_check_idle.c GPUs without work, sim_check_claim.c what a host
 * says that it runs, sim_check_rows.c the database.
 */
#ifndef FA_TESTS_SIMULATION_SIM_CHECK_H
#define FA_TESTS_SIMULATION_SIM_CHECK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct sim_run;
struct store;

void sim_check(struct sim_run *run);

/* Writes into 'text' what a run that hangs is waiting for. */
void sim_stuck_why(const struct sim_run *run, bool fuzz, char *text,
                   size_t size);

/* ---- its parts */
void sim_check_delivery(struct sim_run *run); /* I1: what is acknowledged */
void sim_check_leases(struct sim_run *run);   /* I4, I8 */
void sim_check_crashes(struct sim_run *run);  /* F3 */
void sim_check_idle(struct sim_run *run);     /* F28 */
void sim_check_claims(struct sim_run *run, struct store *store); /* I4 */
void sim_check_rows(struct sim_run *run); /* I1, I2, I3, I5, I6, I8 */

#endif
