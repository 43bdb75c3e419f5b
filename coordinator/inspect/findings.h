/* findings.h - what compute-sanitizer found in one configuration
 *
 * The newest run of each of its tools at each shape, or the reason why that
 * did not check to the end (docs/sanitize.md).  It is evidence beside the
 * outcome of the configuration, and never changes it.
 */
#ifndef FA_COORDINATOR_INSPECT_FINDINGS_H
#define FA_COORDINATOR_INSPECT_FINDINGS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "coordinator/plan/sanitizer.h"

struct err;
struct json_out;
struct store;

struct findings_run {
    enum sanitizer_tool tool;
    char *shape, *host, *gpu;
    bool ran;  /* it checked to the end */
    char *why; /* if not: "missing: ..."; else "" */
    int64_t round, at_utc;
    struct sanitizer_report *told; /* also what it found before it ended */
};

struct findings {
    struct findings_run *runs; /* by shape, then by tool */
    size_t n;
};

/* Of the configuration with this key.  ERR_STORE */
int findings_load(struct store *store, const char *key, struct findings *out,
                  struct err *err);
void findings_fini(struct findings *findings);

/* The number of the newest check, with all tools at one shape; 0 without one.
 * Is it complete, with a verdict of each tool? */
int64_t findings_newest(const struct findings *findings);
bool findings_are_whole(const struct findings *findings);

/* A table of verdicts, and one of findings; nothing without a run. */
void findings_print(const struct findings *findings, FILE *to);
/* Write a list of runs under 'key'. */
void findings_json(const struct findings *findings, struct json_out *out,
                   const char *key);

#endif
