/* request.h - from the request in a MEASURE message to one for fa-runner
 *
 * The message has the lines of worker/runner/wire/wire.h less 'artifact', and
 * 'reference ENTRY ...' less its path (docs/protocol.md): paths are the
 * worker's.  What it holds is parsed here, so that nothing a peer wrote can
 * bring the runner's pipe out of step.
 */
#ifndef FA_WORKER_GPU_REQUEST_H
#define FA_WORKER_GPU_REQUEST_H

#include "common/err.h"
#include "worker/runner/wire/wire_request.h"

/* ERR_PROTO naming the line that is wrong. */
int request_read(const char *text, const char *artifact, const char *reference,
                 struct wire_request *out, struct err *err);

#endif
