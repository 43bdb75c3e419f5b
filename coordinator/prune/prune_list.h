/* prune_list.h - what is not needed any more, here and on hosts
 *
 * Thread rule: one thread.
 */
#ifndef FA_COORDINATOR_PRUNE_PRUNE_LIST_H
#define FA_COORDINATOR_PRUNE_PRUNE_LIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

struct prune_entry {
    char *where; /* "here", or the host's name */
    char *kind;  /* artifact, build, journal, proof, ...: docs/prune.md */
    char *path;
    int64_t bytes;
    int64_t age_s; /* since it was last used */
    char *why;     /* it stays; NULL: it is removed */
};

/* What is asked for, and what came of it. */
struct prune_list {
    bool dry_run;    /* nothing is removed, only listed */
    int64_t older_s; /* what was used since then stays, unlisted */
    bool set_aside;  /* also databases that sweep --fresh renamed */

    struct prune_entry *entries;
    size_t n;
};

/* All texts are copied. */
void prune_list_add(struct prune_list *list, const struct prune_entry *entry);
void prune_list_fini(struct prune_list *list);

/* Bytes and number of what is removed, or of what is kept. */
int64_t prune_list_bytes(const struct prune_list *list, bool kept, size_t *n);

/* A table for people, one row for all entries of a place, kind and reason, and
 * the sum; or an object for programs with every entry. */
void prune_list_print(const struct prune_list *list, FILE *to);
void prune_list_json(const struct prune_list *list, FILE *to);

#endif
