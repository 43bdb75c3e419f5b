/* Does the truth lie within the range?  Simulated sweeps over fleets of many
 * sizes, with builds and measurements of many distributions: what a tenth of
 * the work teaches, and what another sweep teaches. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <math.h>
#include <stdlib.h>

#include "coordinator/estimate/estimate.h"
#include "coordinator/estimate/estimate_course.h"
#include "coordinator/stats/prng.h"

#define SWEEPS 600
#define CONFIGS_MAX 2000
#define HANDS_MAX 64
#define START_S 0.1 /* the hosts are there */

struct scene {
    int n, slots, gpus;
    double build[CONFIGS_MAX], measure[CONFIGS_MAX];
};

static int at(double *free_at, int n)
{
    int first = 0;

    for (int i = 1; i < n; i++)
        if (free_at[i] < free_at[first])
            first = i;
    return first;
}

/* Each build goes to the first free slot, its measurement to the first free
 * GPU, in order of configurations; 3 ms for each message. */
static double run(const struct scene *scene, int from, int to)
{
    double slots[HANDS_MAX] = { 0 }, gpus[HANDS_MAX] = { 0 }, end = 0;

    for (int i = from; i < to; i++) {
        double *slot = &slots[at(slots, scene->slots)];
        double *gpu = &gpus[at(gpus, scene->gpus)];

        *slot += scene->build[i] + 0.003;
        *gpu = fmax(*gpu, *slot) + scene->measure[i] + 0.003;
        end = fmax(end, *gpu);
    }
    return end;
}

static double lognormal(struct prng *prng, double mean, double sigma)
{
    return mean * exp(sigma * prng_normal(prng) - sigma * sigma / 2);
}

/* Builds of 0.1 to 6 s, measurements of 5 to 200 ms.  Neighbours are alike:
 * each tenth of the space takes up to 15 % more or less than the others. */
static void draw(struct prng *prng, struct scene *out)
{
    double build_s = 0.1 * pow(60, prng_unit(prng));
    double measure_s = 0.005 * pow(40, prng_unit(prng));
    double sigma = 0.1 + 0.7 * prng_unit(prng), here[10];

    out->n = 200 + (int)prng_below(prng, CONFIGS_MAX - 200);
    out->slots = 1 + (int)prng_below(prng, HANDS_MAX);
    out->gpus = 1 + (int)prng_below(prng, 8);
    for (int k = 0; k < 10; k++)
        here[k] = 0.85 + 0.3 * prng_unit(prng);
    for (int i = 0; i < out->n; i++) {
        double tenth = here[i * 10 / out->n];

        out->build[i] = lognormal(prng, build_s * tenth, sigma);
        out->measure[i] = lognormal(prng, measure_s * tenth, sigma);
    }
}

static struct estimate_pace pace_of(const double *s, int n)
{
    double sum = 0, squares = 0;

    for (int i = 0; i < n; i++)
        sum += s[i];
    for (int i = 0; i < n; i++)
        squares += (s[i] - sum / n) * (s[i] - sum / n);
    return (struct estimate_pace){ n, sum / n, sqrt(squares / (n - 1)) };
}

/* What the first 'n' taught: their times, and how much longer than their work
 * they took. */
static struct estimate_times learn(const struct scene *scene, int n)
{
    struct estimate_times times = { .source = ESTIMATE_THIS_SPACE,
                                    .build = pace_of(scene->build, n),
                                    .measure = pace_of(scene->measure, n),
                                    .start_s = { START_S, START_S, START_S } };
    const struct estimate_ran ran = { .builds = n,
                                      .build_s = n * times.build.mean_s,
                                      .slots = scene->slots,
                                      .measurements = n,
                                      .measure_s = n * times.measure.mean_s,
                                      .gpus = scene->gpus,
                                      .wall_s = run(scene, 0, n) };

    times.stretch = estimate_stretch(&ran);
    return times;
}

static struct estimate guess(const struct scene *scene,
                             struct estimate_times times, int left)
{
    const struct estimate_machine machine = {
        .count = 1,
        .slots = { scene->slots, scene->slots, scene->slots },
        .gpus = { scene->gpus, scene->gpus, scene->gpus },
    };
    const struct estimate_problem problem = {
        .machines = &machine,
        .n = 1,
        .times = times,
        .work = { .builds = left, .measurements = left },
    };
    struct estimate out;

    estimate_make(&problem, NULL, &out);
    return out;
}

static bool holds(const struct estimate *estimate, double truth)
{
    return truth >= estimate->wall_s.low && truth <= estimate->wall_s.high;
}

static void a_tenth_of_the_work_teaches_the_rest(void **state)
{
    static struct scene scene;
    struct prng prng;
    int held = 0;

    (void)state;
    prng_init(&prng, 1);
    for (int i = 0; i < SWEEPS; i++) {
        struct estimate estimate;
        int n;

        draw(&prng, &scene);
        n = scene.n / 10;
        estimate = guess(&scene, learn(&scene, n), scene.n - n);
        held += holds(&estimate, START_S + run(&scene, n, scene.n));
        if (!(estimate.wall_s.high <= 2 * estimate.wall_s.low))
            fail_msg("%g to %g s is wider than twofold", estimate.wall_s.low,
                     estimate.wall_s.high);
    }
    print_message("%d of %d sweeps were within their range\n", held, SWEEPS);
    if (held < 0.9 * SWEEPS)
        fail_msg("only %d of %d sweeps were within their range", held, SWEEPS);
}

/* Other kernels, whose builds and measurements take 0.7 to 1.4 times as long.
 */
static void an_earlier_sweep_teaches_this_one(void **state)
{
    static struct scene scene;
    struct prng prng;
    int held = 0;

    (void)state;
    prng_init(&prng, 2);
    for (int i = 0; i < SWEEPS; i++) {
        struct estimate_times times;
        struct estimate estimate;

        draw(&prng, &scene);
        times = learn(&scene, scene.n / 2);
        times.source = ESTIMATE_EARLIER;
        for (int k = 0; k < scene.n; k++) {
            scene.build[k] *= 0.7 + 0.7 * ((i * 7 % 10) / 9.0);
            scene.measure[k] *= 0.7 + 0.7 * ((i * 3 % 10) / 9.0);
        }
        estimate = guess(&scene, times, scene.n);
        held += holds(&estimate, START_S + run(&scene, 0, scene.n));
    }
    print_message("%d of %d sweeps were within their range\n", held, SWEEPS);
    if (held < 0.9 * SWEEPS)
        fail_msg("only %d of %d sweeps were within their range", held, SWEEPS);
}

static void defaults_hold_what_is_usual(void **state)
{
    static struct scene scene;
    struct prng prng;
    int held = 0;

    (void)state;
    prng_init(&prng, 3);
    for (int i = 0; i < SWEEPS; i++) {
        struct estimate estimate;

        draw(&prng, &scene);
        estimate = guess(&scene,
                         (struct estimate_times){ .source = ESTIMATE_DEFAULTS },
                         scene.n);
        held += holds(&estimate, START_S + run(&scene, 0, scene.n));
    }
    print_message("%d of %d sweeps were within their range\n", held, SWEEPS);
    if (held < 0.9 * SWEEPS)
        fail_msg("only %d of %d sweeps were within their range", held, SWEEPS);
}

/* ---- while it runs ---- */

#define MOMENTS 20

/* When each build began and each measurement ended; returns the end of all. */
static double run_noting(const struct scene *scene, double *began,
                         double *ended)
{
    double slots[HANDS_MAX] = { 0 }, gpus[HANDS_MAX] = { 0 }, end = 0;

    for (int i = 0; i < scene->n; i++) {
        double *slot = &slots[at(slots, scene->slots)];
        double *gpu = &gpus[at(gpus, scene->gpus)];

        began[i] = *slot;
        *slot += scene->build[i] + 0.003;
        *gpu = fmax(*gpu, *slot) + scene->measure[i] + 0.003;
        ended[i] = *gpu;
        end = fmax(end, *gpu);
    }
    return end;
}

static int by_size(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* What is known at 's', when 'done' have ended. */
static struct estimate_moment moment_of(const struct scene *scene,
                                        const double *began, double s, int done)
{
    int begun = 0, most = scene->slots + scene->gpus;

    for (int i = 0; i < scene->n; i++)
        begun += began[i] <= s;
    return (struct estimate_moment){
        .s = s, .done = done, .out = fmin(begun - done, most), .all = scene->n
    };
}

/* Ranges of one tenth of the duration. */
struct held {
    int moments, held;
    double width; /* over how long the sweep took */
};

/* At moments of one sweep, from its first result on. */
static void look(const struct scene *scene, struct held tenths[10])
{
    static double began[CONFIGS_MAX], ended[CONFIGS_MAX];
    double end = run_noting(scene, began, ended);
    struct estimate_course course;
    int done = 0;

    qsort(ended, (size_t)scene->n, sizeof(*ended), by_size);
    estimate_course_begin(&course, 0, 0);
    for (int k = 1; k < MOMENTS; k++) {
        double s = end * k / MOMENTS;
        struct held *tenth = &tenths[k * 10 / MOMENTS];
        struct estimate_moment now;
        struct estimate_range left;

        while (done < scene->n && ended[done] <= s) {
            done++;
            estimate_course_add(&course, ended[done - 1], done);
        }
        now = moment_of(scene, began, s, done);
        left = estimate_course_left(&course, &now);
        if (isnan(left.likely))
            continue;
        tenth->moments++;
        tenth->held += end - s >= left.low && end - s <= left.high;
        tenth->width += (left.high - left.low) / end;
    }
}

static void what_is_left_lies_within_a_range_that_narrows(void **state)
{
    static struct scene scene;
    struct held tenths[10] = { { 0 } };
    struct prng prng;
    int held = 0, moments = 0;

    (void)state;
    prng_init(&prng, 4);
    for (int i = 0; i < SWEEPS; i++) {
        draw(&prng, &scene);
        look(&scene, tenths);
    }
    for (int k = 0; k < 10; k++) {
        tenths[k].width /= tenths[k].moments;
        print_message("tenth %d: %d of %d moments, ranges of %.0f %%\n", k + 1,
                      tenths[k].held, tenths[k].moments, 100 * tenths[k].width);
        assert_true(k == 0 || tenths[k].width < tenths[k - 1].width);
        held += tenths[k].held;
        moments += tenths[k].moments;
    }
    print_message("%d of %d moments were within their range\n", held, moments);
    if (held < 0.9 * moments)
        fail_msg("only %d of %d moments were within it", held, moments);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_tenth_of_the_work_teaches_the_rest),
        cmocka_unit_test(an_earlier_sweep_teaches_this_one),
        cmocka_unit_test(defaults_hold_what_is_usual),
        cmocka_unit_test(what_is_left_lies_within_a_range_that_narrows),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
