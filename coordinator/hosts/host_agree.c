#include <string.h>

#include "coordinator/hosts/host_line.h"

#define SSH_ONLY 3 /* of not_dialled */

static int rental_agrees(const struct host_line *line, const struct host *host,
                         struct err *err)
{
    static const char *const rented_only[] = { "boot", "min_bill", "round" };
    const char *start = host_attr_place(line, "start"),
               *stop = host_attr_place(line, "stop");

    if (start && !stop)
        return caret_err(err, &line->where, start,
                         "add stop=, or the machine would run for ever",
                         "start= is given without stop=");
    if (stop && !start)
        return caret_err(err, &line->where, stop,
                         "add start=, or remove stop=: only what a sweep "
                         "started is stopped",
                         "stop= is given without start=");
    if (start && host->local)
        return caret_err(err, &line->where, start,
                         "write user@localhost to reach this machine over SSH",
                         "'localhost' cannot be started");
    if (host->local && host_attr_place(line, "poweroff"))
        return caret_err(err, &line->where, host_attr_place(line, "poweroff"),
                         "this is the machine of fa-coord itself",
                         "'localhost' is not powered off");
    for (size_t i = 0; !start && i < 3; i++)
        if (host_attr_place(line, rented_only[i]))
            return caret_err(
                err, &line->where, host_attr_place(line, rented_only[i]),
                "add start= and stop=, or remove it",
                "attribute '%s' has no effect without start=", rented_only[i]);
    return 0;
}

int host_agree_pool(const struct host_line *line, struct err *err)
{
    const char *lacks = !host_attr_place(line, "start") ? "start"
                        : line->max == 0                ? "max"
                                                        : NULL;

    if (!lacks)
        return 0;
    return caret_err(err, &line->where, line->who.at,
                     "write pool NAME max=8 start=... stop=...",
                     "pool '%.*s' has no %s=", (int)line->who.len, line->who.at,
                     lacks);
}

/* The first of these attributes that the line has, refused. */
static int refuse_any(const struct host_line *line, const char *const names[],
                      size_t n, const char *remedy, struct err *err)
{
    for (size_t i = 0; i < n; i++)
        if (host_attr_place(line, names[i]))
            return caret_err(err, &line->where, host_attr_place(line, names[i]),
                             remedy, "attribute '%s' has no effect here",
                             names[i]);
    return 0;
}

static int dial_agrees(const struct host_line *line, const struct host *host,
                       struct err *err)
{
    static const char *const not_dialled[] = { "key", "hostkey", "jump",
                                               "start", "stop" };
    static const char *const slurm_only[] = { "nodes", "time" };
    bool slurm = host->dial.slurm.partition[0];
    int rc = 0;

    if (!slurm)
        rc = refuse_any(line, slurm_only, 2, "it is for slurm:PARTITION", err);
    if (rc == 0 && host->dial.back)
        rc = refuse_any(
            line, not_dialled, 5,
            slurm ? "Slurm starts the worker, which dials back"
                  : "with transport=tcp the worker dials back; leave one of "
                    "the two out",
            err);
    if (rc == 0 && host->local)
        rc = refuse_any(line, not_dialled, SSH_ONLY,
                        "'localhost' does not use SSH; write user@localhost "
                        "to reach this machine over SSH",
                        err);
    return rc;
}

int host_agree_attrs(const struct host_line *line, const struct host *host,
                     struct err *err)
{
    int rc = dial_agrees(line, host, err);

    if (rc < 0)
        return rc;
    if (host->role == HOST_BUILDER && host_attr_place(line, "gpus") &&
        strcmp(host->gpus, "none") != 0)
        return caret_err(err, &line->where, host_attr_place(line, "gpus"),
                         "a builder does not measure; write role=both",
                         "role=builder does not go with gpus=%s", host->gpus);
    if (host->role == HOST_GPU && strcmp(host->gpus, "none") == 0)
        return caret_err(err, &line->where, host_attr_place(line, "gpus"),
                         "write role=builder for a host without GPUs",
                         "role=gpu does not go with gpus=none");
    return rental_agrees(line, host, err);
}
