/* rental.h - the machines of a command that start= acquires
 *
 *   FREE --wanted--> STARTING --start= ended well--> HELD
 *     ^                 |                             | not wanted
 *     |                 '--failed--.                  v
 *     '--stop= ended well------ STOPPING <------------'
 *
 * The row of an acquisition is committed before start= runs, and again before
 * stop= does.  A start= that fails is followed by stop=, because the machine
 * may exist.  Both are repeated after a pause; after RENTAL_TRIES failed starts
 * the machine is LOST for this command, and so is one that was given up.
 *
 * One per command; it outlives the runs of the command, and the machines stay
 * held between them.  At the end release_all() stops them (release.h).
 * Thread rule: the reactor's.
 */
#ifndef FA_COORDINATOR_RENTAL_RENTAL_H
#define FA_COORDINATOR_RENTAL_RENTAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;
struct host;
struct hosts;
struct rental;
struct rental_command;
struct store;
struct store_acquisition;

#define RENTAL_TRIES 3

enum rental_state {
    RENTAL_FREE,
    RENTAL_STARTING,
    RENTAL_HELD,
    RENTAL_STOPPING,
    RENTAL_LOST, /* it could not be acquired, or used */
};

/* What happened to a machine in a turn. */
enum rental_event {
    RENTAL_NOTHING,
    RENTAL_STARTS,
    RENTAL_ACQUIRED,
    RENTAL_NOT_ACQUIRED, /* 'err' says why */
    RENTAL_STOPS,
    RENTAL_RELEASED,
    RENTAL_NOT_RELEASED, /* 'err' says why; stop= is repeated */
};

/* 'hosts' is borrowed; commands run in 'folder'. */
struct rental *rental_new(const struct hosts *hosts, const char *folder);
void rental_free(struct rental *rental); /* stops nothing; NULL is fine */

enum rental_state rental_state(const struct rental *rental, size_t host);
/* CLOCK_BOOTTIME at which start= ran; only unless FREE. */
int64_t rental_since_ns(const struct rental *rental, size_t host);
/* When its first stop= ran, of those that failed so far, and how many did; only
 * if STOPPING. */
int64_t rental_stopping_since_ns(const struct rental *rental, size_t host,
                                 int *tries);
/* A worker was ready there, in this run or an earlier one of the command. */
void rental_note_ready(struct rental *rental, size_t host);
bool rental_was_ready(const struct rental *rental, size_t host);
/* Its machine is of no use: once it is released it is LOST. */
void rental_give_up(struct rental *rental, size_t host);
/* How many machines of the same start= were given up before a worker was ready
 * there; 0 if one was on any of them. */
int rental_useless(const struct rental *rental, size_t host);
/* The host with the address that start= printed; only if HELD. */
const struct host *rental_host(const struct rental *rental, size_t host);

/* The rows of the machines that may run; '*out' is for the caller to free.
 * Returns how many. */
size_t rental_running(const struct rental *rental,
                      struct store_acquisition **out);

/* Hand over the stop= of this acquisition, if this command runs one: a second
 * one beside it might fail.  False if it does not. */
bool rental_take_stop(struct rental *rental, const char *id,
                      struct rental_command *out);

/* Read what the start= of this acquisition prints, if it is this command's: it
 * may wait for that.  'is_over': it has ended, and 'row' gets its words. */
void rental_listen(struct rental *rental, const char *id, bool is_over,
                   struct store_acquisition *row);

/* Do what comes next for one host.  ERR_STORE if the row cannot be committed:
 * then nothing was run. */
int rental_turn(struct rental *rental, struct store *store, size_t host,
                bool wanted, int64_t now_ns, enum rental_event *event,
                struct err *err);

#endif
