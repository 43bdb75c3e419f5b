#include "coordinator/live/tally.h"

bool tally_is_tried(const struct tally *tally, struct tally_unit unit)
{
    return unit.settled > 0 &&
           (unit.settled >= tally->shapes || unit.correct < unit.settled);
}

bool tally_is_correct(const struct tally *tally, struct tally_unit unit)
{
    return tally_is_tried(tally, unit) && unit.correct == unit.settled;
}

static void count(struct tally *tally, struct tally_unit unit, int n)
{
    tally->tried += n * tally_is_tried(tally, unit);
    tally->correct += n * tally_is_correct(tally, unit);
    tally->settled += n * unit.settled;
}

void tally_add(struct tally *tally, struct tally_unit unit)
{
    count(tally, unit, 1);
}

void tally_change(struct tally *tally, struct tally_unit was,
                  struct tally_unit is)
{
    count(tally, was, -1);
    count(tally, is, 1);
}
