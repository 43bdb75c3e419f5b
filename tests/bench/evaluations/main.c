/* bench_strategies - how many evaluations a strategy needs
 *
 * The bench runs every strategy, from several seeds, on synthetic problems and
 * on every recorded landscape of a folder.  It counts the evaluations until the
 * strategy is within 1, 5 and 10 % of the optimum, and prints their median and
 * 90th percentile.  A failed configuration counts; one that is evaluated again
 * does not.  JSON goes to a file, the table to stdout; the figures come last.
 * docs/strategies.md has the command and its output.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/model/domain.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/replay/landscape_prior.h"
#include "coordinator/search/external_strategy.h"
#include "coordinator/search/strategy.h"
#include "coordinator/text/json_out.h"
#include "tests/bench/evaluations/course.h"
#include "tests/bench/evaluations/foreign.h"
#include "tests/bench/evaluations/plain.h"
#include "tests/bench/evaluations/problem.h"

#define EXTERNAL "external"
#define REVERSED "reversed" /* a base that misleads: slow for fast */
#define GOAL_5 1            /* index of the goal that has targets */

struct options {
    const char *data, *json, *only_problem, *only_strategy, *external;
    const char *warm; /* a landscape, or REVERSED; NULL: no search is warm */
    int runs, jobs, cap, slots, first_seed, instance;
};

/* One run of one entry on one problem, in memory that the processes share. */
struct result {
    int reached[COURSE_GOALS];
    int n;
    double cpu_s;
};

static const char *const entries[] = {
    "random", "plain genetic", "plain local", "lhs",
    "tpe",    "local",         "genetic",     "bayes",
};
#define ENTRIES ((int)(sizeof(entries) / sizeof(entries[0])))

static double cpu_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
    return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* Keep 'slots' points pending, and tell their times in the order in which the
 * strategy asked for them. */
static void drive(struct course *course, const char *text, uint64_t seed,
                  const double *prior, int slots)
{
    int pending[64], n = 0, point;
    struct strategy *strategy;
    struct err err;

    if (strategy_new(text, course->problem->domain, course->cap, seed,
                     &strategy, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(2);
    }
    strategy_warm(strategy, prior);
    while (!course_is_over(course)) {
        double time;

        while (n < slots && strategy_ask(strategy, &point) == STRATEGY_POINT)
            pending[n++] = point;
        if (n == 0)
            break;
        point = pending[0];
        memmove(pending, pending + 1, (size_t)--n * sizeof(*pending));
        (void)course_try(course, point);
        time = problem_measured(course->problem, point, seed);
        strategy_tell(strategy, point,
                      time > 0 ? STRATEGY_TIMED : STRATEGY_FAILED, time);
    }
    strategy_free(strategy);
}

static void run(const struct problem *problem, const char *entry, int seed,
                const struct options *options, const double *prior,
                struct result *out)
{
    struct course course;
    double began = cpu_now();

    course_init(&course, problem, options->cap);
    if (strcmp(entry, "plain genetic") == 0)
        plain_genetic(&course, (uint64_t)seed);
    else if (strcmp(entry, "plain local") == 0)
        plain_local(&course, (uint64_t)seed);
    else if (strcmp(entry, EXTERNAL) == 0)
        foreign_drive(&course, options->external, (uint64_t)seed);
    else
        drive(&course, entry, (uint64_t)seed, prior, options->slots);
    memcpy(out->reached, course.reached, sizeof(out->reached));
    out->n = course.n;
    out->cpu_s = cpu_now() - began;
    course_fini(&course);
}

/* What the base says of a recorded problem. */
static double *recorded_prior(const struct problem *problem, const char *base)
{
    const struct landscape *to = problem->landscape;
    struct external_strategy_tunable tunables[DOMAIN_TUNABLES_MAX];
    struct landscape *land;
    double *prior;
    struct err err;
    int known;

    if (landscape_load(base, &land, &err) < 0) {
        fprintf(stderr, "%s\n", err.text);
        exit(2);
    }
    for (int t = 0; t < to->tunables_n; t++)
        tunables[t] = (struct external_strategy_tunable){
            to->tunables[t].name, (const char *const *)to->tunables[t].texts
        };
    prior = landscape_prior(land, problem->domain, tunables, &known, NULL);
    landscape_free(land);
    return prior;
}

static double *prior_of(const struct problem *problem, const char *warm)
{
    int size = domain_size(problem->domain);
    double *prior;

    if (!warm || (!problem->landscape && strcmp(warm, REVERSED) != 0))
        return NULL;
    if (strcmp(warm, REVERSED) != 0)
        return recorded_prior(problem, warm);
    prior = mem_new((size_t)size, sizeof(*prior));
    for (int i = 0; i < size; i++)
        prior[i] =
            problem->times[i] > 0 ? -log(problem->times[i]) : (double)NAN;
    return prior;
}

/* Divide the runs among processes. */
static void run_all(const struct problem *problem, const char *entry,
                    const struct options *options, struct result *results)
{
    double *prior = prior_of(problem, options->warm);

    for (int job = 0; job < options->jobs; job++) {
        pid_t pid = fork();

        if (pid < 0) {
            perror("fork");
            exit(1);
        }
        if (pid == 0) {
            for (int i = job; i < options->runs; i += options->jobs)
                run(problem, entry, options->first_seed + i, options, prior,
                    &results[i]);
            _exit(0);
        }
    }
    for (int job = 0; job < options->jobs; job++) {
        int status = 1;

        if (wait(&status) < 0 || status != 0) {
            fprintf(stderr, "%s on %s: a run ended badly\n", entry,
                    problem->name);
            exit(1);
        }
    }
    free(prior);
}

static int by_value(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

struct figure {
    int median[COURSE_GOALS], p90[COURSE_GOALS]; /* 0: beyond the cap */
    int low, high; /* 95 % interval of the median at 5 %; likewise */
    double ask_ms; /* CPU for each evaluation */
};

/* The range of sorted runs that contains the median over all seeds.  It holds
 * for any distribution, because the number of runs below the median is
 * binomial. */
static void set_interval(const int *sorted, int runs, struct figure *out)
{
    double wide = 1.96 * sqrt(runs) / 2;
    int low = (int)floor(runs / 2.0 - wide) - 1;
    int high = (int)ceil(runs / 2.0 + wide);

    out->low = sorted[low > 0 ? low : 0] % DOMAIN_POINTS_MAX;
    out->high = sorted[high < runs ? high : runs - 1] % DOMAIN_POINTS_MAX;
}

static void summarise(const struct result *results, int runs,
                      struct figure *out)
{
    int *sorted = mem_new((size_t)runs, sizeof(int));
    double cpu = 0, n = 0;

    *out = (struct figure){ .low = 0 };
    for (int g = 0; g < COURSE_GOALS; g++) {
        for (int i = 0; i < runs; i++)
            sorted[i] = results[i].reached[g] ? results[i].reached[g]
                                              : DOMAIN_POINTS_MAX;
        qsort(sorted, (size_t)runs, sizeof(int), by_value);
        out->median[g] = sorted[runs / 2] % DOMAIN_POINTS_MAX;
        out->p90[g] = sorted[runs * 9 / 10] % DOMAIN_POINTS_MAX;
        if (g == GOAL_5)
            set_interval(sorted, runs, out);
    }
    for (int i = 0; i < runs; i++) {
        cpu += results[i].cpu_s;
        n += results[i].n;
    }
    out->ask_ms = n > 0 ? cpu * 1000 / n : 0;
    free(sorted);
}

static void cell(char *out, size_t size, int evaluations, int cap)
{
    if (evaluations)
        snprintf(out, size, "%d", evaluations);
    else
        snprintf(out, size, ">%d", cap);
}

static void print_row(const struct problem *problem, const char *entry,
                      const struct figure *figure, int cap)
{
    char low[16], high[16];

    printf("| %-20s | %-14s |", problem->name, entry);
    for (int g = 0; g < COURSE_GOALS; g++) {
        char median[16], p90[16];

        cell(median, sizeof(median), figure->median[g], cap);
        cell(p90, sizeof(p90), figure->p90[g], cap);
        printf(" %5s %5s |", median, p90);
    }
    cell(low, sizeof(low), figure->low, cap);
    cell(high, sizeof(high), figure->high, cap);
    printf(" %5s %5s | %6.2f |\n", low, high, figure->ask_ms);
    fflush(stdout);
}

static void write_bound(struct json_out *json, int evaluations)
{
    if (evaluations)
        json_out_int(json, NULL, evaluations);
    else
        json_out_null(json, NULL);
}

static void write_row(struct json_out *json, const struct problem *problem,
                      const char *entry, const struct figure *figure)
{
    static const char *const medians[] = { "median_1", "median_5",
                                           "median_10" };
    static const char *const p90s[] = { "p90_1", "p90_5", "p90_10" };

    json_out_open(json, NULL, '{');
    json_out_text(json, "problem", problem->name);
    json_out_int(json, "points", domain_size(problem->domain));
    json_out_text(json, "strategy", entry);
    for (int g = 0; g < COURSE_GOALS; g++) {
        if (figure->median[g])
            json_out_int(json, medians[g], figure->median[g]);
        else
            json_out_null(json, medians[g]);
        if (figure->p90[g])
            json_out_int(json, p90s[g], figure->p90[g]);
        else
            json_out_null(json, p90s[g]);
    }
    json_out_open(json, "median_5_ci_95", '[');
    write_bound(json, figure->low);
    write_bound(json, figure->high);
    json_out_close(json);
    json_out_real(json, "cpu_ms_per_evaluation", figure->ask_ms);
    json_out_close(json);
}

static int number(const char *text)
{
    char *end;
    long n = strtol(text, &end, 10);

    if (*end || n < 1 || n > 1000000) {
        fprintf(stderr, "'%s' is not in 1..1000000\n", text);
        exit(2);
    }
    return (int)n;
}

static struct options read_options(int argc, char *argv[])
{
    struct options options = { .data = FA_SOURCE_DIR "/../shared/data",
                               .json = "bench_strategies.json",
                               .runs = 60,
                               .jobs = 2,
                               .cap = 2000,
                               .slots = 1,
                               .first_seed = 1 };
    int c;

    while ((c = getopt(argc, argv, "d:o:p:s:r:j:c:k:x:f:i:w:")) >= 0) {
        switch (c) {
        case 'd':
            options.data = optarg;
            break;
        case 'o':
            options.json = optarg;
            break;
        case 'p':
            options.only_problem = optarg;
            break;
        case 's':
            options.only_strategy = optarg;
            break;
        case 'x':
            options.external = optarg;
            break;
        case 'r':
            options.runs = number(optarg);
            break;
        case 'j':
            options.jobs = number(optarg);
            break;
        case 'c':
            options.cap = number(optarg);
            break;
        case 'f':
            options.first_seed = number(optarg);
            break;
        case 'i':
            options.instance = number(optarg);
            break;
        case 'w':
            options.warm = optarg;
            break;
        case 'k':
            options.slots = number(optarg) % 64;
            break;
        default:
            fprintf(stderr, "usage: bench_strategies [-d FOLDER] [-o JSON] "
                            "[-p PROBLEM] [-s STRATEGY] [-x COMMAND]\n"
                            "       [-r RUNS] [-f FIRST-SEED] [-j PROCESSES] "
                            "[-c EVALUATIONS] "
                            "[-k PENDING] [-i INSTANCE] [-w BASE|reversed]\n");
            strategy_list(stderr);
            exit(2);
        }
    }
    return options;
}

/* Median evaluations to within 5 %; the cap if it was exceeded. */
static int within_5(const struct figure *figure, int cap)
{
    return figure->median[GOAL_5] ? figure->median[GOAL_5] : cap;
}

/* Run all entries on one problem.  Returns 1 if bayes is no worse than either
 * plain search.
 */
static int measure(const struct problem *problem, const struct options *options,
                   struct result *results, struct json_out *json)
{
    int n = options->only_strategy ? 1 : ENTRIES, plain = options->cap,
        ours = 0;

    n += options->external && !options->only_strategy;
    for (int e = 0; e < n; e++) {
        const char *entry = options->only_strategy ? options->only_strategy
                            : e == ENTRIES         ? EXTERNAL
                                                   : entries[e];
        struct figure figure;

        memset(results, 0, (size_t)options->runs * sizeof(*results));
        run_all(problem, entry, options, results);
        summarise(results, options->runs, &figure);
        print_row(problem, entry, &figure, options->cap);
        write_row(json, problem, entry, &figure);
        if (strncmp(entry, "plain", 5) == 0 &&
            within_5(&figure, options->cap) < plain)
            plain = within_5(&figure, options->cap);
        if (strcmp(entry, "bayes") == 0)
            ours = within_5(&figure, options->cap);
    }
    if (n > 1)
        fprintf(stderr,
                "%s: bayes needs %d evaluations to within 5 %%, the better "
                "plain search %d\n",
                problem->name, ours, plain);
    return ours <= plain;
}

int main(int argc, char *argv[])
{
    struct options options = read_options(argc, argv);
    struct problem problems[PROBLEM_MAX];
    int n = problem_load_all(options.data, options.only_problem,
                             options.instance, problems);
    int good = 0;
    FILE *file = fopen(options.json, "w");
    struct json_out json;
    struct result *results =
        mmap(NULL, (size_t)options.runs * sizeof(*results),
             PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (!file || results == MAP_FAILED) {
        fprintf(stderr, "%s: %s\n", options.json, strerror(errno));
        return 1;
    }
    printf("| %-20s | %-14s | %-11s | %-11s | %-11s | %-11s | %-6s |\n",
           "problem", "strategy", "1 %: m, p90", "5 %: m, p90", "10 %",
           "5 %: m's CI", "CPU ms");
    printf("|---|---|---|---|---|---|---|\n");
    json_out_init(&json, file);
    json_out_open(&json, NULL, '[');
    for (int p = 0; p < n; p++) {
        good += measure(&problems[p], &options, results, &json);
        problem_fini(&problems[p]);
    }
    json_out_close(&json);
    fclose(file);
    if (!options.only_strategy)
        fprintf(stderr, "bayes is at least as good on %d of %d (target: all)\n",
                good, n);
    return 0;
}
