/* prune_age.h - ages and sizes as people write them.  Pure. */
#ifndef FA_COORDINATOR_PRUNE_PRUNE_AGE_H
#define FA_COORDINATOR_PRUNE_PRUNE_AGE_H

#include <stdint.h>

struct err;

#define PRUNE_AGE_BYTES 24

/* "90s", "30min", "12h", "7d" or "2w", in seconds.  ERR_INPUT */
int prune_age_parse(const char *text, int64_t *out, struct err *err);

/* In the largest unit of which there are two: "45 s", "90 min", "9 d". */
const char *prune_age_text(int64_t seconds, char out[PRUNE_AGE_BYTES]);

/* "512 B", "1.5 KiB", "2.0 GiB" */
const char *prune_age_size(int64_t bytes, char out[PRUNE_AGE_BYTES]);

#endif
