/* record_build.h - the build of the replay device, in a process of its own
 *
 * It waits for the recorded time of a build, then returns the record as the
 * artifact, or fails as recorded.  fa-worker runs itself for this.
 */
#ifndef FA_WORKER_BUILD_RECORD_BUILD_H
#define FA_WORKER_BUILD_RECORD_BUILD_H

/* Returns the exit code; errors go to stderr. */
int record_build(const char *record, const char *artifact,
                 const char *speed_up);

#endif
