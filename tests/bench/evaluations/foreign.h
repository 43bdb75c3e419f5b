/* foreign.h - a run by an external strategy */
#ifndef FA_BENCH_FOREIGN_H
#define FA_BENCH_FOREIGN_H

#include <stdint.h>

struct course;

/* 'command' is split at blanks.  The process ends if the program breaks the
 * protocol. */
void foreign_drive(struct course *course, const char *command, uint64_t seed);

#endif
