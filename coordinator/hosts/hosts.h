/* hosts.h - the machines a sweep may use, from a hosts file
 *
 * docs/hosts-file.md is the grammar.  One host a line; MPI host files, pdsh
 * lists and simple Ansible inventories parse unchanged.  An error has file,
 * line, column, the text of the line, a caret, the reason and what to do.
 * Immutable once read; any thread may read it.
 */
#ifndef FA_COORDINATOR_HOSTS_HOSTS_H
#define FA_COORDINATOR_HOSTS_HOSTS_H

#include <stdbool.h>
#include <stddef.h>

struct err;

#define HOSTS_MAX 4096            /* machines in one file */
#define HOSTS_BYTES_MAX (4 << 20) /* of the file */
#define HOSTS_LINE_MAX 4096       /* bytes a line */

enum host_role {
    HOST_BOTH,    /* measures, and builds on its spare cores */
    HOST_GPU,     /* measures only */
    HOST_BUILDER, /* builds only */
};

/* How a machine is acquired and released, and what holding it costs at least.
 * Commands run on this machine, without a shell (docs/fleet.md). */
struct host_rental {
    char start[1024]; /* "": the machine is there already */
    char stop[1024];
    char poweroff[1024]; /* the worker runs it, if it is left alone */
    double boot_s;       /* from start= to the first login; 0: not given */
    double min_bill_s;   /* is paid for at least */
    double round_s;      /* the bill is a multiple of it */
    bool spot;           /* may vanish at any time */
};

/* A node that Slurm gives: "slurm:PARTITION nodes=1-4" is four hosts, from
 * slurm:PARTITION-1 on.  Its workdir is a folder that the nodes share. */
struct host_slurm {
    char partition[64]; /* "": not a node of Slurm */
    int task;           /* of an array, from 1 */
    int least, most;    /* nodes that are asked for at a time */
    int gpus;           /* of a node, as generic resource; 0: none asked */
    int minutes;        /* limit of a job; 0: that of the partition */
};

#define HOST_MODEL_BYTES 33

/* How its worker comes, if it dials back instead of being reached by SSH. */
struct host_dial {
    bool back; /* transport=tcp, and every node of Slurm */
    struct host_slurm slurm;
};

/* An attribute that the file does not give is "". */
struct host {
    char name[256];    /* as written, ranges expanded; unique in the file */
    char address[256]; /* alias of ~/.ssh/config, name or number */
    char user[64];
    int port;   /* 0: not given */
    bool local; /* 'localhost' alone: no SSH */
    enum host_role role;
    char gpus[256]; /* "all", "none" or "0,2" */
    int slots;      /* parallel builds; 0: not given */
    bool has_rate;  /* false: price unknown, not zero */
    double rate;    /* USD an hour for the whole host */
    char key[256];  /* private key file, absolute or "~/..." */
    char workdir[256];
    char nvcc[256];
    char allow[1024]; /* folders of the home folder that programs see, ':' */
    char hostkey[64]; /* "SHA256:..." */
    char jump[256];   /* [user@]host[:port] or an alias */
    char model[HOST_MODEL_BYTES]; /* of its GPUs, as a label */
    struct host_rental rental;
    struct host_dial dial;
    int line; /* line number in the file, for messages */
};

struct hosts {
    struct host *list; /* in the order of the file */
    size_t n;          /* at least one after a successful read */
};

/* Read a file.  Of FILE#MODEL, unless there is a file of that name, only the
 * hosts of that model of GPU (host_models.h).  Returns 0 and hosts for the
 * caller to hosts_fini(), or
 *   ERR_INPUT   missing, a directory, empty, or an error in the text; no host
 *               has that model */
int hosts_load(const char *path, struct hosts *out, struct err *err);

/* The same for 'len' bytes of text; 'file' is for the messages. */
int hosts_parse(const char *file, const char *text, size_t len,
                struct hosts *out, struct err *err);
void hosts_fini(struct hosts *hosts);

/* May this host measure, according to its line? */
bool host_measures(const struct host *host);

/* Its GPUs, as its worker is told: "all", "none" or a list.  A builder's are
 * none. */
const char *host_gpus(const struct host *host);

/* Must this host be acquired before it can be used? */
bool host_is_rented(const struct host *host);

/* A sweep needs a host that measures and a host that builds.  Returns 0, or
 * ERR_INPUT if 'file' lacks one of them. */
int hosts_can_sweep(const char *file, const struct hosts *hosts,
                    struct err *err);

/* This machine only, for a sweep without a hosts file. */
/* Are all of them this machine? */
bool hosts_are_local(const struct hosts *hosts);
void hosts_local(struct hosts *out);

#endif
