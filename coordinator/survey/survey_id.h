/* survey_id.h - hashes in 16 bytes
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_SURVEY_SURVEY_ID_H
#define FA_COORDINATOR_SURVEY_SURVEY_ID_H

#include <stdbool.h>
#include <stdint.h>

/* 32 hex digits as numbers, so that they sort as their texts do. */
struct survey_id {
    uint64_t high, low;
};

/* A hash as it is written, or the hash of another text; returns whether it is
 * one. */
bool survey_id_of(const char *text, struct survey_id *out);
int survey_id_compare(const struct survey_id *a, const struct survey_id *b);

#endif
