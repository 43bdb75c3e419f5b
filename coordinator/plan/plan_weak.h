/* plan_weak.h - what in a sweep file lets a wrong kernel pass
 *
 * Inputs and scalars that are the same in all trials, so that a kernel need not
 * read them; tolerances within which zeros are, or may be, or one zero among
 * many elements.
 */
#ifndef FA_COORDINATOR_PLAN_PLAN_WEAK_H
#define FA_COORDINATOR_PLAN_PLAN_WEAK_H

struct err;
struct space;
struct spec;

/* Say a line of each.  'device' has its shapes. */
int plan_weak(const struct spec *spec, struct space *space, const char *device,
              void (*say)(void *arg, const char *text), void *arg,
              struct err *err);

#endif
