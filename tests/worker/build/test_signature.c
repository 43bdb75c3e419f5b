#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/mem.h"
#include "common/elf_file.h"
#include "worker/build/kernel_check.h"
#include "worker/build/signature.h"

#define CUBINS FA_SOURCE_DIR "/tests/fixtures/cubins/"

struct bytes_of {
    unsigned char *bytes;
    size_t len;
};

static struct bytes_of load(const char *path)
{
    struct bytes_of out = { NULL, 0 };
    FILE *file = fopen(path, "rb");

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    out.len = (size_t)ftell(file);
    out.bytes = mem_new(out.len, 1);
    rewind(file);
    assert_int_equal(fread(out.bytes, 1, out.len, file), out.len);
    fclose(file);
    return out;
}

static const char *const cubins[] = { CUBINS "sm_89.cubin",
                                      CUBINS "sm_90.cubin",
                                      CUBINS "sm_100.cubin" };

static void a_cubin_has_the_size_of_each_parameter(void **state)
{
    static const uint32_t sizes[] = { 8, 8, 4, 8, 1, 2 };

    (void)state;
    for (size_t i = 0; i < 3; i++) {
        struct bytes_of file = load(cubins[i]);
        struct signature kernel;

        assert_true(signature_of_cubin(file.bytes, file.len, "mixed", &kernel));
        assert_int_equal(kernel.n, 6);
        assert_memory_equal(kernel.bytes, sizes, sizeof(sizes));
        assert_true(signature_of_cubin(file.bytes, file.len, "none", &kernel));
        assert_int_equal(kernel.n, 0);
        assert_false(
            signature_of_cubin(file.bytes, file.len, "absent", &kernel));
        free(file.bytes);
    }
}

/* Every prefix of a file, in a block that ends where it ends. */
static void a_cubin_that_is_cut_has_no_signature_or_the_same(void **state)
{
    struct bytes_of file = load(cubins[0]);
    struct kernel_names names;
    struct signature kernel;

    (void)state;
    for (size_t len = 0; len < file.len; len++) {
        unsigned char *cut = mem_new(len + 1, 1);

        memcpy(cut, file.bytes, len);
        cut = realloc(cut, len > 0 ? len : 1);
        if (signature_of_cubin(cut, len, "mixed", &kernel))
            assert_int_equal(kernel.n, 6);
        kernel_names_init(&names);
        kernel_names_find(cut, len, KERNEL_NAMES_CUBIN, "mixed", &names);
        kernel_names_fini(&names);
        free(cut);
    }
    free(file.bytes);
}

/* Bytes and 32-bit words that lie, everywhere and one at a time. */
static void a_cubin_that_lies_is_read_within_its_bytes(void **state)
{
    static const uint32_t lies[] = { 0, 1, 0x7fffffff, 0xffffffff };
    struct bytes_of file = load(cubins[1]);
    struct signature kernel;

    (void)state;
    for (size_t at = 0; at + 4 <= file.len; at++)
        for (size_t i = 0; i < 4; i++) {
            struct kernel_names names;
            unsigned char was[4];

            memcpy(was, file.bytes + at, 4);
            memcpy(file.bytes + at, &lies[i], i < 2 ? 1 : 4);
            if (signature_of_cubin(file.bytes, file.len, "mixed", &kernel))
                assert_true(kernel.n <= SIGNATURE_MAX);
            signature_of_emulated(file.bytes, file.len, &kernel);
            kernel_names_init(&names);
            kernel_names_find(file.bytes, file.len, KERNEL_NAMES_CUBIN, "mixed",
                              &names);
            kernel_names_fini(&names);
            memcpy(file.bytes + at, was, 4);
        }
    free(file.bytes);
}

/* A file with one section of records for the kernel 'k'. */
struct small {
    Elf64_Ehdr header;
    Elf64_Shdr names, info;
    char text[16];
    unsigned char records[64];
};

static bool read_records(const void *records, size_t len,
                         struct signature *kernel)
{
    struct small file = {
        .header = { .e_ident = { ELFMAG0, ELFMAG1, ELFMAG2, ELFMAG3, ELFCLASS64,
                                 ELFDATA2LSB },
                    .e_shoff = offsetof(struct small, names),
                    .e_shnum = 2 },
        .names = { .sh_type = SHT_STRTAB,
                   .sh_offset = offsetof(struct small, text),
                   .sh_size = 16 },
        .info = { .sh_type = SHT_LOPROC,
                  .sh_name = 1,
                  .sh_offset = offsetof(struct small, records),
                  .sh_size = len },
        .text = "\0.nv.info.k",
    };

    memcpy(file.records, records, len);
    return signature_of_cubin(&file, sizeof(file), "k", kernel);
}

static void records_that_contradict_are_refused(void **state)
{
    static const unsigned char good[] = { 4, 0x17, 12, 0, 0, 0,    0,    0,
                                          0, 0,    0,  0, 0, 0xf0, 0x21, 0 },
                               large[] = { 4, 0x45, 12, 0, 0,    0,    0, 0,
                                           0, 0,    0,  0, 0x20, 0x4e, 0, 5 };
    unsigned char records[32];
    struct signature kernel;

    (void)state;
    assert_true(read_records(good, 16, &kernel));
    assert_int_equal(kernel.bytes[0], 8);
    assert_true(read_records(large, 16, &kernel));
    assert_int_equal(kernel.bytes[0], 20000);
    memcpy(records, good, 16);
    memcpy(records + 16, good, 16);
    assert_false(read_records(records, 32, &kernel)); /* the same one twice */
    records[24] = 2;
    assert_false(read_records(records, 32, &kernel)); /* 0 and 2, not 1 */
    records[24] = 1;
    assert_true(read_records(records, 32, &kernel));
    assert_false(read_records(records, 31, &kernel)); /* cut */
    records[25] = 4;
    assert_false(read_records(records, 32, &kernel)); /* over the limit */
    memcpy(records, good, 16);
    records[2] = 8;
    assert_false(read_records(records, 16, &kernel)); /* a short record */
    records[2] = 12;
    records[14] = records[13] = 0;
    assert_false(read_records(records, 16, &kernel)); /* of no bytes */
    records[0] = 9;
    assert_false(read_records(records, 16, &kernel)); /* no such format */
}

static struct signature_arguments arguments_of(const char *const *items,
                                               size_t n)
{
    struct signature_arguments out;

    assert_true(signature_read(&(struct texts){ items, n }, &out));
    return out;
}

static void assert_says(const struct signature *kernel,
                        const struct signature_arguments *arguments,
                        const char *text)
{
    struct buf why;

    buf_init(&why, 1024);
    assert_false(signature_fits(kernel, arguments, "add", &why));
    assert_string_equal(buf_text(&why), text);
    buf_fini(&why);
}

static void a_difference_is_told_with_both_lists(void **state)
{
    static const char *const items[] = { "a 8", "b 8", "scale 4" };
    struct signature_arguments arguments = arguments_of(items, 3);
    struct signature kernel = { 3, { 8, 8, 4, 8 } };

    (void)state;
    assert_true(signature_fits(&kernel, &arguments, "add", NULL));
    kernel.bytes[2] = 8;
    assert_says(&kernel, &arguments,
                "kernel 'add' takes 3 parameters (8 8 8 bytes), the sweep file "
                "gives 3 (8 8 4 bytes): parameter 3 has 8 bytes, its argument "
                "'scale' has 4");
    kernel.bytes[2] = 4;
    kernel.n = 4;
    assert_says(&kernel, &arguments,
                "kernel 'add' takes 4 parameters (8 8 4 8 bytes), the sweep "
                "file gives 3 (8 8 4 bytes): parameter 4 has no argument");
    kernel.n = 1;
    assert_says(&kernel, &arguments,
                "kernel 'add' takes 1 parameter (8 bytes), the sweep file "
                "gives 3 (8 8 4 bytes): no parameter takes the argument 'b'");
    kernel.n = 0;
    assert_says(&kernel, &arguments,
                "kernel 'add' takes no parameters, the sweep file gives 3 (8 8 "
                "4 bytes): no parameter takes the argument 'a'");
}

static void arguments_have_a_name_and_a_size(void **state)
{
    static const char *const wrong[] = { "",     "a",         "a ",   " 8",
                                         "a 0",  "a -1",      "a 8x", "a 8 8",
                                         "a  8", "a 1000000", "a +8" };
    struct signature_arguments out;

    (void)state;
    for (size_t i = 0; i < sizeof(wrong) / sizeof(wrong[0]); i++)
        assert_false(signature_read(&(struct texts){ &wrong[i], 1 }, &out));
}

static void assert_entry(const char *entry, enum kernel_check_answer answer,
                         const char *text)
{
    struct bytes_of file = load(cubins[0]);
    struct signature_arguments unknown = { .n = 0 };
    struct kernel_check want = { entry, "kernels.cu", KERNEL_NAMES_CUBIN,
                                 &unknown };
    struct buf why;

    buf_init(&why, 1024);
    assert_int_equal(kernel_check(&want, file.bytes, file.len, &why), answer);
    assert_string_equal(buf_text(&why), text);
    buf_fini(&why);
    free(file.bytes);
}

static void an_entry_with_another_linkage_is_told(void **state)
{
    (void)state;
    assert_entry("mixed", KERNEL_CHECK_FITS, "");
    assert_entry("linked", KERNEL_CHECK_WRONG,
                 "entry 'linked' of kernels.cu has C++ linkage (_Z6linkedPf): "
                 "write extern \"C\" in front of __global__");
    assert_entry("nested", KERNEL_CHECK_WRONG,
                 "entry 'nested' of kernels.cu has C++ linkage "
                 "(_ZN5inner6nestedEPf): write extern \"C\" in front of "
                 "__global__");
}

static void an_entry_that_is_not_there_lists_the_others(void **state)
{
    (void)state;
    assert_entry("inner", KERNEL_CHECK_WRONG,
                 "entry 'inner' is not in kernels.cu, which has "
                 "_ZN5inner6nestedEPf, _Z6linkedPf, none, mixed");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cubin_has_the_size_of_each_parameter),
        cmocka_unit_test(a_cubin_that_is_cut_has_no_signature_or_the_same),
        cmocka_unit_test(a_cubin_that_lies_is_read_within_its_bytes),
        cmocka_unit_test(records_that_contradict_are_refused),
        cmocka_unit_test(a_difference_is_told_with_both_lists),
        cmocka_unit_test(arguments_have_a_name_and_a_size),
        cmocka_unit_test(an_entry_with_another_linkage_is_told),
        cmocka_unit_test(an_entry_that_is_not_there_lists_the_others),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
