/* request.h - converts the request of a MEASURE message for fa-runner
 *
 * The message has the lines of worker/runner/wire/wire.h without 'artifact',
 * and 'reference ENTRY ...' without its path (docs/protocol.md): the worker
 * adds the paths.  The lines are parsed here, so that a peer cannot break the
 * protocol on the runner's pipe.
 */
#ifndef FA_WORKER_GPU_REQUEST_H
#define FA_WORKER_GPU_REQUEST_H

#include "common/err.h"
#include "worker/gpu/gpu.h"
#include "worker/runner/wire/wire_request.h"

struct runner_dir;

struct request_paths {
    const char *artifact, *reference;
    const char *inputs; /* the folder of the files that arguments name; NULL:
                         * none do */
};

/* ERR_PROTO names the line that is wrong. */
int request_read(const char *text, const struct request_paths *paths,
                 struct wire_request *out, struct err *err);

/* Put the files of the job where its runner sees them, in place of those of the
 * job before; the request names them there. */
int request_place(const struct gpu_job *job, const struct runner_dir *folder,
                  struct wire_request *out, struct err *err);

#endif
