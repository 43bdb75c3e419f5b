/* plan_launch.h - launches of a sweep file that no GPU can do
 *
 * Of the baseline and the reference, without which there is no sweep.  The
 * limits are those of every architecture; what an older one lacks is not here.
 */
#ifndef FA_COORDINATOR_PLAN_PLAN_LAUNCH_H
#define FA_COORDINATOR_PLAN_PLAN_LAUNCH_H

struct err;
struct space;
struct spec;

/* ERR_INPUT if one is beyond a limit, at a shape of 'device' or one for
 * fuzzing that no gate rejects. */
int plan_launch_check(const struct spec *spec, struct space *space,
                      const char *device, struct err *err);

#endif
