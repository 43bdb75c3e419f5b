/* err.h - how every function reports an error
 *
 * A fallible function returns 0 or a negative ERR_* code and takes a 'struct
 * err *' as its last parameter.  The code is for the program, the text is for
 * the person: one line, no trailing newline, no function names.
 */
#ifndef FA_COMMON_ERR_H
#define FA_COMMON_ERR_H

enum {
    ERR_INPUT = -1,    /* the user's spec, hosts file or argument is wrong */
    ERR_SYSTEM = -2,   /* the OS, or a program of it, refused; with its words */
    ERR_NETWORK = -3,  /* a peer is unreachable or closed; a retry can help */
    ERR_PROTO = -4,    /* a peer sent what docs/protocol.md forbids */
    ERR_STORE = -5,    /* the database: SQLite refused, it is damaged, in use */
    ERR_DEVICE = -6,   /* a GPU, or what ran on it, cannot be used */
    ERR_AUTH = -7,     /* credentials refused; a retry cannot help */
    ERR_BUSY = -8,     /* a server takes no more at once; try again soon */
    ERR_HOST_KEY = -9, /* the server has no host key that is accepted */
};

/* Long enough for "file:line:col: what", the quoted line, a caret, the reason
 * and the remedy; the parts after the first are on lines of their own. */
struct err {
    char text[1024];
};

/* Record a message and return 'code', so that a failing line reads
 *     return err_set(err, ERR_INPUT, "axis '%s' is empty", name);
 * 'err' may be NULL when the caller only wants the code.  Keeps errno. */
int err_set(struct err *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* Put "context: " in front of the recorded message while unwinding, and
 * return 'code'.  Add what the callee could not know (which file, which
 * host), never what the caller already says.  A 'code' that is no error is
 * returned without a change of the message. */
int err_within(struct err *err, int code, const char *fmt, ...)
    __attribute__((format(printf, 3, 4)));

/* The error in 'code', or 0: for an answer that the caller does not need. */
static inline int err_only(int code)
{
    return code < 0 ? code : 0;
}

#endif
