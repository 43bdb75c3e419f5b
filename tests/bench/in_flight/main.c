/* bench_in_flight - what results in flight cost a search
 *
 * The bench replays strategies with several configurations in flight, on
 * synthetic problems and on every recorded landscape of a folder.  For each
 * problem, strategy and number in flight it prints the mean and the median
 * regret after a fixed number of evaluations: how much slower the fastest
 * configuration found is than the fastest there is, in percent, and the mean
 * seconds that it took.  A sweep has fewer in flight when few evaluations are
 * left; -u keeps all places busy.  The figures depend on the seeds only.  JSON
 * goes to a file. docs/strategies.md has the command and its output.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/mem.h"
#include "coordinator/model/domain.h"
#include "coordinator/search/strategy.h"
#include "coordinator/text/json_out.h"
#include "tests/bench/evaluations/problem.h"
#include "tests/bench/in_flight/figures.h"
#include "tests/bench/in_flight/fleet.h"

#define LIST_MAX 16

struct options {
    const char *data, *json, *only_problem;
    char *strategies[LIST_MAX];
    int strategies_n;
    int in_flight[LIST_MAX]; /* ascending; the first is compared with */
    int in_flight_n;
    int runs, jobs, evaluations, first_seed, instance;
    bool full;
};

struct bench {
    struct options options;
    struct problem problems[PROBLEM_MAX];
    int problems_n;
    struct fleet_end *ends; /* [all runs] memory that the processes share */
};

static int number(const char *text, int least, int most)
{
    char *end;
    long n = strtol(text, &end, 10);

    if (*end || end == text || n < least || n > most) {
        fprintf(stderr, "'%s' is not in %d..%d\n", text, least, most);
        exit(2);
    }
    return (int)n;
}

/* The words between separators; the list borrows them from 'text'. */
static int split(char *text, const char *between, char *words[LIST_MAX])
{
    char *rest = text, *word;
    int n = 0;

    while (n < LIST_MAX && (word = strsep(&rest, between)))
        words[n++] = word;
    return n;
}

static void read_in_flight(struct options *options, char *text)
{
    char *words[LIST_MAX];

    options->in_flight_n = split(text, ",", words);
    for (int i = 0; i < options->in_flight_n; i++)
        options->in_flight[i] = number(words[i], 1, FLEET_PLACES_MAX);
}

static void usage(void)
{
    fprintf(stderr,
            "usage: bench_in_flight [-d FOLDER] [-o JSON] [-p PROBLEM]\n"
            "       [-s STRATEGY[;STRATEGY...]] [-k N[,N...]] [-r RUNS]\n"
            "       [-f FIRST-SEED] [-i INSTANCE] [-j PROCESSES] "
            "[-e EVALUATIONS] [-u]\n");
    strategy_list(stderr);
    exit(2);
}

static void read_options(int argc, char *argv[], struct options *out)
{
    static char in_flight[] = "1,8,16,32,64", strategies[] = "bayes";
    int c;

    *out = (struct options){ .data = FA_SOURCE_DIR "/../shared/data",
                             .json = "bench_in_flight.json",
                             .runs = 30,
                             .jobs = 2,
                             .evaluations = 100,
                             .first_seed = 1 };
    read_in_flight(out, in_flight);
    out->strategies_n = split(strategies, ";", out->strategies);
    while ((c = getopt(argc, argv, "d:o:p:s:k:r:f:i:j:e:u")) >= 0) {
        switch (c) {
        case 'd':
            out->data = optarg;
            break;
        case 'o':
            out->json = optarg;
            break;
        case 'p':
            out->only_problem = optarg;
            break;
        case 's':
            out->strategies_n = split(optarg, ";", out->strategies);
            break;
        case 'k':
            read_in_flight(out, optarg);
            break;
        case 'r':
            out->runs = number(optarg, 1, 100000);
            break;
        case 'f':
            out->first_seed = number(optarg, 1, 1000000000);
            break;
        case 'i':
            out->instance = number(optarg, 0, 1000000);
            break;
        case 'j':
            out->jobs = number(optarg, 1, 1024);
            break;
        case 'e':
            out->evaluations = number(optarg, 1, 1000000);
            break;
        case 'u':
            out->full = true;
            break;
        default:
            usage();
        }
    }
}

/* Where the runs of a strategy with so many in flight begin. */
static size_t place_of(const struct options *options, int problem, int strategy,
                       int in_flight)
{
    int row =
        (problem * options->strategies_n + strategy) * options->in_flight_n +
        in_flight;

    return (size_t)row * (size_t)options->runs;
}

static void run_one(struct bench *bench, size_t at)
{
    const struct options *options = &bench->options;
    size_t runs = (size_t)options->runs;
    size_t places = (size_t)options->in_flight_n;
    size_t strategies = (size_t)options->strategies_n;
    size_t row = at / runs;
    const struct fleet_rules rules = {
        .strategy = options->strategies[row / places % strategies],
        .evaluations = options->evaluations,
        .in_flight = options->in_flight[row % places],
        .full = options->full,
        .seed = (uint64_t)options->first_seed + at % runs,
    };

    fleet_run(&bench->problems[row / places / strategies], &rules,
              &bench->ends[at]);
}

/* Divide the runs among processes. */
static void run_all(struct bench *bench)
{
    const struct options *options = &bench->options;
    size_t n = place_of(options, bench->problems_n, 0, 0);

    fflush(NULL);
    for (int job = 0; job < options->jobs; job++) {
        pid_t pid = fork();

        if (pid < 0) {
            perror("fork");
            exit(1);
        }
        if (pid == 0) {
            for (size_t at = (size_t)job; at < n; at += (size_t)options->jobs)
                run_one(bench, at);
            _exit(0);
        }
    }
    for (int job = 0; job < options->jobs; job++) {
        int status = 1;

        if (wait(&status) < 0 || status != 0) {
            fprintf(stderr, "a process of the bench ended badly\n");
            exit(1);
        }
    }
}

static void figures_at(const struct bench *bench, int problem, int strategy,
                       int in_flight, struct figures *out)
{
    const struct options *options = &bench->options;
    size_t at = place_of(options, problem, strategy, in_flight);

    figures_of(&bench->ends[at], options->runs, out);
}

static void write_row(struct json_out *json, const struct bench *bench,
                      int problem, int strategy)
{
    const struct options *options = &bench->options;

    for (int i = 0; i < options->in_flight_n; i++) {
        struct figures figures;

        figures_at(bench, problem, strategy, i, &figures);
        json_out_open(json, NULL, '{');
        json_out_text(json, "problem", bench->problems[problem].name);
        json_out_int(json, "points",
                     domain_size(bench->problems[problem].domain));
        json_out_text(json, "strategy", options->strategies[strategy]);
        json_out_int(json, "in_flight", options->in_flight[i]);
        json_out_bool(json, "bounded", !options->full);
        json_out_int(json, "evaluations", options->evaluations);
        json_out_int(json, "runs", options->runs);
        json_out_real(json, "mean_regret_percent", figures.mean);
        json_out_real(json, "standard_error", figures.error);
        json_out_real(json, "median_regret_percent", figures.median);
        json_out_real(json, "p90_regret_percent", figures.p90);
        json_out_real(json, "seconds", figures.seconds);
        json_out_close(json);
    }
}

static void print_heading(const struct options *options)
{
    printf("| problem            | strategy       |");
    for (int i = 0; i < options->in_flight_n; i++)
        printf(" %4d: mean, median, s |", options->in_flight[i]);
    printf("\n|---|---|");
    for (int i = 0; i < options->in_flight_n; i++)
        printf("---|");
    printf("\n");
}

/* One row; '!' marks a mean beyond the limit that the first sets. */
static void print_row(const struct bench *bench, int problem, int strategy)
{
    const struct options *options = &bench->options;
    double limit = 0;

    printf("| %-18s | %-14s |", bench->problems[problem].name,
           options->strategies[strategy]);
    for (int i = 0; i < options->in_flight_n; i++) {
        struct figures figures;

        figures_at(bench, problem, strategy, i, &figures);
        if (i == 0)
            limit = figures_limit(figures.mean);
        printf(" %7.2f%s %7.2f %5.0f |", figures.mean,
               figures.mean > limit ? "!" : " ", figures.median,
               figures.seconds);
    }
    printf("\n");
}

/* Over all problems: the mean of the means, and of the medians. */
static void print_sum(const struct bench *bench, int strategy)
{
    const struct options *options = &bench->options;
    double limit = 0, cpu_s = 0, n = bench->problems_n;

    printf("| %-18s | %-14s |", "mean of all", options->strategies[strategy]);
    for (int i = 0; i < options->in_flight_n; i++) {
        double mean = 0, median = 0, seconds = 0;

        for (int p = 0; p < bench->problems_n; p++) {
            struct figures figures;

            figures_at(bench, p, strategy, i, &figures);
            mean += figures.mean / n;
            median += figures.median / n;
            seconds += figures.seconds / n;
            cpu_s += figures.cpu_s / n / options->in_flight_n;
        }
        if (i == 0)
            limit = figures_limit(mean);
        printf(" %7.2f%s %7.2f %5.0f |", mean, mean > limit ? "!" : " ", median,
               seconds);
    }
    printf("\n");
    fprintf(stderr, "%s: %.2f ms of CPU an evaluation\n",
            options->strategies[strategy], 1000 * cpu_s / options->evaluations);
}

static int report(const struct bench *bench)
{
    const struct options *options = &bench->options;
    FILE *file = fopen(options->json, "w");
    struct json_out json;

    if (!file) {
        fprintf(stderr, "%s: %s\n", options->json, strerror(errno));
        return 1;
    }
    json_out_init(&json, file);
    json_out_open(&json, NULL, '[');
    print_heading(options);
    for (int p = 0; p < bench->problems_n; p++)
        for (int s = 0; s < options->strategies_n; s++) {
            print_row(bench, p, s);
            write_row(&json, bench, p, s);
        }
    for (int s = 0; s < options->strategies_n; s++)
        print_sum(bench, s);
    json_out_close(&json);
    return fclose(file) == 0 ? 0 : 1;
}

int main(int argc, char *argv[])
{
    static struct bench bench;
    const struct options *options = &bench.options;
    size_t size;
    int rc;

    read_options(argc, argv, &bench.options);
    bench.problems_n = problem_load_all(options->data, options->only_problem,
                                        options->instance, bench.problems);
    size = place_of(options, bench.problems_n, 0, 0) * sizeof(*bench.ends);
    if (size == 0) {
        fprintf(stderr, "no problem has '%s' in its name\n",
                options->only_problem);
        return 2;
    }
    bench.ends = mmap(NULL, size, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (bench.ends == MAP_FAILED) {
        perror("mmap");
        return 1;
    }
    run_all(&bench);
    rc = report(&bench);
    for (int p = 0; p < bench.problems_n; p++)
        problem_fini(&bench.problems[p]);
    munmap(bench.ends, size);
    return rc;
}
