#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "common/msg_work.h"
#include "coordinator/plan/plan.h"
#include "coordinator/plan/plan_msg.h"
#include "coordinator/plan/plan_launch.h"
#include "coordinator/plan/plan_weak.h"
#include "coordinator/space/space.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/spec/spec.h"

#define FOLDER FA_SOURCE_DIR "/kernels/vector_add"

struct made {
    struct spec *spec;
    struct space *space;
    struct plan *plan;
};

/* The text of vector_add's sweep file with 'from' replaced by 'to'. */
static char *edited(const char *from, const char *to)
{
    struct spec *spec;
    char *at, *text;

    assert_int_equal(spec_load(FOLDER "/sweep.json", &spec, NULL), 0);
    at = strstr(spec->file.text, from);
    assert_non_null(at);
    text = mem_printf("%.*s%s%s", (int)(at - spec->file.text), spec->file.text,
                      to, at + strlen(from));
    spec_free(spec);
    return text;
}

static struct made make(const char *from, const char *to)
{
    char *text = edited(from, to);
    struct made made;

    assert_int_equal(
        spec_parse(FOLDER, "sweep.json", text, strlen(text), &made.spec, NULL),
        0);
    assert_int_equal(space_open(made.spec, gpu_arch_find("sm_89"), "cpu", NULL,
                                &made.space, NULL),
                     0);
    assert_int_equal(
        plan_make(made.spec, made.space, NULL, "cpu", "cpu", &made.plan, NULL),
        0);
    free(text);
    return made;
}

static void end(struct made *made)
{
    plan_free(made->plan);
    space_close(made->space);
    spec_free(made->spec);
}

static void the_baseline_is_first_and_no_unit_is_twice(void **state)
{
    struct made made = make("vector_add", "vector_add");
    char text[128];

    (void)state;
    assert_int_equal(plan_units(made.plan), 30);
    assert_true(plan_unit(made.plan, 0)->baseline);
    plan_display(made.plan, 0, text, sizeof(text));
    assert_string_equal(text, "BLOCK_SIZE=256 ITEMS=1 VECTOR=false");
    for (int unit = 0; unit < 30; unit++)
        assert_int_equal(plan_find(made.plan, plan_unit(made.plan, unit)->key),
                         unit);
    assert_int_equal(plan_find(made.plan, "ffff"), -1);
    end(&made);
}

static void a_baseline_outside_the_axes_is_one_more(void **state)
{
    struct made made = make("{ \"BLOCK_SIZE\": 256, \"ITEMS\": 1",
                            "{ \"BLOCK_SIZE\": 96, \"ITEMS\": 1");

    (void)state;
    assert_int_equal(plan_units(made.plan), 31);
    assert_int_equal(plan_unit(made.plan, 0)->point, -1);
    end(&made);
}

/* As vector_add's sweep file says, with nothing to beat. */
static const struct plan_sampling sampling = { 5, 30, 0, 0 };

static void a_request_says_all_the_runner_needs(void **state)
{
    struct made made = make("vector_add", "vector_add");
    const char *request = NULL;

    (void)state;
    assert_int_equal(plan_measure(made.plan, 0, 0, &sampling, &request, NULL),
                     0);
    assert_string_equal(
        request,
        "measure\nentry vector_add\ngrid 20 1 1\nblock 256 1 1\nsmem 0\n"
        "arg a fp32 buffer 5001 normal 1 in\n"
        "arg b fp32 buffer 5001 normal 1 in\n"
        "arg out fp32 buffer 5001 poison 1 out relative_l2 "
        "9.9999999999999995e-07 max_error 1.0000000000000001e-05\n"
        "arg n int32 scalar 5001\n"
        "reference vector_add_reference 20 1 1 256 1 1 0\n"
        "seed 1\ntrials 2 zeros+ties+tiny\nwarmups 3\nsamples 5 30\nnoise "
        "0.01\nmargin "
        "1.1000000000000001\nincumbent_s 0\nl2 flush\ntimeout_s 10\n");
    end(&made);
}

static void a_request_takes_the_samples_it_is_told_to(void **state)
{
    const struct plan_sampling fixed = { 5, 5, 0, 300 };
    struct made made = make("\"noise\": 0.01", "\"noise\": 0.02");
    struct plan_sampling screen = plan_sampling(made.plan, 6.25e-5);
    const char *request = NULL;

    (void)state;
    assert_int_equal(plan_measure(made.plan, 0, 0, &screen, &request, NULL), 0);
    assert_non_null(strstr(request, "\nsamples 5 30\nnoise 0.02"));
    assert_non_null(strstr(request, "\nincumbent_s 6.25"));
    assert_null(strstr(request, "\nrepeats"));
    assert_int_equal(plan_measure(made.plan, 0, 0, &fixed, &request, NULL), 0);
    assert_non_null(strstr(request, "\nsamples 5 5\n"));
    assert_non_null(strstr(request, "\nrepeats 300\n"));
    end(&made);
}

static void a_build_carries_the_tunables_and_the_reference_none(void **state)
{
    struct made made = make("vector_add", "vector_add");
    struct msg_build kernel = { 0 }, reference = { 0 };

    (void)state;
    assert_int_equal(plan_build(made.plan, 0, &kernel, NULL), 0);
    assert_non_null(strstr(kernel.header, "#define BLOCK_SIZE 256\n"));
    assert_non_null(strstr(kernel.header, "#define TILE 256\n"));
    assert_int_equal(kernel.flags.n, 1);
    assert_int_equal(plan_build(made.plan, 30, &reference, NULL), 0);
    assert_string_equal(reference.header, "");
    assert_string_equal(reference.entry, "vector_add_reference");
    assert_int_equal(reference.flags.n, 0);
    end(&made);
}

static void a_build_carries_the_size_of_each_argument(void **state)
{
    static const char *const want[] = { "a 8", "b 8", "out 8", "n 4" };
    struct made made = make("vector_add", "vector_add");

    (void)state;
    for (int unit = 0; unit <= 30; unit += 30) { /* the last: the reference */
        struct msg_build build = { 0 };

        assert_int_equal(plan_build(made.plan, unit, &build, NULL), 0);
        assert_int_equal(build.arguments.n, 4);
        for (size_t i = 0; i < 4; i++)
            assert_string_equal(build.arguments.items[i], want[i]);
    }
    end(&made);
}

/* A build for other arguments says nothing about these; the sources are the
 * same. */
static void another_argument_is_another_build_of_the_same_sources(void **state)
{
    struct made was = make("vector_add", "vector_add"),
                is = make("\"int32\"", "\"int64\"");
    char key[HASH_HEX], key_is[HASH_HEX];

    (void)state;
    plan_build_key(was.plan, 0, "nvcc", key);
    plan_build_key(is.plan, 0, "nvcc", key_is);
    assert_string_not_equal(key, key_is);
    assert_string_equal(plan_unit(was.plan, 0)->source_key,
                        plan_unit(is.plan, 0)->source_key);
    end(&was);
    end(&is);
}

/* What an edit of the sweep file does to the keys of the baseline. */
static void assert_keys(const char *from, const char *to, bool same_source,
                        bool same_task)
{
    struct made was = make("vector_add", "vector_add"), is = make(from, to);
    char task[HASH_HEX], task_is[HASH_HEX];

    assert_string_equal(plan_unit(was.plan, 0)->key,
                        plan_unit(is.plan, 0)->key);
    assert_int_equal(strcmp(plan_unit(was.plan, 0)->source_key,
                            plan_unit(is.plan, 0)->source_key) == 0,
                     same_source);
    plan_task_key(was.plan, 0, 0, task);
    plan_task_key(is.plan, 0, 0, task_is);
    assert_int_equal(strcmp(task, task_is) == 0, same_task);
    end(&was);
    end(&is);
}

static void an_edit_changes_just_the_keys_it_should(void **state)
{
    (void)state;
    assert_keys("[64, 128, 256, 512, 1024]", "[128, 256]", true, true);
    assert_keys("\"n16m\"", "\"n16\"", true, true); /* not emulated */
    assert_keys("\"-O3\"", "\"-O2\"", false, false);
    assert_keys("BLOCK_SIZE * ITEMS\"", "ITEMS * BLOCK_SIZE\"", true, true);
    assert_keys("\"relative_l2\": 1e-6", "\"relative_l2\": 2e-6", true, false);
    assert_keys("\"N\": 5001", "\"N\": 5003", true, false);
    assert_keys("\"seed\": 1", "\"seed\": 2", true, false);
    assert_keys("(N + TILE - 1) / TILE", "(N + TILE) / TILE", false, false);
}

/* The request of the baseline for the first shape. */
static void assert_request_has(const char *from, const char *to,
                               const char *line)
{
    struct made made = make(from, to);
    const char *request = NULL;

    assert_int_equal(plan_measure(made.plan, 0, 0, &sampling, &request, NULL),
                     0);
    assert_non_null(strstr(request, line));
    end(&made);
}

static void scales_and_ramps_are_the_shapes(void **state)
{
#define A "\"name\": \"a\", \"type\": \"fp32\", \"shape\": [\"N\"]"
#define A_OF(dims) "\"name\": \"a\", \"type\": \"fp32\", \"shape\": [" dims "]"
    (void)state;
    assert_request_has(A, A ", \"scale\": \"N / 1000\"",
                       "arg a fp32 buffer 5001 normal 5 in\n");
    assert_request_has(A ", \"fill\": \"normal\"",
                       A_OF("3, \"N / 3\"") ", \"fill\": \"ramp\"",
                       "arg a fp32 buffer 5001 ramp 3 1667 1 in\n");
    assert_keys(A, A ", \"scale\": \"4\"", true, false);
    assert_keys(A, A ", \"scale\": 4", true, false);
#undef A
#undef A_OF
}

static void fills_roles_and_rules_are_those_of_the_sweep_file(void **state)
{
#define A                                                                 \
    "\"name\": \"a\", \"type\": \"fp32\", \"shape\": [\"N\"], \"fill\": " \
    "\"normal\""
#define A_AS(type, fill)                 \
    "\"name\": \"a\", \"type\": \"" type \
    "\", \"shape\": [\"N\"], \"fill\": " fill
    (void)state;
    assert_request_has(A, A_AS("int32", "{ \"range\": [-1, \"N - 1\"] }"),
                       "arg a int32 buffer 5001 range -1 5000 1 in\n");
    assert_request_has(A, A_AS("int32", "{ \"sorted\": \"2 * N\" }"),
                       "arg a int32 buffer 5001 sorted 10002 1 in\n");
    assert_request_has(A, A_AS("int32", "\"permutation\""),
                       "arg a int32 buffer 5001 permutation 1 in\n");
    assert_request_has(A, A_AS("int8", "-7"),
                       "arg a int8 buffer 5001 ones -7 in\n");
    assert_request_has(A, A_AS("fp32", "\"normal\", \"inout\": true"),
                       "arg a fp32 buffer 5001 normal 1 out relative_l2 "
                       "9.9999999999999995e-07 max_error "
                       "1.0000000000000001e-05\n");
    assert_request_has(A,
                       A_AS("fp32", "\"ones\", \"output\": true, "
                                    "\"tolerance\": { \"ulp\": 2 }"),
                       "arg a fp32 buffer 5001 ones 1 out ulp 2\n");
    assert_request_has(A, A ", \"infinities\": true",
                       "arg a fp32 buffer 5001 normal 1 in infinities\n");
    assert_keys(A, A_AS("fp32", "2"), true, false);
    assert_keys(A, A_AS("int32", "{ \"range\": [0, 2] }"), true, false);
    assert_keys(A, A ", \"inout\": true", true, false);
#undef A
#undef A_AS
}

/* vector_add's file with 'from' replaced by 'to'; NULL: it can be launched. */
static void assert_launch(const char *from, const char *to, const char *text)
{
    struct made made = make(from, to);
    struct err err;
    const int rc = plan_launch_check(made.spec, made.space, "cuda", &err);

    assert_int_equal(rc, text ? ERR_INPUT : 0);
    if (text)
        assert_string_equal(err.text, text);
    end(&made);
}

static void launches_that_no_gpu_can_do_are_refused(void **state)
{
#define BLOCK "\"block\": [\"BLOCK_SIZE\"]"
#define REFERENCE "\"block\": [\"256\"]"
#define SMEM "\"smem\": \"0\""
    (void)state;
    assert_launch(BLOCK, BLOCK, NULL);
    assert_launch(BLOCK, "\"block\": [\"1024\"]", NULL);
    assert_launch(BLOCK, "\"block\": [\"1025\"]",
                  "the baseline has a block x of 1025 at shape 'n16m'; a GPU "
                  "has at most 1024");
    assert_launch(BLOCK, "\"block\": [\"64\", \"32\"]",
                  "the baseline has a block of threads of 2048 at shape "
                  "'n16m'; a GPU has at most 1024");
    assert_launch(REFERENCE, "\"block\": [\"2048\"]",
                  "the reference has a block x of 2048 at shape 'n16m'; a GPU "
                  "has at most 1024");
    assert_launch(SMEM, "\"smem\": \"232448\"", NULL);
    assert_launch(SMEM, "\"smem\": \"232449\"",
                  "the baseline has shared memory of 232449 at shape 'n16m'; "
                  "a GPU has at most 232448");
#undef BLOCK
#undef REFERENCE
#undef SMEM
}

static void keep_line(void *arg, const char *text)
{
    char *lines = arg;
    const size_t n = strlen(lines);

    snprintf(lines + n, 400 - n, "%s\n", text);
}

/* The lines of vector_add's file with 'from' replaced by 'to'. */
static void assert_weak(const char *from, const char *to, const char *lines)
{
    struct made made = make(from, to);
    char said[400] = "";

    assert_int_equal(
        plan_weak(made.spec, made.space, "cuda", keep_line, said, NULL), 0);
    assert_string_equal(said, lines);
    end(&made);
}

static void what_lets_a_wrong_kernel_pass_is_said(void **state)
{
#define B "\"name\": \"b\", \"type\": \"fp32\", \"shape\": [\"N\"], \"fill\": "
#define N "\"value\": \"N\""
#define RULES "\"relative_l2\": 1e-6, \"max_error\": 1e-5"
    static const char *const wide = "the tolerance of 'out' is so wide that "
                                    "zeros pass, whatever the reference is\n";

    (void)state;
    assert_weak(N, N, "");
    assert_weak(B "\"normal\"", B "\"ones\"",
                "input 'b' has the same values in all trials, so a kernel that "
                "does not read it may pass\n");
    assert_weak(N, "\"value\": \"N * 0 + 7\"",
                "scalar 'n' is the same at all 11 shapes, so a kernel that "
                "does not read it may pass\n");
    assert_weak(RULES, "\"relative_l2\": 1", wide);
    assert_weak(RULES, "\"max_error\": 2", wide);
    assert_weak(RULES, "\"ulp\": 2e7", wide);
    assert_weak(RULES, "\"relative_l2\": 1, \"max_error\": 0.9", "");
    assert_weak(RULES, "\"ulp\": 1e7", "");
    assert_weak(RULES, "\"absolute\": 3",
                "the tolerance of 'out' is an absolute error of 3, as large as "
                "the inputs are, so zeros may pass; give it a max_error as "
                "well\n");
    assert_weak(RULES, "\"absolute\": 0.5", "");
    assert_weak(RULES, "\"absolute\": 3, \"max_error\": 0.1", "");
    assert_weak(RULES, "\"relative_l2\": 1e-3",
                "the tolerance of 'out' has a relative_l2 alone, so one "
                "element of 16777216 that is 0 may pass; give it a max_error "
                "as well\n");
    assert_weak(RULES, "\"relative_l2\": 1e-6", "");
    assert_weak(RULES, "\"relative_l2\": 1e-3, \"ulp\": 4", "");
#undef B
#undef N
#undef RULES
}

/* vector_add with its input 'a' from a file of 'count' elements. */
static int make_of_file(int64_t count, const char *hash, struct made *made,
                        struct err *err)
{
    char *text =
        edited("\"fill\": \"normal\"", "\"fill\": { \"file\": \"a.npy\" }");
    struct spec_input *input = mem_new(1, sizeof(*input));

    assert_int_equal(
        spec_parse(FOLDER, "sweep.json", text, strlen(text), &made->spec, NULL),
        0);
    free(text);
    input->name = mem_strdup("a.npy");
    input->npy.count = count;
    snprintf(input->hash, sizeof(input->hash), "%s", hash);
    made->spec->inputs = (struct spec_inputs){ input, 1 };
    made->plan = NULL;
    assert_int_equal(space_open(made->spec, gpu_arch_find("sm_89"), "cpu", NULL,
                                &made->space, NULL),
                     0);
    return plan_make(made->spec, made->space, NULL, "cpu", "cpu", &made->plan,
                     err);
}

static void a_file_is_named_by_its_contents(void **state)
{
    static const char first[] = "0123456789abcdef0123456789abcdef";
    static const char second[] = "1123456789abcdef0123456789abcdef";
    const char *request = NULL;
    struct made a, b;
    struct texts inputs;

    (void)state;
    assert_int_equal(make_of_file(5001, first, &a, NULL), 0);
    assert_int_equal(make_of_file(5001, second, &b, NULL), 0);
    assert_int_equal(plan_measure(a.plan, 0, 0, &sampling, &request, NULL), 0);
    assert_non_null(strstr(request, "arg a fp32 buffer 5001 file "
                                    "0123456789abcdef0123456789abcdef 1 in\n"));
    inputs = plan_inputs(a.plan, 0);
    assert_int_equal(inputs.n, 1);
    assert_string_equal(inputs.items[0], first);
    assert_string_equal(plan_unit(a.plan, 0)->source_key,
                        plan_unit(b.plan, 0)->source_key);
    assert_string_not_equal(plan_measure_key(a.plan, 0),
                            plan_measure_key(b.plan, 0));
    end(&a);
    end(&b);
}

static void a_file_of_another_size_makes_no_plan(void **state)
{
    struct made made;
    struct err err;

    (void)state;
    assert_int_equal(make_of_file(5000, "aa", &made, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "the size of 'a' yields 5001"));
    assert_non_null(strstr(err.text, "'a.npy' has 5000 elements"));
    end(&made);
}

static void a_proof_has_more_seeds_and_each_edge_alone(void **state)
{
#define SEED "\"seed\": 1"
    struct made made =
        make(SEED, SEED
             ", \"edges\": [\"offset\", \"extreme\", \"negative\", \"tiny\", "
             "\"large\"]");
    const char *request = NULL;

    (void)state;
    assert_int_equal(plan_measure(made.plan, 0, 0, &sampling, &request, NULL),
                     0);
    assert_non_null(strstr(request, "\nseed 1\ntrials 2 tiny\n"));
    made.spec->measure.proof = true;
    assert_int_equal(plan_measure(made.plan, 0, 0, &sampling, &request, NULL),
                     0);
    assert_non_null(
        strstr(request, "\ntrials 4 large tiny extreme negative offset\n"));
    assert_null(strstr(request, "\nseed 1\n"));
    end(&made);
    assert_keys(SEED, SEED ", \"edges\": []", true, false);
    assert_request_has(SEED, SEED ", \"edges\": []", "\ntrials 2\n");
#undef SEED
}

static void a_scale_that_is_no_number_is_an_error(void **state)
{
    struct made made =
        make("\"name\": \"a\"", "\"scale\": \"N / 0\", \"name\": \"a\"");
    const char *request = NULL;
    struct err err;

    (void)state;
    assert_int_equal(plan_measure(made.plan, 0, 0, &sampling, &request, &err),
                     ERR_INPUT);
    assert_non_null(strstr(err.text, "the scale of 'a' yields NULL"));
    end(&made);
}

static void a_rejected_baseline_is_an_error_that_names_the_gate(void **state)
{
    char *text = edited("\"ITEMS\": 1, \"VECTOR\": false",
                        "\"ITEMS\": 1, \"VECTOR\": true");
    struct space *space;
    struct spec *spec;
    struct plan *plan;
    struct err err;

    (void)state;
    assert_int_equal(
        spec_parse(FOLDER, "sweep.json", text, strlen(text), &spec, NULL), 0);
    assert_int_equal(
        space_open(spec, gpu_arch_find("sm_89"), "cpu", NULL, &space, NULL), 0);
    assert_int_equal(plan_make(spec, space, NULL, "cpu", "cpu", &plan, &err),
                     ERR_INPUT);
    assert_non_null(
        strstr(err.text, "gate 'vector_items' rejects the baseline"));
    space_close(space);
    spec_free(spec);
    free(text);
}

static void a_plan_with_room_takes_points_one_by_one(void **state)
{
    struct made made = make("vector_add", "vector_add");
    const struct plan_unit *third = plan_unit(made.plan, 3);
    char source_key[HASH_HEX];
    struct plan *plan;

    (void)state;
    assert_int_equal(
        plan_make_open(made.spec, made.space, 4, "cpu", "cpu", &plan, NULL), 0);
    assert_int_equal(plan_units(plan), 4);
    assert_int_equal(plan_taken(plan), 1);
    assert_true(plan_unit(plan, 0)->baseline);
    assert_string_equal(plan_unit(plan, 4)->source_key,
                        plan_unit(made.plan, 30)->source_key);
    assert_int_equal(plan_find(plan, third->key), -1);
    assert_int_equal(plan_source_key(plan, third->point, source_key, NULL), 0);
    assert_string_equal(source_key, third->source_key);
    assert_int_equal(plan_take(plan, third->point, NULL), 1);
    assert_int_equal(plan_take(plan, plan_unit(made.plan, 9)->point, NULL), 2);
    assert_string_equal(plan_unit(plan, 1)->key, third->key);
    assert_string_equal(plan_unit(plan, 1)->source_key, third->source_key);
    assert_int_equal(plan_find(plan, third->key), 1);
    assert_int_equal(plan_find(plan, plan_unit(made.plan, 9)->key), 2);
    assert_int_equal(plan_find(plan, plan_unit(made.plan, 0)->key), 0);
    assert_string_equal(plan_unit(plan, 3)->key, "");
    plan_free(plan);
    end(&made);
}

static void what_a_gate_warns_of_is_built_last(void **state)
{
    struct made made = make("\"reject\": \"", "\"warn\": \"");
    int64_t before = -1;
    bool warned = false;

    (void)state;
    for (int unit = 1; unit < plan_units(made.plan); unit++) {
        const struct plan_unit *at = plan_unit(made.plan, unit);

        assert_false(warned && !at->warned);
        if (warned == (at->warned != 0))
            assert_true(at->point > before);
        warned = at->warned != 0;
        before = at->point;
    }
    assert_true(warned);
    end(&made);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_plan_with_room_takes_points_one_by_one),
        cmocka_unit_test(the_baseline_is_first_and_no_unit_is_twice),
        cmocka_unit_test(a_baseline_outside_the_axes_is_one_more),
        cmocka_unit_test(what_a_gate_warns_of_is_built_last),
        cmocka_unit_test(a_request_says_all_the_runner_needs),
        cmocka_unit_test(a_request_takes_the_samples_it_is_told_to),
        cmocka_unit_test(a_build_carries_the_tunables_and_the_reference_none),
        cmocka_unit_test(a_build_carries_the_size_of_each_argument),
        cmocka_unit_test(another_argument_is_another_build_of_the_same_sources),
        cmocka_unit_test(an_edit_changes_just_the_keys_it_should),
        cmocka_unit_test(scales_and_ramps_are_the_shapes),
        cmocka_unit_test(fills_roles_and_rules_are_those_of_the_sweep_file),
        cmocka_unit_test(a_file_is_named_by_its_contents),
        cmocka_unit_test(a_file_of_another_size_makes_no_plan),
        cmocka_unit_test(a_proof_has_more_seeds_and_each_edge_alone),
        cmocka_unit_test(launches_that_no_gpu_can_do_are_refused),
        cmocka_unit_test(what_lets_a_wrong_kernel_pass_is_said),
        cmocka_unit_test(a_scale_that_is_no_number_is_an_error),
        cmocka_unit_test(a_rejected_baseline_is_an_error_that_names_the_gate),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
