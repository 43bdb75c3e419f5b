#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
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
#include "worker/build/slots.h"
#include "worker/process/child.h"
#include "worker/store/build_dir.h"

#define KEY "00112233445566778899aabbccddeeff"
#define NO_KERNEL "int x;\n"

/* The part of fa/emulation.h that a host compiler needs for a kernel. */
#define EMULATION                                                  \
    "#define __global__ __attribute__((visibility(\"hidden\")))\n" \
    "#define FA_EMULATION_ENTRY(name) \\\n"                        \
    "extern \"C\" __attribute__((visibility(\"default\"))) \\\n"   \
    "void *fa_entry() { return (void *)name; }\n"

static char dir[] = "/tmp/fa-test-build-XXXXXX";
static struct build_tools tools;

static int set_up(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(hash_setup(&err), 0);
    assert_non_null(mkdtemp(dir));
    if (cache_open(dir, CACHE_BYTES, &tools.cache, &err) < 0)
        fail_msg("%s", err.text);
    return 0;
}

static int entries_of(const char *folder)
{
    char *path = mem_printf("%s/%s", dir, folder);
    DIR *open = opendir(path);
    int n = 0;

    assert_non_null(open);
    for (struct dirent *entry; (entry = readdir(open));)
        n += entry->d_name[0] != '.';
    closedir(open);
    free(path);
    return n;
}

static int tear_down(void **state)
{
    (void)state;
    assert_int_equal(entries_of("tmp"), 0);
    cache_close(tools.cache);
    assert_true(build_dir_remove_tree(dir));
    return 0;
}

static struct build_job job_of(const char *source, const char *header)
{
    static const char *const names[] = { "kernel.cu", "fa/emulation.h" };
    static struct bytes contents[2];
    struct build_job job = {
        .key = KEY,
        .names = { names, 2 },
        .contents = { contents, 2 },
        .source = "kernel.cu",
        .header = header,
        .entry = "kernel",
        .standard = "c++17",
        .arch = "cpu",
    };

    contents[0] = (struct bytes){ source, strlen(source) };
    contents[1] = (struct bytes){ EMULATION, strlen(EMULATION) };
    tools.compiler = "/usr/bin/g++";
    tools.toolkit = "g++ test";
    return job;
}

static struct build_result finish(struct build *build)
{
    int64_t now_ns = clock_boot_ns(), until_ns = now_ns + 60 * NS_PER_S;
    struct build_result result;

    while (!build_step(build, now_ns)) {
        struct pollfd fds[CHILD_FDS_MAX];
        int64_t wait_ns = build_deadline_ns(build) - now_ns;

        assert_true(now_ns < until_ns);
        if (wait_ns > NS_PER_S)
            wait_ns = NS_PER_S;
        poll(fds, (nfds_t)build_poll(build, fds, CHILD_FDS_MAX),
             wait_ns > 0 ? (int)(wait_ns / NS_PER_MS) + 1 : 0);
        now_ns = clock_boot_ns();
    }
    build_take_result(build, &result);
    build_free(build);
    assert_int_equal(entries_of("tmp"), 0);
    return result;
}

static struct build_result run(const struct build_job *job)
{
    return finish(build_start(&tools, job, clock_boot_ns()));
}

static void built_once_then_answered_from_the_cache(void **state)
{
    struct build_job job = job_of(
        "extern \"C\" __global__ void kernel(float *a) { a[0] = VALUE; }\n",
        "#define VALUE 3\n");
    struct build_result first = run(&job), second = run(&job);

    (void)state;
    assert_string_equal(first.log, "");
    assert_int_equal(first.outcome, OUTCOME_BUILT);
    assert_false(first.cached);
    assert_true(first.seconds > 0);
    assert_true(cache_has(tools.cache, first.made.artifact));
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
        job_of("extern \"C\" __global__ void kernel() {}\n", "");
    struct build_result first, second;

    (void)state;
    job.key = "0123456789abcdef0123456789abcdef";
    first = run(&job);
    tools.toolkit = "g++ other";
    second = run(&job);
    assert_int_equal(first.outcome, OUTCOME_BUILT);
    assert_false(second.cached);
    build_result_fini(&first);
    build_result_fini(&second);
}

static void error_names_the_users_file_and_line(void **state)
{
    struct build_job job = job_of(
        "\nextern \"C\" __global__ void kernel(float *a) { b[0] = 1; }\n", "");
    struct build_result result;

    (void)state;
    job.key = "1123456789abcdef0123456789abcdef";
    result = run(&job);
    assert_int_equal(result.outcome, OUTCOME_COMPILE);
    assert_string_equal(result.detail,
                        "kernel.cu:2:47: error: 'b' was not declared in this "
                        "scope");
    assert_false(result.unfit);
    assert_memory_equal(result.log, "kernel.cu:2:47: error:", 22);
    assert_null(strstr(result.log, dir));
    build_result_fini(&result);
}

static void missing_entry_lists_those_that_are_there(void **state)
{
    struct build_job job =
        job_of("extern \"C\" __global__ void one(float *a) { *a = 1; }\n"
               "extern \"C\" __global__ void __attribute__((cold)) two() {}\n",
               "");
    struct build_result result;

    (void)state;
    job.key = "2123456789abcdef0123456789abcdef";
    result = run(&job);
    assert_int_equal(result.outcome, OUTCOME_COMPILE);
    assert_string_equal(
        result.detail,
        "entry 'kernel' is not in kernel.cu, which has one, two");
    assert_true(result.unfit);
    build_result_fini(&result);
}

/* A job with the real fa/emulation.h, and these arguments. */
static struct build_job emulated_job(const char *source, const char *key,
                                     const char *const *arguments, size_t n)
{
    static const char *const names[] = {
        "kernel.cu",    "fa/emulation.h",     "fa/emulator.h",
        "fa/vectors.h", "fa/builtins.h",      "fa/intrinsics.h",
        "fa/atomics.h", "fa/half.h",          "fa/half_types.h",
        "fa/checks.h",  "fa_cuda/cuda_fp16.h"
    };
    enum {
        N_NAMES = sizeof(names) / sizeof(names[0])
    };
    static struct bytes contents[N_NAMES];
    static char text[N_NAMES - 1][32768];
    struct build_job job = job_of(source, "");

    contents[0] = job.contents.items[0];
    for (size_t i = 0; i < N_NAMES - 1; i++) {
        char *path =
            mem_printf("%s/kernels/include/%s", FA_SOURCE_DIR, names[i + 1]);
        FILE *file = fopen(path, "rb");

        assert_non_null(file);
        contents[i + 1] =
            (struct bytes){ text[i], fread(text[i], 1, sizeof(text[i]), file) };
        fclose(file);
        free(path);
    }
    job.key = key;
    job.names = (struct texts){ names, N_NAMES };
    job.contents = (struct blobs){ contents, N_NAMES };
    job.arguments = (struct texts){ arguments, n };
    return job;
}

static void assert_built(struct build_job job)
{
    struct build_result result = run(&job);

    assert_string_equal(result.detail, "");
    assert_string_equal(result.log, "");
    assert_int_equal(result.outcome, OUTCOME_BUILT);
    build_result_fini(&result);
}

static void assert_not_built(struct build_job job, const char *detail)
{
    struct build_result result = run(&job);

    assert_string_equal(result.detail, detail);
    assert_int_equal(result.outcome, OUTCOME_COMPILE);
    assert_true(result.unfit);
    build_result_fini(&result);
}

static const char *const three[] = { "a 8", "out 8", "n 4" };
#define KERNEL_OF_THREE                                                \
    "extern \"C\" __global__ void kernel(const float *a, float *out, " \
    "int n) { out[n] = a[n]; }\n"
#define KERNEL_OF_FOUR                                                 \
    "extern \"C\" __global__ void kernel(const float *a, float *out, " \
    "double s, int n) { out[n] = a[n] * s; }\n"
#define FOUR_FOR_THREE                                                      \
    "kernel 'kernel' takes 4 parameters (8 8 8 4 bytes), the sweep file "   \
    "gives 3 (8 8 4 bytes): parameter 3 has 8 bytes, its argument 'n' has " \
    "4"

static void emulated_kernel_takes_the_arguments_of_the_sweep_file(void **state)
{
    (void)state;
    assert_built(emulated_job(KERNEL_OF_THREE,
                              "c123456789abcdef0123456789abcdef", three, 3));
    assert_not_built(emulated_job(KERNEL_OF_FOUR,
                                  "d123456789abcdef0123456789abcdef", three, 3),
                     FOUR_FOR_THREE);
    assert_not_built(
        emulated_job("extern \"C\" __global__ void kernel() {}\n",
                     "d223456789abcdef0123456789abcdef", three, 1),
        "kernel 'kernel' takes no parameters, the sweep file gives 1 (8 "
        "bytes): no parameter takes the argument 'a'");
}

static void emulated_kernel_may_include_only_headers_of_nvcc(void **state)
{
    (void)state;
    assert_built(emulated_job(
        "#include <cuda_fp16.h>\n"
        "extern \"C\" __global__ void kernel(const __half *a, float *out, "
        "int n)\n"
        "{\n"
        "    extern __shared__ float s[];\n"
        "    __shared__ float t[32];\n"
        "    s[n] = t[n] = __half2float(a[n]);\n"
        "    out[n] = s[n];\n"
        "}\n",
        "d523456789abcdef0123456789abcdef", three, 3));
}

/* Does the artifact of this build have this text? */
static bool artifact_has(struct build_job job, const char *text)
{
    struct build_result result = run(&job);
    char path[PATH_MAX];
    static char bytes[1 << 20];
    FILE *file;
    size_t n;

    assert_int_equal(result.outcome, OUTCOME_BUILT);
    assert_true(cache_path(tools.cache, result.made.artifact, path));
    file = fopen(path, "rb");
    assert_non_null(file);
    n = fread(bytes, 1, sizeof(bytes), file);
    assert_int_equal(fclose(file), 0);
    build_result_fini(&result);
    return memmem(bytes, n, text, strlen(text)) != NULL;
}

static void emulated_kernel_has_its_accesses_checked(void **state)
{
    struct build_job job =
        emulated_job("extern \"C\" __global__ void kernel(const float *a, "
                     "float *out, int n)\n"
                     "{\n"
                     "    *(float4 *)out = *(const float4 *)(a + n);\n"
                     "}\n",
                     "d623456789abcdef0123456789abcdef", three, 3);

    (void)state;
    /* how a check names what it expects */
    assert_true(artifact_has(job, "float4'"));
    assert_false(artifact_has(job, "libubsan"));
}

static void emulated_kernel_with_cpp_linkage_is_refused(void **state)
{
    (void)state;
    assert_not_built(
        emulated_job("__global__ void kernel(float *a) { *a = 1; }\n",
                     "d323456789abcdef0123456789abcdef", three, 1),
        "entry 'kernel' of kernel.cu has C++ linkage (_Z6kernelPf): write "
        "extern \"C\" in front of __global__");
}

static void parameters_that_cannot_be_read_are_told_in_the_log(void **state)
{
    struct build_job job = job_of(
        "extern \"C\" __global__ void kernel(float *a) { *a = 1; }\n", "");
    struct build_result result;

    (void)state;
    job.key = "d423456789abcdef0123456789abcdef";
    job.arguments = (struct texts){ three, 1 };
    result = run(&job); /* its fa/emulation.h exports no table */
    assert_int_equal(result.outcome, OUTCOME_BUILT);
    assert_string_equal(result.log,
                        "the parameters of kernel 'kernel' cannot be read, so "
                        "they were not compared with the sweep file's "
                        "arguments\n");
    build_result_fini(&result);
}

static void template_bomb_meets_the_limit(void **state)
{
    struct build_job job = job_of(
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
    result = run(&job);
    assert_int_equal(result.outcome, OUTCOME_TIMEOUT);
    assert_string_equal(result.detail,
                        "the compiler was still running after 1 s");
    assert_true(result.seconds < 6);
    build_result_fini(&result);
}

static void shell_text_in_a_value_is_only_text(void **state)
{
    struct build_job job = job_of(
        "extern \"C\" __global__ void kernel(const char **a) { *a = NAME; }\n",
        "#define NAME \"$(touch /tmp/fa-test-touched) `touch "
        "/tmp/fa-test-touched`\"\n");
    struct build_result result;

    (void)state;
    job.key = "4123456789abcdef0123456789abcdef";
    result = run(&job);
    assert_int_equal(result.outcome, OUTCOME_BUILT);
    assert_int_equal(access("/tmp/fa-test-touched", F_OK), -1);
    build_result_fini(&result);
}

static void refused(struct build_job job, const char *detail)
{
    struct build_result result;

    job.key = "5123456789abcdef0123456789abcdef";
    result = run(&job);
    assert_int_equal(result.outcome, OUTCOME_COMPILE);
    assert_non_null(strstr(result.detail, detail));
    build_result_fini(&result);
}

static void names_and_flags_for_a_shell_are_refused(void **state)
{
    static const char *const flags[] = { "-O3", "-DX=$(touch y)" };
    static const char *const up[] = { "../kernel.cu", "fa/emulation.h" };
    struct build_job job = job_of(NO_KERNEL, "");

    (void)state;
    job.flags = (struct texts){ flags, 2 };
    refused(job, "flag '-DX=$(touch y)' does not begin with '-', or has a");
    job = job_of(NO_KERNEL, "");
    job.names.items = up;
    refused(job, "the file name '../kernel.cu' is not of letters");
    job = job_of(NO_KERNEL, "");
    job.source = "a;b.cu";
    refused(job, "source 'a;b.cu' is not a plain file name");
    job = job_of(NO_KERNEL, "");
    job.entry = "f(); g";
    refused(job, "entry 'f(); g' is not a C identifier");
    job = job_of(NO_KERNEL, "");
    job.arch = "sm_89 -x";
    refused(job, "arch 'sm_89 -x' is not like sm_89");
    job = job_of(NO_KERNEL, "");
    job.arguments = (struct texts){ flags, 1 };
    refused(job, "an argument that is not 'NAME BYTES'");
    job = job_of(NO_KERNEL, "");
    job.standard = "c++17`x`";
    refused(job, "standard 'c++17`x`' is not like c++17");
}

static void missing_compiler_is_the_boxs_fault(void **state)
{
    struct build_job job = job_of(NO_KERNEL, "");
    struct build_result result;

    (void)state;
    tools.compiler = "/nowhere/g++";
    job.key = "6123456789abcdef0123456789abcdef";
    result = run(&job);
    assert_int_equal(result.outcome, OUTCOME_CRASH);
    assert_string_equal(result.detail, "No such file or directory");
    build_result_fini(&result);
}

static void slots_build_so_many_at_once_in_order(void **state)
{
    struct build_job job = job_of("#error one\n", "");
    struct slots *slots = slots_new(&tools, 1);
    struct build_result result;
    int64_t lease, until_ns = clock_boot_ns() + 30 * NS_PER_S;
    struct err err;

    (void)state;
    job.key = "7123456789abcdef0123456789abcdef";
    assert_int_equal(slots_add(slots, 11, &job, &err), 0);
    assert_int_equal(slots_add(slots, 12, &job, &err), 0);
    assert_int_equal(slots_add(slots, 13, &job, &err), ERR_INPUT);
    assert_int_equal(slots_deadline_ns(slots), 0); /* a slot is free */
    assert_string_equal(err.text, "lease 13 is over the credit of 2 builds");
    slots_step(slots, clock_boot_ns());
    assert_true(slots_deadline_ns(slots) > 0); /* 12 waits for its end */
    assert_true(slots_next_started(slots, &lease));
    assert_int_equal(lease, 11);
    assert_false(slots_next_started(slots, &lease));
    slots_cancel(slots, 12);
    while (!slots_next_result(slots, &lease, &result)) {
        assert_true(clock_boot_ns() < until_ns);
        slots_step(slots, clock_boot_ns());
    }
    assert_int_equal(lease, 11);
    assert_string_equal(result.detail, "kernel.cu:1:2: error: #error one");
    assert_int_equal(slots_busy(slots), 0);
    build_result_fini(&result);
    slots_free(slots);
}

static void cancelled_build_leaves_nothing(void **state)
{
    struct build_job job = job_of("#include \"kernel.cu\"\n", "");
    struct slots *slots = slots_new(&tools, 1);

    (void)state;
    job.key = "8123456789abcdef0123456789abcdef";
    assert_int_equal(slots_add(slots, 1, &job, NULL), 0);
    slots_step(slots, clock_boot_ns());
    assert_int_equal(entries_of("tmp"), 1);
    slots_free(slots);
    assert_int_equal(entries_of("tmp"), 0);
}

#ifdef FA_NVCC_PATH
static struct build_job nvcc_job(const char *source, const char *key)
{
    struct build_job job = job_of(source, "#define BLOCK 128\n");

    job.key = key;
    job.arch = "sm_89";
    tools.compiler = FA_NVCC_PATH;
    tools.toolkit = "nvcc test";
    return job;
}

static void nvcc_builds_a_cubin_and_tells_its_registers(void **state)
{
    static const char *const flags[] = { "-O3", "--use_fast_math" };
    struct build_job job =
        nvcc_job("extern \"C\" __global__ void other(float *a) { *a = 1; }\n"
                 "extern \"C\" __global__ void __launch_bounds__(BLOCK)\n"
                 "kernel(float *a) { a[threadIdx.x] += 1; }\n",
                 "9123456789abcdef0123456789abcdef");
    struct build_result result, again;

    (void)state;
    job.flags = (struct texts){ flags, 2 };
    result = run(&job);
    assert_string_equal(result.detail, "");
    assert_int_equal(result.outcome, OUTCOME_BUILT);
    assert_in_range(result.made.registers, 4, 32);
    assert_int_equal(result.made.spill_bytes, 0);
    assert_int_equal(result.made.static_smem, 0);
    again = run(&job);
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
    struct build_job job =
        nvcc_job("extern \"C\" __global__ void kernel(float *a) { *a = 1; }\n",
                 "e123456789abcdef0123456789abcdef");
    char *quiet = mem_printf("%s/quiet", dir);
    FILE *script = fopen(quiet, "w");
    struct build_result result;

    (void)state;
    assert_non_null(script);
    fprintf(script,
            "#!/bin/sh\nexec " FA_NVCC_PATH " \"$@\" >/dev/null 2>&1\n");
    assert_int_equal(fclose(script), 0);
    assert_int_equal(chmod(quiet, 0700), 0);
    tools.compiler = quiet;
    result = run(&job);
    assert_int_equal(result.outcome, OUTCOME_BUILT);
    assert_int_equal(result.made.registers, -1);
    assert_int_equal(result.made.spill_bytes, -1);
    assert_int_equal(result.made.static_smem, -1);
    build_result_fini(&result);
    free(quiet);
}

static void nvcc_without_the_entry_lists_the_cubins(void **state)
{
    struct build_job job =
        nvcc_job("extern \"C\" __global__ void one(float *a) { *a = 1; }\n"
                 "__device__ int kernel;\n",
                 "a123456789abcdef0123456789abcdef");
    struct build_result result = run(&job);

    (void)state;
    assert_int_equal(result.outcome, OUTCOME_COMPILE);
    assert_string_equal(result.detail,
                        "entry 'kernel' is not in kernel.cu, which has one");
    build_result_fini(&result);
}

static void nvcc_kernel_takes_the_arguments_of_the_sweep_file(void **state)
{
    struct build_job job =
        nvcc_job(KERNEL_OF_THREE, "e123456789abcdef0123456789abcdef");
    struct build_result result;

    (void)state;
    job.arguments = (struct texts){ three, 3 };
    result = run(&job);
    assert_int_equal(result.outcome, OUTCOME_BUILT);
    assert_null(strstr(result.log, "cannot be read"));
    build_result_fini(&result);
    job = nvcc_job(KERNEL_OF_FOUR, "e223456789abcdef0123456789abcdef");
    job.arguments = (struct texts){ three, 3 };
    assert_not_built(job, FOUR_FOR_THREE);
    job = nvcc_job("__global__ void kernel(float *a) { *a = 1; }\n",
                   "e323456789abcdef0123456789abcdef");
    assert_not_built(job, "entry 'kernel' of kernel.cu has C++ linkage "
                          "(_Z6kernelPf): write extern \"C\" in front of "
                          "__global__");
}

static void nvcc_error_names_the_users_file(void **state)
{
    struct build_job job =
        nvcc_job("extern \"C\" __global__ void kernel(float *a) { b = 1; }\n",
                 "b123456789abcdef0123456789abcdef");
    struct build_result result = run(&job);

    (void)state;
    assert_int_equal(result.outcome, OUTCOME_COMPILE);
    assert_string_equal(result.detail,
                        "kernel.cu(1): error: identifier \"b\" is undefined");
    assert_null(strstr(result.log, dir));
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
        cmocka_unit_test(emulated_kernel_takes_the_arguments_of_the_sweep_file),
        cmocka_unit_test(emulated_kernel_may_include_only_headers_of_nvcc),
        cmocka_unit_test(emulated_kernel_has_its_accesses_checked),
        cmocka_unit_test(emulated_kernel_with_cpp_linkage_is_refused),
        cmocka_unit_test(parameters_that_cannot_be_read_are_told_in_the_log),
        cmocka_unit_test(template_bomb_meets_the_limit),
        cmocka_unit_test(shell_text_in_a_value_is_only_text),
        cmocka_unit_test(names_and_flags_for_a_shell_are_refused),
        cmocka_unit_test(missing_compiler_is_the_boxs_fault),
        cmocka_unit_test(slots_build_so_many_at_once_in_order),
        cmocka_unit_test(cancelled_build_leaves_nothing),
#ifdef FA_NVCC_PATH
        cmocka_unit_test(nvcc_builds_a_cubin_and_tells_its_registers),
        cmocka_unit_test(registers_that_nobody_tells_are_not_0),
        cmocka_unit_test(nvcc_without_the_entry_lists_the_cubins),
        cmocka_unit_test(nvcc_kernel_takes_the_arguments_of_the_sweep_file),
        cmocka_unit_test(nvcc_error_names_the_users_file),
#endif
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
