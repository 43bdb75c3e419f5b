/* log.h - one line an event, for people and grep
 *
 *   2026-01-02T03:04:05.678Z W LEASE-LOST job=512 host=gpu7 why=silent for 30 s
 *
 * Levels: E somebody must act, W a problem that the program handled, I a job or
 * worker changed state, D everything else.  Ids are upper case and listed in
 * docs/log.md.  Control characters are replaced, because parts of a line may
 * come from a remote machine.
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

/* Write lines up to 'level' to 'to' (borrowed for the life of the program).
 * Before that, and with NULL, nothing is written.  Set it in main, before any
 * thread.  Every thread may write; a line is one write(). */
void log_setup(FILE *to, enum log_level level);
void log_line(enum log_level level, const char *id, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

#endif
