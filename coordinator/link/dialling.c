#include "coordinator/link/dialling.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/dial/dial_keys.h"
#include "coordinator/slurm/slurm_files.h"

static bool is_of(const struct hosts *hosts, const char *public_key,
                  const char *job)
{
    char name[SLURM_NAME_BYTES];

    for (size_t i = 0; i < hosts->n; i++) {
        if (hosts->list[i].dial.slurm.task != 1)
            continue;
        slurm_files_name(&hosts->list[i], public_key, name);
        if (strcmp(name, job) == 0)
            return true;
    }
    return false;
}

/* Those of other hosts than 'but', or all. */
static bool cancel(const struct dial_keys *keys, const struct hosts *but)
{
    const char *key = dial_keys_server(keys)->public_key, *job;
    struct err err;
    bool all = true;

    for (size_t i = 0; (job = dial_keys_job(keys, i)); i++) {
        if (but && is_of(but, key, job))
            continue;
        if (slurm_files_cancel(job, &err) < 0) {
            fprintf(stderr, "fa-coord: %s\n", err.text);
            all = false;
        } else if (but) {
            fprintf(stderr, "jobs of an earlier command are cancelled: %s\n",
                    job);
        }
    }
    return all;
}

/* NULL: there are none, or their file is not one; the run will say so. */
static struct dial_keys *open_keys(const char *db)
{
    struct dial_keys *keys = NULL;
    struct err err;

    if (!dial_keys_exist(db) || dial_keys_open(db, &keys, &err) < 0)
        return NULL;
    return keys;
}

void dialling_begin(const char *db, const struct hosts *hosts)
{
    struct dial_keys *keys = open_keys(db);

    if (keys)
        (void)cancel(keys, hosts);
    dial_keys_close(keys);
}

void dialling_jobs(const char *db, dialling_tell *tell, void *arg)
{
    struct dial_keys *keys = open_keys(db);
    const char *job;

    for (size_t i = 0; keys && (job = dial_keys_job(keys, i)); i++)
        tell(arg, job);
    dial_keys_close(keys);
}

bool dialling_cancel(const char *db)
{
    struct dial_keys *keys = open_keys(db);
    bool all = !keys || cancel(keys, NULL);

    dial_keys_close(keys);
    return all;
}

void dialling_end(const char *db, const struct hosts *hosts, bool done)
{
    struct dial_keys *keys = open_keys(db);

    if (!keys)
        return;
    slurm_files_remove(hosts, dial_keys_server(keys)->public_key);
    if (done)
        dial_keys_remove(db);
    dial_keys_close(keys);
}
