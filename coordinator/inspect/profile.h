/* profile.h - profiles of a sweep's configurations
 *
 * It has the newest profile of each configuration and shape of the current
 * sweep, or the reason why an attempt failed (docs/profile.md).
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
    const struct report_config *config; /* in the report, which outlives it */
    size_t shape;                       /* index in the report */
    char *host, *gpu;
    bool ran;
    char *why; /* why it failed: "missing: ..."; else "" */
    int64_t round, at_utc;
    struct ncu_profile told; /* if it ran */
};

struct profile {
    struct profile_entry *entries; /* by shape, then in the report's order */
    size_t n;
};

/* The keys of the configurations that profile_load() looks for, and perhaps
 * others.  ERR_STORE */
typedef void profile_keys_fn(void *arg, const char *key);
int profile_keys(struct store *store, profile_keys_fn *fn, void *arg,
                 struct err *err);
/* ERR_STORE */
int profile_load(struct store *store, const struct report *report,
                 struct profile *out, struct err *err);
void profile_fini(struct profile *profiles);

/* One table a shape with a column for each configuration; nothing if there are
 * none. */
void profile_print(const struct profile *profiles, const struct report *report,
                   FILE *to);
/* Write a list under 'key'. */
void profile_json(const struct profile *profiles, const struct report *report,
                  struct json_out *out, const char *key);

#endif
