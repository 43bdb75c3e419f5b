/* test_wire.c - the text on the runner's pipe, written, read and refused */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <math.h>

#include "worker/runner/wire/wire_reply.h"
#include "worker/runner/wire/wire_request.h"

static const char open_text[] = "open\n"
                                "device cuda\n"
                                "gpu GPU-8932f937-d72c-4106-c12f-20bd9faed9f6\n"
                                "\n";

static const char measure_text[] =
    "measure\n"
    "artifact /w%20x/a%25.cubin\n"
    "entry add\n"
    "grid 4294967295 2 1\n"
    "block 256 1 1\n"
    "smem 101376\n"
    "arg a fp16 buffer 1001 normal 0.5 in infinities\n"
    "arg k fp16 buffer 1001 ramp 13 7 1 in\n"
    "arg out fp32 buffer 1001 poison 1 out relative_l2 9.9999999999999995e-07 "
    "max_error "
    "1.0000000000000001e-05\n"
    "arg sum fp16 buffer 7 ones 0.5 out exact\n"
    "arg room int8 buffer 7 poison 1 workspace\n"
    "arg index int32 buffer 7 range -4 9 1 in\n"
    "arg rows int64 buffer 7 sorted 9007199254740992 1 in\n"
    "arg order int32 buffer 7 permutation 1 in\n"
    "arg columns int32 buffer 7 file 5eed_0f-a7 1 in\n"
    "arg n int64 scalar -9223372036854775808\n"
    "arg scale fp32 scalar 0.125\n"
    "files /w%20x/artifacts\n"
    "reference /r.cubin add_reference 4 1 1 256 1 1 0\n"
    "seed 18446744073709551615\n"
    "trials 3 zeros+ties+tiny large infinities\n"
    "warmups 3\n"
    "samples 5 30\n"
    "repeats 100\n"
    "noise 0.01\n"
    "margin 1.1000000000000001\n"
    "incumbent_s 6.2500000000000001e-05\n"
    "l2 flush\n"
    "timeout_s 10\n"
    "\n";

static const char result_text[] =
    "outcome correctness\n"
    "detail second seed: 'out'[7] is 0, should be 1\n"
    "argument out\n"
    "relative_l2 inf\n"
    "max_error nan\n"
    "max_at 7\n"
    "sample 5.1199999999999998e-05\n"
    "sample 6.0000000000000002e-05\n"
    "sampling unstable\n"
    "rejected 0.00012\n"
    "l2 rotate 3\n"
    "checked 57 varied\n"
    "blocked 1\n"
    "clock_mhz 1980 1980 1755\n"
    "temp_c 33 34 34\n"
    "power_w 98.5 nan 98.5\n"
    "throttle 0x0 0x4 0xffffffffffffffff\n"
    "held_s 0.002\n"
    "regs 96\n"
    "local_bytes 0\n"
    "static_smem 0\n"
    "poisoned 1\n"
    "\n";

/* Feed 'text' line by line; the last step, and its reason in 'why'. */
static enum wire_step read_request(const char *text,
                                   struct wire_request *request, char *why)
{
    char *copy = strdup(text);
    enum wire_step step = WIRE_MORE;

    memset(request, 0, sizeof(*request));
    for (char *line = copy, *end; step == WIRE_MORE; line = end + 1) {
        end = strchr(line, '\n');
        if (!end)
            break;
        *end = '\0';
        step = wire_request_line(request, line, why);
    }
    free(copy);
    return step;
}

static enum wire_step read_reply(const char *text, struct wire_reply *reply,
                                 char *why)
{
    char *copy = strdup(text);
    enum wire_step step = WIRE_MORE;

    memset(reply, 0, sizeof(*reply));
    for (char *line = copy, *end; step != WIRE_BAD && step != WIRE_DONE;
         line = end + 1) {
        end = strchr(line, '\n');
        if (!end)
            break;
        *end = '\0';
        step = wire_reply_line(reply, line, why);
    }
    free(copy);
    return step;
}

static struct wire_request request, again;
static struct wire_reply reply;
static char why[WIRE_WHY_MAX];

static void assert_request_survives(const char *text)
{
    char *written;
    size_t len;
    FILE *stream = open_memstream(&written, &len);

    assert_int_equal(read_request(text, &request, why), WIRE_DONE);
    assert_int_equal(wire_write_request(stream, &request), 0);
    fclose(stream);
    assert_string_equal(written, text);
    assert_int_equal(read_request(written, &again, why), WIRE_DONE);
    assert_memory_equal(&request, &again, sizeof(request));
    free(written);
}

static void assert_reply_survives(const char *text)
{
    char *written;
    size_t len;
    FILE *stream = open_memstream(&written, &len);

    assert_int_equal(read_reply(text, &reply, why), WIRE_DONE);
    assert_int_equal(wire_write_reply(stream, &reply), 0);
    fclose(stream);
    assert_string_equal(written, text);
    free(written);
}

static void requests_come_out_as_they_went_in(void **state)
{
    char check_text[sizeof(measure_text)];

    (void)state;
    assert_request_survives(open_text);
    assert_request_survives("quit\n\n");
    assert_request_survives(measure_text);
    snprintf(check_text, sizeof(check_text), "check%s",
             measure_text + strlen("measure"));
    assert_request_survives(check_text);
}

static void measure_request_has_every_field(void **state)
{
    const struct wire_measure *measure = &request.measure;

    (void)state;
    assert_int_equal(read_request(measure_text, &request, why), WIRE_DONE);
    assert_int_equal(request.kind, WIRE_MEASURE);
    assert_string_equal(measure->kernel.path, "/w x/a%.cubin");
    assert_int_equal(measure->kernel.grid[0], 4294967295u);
    assert_int_equal(measure->n_args, 11);
    assert_true(measure->args[0].buffer && measure->args[0].role == WIRE_IN);
    assert_int_equal(measure->args[0].type, ELEMENT_FP16);
    assert_int_equal(measure->args[1].rows, 13);
    assert_int_equal(measure->args[1].columns, 7);
    assert_true(measure->args[2].role == WIRE_OUT &&
                measure->args[2].fill == FILL_POISON);
    assert_true(measure->args[2].tolerance.most[TOLERANCE_MAX_ERROR] == 1e-5);
    assert_true(measure->args[3].tolerance.rules == 1u << TOLERANCE_EXACT);
    assert_true(measure->args[4].role == WIRE_WORKSPACE);
    assert_true(measure->args[5].low == -4 && measure->args[5].high == 9);
    assert_true(measure->args[6].high == 9007199254740992);
    assert_string_equal(measure->args[8].file, "5eed_0f-a7");
    assert_string_equal(measure->files, "/w x/artifacts");
    assert_int_equal(measure->trials.seeds, 3);
    assert_int_equal(measure->trials.n_edges, 3);
    assert_int_equal(measure->trials.edges[0],
                     1u << EDGE_ZEROS | 1u << EDGE_TIES | 1u << EDGE_TINY);
    assert_int_equal(measure->trials.edges[1], 1u << EDGE_LARGE);
    assert_true(measure->args[9].integer == INT64_MIN);
    assert_true(measure->args[10].real == 0.125);
    assert_string_equal(measure->reference.entry, "add_reference");
    assert_int_equal(measure->reference.block[0], 256);
    assert_true(measure->seed == UINT64_MAX && measure->l2 == L2_MODE_FLUSH);
    assert_true(measure->least == 5 && measure->most == 30);
    assert_true(measure->noise == 0.01 && measure->incumbent_s == 6.25e-5);
}

static void replies_come_out_as_they_went_in(void **state)
{
    (void)state;
    assert_reply_survives(result_text);
    assert_reply_survives("error no NVIDIA driver\npoisoned 1\n\n");
    assert_reply_survives("reference wild address\npoisoned 0\n\n");
    assert_int_equal(reply.kind, WIRE_REFERENCE);
    assert_reply_survives("ok\n"
                          "fact gpu_name NVIDIA L4\n"
                          "fact arch 89\n"
                          "\n");
}

static void result_without_samples_is_whole(void **state)
{
    (void)state;
    assert_reply_survives(
        "outcome timeout\ndetail still running\n"
        "argument \nrelative_l2 nan\nmax_error nan\n"
        "max_at -1\nsampling none\nl2 none\n"
        "checked 1 same\nblocked 0\nclock_mhz\ntemp_c\npower_w\nthrottle\n"
        "held_s 2\nregs -1\nlocal_bytes -1\n"
        "static_smem -1\npoisoned 1\n\n");
    assert_int_equal(reply.result.n_states, 0);
    assert_true(isnan(reply.result.relative_l2));
}

static void progress_lines_come_before_the_result(void **state)
{
    char text[2048];
    char line[] = "progress check";

    (void)state;
    snprintf(text, sizeof(text), "progress load\nprogress time\n%s",
             result_text);
    assert_int_equal(read_reply(text, &reply, why), WIRE_DONE);
    assert_string_equal(reply.stage, "time");
    memset(&reply, 0, sizeof(reply));
    assert_int_equal(wire_reply_line(&reply, line, why), WIRE_PROGRESS);
}

static void detail_cannot_break_the_line(void **state)
{
    char *written;
    size_t len;
    FILE *stream = open_memstream(&written, &len);
    struct wire_reply bad = { .kind = WIRE_ERROR, .error = "a\nb\rc\x1b[0m" };

    (void)state;
    assert_int_equal(wire_write_reply(stream, &bad), 0);
    fclose(stream);
    assert_string_equal(written, "error a b c [0m\npoisoned 0\n\n");
    free(written);
}

/* Replace the line of measure_text that begins with 'key ' by 'line'. */
static void measure_with(const char *line, char *text, size_t size)
{
    char key[32];
    const char *at;

    snprintf(key, sizeof(key), "\n%.*s ", (int)strcspn(line, " "), line);
    at = strstr(measure_text, key);
    assert_non_null(at);
    snprintf(text, size, "%.*s\n%s%s", (int)(at - measure_text), measure_text,
             line, strchr(at + 1, '\n'));
}

static void bad_values_are_refused_with_what_was_expected(void **state)
{
    static const char *const rows[][2] = {
        { "grid 1 1", "grid '1 1': expected three integers" },
        { "grid 1 1 1 1", "grid '1 1 1 1': expected three integers" },
        { "grid 1  1 1", "grid '1  1 1': expected three integers" },
        { "grid -1 1 1", "grid '-1 1 1': expected three integers" },
        { "grid 1 1 4294967296", "expected three integers" },
        { "block 0x10 1 1", "block '0x10 1 1': expected three integers" },
        { "arg a fp16 buffer 10 ramp 3 1 1 in", "expected 'NAME TYPE buffer" },
        { "arg a fp16 buffer 10 ramp 5 0 1 in", "expected 'NAME TYPE buffer" },
        { "arg a fp16 buffer 10 ramp 1 in", "expected 'NAME TYPE buffer" },
        { "arg a fp16 buffer 10 file ../a 1 in", "expected 'NAME TYPE buffer" },
        { "arg a fp16 buffer 10 file 1 in", "expected 'NAME TYPE buffer" },
        { "smem 1e3", "smem '1e3': expected bytes" },
        { "smem 99999999999999999999", "expected bytes" },
        { "entry ", "entry '': expected a name" },
        { "entry a;b", "entry 'a;b': expected a name" },
        { "artifact ", "artifact '': expected a path" },
        { "artifact /a%2", "artifact '/a%2': expected a path" },
        { "artifact /a%00b", "artifact '/a%00b': expected a path" },
        { "arg a fp8 buffer 1 normal 1 in", "arg 'a fp8 buffer" },
        { "arg a fp16 buffer 0 normal 1 in", "arg 'a fp16 buffer 0" },
        { "arg a fp16 buffer 1 normal nan in", "arg 'a fp16 buffer 1" },
        { "arg a fp16 buffer 1 random 1 in", "arg 'a fp16 buffer 1" },
        { "arg a fp16 buffer 1 normal 1 inout", "arg 'a fp16 buffer 1" },
        { "arg a int32 scalar 1.5", "arg 'a int32 scalar 1.5'" },
        { "arg a fp32 scalar 1.5x", "arg 'a fp32 scalar 1.5x'" },
        { "arg a fp32 scalar", "arg 'a fp32 scalar'" },
        { "reference /r r 1 1 1 1 1 1", "reference '/r r 1 1 1" },
        { "arg a fp16 buffer 1 poison 1 out", "arg 'a fp16 buffer 1" },
        { "arg a fp16 buffer 1 poison 1 out ulp", "arg 'a fp16 buffer 1" },
        { "arg a fp16 buffer 1 poison 1 out ulp nan", "arg 'a fp16 buffer 1" },
        { "arg a fp16 buffer 1 poison 1 out ulp -1", "arg 'a fp16 buffer 1" },
        { "arg a fp16 buffer 1 poison 1 out ulp 1 ulp 1", "arg 'a fp16 buf" },
        { "trials 0", "trials '0': expected seeds" },
        { "trials 9", "trials '9': expected seeds" },
        { "trials 2 cold", "trials '2 cold': expected seeds" },
        { "trials 2 zeros+", "trials '2 zeros+': expected seeds" },
        { "trials 2 zeros+zeros", "trials '2 zeros+zeros': expected" },
        { "trials 1 ties ties ties ties ties ties ties ties ties",
          "expected seeds" },
        { "arg a int8 buffer 1 normal 1 in infinities", "arg 'a int8 buffer" },
        { "arg a fp16 buffer 1 ones 1 in infinities", "arg 'a fp16 buffer" },
        { "arg a int8 buffer 1 range 2 1 1 in", "arg 'a int8 buffer 1" },
        { "arg a int8 buffer 1 range 2 1 in", "arg 'a int8 buffer 1" },
        { "arg a int8 buffer 1 sorted -1 1 in", "arg 'a int8 buffer 1" },
        { "arg a int8 buffer 1 sorted 9007199254740993 1 in", "arg 'a int8" },
        { "arg a fp16 buffer 1 poison 1 in", "arg 'a fp16 buffer 1" },
        { "arg a fp16 buffer 1 zeros 1 workspace", "arg 'a fp16 buffer 1" },
        { "arg a fp16 buffer 1 poison 1 out near 1", "arg 'a fp16 buffer 1" },
        { "arg a fp16 buffer 1 normal 1 in exact", "arg 'a fp16 buffer 1" },
        { "seed -1", "seed '-1': expected an integer" },
        { "samples 0 5", "samples '0 5': expected two integers in 1..1000" },
        { "samples 5 1001", "samples '5 1001': expected two integers" },
        { "samples 6 5", "samples '6 5': expected two integers in 1..1000, "
                         "the first not the larger" },
        { "samples 5", "samples '5': expected two integers" },
        { "repeats 100001", "repeats '100001': expected an integer in 0.." },
        { "noise -1", "noise '-1': expected a number >= 0" },
        { "margin nan", "margin 'nan': expected a number >= 0" },
        { "incumbent_s inf", "incumbent_s 'inf': expected seconds, 0 for" },
        { "l2 none", "l2 'none': expected 'flush', 'warm' or 'rotate'" },
        { "warmups 1 ", "warmups '1 ': expected an integer" },
        { "l2 cold", "l2 'cold': expected 'flush', 'warm' or 'rotate'" },
        { "timeout_s 0", "timeout_s '0': expected seconds" },
        { "timeout_s inf", "timeout_s 'inf': expected seconds" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        char text[2048];

        measure_with(rows[i][0], text, sizeof(text));
        if (read_request(text, &request, why) != WIRE_BAD ||
            !strstr(why, rows[i][1]))
            fail_msg("%s: %s", rows[i][0], why);
    }
}

static void bad_requests_are_refused(void **state)
{
    static const char *const rows[][2] = {
        { "\n", "'' is not a request" },
        { "measure \n\n", "'measure ' is not a request" },
        { "opened\n\n", "'opened' is not a request" },
        { "open\n\n", "field 'device' is missing" },
        { "open\ndevice cpu\n\n", "field 'gpu' is missing" },
        { "open\ndevice cpu\ndevice cpu\n\n", "field 'device' is given twice" },
        { "open\ndevice tpu\n\n",
          "device 'tpu': expected 'cuda', 'cpu' or 'replay'" },
        { "open\ncolour red\n\n", "unknown field 'colour'" },
        { "quit\ndevice cpu\n\n", "unknown field 'device'" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        assert_int_equal(read_request(rows[i][0], &request, why), WIRE_BAD);
        assert_string_equal(why, rows[i][1]);
    }
}

static void bad_replies_are_refused(void **state)
{
    static const char *const rows[][2] = {
        { "\n", "field 'outcome' is missing" },
        { "outcome fine\n", "outcome 'fine': expected correct" },
        { "outcome correct\n\n", "field 'detail' is missing" },
        { "outcome correct\nsample 0\n", "sample '0': expected seconds" },
        { "outcome correct\nsample -1\n", "sample '-1': expected seconds" },
        { "outcome correct\nsample nan\n", "sample 'nan': expected seconds" },
        { "outcome correct\nsample 1e999\n", "sample '1e999': expected" },
        { "outcome correct\nclock_mhz 1 2\ntemp_c 1\n", "temp_c '1'" },
        { "outcome correct\nclock_mhz 1 2 3 4 5\n", "clock_mhz '1 2 3 4 5'" },
        { "outcome correct\nthrottle 12\n", "throttle '12'" },
        { "outcome correct\npoisoned 2\n", "poisoned '2': expected 0 or 1" },
        { "outcome correct\nprogress time\n", "unknown field 'progress'" },
        { "ok\nfact\n", "fact '': expected 'NAME VALUE'" },
        { "ok 1\n", "unknown field 'ok'" },
        { "GPU 0: printf of a kernel\n", "unknown field 'GPU'" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        enum wire_step step = read_reply(rows[i][0], &reply, why);

        if (step != WIRE_BAD || !strstr(why, rows[i][1]))
            fail_msg("%s: %s", rows[i][0], why);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(requests_come_out_as_they_went_in),
        cmocka_unit_test(measure_request_has_every_field),
        cmocka_unit_test(replies_come_out_as_they_went_in),
        cmocka_unit_test(result_without_samples_is_whole),
        cmocka_unit_test(progress_lines_come_before_the_result),
        cmocka_unit_test(detail_cannot_break_the_line),
        cmocka_unit_test(bad_values_are_refused_with_what_was_expected),
        cmocka_unit_test(bad_requests_are_refused),
        cmocka_unit_test(bad_replies_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
