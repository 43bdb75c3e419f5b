#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/buf.h"
#include "common/err.h"
#include "coordinator/problem/t1.h"
#include "coordinator/space/space.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/spec/spec.h"

#define FILE_NAME "t1_test.json"

#define TUNABLE(name, values, start)                                          \
    "{\"Name\": \"" name "\", \"Type\": \"int\", \"Values\": \"" values "\"," \
    " \"Default\": " start "}"

#define SPACE(conditions)                                                     \
    "{\"General\": {\"BenchmarkName\": \"conv 2d\"},\n\"ConfigurationSpace\"" \
    ": {\"TuningParameters\": [\n" TUNABLE(                                   \
        "BX", "[16, 32, 64, 32]",                                             \
        "32") ",\n" TUNABLE("by", "list(range(1, 9))",                        \
                            "8") ",\n" TUNABLE("PAD", "[0, 1]",               \
                                               "1") "],\n"                    \
                                                    "\"Conditions\": "        \
                                                    "[" conditions "]},\n"

#define KERNEL                                                                 \
    "\"KernelSpecification\": {\"Language\": \"CUDA\", \"KernelName\": \"k\"," \
    "\"KernelFile\": \"k.cu\", \"CompilerOptions\": [\"-std=c++17\","          \
    "\"-O3\"], \"ProblemSize\": [4096, 100], \"LocalSize\": {\"X\": \"BX\","   \
    "\"Y\": \"by\"}, \"GlobalSize\": {\"X\": \"ProblemSize[0] // BX\"},"       \
    "\"GridDivY\": [\"by\", \"2\"], \"SharedMemory\": 64, \"Arguments\": ["    \
    "{\"Name\": \"out\", \"Type\": \"float\", \"MemoryType\": \"Vector\","     \
    "\"AccessType\": \"WriteOnly\", \"Size\": \"ProblemSize[0]\"},"            \
    "{\"Name\": \"in\", \"Type\": \"half2\", \"MemoryType\": \"Vector\","      \
    "\"FillType\": \"Random\", \"Size\": \"ProblemSize[1] + max(BX) - 1\"},"   \
    "{\"Name\": \"n\", \"Type\": \"int32\", \"MemoryType\": \"Scalar\","       \
    "\"FillValue\": 7}, {\"Name\": \"c\", \"Type\": \"custom\","               \
    "\"MemoryType\": \"Vector\"}]}}"

/* A problem of one tunable, A. */
#define ONE(values, start, kernel)                               \
    "{\"ConfigurationSpace\": {\"TuningParameters\": [" TUNABLE( \
        "A", values, start) "]},\n\"KernelSpecification\": {" kernel "}}"

#define THREADS(global, local)                                          \
    "\"GlobalSizeType\": \"opencl\", \"GlobalSize\": {\"X\": \"" global \
    "\"}, \"LocalSize\": {\"X\": \"" local "\"}"

#define ARGUMENT(type, rest)                                              \
    ONE("[2, 4]", "2",                                                    \
        "\"Arguments\": [{\"Name\": \"x\", \"Type\": \"" type "\", " rest \
        "}]")

#define CONDITION(text) \
    "{\"Expression\": \"" text "\", \"Parameters\": [\"BX\"]}"

static int load(const char *text, bool lenient, struct t1 **out,
                struct err *err)
{
    FILE *file = fopen(FILE_NAME, "w");

    fputs(text, file);
    fclose(file);
    return t1_load(FILE_NAME, lenient, out, err);
}

static struct t1 *problem_of(const char *text, bool lenient)
{
    struct t1 *problem = NULL;
    struct err err;

    if (load(text, lenient, &problem, &err) < 0)
        fail_msg("%s", err.text);
    return problem;
}

static void write_sweep(const struct t1 *problem, struct buf *out)
{
    buf_init(out, 1 << 20);
    t1_sweep_text(problem, out);
}

/* How many configurations pass the gates of the sweep file. */
static int64_t passing(const struct t1 *problem)
{
    struct space *space;
    struct space_gate_count gates[64];
    struct spec *spec;
    struct buf text;
    struct err err;
    int64_t n = 0;

    write_sweep(problem, &text);
    if (spec_parse(".", "t1.json", buf_text(&text), text.len, &spec, &err) < 0)
        fail_msg("%s in %s", err.text, buf_text(&text));
    if (space_open(spec, gpu_arch_find("sm_89"), "cuda", NULL, &space, &err) <
            0 ||
        space_count(space, gates, &n, &err) < 0)
        fail_msg("%s in %s", err.text, buf_text(&text));
    space_close(space);
    spec_free(spec);
    buf_fini(&text);
    return n;
}

static void a_problem_becomes_a_sweep_file(void **state)
{
    static const char *const parts[] = {
        "\"name\": \"conv_2d\"",
        "\"kernel\": { \"source\": \"k.cu\", \"entry\": \"k\", \"flags\": "
        "[\"-O3\"], \"standard\": \"c++17\" }",
        "\"BX\": [16, 32, 64],",
        "\"by_\": [1, 2, 3, 4, 5, 6, 7, 8],",
        "\"baseline\": { \"BX\": 32, \"by_\": 8, \"PAD\": 1 }",
        "\"reject\": \"NOT ((PAD = 0) OR ((BX % 3) <> 0))\",\n    \"why\": "
        "\"PAD "
        "== 0 or BX % 3 != 0\"",
        "\"grid\": [\"(P0 / BX)\", \"(P1 + by_ * 2 - 1) / (by_ * 2)\", \"1\"]",
        "\"block\": [\"BX\", \"by_\", \"1\"], \"smem\": \"64\"",
        "{ \"name\": \"problem\", \"P0\": 4096, \"P1\": 100 }",
        "{ \"name\": \"out\", \"type\": \"fp32\", \"shape\": [\"P0\"], "
        "\"output\": true }",
        "{ \"name\": \"in\", \"type\": \"fp16\", \"shape\": [\"2 * (((P1 + 64) "
        "- "
        "1))\"], \"fill\": \"uniform\" }",
        "{ \"name\": \"n\", \"type\": \"int32\", \"value\": 7 }",
        "// the argument 'c' is left out",
    };
    struct t1 *problem =
        problem_of(SPACE(CONDITION("PAD == 0 or BX % 3 != 0")) KERNEL, false);
    struct buf text;

    (void)state;
    write_sweep(problem, &text);
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        if (!strstr(buf_text(&text), parts[i]))
            fail_msg("no %s in %s", parts[i], buf_text(&text));
    buf_fini(&text);
    t1_free(problem);
}

static void the_gates_keep_what_the_conditions_keep(void **state)
{
    static const struct {
        const char *text;
        int64_t want;
    } rows[] = {
        { SPACE("") KERNEL, 48 },
        { SPACE(CONDITION("len([BX, by]) == 2")) KERNEL, 48 },
        { SPACE(CONDITION("32 <= BX * by <= 256")) KERNEL, 38 },
        { SPACE(CONDITION("by in [2 ** k for k in range(3)]")) KERNEL, 18 },
        { SPACE(CONDITION("BX * by < ProblemSize[1]")) KERNEL, 20 },
        { SPACE(CONDITION("BX < max(BX)") "," CONDITION("PAD and by // 3 == 1"))
              KERNEL,
          6 },
        { SPACE("\"by / 2 == 4 / 2 or not PAD\"") KERNEL, 27 },
        { SPACE(CONDITION("2 > 1")) KERNEL, 48 },
        { SPACE(CONDITION("any(by % k == 0 for k in range(2, by))")) KERNEL,
          18 },
        { SPACE(CONDITION("by in range(PAD + 3)")) KERNEL, 15 },
        { SPACE(CONDITION("(BX, by) in [(16, 4), (32, 8)]")) KERNEL, 4 },
        { SPACE(CONDITION("BX in {16, 32}")) KERNEL, 32 },
        { SPACE(CONDITION("BX in range(1, 2000)")) KERNEL, 48 },
        { SPACE(CONDITION("BX in range(17, 2000)")) KERNEL, 32 },
        { SPACE(CONDITION("by * 0.1 % 0.1 == 0")) KERNEL, 24 },
        { SPACE(CONDITION("PAD==1or by<3")) KERNEL, 30 },
        { SPACE(CONDITION("PAD > 0") "," CONDITION("8 % PAD == 0")) KERNEL,
          24 },
        { SPACE(CONDITION("PAD == 0 or 8 % PAD == 0")) KERNEL, 48 },
        { SPACE(CONDITION("BX > 16 and PAD") "," CONDITION(
              "by // (BX - 16) == 0")) KERNEL,
          16 },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct t1 *problem = problem_of(rows[i].text, false);

        assert_int_equal(t1_points(problem), 48);
        assert_int_equal(t1_passing(problem), rows[i].want);
        assert_int_equal(passing(problem), rows[i].want);
        t1_free(problem);
    }
}

/* A sweep file has fewer gates than a T1 file may have conditions. */
static void many_conditions_share_gates(void **state)
{
    struct buf text;
    struct t1 *problem;

    (void)state;
    buf_init(&text, 1 << 20);
    buf_str(&text,
            "{\"ConfigurationSpace\": {\"TuningParameters\": [" TUNABLE(
                "A", "list(range(1, 201))", "200") "], \"Conditions\": [");
    for (int i = 1; i <= 150; i++)
        buf_printf(&text, "%s\"A != %d\"", i > 1 ? "," : "", i);
    buf_str(&text, "]},\n" KERNEL);
    problem = problem_of(buf_text(&text), true);
    assert_int_equal(t1_passing(problem), 50);
    assert_int_equal(passing(problem), 50);
    t1_free(problem);
    buf_fini(&text);
}

static void a_condition_without_a_value_is_an_error_or_rejects(void **state)
{
    static const char *const rows[][2] = {
        { SPACE(CONDITION("8 % PAD == 0")) KERNEL,
          "'8 % PAD == 0', column 3: division by zero" },
        { SPACE(CONDITION("8 % PAD == 0 or BX > 0")) KERNEL, "column 3" },
        { SPACE(CONDITION("not (8 % PAD and BX < 0)")) KERNEL, "column 8" },
        { SPACE(CONDITION("1 if 8 % PAD else 1")) KERNEL, "column 8" },
        { SPACE(CONDITION("BX in (BX, 8 % PAD)")) KERNEL, "column 14" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct t1 *problem;
        struct err err;

        assert_int_equal(load(rows[i][0], false, &problem, &err), ERR_INPUT);
        if (!strstr(err.text, rows[i][1]))
            fail_msg("no '%s' in: %s", rows[i][1], err.text);
        problem = problem_of(rows[i][0], true);
        assert_int_equal(t1_passing(problem), 24);
        assert_int_equal(passing(problem), 24);
        t1_free(problem);
    }
}

static void lenient_leaves_out_and_notes(void **state)
{
    static const char *const conditions[] = {
        SPACE(CONDITION("nothing > 1")) KERNEL,
        SPACE(CONDITION("BX >")) KERNEL,
        SPACE(CONDITION("BX < 2 ** 127")) KERNEL,
    };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        const char *const *notes;
        struct t1 *problem;
        struct err err;
        size_t n;

        assert_int_equal(load(conditions[i], false, &problem, &err), ERR_INPUT);
        assert_non_null(strstr(err.text, FILE_NAME ":6:"));
        problem = problem_of(conditions[i], true);
        n = t1_notes(problem, &notes);
        for (size_t k = 0; k < n; k++)
            if (strstr(notes[k], "is left out: "))
                n = 0;
        assert_int_equal(n, 0);
        assert_int_equal(passing(problem), 48);
        t1_free(problem);
    }
}

static void a_flaw_names_file_and_line(void **state)
{
    static const char *const rows[][2] = {
        { "{\"ConfigurationSpace\": 1}", ":1:" },
        { "{\"ConfigurationSpace\": {}}", "\"TuningParameters\" must be" },
        { "{\"ConfigurationSpace\": {\"TuningParameters\": [{}]}}",
          "has a \"Name\" and \"Values\"" },
        { "{\"ConfigurationSpace\": {\"TuningParameters\": [\n"
          "{\"Name\": \"a\", \"Values\": \"3\"}]}}",
          ":2:25: the values of 'a' are not a list" },
        { "{\"ConfigurationSpace\": {\"TuningParameters\": ["
          "{\"Name\": \"a\", \"Values\": \"[1, open('x')]\"}]}}",
          "there is no function 'open'" },
        { "{\"ConfigurationSpace\": {\"TuningParameters\": ["
          "{\"Name\": \"a\", \"Values\": []}]}}",
          "'a' has 0 values" },
        { SPACE(CONDITION("BX > 100")) KERNEL,
          "the conditions reject every configuration" },
        { SPACE("7") KERNEL, "a condition has an \"Expression\"" },
        { ONE("[1]", "1", "\"ProblemSize\": [\"n\"]"),
          "a size in \"ProblemSize\" must be a whole number" },
        { ONE("[1]", "1", "\"ProblemSize\": [1.5]"), "as in [4096, 4096]" },
        { ONE("[]", "1", ""), "as in \"[16, 32, 64]\"" },
        { "{\"ConfigurationSpace\": {\"TuningParameters\": ["
          "{\"Name\": \"a\", \"Values\": [1]},\n"
          "{\"Name\": \"a\", \"Values\": [2]}]}}",
          ":2:1: there are two tuning parameters 'a'" },
        { ONE("1, 2,, 3", "2", ""), "',' does not belong here" },
        { ONE("[1, 2 ** 63]", "1", ""),
          "a value beyond 64 bits of 'A' cannot stand in" },
        { ONE("[None, 2]", "2", ""), "the value None of 'A' cannot stand in" },
        { ONE("[True, 2]", "2", ""), "'A' mixes a bool and an int" },
        { ONE("['x', 2]", "2", ""), "'A' mixes a text and an int" },
        { ONE("['x y']", "2", ""), "the value 'x y' of 'A' cannot stand in" },
    };
    struct t1 *problem;
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_int_equal(load(rows[i][0], false, &problem, &err), ERR_INPUT);
        if (!strstr(err.text, rows[i][1]) || !strstr(err.text, FILE_NAME))
            fail_msg("no '%s' in: %s", rows[i][1], err.text);
        assert_null(strstr(err.text, "(null)"));
    }
}

/* As gemm_milo.json of the benchmark hub, and hotspot of BAT. */
static void what_others_write_is_read(void **state)
{
    static const char text[] =
        "{\"ConfigurationSpace\": {\"TuningParameters\": ["
        "{\"Name\": \"A\", \"Values\": \"[1, 2, 4] + list(range(8, 24+1, "
        "8))\", \"Default\": [0]}], \"Conditions\": []},\n"
        "\"KernelSpecification\": {\"LocalSize\": {\"X\": \"block_size_x\"},"
        "\"GlobalSizeType\": \"OpenCL\", \"GlobalSize\": {\"X\": \"4096\"},"
        "\"GridDivX\": [\"A\", \"B\"], \"ProblemSize\": [64]}}";
    struct t1 *problem = problem_of(text, false);
    const char *const *notes;
    struct buf sweep;

    (void)state;
    assert_int_equal(t1_points(problem), 6);
    assert_int_equal(t1_notes(problem, &notes), 3);
    assert_string_equal(notes[0], "line 1: the default of 'A' is not among its "
                                  "values, so the first one is used");
    assert_string_equal(notes[1],
                        "line 2: 'block_size_x' is taken for 1: there "
                        "is no name 'block_size_x'");
    write_sweep(problem, &sweep);
    assert_non_null(strstr(buf_text(&sweep), "\"A\": [1, 2, 4, 8, 16, 24]"));
    assert_non_null(
        strstr(buf_text(&sweep), "\"grid\": [\"(P0 + A * 1 - 1) / (A * 1)\""));
    buf_fini(&sweep);
    t1_free(problem);
}

/* The note is the first one; NULL: none. */
static void expect(const char *text, const char *part, const char *note)
{
    struct t1 *problem = problem_of(text, false);
    const char *const *notes;
    size_t n = t1_notes(problem, &notes);
    struct buf sweep;

    write_sweep(problem, &sweep);
    if (!strstr(buf_text(&sweep), part))
        fail_msg("no %s in %s", part, buf_text(&sweep));
    if (note ? !n || !strstr(notes[0], note) : n > 0)
        fail_msg("%s: %zu notes, %s", part, n, n ? notes[0] : "");
    buf_fini(&sweep);
    t1_free(problem);
}

static void a_setting_is_translated_or_noted(void **state)
{
    static const struct {
        const char *text, *part, *note;
    } rows[] = {
        { ONE("[2, 4]", "2", "\"ProblemSize\": [\"4096\", 64.0]"),
          "\"P0\": 4096, \"P1\": 64 }", NULL },
        { ONE("[2, 4]", "2",
              "\"CompilerOptions\": \"-O3 -std=c++14 -use_fast_math\""),
          "\"flags\": [\"-O3\", \"-use_fast_math\"], \"standard\": "
          "\"c++14\"",
          NULL },
        { ONE("[2, 4]", "2",
              "\"CompilerOptions\": [\"-O3 -Xcompiler=-x\", \"-lineinfo\"]"),
          "\"flags\": [\"-O3\", \"-lineinfo\"]",
          "the compiler option '-Xcompiler=-x' is left out" },
        { ONE("[2, 4]", "2", "\"CompilerOptions\": [\"-std=c++98\", 7]"),
          "\"flags\": []", "a standard is c++11," },
        { ONE("[2, 4]", "2", "\"SharedMemory\": \"A*1024\""),
          "\"smem\": \"(A * 1024)\"", NULL },
        { ONE("[2, 4]", "2", "\"SharedMemory\": \"A*x\""), "\"smem\": \"0\"",
          "line 2: 'A*x' is taken for 0: there is no name 'x'" },
        { ONE("[2, 4]", "2", "\"ProblemSize\": [64], \"GridDivX\": \"A\""),
          "\"grid\": [\"(P0 + A - 1) / (A)\"", NULL },
        { ONE("[2, 4]", "2", "\"GridDivX\": \"A\""), "\"grid\": [\"1\"",
          "GridDivX is left out: \"ProblemSize\" has no size for it" },
        { ONE("[2, 4]", "2", "\"LocalSize\": \"A\""), "\"block\": [\"1\"",
          "line 2: LocalSize is left out: it has no X, Y and Z" },
        { ONE("[2, 4]", "4.0", ""), "\"baseline\": { \"A\": 4 }", NULL },
        { ONE("[True, False]", "\"False\"", ""),
          "\"baseline\": { \"A\": false }", NULL },
        { ONE("2, 4", "4", ""), "\"A\": [2, 4]", NULL },
        { ONE("[2, 4]", "3", ""), "\"baseline\": { \"A\": 3 }", NULL },
        { ONE("[2, 4]", "2.5", ""), "\"baseline\": { \"A\": 2 }",
          "the default of 'A' is not among its values" },
        { ONE("[2, 4]", "[4]", ""), "\"baseline\": { \"A\": 4 }", NULL },
        { ONE("[2, 4]", "[3]", ""), "\"baseline\": { \"A\": 2 }",
          "the default of 'A' is not among its values" },
        { ONE("[2, 4]", "2", THREADS("100", "A")),
          "\"grid\": [\"(100 + A - 1) / (A)\"", NULL },
        { ONE("[2, 4]", "2", THREADS("100", "1")), "\"grid\": [\"100\"", NULL },
        { ONE("[2, 4]", "2",
              THREADS("100", "A") ", \"GridDivX\": [], \"ProblemSize\": []"),
          "\"grid\": [\"(100 + A - 1) / (A)\"", NULL },
        { ONE("[2, 4]", "2", "\"Language\": \"OpenCL\""), "\"flags\": []",
          "line 2: the kernel is in OpenCL; a sweep needs it in CUDA" },
        { ONE("[2, 4]", "2", "\"Modifiers\": [{\"Type\": \"Global\"}]"),
          "\"grid\": [\"1\"", "line 2: \"Modifiers\" is left out" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect(rows[i].text, rows[i].part, rows[i].note);
}

/* As those of nbody, TRIAD and MD5Hash of BAT, and of KTT. */
static void an_argument_has_its_type_and_values(void **state)
{
#define SCALAR "\"MemoryType\": \"Scalar\", "
#define VECTOR "\"MemoryType\": \"vector\", \"Size\": 8, "
    static const char *const rows[][3] = {
        { ARGUMENT("float", SCALAR "\"FillValue\": 0.1"),
          "\"type\": \"fp32\", \"value\": \"0.1\" }", NULL },
        { ARGUMENT("Float", SCALAR "\"FillValue\": 3.0"),
          "\"type\": \"fp32\", \"value\": 3 }", NULL },
        { ARGUMENT("int32", SCALAR "\"FillValue\": \"4096\""),
          "\"value\": 4096 }", NULL },
        { ARGUMENT("int32", SCALAR "\"FillValue\": true"), "\"value\": 1 }",
          NULL },
        { ARGUMENT("int32", SCALAR "\"FillValue\": \"n\""), "\"value\": 0 }",
          "line 2: the value of the argument 'x' is taken for 0" },
        { ARGUMENT("int64", SCALAR "\"FillValue\": 10000000000"),
          "\"value\": 10000000000 }", NULL },
        { ARGUMENT("uint32", SCALAR "\"FillValue\": 3000000000"),
          "\"type\": \"int32\", \"value\": -1294967296 }",
          "3000000000 for the argument 'x' is -1294967296 as int32" },
        { ARGUMENT("uint8", VECTOR "\"FillType\": \"Random\""),
          "\"type\": \"int8\", \"shape\": [\"8\"], \"fill\": { \"range\": [0, "
          "100] }",
          NULL },
        { ARGUMENT("double3", VECTOR "\"FillType\": \"random\""),
          "\"type\": \"fp64\", \"shape\": [\"3 * (8)\"], \"fill\": "
          "\"uniform\"",
          NULL },
        { ARGUMENT("float", VECTOR "\"FillType\": \"Constant\", "
                                   "\"FillValue\": \"0.5\""),
          "\"fill\": 0.5 }", NULL },
        { ARGUMENT("float", VECTOR "\"FillType\": \"Generator\", "
                                   "\"DataSource\": \"i\""),
          "\"fill\": \"iota\" }", NULL },
        { ARGUMENT("float", VECTOR "\"FillType\": \"Generator\", "
                                   "\"DataSource\": \"2.5\""),
          "\"fill\": 2.5 }", NULL },
        { ARGUMENT("float", VECTOR "\"FillType\": \"Generator\", "
                                   "\"DataSource\": \"i % 3\""),
          "\"fill\": \"uniform\" }",
          "line 2: the argument 'x' is filled at random: 'Generator' has no" },
        { ARGUMENT("float", VECTOR "\"AccessType\": \"WriteOnly\", "
                                   "\"FillType\": \"BinaryRaw\""),
          "\"output\": true }", NULL },
        { ARGUMENT("float", VECTOR "\"AccessType\": \"readwrite\", "
                                   "\"FillType\": \"uninitialized\""),
          "\"inout\": true, \"fill\": \"uniform\" }", NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        expect(rows[i][0], rows[i][1], rows[i][2]);
}

/* Names and gates of an early file of BAT. */
static void the_spelling_of_a_member_does_not_matter(void **state)
{
    static const char text[] =
        "{\"general\": {\"benchmarkName\": \"nbody\"},\n"
        "\"configuration_space\": {\"tuningParameters\": ["
        "{\"name\": \"A\", \"type\": \"int\", \"values\": [1, 2, 4],"
        "\"default\": 2}], \"constraints\": [\"A <= 2\"]},\n"
        "\"kernelSpecification\": {\"kernelName\": \"k\", \"kernelFile\": "
        "\"n.cu\", \"compilerOptions\": [\"-std=c++14\"], \"blockSize\": "
        "{\"X\": \"A\", \"Y\": 1}, \"gridSize\": {\"X\": \"64 // A\"}, "
        "\"shared_memory\": \"8 * A\", \"arguments\": [{\"name\": \"x\", "
        "\"type\": \"double\", \"length\": 64, \"memoryType\": \"vector\", "
        "\"accessType\": \"ReadWrite\"}, {\"name\": \"n\", \"type\": \"int\", "
        "\"memoryType\": \"scalar\", \"value\": 7}]}}";
    static const char *const parts[] = {
        "\"name\": \"nbody\"",
        "\"source\": \"n.cu\", \"entry\": \"k\", \"flags\": [], "
        "\"standard\": \"c++14\"",
        "\"baseline\": { \"A\": 2 }",
        "\"reject\": \"NOT (A <= 2)\"",
        "\"grid\": [\"(64 / A)\", \"1\", \"1\"], \"block\": [\"A\", \"1\", "
        "\"1\"], \"smem\": \"(8 * A)\"",
        "{ \"name\": \"x\", \"type\": \"fp64\", \"shape\": [\"64\"], "
        "\"inout\": true, ",
        "{ \"name\": \"n\", \"type\": \"int32\", \"value\": 7 }",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++)
        expect(text, parts[i], NULL);
    assert_true(t1_is(FILE_NAME));
}

/* A tunable of that name counts before the constant. */
static void expressions_know_the_constants_of_the_benchmark(void **state)
{
    static const char text[] =
        "{\"BenchmarkConfig\": {\"A\": 9, \"most\": 2, \"list\": [1]},\n"
        "\"ConfigurationSpace\": {\"TuningParameters\": [" TUNABLE(
            "A", "[1, 2, 4]", "2") "], \"Conditions\": [\"A <= most\"]},\n"
                                   "\"KernelSpecification\": {\"GlobalSize\": "
                                   "{\"X\": \"most * A\"}}}";

    (void)state;
    expect(
        text, "\"reject\": \"NOT (A <= 2)\"",
        "line 1: \"BenchmarkConfig\" counts in expressions only; in a kernel "
        "of BAT, most and the others are macros");
    expect(text, "\"grid\": [\"(2 * A)\"", "line 1");
}

static void a_tunable_may_stand_there_twice(void **state)
{
    (void)state;
    expect("{\"ConfigurationSpace\": {\"TuningParameters\": [" TUNABLE(
               "A", "[1, 2]", "2") ",\n" TUNABLE("A", "[1, 2]", "1") "]}}",
           "\"A\": [1, 2]\n},\n\"baseline\": { \"A\": 2 }",
           "line 2: 'A' stands there twice");
}

static void a_problem_is_known_by_its_space(void **state)
{
    static const struct {
        const char *text;
        bool is;
    } rows[] = {
        { SPACE("") KERNEL, true },
        { "{\"tune_params\": {}, \"cache\": {}}", false },
        { "{\"results\": []}", false },
        { "[]", false },
        { "{", false },
        { "no json", false },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        FILE *file = fopen(FILE_NAME, "w");

        fputs(rows[i].text, file);
        fclose(file);
        assert_int_equal(t1_is(FILE_NAME), rows[i].is);
    }
    unlink(FILE_NAME);
    assert_false(t1_is(FILE_NAME));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_problem_becomes_a_sweep_file),
        cmocka_unit_test(the_gates_keep_what_the_conditions_keep),
        cmocka_unit_test(many_conditions_share_gates),
        cmocka_unit_test(a_condition_without_a_value_is_an_error_or_rejects),
        cmocka_unit_test(lenient_leaves_out_and_notes),
        cmocka_unit_test(a_flaw_names_file_and_line),
        cmocka_unit_test(what_others_write_is_read),
        cmocka_unit_test(a_setting_is_translated_or_noted),
        cmocka_unit_test(an_argument_has_its_type_and_values),
        cmocka_unit_test(the_spelling_of_a_member_does_not_matter),
        cmocka_unit_test(expressions_know_the_constants_of_the_benchmark),
        cmocka_unit_test(a_tunable_may_stand_there_twice),
        cmocka_unit_test(a_problem_is_known_by_its_space),
    };
    int failed = cmocka_run_group_tests_name("coordinator/problem/t1", tests,
                                             NULL, NULL);

    unlink(FILE_NAME);
    return failed;
}
