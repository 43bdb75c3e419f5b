#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "worker/build/compiler_output.h"
#include "worker/build/kernel_names.h"

static void first_error_is(const char *output, const char *error)
{
    struct buf log, first;

    buf_init(&log, 4096);
    buf_init(&first, 1024);
    compiler_output_text(output, &log, &first);
    assert_string_equal(buf_text(&first), error);
    if (error[0])
        assert_memory_equal(buf_text(&log), error, strlen(error));
    buf_fini(&log);
    buf_fini(&first);
}

static void first_error_is_found_in_every_dialect(void **state)
{
    static const char *const rows[][2] = {
        { "", "" },
        { "ptxas info    : 0 bytes gmem\n", "" },
        { "k.cu: In function 'f':\n./k.cu:1:2: error: no\nk.cu:3:1: error: x",
          "k.cu:1:2: error: no" },
        { "k.cu(3): warning #177-D: unused\nk.cu(9): error: no\n",
          "k.cu(9): error: no" },
        { "<command-line>: fatal error: a.h: No such file or directory\n",
          "<command-line>: fatal error: a.h: No such file or directory" },
        { "ptxas error   : Entry function 'k' uses too much shared data (0x1)",
          "ptxas error   : Entry function 'k' uses too much shared data "
          "(0x1)" },
        { "nvcc fatal   : Unsupported gpu architecture 'compute_1'\n",
          "nvcc fatal   : Unsupported gpu architecture 'compute_1'" },
        { "gcc: No such file or directory\nnvcc fatal   : Failed to "
          "preprocess host compiler properties.\n",
          "gcc: No such file or directory" },
        { "k.cu: Assembler messages:\nk.cu:1: Error: no such instruction: "
          "`x'\n",
          "k.cu:1: Error: no such instruction: `x'" },
        { "In file included from ../gen/entry.cc:1:\nk.cu:7:1: error: no\n",
          "k.cu:7:1: error: no" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        first_error_is(rows[i][0], rows[i][1]);
}

static void what_stood_before_the_error_follows_it(void **state)
{
    struct buf log, first;

    (void)state;
    buf_init(&log, 4096);
    buf_init(&first, 1024);
    compiler_output_text("a.h: note: one\nk.cu:1:2: error: no\nlast\n", &log,
                         &first);
    assert_string_equal(buf_text(&log),
                        "k.cu:1:2: error: no\nlast\na.h: note: one\n");
    buf_fini(&log);
    buf_fini(&first);
}

static void compiler_killed_from_outside_is_told_apart(void **state)
{
    (void)state;
    assert_true(compiler_output_was_killed(
        "nvcc error   : 'cicc' died due to signal 9 (Kill signal)\n"));
    assert_true(compiler_output_was_killed(
        "g++: fatal error: Killed signal terminated program cc1plus\n"));
    assert_true(compiler_output_was_killed(
        "nvcc error   : 'cicc' died due to signal 15 (Terminated)\n"));
    assert_true(compiler_output_was_killed(
        "g++: fatal error: Terminated signal terminated program cc1plus\n"));
    assert_false(compiler_output_was_killed(
        "nvcc error   : 'cicc' died due to signal 11 (Invalid memory)\n"));
}

static void a_tunable_whose_name_is_taken_is_named(void **state)
{
    static const char header[] = "#define BLOCK 128\n#define rows 4\n";
    static const char *const rows[][2] = {
        { "../gen/params.h:2:14: error: expected unqualified-id", "rows" },
        { "../gen/params.h(1): error: expected an identifier", "BLOCK" },
        { "../gen/params.h:3:1: error: no", NULL },
        { "k.cu:2:14: error: no", NULL },
        { "", NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct buf why;
        char want[200];

        buf_init(&why, 1024);
        assert_int_equal(compiler_output_collides(rows[i][0], header, &why),
                         rows[i][1] != NULL);
        snprintf(want, sizeof(want),
                 "the name '%s' means something else in the source or a "
                 "header: rename the tunable (%s)",
                 rows[i][1] ? rows[i][1] : "", rows[i][0]);
        assert_string_equal(buf_text(&why), rows[i][1] ? want : "");
        buf_fini(&why);
    }
}

static void what_only_nvcc_compiles_is_named(void **state)
{
    static const char ptx[] = "inline PTX does not compile for the cpu device: "
                              "use the functions of <fa/fa.h> in its place";
    static const char host[] = "host code does not compile for the cpu device: "
                               "put it between #ifdef __CUDACC__ and #endif";
    static const char *const rows[][2] = {
        { "k.cu:1: Error: no such instruction: `mov.u32 %eax,%laneid'", ptx },
        { "k.cu:2: Error: unknown pseudo-op: `.reg'", ptx },
        { "k.cu:2:58: error: output constraint 0 must specify a single "
          "register",
          ptx },
        { "k.cu:1:28: error: impossible constraint in 'asm'", ptx },
        { "k.cu:1:54: error: invalid output constraint '=f' in asm", ptx },
        { "k.cu:1:26: error: invalid instruction mnemonic 'add.f64'", ptx },
        { "k.cu:1:35: error: invalid register name", ptx },
        { "k.cu:5:23: error: 'cudaStream_t' has not been declared", host },
        { "k.cu:5:24: error: use of undeclared identifier 'cudaMalloc'", host },
        { "k.cu:5:31: error: expected primary-expression before '<' token",
          host },
        { "k.cu:1:2: error: template constraint failure for 'f'", NULL },
        { "k.cu:1:2: error: 'cuda' has not been declared", NULL },
        { "", NULL },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct buf why;
        char want[300] = "";

        buf_init(&why, 1024);
        assert_int_equal(compiler_output_needs_nvcc(rows[i][0], &why),
                         rows[i][1] != NULL);
        if (rows[i][1])
            snprintf(want, sizeof(want), "%s (%s)", rows[i][1], rows[i][0]);
        assert_string_equal(buf_text(&why), want);
        buf_fini(&why);
    }
}

static void kernels_of_a_source_are_listed(void **state)
{
    static const char source[] =
        "extern \"C\" __global__ void __launch_bounds__(128) one(int *a) {}\n"
        "template <int N>\n__global__ void two(float a) { f(); }\n"
        "__global__ static void __attribute__((x)) three()\n"
        "__global__";
    struct buf names;

    (void)state;
    buf_init(&names, 256);
    kernel_names_of_source(source, strlen(source), &names);
    assert_string_equal(buf_text(&names), "one, two, three");
    buf_fini(&names);
}

/* Every prefix and every byte set to 255 of a small ELF header must be
 * survived; asan watches. */
static void damaged_cubins_are_survived(void **state)
{
    unsigned char bytes[192] = "\177ELF\2\1\1";
    struct kernel_names names;

    (void)state;
    bytes[40] = 64;      /* e_shoff */
    bytes[58] = 64;      /* e_shentsize */
    bytes[60] = 2;       /* e_shnum */
    bytes[64 + 4] = 2;   /* SHT_SYMTAB */
    bytes[64 + 32] = 48; /* its size */
    bytes[64 + 40] = 1;  /* its strings */
    bytes[4] = 2;        /* 64 bits */
    kernel_names_init(&names);
    for (size_t i = 0; i < sizeof(bytes); i++) {
        unsigned char kept = bytes[i];

        bytes[i] = 255;
        kernel_names_find(bytes, sizeof(bytes), KERNEL_NAMES_CUBIN, "k",
                          &names);
        assert_false(names.found);
        bytes[i] = kept;
        kernel_names_find(bytes, i, KERNEL_NAMES_CUBIN, "k", &names);
        assert_false(names.found);
    }
    kernel_names_fini(&names);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(first_error_is_found_in_every_dialect),
        cmocka_unit_test(what_stood_before_the_error_follows_it),
        cmocka_unit_test(compiler_killed_from_outside_is_told_apart),
        cmocka_unit_test(a_tunable_whose_name_is_taken_is_named),
        cmocka_unit_test(what_only_nvcc_compiles_is_named),
        cmocka_unit_test(kernels_of_a_source_are_listed),
        cmocka_unit_test(damaged_cubins_are_survived),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
