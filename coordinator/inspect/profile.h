/* profile.h - what a profiler said of a sweep's configurations
 *
 * The newest profile of each configuration and shape of the current sweep, and
 * why there is none where one was tried (docs/profile.md).
 */
#ifndef FA_COORDINATOR_INSPECT_PROFILE_H
#define FA_COORDINATOR_INSPECT_PROFILE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "coordinator/plan/ncu.h"

struct err;
struct json_out;
struct report;
struct report_config;
struct store;

struct profile_entry {
    const struct report_config *config; /* of the report, which outlives it */
    size_t shape;                       /* of the report */
    char *host, *gpu;
    bool ran;
    char *why; /* it did not: "missing: ..."; else "" */
    int64_t round, at_utc;
    struct ncu_profile told; /* when it ran */
};

struct profile {
    struct profile_entry *entries; /* by shape, then in the report's order */
    size_t n;
};

/* ERR_STORE */
int profile_load(struct store *store, const struct report *report,
                 struct profile *out, struct err *err);
void profile_fini(struct profile *profiles);

/* A table a shape with a column a configuration; nothing without any. */
void profile_print(const struct profile *profiles, const struct report *report,
                   FILE *to);
/* A list under 'key'. */
void profile_json(const struct profile *profiles, const struct report *report,
                  struct json_out *out, const char *key);

#endif
