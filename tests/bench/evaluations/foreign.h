/* foreign.h - a run by an external strategy */
#ifndef FA_BENCH_FOREIGN_H
#define FA_BENCH_FOREIGN_H

#include <stdint.h>

struct course;

/* 'command' is split at blanks.  Ends the process when it misbehaves. */
void foreign_drive(struct course *course, const char *command, uint64_t seed);

#endif
