/* build.h - one configuration from source to artifact
 *
 * Sources, the generated header and all that the compiler leaves behind live
 * in a private folder DIR/tmp/build-XXXXXX that goes with the build.  nvcc
 * runs a shell over its arguments, so nothing that came from outside is one,
 * unless every byte of it is known to be harmless; the rest is in files.
 * Poll-driven (child.h).
 */
#ifndef FA_WORKER_BUILD_BUILD_H
#define FA_WORKER_BUILD_BUILD_H

#include <poll.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/msg_result.h"
#include "common/msg_values.h"
#include "common/outcome.h"
#include "worker/store/cache.h"

struct build;

#define BUILD_LIMIT_NS (300 * INT64_C(1000000000)) /* when none is given */
#define BUILD_LOG_MAX MSG_LOG_MAX

/* What all builds of a worker share; outlives them. */
struct build_tools {
    struct cache *cache;
    const char *compiler; /* path */
    const char *toolkit;  /* its name and version */
};

/* Borrowed by build_start() for the call: what it needs is then staged. */
struct build_job {
    const char *key; /* 32 hex digits */
    struct texts names;
    struct blobs contents;
    const char *source; /* one of names */
    const char *header; /* text, included before the source */
    const char *entry;
    const char *standard; /* "c++17" */
    struct texts flags;
    const char *arch; /* "sm_89", "cpu" */
    int64_t limit_ns; /* 0: BUILD_LIMIT_NS */
};

/* 'outcome' is one of: built, compile, timeout, crash (the box failed, not
 * the source). */
struct build_result {
    enum outcome outcome;
    char *detail; /* the first error; "" when built */
    char *log;    /* what the compiler said, the first error first */
    bool cached;
    double seconds;
    struct cache_build made; /* when built */
};

void build_result_fini(struct build_result *result);

/* Always gives a build, which may have ended already (cached, refused). */
struct build *build_start(const struct build_tools *tools,
                          const struct build_job *job, int64_t now_ns);
/* fa-runner for 'device' from the sources in this program; the artifact is an
 * executable. */
struct build *build_start_runner(const struct build_tools *tools,
                                 const char *device, int64_t now_ns);
void build_free(struct build *build); /* kills; NULL is fine */

size_t build_poll(const struct build *build, struct pollfd *fds, size_t max);
int64_t build_deadline_ns(const struct build *build);
bool build_step(struct build *build, int64_t now_ns); /* true: ended */
void build_kill(struct build *build, int64_t now_ns); /* it still has to end */
/* Once ended: hand over the result, which the caller must fini. */
void build_take_result(struct build *build, struct build_result *out);

#endif
