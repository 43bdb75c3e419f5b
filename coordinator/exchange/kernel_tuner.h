/* kernel_tuner.h - writes a landscape as a cache file of Kernel Tuner
 *
 * The file follows version 1.1.0 of Kernel Tuner's schema of caches; times are
 * milliseconds.  landscape_load() reads the same landscape from it.  The
 * baseline stands first, because a reader takes the first timed configuration
 * for it.
 */
#ifndef FA_COORDINATOR_EXCHANGE_KERNEL_TUNER_H
#define FA_COORDINATOR_EXCHANGE_KERNEL_TUNER_H

#include <stdio.h>

struct landscape;

/* "time" of a configuration with samples is their mean. */
void kernel_tuner_write(const struct landscape *landscape, FILE *to);

#endif
