/* agent_files.h - where the files of a measurement or a tool are */
#ifndef FA_WORKER_AGENT_AGENT_FILES_H
#define FA_WORKER_AGENT_AGENT_FILES_H

#include <limits.h>
#include <stdbool.h>

struct agent;
struct lease;

struct agent_files {
    char artifact[PATH_MAX], reference[PATH_MAX];
    char inputs[PATH_MAX]; /* the folder that has them */
};

/* False if one of them was evicted from the cache meanwhile, or is damaged
 * there: then it counts as missing again. */
bool agent_files_find(struct agent *agent, struct lease *lease,
                      struct agent_files *out);

#endif
