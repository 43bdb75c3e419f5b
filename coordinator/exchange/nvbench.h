/* nvbench.h - writes a landscape as JSON like that of nvbench
 *
 * The layout is that of nvbench --json, version 1.0.0, as far as scripts that
 * read it look: devices, axes, and a state for each configuration with
 * summaries of its times.  Numbers of summaries are texts, as nvbench writes
 * them.
 */
#ifndef FA_COORDINATOR_EXCHANGE_NVBENCH_H
#define FA_COORDINATOR_EXCHANGE_NVBENCH_H

#include <stdio.h>

struct landscape;

void nvbench_write(const struct landscape *landscape, FILE *to);

#endif
