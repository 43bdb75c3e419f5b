#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/msg.h"
#include "coordinator/replay/gpu_variation.h"
#include "coordinator/replay/replay.h"
#include "coordinator/spec/spec.h"

#define FILE_NAME "replay_test.json"
#define SWEEP_NAME "replay_test_sweep.json"
#define CARDS_NAME "replay_test_cards.json"

static const char cache[] =
    "{\"device_name\": \"GPU\", \"tune_params\": {\"BY\": [2, 1],"
    " \"MODE\": [\"a b\", \"a_b\"]}, \"cache\": {"
    "\"2,a b\": {\"BY\": 2, \"MODE\": \"a b\", \"time\": 2.5, \"times\": [2.0,"
    " 3.0], \"compile_time\": 900, \"verification_time\": 10,"
    " \"benchmark_time\": 6},"
    "\"1,a b\": {\"BY\": 1, \"MODE\": \"a b\", \"time\": \"InvalidConfig\"},"
    "\"1,a_b\": {\"BY\": 1, \"MODE\": \"a_b\", \"time\": 1.5}}}";

static void put_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static struct replay *open_cache(const char *text, const char *cards)
{
    const struct replay_options options = { .file = FILE_NAME,
                                            .cards = cards,
                                            .speed_up = 50 };
    struct landscape *land;
    struct replay *replay = NULL;
    struct err err;

    put_file(FILE_NAME, text);
    if (landscape_load(options.file, &land, &err) < 0 ||
        replay_open(&options, &land, &replay, &err) < 0)
        fail_msg("%s", err.text);
    return replay;
}

static struct spec *spec_of(struct replay *replay, const char *sweep)
{
    struct spec *spec;
    struct err err;

    if (replay_spec(replay, sweep, &spec, &err) < 0)
        fail_msg("%s", err.text);
    return spec;
}

static void a_record_makes_its_own_sweep_file(void **state)
{
    struct replay *replay = open_cache(cache, NULL);
    struct spec *spec = spec_of(replay, NULL);

    (void)state;
    assert_string_equal(spec->name, "replay_test");
    assert_int_equal(spec->space.n_axes, 2);
    assert_string_equal(spec->space.axes[0].name, "BY_"); /* SQL has BY */
    assert_int_equal(spec->space.axes[0].values[0].integer, 1);
    assert_string_equal(spec->space.axes[1].values[0].text,
                        "_2"); /* a_b is there */
    assert_int_equal(spec->baseline.values[0].integer,
                     2); /* the first with a time */
    spec_free(spec);
    replay_close(replay);
}

static void points_are_what_was_recorded_in_the_order_of_the_sweep(void **state)
{
    struct replay *replay = open_cache(cache, NULL);
    struct spec *spec = spec_of(replay, NULL);
    struct value values[2];

    (void)state;
    assert_int_equal(replay_size(replay), 3);
    replay_values(replay, 0, values);
    assert_int_equal(values[0].integer, 1);
    assert_string_equal(values[1].text, "_2");
    replay_values(replay, 2, values);
    assert_int_equal(values[0].integer, 2);
    spec_free(spec);
    replay_close(replay);
}

static void assert_record(struct replay *replay, int i, const char *wanted)
{
    struct value values[2];
    struct buf text;
    struct err err;

    buf_init(&text, 4096);
    replay_values(replay, i, values);
    assert_int_equal(replay_record(replay, values, &text, &err), 0);
    assert_string_equal(buf_text(&text), wanted);
    buf_fini(&text);
}

static void a_build_is_the_record_as_text(void **state)
{
    struct replay *replay = open_cache(cache, NULL);
    struct spec *spec = spec_of(replay, NULL);

    (void)state;
    assert_record(replay, 2,
                  "record 1\nconfig BY_=2 MODE=_2\noutcome correct\nbuild_s "
                  "0.90000000000000002\nverify_s 0.01\nbench_s "
                  "0.0060000000000000001\nsample 0.002\nsample "
                  "0.0030000000000000001\n");
    assert_record(replay, 0,
                  "record 1\n"
                  "config BY_=1 MODE=_2\n"
                  "outcome constraints\n"
                  "reason recorded as 'constraints' on GPU, without "
                  "details\n"
                  "build_s 0\n"
                  "verify_s 0\n"
                  "bench_s 0\n");
    assert_record(replay, 1, /* a mean alone is the one sample */
                  "record 1\nconfig BY_=1 MODE=a_b\noutcome correct\nbuild_s "
                  "0\nverify_s 0\nbench_s 0\nsample 0.0015\n");
    spec_free(spec);
    replay_close(replay);
}

static void a_configuration_without_a_record_is_refused(void **state)
{
    struct replay *replay = open_cache(cache, NULL);
    struct spec *spec = spec_of(replay, NULL);
    struct value values[2] = { { .kind = VALUE_INT, .integer = 2 },
                               { .kind = VALUE_TEXT, .text = "a_b" } };
    struct buf text;
    struct err err;

    (void)state;
    buf_init(&text, 4096);
    assert_int_equal(replay_record(replay, values, &text, &err), ERR_INPUT);
    assert_string_equal(err.text, "BY_=2 MODE=a_b is not in the record, so it "
                                  "cannot be replayed");
    buf_fini(&text);
    spec_free(spec);
    replay_close(replay);
}

static void a_result_has_the_recorded_durations(void **state)
{
    struct replay *replay = open_cache(cache, NULL);
    struct spec *spec = spec_of(replay, NULL);
    const double samples[] = { 0.002, 0.003, 0.002 };
    struct msg built = { .type = MSG_BUILT, .built.result.seconds = 1 };
    struct msg cached = { .type = MSG_BUILT,
                          .built = { .result.seconds = 0.25, .cached = 1 } };
    struct msg measured = { .type = MSG_MEASURED,
                            .measured.samples = { samples, 3 } };
    struct value values[2];

    (void)state;
    replay_values(replay, 2, values);
    replay_restate(replay, values, &built);
    assert_float_equal(built.built.result.seconds, 0.9, 1e-12);
    replay_restate(replay, values, &cached);
    assert_float_equal(cached.built.result.seconds, 0.25, 1e-12);
    measured.measured.checked = (struct msg_checked){ 30, 0 };
    replay_restate(replay, values, &measured);
    assert_int_equal(measured.measured.checked.launches, -1);
    assert_int_equal(measured.measured.checked.varied, -1);
    assert_true(fabs(measured.measured.held_s - 0.018 - 3 * 0.007 / 3) < 1e-12);
    spec_free(spec);
    replay_close(replay);
}

static void put_arguments(struct replay *replay, const char *purpose,
                          int64_t round, struct buf *out)
{
    const struct msg_identity id = {
        .config = "c", .shape = "s", .purpose = purpose, .round = round
    };

    buf_clear(out);
    replay_put_arguments(replay, &id, "box", 1, out);
}

static void samples_depend_on_the_measurement_not_on_its_time(void **state)
{
    struct replay *replay = open_cache(cache, NULL);
    struct spec *spec = spec_of(replay, NULL);
    struct buf first, other;

    (void)state;
    buf_init(&first, 1024);
    buf_init(&other, 1024);
    put_arguments(replay, "screen", 0, &first);
    put_arguments(replay, "screen", 0, &other);
    assert_string_equal(buf_text(&first), buf_text(&other));
    assert_non_null(strstr(buf_text(&first), "arg speed_up fp64 scalar 50\n"));
    put_arguments(replay, "screen", 1, &other);
    assert_string_not_equal(buf_text(&first), buf_text(&other));
    put_arguments(replay, "confirm", 0, &other);
    assert_string_not_equal(buf_text(&first), buf_text(&other));
    buf_fini(&first);
    buf_fini(&other);
    spec_free(spec);
    replay_close(replay);
}

static void a_sweep_file_may_ask_for_a_part_of_the_record(void **state)
{
    struct replay *replay = open_cache(cache, NULL);
    struct spec *spec;
    struct buf text;
    char *at;

    (void)state;
    buf_init(&text, 65536);
    replay_sweep_text(replay, &text);
    at = strstr(text.bytes, "\"BY_\": [1, 2]");
    assert_non_null(at);
    memcpy(at, "\"BY_\": [2   ]", strlen("\"BY_\": [2   ]"));
    put_file(SWEEP_NAME, text.bytes);
    spec = spec_of(replay, SWEEP_NAME);
    assert_int_equal(replay_size(replay), 1);
    buf_fini(&text);
    spec_free(spec);
    replay_close(replay);
}

static void a_sweep_file_with_other_tunables_is_refused(void **state)
{
    struct replay *replay = open_cache(cache, NULL);
    struct spec *spec;
    struct buf text;
    struct err err;

    (void)state;
    buf_init(&text, 65536);
    replay_sweep_text(replay, &text);
    for (char *at = text.bytes; (at = strstr(at, "MODE"));)
        memcpy(at, "MOOD", 4);
    put_file(SWEEP_NAME, text.bytes);
    assert_int_equal(replay_spec(replay, SWEEP_NAME, &spec, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "the record has no tunable 'MOOD'"));
    buf_fini(&text);
    replay_close(replay);
}

static void cards_differ_and_drift(void **state)
{
    struct gpu_variation *cards;
    struct err err;

    (void)state;
    put_file(CARDS_NAME,
             "{ \"cards\": [ { \"host\": \"a\", \"gpu\": 1, \"factor\": 1.08 "
             "},\n { \"gpu\": 1, \"drift\": 0.1, \"over\": 10 } ] }");
    assert_int_equal(gpu_variation_load(CARDS_NAME, &cards, &err), 0);
    assert_float_equal(gpu_variation_factor(cards, "a", 1, 100), 1.08, 1e-12);
    assert_float_equal(gpu_variation_factor(cards, "a", 0, 100), 1, 1e-12);
    assert_float_equal(gpu_variation_factor(cards, "b", 1, 0), 1, 1e-12);
    assert_float_equal(gpu_variation_factor(cards, "b", 1, 5), 1.05, 1e-12);
    assert_float_equal(gpu_variation_factor(cards, "b", 1, 50), 1.1, 1e-12);
    assert_float_equal(gpu_variation_factor(NULL, "b", 1, 50), 1, 1e-12);
    gpu_variation_free(cards);
}

static void assert_bad_cards(const char *text, const char *said)
{
    struct gpu_variation *cards;
    struct err err;

    put_file(CARDS_NAME, text);
    assert_int_equal(gpu_variation_load(CARDS_NAME, &cards, &err), ERR_INPUT);
    if (!strstr(err.text, said))
        fail_msg("'%s' is not in '%s'", said, err.text);
}

static void wrong_cards_are_refused_where_they_stand(void **state)
{
    (void)state;
    assert_bad_cards("{ \"cards\": [ { \"facto\": 2 } ] }",
                     "replay_test_cards.json:1:16: unknown key 'facto'");
    assert_bad_cards("{ \"cards\": [ { \"factor\": 0 } ] }",
                     "'factor' is not a number from 0.01 to 100");
    assert_bad_cards("{ \"cards\": [ { \"drift\": 0.1 } ] }",
                     "a card with 'drift' needs 'over'");
    assert_bad_cards("{ \"cards\": [ { \"gpu\": 0.5 } ] }",
                     "'gpu' is not a whole number");
    assert_bad_cards("{ \"cards\": 1 }", "one object with only a list 'cards'");
    assert_bad_cards("[]", "one object with only a list 'cards'");
}

static char folder[] = "/tmp/fa_replay_XXXXXX";

/* Messages name the files, so the tests run in a folder of their own. */
static int enter_folder(void **state)
{
    (void)state;
    return mkdtemp(folder) && chdir(folder) == 0 ? 0 : -1;
}

static int remove_folder(void **state)
{
    static const char *const names[] = { FILE_NAME, SWEEP_NAME, CARDS_NAME };

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        (void)unlink(names[i]); /* not every test makes it */
    return chdir("/") == 0 && rmdir(folder) == 0 ? 0 : -1;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_record_makes_its_own_sweep_file),
        cmocka_unit_test(
            points_are_what_was_recorded_in_the_order_of_the_sweep),
        cmocka_unit_test(a_build_is_the_record_as_text),
        cmocka_unit_test(a_configuration_without_a_record_is_refused),
        cmocka_unit_test(a_result_has_the_recorded_durations),
        cmocka_unit_test(samples_depend_on_the_measurement_not_on_its_time),
        cmocka_unit_test(a_sweep_file_may_ask_for_a_part_of_the_record),
        cmocka_unit_test(a_sweep_file_with_other_tunables_is_refused),
        cmocka_unit_test(cards_differ_and_drift),
        cmocka_unit_test(wrong_cards_are_refused_where_they_stand),
    };
    struct err err;

    return hash_setup(&err) < 0 ||
           cmocka_run_group_tests(tests, enter_folder, remove_folder) != 0;
}
