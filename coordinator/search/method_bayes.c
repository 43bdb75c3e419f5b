/* Bayesian optimisation: the point with the largest expected improvement.
 *
 * A Gaussian process of log time predicts each candidate, with an uncertainty.
 * A second output models failures, and the expected improvement is multiplied
 * by the probability that the candidate works.
 *
 * Pending points are rows without a value, after all rows that have one: each
 * is believed to take the time that the results so far predict, so only the
 * uncertainty around it is gone, and the next ask looks elsewhere (the "Kriging
 * believer" of Ginsbourger, Le Riche, Carraro 2010).  bayes-penalty leaves the
 * process as it is, and penalises candidates near pending points (penalty.h).
 *
 * A prior (strategy_warm()) is the mean of the process, as far as the times so
 * far follow it.
 *
 * All unseen points are candidates while they are few.  Otherwise
 * the candidates are random points and neighbours of the fastest; each ask adds
 * neighbours of its best candidate.
 */
#include <math.h>
#include <stdlib.h>

#include "common/mem.h"
#include "coordinator/model/gp.h"
#include "coordinator/search/method.h"
#include "coordinator/search/penalty.h"

#define DESIGN 12       /* points by Latin hypercube to begin with ... */
#define DESIGN_SHARE 4  /* ... or one in so many of the budget, if fewer */
#define LED_TRUST 0.2   /* enough for half a design */
#define TRUSTED_MIN 6   /* timed points that a prior is judged by */
#define FADED_AT 150.0  /* timed points after which it says nothing more */
#define TIMED_MIN 3     /* with fewer, there is nothing to model */
#define ROWS_MAX 400    /* above this, rows are thinned to ... */
#define ROWS_KEPT 300   /* ... the fastest and some of the others */
#define FIT_MAX 160     /* rows that the kernel is learnt from */
#define FIT_GROWTH 1.15 /* growth of the timed trials since the last fit */
#define CANDIDATES 2048
#define NEAR_FASTEST 8 /* fastest points whose neighbours join */
#define CLIMBS 2       /* rounds around the best candidate of an ask ... */
#define CLIMB_MAX 32   /* ... with at most so many new candidates */

#define PENDING_ROWS 64 /* more pending points have no row */
#define SLOPE_MAX 32    /* fastest points that the slope is taken from */

/* Of a trial; else its row. */
#define NO_ROW (-1)
#define LEFT_OUT (-2) /* it was thinned out */

#define FAILURE_BLUR 0.1 /* noise: the border is never sharp */

enum output {
    LOG_TIME,
    FAILURE
};

struct bayes {
    int design[DESIGN];
    int design_n, next;
    struct gp *gp;
    struct gp_kernel kernel;
    int *row_of; /* [rows of trials_cap] row of a trial that has an outcome */
    int row_of_cap, row_of_n;
    int settled;        /* rows of trials with an outcome; the others follow */
    int synced;         /* trials that were checked for being pending */
    int fitted_at;      /* timed trials at the last fit; 0: no fit yet */
    double mean, scale; /* of log time; the process has it standardised */
    double failure_rate;
    struct {
        double trust; /* how far log times follow it: 0 not, 1 as they are */
        double mean;  /* of the timed trials that have one */
        bool misled;  /* they run against it */
    } prior;
    double *promise;         /* [CANDIDATES] */
    struct penalty *penalty; /* NULL: pending points are rows */
    int *hood;
};

static void *start(struct method_search *search)
{
    struct bayes *bayes = mem_new(1, sizeof(*bayes));
    int n = search->left / DESIGN_SHARE + 1;

    n = (n < DESIGN ? n : DESIGN) - search->trials.timed;
    if (search->leaders > 0) /* they stand for a part of it, if it is right */
        n = DESIGN;
    if (n > search->left)
        n = search->left;
    if (n > 0)
        bayes->design_n = method_lhs_sample(search, n, bayes->design);
    bayes->gp = gp_new(search->domain, ROWS_MAX, CANDIDATES);
    gp_kernel_init(&bayes->kernel, search->domain);
    bayes->promise = mem_new(CANDIDATES, sizeof(double));
    bayes->hood = mem_new((size_t)domain_hood_max(search->domain), sizeof(int));
    return bayes;
}

static void *start_penalty(struct method_search *search)
{
    struct bayes *bayes = start(search);

    bayes->penalty = mem_new(1, sizeof(*bayes->penalty));
    return bayes;
}

static void end(void *self)
{
    struct bayes *bayes = self;

    free(bayes->penalty);
    gp_free(bayes->gp);
    free(bayes->row_of);
    free(bayes->promise);
    free(bayes->hood);
    free(bayes);
}

static double standard(const struct bayes *bayes, double time)
{
    return (log(time) - bayes->mean) / bayes->scale;
}

/* What the prior adds to a standardised time.  The process has the rest. */
static double shift(const struct bayes *bayes,
                    const struct method_search *search, int point)
{
    double prior = bayes->prior.trust > 0 ? search->prior[point] : (double)NAN;

    return isnan(prior) ? 0
                        : bayes->prior.trust * (prior - bayes->prior.mean) /
                              bayes->scale;
}

/* The least squares of log time over the prior.  Where times do not follow it,
 * or run against it, it is not trusted. */
static void judge_prior(struct bayes *bayes, const struct method_search *search)
{
    const struct trials *trials = &search->trials;
    double xx = 0, xy = 0, yy = 0, sum = 0, times = 0;
    int n = 0;

    bayes->prior.trust = 0;
    for (int pass = 0; search->prior && pass < 2; pass++)
        for (int i = 0; i < trials->n; i++) {
            const struct trial *trial = &trials->list[i];
            double x = search->prior[trial->point], y;

            if (trial->state != TRIAL_TIMED || isnan(x))
                continue;
            y = log(trial->time);
            if (pass == 0) {
                sum += x;
                times += y;
                n++;
            } else {
                x -= sum / n;
                y -= times / n;
                xx += x * x;
                xy += x * y;
                yy += y * y;
            }
        }
    bayes->prior.misled = n >= TRUSTED_MIN && xy <= 0;
    if (n < TRUSTED_MIN || bayes->prior.misled)
        return;
    bayes->prior.mean = sum / n;
    bayes->prior.trust = fmin(xy / xx, 1) * xy * xy / (xx * yy) *
                         fmax(0, 1 - trials->timed / FADED_AT);
}

/* The values of a row, as far as its trial has an outcome. */
static void set_row(struct bayes *bayes, const struct method_search *search,
                    const struct trial *trial, int row)
{
    if (trial->state == TRIAL_TIMED) {
        gp_set(bayes->gp, LOG_TIME, row,
               standard(bayes, trial->time) -
                   shift(bayes, search, trial->point));
        gp_set(bayes->gp, FAILURE, row, -bayes->failure_rate);
    } else if (trial->state == TRIAL_FAILED) {
        gp_set(bayes->gp, FAILURE, row, 1 - bayes->failure_rate);
    }
}

static void add_row(struct bayes *bayes, const struct method_search *search,
                    int i)
{
    const struct trial *trial = &search->trials.list[i];

    bayes->row_of[i] = gp_add_row(bayes->gp, trial->point);
    set_row(bayes, search, trial, bayes->row_of[i]);
}

/* A leader of a base that misleads: a point that was chosen to be slow says
 * little of fast ones, and much of how far times are apart. */
static bool is_misled(const struct bayes *bayes,
                      const struct method_search *search, int i)
{
    const struct trials *trials = &search->trials;

    return bayes->prior.misled && i >= search->led_from &&
           i < search->led_from + search->leaders && i != trials->best &&
           trials->timed >= search->leaders + TRUSTED_MIN;
}

static void standardise(struct bayes *bayes, const struct method_search *search)
{
    const struct trials *trials = &search->trials;
    double sum = 0, squares = 0;
    int n = 0;

    for (int i = 0; i < trials->n; i++)
        if (trials->list[i].state == TRIAL_TIMED &&
            !is_misled(bayes, search, i)) {
            sum += log(trials->list[i].time);
            n++;
        }
    bayes->mean = sum / n;
    for (int i = 0; i < trials->n; i++) {
        double off = log(trials->list[i].time) - bayes->mean;

        if (trials->list[i].state == TRIAL_TIMED &&
            !is_misled(bayes, search, i))
            squares += off * off;
    }
    bayes->scale = squares > 0 ? sqrt(squares / n) : 1;
    bayes->failure_rate = (trials->failed + 0.5) / (trials->n + 1.0);
}

static bool has_outcome(const struct trial *trial)
{
    return trial->state == TRIAL_TIMED || trial->state == TRIAL_FAILED;
}

/* The trials to learn from: the fastest 'max' / 2 and others at random. */
static int choose(const struct bayes *bayes, struct method_search *search,
                  int max, bool timed_only, int *out)
{
    const struct trials *trials = &search->trials;
    int *rest = mem_new((size_t)trials->n, sizeof(int)), rest_n = 0, n;
    char *taken = mem_new((size_t)trials->n, 1);

    n = trials_fastest(trials, out, max / 2);
    for (int i = n - 1; i >= 0; i--) {
        taken[out[i]] = 1;
        if (is_misled(bayes, search, out[i]))
            out[i] = out[--n];
    }
    for (int i = 0; i < trials->n; i++)
        if (!taken[i] && !is_misled(bayes, search, i) &&
            (trials->list[i].state == TRIAL_TIMED ||
             (!timed_only && has_outcome(&trials->list[i]))))
            rest[rest_n++] = i;
    if (n + rest_n > max)
        prng_shuffle(&search->prng, rest, (size_t)rest_n);
    for (int i = 0; i < rest_n && n < max; i++)
        out[n++] = rest[i];
    free(rest);
    free(taken);
    return n;
}

static void learn_kernel(struct bayes *bayes, struct method_search *search)
{
    int chosen[FIT_MAX], points[FIT_MAX], n;
    double values[FIT_MAX];

    n = choose(bayes, search, FIT_MAX, true, chosen);
    for (int i = 0; i < n; i++) {
        const struct trial *trial = &search->trials.list[chosen[i]];

        points[i] = trial->point;
        values[i] =
            standard(bayes, trial->time) - shift(bayes, search, trial->point);
    }
    gp_fit(&bayes->kernel, search->domain, points, values, n);
}

static void offer(struct bayes *bayes, const struct method_search *search,
                  int point)
{
    int n = gp_candidates(bayes->gp);

    if (n < CANDIDATES && gp_candidate_of(bayes->gp, point) < 0 &&
        trials_state(&search->trials, point) == TRIAL_UNSEEN)
        gp_put_candidate(bayes->gp, n, point);
}

static void choose_candidates(struct bayes *bayes, struct method_search *search)
{
    const struct trials *trials = &search->trials;
    int fastest[NEAR_FASTEST], n;

    if (trials->unseen_n <= CANDIDATES) {
        for (int i = 0; i < trials->unseen_n; i++)
            offer(bayes, search, trials->unseen[i]);
        return;
    }
    n = trials_fastest(trials, fastest, NEAR_FASTEST);
    for (int i = 0; i < n; i++) {
        int found = domain_neighbours(
            search->domain, trials->list[fastest[i]].point, false, bayes->hood);

        for (int k = 0; k < found; k++)
            offer(bayes, search, bayes->hood[k]);
    }
    for (int i = 0; i < 2 * CANDIDATES; i++)
        offer(bayes, search, trials_random_unseen(trials, &search->prng));
}

/* Start the process again from what is known. */
static void relearn(struct bayes *bayes, struct method_search *search)
{
    const struct trials *trials = &search->trials;
    int *chosen = mem_new((size_t)trials->n, sizeof(int)), n;

    judge_prior(bayes, search);
    standardise(bayes, search);
    learn_kernel(bayes, search);
    gp_reset(bayes->gp, &bayes->kernel);
    for (int i = 0; i < trials->n; i++)
        bayes->row_of[i] = has_outcome(&trials->list[i]) ? LEFT_OUT : NO_ROW;
    choose_candidates(bayes, search);
    n = choose(bayes, search, ROWS_KEPT, false, chosen);
    for (int timed = 1; timed >= 0; timed--)
        for (int i = 0; i < n; i++)
            if ((trials->list[chosen[i]].state == TRIAL_TIMED) == timed)
                add_row(bayes, search, chosen[i]);
    free(chosen);
    bayes->settled = gp_rows(bayes->gp);
    bayes->synced = 0;
    bayes->fitted_at = trials->timed;
}

/* How many trials have got an outcome that no row has yet. */
static int count_news(struct bayes *bayes, const struct trials *trials)
{
    int news = 0;

    if (bayes->row_of_cap < trials->n) {
        bayes->row_of_cap = 2 * trials->n;
        bayes->row_of =
            mem_grow(bayes->row_of, (size_t)bayes->row_of_cap, sizeof(int));
    }
    while (bayes->row_of_n < trials->n)
        bayes->row_of[bayes->row_of_n++] = NO_ROW;
    for (int i = 0; i < trials->n; i++)
        news += bayes->row_of[i] == NO_ROW && has_outcome(&trials->list[i]);
    return news;
}

/* Rows of pending trials come last, so that what is believed of them follows
 * from all results.  A new result thus begins them again. */
static void learn(struct bayes *bayes, struct method_search *search)
{
    const struct trials *trials = &search->trials;
    int news = count_news(bayes, trials);

    if (bayes->fitted_at == 0 ||
        bayes->settled + news + PENDING_ROWS > ROWS_MAX ||
        trials->timed >= bayes->fitted_at * FIT_GROWTH) {
        relearn(bayes, search);
    } else if (news > 0) {
        gp_keep(bayes->gp, bayes->settled);
        for (int i = 0; i < trials->n; i++)
            if (bayes->row_of[i] == NO_ROW && has_outcome(&trials->list[i]))
                add_row(bayes, search, i);
        bayes->settled = gp_rows(bayes->gp);
        bayes->synced = 0;
    }
}

static void add_pending(struct bayes *bayes, const struct trials *trials)
{
    for (; bayes->synced < trials->n; bayes->synced++)
        if (trials->list[bayes->synced].state == TRIAL_PENDING &&
            gp_rows(bayes->gp) < bayes->settled + PENDING_ROWS)
            (void)gp_add_row(bayes->gp, trials->list[bayes->synced].point);
}

/* A row for a moment says what is expected of a pending point. */
static void penalise_pending(struct bayes *bayes,
                             const struct method_search *search, double best)
{
    const struct trials *trials = &search->trials;
    int fastest[SLOPE_MAX], points[SLOPE_MAX];
    int n = trials_fastest(trials, fastest, SLOPE_MAX);
    double values[SLOPE_MAX];

    for (int i = 0; i < n; i++) {
        points[i] = trials->list[fastest[i]].point;
        values[i] = standard(bayes, trials->list[fastest[i]].time);
    }
    penalty_init(bayes->penalty, bayes->gp, points, values, n);
    for (int i = 0; i < trials->n; i++) {
        int point = trials->list[i].point, row;
        double mean, doubt;

        if (trials->list[i].state != TRIAL_PENDING)
            continue;
        row = gp_add_row(bayes->gp, point);
        mean =
            gp_row_mean(bayes->gp, LOG_TIME, row) + shift(bayes, search, point);
        doubt = gp_row_doubt(bayes->gp, row);
        gp_keep(bayes->gp, bayes->settled);
        penalty_add(bayes->penalty, point, mean - best,
                    sqrt(doubt * bayes->kernel.variance));
    }
}

/* Probability that a candidate works: its failure value is below one half. */
static double works(const struct bayes *bayes, int c)
{
    double rate = bayes->failure_rate;
    double deviation = sqrt(gp_doubt(bayes->gp, c) * rate * (1 - rate));
    double failure = rate + gp_mean(bayes->gp, FAILURE, c);

    return erfc((failure - 0.5) / (deviation + FAILURE_BLUR) / M_SQRT2) / 2;
}

/* Expected improvement on the fastest, times the probability that it works. */
static double promise(const struct bayes *bayes,
                      const struct method_search *search, int c, double best)
{
    double deviation = sqrt(gp_doubt(bayes->gp, c) * bayes->kernel.variance);
    double gain = best - gp_mean(bayes->gp, LOG_TIME, c) -
                  shift(bayes, search, gp_candidate(bayes->gp, c));
    double z = gain / deviation;
    double improvement = gain * erfc(-z / M_SQRT2) / 2 +
                         deviation * exp(-z * z / 2) / sqrt(2 * M_PI);

    if (improvement <= 0)
        return 0;
    if (bayes->penalty)
        improvement *=
            penalty_of(bayes->penalty, bayes->gp, gp_candidate(bayes->gp, c));
    return improvement * works(bayes, c);
}

/* The best candidate, or -1; 'worst' is set to the worst one. */
static int rank(struct bayes *bayes, const struct method_search *search,
                double best)
{
    int winner = -1;

    for (int c = 0; c < gp_candidates(bayes->gp); c++) {
        int point = gp_candidate(bayes->gp, c);

        bayes->promise[c] = -1; /* seen by now */
        if (trials_state(&search->trials, point) != TRIAL_UNSEEN)
            continue;
        bayes->promise[c] = promise(bayes, search, c, best);
        if (winner < 0 || bayes->promise[c] > bayes->promise[winner])
            winner = c;
    }
    return winner;
}

/* A candidate to replace: the worst of a few. */
static int spare(const struct bayes *bayes, struct method_search *search,
                 int winner)
{
    int least = -1, n = gp_candidates(bayes->gp);

    for (int i = 0; i < 8; i++) {
        int c = (int)prng_below(&search->prng, (uint64_t)n);

        if (c != winner &&
            (least < 0 || bayes->promise[c] < bayes->promise[least]))
            least = c;
    }
    return least;
}

/* Make the neighbours of the best candidate candidates too. */
static int climb(struct bayes *bayes, struct method_search *search, int winner,
                 double best)
{
    for (int round = 0; round < CLIMBS; round++) {
        int from = winner, fresh = 0, found;

        found =
            domain_neighbours(search->domain, gp_candidate(bayes->gp, winner),
                              false, bayes->hood);
        prng_shuffle(&search->prng, bayes->hood, (size_t)found);
        for (int i = 0; i < found && fresh < CLIMB_MAX; i++) {
            int point = bayes->hood[i], c;

            if (gp_candidate_of(bayes->gp, point) >= 0 ||
                trials_state(&search->trials, point) != TRIAL_UNSEEN)
                continue;
            c = spare(bayes, search, winner);
            if (c < 0)
                continue;
            gp_put_candidate(bayes->gp, c, point);
            bayes->promise[c] = promise(bayes, search, c, best);
            fresh++;
            if (bayes->promise[c] > bayes->promise[winner])
                winner = c;
        }
        if (winner == from)
            break;
    }
    return winner;
}

/* Of a design, so many points are enough as there are leaders, if the times so
 * far follow the prior. */
static bool is_led(struct bayes *bayes, const struct method_search *search)
{
    if (search->leaders == 0 || bayes->next < DESIGN - search->leaders)
        return false;
    if (bayes->next == DESIGN - search->leaders)
        judge_prior(bayes, search);
    return bayes->prior.trust >= LED_TRUST;
}

static int ask(void *self, struct method_search *search)
{
    struct bayes *bayes = self;
    const struct trials *trials = &search->trials;
    double best;
    int winner;

    while (bayes->next < bayes->design_n) {
        int point = bayes->design[bayes->next];

        if (is_led(bayes, search))
            break;
        bayes->next++;

        if (trials_state(trials, point) == TRIAL_UNSEEN)
            return point;
    }
    if (trials->timed < TIMED_MIN)
        return trials_random_unseen(trials, &search->prng);
    learn(bayes, search);
    best = standard(bayes, trials->list[trials->best].time);
    if (bayes->penalty)
        penalise_pending(bayes, search, best);
    else
        add_pending(bayes, trials);
    winner = rank(bayes, search, best);
    if (winner < 0)
        return trials_random_unseen(trials, &search->prng);
    if (trials->unseen_n > gp_candidates(bayes->gp))
        winner = climb(bayes, search, winner, best);
    return gp_candidate(bayes->gp, winner);
}

/* A row cannot lose a value.  After a value was withdrawn, the model is built
 * again without it. */
static void tell(void *self, struct method_search *search, int i, bool again)
{
    const struct trial *trial = &search->trials.list[i];
    struct bayes *bayes = self;

    if (i >= bayes->row_of_n || bayes->row_of[i] < 0)
        return;
    if (again && trial->state != TRIAL_TIMED)
        bayes->fitted_at = 0;
    else
        set_row(bayes, search, trial, bayes->row_of[i]);
}

const struct method method_bayes = {
    .name = "bayes",
    .about = "Gaussian process of log time and of failures: most expected "
             "improvement",
    .learns = true,
    .start = start,
    .ask = ask,
    .tell = tell,
    .end = end,
};

const struct method method_bayes_penalty = {
    .name = "bayes-penalty",
    .about = "bayes, with penalties around what is pending",
    .learns = true,
    .start = start_penalty,
    .ask = ask,
    .tell = tell,
    .end = end,
};
