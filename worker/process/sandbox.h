/* sandbox.h - what a program sees of this machine's files
 *
 * A list of files and folders with a right each.  The entry with the longest
 * path that contains a file decides about it; what no entry contains is as it
 * is.  So a folder can be shown in a hidden one, and one be hidden in that.
 *
 * Paths are absolute.  They are resolved when they are added, and what is
 * missing then is left out.  The files of the processes in a sandbox are no
 * other ones: what is written is written.
 * Thread rule: no state; one thread a sandbox.
 */
#ifndef FA_WORKER_PROCESS_SANDBOX_H
#define FA_WORKER_PROCESS_SANDBOX_H

#include <stdbool.h>
#include <stddef.h>

enum sandbox_right {
    SANDBOX_HIDDEN, /* a folder is empty, a file has no contents */
    SANDBOX_READ,   /* files can be read and executed */
    SANDBOX_WRITE,
};

/* How it is done, best first. */
enum sandbox_means {
    SANDBOX_MOUNTS,   /* in a mount namespace of its own */
    SANDBOX_LANDLOCK, /* landlock(7): hidden files have names, but cannot be
                       * opened; sockets in them can be connected to */
    SANDBOX_NOTHING,
};

#define SANDBOX_ENTRIES_MAX 256

struct sandbox_entry {
    char *path;
    enum sandbox_right right;
};

struct sandbox {
    struct sandbox_entry entries[SANDBOX_ENTRIES_MAX]; /* by path */
    size_t n;
    enum sandbox_means means;
    bool offline; /* without network */
    bool trusted; /* our own program, which runs no code of others: it keeps
                   * its capabilities */
};

/* Nothing is hidden yet. */
struct sandbox *sandbox_new(enum sandbox_means means);
struct sandbox *sandbox_copy(const struct sandbox *sandbox);
void sandbox_free(struct sandbox *sandbox); /* NULL is fine */

/* Set the right of a path; the last call for a path counts.  False if it is
 * missing, or is "/", or if there are too many. */
bool sandbox_set(struct sandbox *sandbox, const char *path,
                 enum sandbox_right right);

/* The right of a path that is resolved already; SANDBOX_WRITE if no entry
 * contains it. */
enum sandbox_right sandbox_right(const struct sandbox *sandbox,
                                 const char *path);
/* The same of the folder that entry 'i' is in. */
enum sandbox_right sandbox_right_around(const struct sandbox *sandbox,
                                        size_t i);
/* Can a program in it read this path, once resolved?  Any if the sandbox is
 * NULL, or if this host has no means. */
bool sandbox_sees(const struct sandbox *sandbox, const char *path);

/* Is 'path' the same as 'folder', or below it? */
bool sandbox_contains(const char *folder, const char *path);

#endif
