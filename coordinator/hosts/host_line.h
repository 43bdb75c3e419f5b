/* host_line.h - one line of a hosts file: a host and its attributes
 *
 * Private to the hosts reader.  hosts.c finds the lines and sections,
 * host_line.c splits a line into words, host_endpoint.c user, address and port,
 * host_attr.c knows what an attribute means, host_agree.c which go together,
 * and host_range.c expands gpu[01-16].
 */
#ifndef FA_COORDINATOR_HOSTS_HOST_LINE_H
#define FA_COORDINATOR_HOSTS_HOST_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "coordinator/hosts/hosts.h"
#include "coordinator/text/caret.h"

/* A piece of the line, borrowed. */
struct word {
    const char *at;
    size_t len;
};

#define HOST_ATTRS_MAX 40 /* rows of the table in host_attr.c */

struct host_line {
    struct caret_line where;
    struct word who;                  /* the first field, not expanded */
    struct host attrs;                /* attributes only; no name or address */
    const char *seen[HOST_ATTRS_MAX]; /* where each attribute is on the line */
    bool bare;                        /* nothing but the first field */
    bool pool;                        /* "pool NAME max=N ..." */
    int max;                          /* machines of a pool; 0: not given */
};

/* Split the line into words.  'line->where' must be set and the rest zero.  A
 * line without words gives who.len == 0. */
int host_line_read(struct host_line *line, struct err *err);

static inline const char *host_line_end(const struct host_line *line)
{
    return line->where.text + line->where.len;
}

/* Split "[user@]host[:port]", with ranges expanded, into host->user, address
 * and port.  'at' is where a message puts the caret. */
int host_endpoint_read(const struct host_line *line, const char *at,
                       const char *name, struct host *host, struct err *err);
/* Nothing but letters, digits and 'extra', and not empty? */
bool host_endpoint_is_name(const char *text, size_t len, const char *extra);

/* Set attribute 'name' to 'value'. */
int host_attr_set(struct host_line *line, struct word name, struct word value,
                  struct err *err);
/* Where attribute 'name' is on the line, or NULL. */
const char *host_attr_place(const struct host_line *line, const char *name);

/* Does a pool have what it needs? */
int host_agree_pool(const struct host_line *line, struct err *err);
/* Checks that need all attributes of the line. */
int host_agree_attrs(const struct host_line *line, const struct host *host,
                     struct err *err);

/* Nodes of Slurm (host_slurm.c).  _named: is this first field "slurm:..."?
 * _set_*: the values of nodes= and time=.  _read: the partition and what the
 * attributes mean for it, into 'host'. */
bool host_slurm_named(const char *name);
int host_slurm_set_nodes(struct host_line *line, struct word value,
                         struct err *err);
int host_slurm_set_time(struct host_line *line, struct word value,
                        struct err *err);
int host_slurm_read(const struct host_line *line, const char *name,
                    struct host *host, struct err *err);

/* Call 'visit' with each name that 'word' expands to.  Stops at the first
 * negative result and returns it. */
typedef int range_visit(void *arg, const char *name, struct err *err);
int host_range_expand(const struct caret_line *where, struct word word,
                      range_visit *visit, void *arg, struct err *err);

#endif
