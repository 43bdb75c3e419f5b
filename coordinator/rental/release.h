/* release.h - stop every machine that a database says may be running
 *
 * It covers what this command acquired and what a killed coordinator left.  A
 * stop= that fails is run again with growing pauses; what is still not released
 * at the end stays in the database, and is said to cost money.
 *
 * Thread rule: that of the store; SIGINT, SIGTERM and SIGHUP are blocked in the
 * thread, and end the repetitions when they come.
 */
#ifndef FA_COORDINATOR_RENTAL_RELEASE_H
#define FA_COORDINATOR_RENTAL_RELEASE_H

#include <stddef.h>
#include <stdint.h>

struct err;
struct store;
struct store_acquisition;

#define RELEASE_PATIENCE_S 60 /* for repetitions of stop= */

typedef void release_say(void *self, const char *text);

struct release_options {
    release_say *say; /* one line about one machine */
    void *self;
    int64_t patience_s; /* after which a failing stop= is not run again */
};

struct release_count {
    size_t released, running; /* machines; the second still cost money */
};

/* ERR_STORE; then nothing is known of the machines. */
int release_all(struct store *store, const struct release_options *options,
                struct release_count *out, struct err *err);

/* "gpu7: STILL RUNNING and may cost $0.68/h, acquired 2026-...: why". */
void release_describe(const struct store_acquisition *row, char *out,
                      size_t size);

#endif
