/* Which kernel of a source is meant. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/source/c_text.h"
#include "coordinator/source/kernel_find.h"

/* The kernel that is found has this name, and 'begin' are its parameters. */
static void finds(const char *text, const char *entry, const char *name,
                  const char *begin)
{
    char *plain = c_text_plain(text);
    struct kernel_found found;
    struct err err = { "" };

    assert_int_equal(kernel_find(plain, entry, &found, &err), 0);
    assert_int_equal(found.len, strlen(name));
    assert_memory_equal(found.name, name, found.len);
    assert_memory_equal(found.parameters, begin, strlen(begin));
    free(plain);
}

static void refuses(const char *text, const char *entry, const char *why)
{
    char *plain = c_text_plain(text);
    struct kernel_found found;
    struct err err = { "" };

    assert_int_equal(kernel_find(plain, entry, &found, &err), ERR_INPUT);
    assert_string_equal(err.text, why);
    free(plain);
}

static void a_kernel_with_a_mangled_name_is_refused(void **state)
{
    static const char why[] =
        "'f' is not extern \"C\", so its name in the compiled file is another "
        "one; write extern \"C\" before __global__";

    (void)state;
    refuses("__global__ void f(int n) {}", NULL, why);
    refuses("extern \"C\" { int n; }\n__global__ void f(int n) {}", NULL, why);
}

static void a_block_of_c_reaches_to_its_end(void **state)
{
    static const char text[] =
        "#ifdef __cplusplus\nextern \"C\" {\n#endif\n"
        "int other(void);\n"
        "static float h(float x) { if (x > 0) { x = 1; } return x; }\n"
        "__global__ void f(int n) {}\n"
        "__global__ void g(long m) {}\n"
        "}\n"
        "__global__ void k(int n) {}\n";

    (void)state;
    finds(text, "f", "f", "int n");
    finds(text, "g", "g", "long m");
    refuses(text, "k",
            "'k' is not extern \"C\", so its name in the compiled file is "
            "another one; write extern \"C\" before __global__");
}

static void a_template_is_told_apart(void **state)
{
    static const char why[] =
        "'f' is a template; write an extern \"C\" __global__ function that "
        "calls its body with macros as the template arguments "
        "(docs/own-kernel.md)";

    (void)state;
    refuses("template <int N> __global__ void f(int n) {}\n", NULL, why);
    /* and is one kernel, however often it is instantiated */
    refuses("template <int N> __global__ void f(int n) {}\n"
            "template __global__ void f<2>(int n);\n"
            "template __global__ void f<4>(int n);\n",
            NULL, why);
    finds("template <int N> __global__ void f(int n) {}\n"
          "extern \"C\" __global__ void g(int n) { body<BLOCK>(n); }\n",
          NULL, "g", "int n");
}

static void a_kernel_that_is_declared_first_is_one(void **state)
{
    (void)state;
    finds("extern \"C\" __global__ void f(float *, int);\n"
          "__global__ void f(float *x, int n)\n{\n}\n",
          NULL, "f", "float *x");
    finds("extern \"C\" __global__ void f(float *x, int n) {}\n"
          "extern \"C\" __global__ void f(float *, int);\n",
          NULL, "f", "float *x");
}

static void attributes_are_not_the_name(void **state)
{
    (void)state;
    finds("extern \"C\" __global__ void __launch_bounds__(B * 2, (B > 64))\n"
          "__maxnreg__(128) __attribute__((used)) f(int n) {}",
          NULL, "f", "int n");
    finds("extern \"C\" __global__ __cluster_dims__(2, 1, 1) void f(int n) {}",
          NULL, "f", "int n");
}

static void a_text_is_no_kernel(void **state)
{
    (void)state;
    finds("extern \"C\" __global__ void f(int n)\n"
          "{ source(\"extern \\\"C\\\" __global__ void g(int *p) {\"); }\n",
          NULL, "f", "int n");
}

static void of_several_kernels_one_is_chosen(void **state)
{
    static const char text[] =
        "extern \"C\" __global__ void f(int n) {}\n"
        "extern \"C\" __global__ void gg(double *x) {}\n";

    (void)state;
    refuses(text, NULL,
            "there are 2 kernels, f and gg; choose one with --entry");
    finds(text, "gg", "gg", "double *x");
    refuses(text, "h", "there is no __global__ function h");
    refuses(text, "ggg",
            "there is no __global__ function ggg; did you mean 'gg'?");
    refuses("__global__ void a() {}\n__global__ void b() {}\n"
            "__global__ void c() {}\n__global__ void d() {}\n"
            "__global__ void e() {}\n",
            NULL,
            "there are 5 kernels, a, b, c, d and others; choose one with "
            "--entry");
    refuses("#include \"kernel.cuh\"\n", NULL,
            "there is no __global__ function in it; files that it includes "
            "are not read");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_kernel_with_a_mangled_name_is_refused),
        cmocka_unit_test(a_block_of_c_reaches_to_its_end),
        cmocka_unit_test(a_template_is_told_apart),
        cmocka_unit_test(a_kernel_that_is_declared_first_is_one),
        cmocka_unit_test(attributes_are_not_the_name),
        cmocka_unit_test(a_text_is_no_kernel),
        cmocka_unit_test(of_several_kernels_one_is_chosen),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
