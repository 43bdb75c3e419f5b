/* test_npy.c - files of numpy.save(), byte for byte */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/source/npy.h"

/* Format 1.0 with a header of 118 bytes, as numpy pads it, and its data. */
struct file {
    unsigned char bytes[512];
    size_t len;
};

static struct file file_of(int version, const char *header, size_t data)
{
    struct file file = { .bytes = "\x93NUMPY" };
    size_t lead = version == 1 ? 10 : 12, text = strlen(header);

    file.bytes[6] = (unsigned char)version;
    file.bytes[8] = (unsigned char)text;
    memcpy(file.bytes + lead, header, text);
    file.len = lead + text + data;
    return file;
}

static const char *flaw_of(const struct file *file)
{
    static char why[NPY_WHY_BYTES];
    struct npy npy;

    assert_int_equal(npy_read(file->bytes, file->len, &npy, why), ERR_INPUT);
    return why;
}

static const char *flaw_of_header(const char *header)
{
    struct file file = file_of(1, header, 24);

    return flaw_of(&file);
}

#define HEADER(descr, order, shape) \
    "{'descr': " descr ", 'fortran_order': " order ", 'shape': " shape ", }\n"

static void an_array_is_read(void **state)
{
    char why[NPY_WHY_BYTES];
    struct npy npy;

    (void)state;
    for (int version = 1; version <= 2; version++) {
        struct file file =
            file_of(version, HEADER("'<f4'", "False", "(2, 3)"), 24);

        assert_int_equal(npy_read(file.bytes, file.len, &npy, why), 0);
        assert_string_equal(npy.descr, "<f4");
        assert_int_equal(npy.item_bytes, 4);
        assert_int_equal(npy.n_dims, 2);
        assert_int_equal(npy.dims[0], 2);
        assert_int_equal(npy.dims[1], 3);
        assert_int_equal(npy.count, 6);
        assert_int_equal(npy.at, file.len - 24);
    }
}

static void any_shape_and_spelling_is_read(void **state)
{
    static const struct {
        const char *header;
        size_t data;
        int64_t count;
    } files[] = {
        { HEADER("'|i1'", "False", "(24,)"), 24, 24 },
        { HEADER("'<f8'", "False", "()"), 8, 1 },
        { HEADER("'<f8'", "False", "(0, 7)"), 0, 0 },
        { "{\"shape\":(3),\"descr\":\"<i8\",\"fortran_order\":False}", 24, 3 },
    };
    char why[NPY_WHY_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++) {
        struct file file = file_of(1, files[i].header, files[i].data);
        struct npy npy;

        assert_int_equal(npy_read(file.bytes, file.len, &npy, why), 0);
        assert_int_equal(npy.count, files[i].count);
    }
}

static void what_cannot_be_read_is_named(void **state)
{
    struct file text = { .bytes = "row,value\n1,2\n", .len = 14 };
    struct file newer = file_of(3, HEADER("'<f4'", "False", "(6,)"), 24);
    struct file half = file_of(1, HEADER("'<f4'", "False", "(6,)"), 0);

    (void)state;
    half.len -= 20;
    assert_string_equal(flaw_of(&text),
                        "it is not a .npy file, as numpy.save() writes it");
    assert_string_equal(flaw_of(&newer),
                        "its format is 3.0; 1.0 and 2.0 are read");
    assert_string_equal(flaw_of(&half), "it ends within its header");
    assert_string_equal(flaw_of_header(HEADER("'<f4'", "True", "(2, 3)")),
                        "it is in Fortran order; save it with "
                        "numpy.ascontiguousarray()");
    assert_string_equal(flaw_of_header(HEADER("'>f4'", "False", "(2, 3)")),
                        "its elements are big-endian ('>f4'); save it with "
                        ".astype('<f4')");
    assert_string_equal(flaw_of_header(HEADER("'<c8'", "False", "(3,)")),
                        "its elements are '<c8', which no argument holds");
    assert_string_equal(flaw_of_header(HEADER("'|S24'", "False", "(1,)")),
                        "its elements are '|S24', which no argument holds");
    assert_string_equal(
        flaw_of_header(HEADER("[('a', '<f4')]", "False", "(6,)")),
        "its elements are records; save one column");
}

static void a_size_that_does_not_match_is_named(void **state)
{
    (void)state;
    assert_string_equal(flaw_of_header(HEADER("'<f4'", "False", "(7,)")),
                        "it is truncated: its shape needs 28 bytes of "
                        "elements, and it has 24");
    assert_string_equal(flaw_of_header(HEADER("'<f4'", "False", "(5,)")),
                        "it has 4 bytes after its last element");
    assert_string_equal(
        flaw_of_header(HEADER("'<f4'", "False", "(1048576, 1048577)")),
        "its shape has more than 2^40 elements");
}

static void a_header_of_another_hand_is_refused(void **state)
{
    static const char *const headers[] = {
        "",
        "{",
        "{}",
        "{'descr': '<f4', 'fortran_order': False}",
        "{'descr': '<f4', 'descr': '<f4', 'fortran_order': False, 'shape': ()}",
        "{'descr': '<f4', 'fortran_order': Falsch, 'shape': (6,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (6,), 'x': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (-6,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (6,)} x",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (9999999999999,)}",
        "{'descr': '<f4",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(headers) / sizeof(*headers); i++)
        assert_string_equal(flaw_of_header(headers[i]),
                            "its header is not the one that numpy.save() "
                            "writes");
}

static void elements_have_the_type_of_the_argument(void **state)
{
    static const struct {
        const char *descr, *type;
    } right[] = { { "<f2", "fp16" }, { "<V2", "bf16" },  { "|V2", "bf16" },
                  { "<f4", "fp32" }, { "<f8", "fp64" },  { "|i1", "int8" },
                  { "<i1", "int8" }, { "<i4", "int32" }, { "<i8", "int64" } };
    struct npy npy = { .descr = "<f8" };
    char why[NPY_WHY_BYTES];

    (void)state;
    assert_int_equal(npy_check_type(&npy, "fp32", why), ERR_INPUT);
    assert_string_equal(why, "its elements are '<f8', and those of fp32 "
                             "'<f4'; save it with .astype('<f4')");
    assert_int_equal(npy_check_type(&npy, "bf16", why), ERR_INPUT);
    assert_non_null(strstr(why, "ml_dtypes"));
    for (size_t i = 0; i < sizeof(right) / sizeof(*right); i++) {
        snprintf(npy.descr, sizeof(npy.descr), "%s", right[i].descr);
        assert_int_equal(npy_check_type(&npy, right[i].type, why), 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_array_is_read),
        cmocka_unit_test(any_shape_and_spelling_is_read),
        cmocka_unit_test(what_cannot_be_read_is_named),
        cmocka_unit_test(a_size_that_does_not_match_is_named),
        cmocka_unit_test(a_header_of_another_hand_is_refused),
        cmocka_unit_test(elements_have_the_type_of_the_argument),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
