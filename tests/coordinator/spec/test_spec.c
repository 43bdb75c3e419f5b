/* A sweep file: its contents, flags and files.  Its errors are in
 * tests/fixtures/bad_input. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/spec/bundle.h"
#include "coordinator/source/identifier.h"
#include "coordinator/source/include.h"
#include "coordinator/spec/search_settings.h"
#include "tests/coordinator/spec/spec_fixture.h"

static void missing_settings_have_defaults(void **state)
{
    struct spec *spec = spec_fixture(&(struct spec_parts){ 0 });
    size_t n;

    (void)state;
    assert_string_equal(spec->compile.standard, "c++17");
    assert_int_equal(spec->compile.n_flags, 0);
    assert_int_equal(spec->measure.warmups, 3);
    assert_int_equal(spec->measure.least, 5);
    assert_int_equal(spec->measure.most, 30);
    assert_true(spec->measure.noise == 0.01 && spec->measure.margin == 1.1);
    assert_true(spec->measure.timeout_s == 10);
    assert_int_equal(spec->measure.seed, 1);
    assert_string_equal(spec->measure.l2, "flush");
    assert_string_equal(spec->search->strategy, "auto");
    assert_int_equal(spec->search->evaluations, 0);
    assert_int_equal(spec->search->seed, 1);
    assert_int_equal(spec->search->race.first, 0);
    assert_true(spec->budget.usd == 0);
    assert_false(spec->confirm.off || spec->confirm.unproved);
    assert_int_equal(spec->confirm.blocks, 20);
    assert_int_equal(spec->confirm.blocks_max, 70);
    assert_int_equal(spec->confirm.blocks_group, 2);
    assert_int_equal(spec->confirm.samples, 5);
    assert_int_equal(spec->confirm.finalists_max, 32);
    assert_true(spec->confirm.floor == 0.005 && spec->confirm.target == 1.1 &&
                spec->confirm.alpha == 0.05);
    assert_string_equal(spec->kernel.launch.smem.text, "0");
    assert_string_equal(spec->kernel.launch.grid[2].text, "1");
    assert_ptr_equal(spec_shapes(spec, "cpu", &n), spec->shapes.list);
    spec_free(spec);
}

static void samples_are_a_number_or_when_to_stop(void **state)
{
    struct spec *number = spec_fixture(
        &(struct spec_parts){ .more = ", \"measure\": { \"samples\": 15 }" });
    struct spec *rules = spec_fixture(&(struct spec_parts){
        .more = ", \"measure\": { \"l2\": \"rotate\", \"samples\": "
                "{ \"most\": 8, \"noise\": 0.02, \"margin\": 2 } }" });

    (void)state;
    assert_int_equal(number->measure.least, 15);
    assert_int_equal(number->measure.most, 15);
    assert_int_equal(rules->measure.least, 5);
    assert_int_equal(rules->measure.most, 8);
    assert_true(rules->measure.noise == 0.02 && rules->measure.margin == 2);
    assert_string_equal(rules->measure.l2, "rotate");
    spec_free(number);
    spec_free(rules);
}

static void the_vector_add_sweep_is_read_as_it_stands(void **state)
{
    struct spec *spec;
    struct err err;
    size_t n;

    (void)state;
    if (spec_load(FA_SOURCE_DIR "/kernels/vector_add", &spec, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(spec->name, "vector_add");
    assert_string_equal(spec->file.name, "sweep.json");
    assert_string_equal(spec->file.folder, FA_SOURCE_DIR "/kernels/vector_add");
    assert_int_equal(spec->space.n_axes, 3);
    assert_int_equal(spec->space.axes[2].kind, VALUE_BOOL);
    assert_string_equal(spec->space.derived[0].rule.text, "BLOCK_SIZE * ITEMS");
    assert_true(spec->space.gates[2].warns);
    assert_int_equal(spec->shapes.list[1].vars[0], 16777213);
    assert_int_equal(spec_shapes(spec, "cpu", &n)[0].vars[0], 5001);
    assert_true(spec->arguments[2].output);
    assert_false(spec->arguments[3].buffer);
    assert_string_equal(spec->figures.metrics[0].unit, "GB/s");
    assert_true(spec->tolerance.relative_l2 == 1e-6);
    spec_free(spec);
}

#define OUTPUT(name, type, more)                  \
    "{ \"name\": \"" name "\", \"type\": \"" type \
    "\", \"shape\": [1], \"output\": true" more " }"

static void
outputs_have_a_tolerance_of_their_own_or_that_of_the_sweep(void **state)
{
    struct spec *spec = spec_fixture(&(struct spec_parts){
        .arguments =
            OUTPUT("a", "fp16", "") ", " OUTPUT("b", "int8", "") ", " OUTPUT(
                "c", "fp32",
                ", \"tolerance\": { \"ulp\": 2, "
                "\"absolute\": 1e-3 }") ", " OUTPUT("d", "int32",
                                                    ", \"tolerance\": { "
                                                    "\"absolute\": 1 }") });

    (void)state;
    assert_true(spec->arguments[0].tolerance.relative_l2 == 1);
    assert_true(isinf(spec->arguments[0].tolerance.ulp));
    assert_true(spec->arguments[1].tolerance.exact);
    assert_true(isinf(spec->arguments[1].tolerance.relative_l2));
    assert_true(spec->arguments[2].tolerance.ulp == 2);
    assert_true(spec->arguments[2].tolerance.absolute == 1e-3);
    assert_true(isinf(spec->arguments[2].tolerance.max_error));
    assert_false(spec->arguments[3].tolerance.exact);
    assert_true(spec->arguments[3].tolerance.absolute == 1);
    spec_free(spec);
}

#define BUFFER(name, more) \
    "{ \"name\": \"" name "\", \"type\": \"int8\", \"shape\": [1], " more " }"

static void buffers_have_a_role_and_a_fill(void **state)
{
    static const struct {
        bool output, workspace;
        const char *fill;
        double scale;
    } want[] = {
        { false, false, "normal", 3 }, { true, false, "poison", 1 },
        { true, false, "zeros", 1 },   { true, false, "ones", -128 },
        { true, false, "iota", 2 },    { false, true, "poison", 1 },
        { false, false, "ones", 5 },
    };
    struct spec *spec = spec_fixture(&(struct spec_parts){
        .arguments = BUFFER("a", "\"scale\": 3") ", " BUFFER(
            "b",
            "\"ou"
            "tput"
            "\": "
            "tru"
            "e") ", " BUFFER("c",
                             "\"output\": true, \"fill\": "
                             "\"zeros\"") ", " BUFFER("d",
                                                      "\"output\": "
                                                      "true, "
                                                      "\"fill\": "
                                                      "-128") ","
                                                              " " BUFFER(
                                                                  "e",
                                                                  "\"inout\":"
                                                                  " true, "
                                                                  "\"fill\": "
                                                                  "\"iota\", "
                                                                  "\"scale\":"
                                                                  " 2") ","
                                                                        " " BUFFER("f", "\"workspace\": true") ", " BUFFER(
                                                                            "g",
                                                                            "\""
                                                                            "fi"
                                                                            "ll"
                                                                            "\""
                                                                            ": "
                                                                            "5") });

    (void)state;
    for (size_t i = 0; i < sizeof(want) / sizeof(*want); i++) {
        const struct spec_argument *is = &spec->arguments[i];

        assert_int_equal(is->output, want[i].output);
        assert_int_equal(is->workspace, want[i].workspace);
        assert_string_equal(is->fill, want[i].fill);
        assert_true(is->scale == want[i].scale);
    }
    spec_free(spec);
}

static void a_number_is_an_expression(void **state)
{
    struct spec *spec = spec_fixture(&(struct spec_parts){
        .grid = "4",
        .arguments =
            "{ \"name\": \"y\", \"type\": \"fp32\", \"shape\": [\"N\"], "
            "\"output\": true }, "
            "{ \"name\": \"a\", \"type\": \"fp32\", \"value\": 1.5 }, "
            "{ \"name\": \"b\", \"type\": \"fp64\", \"value\": -1e-6 }, "
            "{ \"name\": \"c\", \"type\": \"fp32\", \"value\": 2.0 }" });

    (void)state;
    assert_string_equal(spec->kernel.launch.grid[0].text, "4");
    assert_string_equal(spec->arguments[1].value.text, "1.5");
    assert_string_equal(spec->arguments[2].value.text, "-1e-06");
    assert_string_equal(spec->arguments[3].value.text, "2");
    spec_free(spec);
}

static void whole_numbers_beside_reals_are_reals(void **state)
{
    struct spec *spec = spec_fixture(&(struct spec_parts){
        .tunables = "\"A\": [1, 0.5]", .baseline = "\"A\": 3" });

    (void)state;
    assert_int_equal(spec->space.axes[0].kind, VALUE_REAL);
    assert_int_equal(spec->space.axes[0].values[0].kind, VALUE_REAL);
    assert_true(spec->space.axes[0].values[0].real == 1);
    assert_int_equal(spec->baseline.values[0].kind, VALUE_REAL);
    spec_free(spec);
}

static void lists_of_values_are_multiplied_out(void **state)
{
    static const struct {
        const char *name;
        int64_t vars[3];
    } want[] = {
        { "one", { 7, 8, 9 } },     { "f-64-1", { 64, 4, 1 } },
        { "f-64-0", { 64, 4, 0 } }, { "f-65-1", { 65, 4, 1 } },
        { "f-65-0", { 65, 4, 0 } }, { "g-2", { 1, 2, 0 } },
        { "h-5--1", { 0, -1, 5 } },
    };
    struct spec *spec = spec_fixture(&(struct spec_parts){
        .shapes = "{ \"name\": \"one\", \"N\": 7, \"H\": 8, \"C\": 9 }, "
                  "{ \"N\": [64, 65], \"H\": 4, \"name\": \"f\", "
                  "\"C\": [1, 0] }, "
                  "{ \"name\": \"g\", \"N\": 1, \"H\": [2], \"C\": 0 }, "
                  "{ \"name\": \"h\", \"C\": [5], \"H\": [-1], \"N\": 0 }" });

    (void)state;
    assert_int_equal(spec->shapes.n, 7);
    for (size_t i = 0; i < 7; i++) {
        assert_string_equal(spec->shapes.list[i].name, want[i].name);
        assert_memory_equal(spec->shapes.list[i].vars, want[i].vars,
                            sizeof(want[i].vars));
    }
    spec_free(spec);
}

static const char *first_fuzz_shape(const char *more, const char *device)
{
    struct spec *spec = spec_fixture(&(struct spec_parts){ .more = more });
    static char name[SPEC_NAME_MAX + 1];
    size_t n;

    snprintf(name, sizeof(name), "%s",
             spec_fuzz_shapes(spec, device, &n)[0].name);
    spec_free(spec);
    return name;
}

static void fuzzing_has_shapes_of_its_own_or_those_of_the_device(void **state)
{
#define LIST(key, name) \
    ", \"" key "\": [ { \"name\": \"" name "\", \"N\": 1 } ]"
    (void)state;
    assert_string_equal(first_fuzz_shape(NULL, "cuda"), "s");
    assert_string_equal(first_fuzz_shape(NULL, "cpu"), "s");
    assert_string_equal(first_fuzz_shape(LIST("fuzz_shapes", "f"), "cuda"),
                        "f");
    assert_string_equal(first_fuzz_shape(LIST("fuzz_shapes", "f"), "cpu"), "s");
    assert_string_equal(first_fuzz_shape(LIST("emulation_shapes", "e"), "cpu"),
                        "e");
    assert_string_equal(first_fuzz_shape(LIST("emulation_shapes", "e")
                                             LIST("emulation_fuzz_shapes", "x"),
                                         "cpu"),
                        "x");
#undef LIST
}

static void a_missing_sweep_file_is_reported(void **state)
{
    struct spec *spec;
    struct err err;

    (void)state;
    assert_int_equal(spec_load("/nonexistent/x.json", &spec, &err), ERR_INPUT);
    assert_string_equal(err.text,
                        "there is no sweep file '/nonexistent/x.json'; name "
                        "one, or change to a folder that has a sweep.json; "
                        "'fa-coord init' begins one");
    assert_int_equal(spec_load("/dev/null", &spec, &err), ERR_INPUT);
    assert_string_equal(err.text, "/dev/null is not a file");
}

static void flags_are_held_to_the_list(void **state)
{
    static const struct {
        const char *flags[2];
        bool allowed;
    } rows[] = {
        { { "-O3" }, true },
        { { "-O4" }, false },
        { { "-lineinfo" }, true },
        { { "-maxrregcount=128" }, true },
        { { "--maxrregcount=0x10" }, false },
        { { "--use_fast_math" }, true },
        { { "-ftz=true" }, true },
        { { "-ftz=yes" }, false },
        { { "-Xptxas=-O1,-v" }, true },
        { { "-Xptxas=-O1,-dlcm=cg" }, true },
        { { "-Xptxas=-o,x" }, false },
        { { "-Xptxas", "-v" }, true },
        { { "-Xptxas", "$(id)" }, false },
        { { "-Xptxas" }, false },
        { { "-Xcompiler=-fopenmp" }, false },
        { { "-I/etc" }, false },
        { { "-DX=$(id)" }, false },
        { { "-O3;id" }, false },
        { { "O3" }, false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        char *flags[2] = { (char *)(uintptr_t)rows[i].flags[0],
                           (char *)(uintptr_t)rows[i].flags[1] };
        size_t n = flags[1] ? 2 : 1, taken;

        if (identifier_flag_allowed(flags, n, 0, &taken) != rows[i].allowed)
            fail_msg("%s", flags[0]);
        if (rows[i].allowed)
            assert_int_equal(taken, n);
    }
}

static void includes_are_found_comments_aside(void **state)
{
    static const char text[] = "// #include \"a.h\"\n"
                               "/* \n#include \"b.h\"\n*/ #include <c.h>\n"
                               "const char *s = \"//\"; #include \"d.h\"\n"
                               "\t#  include\t\"e.h\" // x\n"
                               "#include MACRO\n#include \"open\n"
                               "#if 0\n#include \"f.h\"\n#endif";
    char found[100] = "";
    struct include include;
    size_t at = 0;

    (void)state;
    while (include_next(text, strlen(text), &at, &include))
        snprintf(found + strlen(found), sizeof(found) - strlen(found),
                 "%c%.*s ", include.quoted ? 'q' : 'a', (int)include.len,
                 include.name);
    assert_string_equal(found, "ac.h qe.h qf.h ");
}

/* ---- bundles, in a folder of their own */

static char folder[] = "/tmp/fa-test-spec-XXXXXX";

static void put(const char *name, const char *text)
{
    char path[200];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int make_folder(void **state)
{
    char path[200];

    (void)state;
    if (!mkdtemp(folder))
        return -1;
    snprintf(path, sizeof(path), "%s/sub", folder);
    if (mkdir(path, 0700) < 0)
        return -1;
    put("k.cu", "#include <fa/mma.h>\n#include \"sub/a.h\"\n#include <x.h>\n");
    put("sub/a.h", "#include \"b.h\"\n#include \"fa/smem.h\"\n");
    put("sub/b.h", "#include \"sub/a.h\"\n#include \"c.h\"\n");
    put("c.h", "\n");
    return 0;
}

static int remove_folder(void **state)
{
    static const char *const names[] = { "k.cu", "sub/a.h", "sub/b.h", "c.h",
                                         "link" };
    char path[200];

    (void)state;
    for (size_t i = 0; i < 5; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    snprintf(path, sizeof(path), "%s/sub", folder);
    rmdir(path);
    return rmdir(folder);
}

static struct spec *spec_in_folder(void)
{
    struct spec *spec = spec_fixture(&(struct spec_parts){ 0 });

    free(spec->file.folder);
    spec->file.folder = strdup(folder);
    return spec;
}

static void a_bundle_holds_what_is_included(void **state)
{
    struct spec *spec = spec_in_folder();
    struct bundle bundle, again;
    char names[200] = "";
    struct err err;

    (void)state;
    assert_int_equal(bundle_load(spec, "k.cu", 0, false, &bundle, &err), 0);
    for (size_t i = 0; i < bundle.n; i++)
        snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s ",
                 bundle.files[i].name);
    assert_string_equal(names, "k.cu fa/mma.h sub/a.h fa/types.h sub/b.h "
                               "fa/smem.h c.h ");
    assert_int_equal(bundle_load(spec, "k.cu", 0, false, &again, &err), 0);
    assert_string_equal(bundle.hash, again.hash);
    bundle_fini(&again);
    put("c.h", "//\n");
    assert_int_equal(bundle_load(spec, "k.cu", 0, false, &again, &err), 0);
    assert_string_not_equal(bundle.hash, again.hash);
    bundle_fini(&again);
    assert_int_equal(bundle_load(spec, "k.cu", 0, true, &again, &err), 0);
    assert_string_equal(again.files[1].name, "fa/emulation.h");
    bundle_fini(&again);
    bundle_fini(&bundle);
    spec_free(spec);
}

static void a_link_or_a_large_file_is_refused(void **state)
{
    struct spec *spec = spec_in_folder();
    struct bundle bundle;
    char path[200];
    struct err err;

    (void)state;
    snprintf(path, sizeof(path), "%s/link", folder);
    assert_int_equal(symlink("sub", path), 0);
    assert_int_equal(bundle_load(spec, "link/a.h", 0, false, &bundle, &err),
                     ERR_INPUT);
    assert_non_null(strstr(err.text, "symbolic link"));
    unlink(path);
    put("link", "");
    assert_int_equal(truncate(path, BUNDLE_FILE_MAX + 1), 0);
    assert_int_equal(bundle_load(spec, "link", 0, false, &bundle, &err),
                     ERR_INPUT);
    assert_non_null(strstr(err.text, "'link' is too big"));
    assert_int_equal(bundle_load(spec, "sub", 0, false, &bundle, &err),
                     ERR_INPUT);
    assert_non_null(strstr(err.text, "'sub' is not a file"));
    spec_free(spec);
}

/* The compiler would find it, and its contents are not in the hash. */
static void a_header_named_by_its_place_is_refused(void **state)
{
    static const char *const lines[] = { "#include </usr/include/x.h>\n",
                                         "#include <../x.h>\n",
                                         "#include \"/usr/include/x.h\"\n" };
    struct spec *spec = spec_in_folder();
    struct bundle bundle;
    struct err err;

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        put("link", lines[i]);
        assert_int_equal(bundle_load(spec, "link", 0, false, &bundle, &err),
                         ERR_INPUT);
        assert_non_null(strstr(err.text, "x.h' cannot be included"));
    }
    spec_free(spec);
}

/* The one that decides is measured with any effort. */
static void a_quick_confirmation_keeps_a_part(void **state)
{
    struct spec *spec = spec_fixture(&(struct spec_parts){
        .more = ", \"fuzz_shapes\": [ { \"name\": \"odd\", \"N\": [1, 2, 3, 4, "
                "5, 6, 7] }, { \"name\": \"last\", \"N\": 99 } ]"
                ", \"external_baseline\": ["
                "{ \"name\": \"a\", \"command\": [\"true\"] },"
                "{ \"name\": \"b\", \"command\": [\"true\", \"{N}\"] },"
                "{ \"name\": \"c\", \"command\": [\"true\"] } ]"
                ", \"confirm\": { \"against\": \"b\" }" });

    (void)state;
    assert_int_equal(spec->shapes.n_fuzz, 8);
    spec_for_quick(spec, 3);
    assert_int_equal(spec->shapes.n_fuzz, 3);
    assert_int_equal(spec->shapes.fuzz[0].vars[0], 1);
    assert_int_equal(spec->shapes.fuzz[1].vars[0], 3);
    assert_int_equal(spec->shapes.fuzz[2].vars[0], 6);
    assert_int_equal(spec->externals.n, 1);
    assert_string_equal(spec->externals.list[0].name, "b");
    assert_ptr_equal(spec->confirm.against, spec->externals.list[0].name);
    spec_free(spec);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_settings_have_defaults),
        cmocka_unit_test(samples_are_a_number_or_when_to_stop),
        cmocka_unit_test(the_vector_add_sweep_is_read_as_it_stands),
        cmocka_unit_test(
            outputs_have_a_tolerance_of_their_own_or_that_of_the_sweep),
        cmocka_unit_test(buffers_have_a_role_and_a_fill),
        cmocka_unit_test(a_number_is_an_expression),
        cmocka_unit_test(whole_numbers_beside_reals_are_reals),
        cmocka_unit_test(lists_of_values_are_multiplied_out),
        cmocka_unit_test(fuzzing_has_shapes_of_its_own_or_those_of_the_device),
        cmocka_unit_test(a_missing_sweep_file_is_reported),
        cmocka_unit_test(flags_are_held_to_the_list),
        cmocka_unit_test(includes_are_found_comments_aside),
        cmocka_unit_test(a_bundle_holds_what_is_included),
        cmocka_unit_test(a_link_or_a_large_file_is_refused),
        cmocka_unit_test(a_header_named_by_its_place_is_refused),
        cmocka_unit_test(a_quick_confirmation_keeps_a_part),
    };
    struct err err;

    return hash_setup(&err) < 0
               ? 1
               : cmocka_run_group_tests(tests, make_folder, remove_folder);
}
