/* host_words.h - tells the user what a host says of itself, once a command */
#ifndef FA_COORDINATOR_NOTES_HOST_WORDS_H
#define FA_COORDINATOR_NOTES_HOST_WORDS_H

#include <stddef.h>
#include <stdint.h>

struct sweep;

/* "HOST: TEXT", unless a run of this command said it before and the host was
 * not lost since. */
void host_words_say(struct sweep *sweep, size_t host, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));
/* It is lost or waits: what it says when it is back is news. */
void host_words_forget(struct sweep *sweep, size_t host);
/* It is ready, and 'waits' for some of its GPUs: NULL or "" if it does not. */
void host_words_ready(struct sweep *sweep, size_t host, const char *waits);
/* Hosts that are connected and long not ready: what they do meanwhile. */
void host_words_turn(struct sweep *sweep, int64_t now);

#endif
