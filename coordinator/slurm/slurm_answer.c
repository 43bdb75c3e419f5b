#include "coordinator/slurm/slurm_answer.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"

#define FIELDS 7

int64_t slurm_answer_seconds(const char *text)
{
    int64_t days = 0, total = 0;
    const char *p = text, *dash = strchr(text, '-');
    char *end;

    if (dash) {
        days = strtoll(p, &end, 10);
        if (end != dash || dash == p)
            return -1;
        p = dash + 1;
    }
    for (int n = 0; n < 3; n++) {
        int64_t part = strtoll(p, &end, 10);

        if (end == p || part < 0)
            return -1;
        total = total * 60 + part;
        if (!*end)
            return days * 86400 + total;
        if (*end != ':')
            return -1;
        p = end + 1;
    }
    return -1;
}

int64_t slurm_answer_time(const char *text)
{
    char *end;
    int64_t seconds = strtoll(text, &end, 10);

    return end == text || *end || seconds < 0 ? 0 : seconds;
}

/* All other words are of jobs that have ended.  What is stopped for a while
 * still has its node. */
static enum slurm_state state_of(const char *word)
{
    static const char *const waits[] = { "PENDING",      "REQUEUED",
                                         "REQUEUE_HOLD", "REQUEUE_FED",
                                         "SPECIAL_EXIT", "RESV_DEL_HOLD" };
    static const char *const runs[] = { "RUNNING",    "CONFIGURING",
                                        "COMPLETING", "SUSPENDED",
                                        "STOPPED",    "SIGNALING",
                                        "STAGE_OUT",  "RESIZING" };

    for (size_t i = 0; i < sizeof(waits) / sizeof(waits[0]); i++)
        if (strcmp(word, waits[i]) == 0)
            return SLURM_WAITS;
    for (size_t i = 0; i < sizeof(runs) / sizeof(runs[0]); i++)
        if (strcmp(word, runs[i]) == 0)
            return SLURM_RUNS;
    return SLURM_ENDED;
}

/* 1, 0 for a job that is no array, or -1. */
static int read_line(char *line, struct slurm_job *out)
{
    char *field[FIELDS], *end;

    for (int i = 0; i < FIELDS; i++)
        if (!(field[i] = strsep(&line, i < FIELDS - 1 ? "|" : "")))
            return -1;
    *out = (struct slurm_job){ .array = strtoll(field[0], &end, 10) };
    if (*end || end == field[0] || out->array < 1)
        return -1;
    if (strcmp(field[1], "N/A") == 0)
        return 0;
    out->task = (int)strtol(field[1], &end, 10);
    if (*end || end == field[1] || out->task < 0)
        return -1;
    out->state = state_of(field[2]);
    out->runs_s = slurm_answer_seconds(field[3]);
    if (out->runs_s < 0)
        out->runs_s = 0; /* INVALID, before it runs */
    snprintf(out->word, sizeof(out->word), "%s", field[2]);
    snprintf(out->reason, sizeof(out->reason), "%s", field[6]);
    if (out->state != SLURM_WAITS)
        out->start_s = slurm_answer_time(field[4]);
    if (out->state == SLURM_ENDED)
        out->end_s = slurm_answer_time(field[5]);
    return 1;
}

int slurm_answer_read(const char *text, struct slurm_job **out, size_t *n,
                      struct err *err)
{
    char *copy = mem_strdup(text), *rest = copy, *line;
    int rc = 0;

    *out = NULL;
    *n = 0;
    while (rc == 0 && (line = strsep(&rest, "\n"))) {
        char shown[80];
        struct slurm_job job;
        int got;

        if (!*line)
            continue;
        snprintf(shown, sizeof(shown), "%s", line);
        got = read_line(line, &job);
        if (got < 0)
            rc = err_set(err, ERR_PROTO, "squeue answers '%s'", shown);
        if (got <= 0)
            continue;
        *out = mem_grow(*out, *n + 1, sizeof(**out));
        (*out)[(*n)++] = job;
    }
    free(copy);
    if (rc < 0) {
        free(*out);
        *out = NULL;
        *n = 0;
    }
    return rc;
}
