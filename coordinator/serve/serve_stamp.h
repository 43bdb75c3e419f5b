/* serve_stamp.h - has the file of a database changed?
 *
 * A stamp is what the file system says of a database and its write-ahead log,
 * without opening either.  An open connection would tell more, but a
 * coordinator that ends could not remove the log while it is open.
 */
#ifndef FA_COORDINATOR_SERVE_SERVE_STAMP_H
#define FA_COORDINATOR_SERVE_SERVE_STAMP_H

#include <stdbool.h>
#include <stdint.h>

struct serve_stamp {
    bool exists, running; /* running: a coordinator has locked it */
    uint64_t device, file;
    int64_t bytes, written_utc_ns;
    int64_t log_bytes, log_written_utc_ns; /* 0: there is no log */
};

struct serve_stamp_turn { /* the last time that it was read */
    int64_t ended_ns, took_ns;
    bool recent; /* written just before it was looked at */
};

struct serve_stamp serve_stamp_take(const char *path);

/* The rest is pure. */
int64_t serve_stamp_written_utc(const struct serve_stamp *stamp);
bool serve_stamp_is_same(const struct serve_stamp *a,
                         const struct serve_stamp *b);
/* 'was' may be of a file that was deleted since. */
bool serve_stamp_is_replaced(const struct serve_stamp *was,
                             const struct serve_stamp *now);
/* A second write may leave the stamp as it is: the clock of a file system
 * stands still for some milliseconds. */
bool serve_stamp_is_recent(const struct serve_stamp *stamp, int64_t utc_ns);
/* Is it time to read it?  If it changed, or may have; but reading takes at most
 * a tenth of the time. */
bool serve_stamp_is_due(const struct serve_stamp_turn *last, bool changed,
                        int64_t now_ns);

#endif
