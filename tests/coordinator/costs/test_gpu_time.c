/* test_gpu_time.c - the parts of a GPU's held time */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>

#include <cmocka.h>

#include "coordinator/costs/gpu_time.h"
#include "coordinator/stats/prng.h"

#define SPANS_MAX 40
#define TRIALS 2000

static void what_comes_first_has_the_time(void **state)
{
    const struct gpu_time_span spans[] = {
        { 0, 30, GPU_TIME_SETUP },      { 20, 80, GPU_TIME_WAITING },
        { 40, 50, GPU_TIME_MEASURING }, { 45, 60, GPU_TIME_MEASURING },
        { 55, 70, GPU_TIME_LOST },      { 90, 200, GPU_TIME_WAITING },
    };
    struct gpu_time_window window = gpu_time_window("search", 10, 100);
    int64_t ns[GPU_TIME_KINDS] = { 0 };

    (void)state;
    gpu_time_split(spans, 6, &window, ns);
    assert_int_equal(ns[GPU_TIME_SETUP], 20);
    assert_int_equal(ns[GPU_TIME_MEASURING], 20);
    assert_int_equal(ns[GPU_TIME_LOST], 10);
    assert_int_equal(ns[GPU_TIME_WAITING], 10 + 10 + 10);
    assert_int_equal(ns[GPU_TIME_IDLE], 10);
}

static void a_phase_says_what_the_rest_is(void **state)
{
    const struct gpu_time_span spans[] = { { 0, 30, GPU_TIME_MEASURING },
                                           { 20, 40, GPU_TIME_EXTERNAL } };
    static const struct {
        const char *phase;
        enum gpu_time_kind rest;
        int64_t external;
    } phases[] = { { "confirm", GPU_TIME_CONFIRMATION, 20 },
                   { "proof", GPU_TIME_PROOF, 0 },
                   { "bench", GPU_TIME_OTHER, 0 },
                   { "profile", GPU_TIME_OTHER, 0 },
                   { "builds", GPU_TIME_OTHER, 0 } };

    (void)state;
    for (size_t i = 0; i < sizeof(phases) / sizeof(phases[0]); i++) {
        struct gpu_time_window window =
            gpu_time_window(phases[i].phase, 0, 100);
        int64_t ns[GPU_TIME_KINDS] = { 0 };

        gpu_time_split(spans, 2, &window, ns);
        assert_int_equal(ns[GPU_TIME_EXTERNAL], phases[i].external);
        assert_int_equal(ns[phases[i].rest], 100 - phases[i].external);
    }
}

/* At each moment of a small window, look for the first kind. */
static void count_moments(const struct gpu_time_span *spans, size_t n,
                          const struct gpu_time_window *window,
                          int64_t ns[GPU_TIME_KINDS])
{
    for (int64_t t = window->begin; t < window->end; t++) {
        int first = (int)window->rest;

        for (int kind = GPU_TIME_KINDS - 1; kind >= 0; kind--)
            for (size_t i = 0; i < n; i++)
                if ((int)spans[i].kind == kind && spans[i].begin <= t &&
                    t < spans[i].end && window->kinds & 1U << kind)
                    first = kind;
        ns[first]++;
    }
}

/* Whatever overlaps, whatever lies outside or ends before it begins. */
static void the_parts_always_add_up_to_the_window(void **state)
{
    static const char *const phases[] = { "search", "confirm", "proof",
                                          "bench" };
    struct prng prng;

    (void)state;
    prng_init(&prng, 7);
    for (int trial = 0; trial < TRIALS; trial++) {
        struct gpu_time_span spans[SPANS_MAX];
        size_t n = (size_t)prng_below(&prng, SPANS_MAX);
        int64_t begin = (int64_t)prng_below(&prng, 50);
        struct gpu_time_window window =
            gpu_time_window(phases[prng_below(&prng, 4)], begin,
                            begin + (int64_t)prng_below(&prng, 60));
        int64_t ns[GPU_TIME_KINDS] = { 0 }, slow[GPU_TIME_KINDS] = { 0 };
        int64_t sum = 0;

        for (size_t i = 0; i < n; i++) {
            spans[i].begin = (int64_t)prng_below(&prng, 120) - 10;
            spans[i].end = spans[i].begin + (int64_t)prng_below(&prng, 40) - 5;
            spans[i].kind =
                (enum gpu_time_kind)prng_below(&prng, GPU_TIME_IDLE);
        }
        gpu_time_split(spans, n, &window, ns);
        count_moments(spans, n, &window, slow);
        for (int kind = 0; kind < GPU_TIME_KINDS; kind++)
            sum += ns[kind];
        assert_int_equal(sum, window.end - window.begin);
        assert_memory_equal(ns, slow, sizeof(ns));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_comes_first_has_the_time),
        cmocka_unit_test(a_phase_says_what_the_rest_is),
        cmocka_unit_test(the_parts_always_add_up_to_the_window),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
