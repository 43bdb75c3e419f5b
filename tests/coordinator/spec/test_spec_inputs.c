/* Files of arguments, in a folder of their own. */
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
#include "common/mem.h"
#include "coordinator/spec/spec_check.h"
#include "tests/coordinator/spec/spec_fixture.h"

static char folder[] = "/tmp/fa-test-inputs-XXXXXX";

/* A file of 'n' numbers, from 'first' on; 'descr' is '<i4' or '<f4'. */
static void put(const char *name, const char *descr, int32_t first, size_t n)
{
    char path[200], header[119];
    FILE *file;

    snprintf(header, sizeof(header),
             "{'descr': '%s', 'fortran_order': False, 'shape': (%zu,), }",
             descr, n);
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    file = fopen(path, "wb");
    assert_non_null(file);
    assert_int_equal(fwrite("\x93NUMPY\x01\0\x76\0", 1, 10, file), 10);
    fprintf(file, "%-117s\n", header);
    for (size_t i = 0; i < n; i++, first++)
        assert_int_equal(fwrite(&first, sizeof(first), 1, file), 1);
    assert_int_equal(fclose(file), 0);
}

static int make_folder(void **state)
{
    (void)state;
    if (!mkdtemp(folder))
        return -1;
    put("a-s.npy", "<i4", 1, 3);
    put("a-t.npy", "<i4", 10, 4);
    put("f.npy", "<f4", 0, 3);
    return 0;
}

static int remove_folder(void **state)
{
    static const char *const names[] = { "a-s.npy", "a-t.npy", "f.npy" };
    char path[200];

    (void)state;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, names[i]);
        unlink(path);
    }
    return rmdir(folder);
}

#define INPUT(name, file)                                             \
    "{ \"name\": \"" name "\", \"type\": \"int32\", \"shape\": [3], " \
    "\"fill\": { \"file\": \"" file "\" } }, "
#define OUTPUT                                                                 \
    "{ \"name\": \"o\", \"type\": \"fp32\", \"shape\": [1], \"output\": true " \
    "}"

static struct spec *spec_with(const char *arguments)
{
    struct spec *spec = spec_fixture(&(struct spec_parts){
        .shapes =
            "{ \"name\": \"s\", \"N\": 3 }, { \"name\": \"t\", \"N\": 4 }",
        .arguments = arguments });

    free(spec->file.folder);
    spec->file.folder = mem_strdup(folder);
    return spec;
}

static void each_shape_has_its_file(void **state)
{
    static const int32_t numbers[] = { 10, 11, 12, 13 };
    struct spec *spec = spec_with(INPUT("a", "a-{shape}.npy") OUTPUT);
    const struct spec_shape other = { .name = (char[]){ "other" } };
    const struct spec_input *t;
    struct err err;
    size_t len;

    (void)state;
    assert_null(
        spec_inputs_at(spec, &spec->arguments[0], &spec->shapes.list[1]));
    if (spec_inputs_load(spec, &err) < 0)
        fail_msg("%s", err.text);
    assert_int_equal(spec->inputs.n, 2);
    t = spec_inputs_at(spec, &spec->arguments[0], &spec->shapes.list[1]);
    assert_string_equal(t->name, "a-t.npy");
    assert_int_equal(t->npy.count, 4);
    assert_memory_equal(spec_inputs_bytes(t, &len), numbers, sizeof(numbers));
    assert_int_equal(len, sizeof(numbers));
    assert_ptr_equal(spec_inputs_find(spec, t->hash), t);
    assert_null(spec_inputs_find(spec, "0123456789abcdef0123456789abcdef"));
    assert_null(spec_inputs_at(spec, &spec->arguments[0], &other));
    assert_null(
        spec_inputs_at(spec, &spec->arguments[1], &spec->shapes.list[0]));
    spec_free(spec);
}

static void a_file_is_read_once_for_all_who_name_it(void **state)
{
    struct spec *spec =
        spec_with(INPUT("a", "a-s.npy") INPUT("b", "a-s.npy") OUTPUT);

    (void)state;
    assert_int_equal(spec_inputs_load(spec, NULL), 0);
    assert_int_equal(spec->inputs.n, 1);
    spec_free(spec);
}

/* The trials of an input with this fill. */
static void assert_trials(const char *fill, bool proof, const char *trials)
{
    char arguments[300];
    struct spec *spec;
    struct buf text;

    snprintf(arguments, sizeof(arguments),
             "{ \"name\": \"i\", \"type\": \"int32\", \"shape\": [3], "
             "\"fill\": %s }, " OUTPUT,
             fill);
    spec = spec_with(arguments);
    spec->measure.proof = proof;
    buf_init(&text, sizeof(arguments));
    spec_check_trials(spec, &text);
    assert_string_equal(buf_text(&text), trials);
    buf_fini(&text);
    spec_free(spec);
}

static void integers_have_all_edges_but_extreme_ones(void **state)
{
    (void)state;
    assert_trials("{ \"range\": [-5, 9] }", false, "2 zeros+ties+tiny");
    assert_trials("{ \"range\": [0, \"N\"] }", true,
                  "4 zeros ties large tiny negative");
    assert_trials("{ \"sorted\": 9 }", false, "2 zeros+ties+tiny");
    assert_trials("\"iota\"", false, "2");
    assert_trials("\"permutation\"", true, "4 zeros ties large tiny negative");
}

static void assert_flaw(const char *arguments, const char *text)
{
    struct spec *spec = spec_with(arguments);
    struct err err;

    assert_int_equal(spec_inputs_load(spec, &err), ERR_INPUT);
    if (!strstr(err.text, text))
        fail_msg("%s", err.text);
    spec_free(spec);
}

static void a_bad_file_is_named_with_the_argument(void **state)
{
    (void)state;
    assert_flaw(INPUT("a", "b-{shape}.npy") OUTPUT,
                "there is no file 'b-s.npy'");
    assert_flaw(INPUT("a", "f.npy") OUTPUT,
                "'f.npy' cannot fill the int32 'a'");
    assert_flaw(INPUT("a", "a-s.npy") "{ \"name\": \"b\", \"type\": \"fp32\", "
                                      "\"shape\": [3], \"fill\": "
                                      "{ \"file\": \"a-s.npy\" } }, " OUTPUT,
                "'a-s.npy' cannot fill the fp32 'b'");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_shape_has_its_file),
        cmocka_unit_test(a_file_is_read_once_for_all_who_name_it),
        cmocka_unit_test(integers_have_all_edges_but_extreme_ones),
        cmocka_unit_test(a_bad_file_is_named_with_the_argument),
    };
    return cmocka_run_group_tests(tests, make_folder, remove_folder);
}
