/* kernels/flash_attention in the emulator, over all that its macros can say:
 * configurations that show every pair of values that the rules of limits.h
 * allow, at sizes that divide nothing, compared with the reference. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdlib.h>

#include <cmocka.h>

#include "coordinator/space/pairwise_cover.h"
#include "tests/kernels/fixture.h"
#include "tests/kernels/flash.h"
#include "worker/runner/device/device_cpu.h"

#define KERNEL "kernels/flash_attention/flash_attention.cu"
#define REFERENCE "kernels/flash_attention/reference.cu"

enum {
    VALUES_MAX = 4,
    SHAPES = 6,
    HEAD_DIMS = 3,
    BLOCKS = 7,
    LOOKED_AT = 60000
};

/* What the axes of the cover stand for; some are shares of others. */
static const struct axis {
    int values[VALUES_MAX];
    size_t n;
} axes[FLASH_MACROS] = {
    [BLOCK_M] = { { 32, 80, 96, 128 }, 4 },
    [BLOCK_N] = { { 32, 48, 64, 128 }, 4 },
    [BLOCK_K] = { { 1, 2 }, 2 },     /* parts of a row of K */
    [NUM_WARPS] = { { 16, 32 }, 2 }, /* rows a warp */
    [K_STAGES] = { { 1, 2, 3 }, 3 },
    [V_STAGES] = { { 1, 2, 3 }, 3 },
    [SLICE_N] = { { 1, 2, 4 }, 3 }, /* slices a step */
    [PIPELINE] = { { 0, 1, 2, 3 }, 4 },
    [SLICE_UNROLL] = { { 1, 16 }, 2 },
    [UNROLL] = { { 1, 2 }, 2 },
    [LOOKAHEAD] = { { 1, 4 }, 2 },
    [RESCALE] = { { 0, 1, 2, 3 }, 4 },
    [EXPONENTIAL] = { { 0, 1 }, 2 },
    [SUM_BY_MMA] = { { 0, 1 }, 2 },
    [LAYOUT] = { { 0, 1, 2 }, 3 },
    [COPY_BYTES] = { { 16, 4 }, 2 },
    [CP_ASYNC] = { { 0, 1 }, 2 },
    [Q_HOME] = { { 0, 1, 2, 3 }, 4 },
    [BLOCK_ORDER] = { { 0, 1, 2 }, 3 },
    [PERSISTENT] = { { 0, 1 }, 2 },
    [STAGED_OUTPUT] = { { 0, 1 }, 2 },
    [STREAMING] = { { 0, 1 }, 2 },
    [MIN_BLOCKS] = { { 1, 2 }, 2 },
    [HEAD_DIM] = { { 32, 64, 128 }, HEAD_DIMS },
};

/* Gain 16 makes scores that overflow without a maximum; at last there are more
 * steps than a ring holds tiles. */
static const struct flash_problem shapes[SHAPES] = {
    { .seq = 1, .causal = 1, .gain = 1 },
    { .seq = 17, .causal = 0, .gain = 1 },
    { .seq = 65, .causal = 1, .gain = 16 },
    { .seq = 97, .causal = 0, .gain = 16 },
    { .seq = 149, .causal = 1, .gain = 1 },
    { .seq = 257, .causal = 0, .gain = 1 },
};

static struct flash_problem problems[HEAD_DIMS][SHAPES];

static struct flash_config point(int64_t number)
{
    struct flash_config c = { { 0 } };
    int *v = c.values;

    for (int m = FLASH_MACROS; m-- > 0; number /= (int64_t)axes[m].n)
        v[m] = axes[m].values[number % (int64_t)axes[m].n];
    v[NUM_WARPS] = v[BLOCK_M] / v[NUM_WARPS];
    v[BLOCK_K] = v[HEAD_DIM] / v[BLOCK_K];
    v[SLICE_N] = v[BLOCK_N] / v[SLICE_N];
    return c;
}

/* A warp copies whole rows of Q at once, at most 32 pieces. */
static bool is_legal(const struct flash_config *c)
{
    return flash_is_legal(c) &&
           2 * c->values[HEAD_DIM] <= 32 * c->values[COPY_BYTES];
}

/* Of points in steps that visit all the space evenly; the caller frees. */
static size_t choose(int64_t **out)
{
    size_t sizes[FLASH_MACROS];
    int64_t size = 1, number = 0;
    struct pairwise_cover *cover;
    size_t n;

    for (int m = 0; m < FLASH_MACROS; m++) {
        sizes[m] = axes[m].n;
        size *= (int64_t)axes[m].n;
    }
    cover = pairwise_cover_new(sizes, FLASH_MACROS, 1);
    for (int i = 0; i < LOOKED_AT; i++) {
        const struct flash_config c = point(number);

        if (is_legal(&c))
            pairwise_cover_add(cover, number);
        number = (number + size / 1000 * 618 + 1) % size;
    }
    n = pairwise_cover_choose(cover, out);
    pairwise_cover_free(cover);
    return n;
}

static int make_problems(void **state)
{
    struct device_kernel *reference = fixture_load(
        "flash_reference", REFERENCE, "flash_attention_reference", "");

    (void)state;
    for (int d = 0; d < HEAD_DIMS; d++)
        for (int i = 0; i < SHAPES; i++) {
            problems[d][i] = shapes[i];
            problems[d][i].head_dim = axes[HEAD_DIM].values[d];
            flash_problem_init(&problems[d][i], reference);
        }
    device_unload(NULL, reference);
    return 0;
}

static int free_problems(void **state)
{
    (void)state;
    for (int d = 0; d < HEAD_DIMS; d++)
        for (int i = 0; i < SHAPES; i++)
            flash_problem_fini(&problems[d][i]);
    return 0;
}

static struct device_kernel *load(const char *name,
                                  const struct flash_config *c)
{
    char params[FLASH_TEXT_MAX];

    flash_params(c, params);
    return fixture_load(name, KERNEL, "flash_attention", params);
}

/* All shapes of its head_dim; a persistent grid of fewer blocks than items, and
 * of a number that divides nothing. */
static void check_all(const struct flash_config *c)
{
    struct device_kernel *kernel = load("flash_cover", c);
    int d = 0;

    while (axes[HEAD_DIM].values[d] != c->values[HEAD_DIM])
        d++;
    for (int i = 0; i < SHAPES; i++)
        flash_check(c, kernel, &problems[d][i], BLOCKS);
    device_unload(NULL, kernel);
}

static void configurations_that_show_every_pair_are_right(void **state)
{
    int64_t *numbers;
    const size_t n = choose(&numbers);

    (void)state;
    assert_in_range(n, 20, 40);
    for (size_t i = 0; i < n; i++) {
        const struct flash_config c = point(numbers[i]);

        check_all(&c);
    }
    free(numbers);
}

static void every_value_is_among_them(void **state)
{
    int64_t *numbers;
    const size_t n = choose(&numbers);

    (void)state;
    for (int m = 0; m < FLASH_MACROS; m++) {
        bool seen[VALUES_MAX] = { false };
        int64_t below = 1;

        for (int i = m + 1; i < FLASH_MACROS; i++)
            below *= (int64_t)axes[i].n;
        for (size_t i = 0; i < n; i++)
            seen[numbers[i] / below % (int64_t)axes[m].n] = true;
        for (size_t v = 0; v < axes[m].n; v++)
            assert_true(seen[v]);
    }
    free(numbers);
}

/* Scores that outgrow a base that is not updated: in the first columns of a
 * step and in later ones, in the square at the diagonal, next to it in the same
 * tile, and in another tile; with 16 and 32 rows a warp, and a last tile that
 * ends early. */
static void scores_that_outgrow_their_bases_are_right(void **state)
{
    static const int peaks[] = { 3, 20, 58, 77, 100, 127 };
    struct device_kernel *reference = fixture_load(
        "flash_reference", REFERENCE, "flash_attention_reference", "");

    (void)state;
    for (int warps = 2; warps <= 4; warps *= 2) {
        struct flash_config c = flash_plain;
        struct device_kernel *kernel;

        c.values[NUM_WARPS] = warps;
        c.values[RESCALE] = 3;
        c.values[PIPELINE] = 2;
        c.values[SLICE_N] = 16;
        kernel = load("flash_peak", &c);
        for (size_t i = 0; i < 2 * sizeof(peaks) / sizeof(*peaks); i++) {
            struct flash_problem p = { .seq = 149,
                                       .causal = i % 2,
                                       .head_dim = 64,
                                       .gain = 1,
                                       .peak = peaks[i / 2] };

            flash_problem_init(&p, reference);
            flash_check(&c, kernel, &p, BLOCKS);
            flash_problem_fini(&p);
        }
        device_unload(NULL, kernel);
    }
    device_unload(NULL, reference);
}

static double input(const struct device_buffer *buffer, int i)
{
    return element_load(device_address(buffer), ELEMENT_FP16, i);
}

/* The reference against the definition, implemented again here: row 11 of the
 * third head of Q, which uses the second head of K and V. */
static void reference_is_the_softmax_of_scaled_scores(void **state)
{
    const struct flash_problem *p = &problems[1][2]; /* causal */
    const int d_q = 2 * p->seq * p->head_dim, d_kv = p->seq * p->head_dim;
    const int row = 11, column = 5, width = p->head_dim;
    double sum = 0, weighted = 0, want;

    (void)state;
    for (int j = 0; j <= row; j++) {
        double score = 0;

        for (int d = 0; d < width; d++)
            score += input(p->q, d_q + row * width + d) *
                     input(p->k, d_kv + j * width + d);
        sum += exp(score / sqrt(width));
        weighted +=
            exp(score / sqrt(width)) * input(p->v, d_kv + j * width + column);
    }
    want = ((double *)device_address(p->want))[d_q + row * width + column];
    assert_true(fabs(want - weighted / sum) < 1e-12);
}

static double conflicts(int layout)
{
    struct flash_config c = flash_plain;
    struct device_kernel *kernel;

    c.values[LAYOUT] = layout;
    kernel = load("flash_layout", &c);
    flash_check(&c, kernel, &problems[1][SHAPES - 1], BLOCKS);
    device_unload(NULL, kernel);
    return device_cpu_bank_conflicts();
}

/* What the gate bank_conflicts says. */
static void plain_rows_have_bank_conflicts_and_the_others_none(void **state)
{
    (void)state;
    assert_true(conflicts(0) == 8);
    assert_true(conflicts(1) == 1);
    assert_true(conflicts(2) == 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reference_is_the_softmax_of_scaled_scores),
        cmocka_unit_test(every_value_is_among_them),
        cmocka_unit_test(configurations_that_show_every_pair_are_right),
        cmocka_unit_test(scores_that_outgrow_their_bases_are_right),
        cmocka_unit_test(plain_rows_have_bank_conflicts_and_the_others_none),
    };

    return cmocka_run_group_tests(tests, make_problems, free_problems);
}
