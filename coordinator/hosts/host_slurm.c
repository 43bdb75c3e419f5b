#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/hosts/host_line.h"

#define PREFIX "slurm:"
#define NODES_MAX 1000 /* Slurm's MaxArraySize is 1001 by default */
#define MINUTES_MAX (366 * 24 * 60)
#define GPUS_MAX 64

bool host_slurm_named(const char *name)
{
    return strncmp(name, PREFIX, strlen(PREFIX)) == 0;
}

/* A number of 1 to 6 digits at 'p'; or NULL. */
static const char *digits(const char *p, const char *end, int *out)
{
    const char *begin = p;

    for (*out = 0; p < end && isdigit((unsigned char)*p) && p - begin < 6; p++)
        *out = *out * 10 + (*p - '0');
    return p > begin ? p : NULL;
}

int host_slurm_set_nodes(struct host_line *line, struct word value,
                         struct err *err)
{
    struct host_slurm *slurm = &line->attrs.dial.slurm;
    const char *end = value.at + value.len;
    const char *p = digits(value.at, end, &slurm->least);

    slurm->most = slurm->least;
    if (p && p < end && *p == '-')
        p = digits(p + 1, end, &slurm->most);
    if (p != end || slurm->least < 1 || slurm->most < slurm->least ||
        slurm->most > NODES_MAX)
        return caret_err(err, &line->where, value.at,
                         "write nodes=4, or nodes=1-16 for one to 16",
                         "nodes '%.*s' is not in 1..%d", (int)value.len,
                         value.at, NODES_MAX);
    return 0;
}

/* As sbatch takes it: M, M:S, H:M:S, D-H, D-H:M, D-H:M:S.  Seconds are rounded
 * up. */
int host_slurm_set_time(struct host_line *line, struct word value,
                        struct err *err)
{
    int part[4] = { 0 }, n = 0, days = 0;
    const char *end = value.at + value.len, *p = value.at;
    bool has_days = memchr(value.at, '-', value.len);
    int64_t seconds;

    if (has_days && (p = digits(p, end, &days)))
        p = p < end && *p == '-' ? p + 1 : NULL;
    while (p && n < 3) {
        p = digits(p, end, &part[n++]);
        if (!p || p == end || *p != ':')
            break;
        p++;
    }
    seconds = has_days ? part[0] * 3600LL + part[1] * 60LL + part[2]
              : n == 3 ? part[0] * 3600LL + part[1] * 60LL + part[2]
                       : part[0] * 60LL + part[1];
    seconds += days * 86400LL;
    line->attrs.dial.slurm.minutes = (int)((seconds + 59) / 60);
    if (p != end || seconds < 1 || seconds > MINUTES_MAX * 60LL)
        return caret_err(err, &line->where, value.at,
                         "write time=30 (minutes), 0:30:00 or 1-12:00:00, up "
                         "to a year",
                         "'%.*s' is not a time of Slurm", (int)value.len,
                         value.at);
    return 0;
}

static bool is_partition(const char *name)
{
    for (const char *p = name; *p; p++)
        if (!isalnum((unsigned char)*p) && !strchr("._-", *p))
            return false;
    return *name && *name != '-';
}

int host_slurm_read(const struct host_line *line, const char *name,
                    struct host *host, struct err *err)
{
    struct host_slurm *slurm = &host->dial.slurm;
    const char *partition = name + strlen(PREFIX);
    char *end;

    if (!is_partition(partition) ||
        strlen(partition) >= sizeof(slurm->partition))
        return caret_err(err, &line->where, line->who.at,
                         "write slurm:PARTITION, as sinfo names it",
                         "'%s' names no partition", name);
    if (host->workdir[0] != '/')
        return caret_err(err, &line->where, line->who.at,
                         "add workdir=/FOLDER, a folder that this machine and "
                         "the nodes share",
                         "%s has no workdir", name);
    snprintf(slurm->partition, sizeof(slurm->partition), "%s", partition);
    snprintf(host->address, sizeof(host->address), "%s", partition);
    host->dial.back = true;
    if (slurm->most == 0)
        slurm->least = slurm->most = 1;
    if (isdigit((unsigned char)host->gpus[0])) {
        slurm->gpus = (int)strtol(host->gpus, &end, 10);
        if (*end || slurm->gpus > GPUS_MAX)
            return caret_err(err, &line->where, line->who.at,
                             "of Slurm, gpus=4 is how many GPUs each node has "
                             "to have",
                             "gpus=%s is no number of GPUs", host->gpus);
        snprintf(host->gpus, sizeof(host->gpus), "%s",
                 slurm->gpus > 0 ? "all" : "none");
    }
    return 0;
}
