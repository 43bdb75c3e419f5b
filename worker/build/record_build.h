/* record_build.h - the build of the replay device, in a process of its own
 *
 * Lets the recorded time of a build pass, then hands the record on as the
 * artifact, or fails as recorded.  It is fa-worker itself that is run for it.
 */
#ifndef FA_WORKER_BUILD_RECORD_BUILD_H
#define FA_WORKER_BUILD_RECORD_BUILD_H

/* Returns the exit code; what failed is said on stderr. */
int record_build(const char *record, const char *artifact,
                 const char *speed_up);

#endif
