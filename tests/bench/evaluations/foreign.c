#include "tests/bench/evaluations/foreign.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/process/poll_until.h"
#include "coordinator/model/domain.h"
#include "coordinator/search/external_strategy.h"
#include "coordinator/search/strategy.h"
#include "tests/bench/evaluations/course.h"
#include "tests/bench/evaluations/problem.h"

#define WORDS_MAX 16
#define ANSWER_S 60

/* The program needs only indices, so names and values are numbers. */
struct names {
    struct external_strategy_tunable tunables[DOMAIN_TUNABLES_MAX];
    char name[DOMAIN_TUNABLES_MAX][8];
    char *numbers[DOMAIN_LEVELS_MAX];
};

static struct names *make_names(const struct domain *domain)
{
    struct names *names = mem_new(1, sizeof(*names));
    int most = 0;

    for (int t = 0; t < domain_tunables(domain); t++) {
        int levels = domain_tunable(domain, t)->levels;

        snprintf(names->name[t], sizeof(names->name[t]), "t%d", t);
        names->tunables[t] = (struct external_strategy_tunable){
            names->name[t], (const char *const *)names->numbers
        };
        most = levels > most ? levels : most;
    }
    for (int i = 0; i < most; i++)
        names->numbers[i] = mem_printf("%d", i);
    return names;
}

static void free_names(struct names *names)
{
    for (int i = 0; names->numbers[i]; i++)
        free(names->numbers[i]);
    free(names);
}

static void give_up(const struct err *err)
{
    fprintf(stderr, "%s\n", err->text);
    exit(1);
}

static void go(struct course *course, struct external_strategy *external)
{
    enum strategy_answer answer;
    struct pollfd fds[EXTERNAL_STRATEGY_FDS];
    struct err err;
    int point;

    while (!course_is_over(course) &&
           (answer = external_strategy_ask(external, &point)) !=
               STRATEGY_DONE) {
        double time;

        if (answer == STRATEGY_WAIT) {
            external_strategy_poll(external, fds);
            (void)poll_until(fds, EXTERNAL_STRATEGY_FDS,
                             external_strategy_deadline(external));
            if (external_strategy_work(external, clock_boot_ns(), &err) < 0)
                give_up(&err);
            continue;
        }
        time = course_try(course, point);
        external_strategy_tell(external, point,
                               time > 0 ? STRATEGY_TIMED : STRATEGY_FAILED,
                               time, NULL);
    }
}

void foreign_drive(struct course *course, const char *command, uint64_t seed)
{
    struct names *names = make_names(course->problem->domain);
    char *words = mem_strdup(command), *rest = words;
    const char *argv[WORDS_MAX + 1] = { NULL };
    struct external_strategy_options options = { .argv = argv,
                                                 .domain =
                                                     course->problem->domain,
                                                 .tunables = names->tunables,
                                                 .budget = course->cap,
                                                 .seed = seed,
                                                 .answer_ns =
                                                     ANSWER_S * NS_PER_S };
    struct external_strategy *external;
    struct err err;

    for (int i = 0; i < WORDS_MAX && rest; i++)
        argv[i] = strsep(&rest, " ");
    if (external_strategy_start(&options, &external, &err) < 0)
        give_up(&err);
    go(course, external);
    external_strategy_stop(external);
    free(words);
    free_names(names);
}
