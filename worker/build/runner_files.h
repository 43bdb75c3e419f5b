/* runner_files.h - the sources of fa-runner, embedded in fa-worker
 *
 * Names are the paths of runner_sources (worker/runner/sources.h), which says
 * for which devices each one is, and how they are compiled.
 */
#ifndef FA_WORKER_BUILD_RUNNER_FILES_H
#define FA_WORKER_BUILD_RUNNER_FILES_H

#include "common/embed.h"

extern const struct embed runner_files[];

#endif
