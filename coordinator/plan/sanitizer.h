/* sanitizer.h - checks fa-runner with NVIDIA's compute-sanitizer: commands and
 * output
 *
 * Each of its four tools is one command.  They print lines that begin with
 * "=========", between those of fa-runner: a finding begins with what it is,
 * and says on further lines where it was and in which thread.  At the end is a
 * summary (NVIDIA, Compute Sanitizer User Manual).
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_PLAN_SANITIZER_H
#define FA_COORDINATOR_PLAN_SANITIZER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct err;

enum sanitizer_tool {
    SANITIZER_MEMCHECK,
    SANITIZER_RACECHECK,
    SANITIZER_INITCHECK,
    SANITIZER_SYNCCHECK,
    SANITIZER_TOOLS
};
const char *sanitizer_name(enum sanitizer_tool tool);   /* "memcheck" */
const char *sanitizer_checks(enum sanitizer_tool tool); /* a noun for people */

/* In a database, its runs are profiles of the rounds SANITIZER_ROUNDS + 4 n +
 * tool.  Those of ncu have the rounds below. */
#define SANITIZER_ROUNDS (1 << 20)
/* The tool of a round; false if it is one of ncu. */
bool sanitizer_of_round(int64_t round, enum sanitizer_tool *out);

#define SANITIZER_ARGUMENTS_MAX 12
#define SANITIZER_FILTER_BYTES 80 /* an entry has up to 64 */

struct sanitizer_command {
    const char *arguments[SANITIZER_ARGUMENTS_MAX];
    size_t n;
    char filter[SANITIZER_FILTER_BYTES]; /* the arguments point into it */
};

/* The command that checks the launches of 'entry'. */
void sanitizer_command(enum sanitizer_tool tool, const char *entry,
                       struct sanitizer_command *out);

#define SANITIZER_FINDINGS_MAX 32

struct sanitizer_finding {
    char kind[120];             /* Invalid __global__ write of size 4 bytes */
    char where[320];            /* kernel(float *)+0x50; both ends of a race */
    char thread[40], block[40]; /* of the first one, "(0,0,0)"; "" unknown */
    int64_t count;              /* printed ones; of a race, hazards */
    bool warning;               /* not an error */
};

/* Findings of one kind at one place are one entry. */
struct sanitizer_report {
    struct sanitizer_finding findings[SANITIZER_FINDINGS_MAX]; /* as printed */
    size_t n;
    int64_t left_out;         /* printed ones that have no entry */
    int64_t errors, warnings; /* in its summary; -1 without one */
    char trouble[160];        /* why it could not check; "" unknown */
};

/* Parse standard output and error of the command.  Returns 0 if it checked to
 * the end, whatever it found.  ERR_INPUT says what kept it from that, and the
 * remedy if one is known; 'out' then has what it found until then. */
int sanitizer_read(const char *output, const char *log,
                   struct sanitizer_report *out, struct err *err);

#endif
