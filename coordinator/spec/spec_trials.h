/* spec_trials.h - on which inputs a kernel is checked (docs/measuring.md)
 *
 * A screening has two seeds, and one trial with all edges but large values.  A
 * proof has more seeds, and each edge in a trial of its own.
 */
#ifndef FA_COORDINATOR_SPEC_SPEC_TRIALS_H
#define FA_COORDINATOR_SPEC_SPEC_TRIALS_H

struct buf;
struct spec;

/* Add "2 zeros+ties+tiny", as a request has it
 * (worker/runner/wire/trials.h).  Without floats drawn at random there are no
 * edges. */
void spec_trials(const struct spec *spec, struct buf *to);

#endif
