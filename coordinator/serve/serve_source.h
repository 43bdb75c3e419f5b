/* serve_source.h - one database that is served, and its newest page
 *
 * serve_source_look() reads the database again when its file has changed, with
 * the checks of 'fa-coord report'.  While it cannot be read, the page stays
 * that of before, and 'problem' says why.  It is opened for as long as it is
 * read, so the coordinator that writes it is never in the way.
 *
 * Thread rule: one thread.
 */
#ifndef FA_COORDINATOR_SERVE_SERVE_SOURCE_H
#define FA_COORDINATOR_SERVE_SERVE_SOURCE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "common/err.h"
#include "common/hash.h"
#include "coordinator/serve/serve_stamp.h"

/* What the list says of a sweep; texts are "" and times NaN if unknown. */
struct serve_summary {
    char *name, *device, *arch, *shape, *sentence;
    char best_key[HASH_HEX];
    double best_s, baseline_s;
    double hours, usd; /* usd is NaN if a host has no price */
    int64_t settled, total;
};

struct serve_source {
    char *path;
    struct serve_stamp stamp;
    struct serve_stamp_turn turn;
    struct serve_summary summary;
    char *page; /* NULL: taken, or never made */
    size_t page_bytes;
    bool behind;            /* the file may have changed since it was read */
    char version[HASH_HEX]; /* of the page that was made last; "": none yet */
    struct err problem;     /* "": what the page shows is up to date */
    struct err notice;      /* "", or that the file was replaced, and when */
};

/* Read it once.  ERR_STORE if that fails; a database that has no sweep yet is a
 * problem that may pass. */
int serve_source_open(const char *path, struct serve_source *out,
                      struct err *err);
void serve_source_close(struct serve_source *source);

void serve_source_look(struct serve_source *source, int64_t now_ns,
                       int64_t utc_ns);
/* What a page polls, docs/serve.md; for the caller to free. */
char *serve_source_version_json(const struct serve_source *source);

#endif
