/* test_kernel_check.c - a kernel that does not take what the sweep file gives
 * does not build */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "common/outcome.h"
#include "tests/worker/build/build_fixture.h"
#include "worker/build/build.h"
#include "worker/store/cache.h"

/* A job with the real fa/emulation.h, and these arguments. */
static struct build_job emulated_job(const char *source, const char *key,
                                     const char *const *arguments, size_t n)
{
    struct build_job job = build_fixture_real_job(source, key);

    job.arguments = (struct texts){ arguments, n };
    return job;
}

static void assert_built(struct build_job job)
{
    struct build_result result = build_fixture_run(&job);

    assert_string_equal(result.detail, "");
    assert_string_equal(result.log, "");
    assert_int_equal(result.outcome, OUTCOME_BUILT);
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
    build_fixture_assert_unfit(emulated_job(KERNEL_OF_FOUR,
                                            "d123456789abcdef0123456789abcdef",
                                            three, 3),
                               FOUR_FOR_THREE);
    build_fixture_assert_unfit(
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
    struct build_result result = build_fixture_run(&job);
    char path[PATH_MAX];
    static char bytes[1 << 20];
    FILE *file;
    size_t n;

    assert_int_equal(result.outcome, OUTCOME_BUILT);
    assert_true(
        cache_path(build_fixture_tools.cache, result.made.artifact, path));
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
    build_fixture_assert_unfit(
        emulated_job("__global__ void kernel(float *a) { *a = 1; }\n",
                     "d323456789abcdef0123456789abcdef", three, 1),
        "entry 'kernel' of kernel.cu has C++ linkage (_Z6kernelPf): write "
        "extern \"C\" in front of __global__");
}

static void a_function_without_global_is_refused(void **state)
{
    (void)state;
    build_fixture_assert_unfit(
        emulated_job("extern \"C\" void kernel(float *a) { *a = 1; }\n",
                     "d723456789abcdef0123456789abcdef", three, 1),
        "entry 'kernel' of kernel.cu is a function, but no kernel: write "
        "__global__ in front of it");
    build_fixture_assert_unfit(
        emulated_job("extern \"C\" __device__ void kernel(float *a)\n"
                     "{\n"
                     "    *a = 1;\n"
                     "}\n",
                     "d823456789abcdef0123456789abcdef", three, 1),
        "entry 'kernel' of kernel.cu is a function, but no kernel: write "
        "__global__ in front of it");
}

static void an_inline_kernel_is_a_kernel(void **state)
{
    (void)state;
    assert_built(emulated_job(
        "extern \"C\" __global__ inline void kernel(float *a) { *a = 1; }\n",
        "d923456789abcdef0123456789abcdef", three, 1));
}

static void parameters_that_cannot_be_read_are_told_in_the_log(void **state)
{
    struct build_job job = build_fixture_job(
        "extern \"C\" __global__ void kernel(float *a) { *a = 1; }\n", "");
    struct build_result result;

    (void)state;
    job.key = "d423456789abcdef0123456789abcdef";
    job.arguments = (struct texts){ three, 1 };
    result = build_fixture_run(&job); /* its fa/emulation.h exports no table */
    assert_int_equal(result.outcome, OUTCOME_BUILT);
    assert_string_equal(result.log,
                        "the parameters of kernel 'kernel' cannot be read, so "
                        "they were not compared with the sweep file's "
                        "arguments\n");
    build_result_fini(&result);
}

#ifdef FA_NVCC_PATH
static void nvcc_kernel_takes_the_arguments_of_the_sweep_file(void **state)
{
    struct build_job job = build_fixture_nvcc_job(
        FA_NVCC_PATH, KERNEL_OF_THREE, "e123456789abcdef0123456789abcdef");
    struct build_result result;

    (void)state;
    job.arguments = (struct texts){ three, 3 };
    result = build_fixture_run(&job);
    assert_int_equal(result.outcome, OUTCOME_BUILT);
    assert_null(strstr(result.log, "cannot be read"));
    build_result_fini(&result);
    job = build_fixture_nvcc_job(FA_NVCC_PATH, KERNEL_OF_FOUR,
                                 "e223456789abcdef0123456789abcdef");
    job.arguments = (struct texts){ three, 3 };
    build_fixture_assert_unfit(job, FOUR_FOR_THREE);
    job = build_fixture_nvcc_job(
        FA_NVCC_PATH, "__global__ void kernel(float *a) { *a = 1; }\n",
        "e323456789abcdef0123456789abcdef");
    build_fixture_assert_unfit(job,
                               "entry 'kernel' of kernel.cu has C++ linkage "
                               "(_Z6kernelPf): write extern \"C\" in front of "
                               "__global__");
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(emulated_kernel_takes_the_arguments_of_the_sweep_file),
        cmocka_unit_test(emulated_kernel_may_include_only_headers_of_nvcc),
        cmocka_unit_test(emulated_kernel_has_its_accesses_checked),
        cmocka_unit_test(emulated_kernel_with_cpp_linkage_is_refused),
        cmocka_unit_test(a_function_without_global_is_refused),
        cmocka_unit_test(an_inline_kernel_is_a_kernel),
        cmocka_unit_test(parameters_that_cannot_be_read_are_told_in_the_log),
#ifdef FA_NVCC_PATH
        cmocka_unit_test(nvcc_kernel_takes_the_arguments_of_the_sweep_file),
#endif
    };

    return cmocka_run_group_tests(tests, build_fixture_set_up,
                                  build_fixture_tear_down);
}
