/* program.h - what a worker builds from the files that it carries
 *
 * fa-runner, fa-facts, and the header that kernels for the cpu device begin
 * with (worker/runner/sources.h).
 */
#ifndef FA_WORKER_BUILD_PROGRAM_H
#define FA_WORKER_BUILD_PROGRAM_H

#include <stdbool.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/msg_values.h"

struct build_dir;
struct compiler_line;

struct program {
    const char *name, *root; /* of its files' names, which the build omits */
    unsigned which;          /* the RUNNER_ bit of its files */
    const struct compiler_line *line;
};

/* What its build depends on: files, command without the compiler's path,
 * toolkit, host. */
void program_key(const struct program *program, const char *toolkit,
                 char key[HASH_HEX]);
/* Its files, in the folder of the build. */
int program_write(const struct program *program,
                  const struct build_dir *build_dir, struct err *err);
/* Do these files, of a job, have the text of the header that this worker
 * carries? */
bool program_header_comes_with(const struct texts *names,
                               const struct blobs *contents);

#endif
