/* log.h - one line an event, for people and grep
 *
 *   2026-01-02T03:04:05.678Z W LEASE-LOST job=512 worker=gpu7 after_ms=30000
 *
 * Levels: E someone must act, W it was survived, I a job or worker changed
 * state, D the rest.  Ids are upper case and listed in docs/log.md.  Control
 * characters are replaced, since parts of a line may come from a remote.
 */
#ifndef FA_COMMON_LOG_H
#define FA_COMMON_LOG_H

#include <stdio.h>

enum log_level {
    LOG_E,
    LOG_W,
    LOG_I,
    LOG_D
};

/* Lines up to 'level' go to 'to' (borrowed, for the life of the program).
 * Until then, and with NULL, nothing is written.  Set in main, before any
 * thread; writing is safe from every thread (one write a line). */
void log_setup(FILE *to, enum log_level level);
void log_line(enum log_level level, const char *id, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
