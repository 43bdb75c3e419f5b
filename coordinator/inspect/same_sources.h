/* same_sources.h - do the sweep file and its sources still build what was
 * measured?
 *
 * A proof takes GPU hours.  Of other sources it says nothing about the results
 * of the sweep, so this is asked before it.
 */
#ifndef FA_COORDINATOR_INSPECT_SAME_SOURCES_H
#define FA_COORDINATOR_INSPECT_SAME_SOURCES_H

struct config_selection;
struct err;
struct report;
struct spec;

/* 0, or ERR_INPUT if the file is of another sweep than the report, or one of
 * these configurations would be built from something else than it was; or the
 * errors of space_open() and plan_make(). */
int same_sources_check(const struct report *report, const struct spec *spec,
                       const struct config_selection *choice, struct err *err);

#endif
