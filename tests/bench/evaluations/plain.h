/* plain.h - textbook searches, for comparison
 *
 * They do one evaluation after the other, and share no code with the
 * strategies.
 */
#ifndef FA_BENCH_PLAIN_H
#define FA_BENCH_PLAIN_H

#include <stdint.h>

struct course;

void plain_genetic(struct course *course, uint64_t seed);
void plain_local(struct course *course, uint64_t seed);

#endif
