/* login_pace.h - how many logins run at once at one server
 *
 * sshd's MaxStartups (10:30:100) drops connections before it says a word: from
 * ten logins at once some of them, from a hundred all.  Many hosts may lie
 * behind one address or jump host, and other users log in there too.  So each
 * server has a window, which is how many of our logins it may have at once: it
 * grows by one after as many successes as it is wide, and is halved by a drop
 * (additive increase, multiplicative decrease: Chiu and Jain 1989).  Logins
 * that began before the last halving do not halve it again.
 *
 * One sshd may be reached at many addresses.  Two addresses are one server as
 * soon as logins at both have shown the same identity: the host key and the
 * banner.  Until then, addresses that drop us without ever having answered are
 * taken for one server too.  That is a guess; if it is wrong, their hosts only
 * wait longer.
 *
 * A host waits, has a login, or neither.  Those that wait enter in the order
 * in which they asked.
 *
 * Pure: no clock, no socket.
 * Thread rule: one thread (the one that starts the logins).
 */
#ifndef FA_COORDINATOR_REMOTE_LOGIN_PACE_H
#define FA_COORDINATOR_REMOTE_LOGIN_PACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct login_pace;

#define LOGIN_PACE_FIRST 8 /* below what sshd allows by default */
#define LOGIN_PACE_MOST 64
#define LOGIN_PACE_SERVER_BYTES 288
#define LOGIN_PACE_IDENTITY_BYTES 192 /* longer ones are cut */

enum login_pace_end {
    LOGIN_PACE_IN,      /* the server answered, also if it refused the key */
    LOGIN_PACE_DROPPED, /* it closed the connection without a word */
    LOGIN_PACE_FAILED,  /* another failure, or the host gave it up */
};

/* For hosts [0, n). */
struct login_pace *login_pace_new(size_t n);
void login_pace_free(struct login_pace *pace); /* NULL is fine */

/* The host wants to log in; 'server' is the one that it reaches first, as
 * ADDRESS:PORT, where ADDRESS is a number if it could be resolved. */
void login_pace_ask(struct login_pace *pace, size_t host, const char *server);

/* Let one host enter: true and 'host', or false if none may now. */
bool login_pace_next(struct login_pace *pace, size_t *host);

/* The login of a host that is inside has shown who the server is; before
 * login_pace_end().  "" says nothing. */
void login_pace_known(struct login_pace *pace, size_t host,
                      const char *identity);

/* Its login is over; does nothing if the host did not ask.  Returns true for a
 * drop that is no fault of the host: the server had other logins of ours, or
 * has answered one less than a minute ago, or it is not known yet and logins
 * elsewhere, which may be the same server, overlapped with this one.  'now_ns'
 * is CLOCK_BOOTTIME. */
bool login_pace_end(struct login_pace *pace, size_t host,
                    enum login_pace_end end, int64_t now_ns);

/* How many logins a server may have now, at least 1. */
int login_pace_window(const struct login_pace *pace, const char *server);

/* How long a host waits after so many drops in a row, before it asks again.
 * 'random' is any number: the pauses of many hosts must differ. */
int64_t login_pace_pause_ms(int drops, uint32_t random);

#endif
