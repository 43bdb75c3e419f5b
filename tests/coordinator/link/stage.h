/* stage.h - a host thread, with a script as its worker and a clock that obeys
 *
 * The program under test takes the time, wipes secrets, sends and waits through
 * functions that are here, so that a test can say what time it is and count
 * what is done.  Waits of a test have a deadline of STAGE_WAIT_MS.
 */
#ifndef FA_TESTS_COORDINATOR_LINK_STAGE_H
#define FA_TESTS_COORDINATOR_LINK_STAGE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "coordinator/link/host_thread.h"
#include "coordinator/remote/deploy.h"
#include "tests/coordinator/link/stand_in.h"

#define STAGE_WAIT_MS 20000
/* Much longer than a host thread needs to say a thing. */
#define STAGE_STILL_MS 2000
#define STAGE_FEW 100 /* looks at the clock of a thread that waits */

/* Time that stands still for the program under test; 0: it passes.  With a
 * step, each look at the clock takes so long. */
extern _Atomic int64_t stage_frozen_ns, stage_step_ns;
extern _Atomic int stage_looks; /* at the clock */
extern _Atomic int stage_polls; /* how often anything was waited for */
extern _Atomic int stage_wiped_invites, stage_wiped_texts;
/* While this is set, the connection takes no bytes, as one over SSH whose far
 * side does not read. */
extern _Atomic bool stage_takes_none;

struct stage {
    struct stand_in stand_in;
    struct host host;
    struct worker_binary program;
    char router[64];
    bool rents; /* a host that is rented waits until it is acquired */
    void *zctx;
    struct host_thread *thread;
};

/* For cmocka: '*state' is a stage. */
int stage_set_up(void **state);
int stage_tear_down(void **state);

/* Time stands still from now on. */
void stage_freeze(void);
/* Start the thread of host 3, whose worker is this script. */
void stage_start(struct stage *stage, const char *script);
/* Tell it to end; it ends, whatever it is doing. */
void stage_end(struct stage *stage);

/* News within so many milliseconds? */
bool stage_hears(struct stage *stage, long ms, struct host_thread_news *out);
/* The next news, which must be this. */
struct host_thread_news stage_await(struct stage *stage,
                                    enum host_threads_event event);
/* The first news of each connection. */
void stage_await_upload(struct stage *stage);

/* The file in the work folder exists and contains this text. */
void stage_await_heard(struct stage *stage, const char *file, const char *text);
/* Make a file that the script waits for. */
void stage_let_go_on(const struct stage *stage, const char *name);
/* The thread looks at the clock once more than 'before'. */
void stage_await_look(int before);

#endif
