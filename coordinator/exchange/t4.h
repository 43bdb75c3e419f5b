/* t4.h - writes a landscape as a T4 file, the results format of the auto-tuning
 * community
 *
 * The file follows version 1.0.0 of the T4 results schema; times are
 * milliseconds.  landscape_load() reads the same landscape from it.  The
 * baseline stands first.
 */
#ifndef FA_COORDINATOR_EXCHANGE_T4_H
#define FA_COORDINATOR_EXCHANGE_T4_H

#include <stdio.h>

struct landscape;

/* The compile time is written under both names that readers look for. */
void t4_write(const struct landscape *landscape, FILE *to);

#endif
