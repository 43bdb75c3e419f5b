#include "tests/bench/evaluations/problem.h"

#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/model/domain.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/stats/prng.h"

/* Where a record has no times of building: a lean kernel on one core. */
#define BUILD_S 0.4

void problem_complete(struct problem *problem)
{
    problem->best = problem->worst = 0;
    for (int i = 0; i < domain_size(problem->domain); i++) {
        double time = problem->times[i];

        if (time > 0 && (problem->best == 0 || time < problem->best))
            problem->best = time;
        if (time > problem->worst)
            problem->worst = time;
    }
}

static void take_landscape(struct problem *problem, const char *file_name,
                           struct landscape *landscape)
{
    size_t size = (size_t)domain_size(landscape->domain);

    *problem =
        (struct problem){ .domain = landscape->domain, .landscape = landscape };
    snprintf(problem->name, sizeof(problem->name), "%.*s",
             (int)strcspn(file_name, "."), file_name);
    problem->times = mem_new(size, sizeof(double));
    problem->seconds = mem_new(size, sizeof(double));
    for (size_t i = 0; i < size; i++) {
        const struct landscape_config *config = &landscape->configs[i];

        problem->times[i] = config->time_s;
        problem->seconds[i] =
            config->compile_s + config->verify_s + config->bench_s;
        if (problem->seconds[i] <= 0)
            problem->seconds[i] = BUILD_S;
    }
    problem_complete(problem);
}

double problem_measured(const struct problem *problem, int point, uint64_t seed)
{
    double time = problem->times[point];
    struct prng prng;

    if (problem->noise == 0 || time == 0)
        return time;
    prng_init(&prng, seed * DOMAIN_POINTS_MAX + (uint64_t)point);
    return time * exp(problem->noise * prng_normal(&prng));
}

void problem_fini(struct problem *problem)
{
    if (problem->landscape)
        landscape_free(problem->landscape);
    else
        domain_free(problem->domain);
    free(problem->times);
    free(problem->seconds);
}

static int by_name(const void *a, const void *b)
{
    return strcmp(((const struct problem *)a)->name,
                  ((const struct problem *)b)->name);
}

static bool is_landscape(const char *name)
{
    size_t len = strlen(name);

    return (len > 5 && strcmp(name + len - 5, ".json") == 0) ||
           (len > 8 && strcmp(name + len - 8, ".json.gz") == 0);
}

/* Returns whether there is something to search in it. */
static bool load(const char *folder, const char *name, struct problem *out)
{
    char *path = mem_printf("%s/%s", folder, name);
    struct landscape *landscape;
    bool good = false;
    struct err err;

    if (landscape_load(path, &landscape, &err) < 0) {
        fprintf(stderr, "%s; left out\n", err.text);
    } else if (landscape->best < 0) {
        fprintf(stderr, "%s: nothing in it was timed; left out\n", path);
        landscape_free(landscape);
    } else {
        take_landscape(out, name, landscape);
        good = true;
    }
    free(path);
    return good;
}

static int load_landscapes(const char *folder, const char *only,
                           struct problem *out)
{
    DIR *dir = opendir(folder);
    struct dirent *file;
    int n = 0;

    if (!dir) {
        fprintf(stderr, "%s: %s; the recorded landscapes are left out\n",
                folder, strerror(errno));
        return 0;
    }
    while ((file = readdir(dir)) && n < PROBLEM_MAX - PROBLEM_SYNTHETIC)
        if (is_landscape(file->d_name) && (!only || strstr(file->d_name, only)))
            n += load(folder, file->d_name, &out[n]);
    closedir(dir);
    qsort(out, (size_t)n, sizeof(*out), by_name);
    return n;
}

int problem_load_all(const char *folder, const char *only, int instance,
                     struct problem out[PROBLEM_MAX])
{
    int n = load_landscapes(folder, only, out);

    for (int k = 0; k < PROBLEM_SYNTHETIC; k++) {
        problem_synthetic(&out[n], k, instance);
        if (only && !strstr(out[n].name, only))
            problem_fini(&out[n]);
        else
            n++;
    }
    return n;
}
