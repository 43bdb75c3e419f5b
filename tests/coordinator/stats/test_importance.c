#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/model/domain.h"
#include "coordinator/stats/importance.h"
#include "coordinator/stats/prng.h"
#include "tests/coordinator/near.h"

#define N_MAX 1000
#define AXES_MAX 9

/* Points of a space that grow one by one. */
struct sample {
    size_t sizes[AXES_MAX], axes, n;
    uint16_t levels[N_MAX * AXES_MAX];
    double log_s[N_MAX];
};

static void add(struct sample *sample, const int *levels, double log_s)
{
    for (size_t a = 0; a < sample->axes; a++)
        sample->levels[sample->n * sample->axes + a] = (uint16_t)levels[a];
    sample->log_s[sample->n++] = log_s;
}

static struct importance learn(const struct sample *sample)
{
    const struct importance_points points = { sample->axes, sample->sizes,
                                              sample->n, sample->levels,
                                              sample->log_s };
    struct importance out;

    importance_of(&points, &out);
    return out;
}

static void a_full_product_without_pairs_is_divided_by_variance(void **state)
{
    struct sample sample = { .sizes = { 2, 3, 2 }, .axes = 3 };
    struct importance out;

    (void)state;
    for (int i = 0; i < 12; i++) {
        int at[] = { i / 6, i / 2 % 3, i % 2 };

        add(&sample, at, at[0] * 2.0 + at[1] * 1.0);
    }
    out = learn(&sample); /* variances: 1 of the first, 2/3 of the second */
    assert_true(out.adjusted);
    assert_near(out.axes[0], 0.6, 1e-9);
    assert_near(out.axes[1], 0.4, 1e-9);
    assert_near(out.axes[2], 0, 0);
    assert_int_equal(out.n_pairs, 0);
    assert_near(out.rest, 0, 1e-9);
    importance_fini(&out);
}

/* Fast only where the first is 1 and the second 2: of the variance 8/81 each
 * alone has 2/81 and the pair 4/81; less what noise could give. */
static void a_planted_pair_is_found(void **state)
{
    struct sample sample = { .sizes = { 3, 3, 3, 5 }, .axes = 4 };
    struct importance out;

    (void)state;
    for (int i = 0; i < 135; i++) {
        int at[] = { i / 45, i / 15 % 3, i / 5 % 3, i % 5 };

        add(&sample, at, at[0] == 1 && at[1] == 2 ? -1 : 0);
    }
    out = learn(&sample);
    assert_near(out.axes[0], 0.25, 0.01);
    assert_near(out.axes[1], 0.25, 0.01);
    assert_near(out.axes[2], 0, 0);
    assert_int_equal(out.n_pairs, 1);
    assert_int_equal(out.pairs[0].a, 0);
    assert_int_equal(out.pairs[0].b, 1);
    assert_near(out.pairs[0].share, 0.5, 0.01);
    importance_fini(&out);
}

/* A gate leaves mostly those values of the second tunable that go with the
 * first: its averages differ by a lot, although it has no effect. */
static void correlated_values_are_no_effect(void **state)
{
    struct sample sample = { .sizes = { 4, 4, 3 }, .axes = 3 };
    struct importance out;

    (void)state;
    for (int i = 0; i < 48; i++) {
        int at[] = { i / 12, i / 3 % 4, i % 3 };

        if (at[1] == at[0] || at[1] == at[0] + 1)
            add(&sample, at, at[0]);
    }
    out = learn(&sample);
    assert_true(out.adjusted);
    assert_near(out.axes[0], 1, 1e-6);
    assert_near(out.axes[1], 0, 1e-6);
    importance_fini(&out);
}

static void inseparable_tunables_share_equally(void **state)
{
    struct sample sample = { .sizes = { 4, 4, 3 }, .axes = 3 };
    struct importance out;

    (void)state;
    for (int i = 0; i < 12; i++)
        add(&sample, (int[]){ i / 3, 3 - i / 3, i % 3 }, i / 3);
    for (int i = 0; i < 12; i++) /* enough points */
        add(&sample, (int[]){ i / 3, 3 - i / 3, i % 3 }, i / 3);
    out = learn(&sample);
    assert_near(out.axes[0], 0.5, 1e-6);
    assert_near(out.axes[1], 0.5, 1e-6);
    importance_fini(&out);
}

static void pure_noise_has_no_share(void **state)
{
    struct sample sample = { .sizes = { 3, 3, 3, 3, 3, 3, 3, 3, 3 },
                             .axes = 9 };
    struct importance out;
    struct prng prng;
    double sum = 0;

    (void)state;
    prng_init(&prng, 1);
    for (int i = 0; i < 1000; i++) {
        int at[AXES_MAX];

        for (int a = 0; a < AXES_MAX; a++)
            at[a] = (int)prng_below(&prng, 3);
        add(&sample, at, prng_unit(&prng));
    }
    out = learn(&sample);
    for (int a = 0; a < AXES_MAX; a++)
        sum += out.axes[a];
    assert_true(sum < 0.02);
    assert_true(out.n_pairs == 0 || out.pairs[0].share < 0.02);
    assert_true(out.rest > 0.9);
    importance_fini(&out);
}

static void few_points_give_averages_and_no_pairs(void **state)
{
    struct sample sample = { .sizes = { 2, 8, 8 }, .axes = 3 };
    struct importance out;

    (void)state;
    for (int i = 0; i < 16; i++)
        add(&sample, (int[]){ i % 2, i / 2, (3 * i / 2) % 8 }, i % 2);
    out = learn(&sample);
    assert_false(out.adjusted);
    assert_near(out.axes[0], 1, 1e-9);
    assert_near(out.axes[1], 0, 0);
    assert_int_equal(out.n_pairs, 0);
    importance_fini(&out);
}

static void equal_times_and_no_times_have_no_shares(void **state)
{
    struct sample sample = { .sizes = { 2, 5 }, .axes = 2 };
    struct importance out = learn(&sample);

    (void)state;
    assert_true(isnan(out.sd));
    importance_fini(&out);
    for (int i = 0; i < 10; i++)
        add(&sample, (int[]){ i / 5, i % 5 }, -7);
    out = learn(&sample);
    assert_near(out.sd, 0, 1e-12);
    assert_near(out.axes[0], 0, 0);
    assert_near(out.rest, 1, 0);
    importance_fini(&out);
}

/* Recorded: without shared memory a convolution is slow, and how the cache
 * of constants is used matters only there. */
static void a_recorded_landscape(void **state)
{
    static const char file[] =
        FA_SOURCE_DIR "/../shared/data/convolution_A100.json.gz";
    struct landscape *land;
    struct importance out;
    struct err err;
    size_t sizes[16];
    uint16_t *levels;
    double *logs;
    struct importance_points points = { .sizes = sizes };

    (void)state;
    if (access(file, R_OK) < 0)
        skip();
    assert_int_equal(landscape_load(file, &land, &err), 0);
    points.axes = (size_t)land->tunables_n;
    points.levels = levels =
        mem_new((size_t)domain_size(land->domain) * points.axes, 2);
    points.log_s = logs = mem_new((size_t)domain_size(land->domain), 8);
    for (size_t a = 0; a < points.axes; a++)
        sizes[a] = (size_t)land->tunables[a].n;
    for (int i = 0; i < domain_size(land->domain); i++) {
        if (land->configs[i].outcome != OUTCOME_CORRECT)
            continue;
        for (size_t a = 0; a < points.axes; a++)
            levels[points.n * points.axes + a] =
                domain_point(land->domain, i)[a];
        logs[points.n++] = log(land->configs[i].time_s);
    }
    importance_of(&points, &out);
    assert_string_equal(land->tunables[6].name, "use_shmem");
    assert_near(out.axes[6], 0.349, 0.01);
    assert_string_equal(land->tunables[out.pairs[0].a].name, "read_only");
    assert_string_equal(land->tunables[out.pairs[0].b].name, "use_shmem");
    assert_true(out.rest < 0.1);
    importance_fini(&out);
    free(levels);
    free(logs);
    landscape_free(land);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_full_product_without_pairs_is_divided_by_variance),
        cmocka_unit_test(a_planted_pair_is_found),
        cmocka_unit_test(correlated_values_are_no_effect),
        cmocka_unit_test(inseparable_tunables_share_equally),
        cmocka_unit_test(pure_noise_has_no_share),
        cmocka_unit_test(few_points_give_averages_and_no_pairs),
        cmocka_unit_test(equal_times_and_no_times_have_no_shares),
        cmocka_unit_test(a_recorded_landscape),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
