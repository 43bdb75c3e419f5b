#include "tests/simulation/sim_sweep.h"

#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/spec/spec.h"

#define IN_MEMORY "/dev/shm"

static char folder[128];
static char *paths[2]; /* of the two databases */
static char *cache;    /* a folder */
static struct spec *specs[SIM_SWEEPS][2];

static const char *const tunables[SIM_SWEEPS] = {
    "\"A\": [1, 2, 3], \"B\": [1, 2]",
    "\"A\": [1, 2], \"B\": [1, 2, 4], \"C\": [false, true]",
    "\"A\": [1, 2, 3, 4, 5, 6], \"B\": [1, 2, 3, 4]",
};
static const char *const shapes[SIM_SWEEPS] = {
    "{ \"name\": \"s\", \"N\": 100 }",
    "{ \"name\": \"s\", \"N\": 100 }, { \"name\": \"t\", \"N\": 7 }",
    "{ \"name\": \"s\", \"N\": 64 }",
};
static const char *const baselines[SIM_SWEEPS] = {
    "\"A\": 1, \"B\": 1",
    "\"A\": 1, \"B\": 2, \"C\": false",
    "\"A\": 2, \"B\": 2",
};

static int write_file(const char *name, const char *text, struct err *err)
{
    char *path = mem_printf("%s/%s", folder, name);
    FILE *file = fopen(path, "we");
    int rc = file && fputs(text, file) >= 0
                 ? 0
                 : err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));

    if (file)
        fclose(file);
    free(path);
    return rc;
}

int sim_sweep_setup(struct err *err)
{
    const char *tmp = getenv("TMPDIR");

    if (access(IN_MEMORY, W_OK) == 0)
        tmp = IN_MEMORY;
    snprintf(folder, sizeof(folder), "%.96s/fa-sim-XXXXXX", tmp ? tmp : "/tmp");
    if (!mkdtemp(folder))
        return err_set(err, ERR_SYSTEM, "%s: %s", folder, strerror(errno));
    paths[0] = mem_printf("%s/t.db", folder);
    paths[1] = mem_printf("%s/t.fuzz.db", folder);
    cache = mem_printf("%s/artifacts", folder);
    if (write_file("k.cu", "// kernel\n", err) < 0 ||
        write_file("r.cu", "// reference\n", err) < 0)
        return ERR_SYSTEM;
    return 0;
}

static char *make_text(int kind, bool canary)
{
    return mem_printf(
        "{ \"name\": \"t\", \"kernel\": { \"source\": \"k.cu\","
        " \"entry\": \"k\" },\n\"tunables\": { %s },\n"
        "\"gates\": [ { \"name\": \"odd\", \"reject\": \"A = 3 AND B = 2\","
        " \"why\": \"it does not fit\" },\n"
        " { \"name\": \"slow\", \"warn\": \"B = 4\","
        " \"why\": \"few blocks\" } ],\n"
        "\"launch\": { \"grid\": [\"N\"], \"block\": [\"32 * B\"] },\n"
        "\"shapes\": [ %s ],\n"
        "\"fuzz_shapes\": [ { \"name\": \"f\", \"N\": [1, 3] } ],\n"
        "\"arguments\": [ { \"name\": \"o\", \"type\": \"fp32\","
        " \"shape\": [\"N\"], \"output\": true } ],\n"
        "\"reference\": { \"source\": \"r.cu\", \"entry\": \"r\","
        " \"launch\": { \"grid\": [\"N\"], \"block\": [1] } },\n"
        "\"tolerance\": { \"relative_l2\": 1, \"max_error\": 1 },\n"
        "\"baseline\": { %s },\n"
        "\"external_baseline\": [ { \"name\": \"library\","
        " \"command\": [\"library\", \"{N}\", \"{samples}\"],"
        " \"timeout_s\": 10, \"blocks\": 5, \"samples\": 2 },\n"
        " { \"name\": \"other\", \"command\": [\"other\", \"{N}\"],"
        " \"timeout_s\": 10, \"samples\": 2 } ],\n"
        "\"confirm\": { \"blocks\": 6, \"blocks_max\": 14, \"samples\": 2,"
        " \"against\": \"other\","
        " \"finalists_max\": 2 },\n"
        "\"measure\": { \"warmups\": 1, \"canary_every\": %d,"
        " \"canary_samples\": 3, \"samples\": { \"least\": 3, \"most\": 6,"
        " \"noise\": 0.02, \"margin\": 1.1 }, \"timeout_s\": 10,"
        " \"seed\": 1, \"l2\": \"flush\" } }\n",
        tunables[kind], shapes[kind], baselines[kind], canary ? 3 : 0);
}

int sim_sweep_load(int kind, bool canary, struct spec **out, struct err *err)
{
    struct spec **spec = &specs[kind][canary];
    int rc = 0;

    if (!*spec) {
        char *text = make_text(kind, canary);

        rc = spec_parse(folder, "sweep.json", text, strlen(text), spec, err);
        free(text);
    }
    *out = *spec;
    return rc;
}

const char *sim_sweep_db(bool fuzz)
{
    return paths[fuzz];
}

static void empty_cache(void)
{
    DIR *dir = opendir(cache);

    for (struct dirent *entry; dir && (entry = readdir(dir));)
        (void)unlinkat(dirfd(dir), entry->d_name, 0); /* not "." */
    if (dir)
        closedir(dir);
}

void sim_sweep_remove_db(void)
{
    static const char *const ends[] = { "", "-wal", "-shm", ".lock" };

    for (size_t i = 0; i < 8; i++) {
        char *name = mem_printf("%s%s", paths[i / 4], ends[i % 4]);

        (void)unlink(name); /* a run need not make every file */
        free(name);
    }
    empty_cache();
}

const char *sim_sweep_cache(void)
{
    return cache;
}

void sim_sweep_cleanup(void)
{
    static const char *const files[] = { "k.cu", "r.cu" };

    sim_sweep_remove_db();
    for (size_t i = 0; i < 2; i++) {
        char *path = mem_printf("%s/%s", folder, files[i]);

        (void)unlink(path);
        free(path);
        free(paths[i]);
    }
    (void)rmdir(cache);
    free(cache);
    (void)rmdir(folder);
    for (int kind = 0; kind < SIM_SWEEPS; kind++)
        for (int i = 0; i < 2; i++)
            spec_free(specs[kind][i]);
}
