#include "coordinator/search/strategy.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/search/method.h"
#include "coordinator/text/suggest.h"

#define STAGES_MAX 16
#define LEADERS 6 /* the fastest points by a prior */

static const struct method *const methods[] = {
    &method_exhaustive, &method_random,  &method_lhs,   &method_tpe,
    &method_local,      &method_genetic, &method_bayes, &method_bayes_penalty,
};

static const size_t methods_n = sizeof(methods) / sizeof(methods[0]);

#define AUTO "auto"
#define AUTO_ABOUT                                                          \
    "exhaustive if the budget covers every configuration, otherwise bayes " \
    "(the default)"

struct stage {
    const struct method *method;
    int quota; /* evaluations; 0: all that are left */
};

struct strategy {
    struct method_search search;
    int budget;
    struct stage stages[STAGES_MAX];
    int stages_n, stage; /* the current stage; stages_n when done */
    int stage_begin;     /* evaluations when the stage began */
    void *self;          /* of the current method; NULL before its first ask */
    double led;          /* the expectation of the last leader */
};

void strategy_list(FILE *to)
{
    fprintf(to, "  %-13s %s\n", AUTO, AUTO_ABOUT);
    for (size_t i = 0; i < methods_n; i++)
        fprintf(to, "  %-13s %s\n", methods[i]->name, methods[i]->about);
}

static const struct method *find_method(const struct strategy *strategy,
                                        const char *name, size_t len)
{
    const struct domain *domain = strategy->search.domain;

    if (len == strlen(AUTO) && memcmp(name, AUTO, len) == 0)
        return domain && strategy->budget >= domain_size(domain)
                   ? &method_exhaustive
                   : &method_bayes;
    for (size_t i = 0; i < methods_n; i++)
        if (strlen(methods[i]->name) == len &&
            memcmp(methods[i]->name, name, len) == 0)
            return methods[i];
    return NULL;
}

/* A name, cut to leave room for the error message. */
static int shown(size_t len)
{
    return len < 40 ? (int)len : 40;
}

static int unknown_method(const char *text, const char *name, size_t len,
                          struct err *err)
{
    const char *names[sizeof(methods) / sizeof(methods[0]) + 1];
    const char *meant;

    for (size_t i = 0; i < methods_n; i++)
        names[i] = methods[i]->name;
    names[methods_n] = AUTO;
    meant = suggest_name(name, len, names, methods_n + 1);
    if (len == 0)
        return err_set(err, ERR_INPUT,
                       "strategy '%.80s': a name is missing; write "
                       "lhs:20,bayes, for example",
                       text);
    if (meant)
        return err_set(
            err, ERR_INPUT,
            "strategy '%.80s': there is no '%.*s'; did you mean '%s'?", text,
            shown(len), name, meant);
    return err_set(err, ERR_INPUT,
                   "strategy '%.80s': there is no '%.*s'; choose auto, "
                   "exhaustive, random, lhs, tpe, local, genetic, bayes or "
                   "bayes-penalty",
                   text, shown(len), name);
}

/* "NAME" or "NAME:COUNT", up to 'end'. */
static int read_stage(struct strategy *strategy, const char *text,
                      const char *from, const char *end, struct err *err)
{
    const char *colon = memchr(from, ':', (size_t)(end - from));
    size_t len = (size_t)((colon ? colon : end) - from);
    struct stage *stage = &strategy->stages[strategy->stages_n++];
    char *stop = NULL;
    long count = 0;

    stage->method = find_method(strategy, from, len);
    if (!stage->method)
        return unknown_method(text, from, len, err);
    if (!colon && *end)
        return err_set(err, ERR_INPUT,
                       "strategy '%.80s': only the last method may have no "
                       "number, and '%.*s' is not the last; write %.*s:20",
                       text, (int)len, from, (int)len, from);
    if (colon && colon[1] >= '0' && colon[1] <= '9')
        count = strtol(colon + 1, &stop, 10);
    if (colon && (stop != end || count < 1 || count > DOMAIN_POINTS_MAX))
        return err_set(
            err, ERR_INPUT,
            "strategy '%.80s': '%.*s' is not a number of evaluations "
            "(1 to %d)",
            text, shown((size_t)(end - colon - 1)), colon + 1,
            DOMAIN_POINTS_MAX);
    stage->quota = (int)count;
    return 0;
}

static int read_stages(struct strategy *strategy, const char *text,
                       struct err *err)
{
    const char *from = text;

    for (;;) {
        const char *end = strchr(from, ',');
        int rc;

        if (strategy->stages_n == STAGES_MAX)
            return err_set(err, ERR_INPUT,
                           "strategy '%.80s': more than %d methods", text,
                           STAGES_MAX);
        rc = read_stage(strategy, text, from, end ? end : from + strlen(from),
                        err);
        if (rc < 0 || !end)
            return rc;
        from = end + 1;
    }
}

int strategy_evaluations(const char *text, struct err *err)
{
    struct strategy read = { .budget = 0 };
    int64_t sum = 0;
    int rc = read_stages(&read, text, err);

    for (int i = 0; rc == 0 && i < read.stages_n; i++) {
        if (read.stages[i].quota == 0)
            return 0;
        sum += read.stages[i].quota;
    }
    if (rc < 0)
        return rc;
    return sum < DOMAIN_POINTS_MAX ? (int)sum : DOMAIN_POINTS_MAX;
}

bool strategy_learns(const char *text)
{
    struct strategy read = { .budget = 0 };
    bool learns = false;

    (void)read_stages(&read, text, NULL); /* what is wrong has no method */
    for (int i = 0; i < read.stages_n; i++)
        learns |= read.stages[i].method && read.stages[i].method->learns;
    return learns;
}

int strategy_new(const char *text, const struct domain *domain, int budget,
                 uint64_t seed, struct strategy **out, struct err *err)
{
    struct strategy *strategy = mem_new(1, sizeof(*strategy));
    int size = domain_size(domain), rc;

    assert(size > 0 && budget >= 0);
    strategy->budget = budget == 0 || budget > size ? size : budget;
    strategy->search.domain = domain;
    trials_init(&strategy->search.trials, domain);
    prng_init(&strategy->search.prng, seed);
    rc = read_stages(strategy, text, err);
    if (rc < 0) {
        strategy_free(strategy);
        return rc;
    }
    *out = strategy;
    return 0;
}

static void end_stage(struct strategy *strategy)
{
    if (strategy->self)
        strategy->stages[strategy->stage].method->end(strategy->self);
    strategy->self = NULL;
}

void strategy_free(struct strategy *strategy)
{
    if (!strategy)
        return;
    end_stage(strategy);
    trials_fini(&strategy->search.trials);
    free(strategy);
}

/* Evaluations the current stage may still ask for. */
static int stage_left(const struct strategy *strategy)
{
    int asked = strategy->search.trials.n;
    int quota = strategy->stages[strategy->stage].quota;
    int left = strategy->budget - asked;

    if (quota > 0 && quota - (asked - strategy->stage_begin) < left)
        left = quota - (asked - strategy->stage_begin);
    return left;
}

static void pass_turns(struct strategy *strategy)
{
    while (strategy->stage < strategy->stages_n && stage_left(strategy) <= 0) {
        int over = strategy->stages[strategy->stage].quota;

        end_stage(strategy);
        strategy->stage_begin += over; /* it may use up the next stage too */
        if (over == 0 || strategy->stage_begin > strategy->search.trials.n)
            strategy->stage_begin = strategy->search.trials.n;
        strategy->stage++;
    }
}

void strategy_warm(struct strategy *strategy, const double *prior)
{
    strategy->search.prior = prior;
}

/* The unseen point that is expected to be the fastest, or -1.  Points of the
 * same expectation may be one configuration there: one of them is enough. */
static int next_leader(struct strategy *strategy)
{
    const struct method_search *search = &strategy->search;
    int found = -1;

    if (!search->prior || search->leaders == LEADERS)
        return -1;
    for (int point = 0; point < domain_size(search->domain); point++) {
        double expected = search->prior[point];

        if (!isnan(expected) &&
            (search->leaders == 0 || expected > strategy->led) &&
            trials_state(&search->trials, point) == TRIAL_UNSEEN &&
            (found < 0 || expected < search->prior[found]))
            found = point;
    }
    if (found >= 0)
        strategy->led = search->prior[found];
    return found;
}

enum strategy_answer strategy_ask(struct strategy *strategy, int *point)
{
    struct method_search *search = &strategy->search;
    const struct method *method;

    pass_turns(strategy);
    if (strategy->stage == strategy->stages_n || search->trials.unseen_n == 0)
        return STRATEGY_DONE;
    method = strategy->stages[strategy->stage].method;
    search->left = stage_left(strategy);
    *point = strategy->self ? -1 : next_leader(strategy);
    if (*point >= 0) {
        if (search->leaders++ == 0)
            search->led_from = search->trials.n;
        trials_begin(&search->trials, *point);
        return STRATEGY_POINT;
    }
    if (!strategy->self)
        strategy->self = method->start(search);
    *point = method->ask(strategy->self, search);
    assert(*point >= 0 || search->trials.pending > 0);
    if (*point < 0)
        return STRATEGY_WAIT;
    trials_begin(&search->trials, *point);
    return STRATEGY_POINT;
}

void strategy_expect(struct strategy *strategy, int point)
{
    if (trials_state(&strategy->search.trials, point) == TRIAL_UNSEEN)
        trials_begin(&strategy->search.trials, point);
}

void strategy_tell(struct strategy *strategy, int point,
                   enum strategy_outcome outcome, double time)
{
    static const enum trial_state states[] = {
        [STRATEGY_TIMED] = TRIAL_TIMED,
        [STRATEGY_FAILED] = TRIAL_FAILED,
        [STRATEGY_LOST] = TRIAL_LOST,
    };
    struct method_search *search = &strategy->search;
    enum trial_state before = trials_state(&search->trials, point);
    const struct method *method;

    trials_settle(&search->trials, point, states[outcome], time);
    if (!strategy->self)
        return;
    method = strategy->stages[strategy->stage].method;
    if (method->tell)
        method->tell(strategy->self, search, search->trials.of_point[point],
                     before != TRIAL_UNSEEN && before != TRIAL_PENDING);
}

void strategy_state(const struct strategy *strategy, struct strategy_state *out)
{
    const struct trials *trials = &strategy->search.trials;
    bool done = strategy->stage == strategy->stages_n;

    *out = (struct strategy_state){
        .method = done ? "" : strategy->stages[strategy->stage].method->name,
        .learns = !done && strategy->stages[strategy->stage].method->learns,
        .asked = trials->n,
        .budget = strategy->budget,
        .pending = trials->pending,
        .timed = trials->timed,
        .failed = trials->failed,
        .best = trials->best < 0 ? -1 : trials->list[trials->best].point,
        .best_time = trials->best < 0 ? 0 : trials->list[trials->best].time,
    };
}
