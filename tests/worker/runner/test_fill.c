/* test_fill.c - the generator's statistics, at a fixed seed
 *
 * Limits are five standard errors of the statistic at N values: a sound
 * generator fails with 1 seed in 10^6, and this seed passes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "worker/runner/wire/fill.h"

enum {
    N = 200000
};

static double value(enum fill_kind kind, unsigned argument, int64_t i)
{
    const struct fill fill = { .kind = kind, .scale = 1 };

    return fill_value(&fill, fill_key(1, argument), i);
}

static void normal_values_have_mean_0_and_sd_1(void **state)
{
    double sum = 0, squares = 0, fourth = 0;

    (void)state;
    for (int i = 0; i < N; i++) {
        double x = value(FILL_NORMAL, 0, i);

        sum += x;
        squares += x * x;
        fourth += x * x * x * x;
    }
    assert_true(fabs(sum / N) < 5 * sqrt(1.0 / N));
    assert_true(fabs(squares / N - 1) < 5 * sqrt(2.0 / N));
    assert_true(fabs(fourth / N - 3) < 5 * sqrt(96.0 / N));
}

static void uniform_values_fill_the_unit_interval(void **state)
{
    int bins[100] = { 0 };
    double chi = 0;

    (void)state;
    for (int i = 0; i < N; i++) {
        double x = value(FILL_UNIFORM, 0, i);

        assert_true(x >= 0 && x < 1);
        bins[(int)(x * 100)]++;
    }
    for (int i = 0; i < 100; i++)
        chi += (bins[i] - N / 100.0) * (bins[i] - N / 100.0) / (N / 100.0);
    assert_true(fabs(chi - 99) < 5 * sqrt(2 * 99.0));
}

/* Of fp16 and bf16 some would round to the scale.  No other value changes. */
static void uniform_values_stay_below_the_scale_in_their_type(void **state)
{
    static const enum element_type types[] = { ELEMENT_FP16, ELEMENT_BF16,
                                               ELEMENT_FP32 };
    static const double scales[] = { 1, -2, 0.3 };
    int changed[3] = { 0 };

    (void)state;
    for (int n = 0; n < 9; n++) {
        const double scale = scales[n / 3];
        const struct fill fill = { .kind = FILL_UNIFORM,
                                   .scale = scale,
                                   .type = types[n % 3] };

        for (int i = 0; i < N; i++) {
            const double exact =
                scale * ((double)(fill_bits(1, i) >> 11) * 0x1p-53);
            const double x = element_round(fill.type, fill_value(&fill, 1, i));

            assert_true(fabs(x) < fabs(scale));
            if (x == element_round(fill.type, exact))
                continue;
            assert_true(fabs(element_round(fill.type, exact)) >= fabs(scale));
            assert_true(fabs(x) > fabs(scale) * (1 - 0x1p-7));
            changed[n % 3]++;
        }
    }
    assert_true(changed[0] > 0 && changed[1] > 0);
}

/* Correlation of two sequences of N normal values. */
static double correlation(unsigned a, unsigned b, int lag)
{
    double sum = 0;

    for (int i = 0; i < N; i++)
        sum += value(FILL_NORMAL, a, i) * value(FILL_NORMAL, b, i + lag);
    return sum / N;
}

static void streams_are_independent(void **state)
{
    (void)state;
    assert_true(fabs(correlation(0, 1, 0)) < 5 * sqrt(1.0 / N));
    assert_true(fabs(correlation(1, 2, 0)) < 5 * sqrt(1.0 / N));
    assert_true(fabs(correlation(0, 1, 1)) < 5 * sqrt(1.0 / N));
}

static void neighbours_are_independent(void **state)
{
    (void)state;
    assert_true(fabs(correlation(0, 0, 1)) < 5 * sqrt(1.0 / N));
    assert_true(fabs(correlation(0, 0, 64)) < 5 * sqrt(1.0 / N));
}

static void seeds_give_different_values(void **state)
{
    int same = 0;

    (void)state;
    for (int i = 0; i < N; i++)
        same += fill_bits(fill_key(1, 0), i) == fill_bits(fill_key(2, 0), i);
    assert_int_equal(same, 0);
}

static double scaled(enum fill_kind kind, double scale)
{
    const struct fill fill = { .kind = kind, .scale = scale };

    return fill_value(&fill, 1, 7);
}

static void plain_kinds_are_what_they_say(void **state)
{
    (void)state;
    assert_true(scaled(FILL_ZEROS, 3.0) == 0);
    assert_true(scaled(FILL_ONES, 3.0) == 3.0);
    assert_true(scaled(FILL_IOTA, 0.5) == 3.5);
    assert_true(scaled(FILL_UNIFORM, 0.0) == 0);
}

/* The two functions of Box-Muller, against those of libm. */
static void logarithm_and_cosine_are_right_to_12_digits(void **state)
{
    const uint32_t end = 1u << 24;

    (void)state;
    for (uint32_t n = 1; n <= end; n += n < 4096 || end - n < 4096 ? 1 : 997) {
        double log_n = -2 * log(n * 0x1p-24);
        double cos_n = cos(6.28318530717958648 * (n - 1) * 0x1p-24);

        assert_true(fabs(fill_log(n) - log_n) <= 1e-12 * (1 + log_n));
        assert_true(fabs(fill_cos(n - 1) - cos_n) <= 1e-12);
    }
    assert_true(fill_log(end) == 0); /* its root is taken */
}

/* The same bits from every compiler. */
static void normal_values_are_these(void **state)
{
    (void)state;
    assert_true(value(FILL_NORMAL, 0, 0) == -0x1.e2959b04d9a1p-2);
    assert_true(value(FILL_NORMAL, 0, 1) == 0x1.8df1ae0575f5cp-1);
    assert_true(value(FILL_NORMAL, 3, 123456789) == -0x1.b4f6abd26416p-3);
}

static void a_ramp_grows_along_the_rows_of_each_matrix(void **state)
{
    const struct fill ramp = {
        .kind = FILL_RAMP, .scale = 2, .rows = 3, .columns = 2
    };
    const double factor[] = { 1.0 / 3, 1.0 / 3, 2.0 / 3, 2.0 / 3, 1, 1 };

    (void)state;
    for (int i = 0; i < 12; i++)
        assert_true(fill_value(&ramp, fill_key(1, 0), i) ==
                    2 * (value(FILL_NORMAL, 0, i) * factor[i % 6]));
}

/* The bits are fixed: results of earlier sweeps count as long as they are. */
static void integers_are_those_of_their_range(void **state)
{
    const struct fill range = { .kind = FILL_RANGE, .low = -3, .high = 4 };
    int seen[8] = { 0 };

    (void)state;
    for (int64_t i = 0; i < 8000; i++) {
        const double value = fill_value(&range, fill_key(1, 0), i);

        assert_true(value >= -3 && value <= 4 && value == floor(value));
        seen[(int)value + 3]++;
    }
    for (int i = 0; i < 8; i++)
        assert_in_range(seen[i], 850, 1150);
}

static void one_value_is_a_range_too(void **state)
{
    const struct fill range = { .kind = FILL_RANGE,
                                .low = 0x20000000000000,
                                .high = 0x20000000000000 };

    (void)state;
    assert_true(fill_value(&range, 7, 5) == 0x1p53);
}

/* Row pointers of 1,000 rows with 5,000 elements. */
static void sorted_integers_are_row_pointers(void **state)
{
    const struct fill rows = { .kind = FILL_SORTED,
                               .high = 5000,
                               .count = 1001 };
    double before = 0, longest = 0;
    int empty = 0;

    (void)state;
    for (int64_t i = 0; i < 1001; i++) {
        const double value = fill_value(&rows, fill_key(1, 0), i);

        assert_true(value >= before && value == floor(value));
        empty += i > 0 && value == before;
        if (value - before > longest)
            longest = value - before;
        before = value;
        assert_true(i > 0 || value == 0);
    }
    assert_true(before == 5000);
    assert_in_range(empty, 30, 150);
    assert_in_range((int)longest, 9, 11);
}

static void short_lists_are_sorted_too(void **state)
{
    const struct fill one = { .kind = FILL_SORTED, .high = 9, .count = 1 };
    const struct fill two = { .kind = FILL_SORTED, .high = 9, .count = 2 };
    const struct fill three = { .kind = FILL_SORTED, .high = 9, .count = 3 };

    (void)state;
    assert_true(fill_value(&one, 1, 0) == 0);
    assert_true(fill_value(&two, 1, 0) == 0 && fill_value(&two, 1, 1) == 9);
    assert_true(fill_value(&three, 1, 1) <= 9 && fill_value(&three, 1, 2) == 9);
}

static void a_permutation_has_each_number_once(void **state)
{
    static const int64_t counts[] = { 1, 2, 3, 64, 1001 };

    (void)state;
    for (size_t c = 0; c < 5; c++) {
        const struct fill fill = { .kind = FILL_PERMUTATION,
                                   .count = counts[c] };
        bool seen[1001] = { false };
        int moved = 0;

        for (int64_t i = 0; i < counts[c]; i++) {
            const int64_t at = (int64_t)fill_value(&fill, fill_key(2, 1), i);

            assert_in_range(at, 0, counts[c] - 1);
            assert_false(seen[at]);
            seen[at] = true;
            moved += at != i;
        }
        assert_true(counts[c] < 64 || moved > counts[c] / 2);
    }
}

/* Elements of the edges. */
enum {
    EDGED = 6400
};

static struct fill with(enum fill_kind kind, unsigned edges)
{
    return (struct fill){
        .kind = kind, .scale = 0.5, .edges = edges, .type = ELEMENT_FP16
    };
}

static void zeros_have_both_signs_and_come_in_runs(void **state)
{
    const struct fill fill = with(FILL_NORMAL, 1u << EDGE_ZEROS);
    const struct fill positive = with(FILL_UNIFORM, 1u << EDGE_ZEROS);
    int zeros = 0, negative = 0, run = 0, longest = 0;

    (void)state;
    for (int64_t i = 0; i < EDGED; i++) {
        const double value = fill_value(&fill, 5, i);

        run = value == 0 ? run + 1 : 0;
        longest = run > longest ? run : longest;
        zeros += value == 0;
        negative += value == 0 && signbit(value);
        assert_false(signbit(fill_value(&positive, 5, i)));
    }
    assert_in_range(zeros, EDGED / 2, EDGED * 3 / 4);
    assert_in_range(negative, EDGED / 5, EDGED / 2);
    assert_true(longest >= EDGE_RUN);
}

static void ties_are_few_values(void **state)
{
    const struct fill fill = with(FILL_NORMAL, 1u << EDGE_TIES);
    const struct fill uniform = with(FILL_UNIFORM, 1u << EDGE_TIES);
    int quarters = 0;

    (void)state;
    for (int64_t i = 0; i < EDGED; i++) {
        const double value = fill_value(&fill, 5, i);
        const double within = fill_value(&uniform, 5, i);

        assert_true(value * 4 == rint(value * 4) && fabs(value) < 4);
        assert_true(within * 8 == rint(within * 8) && within < 0.5);
        quarters += value == 0.25;
    }
    assert_in_range(quarters, EDGED / 6, EDGED / 3);
}

static void large_and_tiny_values_keep_their_order(void **state)
{
    const struct fill plain = with(FILL_NORMAL, 0);
    const struct fill large = with(FILL_NORMAL, 1u << EDGE_LARGE);
    const struct fill tiny = with(FILL_NORMAL, 1u << EDGE_TINY);
    int subnormal = 0;

    (void)state;
    for (int64_t i = 0; i < EDGED; i++) {
        const double value = fill_value(&plain, 5, i);
        const double small = fill_value(&tiny, 5, i);

        assert_true(fill_value(&large, 5, i) == 16 * value);
        assert_true(small == value / 64 || fabs(small) < 0x1p-14);
        subnormal += small != value / 64;
        assert_true(small == value / 64 ||
                    small == element_round(ELEMENT_FP16, small));
    }
    assert_in_range(subnormal, EDGED / 12, EDGED / 6);
}

static void extreme_values_stay_in_the_range_of_their_type(void **state)
{
    const struct fill plain = with(FILL_NORMAL, 0);
    const struct fill uniform = with(FILL_UNIFORM, 1u << EDGE_EXTREME);
    struct fill fill = with(FILL_NORMAL, 1u << EDGE_EXTREME);
    double most = 0;

    (void)state;
    fill.scale = 1;
    for (int64_t i = 0; i < EDGED; i++) {
        const double value = fill_value(&fill, 5, i);

        assert_true(value == 8192 * fill_value(&plain, 5, i));
        assert_true(isfinite(element_round(ELEMENT_FP16, value)));
        assert_true(fabs(fill_value(&uniform, 5, i)) <= 1);
        most = fmax(most, value);
    }
    assert_true(most > 10000);
    fill.type = ELEMENT_FP32;
    assert_true(fill_value(&fill, 5, 0) == 0x1p25 * fill_value(&plain, 5, 0));
    fill.type = ELEMENT_FP64; /* so that a product of four is in range */
    assert_true(fill_value(&fill, 5, 0) == 0x1p241 * fill_value(&plain, 5, 0));
    fill.moderate = true;
    assert_true(fill_value(&fill, 5, 0) == 0x1p25 * fill_value(&plain, 5, 0));
}

static void uniform_values_are_near_an_end_as_well(void **state)
{
    const struct fill large = with(FILL_UNIFORM, 1u << EDGE_LARGE);
    double most = 0;

    (void)state;
    for (int64_t i = 0; i < EDGED; i++) {
        const double value = fill_value(&large, 5, i);

        assert_true(value >= 0.5 * 63 / 64);
        most = fmax(most, element_round(ELEMENT_FP16, value));
    }
    assert_true(most == 0.5 - 0x1p-12); /* the number of fp16 before 0.5 */
}

static void negative_values_are_those_without_their_sign(void **state)
{
    const struct fill plain = with(FILL_NORMAL, 0);
    const struct fill fill = with(FILL_NORMAL, 1u << EDGE_NEGATIVE);
    const struct fill uniform = with(FILL_UNIFORM, 1u << EDGE_NEGATIVE);

    (void)state;
    for (int64_t i = 0; i < EDGED; i++) {
        assert_true(fill_value(&fill, 5, i) == -fabs(fill_value(&plain, 5, i)));
        assert_true(fill_value(&uniform, 5, i) >= 0);
    }
}

static double mean_of(const struct fill *fill, double *deviation)
{
    double sum = 0, squares = 0;

    for (int64_t i = 0; i < EDGED; i++)
        sum += element_round(fill->type, fill_value(fill, 5, i));
    for (int64_t i = 0; i < EDGED; i++) {
        const double off =
            element_round(fill->type, fill_value(fill, 5, i)) - sum / EDGED;

        squares += off * off;
    }
    *deviation = sqrt(squares / EDGED);
    return sum / EDGED;
}

static void values_with_an_offset_are_far_from_zero(void **state)
{
    static const struct {
        enum element_type type;
        enum fill_kind kind;
        double mean, deviation; /* of a scale of 1 */
    } rows[] = {
        { ELEMENT_FP32, FILL_NORMAL, -128, 1.0 / 32 },
        { ELEMENT_FP64, FILL_NORMAL, -128, 1.0 / 32 },
        { ELEMENT_FP16, FILL_NORMAL, -2, 1.0 / 16 },
        { ELEMENT_BF16, FILL_NORMAL, -2, 1.0 / 8 },
        { ELEMENT_FP32, FILL_UNIFORM, 0.5, 0.2887 / 64 },
        { ELEMENT_FP16, FILL_UNIFORM, 0.5, 0.2887 / 8 },
    };

    (void)state;
    for (size_t r = 0; r < sizeof(rows) / sizeof(*rows); r++) {
        struct fill fill = with(rows[r].kind, 1u << EDGE_OFFSET);
        double deviation;

        fill.type = rows[r].type;
        assert_true(fabs(mean_of(&fill, &deviation) / fill.scale -
                         rows[r].mean) < 0.01);
        assert_true(fabs(deviation / fill.scale / rows[r].deviation - 1) <
                    0.05);
    }
}

/* Up or down, and by enough for fp16. */
static void a_nudge_changes_each_value_a_little(void **state)
{
    const struct fill plain = with(FILL_NORMAL, 1u << EDGE_EXTREME);
    struct fill nudged = plain;
    int up = 0;

    (void)state;
    nudged.nudged = true;
    for (int64_t i = 0; i < EDGED; i++) {
        const double value = fill_value(&plain, 5, i);
        const double other = fill_value(&nudged, 5, i);

        assert_true(fabs(other - value) <= 0x1.0001p-10 * fabs(value));
        assert_true(element_round(ELEMENT_FP16, value) !=
                    element_round(ELEMENT_FP16, other));
        up += fabs(other) > fabs(value);
    }
    assert_in_range(up, EDGED * 2 / 5, EDGED * 3 / 5);
}

static void several_edges_leave_half_as_it_is(void **state)
{
    const unsigned edges = 1u << EDGE_ZEROS | 1u << EDGE_TIES | 1u << EDGE_TINY;
    const struct fill plain = with(FILL_NORMAL, 0);
    const struct fill fill = with(FILL_NORMAL, edges);
    int zeros = 0, subnormal = 0, same = 0;

    (void)state;
    for (int64_t i = 0; i < EDGED; i++) {
        const double value = fill_value(&fill, 5, i);

        zeros += value == 0;
        subnormal += value != 0 && fabs(value) < 0x1p-14;
        same += value == fill_value(&plain, 5, i);
    }
    assert_in_range(zeros, EDGED / 8, EDGED / 4); /* some are ties as well */
    assert_in_range(subnormal, EDGED / 12, EDGED / 6);
    assert_in_range(same, EDGED / 2, EDGED * 3 / 4);
}

/* How many of the first values are 'value', all within the range. */
static int count_of(enum edge edge, int64_t low, int64_t high, int64_t value)
{
    const struct fill fill = { .kind = FILL_RANGE,
                               .edges = 1u << edge,
                               .type = ELEMENT_INT32,
                               .low = low,
                               .high = high };
    int found = 0;

    for (int64_t i = 0; i < EDGED; i++) {
        const double got = fill_value(&fill, 5, i);

        assert_true(got >= (double)low && got <= (double)high);
        found += got == (double)value;
    }
    return found;
}

static void integers_have_zeros_ties_and_the_ends_of_their_range(void **state)
{
    const int64_t most = INT64_C(1) << 40;
    const struct fill ties = { .kind = FILL_RANGE,
                               .edges = 1u << EDGE_TIES,
                               .high = most };

    (void)state;
    assert_in_range(count_of(EDGE_ZEROS, -most, most, 0), EDGED / 2,
                    EDGED * 3 / 4);
    assert_in_range(count_of(EDGE_ZEROS, 7, most, 7), EDGED / 2, EDGED);
    assert_in_range(count_of(EDGE_ZEROS, -most, -7, -7), EDGED / 2, EDGED);
    assert_in_range(count_of(EDGE_TIES, 0, most, fill_range(5, -1, 0, most)),
                    EDGED / 6, EDGED / 3);
    assert_true(fill_value(&ties, 5, 0) != fill_value(&ties, 6, 0));
    assert_in_range(count_of(EDGE_LARGE, -5, most, -5), EDGED / 3, EDGED);
    assert_in_range(count_of(EDGE_LARGE, -5, most, most), EDGED / 3, EDGED);
    for (int at = -1; at < 3; at++) /* -1, 0 and the two at the other end */
        assert_in_range(
            count_of(EDGE_TINY, -1, most, at < 1 ? at : most - (2 - at)),
            EDGED / 6, EDGED / 3);
    assert_int_equal(count_of(EDGE_TINY, 9, 9, 9), EDGED);
    assert_int_equal(count_of(EDGE_EXTREME, 0, most, most), 0);
    assert_in_range(count_of(EDGE_NEGATIVE, -5, 6, -5), EDGED / 8, EDGED / 4);
    for (int64_t at = 1; at < 7; at++)
        assert_int_equal(count_of(EDGE_NEGATIVE, -5, 6, at), 0);
    assert_int_equal(count_of(EDGE_NEGATIVE, INT64_MIN / 2, INT64_MAX / 2, 1),
                     0);
}

/* Rows are empty, of twice the mean, or, of large ones, very long. */
static void sorted_integers_with_edges_are_row_pointers_too(void **state)
{
    static const int64_t counts[] = { 1, 2, 3, 50, EDGED };
    const int64_t high = 10 * EDGED;

    (void)state;
    for (int n = 0; n < 5 * EDGES; n++) {
        struct fill fill = { .kind = FILL_SORTED,
                             .edges = 1u << n % EDGES,
                             .type = ELEMENT_INT32,
                             .high = high,
                             .count = counts[n / EDGES] };
        int64_t before = 0, empty = 0, longest = 0;

        for (int64_t i = 0; i < fill.count; i++) {
            const int64_t value = (int64_t)fill_value(&fill, 5, i);

            assert_true(value >= before && value <= high);
            assert_true(i != 0 || value == 0);
            assert_true(i == 0 || i < fill.count - 1 || value == high);
            empty += i > 0 && value == before;
            longest = value - before > longest ? value - before : longest;
            before = value;
        }
        if (fill.count == EDGED && n % EDGES == EDGE_LARGE)
            assert_true(empty > EDGED * 9 / 10 && longest > 600);
        if (fill.count == EDGED && n % EDGES == EDGE_TIES)
            assert_in_range(empty, EDGED / 5, EDGED / 3);
    }
}

static void permutations_with_edges_move_little(void **state)
{
    static const int64_t counts[] = { 1, 2, 7, 1000 };
    const unsigned several = 1u << EDGE_ZEROS | 1u << EDGE_TIES;
    int drawn = 0;

    (void)state;
    for (int n = 0; n < 4 * EDGES; n++) {
        const int64_t count = counts[n / EDGES];
        const struct fill fill = { .kind = FILL_PERMUTATION,
                                   .edges = 1u << n % EDGES,
                                   .type = ELEMENT_INT32,
                                   .count = count };
        bool seen[1000] = { false };

        for (int64_t i = 0; i < count; i++) {
            const int64_t at = (int64_t)fill_value(&fill, 5, i);

            assert_in_range(at, 0, count - 1);
            assert_false(seen[at]);
            seen[at] = true;
            assert_true(n % EDGES != EDGE_ZEROS || at == i);
            assert_true(n % EDGES != EDGE_TIES || at / 2 == i / 2);
            assert_true(n % EDGES != EDGE_LARGE || at == count - 1 - i);
            assert_true(n % EDGES != EDGE_TINY || at == (i + 1) % count);
        }
    }
    for (uint64_t key = 0; key < 800; key++)
        drawn += fill_permutation_edge(several, key, 100, 1000) == 100;
    assert_in_range(drawn, 60, 140); /* the identity, of one in eight */
}

static void infinities_are_few(void **state)
{
    const struct fill fill = with(FILL_RAMP, 1u << EDGE_INFINITIES);
    struct fill ramp = fill;
    int found = 0, negative = 0;

    (void)state;
    ramp.rows = ramp.columns = 80;
    for (int64_t i = 0; i < EDGED; i++) {
        const double value = fill_value(&ramp, 5, i);

        found += isinf(value) != 0;
        negative += isinf(value) && value < 0;
    }
    assert_in_range(found, EDGED / 128, EDGED / 32);
    assert_in_range(negative, 1, found - 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(zeros_have_both_signs_and_come_in_runs),
        cmocka_unit_test(ties_are_few_values),
        cmocka_unit_test(large_and_tiny_values_keep_their_order),
        cmocka_unit_test(extreme_values_stay_in_the_range_of_their_type),
        cmocka_unit_test(uniform_values_are_near_an_end_as_well),
        cmocka_unit_test(negative_values_are_those_without_their_sign),
        cmocka_unit_test(values_with_an_offset_are_far_from_zero),
        cmocka_unit_test(permutations_with_edges_move_little),
        cmocka_unit_test(a_nudge_changes_each_value_a_little),
        cmocka_unit_test(several_edges_leave_half_as_it_is),
        cmocka_unit_test(integers_have_zeros_ties_and_the_ends_of_their_range),
        cmocka_unit_test(sorted_integers_with_edges_are_row_pointers_too),
        cmocka_unit_test(infinities_are_few),
        cmocka_unit_test(integers_are_those_of_their_range),
        cmocka_unit_test(one_value_is_a_range_too),
        cmocka_unit_test(sorted_integers_are_row_pointers),
        cmocka_unit_test(short_lists_are_sorted_too),
        cmocka_unit_test(a_permutation_has_each_number_once),
        cmocka_unit_test(normal_values_have_mean_0_and_sd_1),
        cmocka_unit_test(uniform_values_fill_the_unit_interval),
        cmocka_unit_test(uniform_values_stay_below_the_scale_in_their_type),
        cmocka_unit_test(streams_are_independent),
        cmocka_unit_test(neighbours_are_independent),
        cmocka_unit_test(seeds_give_different_values),
        cmocka_unit_test(plain_kinds_are_what_they_say),
        cmocka_unit_test(logarithm_and_cosine_are_right_to_12_digits),
        cmocka_unit_test(normal_values_are_these),
        cmocka_unit_test(a_ramp_grows_along_the_rows_of_each_matrix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
