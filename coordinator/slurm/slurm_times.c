#include "coordinator/slurm/slurm_times.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"

#define FIELDS 4

void slurm_times_fini(struct slurm_times *times)
{
    free(times->list);
    *times = (struct slurm_times){ .list = NULL };
}

static void add(struct slurm_times *times, const struct slurm_span *span)
{
    times->list = mem_grow(times->list, times->n + 1, sizeof(*times->list));
    times->list[times->n++] = *span;
}

/* "12_3": job and task.  1, 0 for "12" and "12_[3-5]", or -1. */
static int read_id(const char *text, struct slurm_span *out)
{
    char *end;

    out->array = strtoll(text, &end, 10);
    if (end == text || out->array < 1)
        return -1;
    if (!*end)
        return 0;
    if (*end != '_')
        return -1;
    if (end[1] == '[')
        return 0;
    text = end + 1;
    out->task = (int)strtol(text, &end, 10);
    return *end || end == text || out->task < 0 ? -1 : 1;
}

/* An end that is missing belongs to a job that runs.  Others without one were
 * lost by Slurm ('sacctmgr show runawayjobs'), and nobody knows their time. */
static bool is_running(const char *state)
{
    static const char *const words[] = { "RUNNING", "COMPLETING", "SUSPENDED",
                                         "RESIZING" };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(state, words[i]) == 0)
            return true;
    return false;
}

/* 1, 0 for a line without a span, or -1. */
static int read_line(char *line, struct slurm_span *out)
{
    char *field[FIELDS];
    int rc;

    for (int i = 0; i < FIELDS; i++)
        if (!(field[i] = strsep(&line, "|")))
            return -1;
    *out = (struct slurm_span){ .array = 0 };
    rc = line ? -1 : read_id(field[0], out);
    out->start_s = slurm_answer_time(field[2]);
    out->end_s = slurm_answer_time(field[3]);
    if (rc != 1 || out->start_s == 0)
        return rc < 0 ? rc : 0;
    return out->end_s > out->start_s ||
           (out->end_s == 0 && is_running(field[1]));
}

int slurm_times_read(const char *text, struct slurm_times *times,
                     struct err *err)
{
    char *copy = mem_strdup(text), *rest = copy, *line;
    int rc = 0;

    while (rc == 0 && (line = strsep(&rest, "\n"))) {
        char shown[80];
        struct slurm_span span;
        int got;

        if (!*line)
            continue;
        snprintf(shown, sizeof(shown), "%s", line);
        got = read_line(line, &span);
        if (got < 0)
            rc = err_set(err, ERR_PROTO, "sacct answers '%s'", shown);
        if (got > 0)
            add(times, &span);
    }
    free(copy);
    return rc;
}

static struct slurm_span *find(struct slurm_times *times,
                               const struct slurm_job *job)
{
    for (size_t i = 0; i < times->n; i++)
        if (times->list[i].array == job->array &&
            times->list[i].task == job->task &&
            times->list[i].start_s == job->start_s)
            return &times->list[i];
    return NULL;
}

void slurm_times_join(struct slurm_times *times, const struct slurm_job *jobs,
                      size_t n)
{
    for (size_t i = 0; i < n; i++) {
        struct slurm_span *known = find(times, &jobs[i]);

        if (jobs[i].start_s == 0 ||
            (jobs[i].end_s > 0 && jobs[i].end_s <= jobs[i].start_s) ||
            (jobs[i].end_s == 0 && jobs[i].state == SLURM_ENDED))
            continue;
        if (!known)
            add(times, &(struct slurm_span){ jobs[i].array, jobs[i].task,
                                             jobs[i].start_s, jobs[i].end_s });
        else if (known->end_s == 0)
            known->end_s = jobs[i].end_s;
    }
}
