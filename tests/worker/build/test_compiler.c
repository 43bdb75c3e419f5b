#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "worker/build/compiler.h"

#define FILLS_LOCALS "-ftrivial-auto-var-init=pattern"

/* Does the command of this compiler for the cpu device have this argument? */
static bool has(const char *toolkit, const char *argument)
{
    const struct compiler_task task = { .compiler = "/usr/bin/c++",
                                        .toolkit = toolkit,
                                        .source = "kernel.cu",
                                        .entry = "kernel",
                                        .standard = "c++17",
                                        .arch = "cpu" };
    struct compiler_line line;
    struct err err;
    bool found = false;

    assert_int_equal(compiler_kernel(&task, &line, &err), 0);
    for (size_t i = 0; i < line.n; i++)
        found = found || strcmp(line.args[i], argument) == 0;
    compiler_fini(&line);
    return found;
}

static void locals_are_filled_where_the_compiler_can(void **state)
{
    (void)state;
    assert_false(has("g++ 11.4.0", FILLS_LOCALS));
    assert_true(has("g++ 12.1.0", FILLS_LOCALS));
    assert_false(has("clang++ 7.0.1", FILLS_LOCALS));
    assert_true(has("clang++ 8.0.0", FILLS_LOCALS));
    assert_false(has("other 99", FILLS_LOCALS));
}

static void accesses_are_checked_without_a_library(void **state)
{
    static const char *const toolkits[] = { "g++ 11.4.0", "clang++ 14.0.6" };

    (void)state;
    for (size_t i = 0; i < 2; i++) {
        assert_true(
            has(toolkits[i], "-fsanitize=alignment,bounds,object-size"));
        assert_true(has(toolkits[i], "-nodefaultlibs"));
    }
}

static void conversions_are_those_of_a_gpu_where_the_compiler_can(void **state)
{
    static const char noted[] =
        "-fsanitize=alignment,bounds,object-size,float-cast-overflow";
    static const char saturates[] = "-fno-strict-float-cast-overflow";

    (void)state;
    assert_false(has("g++ 11.4.0", noted));
    assert_true(has("g++ 12.1.0", noted));
    assert_true(has("g++ 12.1.0", "-nodefaultlibs"));
    assert_false(has("g++ 12.1.0", saturates));
    assert_false(has("clang++ 7.0.1", saturates));
    assert_true(has("clang++ 8.0.0", saturates));
}

static void shared_memory_needs_no_constructor(void **state)
{
    (void)state;
    assert_true(has("g++ 8.5.0", "-fno-extern-tls-init"));
    assert_false(has("clang++ 14.0.6", "-fno-extern-tls-init"));
}

static int build_for(const char *toolkit, const char *arch, struct err *err)
{
    const struct compiler_task task = { .compiler = "/usr/bin/nvcc",
                                        .toolkit = toolkit,
                                        .source = "kernel.cu",
                                        .entry = "kernel",
                                        .standard = "c++17",
                                        .arch = arch };
    struct compiler_line line;
    int rc = compiler_kernel(&task, &line, err);

    compiler_fini(&line);
    return rc;
}

static void an_architecture_that_nvcc_left_behind_is_refused(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(build_for("nvcc 13.0.88", "sm_75", &err), 0);
    assert_int_equal(build_for("nvcc 12.9.86", "sm_70", &err), 0);
    assert_int_equal(build_for("nvcc 11.8.89", "sm_35", &err), 0);
    assert_int_equal(build_for("nvcc 12.9.86", "sm_37", &err), ERR_INPUT);
    assert_int_equal(build_for("nvcc 13.0.88", "sm_70", &err), ERR_INPUT);
    assert_string_equal(
        err.text,
        "nvcc 13.0.88 cannot build for sm_70, only for sm_75 and later: "
        "install an older CUDA toolkit beside it, and name its nvcc by nvcc= "
        "in the hosts file");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(locals_are_filled_where_the_compiler_can),
        cmocka_unit_test(accesses_are_checked_without_a_library),
        cmocka_unit_test(conversions_are_those_of_a_gpu_where_the_compiler_can),
        cmocka_unit_test(shared_memory_needs_no_constructor),
        cmocka_unit_test(an_architecture_that_nvcc_left_behind_is_refused),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
