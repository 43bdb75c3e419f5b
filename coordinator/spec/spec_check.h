/* spec_check.h - how a kernel is checked, as a request has it
 *
 * A screening has two seeds, and one trial with zeros, ties and tiny values.  A
 * proof has more seeds, and each edge in a trial of its own
 * (docs/measuring.md).
 */
#ifndef FA_COORDINATOR_SPEC_SPEC_CHECK_H
#define FA_COORDINATOR_SPEC_SPEC_CHECK_H

struct buf;
struct spec;
struct spec_tolerance;

/* Add " absolute 0.5 ulp 2", or " exact" (worker/runner/wire/tolerance.h). */
void spec_check_tolerance(const struct spec_tolerance *tolerance,
                          struct buf *to);
/* Add "2 zeros+ties+tiny" (worker/runner/wire/trials.h).  Without values
 * drawn at random there are no edges, and integers alone have no extreme ones
 * and no offset. */
void spec_check_trials(const struct spec *spec, struct buf *to);

#endif
