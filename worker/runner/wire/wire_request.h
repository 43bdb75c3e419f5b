/* wire_request.h - the requests to fa-runner (wire.h) */
#ifndef FA_WORKER_RUNNER_WIRE_WIRE_REQUEST_H
#define FA_WORKER_RUNNER_WIRE_WIRE_REQUEST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "common/l2_mode.h"
#include "worker/runner/wire/element.h"
#include "worker/runner/wire/fill.h"
#include "worker/runner/wire/tolerance.h"
#include "worker/runner/wire/trials.h"
#include "worker/runner/wire/wire.h"

enum wire_request_kind {
    WIRE_OPEN,
    WIRE_MEASURE,
    WIRE_CHECK, /* the same fields as MEASURE */
    WIRE_QUIT
};

/* What a kernel may do with a buffer. */
enum wire_role {
    WIRE_IN,        /* read it */
    WIRE_OUT,       /* write it; compared with the reference */
    WIRE_WORKSPACE, /* write it; its contents do not matter */
};

enum {
    WIRE_ROLES = 3
};

struct wire_arg {
    char name[WIRE_NAME_MAX + 1];
    enum element_type type;
    bool buffer;
    enum wire_role role; /* buffers */
    bool infinities;     /* inputs: a trial may have some */
    int64_t count;       /* buffers: elements, >= 1 */
    /* Buffers: what a launch finds there.  POISON of a workspace, and of no
     * other than that and outputs. */
    enum fill_kind fill;
    double scale;          /* buffers */
    int64_t rows, columns; /* buffers with FILL_RAMP, else 0 */
    int64_t low, high;     /* buffers with FILL_RANGE or FILL_SORTED, else 0 */
    /* Buffers with FILL_FILE, else "": a name in measure.files, which stands
     * for its contents.  It has the bytes of the buffer. */
    char file[WIRE_NAME_MAX + 1];
    int64_t integer;            /* scalars of an integer type */
    double real;                /* scalars of a float type */
    struct tolerance tolerance; /* outputs */
};

/* One program to launch: an artifact, its entry point and its geometry. */
struct wire_kernel {
    char path[WIRE_PATH_MAX];
    char entry[WIRE_NAME_MAX + 1];
    uint32_t grid[3], block[3];
    uint64_t smem;
};

struct wire_measure {
    struct wire_kernel kernel, reference;
    struct wire_arg args[WIRE_ARGS_MAX];
    size_t n_args;
    char files[WIRE_PATH_MAX]; /* the folder of the files; "": none */
    uint64_t seed;             /* of the first trial */
    struct trials trials;
    unsigned warmups;
    unsigned least, most; /* samples, 1 <= least <= most; equal: that many */
    unsigned repeats;     /* launches after them that are only checked */
    double noise, margin; /* of struct sampling_rules */
    double incumbent_s;   /* likewise; 0: none */
    enum l2_mode l2;      /* not NONE */
    double timeout_s;
    bool untimed; /* of a check request */
};

struct wire_request {
    enum wire_request_kind kind;
    char device[8];              /* open: cuda cpu replay */
    char gpu[WIRE_NAME_MAX + 1]; /* open: index or UUID */
    struct wire_measure measure;
    uint64_t seen; /* private to wire_request.c: the fields so far */
};

/* 0, or -1 with errno from the stream (flushed). */
int wire_write_request(FILE *stream, const struct wire_request *request);
enum wire_step wire_request_line(struct wire_request *request, char *line,
                                 char why[WIRE_WHY_MAX]);

const char *wire_type_name(enum element_type type);
/* "relative_l2", as in a request and in a sweep file. */
const char *wire_rule_name(enum tolerance_rule rule);
const char *wire_fill_name(enum fill_kind kind);

#endif
