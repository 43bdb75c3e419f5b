#include "coordinator/estimate/estimate.h"

#include <math.h>

/* Before anything is known: the fastest and slowest mean that the project's
 * kernels had, and flash attention on an H200 between them. */
#define BUILD_LOW_S 0.1
#define BUILD_S 0.4
#define BUILD_HIGH_S 18.0
#define MEASURE_LOW_S 0.005
#define MEASURE_S 0.05
#define MEASURE_HIGH_S 0.5
/* Login, upload of the worker and its start. */
#define START_LOCAL_S 1.0
#define START_REMOTE_S 5.0
/* Low and high are so far from it: from a default, from what was measured. */
#define START_GUESSED 2.5
#define START_LEARNT 1.5

/* Besides what it holds the GPU for. */
#define OVERHEAD_S 0.005
/* Deviations from the mean within which nine of ten lie. */
#define DEVIATIONS 1.645
/* What is left need not be like what was measured: configurations are tried
 * in an order, and other sweeps have other kernels.  In units of log. */
#define UNLIKE_SO_FAR 0.02 /* how much parts differ was measured, too */
#define UNLIKE_HERE 0.12
#define UNLIKE_ELSEWHERE 0.4
#define STRETCH_ERR 0.08
#define STRETCH_UNLIKE 0.35 /* of its log, elsewhere: it is not the work's */
/* So many builds on each slot say half of how long runs take over their work.
 */
#define ROUNDS 2.0
#define NARROW 0.1
/* As much as a tenth of what is left pins that down to a factor of two. */
#define TENTH 10.0
#define TENTH_MOST 0.25
/* Over the work alone, if no run has shown it. */
#define STRETCH_LIKELY 1.15
#define STRETCH_HIGH 1.5

enum scenario {
    LOW,
    LIKELY,
    HIGH,
    SCENARIOS
};

static double pick(const struct estimate_range *range, enum scenario scenario)
{
    return scenario == LOW      ? range->low
           : scenario == LIKELY ? range->likely
                                : range->high;
}

static void put(struct estimate_range *range, enum scenario scenario,
                double number)
{
    *(scenario == LOW      ? &range->low
      : scenario == LIKELY ? &range->likely
                           : &range->high) = number;
}

const char *estimate_source_text(enum estimate_source source)
{
    static const char *const texts[] = {
        [ESTIMATE_THIS_SPACE] = "this space, in part",
        [ESTIMATE_EARLIER] = "an earlier sweep",
        [ESTIMATE_DEFAULTS] = "defaults",
        [ESTIMATE_THIS_SWEEP] = "this sweep, so far",
    };

    return texts[source];
}

bool estimate_is_narrow(const struct estimate_range *range)
{
    return range->high - range->low <= NARROW * range->likely;
}

static double unlike(enum estimate_source source)
{
    return source == ESTIMATE_THIS_SWEEP   ? UNLIKE_SO_FAR
           : source == ESTIMATE_THIS_SPACE ? UNLIKE_HERE
                                           : UNLIKE_ELSEWHERE;
}

/* How far the mean of what is left may be from what was measured, as a log. */
static double uncertainty(const struct estimate_pace *pace, double left,
                          enum estimate_source source)
{
    double cv = pace->mean_s > 0 ? pace->sd_s / pace->mean_s : 0;
    double sample = DEVIATIONS * cv * sqrt(1 / pace->n + 1 / fmax(left, 1));
    double u = log1p(sample) + unlike(source);

    if (source == ESTIMATE_THIS_SPACE && pace->n * TENTH >= left)
        u = fmin(u, TENTH_MOST);
    return u;
}

struct estimate_range estimate_mean(const struct estimate_pace *pace,
                                    double left, enum estimate_source source)
{
    double u = uncertainty(pace, left, source);

    return (struct estimate_range){ pace->mean_s * exp(-u), pace->mean_s,
                                    pace->mean_s * exp(u) };
}

static struct estimate_range mean_of(const struct estimate_pace *pace,
                                     double left, enum estimate_source source,
                                     const struct estimate_range *otherwise)
{
    return pace->n > 0 ? estimate_mean(pace, left, source) : *otherwise;
}

const struct estimate_range estimate_default_build = { BUILD_LOW_S, BUILD_S,
                                                       BUILD_HIGH_S };
const struct estimate_range estimate_default_measure = { MEASURE_LOW_S,
                                                         MEASURE_S,
                                                         MEASURE_HIGH_S };

static struct estimate_range start_of(const struct estimate_times *times)
{
    double s = times->is_local ? START_LOCAL_S : START_REMOTE_S;
    struct estimate_range start = { s / START_GUESSED, s, s * START_GUESSED };

    if (times->start_s.likely > 0)
        start = (struct estimate_range){ times->start_s.low / START_LEARNT,
                                         times->start_s.likely,
                                         times->start_s.high * START_LEARNT };
    return start;
}

static int count_of(const int *counts, const struct estimate_machine *machine,
                    size_t i)
{
    return counts ? counts[i] : machine->count;
}

/* What a fleet can do in one scenario: many slots make it fast. */
struct power {
    double slots; /* each as fast as the mean */
    double gpus;
    double boot_s; /* of the slowest machine */
};

static struct power power_of(const struct estimate_problem *problem,
                             const int *counts, enum scenario scenario)
{
    static const enum scenario other[] = { HIGH, LIKELY, LOW };
    struct power power = { 0 };

    for (size_t i = 0; i < problem->n; i++) {
        const struct estimate_machine *m = &problem->machines[i];
        int count = count_of(counts, m, i);
        double mean = problem->times.build.mean_s;
        double speed = m->build_s > 0 && mean > 0 ? mean / m->build_s : 1;

        if (count == 0)
            continue;
        if (!m->rental.comes_late)
            power.slots += count * speed * pick(&m->slots, other[scenario]);
        power.gpus += count * pick(&m->gpus, other[scenario]);
        power.boot_s = fmax(power.boot_s, m->rental.boot_s);
    }
    return power;
}

/* Work over hands; the last piece is not divided. */
static double over(double work_s, double pieces, double hands)
{
    if (pieces <= 0)
        return 0;
    return hands > 0 ? work_s / fmin(hands, pieces) : (double)INFINITY;
}

struct times_of {
    double build_s, measure_s;   /* of a piece */
    double builds_s, measures_s; /* of all, where several work at once */
};

static double stretch_of(const struct estimate_times *times,
                         const struct times_of *of, enum scenario scenario)
{
    double most = fmax(of->builds_s, of->measures_s);
    double both = most > 0 ? 1 + fmin(of->builds_s, of->measures_s) / most : 1;

    double unlike = times->source == ESTIMATE_THIS_SPACE ? 0 : STRETCH_UNLIKE;

    if (times->stretch > 0)
        return times->stretch *
               exp((STRETCH_ERR + unlike * fabs(log(times->stretch))) *
                   ((int)scenario - (int)LIKELY));
    return scenario == LOW      ? 1
           : scenario == LIKELY ? STRETCH_LIKELY
                                : fmax(STRETCH_HIGH, both);
}

/* Builds and measurements, without start and confirmation. */
static double search_s(const struct estimate_times *times,
                       const struct times_of *of, bool is_serial,
                       enum scenario scenario)
{
    double most = is_serial ? of->builds_s + of->measures_s
                            : fmax(of->builds_s, of->measures_s);

    if (most <= 0)
        return 0;
    return (most + of->build_s + of->measure_s) *
           stretch_of(times, of, scenario);
}

double estimate_stretch(const struct estimate_ran *ran)
{
    double hands = fmin(ran->slots, ran->builds);
    double rounds = hands > 0 ? ran->builds / hands : 0;
    double all_s = fmax(over(ran->build_s, ran->builds, ran->slots),
                        over(ran->measure_s + OVERHEAD_S * ran->measurements,
                             ran->measurements, ran->gpus));
    double last_s =
        (ran->builds > 0 ? ran->build_s / ran->builds : 0) +
        (ran->measurements > 0 ? ran->measure_s / ran->measurements + OVERHEAD_S
                               : 0);
    double stretch = ran->wall_s / (all_s + last_s);

    if (!isfinite(stretch) || rounds <= 0)
        return 0;
    return pow(stretch, rounds / (rounds + ROUNDS));
}

double estimate_billed_s(double held_s, double min_s, double round_s)
{
    double billed_s = fmax(held_s, min_s);

    return round_s > 0 ? ceil(billed_s / round_s) * round_s : billed_s;
}

/* The dollars of a machine that is held for so long. */
static double bill_of(const struct estimate_machine *m, double held_s)
{
    return m->rate / 3600 *
           estimate_billed_s(held_s, m->rental.min_s, m->rental.round_s);
}

static void price(const struct estimate_problem *problem, const int *counts,
                  double builds_s, enum scenario scenario, struct estimate *out)
{
    double wall_s = pick(&out->wall_s, scenario), usd = 0;

    for (size_t i = 0; i < problem->n; i++) {
        const struct estimate_machine *m = &problem->machines[i];
        double held = m->rental.comes_late ? wall_s - builds_s : wall_s;

        if (m->has_rate)
            usd += count_of(counts, m, i) * bill_of(m, held);
    }
    put(&out->usd, scenario,
        out->priced == 0   ? (double)NAN
        : isfinite(wall_s) ? usd
                           : (double)INFINITY);
}

static bool comes_late(const struct estimate_problem *problem,
                       const int *counts)
{
    for (size_t i = 0; i < problem->n; i++)
        if (problem->machines[i].rental.comes_late &&
            count_of(counts, &problem->machines[i], i) > 0)
            return true;
    return false;
}

static void make(const struct estimate_problem *problem, const int *counts,
                 enum scenario scenario, struct estimate *out)
{
    const struct estimate_times *times = &problem->times;
    const struct estimate_work *work = &problem->work;
    double speed_up = times->speed_up > 0 ? times->speed_up : 1;
    struct estimate_range build = mean_of(
        &times->build, work->builds, times->source, &estimate_default_build);
    struct estimate_range measure =
        mean_of(&times->measure, work->measurements, times->source,
                &estimate_default_measure);
    struct estimate_range start = start_of(times);
    struct power power = power_of(problem, counts, scenario);
    bool late = comes_late(problem, counts);
    struct times_of of = { pick(&build, scenario) / speed_up,
                           pick(&measure, scenario) / speed_up + OVERHEAD_S, 0,
                           0 };

    of.builds_s = over(of.build_s * work->builds, work->builds, power.slots);
    of.measures_s =
        over(of.measure_s * work->measurements, work->measurements, power.gpus);
    put(&out->build_core_s, scenario, of.build_s * work->builds);
    put(&out->measure_gpu_s, scenario,
        (of.measure_s - OVERHEAD_S) * work->measurements);
    put(&out->wall_s, scenario,
        pick(&start, scenario) + power.boot_s * (late ? 2 : 1) +
            search_s(times, &of, late, scenario) +
            pick(&work->then_s, scenario));
    price(problem, counts, of.builds_s, scenario, out);
}

void estimate_make(const struct estimate_problem *problem, const int *counts,
                   struct estimate *out)
{
    *out = (struct estimate){ .machines = 0 };
    for (size_t i = 0; i < problem->n; i++) {
        const struct estimate_machine *m = &problem->machines[i];
        int count = count_of(counts, m, i);

        out->machines += (size_t)count;
        out->priced += m->has_rate ? (size_t)count : 0;
        out->usd_per_hour += m->has_rate ? count * m->rate : 0;
    }
    for (int scenario = LOW; scenario < SCENARIOS; scenario++)
        make(problem, counts, (enum scenario)scenario, out);
}
