/* release.h - stop every machine that a database says may be running
 *
 * It covers what this command acquired and what a killed coordinator left.  A
 * stop= that fails is run again with growing pauses; what is still not released
 * at the end stays in the database, and is said to cost money.  stop= runs also
 * if the database cannot be written.
 *
 * Thread rule: that of the store; SIGINT, SIGTERM and SIGHUP are blocked in the
 * thread meanwhile.  One that comes ends the repetitions and each start= that
 * is waited for; one after the word that a stop= is waited for leaves that
 * stop=.
 */
#ifndef FA_COORDINATOR_RENTAL_RELEASE_H
#define FA_COORDINATOR_RENTAL_RELEASE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct rental;
struct store;
struct store_acquisition;

#define RELEASE_PATIENCE_S 60 /* for a start=, and for repetitions of stop= */

typedef void release_say(void *self, const char *text);

struct release_options {
    release_say *say; /* one line about one machine */
    void *self;
    int64_t patience_s;  /* after which a start= is killed, and a failing stop=
                          * is not run again */
    bool is_interrupted; /* the command was: a start= has 10 s */
    const struct store_acquisition *known; /* may be newer than the rows of the
                                            * database, or missing there */
    size_t n_known;
    struct rental *rental; /* whose start= may still run; or NULL */
};

struct release_count {
    size_t released, running; /* machines; the second still cost money */
    int signo;                /* the last signal that came, or 0 */
};

/* 'store' is NULL if it cannot be opened.  ERR_STORE if it cannot be read, or
 * does not have what happened; 'out' has it all the same. */
int release_all(struct store *store, const struct release_options *options,
                struct release_count *out, struct err *err);

/* "gpu7: STILL RUNNING, costs $0.68 an hour since 2026-... (ID, MACHINE): why"
 */
void release_describe(const struct store_acquisition *row, char *out,
                      size_t size);

#endif
