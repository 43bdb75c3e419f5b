/* test_build.c - from a source to an artifact, or to one line that says why
 * not */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "tests/worker/build/build_fixture.h"
#include "worker/build/build.h"
#include "worker/build/compiler.h"
#include "worker/store/build_dir.h"

#define NO_KERNEL "int x;\n"

static void built_once_then_answered_from_the_cache(void **state)
{
    struct build_job job = build_fixture_job(
        "extern \"C\" __global__ void kernel(float *a) { a[0] = VALUE; }\n",
        "#define VALUE 3\n");
    struct build_result first = build_fixture_run(&job),
                        second = build_fixture_run(&job);

    (void)state;
    assert_string_equal(first.log, "");
    assert_int_equal(first.outcome, OUTCOME_BUILT);
    assert_false(first.cached);
    assert_true(first.seconds > 0);
    assert_true(cache_has(build_fixture_tools.cache, first.made.artifact));
    assert_true(first.made.bytes > 1000);
    assert_int_equal(second.outcome, OUTCOME_BUILT);
    assert_true(second.cached);
    assert_string_equal(second.made.artifact, first.made.artifact);
    build_result_fini(&first);
    build_result_fini(&second);
}

static void other_compiler_builds_again(void **state)
{
    struct build_job job =
        build_fixture_job("extern \"C\" __global__ void kernel() {}\n", "");
    struct build_result first, second;

    (void)state;
    job.key = "0123456789abcdef0123456789abcdef";
    first = build_fixture_run(&job);
    build_fixture_tools.toolkit = "g++ other";
    second = build_fixture_run(&job);
    assert_int_equal(first.outcome, OUTCOME_BUILT);
    assert_false(second.cached);
    build_result_fini(&first);
    build_result_fini(&second);
}

static void error_names_the_users_file_and_line(void **state)
{
    struct build_job job = build_fixture_job(
        "\nextern \"C\" __global__ void kernel(float *a) { b[0] = 1; }\n", "");
    struct build_result result;

    (void)state;
    job.key = "1123456789abcdef0123456789abcdef";
    result = build_fixture_run(&job);
    assert_int_equal(result.outcome, OUTCOME_COMPILE);
    assert_string_equal(result.detail,
                        "kernel.cu:2:47: error: 'b' was not declared in this "
                        "scope");
    assert_false(result.unfit);
    assert_memory_equal(result.log, "kernel.cu:2:47: error:", 22);
    assert_null(strstr(result.log, build_fixture_dir));
    build_result_fini(&result);
}

static void missing_entry_lists_those_that_are_there(void **state)
{
    struct build_job job = build_fixture_job(
        "extern \"C\" __global__ void one(float *a) { *a = 1; }\n"
        "extern \"C\" __global__ void __attribute__((cold)) two() {}\n",
        "");
    struct build_result result;

    (void)state;
    job.key = "2123456789abcdef0123456789abcdef";
    result = build_fixture_run(&job);
    assert_int_equal(result.outcome, OUTCOME_COMPILE);
    assert_string_equal(
        result.detail,
        "entry 'kernel' is not in kernel.cu, which has one, two");
    assert_true(result.unfit);
    build_result_fini(&result);
}

static void template_bomb_meets_the_limit(void **state)
{
    struct build_job job = build_fixture_job(
        "template <int N, int M> struct bomb {\n"
        "    static const long v = bomb<N - 1, 2 * M>::v + bomb<N - 1, 2 * M "
        "+ 1>::v; };\n"
        "template <int M> struct bomb<0, M> { static const long v = 1; };\n"
        "extern \"C\" __global__ void kernel(long *a) { *a = bomb<26, 1>::v; "
        "}\n",
        "");
    struct build_result result;

    (void)state;
    job.key = "3123456789abcdef0123456789abcdef";
    job.limit_ns = NS_PER_S;
    result = build_fixture_run(&job);
    assert_int_equal(result.outcome, OUTCOME_TIMEOUT);
    assert_string_equal(result.detail,
                        "the compiler was still running after 1 s");
    assert_true(result.seconds < 6);
    build_result_fini(&result);
}

static void shell_text_in_a_value_is_only_text(void **state)
{
    struct build_job job = build_fixture_job(
        "extern \"C\" __global__ void kernel(const char **a) { *a = NAME; }\n",
        "#define NAME \"$(touch /tmp/fa-test-touched) `touch "
        "/tmp/fa-test-touched`\"\n");
    struct build_result result;

    (void)state;
    job.key = "4123456789abcdef0123456789abcdef";
    result = build_fixture_run(&job);
    assert_int_equal(result.outcome, OUTCOME_BUILT);
    assert_int_equal(access("/tmp/fa-test-touched", F_OK), -1);
    build_result_fini(&result);
}

static void refused(struct build_job job, const char *detail)
{
    struct build_result result;

    job.key = "5123456789abcdef0123456789abcdef";
    result = build_fixture_run(&job);
    assert_int_equal(result.outcome, OUTCOME_COMPILE);
    assert_non_null(strstr(result.detail, detail));
    build_result_fini(&result);
}

static void names_and_flags_for_a_shell_are_refused(void **state)
{
    static const char *const flags[] = { "-O3", "-DX=$(touch y)" };
    static const char *const up[] = { "../kernel.cu", "fa/emulation.h" };
    struct build_job job = build_fixture_job(NO_KERNEL, "");

    (void)state;
    job.flags = (struct texts){ flags, 2 };
    refused(job, "flag '-DX=$(touch y)' does not begin with '-', or has a");
    job = build_fixture_job(NO_KERNEL, "");
    job.names.items = up;
    refused(job, "the file name '../kernel.cu' is not of letters");
    job = build_fixture_job(NO_KERNEL, "");
    job.source = "a;b.cu";
    refused(job, "source 'a;b.cu' is not a plain file name");
    job = build_fixture_job(NO_KERNEL, "");
    job.entry = "f(); g";
    refused(job, "entry 'f(); g' is not a C identifier");
    job = build_fixture_job(NO_KERNEL, "");
    job.arch = "sm_89 -x";
    refused(job, "arch 'sm_89 -x' is not like sm_89");
    job = build_fixture_job(NO_KERNEL, "");
    job.arguments = (struct texts){ flags, 1 };
    refused(job, "an argument that is not 'NAME BYTES'");
    job = build_fixture_job(NO_KERNEL, "");
    job.standard = "c++17`x`";
    refused(job, "standard 'c++17`x`' is not like c++17");
}

#define FIRST \
    "extern \"C\" __global__ void kernel(float *a) { a[threadIdx.x] = "

/* Is a compiled header in the folder of the build that runs? */
static bool header_is_placed(void)
{
    char path[256];
    glob_t found;
    bool placed;

    snprintf(path, sizeof(path), "%s/tmp/build-*/src/" COMPILER_HEADER,
             build_fixture_dir);
    placed = glob(path, 0, NULL, &found) == 0;
    globfree(&found);
    return placed;
}

static struct build_result run_with_header(const struct build_job *job,
                                           bool placed)
{
    struct build *build =
        build_start(&build_fixture_tools, job, clock_boot_ns());

    assert_int_equal(header_is_placed(), placed);
    return build_fixture_finish(build);
}

static void compiled_header_changes_no_artifact(void **state)
{
    struct build_job job = build_fixture_real_job(
        FIRST "sinf(a[0]); }\n", "8123456789abcdef0123456789abcdef");
    struct build_result text = run_with_header(&job, false), header, result;

    (void)state;
    header = build_fixture_finish(
        build_start_header(&build_fixture_tools, clock_boot_ns()));
    assert_string_equal(header.log, "");
    assert_int_equal(header.outcome, OUTCOME_BUILT);
    build_fixture_tools.header = header.made.artifact;
    job.key = "9123456789abcdef0123456789abcdef";
    result = run_with_header(&job, true);
    assert_int_equal(result.outcome, OUTCOME_BUILT);
    assert_string_equal(result.made.artifact, text.made.artifact);
    build_result_fini(&result);

    /* With flags that it does not fit, the compiler reads the text. */
    job.key = "a123456789abcdef0123456789abcdef";
    job.standard = "c++14";
    result = run_with_header(&job, true);
    assert_string_equal(result.log, "");
    assert_int_equal(result.outcome, OUTCOME_BUILT);
    build_fixture_tools.header = NULL;
    build_result_fini(&text);
    build_result_fini(&header);
    build_result_fini(&result);
}

/* The job of another version of fa-coord. */
static void header_of_other_text_is_not_placed(void **state)
{
    struct build_job job = build_fixture_real_job(
        FIRST "1; }\n", "b123456789abcdef0123456789abcdef");
    struct build_result header = build_fixture_finish(build_start_header(
                            &build_fixture_tools, clock_boot_ns())),
                        result;
    struct bytes *emulation = (struct bytes *)&job.contents.items[1];

    (void)state;
    build_fixture_tools.header = header.made.artifact;
    emulation->len--; /* a line's end */
    result = run_with_header(&job, false);
    assert_int_equal(result.outcome, OUTCOME_BUILT);
    build_fixture_tools.header = NULL;
    build_result_fini(&header);
    build_result_fini(&result);
}

static void removed_work_folder_is_the_boxs_fault(void **state)
{
    struct build_job job = build_fixture_job(
        "#include \"none.h\"\nextern \"C\" __global__ void kernel() {}\n", "");
    int64_t until_ns = clock_boot_ns() + 30 * NS_PER_S;
    struct build_result result;
    struct build *build;
    char path[256];
    glob_t found;

    (void)state;
    job.key = "7123456789abcdef0123456789abcdef";
    build = build_start(&build_fixture_tools, &job, clock_boot_ns());
    snprintf(path, sizeof(path), "%s/tmp/build-*", build_fixture_dir);
    assert_int_equal(glob(path, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++)
        assert_true(build_dir_remove_tree(found.gl_pathv[i]));
    globfree(&found);
    while (!build_step(build, clock_boot_ns()))
        assert_true(clock_boot_ns() < until_ns);
    build_take_result(build, &result);
    build_free(build);
    assert_int_equal(result.outcome, OUTCOME_CRASH);
    assert_non_null(strstr(result.detail, "No such file or directory"));
    build_result_fini(&result);
}

static void missing_compiler_is_the_boxs_fault(void **state)
{
    struct build_job job = build_fixture_job(NO_KERNEL, "");
    struct build_result result;

    (void)state;
    build_fixture_tools.compiler = "/nowhere/g++";
    job.key = "6123456789abcdef0123456789abcdef";
    result = build_fixture_run(&job);
    assert_int_equal(result.outcome, OUTCOME_CRASH);
    assert_string_equal(result.detail, "No such file or directory");
    build_result_fini(&result);
}

#ifdef FA_NVCC_PATH
static void nvcc_builds_a_cubin_and_tells_its_registers(void **state)
{
    static const char *const flags[] = { "-O3", "--use_fast_math" };
    struct build_job job = build_fixture_nvcc_job(
        FA_NVCC_PATH,
        "extern \"C\" __global__ void other(float *a) { *a = 1; }\n"
        "extern \"C\" __global__ void __launch_bounds__(BLOCK)\n"
        "kernel(float *a) { a[threadIdx.x] += 1; }\n",
        "9123456789abcdef0123456789abcdef");
    struct build_result result, again;

    (void)state;
    job.flags = (struct texts){ flags, 2 };
    result = build_fixture_run(&job);
    assert_string_equal(result.detail, "");
    assert_int_equal(result.outcome, OUTCOME_BUILT);
    assert_in_range(result.made.registers, 4, 32);
    assert_int_equal(result.made.spill_bytes, 0);
    assert_int_equal(result.made.static_smem, 0);
    again = build_fixture_run(&job);
    assert_true(again.cached);
    assert_int_equal(again.made.registers, result.made.registers);
    assert_non_null(strstr(result.log, "registers"));
    assert_string_equal(again.log, result.log);
    build_result_fini(&result);
    build_result_fini(&again);
}

/* A wrapper that swallows what the compiler prints. */
static void registers_that_nobody_tells_are_not_0(void **state)
{
    struct build_job job = build_fixture_nvcc_job(
        FA_NVCC_PATH,
        "extern \"C\" __global__ void kernel(float *a) { *a = 1; }\n",
        "e123456789abcdef0123456789abcdef");
    char *quiet = mem_printf("%s/quiet", build_fixture_dir);
    FILE *script = fopen(quiet, "w");
    struct build_result result;

    (void)state;
    assert_non_null(script);
    fprintf(script,
            "#!/bin/sh\nexec " FA_NVCC_PATH " \"$@\" >/dev/null 2>&1\n");
    assert_int_equal(fclose(script), 0);
    assert_int_equal(chmod(quiet, 0700), 0);
    build_fixture_tools.compiler = quiet;
    result = build_fixture_run(&job);
    assert_int_equal(result.outcome, OUTCOME_BUILT);
    assert_int_equal(result.made.registers, -1);
    assert_int_equal(result.made.spill_bytes, -1);
    assert_int_equal(result.made.static_smem, -1);
    build_result_fini(&result);
    free(quiet);
}

static void nvcc_without_the_entry_lists_the_cubins(void **state)
{
    struct build_job job = build_fixture_nvcc_job(
        FA_NVCC_PATH,
        "extern \"C\" __global__ void one(float *a) { *a = 1; }\n"
        "__device__ int kernel;\n",
        "a123456789abcdef0123456789abcdef");
    struct build_result result = build_fixture_run(&job);

    (void)state;
    assert_int_equal(result.outcome, OUTCOME_COMPILE);
    assert_string_equal(result.detail,
                        "entry 'kernel' is not in kernel.cu, which has one");
    build_result_fini(&result);
}

static void nvcc_error_names_the_users_file(void **state)
{
    struct build_job job = build_fixture_nvcc_job(
        FA_NVCC_PATH,
        "extern \"C\" __global__ void kernel(float *a) { b = 1; }\n",
        "b123456789abcdef0123456789abcdef");
    struct build_result result = build_fixture_run(&job);

    (void)state;
    assert_int_equal(result.outcome, OUTCOME_COMPILE);
    assert_string_equal(result.detail,
                        "kernel.cu(1): error: identifier \"b\" is undefined");
    assert_null(strstr(result.log, build_fixture_dir));
    build_result_fini(&result);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_once_then_answered_from_the_cache),
        cmocka_unit_test(other_compiler_builds_again),
        cmocka_unit_test(error_names_the_users_file_and_line),
        cmocka_unit_test(missing_entry_lists_those_that_are_there),
        cmocka_unit_test(template_bomb_meets_the_limit),
        cmocka_unit_test(shell_text_in_a_value_is_only_text),
        cmocka_unit_test(names_and_flags_for_a_shell_are_refused),
        cmocka_unit_test(compiled_header_changes_no_artifact),
        cmocka_unit_test(header_of_other_text_is_not_placed),
        cmocka_unit_test(removed_work_folder_is_the_boxs_fault),
        cmocka_unit_test(missing_compiler_is_the_boxs_fault),
#ifdef FA_NVCC_PATH
        cmocka_unit_test(nvcc_builds_a_cubin_and_tells_its_registers),
        cmocka_unit_test(registers_that_nobody_tells_are_not_0),
        cmocka_unit_test(nvcc_without_the_entry_lists_the_cubins),
        cmocka_unit_test(nvcc_error_names_the_users_file),
#endif
    };

    return cmocka_run_group_tests(tests, build_fixture_set_up,
                                  build_fixture_tear_down);
}
