/* box.h - a fa-runner at the end of its pipe, as fa-worker sees it
 *
 * Every read has a deadline; a runner that says nothing in time fails the
 * test.  Kernels are those of tests/fixtures/runner, built beside the test.
 */
#ifndef FA_TESTS_WORKER_RUNNER_BOX_H
#define FA_TESTS_WORKER_RUNNER_BOX_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "common/outcome.h"
#include "worker/runner/wire/wire_reply.h"
#include "worker/runner/wire/wire_request.h"

struct box {
    pid_t pid;
    FILE *requests;
    FILE *replies;
    struct wire_reply reply; /* the latest */
    char stages[128];        /* "load check ", of the latest reply */
};

void box_start(struct box *box, const char *program);
/* Wait for the end of the process, after closing its stdin; its status as
 * from waitpid(). */
int box_stop(struct box *box);

/* Run a command, argv ended by NULL; its status as from waitpid(). */
int box_command(const char *const *argv);
/* Compile the units of sources.h for a device, with the current folder as
 * their root: BEFORE... UNITS AFTER..., each list ended by NULL. */
int box_build(unsigned device, const char *const *before,
              const char *const *after);

/* Send and wait for the reply; false when the pipe ended without one. */
bool box_ask(struct box *box, const struct wire_request *request);
bool box_ask_text(struct box *box, const char *text);

bool box_open(struct box *box, const char *device);

/* A request for 'entry' of add.cu on n elements, compared with 'reference'. */
void box_request(struct wire_request *request, const char *entry,
                 const char *reference, int64_t n);
/* The request with defaults, asked; the reply's result. */
const struct wire_result *box_measure(struct box *box, const char *entry);
/* ... which must be 'outcome', with 'text' in its detail. */
void box_assert_outcome(struct box *box, const char *entry,
                        enum outcome outcome, const char *text);

#endif
