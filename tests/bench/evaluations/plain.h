/* plain.h - the searches that everybody has, to compare with
 *
 * Written down as textbooks have them, one evaluation after the other; none of
 * the code of the strategies is used.
 */
#ifndef FA_BENCH_PLAIN_H
#define FA_BENCH_PLAIN_H

#include <stdint.h>

struct course;

void plain_genetic(struct course *course, uint64_t seed);
void plain_local(struct course *course, uint64_t seed);

#endif
