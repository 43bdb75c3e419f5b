#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "coordinator/confirm/finalists.h"
#include "coordinator/stats/canary_calibration.h"
#include "tests/coordinator/near.h"
#include "tests/coordinator/noise.h"

#define COUNT(a) (sizeof(a) / sizeof((a)[0]))

static const struct canary_calibration_rules rules = CANARY_CALIBRATION_RULES;

static void a_line_goes_through_the_canaries(void **state)
{
    static const struct canary c[] = { { 0, 20, 1.21 },
                                       { 0, 0, 1.0 },
                                       { 0, 10, 1.1 } };
    struct canary_calibration *cal = canary_calibration_new(c, COUNT(c));

    (void)state;
    assert_near(canary_calibration_normalise(cal, 2.2, 0, 10), 2.2, 1e-12);
    assert_near(canary_calibration_normalise(cal, 2.0, 0, 0), 2.2, 1e-12);
    assert_near(canary_calibration_normalise(cal, 2 * sqrt(1.1), 0, 5), 2.2,
                1e-12);
    assert_near(canary_calibration_normalise(cal, 2.0, 0, -5), 2.2, 1e-12);
    assert_near(canary_calibration_normalise(cal, 2.42, 0, 99), 2.2, 1e-12);
    assert_true(isnan(canary_calibration_normalise(cal, 2.42, 1, 0)));
    canary_calibration_free(cal);
}

static void cards_come_to_one_level(void **state)
{
    static const struct canary c[] = { { 3, 0, 1.0 }, { 8, 0, 1.08 } };
    struct canary_calibration *cal = canary_calibration_new(c, COUNT(c));
    struct canary_calibration_gpu gpu;

    (void)state;
    assert_near(canary_calibration_normalise(cal, 5.0, 3, 7),
                canary_calibration_normalise(cal, 5.4, 8, 9), 1e-12);
    assert_int_equal(canary_calibration_gpus(cal), 2);
    canary_calibration_gpu(cal, 1, &rules, &gpu);
    assert_true(gpu.gpu == 8 && gpu.n_canaries == 1 && isnan(gpu.noise));
    assert_near(gpu.offset, 0.08, 1e-12);
    assert_true(!gpu.drifts);
    canary_calibration_free(cal);
}

static void one_odd_canary_bends_nothing_and_is_reported(void **state)
{
    static const struct canary c[] = { { 0, 0, 1 }, { 0, 1, 1.001 },
                                       { 0, 2, 1 }, { 0, 3, 1.3 },
                                       { 0, 4, 1 }, { 0, 5, 1.001 },
                                       { 0, 6, 1 } };
    struct canary_calibration *cal = canary_calibration_new(c, COUNT(c));
    struct canary_calibration_window windows[COUNT(c)];
    struct canary_calibration_gpu gpu;

    (void)state;
    assert_near(canary_calibration_normalise(cal, 1, 0, 3), 1, 0.002);
    assert_int_equal(canary_calibration_windows(cal, &rules, windows), 1);
    assert_true(windows[0].from_s == 2 && windows[0].to_s == 4);
    assert_near(windows[0].change, 0.3, 1e-9);
    canary_calibration_gpu(cal, 0, &rules, &gpu);
    assert_true(!gpu.drifts && gpu.slowest < 0.002);
    canary_calibration_free(cal);
}

/* A power cap: the line steps, one window is in doubt, the card drifts. */
static void a_step_is_followed(void **state)
{
    static const struct canary c[] = {
        { 0, 0, 1 },    { 0, 1, 1.001 }, { 0, 2, 1 },    { 0, 3, 1.17 },
        { 0, 4, 1.17 }, { 0, 5, 1.171 }, { 0, 6, 1.17 }, { 0, 7, 1.17 },
    };
    struct canary_calibration *cal = canary_calibration_new(c, COUNT(c));
    struct canary_calibration_window windows[COUNT(c)];
    struct canary_calibration_gpu gpu;

    (void)state;
    assert_near(canary_calibration_normalise(cal, 1, 0, 1.5),
                canary_calibration_normalise(cal, 1.17, 0, 4.5), 0.002);
    assert_int_equal(canary_calibration_windows(cal, &rules, windows), 1);
    assert_true(windows[0].from_s == 2 && windows[0].to_s == 3);
    canary_calibration_gpu(cal, 0, &rules, &gpu);
    assert_true(gpu.drifts);
    assert_near(gpu.trend, 0.17, 1e-9);
    canary_calibration_free(cal);
}

/* With 2 % of noise, changes of 3 % between canaries mean nothing. */
static void noise_is_not_a_jump(void **state)
{
    struct noise_stream s = noise_stream(4);
    struct canary c[60];
    struct canary_calibration_window windows[60];
    struct canary_calibration_gpu gpu;
    struct canary_calibration *cal;

    (void)state;
    for (int i = 0; i < 60; i++)
        c[i] = (struct canary){ 0, i, exp(0.02 * noise_normal(&s)) };
    cal = canary_calibration_new(c, 60);
    assert_int_equal(canary_calibration_windows(cal, &rules, windows), 0);
    canary_calibration_gpu(cal, 0, &rules, &gpu);
    assert_near(gpu.noise, 0.02, 0.006);
    canary_calibration_free(cal);
}

static void without_canaries_there_are_no_gpus(void **state)
{
    struct canary_calibration *cal = canary_calibration_new(NULL, 0);

    (void)state;
    assert_int_equal(canary_calibration_gpus(cal), 0);
    assert_true(isnan(canary_calibration_normalise(cal, 1, 0, 0)));
    assert_int_equal(canary_calibration_windows(cal, &rules, NULL), 0);
    canary_calibration_free(cal);
    canary_calibration_free(NULL);
}

/* A simulated sweep: N configurations on two cards at random.  The second card
 * is 8 % slower, both drift by +-3 %, and there is a canary every 50. */
enum {
    N = 400,
    EVERY = 50
};

struct successive_halving {
    int raw_slow, slow;        /* sweeps whose winner ran on the slower card */
    double regret, raw_regret; /* sums, of log time */
    int missed, raw_missed;    /* sweeps whose finalists lack the best */
};

static double card_level(int gpu, double at, const double *phases)
{
    return gpu * log(1.08) + 0.03 * sin(at / 80 + phases[gpu]);
}

static bool misses_the_best(const double *times)
{
    const struct finalist_rules by = { .alpha = 0.05, .between = 0.004 };
    struct screened screened[N];
    bool chosen[N];
    struct finalists out;

    for (int c = 0; c < N; c++)
        screened[c] = (struct screened){ times[c], 1, 0.005 };
    finalists_choose(screened, N, &by, 1, N, chosen, &out);
    return !chosen[0];
}

/* The k-th best is k * 0.1 % slower than the best, so the choice of card
 * matters. */
static void race_once(struct noise_stream *s,
                      struct successive_halving *halving)
{
    int order[N], gpu_of[N], best = 0, raw_best = 0;
    double raw[N], at[N], fair[N], now[2] = { 0, 0 };
    const double phases[2] = { 7 * noise_uniform(s), 7 * noise_uniform(s) };
    struct canary canaries[2 * (N / EVERY + 2)];
    size_t n_canaries = 0;
    struct canary_calibration *cal;

    for (int i = 0; i < N; i++)
        order[i] = i;
    noise_shuffle(s, order, N);
    for (int i = 0; i < N; i++) {
        int c = order[i], gpu = (int)noise_below(s, 2);

        if ((i + 1) % EVERY == 0 || i == 0 || i == N - 1)
            for (int g = 0; g < 2; g++)
                canaries[n_canaries++] =
                    (struct canary){ g, now[g],
                                     exp(-8 + card_level(g, now[g], phases) +
                                         0.003 * noise_normal(s)) };
        gpu_of[c] = gpu;
        at[c] = now[gpu]++;
        raw[c] = exp(-9 + 0.001 * c + card_level(gpu, at[c], phases) +
                     0.005 * noise_normal(s));
    }
    cal = canary_calibration_new(canaries, n_canaries);
    for (int c = 0; c < N; c++) {
        fair[c] = canary_calibration_normalise(cal, raw[c], gpu_of[c], at[c]);
        best = fair[c] < fair[best] ? c : best;
        raw_best = raw[c] < raw[raw_best] ? c : raw_best;
    }
    halving->slow += gpu_of[best] == 1;
    halving->raw_slow += gpu_of[raw_best] == 1;
    halving->regret += 0.001 * best;
    halving->raw_regret += 0.001 * raw_best;
    halving->missed += misses_the_best(fair);
    halving->raw_missed += misses_the_best(raw);
    canary_calibration_free(cal);
}

static void a_card_that_is_slower_wins_as_often(void **state)
{
    struct noise_stream s = noise_stream(9);
    struct successive_halving halving = { .slow = 0 };

    (void)state;
    for (int i = 0; i < 1000; i++)
        race_once(&s, &halving);
    print_message("winner on the slower card: %d of 1000, raw %d\n"
                  "mean regret: %.2f %%, raw %.2f %%\n"
                  "best not among the finalists: %d, raw %d\n",
                  halving.slow, halving.raw_slow, halving.regret / 10,
                  halving.raw_regret / 10, halving.missed, halving.raw_missed);
    assert_true(halving.slow > 450 && halving.slow < 550);
    assert_true(halving.raw_slow < 20);
    assert_true(halving.regret < 0.6 * halving.raw_regret);
    assert_true(halving.missed <= 50);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_line_goes_through_the_canaries),
        cmocka_unit_test(cards_come_to_one_level),
        cmocka_unit_test(one_odd_canary_bends_nothing_and_is_reported),
        cmocka_unit_test(a_step_is_followed),
        cmocka_unit_test(noise_is_not_a_jump),
        cmocka_unit_test(without_canaries_there_are_no_gpus),
        cmocka_unit_test(a_card_that_is_slower_wins_as_often),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
