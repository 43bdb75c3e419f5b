/* Each kernel of tests/fixtures/bad_kernels is measured as by fa-runner, and
 * ends as the fixture's expected.json says for the cpu device. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <cmocka.h>

#include "common/outcome.h"
#include "tests/kernels/fixture.h"
#include "worker/runner/measure.h"

#define FOLDER "tests/fixtures/bad_kernels/"

enum {
    HEADS = 3,
    SEQ = 150,
    HEAD_DIM = 32,
    JSON_BYTES_MAX = 65536,
    LOOP_LIMIT_S = 2,
    LIMIT_S = 60 /* wall time: a busy machine must not end what is right */
};

static cJSON *json(const char *path)
{
    static char text[JSON_BYTES_MAX];
    FILE *file = fopen(path, "r");
    size_t n;
    cJSON *parsed;

    assert_non_null(file);
    n = fread(text, 1, sizeof(text) - 1, file);
    text[n] = '\0';
    fclose(file);
    cJSON_Minify(text); /* takes the comments */
    parsed = cJSON_Parse(text);
    assert_non_null(parsed);
    return parsed;
}

static struct wire_arg buffer(const char *name, bool output)
{
    struct wire_arg arg = { .type = ELEMENT_FP16,
                            .buffer = true,
                            .role = output ? WIRE_OUT : WIRE_IN,
                            .count = HEADS * SEQ * HEAD_DIM,
                            .fill = output ? FILL_POISON : FILL_NORMAL,
                            .scale = 1 };

    snprintf(arg.name, sizeof(arg.name), "%s", name);
    return arg;
}

static struct wire_kernel kernel(const char *object, const char *entry,
                                 uint64_t smem)
{
    struct wire_kernel k = { .grid = { (SEQ + 63) / 64, HEADS, 1 },
                             .block = { 64, 1, 1 },
                             .smem = smem };

    snprintf(k.path, sizeof(k.path), "%s/tests/kernels/%s.so", FA_BINARY_DIR,
             object);
    snprintf(k.entry, sizeof(k.entry), "%s", entry);
    return k;
}

/* The request that a sweep over sweep.json makes. */
static struct wire_measure request(const char *object, const char *fault)
{
    const bool too_much = strcmp(fault, "too_much_smem") == 0;
    const bool loops = strcmp(fault, "infinite_loop") == 0;
    struct wire_measure want = {
        .kernel = kernel(object, "attention", too_much ? 1048576 : 8448),
        .reference = kernel("bad_reference", "attention_reference", 0),
        .args = { buffer("Q", false), buffer("K", false), buffer("V", false),
                  buffer("out", true) },
        .n_args = 5,
        .seed = 1,
        .trials.seeds = 2,
        .warmups = 1,
        .least = 5,
        .most = 5,
        .l2 = L2_MODE_WARM,
        .timeout_s = loops ? LOOP_LIMIT_S : LIMIT_S,
    };

    want.args[3].tolerance = (struct tolerance){
        .rules = 1u << TOLERANCE_RELATIVE_L2 | 1u << TOLERANCE_MAX_ERROR,
        .most = { [TOLERANCE_RELATIVE_L2] = 5e-4, [TOLERANCE_MAX_ERROR] = 1e-2 }
    };
    want.args[4] = (struct wire_arg){ .name = "seq",
                                      .type = ELEMENT_INT32,
                                      .integer = SEQ };
    return want;
}

static const char *measured(const char *object, const char *fault)
{
    const struct wire_measure want = request(object, fault);
    struct wire_reply *reply = calloc(1, sizeof(*reply));
    FILE *progress = fopen("/dev/null", "w");
    struct device *device;
    struct resident *resident;
    struct device_err err;
    const char *word;

    assert_non_null(reply);
    assert_non_null(progress);
    assert_int_equal(device_open("0", &device, &err), 0);
    resident = resident_new(device);
    measure(device, resident, &want, progress, reply);
    if (reply->kind != WIRE_RESULT)
        fail_msg("%s: %s", fault, reply->error);
    word = outcome_name(reply->result.outcome);
    print_message("%s: %s %s\n", fault, word, reply->result.detail);
    resident_free(resident);
    device_close(device);
    fclose(progress);
    free(reply);
    return word;
}

static int compile_status(const char *define)
{
    return fixture_command((const char *[]){
        "c++", "-std=c++17", "-w", "-fsyntax-only", "-x", "c++", "-I",
        FA_SOURCE_DIR "/kernels/include", "-include", "fa/emulation.h", define,
        FA_SOURCE_DIR "/" FOLDER "attention.cu", NULL });
}

static const char *outcome(const char *fault)
{
    char define[80], params[80], object[80];
    struct device_kernel *loaded;

    snprintf(define, sizeof(define), "-DFAULT=\"%s\"", fault);
    if (compile_status(define) != 0)
        return "compile";
    snprintf(params, sizeof(params), "#define FAULT \"%s\"\n", fault);
    snprintf(object, sizeof(object), "bad_%s", fault);
    loaded = fixture_load(object, FOLDER "attention.cu", "attention", params);
    device_unload(NULL, loaded);
    return measured(object, fault);
}

static bool is_listed(const cJSON *list, const char *word)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, list)
    {
        if (strcmp(item->valuestring, word) == 0)
            return true;
    }
    return false;
}

static void every_fault_is_labelled_as_expected(void **state)
{
    cJSON *sweep = json(FA_SOURCE_DIR "/" FOLDER "sweep.json");
    cJSON *expected = json(FA_SOURCE_DIR "/" FOLDER "expected.json");
    const cJSON *faults =
        cJSON_GetObjectItem(cJSON_GetObjectItem(sweep, "tunables"), "FAULT");
    struct device_kernel *reference = fixture_load(
        "bad_reference", FOLDER "reference.cu", "attention_reference", "");
    const cJSON *fault;

    (void)state;
    device_unload(NULL, reference);
    assert_int_equal(cJSON_GetArraySize(faults), 16);
    assert_int_equal(cJSON_GetArraySize(expected), 16);
    cJSON_ArrayForEach(fault, faults)
    {
        const char *name = fault->valuestring;
        const cJSON *row = cJSON_GetObjectItem(expected, name);
        const char *word = outcome(name);

        if (!is_listed(cJSON_GetObjectItem(row, "cpu"), word))
            fail_msg("%s ends as %s", name, word);
    }
    cJSON_Delete(sweep);
    cJSON_Delete(expected);
}

static void right_and_wrong_kernels_build_for_a_gpu(void **state)
{
    (void)state;
    assert_true(fixture_builds_for_gpu("bad_none", FOLDER "attention.cu",
                                       "#define FAULT \"none\"\n"));
    assert_true(fixture_builds_for_gpu("bad_one_seed_only",
                                       FOLDER "attention.cu",
                                       "#define FAULT \"one_seed_only\"\n"));
    assert_true(
        fixture_builds_for_gpu("bad_reference", FOLDER "reference.cu", ""));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_fault_is_labelled_as_expected),
        cmocka_unit_test(right_and_wrong_kernels_build_for_a_gpu),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
