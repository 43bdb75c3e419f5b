/* tally.h - how many configurations were tried, and with which end
 *
 * The one definition of these counts, for sweep, watch, status and report
 * (docs/report.md, "Counts").  A measurement is one configuration at one shape.
 * Pure.
 */
#ifndef FA_COORDINATOR_LIVE_TALLY_H
#define FA_COORDINATOR_LIVE_TALLY_H

#include <stdbool.h>
#include <stdint.h>

/* A configuration: how many of its measurements have an outcome, and how many
 * of these are correct. */
struct tally_unit {
    int settled, correct;
};

struct tally {
    int shapes;      /* measurements of each configuration */
    int64_t tried;   /* configurations with an outcome */
    int64_t correct; /* of these, correct at all shapes; the others failed */
    int64_t settled; /* measurements with an outcome */
};

/* Every measurement has its outcome, or one of them failed. */
bool tally_is_tried(const struct tally *tally, struct tally_unit unit);
/* Tried, and correct at every shape. */
bool tally_is_correct(const struct tally *tally, struct tally_unit unit);

/* Count a configuration. */
void tally_add(struct tally *tally, struct tally_unit unit);
/* One that was counted has changed. */
void tally_change(struct tally *tally, struct tally_unit was,
                  struct tally_unit is);

#endif
