/* doctor.h - checks whether a machine can run a sweep
 *
 * A finding is the result of one check.  Only a failed one stops a sweep; a
 * warning says what will not be available.
 * Thread rule: one thread; what remote.h asks for.
 */
#ifndef FA_COORDINATOR_DOCTOR_DOCTOR_H
#define FA_COORDINATOR_DOCTOR_DOCTOR_H

#include <stdbool.h>
#include <stddef.h>

struct host;
struct remote_options;

enum doctor_verdict {
    DOCTOR_OK,
    DOCTOR_NOTE, /* information, no problem */
    DOCTOR_WARNING,
    DOCTOR_FAILED,
};
const char *doctor_verdict_name(enum doctor_verdict verdict);

struct doctor_finding {
    char *where;      /* "here" or the host's name */
    const char *what; /* reach workdir nvcc driver disk ... */
    enum doctor_verdict verdict;
    char *text;
    char *remedy; /* "" if nothing needs to be done */
};

struct doctor {
    /* What a sweep is to run on, a word of device_kind.h; NULL: whatever is
     * there.  Only what this device needs is then looked for, and what is
     * missing is a failure.  Borrowed. */
    const char *device;
    struct doctor_finding *findings;
    size_t n;
    bool refused;  /* a host refused the login, or its key was not accepted */
    size_t usable; /* hosts without a failed finding */
};

/* Check this machine as a coordinator: SSH client, agent, keys, disk. */
void doctor_here(struct doctor *doctor, const struct remote_options *options);

/* Check the record of a replay. */
void doctor_record(struct doctor *doctor, const char *path);

/* Check a host as a worker, or this machine if the host is local: login, work
 * folder, disk, compilers, driver, GPUs. */
void doctor_host(struct doctor *doctor, const struct host *host,
                 const struct remote_options *options);

void doctor_fini(struct doctor *doctor);

/* Add a finding; 'remedy' may be NULL. Texts are cleaned. */
void doctor_add(struct doctor *doctor, const char *where, const char *what,
                enum doctor_verdict verdict, const char *remedy,
                const char *fmt, ...) __attribute__((format(printf, 6, 7)));

#endif
