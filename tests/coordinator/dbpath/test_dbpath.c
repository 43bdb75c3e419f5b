#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/dbpath/dbpath.h"

static char folder[64];

static int enter(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/fa_dbpath_XXXXXX");
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static int leave(void **state)
{
    (void)state;
    (void)unlink("sweep.json"); /* not every test makes every file */
    (void)unlink("a.db");
    (void)unlink("b.db");
    (void)unlink("b.l4.db");
    (void)unlink("b.l4.fuzz.db");
    (void)unlink("b.h200.db");
    (void)unlink(".db");
    return chdir("/") < 0 ? -1 : rmdir(folder);
}

static void write_file(const char *name, const char *text)
{
    FILE *file = fopen(name, "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void expect(const char *given, const char *path)
{
    char *out;
    struct err err = { "" };

    if (dbpath_find(given, &out, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(out, path);
    free(out);
}

static void refuse(const char *given, const char *text)
{
    char *out;
    struct err err;

    assert_int_equal(dbpath_find(given, &out, &err), ERR_INPUT);
    assert_string_equal(err.text, text);
}

static void the_named_one_comes_first(void **state)
{
    (void)state;
    write_file("sweep.json", "{\"name\": \"b\"}");
    expect("a.db", "a.db");
}

static void then_that_of_the_sweep_file_with_its_comments(void **state)
{
    (void)state;
    write_file("a.db", "");
    write_file("sweep.json", "// mine\n{ /* n */ \"name\": \"b\" }\n");
    expect(NULL, "b.db");
}

static void then_the_only_one_here(void **state)
{
    (void)state;
    write_file("a.db", "");
    write_file(".db", ""); /* has no name */
    expect(NULL, "a.db");
}

static void two_or_none_are_an_error(void **state)
{
    (void)state;
    refuse(NULL, "this folder has no sweep.json and no *.db; name a database");
    write_file("a.db", "");
    write_file("b.db", "");
    refuse(NULL, "this folder has 2 databases and no sweep.json that says "
                 "which to use; name one of a.db, b.db");
}

static void a_sweep_file_is_not_its_database(void **state)
{
    (void)state;
    refuse(".", ". is a folder; name a database in it");
    expect("none.json", "none.json");
    write_file("sweep.json", "{ \"name\": \"b\" } // mine");
    refuse("sweep.json",
           "sweep.json is a sweep file; the database of its sweep is b.db");
    refuse(".", ". is a folder; the database of its sweep is ./b.db");
}

static void of_sweep(const char *sweep, const char *path)
{
    char *out;
    struct err err = { "" };

    if (dbpath_of_sweep(sweep, &out, &err) < 0)
        fail_msg("%s", err.text);
    assert_string_equal(out, path);
    free(out);
}

static void the_database_of_a_sweep_lies_beside_its_file(void **state)
{
    char file[128], path[128];

    (void)state;
    write_file("sweep.json", "{\"name\": \"b\"}");
    of_sweep("sweep.json", "b.db");
    of_sweep(".", "./b.db");
    snprintf(file, sizeof(file), "%s/sweep.json", folder);
    snprintf(path, sizeof(path), "%s/b.db", folder);
    of_sweep(file, path);
    of_sweep("x/y.db", "x/y.db");
}

/* Descriptor 0 is one like another. */
static void without_standard_input_it_is_found_too(void **state)
{
    int in = dup(STDIN_FILENO);

    (void)state;
    write_file("sweep.json", "{\"name\": \"b\"}");
    write_file("a.db", "");
    close(STDIN_FILENO);
    expect(NULL, "b.db");
    (void)dup2(in, STDIN_FILENO);
    close(in);
}

/* As large as a sweep file may be; its comment is most of it. */
static void a_large_sweep_file_names_its_database_too(void **state)
{
    FILE *file;

    (void)state;
    write_file("sweep.json", "{\"name\": \"b\"} /*");
    file = fopen("sweep.json", "a");
    for (int i = 0; i < (8 << 20) - 18; i++)
        fputc('x', file);
    fputs("*/", file);
    assert_int_equal(ftell(file), 8 << 20);
    fclose(file);
    expect(NULL, "b.db");
    refuse("sweep.json",
           "sweep.json is a sweep file; the database of its sweep is b.db");
}

static void a_broken_sweep_file_is_not_taken_for_none(void **state)
{
    (void)state;
    write_file("sweep.json", "{\"name\": \"b\", ");
    refuse(NULL, "sweep.json does not give the name of the sweep; 'fa-coord "
                 "check sweep.json' shows what is wrong, and --db FILE names "
                 "the database directly");
    write_file("a.db", "");
    expect(NULL, "a.db");
}

static void a_sweep_without_a_name_is_an_error(void **state)
{
    char *out;
    struct err err;

    (void)state;
    assert_int_equal(dbpath_of_sweep("my x.json", &out, &err), ERR_INPUT);
    assert_string_equal(err.text,
                        "my x.json does not give the name of the sweep; "
                        "'fa-coord check 'my x.json'' shows what is wrong, and "
                        "--db FILE names the database directly");
    assert_int_equal(dbpath_of_sweep("none.json", &out, &err), ERR_INPUT);
    assert_string_equal(err.text,
                        "none.json does not give the name of the sweep; "
                        "'fa-coord check none.json' shows what is wrong, and "
                        "--db FILE names the database directly");
}

/* The labels, with a blank after each. */
static void models_are(const char *want)
{
    struct dbpath_models models;
    char labels[200] = "";

    dbpath_models_find(&models);
    for (size_t i = 0; i < models.n; i++)
        snprintf(labels + strlen(labels), sizeof(labels) - strlen(labels),
                 "%s ", models.labels[i]);
    assert_string_equal(labels, want);
    dbpath_models_fini(&models);
}

static void several_models_have_a_database_each(void **state)
{
    (void)state;
    write_file("b.l4.db", "");
    write_file("b.l4.fuzz.db", "");
    models_are(""); /* one alone is like any other */
    expect(NULL, "b.l4.db");
    write_file("b.h200.db", "");
    models_are("h200 l4 ");
    refuse(NULL, "the sweep has a database for each of its 2 models of GPU; "
                 "name one of b.h200.db, b.l4.db");
    expect("b.l4.db", "b.l4.db");
    write_file("sweep.json", "{\"name\": \"b\"}");
    write_file("a.db", "");
    models_are("h200 l4 ");
    write_file("b.db", "");
    models_are("");
    expect(NULL, "b.db");
}

static void databases_of_different_sweeps_are_no_models_of_one(void **state)
{
    (void)state;
    write_file("b.l4.db", "");
    write_file("b.h200.db", "");
    write_file("a.db", "");
    models_are("");
    refuse(NULL, "this folder has 3 databases and no sweep.json that says "
                 "which to use; name one of a.db, b.h200.db, b.l4.db");
}

static void a_file_is_followed_to_the_folder_of_the_database(void **state)
{
    char db[128], moved[128], *found;

    (void)state;
    snprintf(db, sizeof(db), "%s/a.db", folder);
    snprintf(moved, sizeof(moved), "%s/sweep.json", folder);
    assert_null(dbpath_moved("/none/sweep.json", db));
    assert_null(dbpath_moved("", db)); /* no hosts file */
    write_file("sweep.json", "{}");
    found = dbpath_moved("/none/sweep.json", db);
    assert_string_equal(found, moved);
    free(found);
    found = dbpath_moved("/none/sweep.json", "a.db");
    assert_string_equal(found, "sweep.json");
    free(found);
    assert_null(dbpath_moved("/", db)); /* it is where it was */
    assert_null(dbpath_moved("/none/hosts.txt", db));
}

static void a_label_is_read_from_the_name(void **state)
{
    const char *const paths[] = { "x/y.z/b.l4.db", "./b.db", "b.l4.sqlite" };
    struct dbpath_models models;

    (void)state;
    dbpath_models_given(paths, 3, &models);
    assert_int_equal(models.n, 3);
    assert_string_equal(models.labels[0], "l4");
    assert_string_equal(models.labels[1], "b.db");
    assert_string_equal(models.labels[2], "b.l4.sqlite");
    assert_string_equal(models.paths[0], "x/y.z/b.l4.db");
    dbpath_models_fini(&models);
}

static void the_database_comes_before_the_configuration(void **state)
{
    struct err err = { "" };

    (void)state;
    assert_int_equal(dbpath_check_order("explain", "a.db", "A=1", &err), 0);
    assert_int_equal(dbpath_check_order("explain", "a.sqlite", "A=1", &err), 0);
    assert_int_equal(dbpath_check_order("explain", "A=1", "x/a.db", &err),
                     ERR_INPUT);
    assert_string_equal(err.text, "explain: the database comes first: fa-coord "
                                  "explain x/a.db A=1");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)
    const struct CMUnitTest tests[] = {
        TEST(the_named_one_comes_first),
        TEST(then_that_of_the_sweep_file_with_its_comments),
        TEST(then_the_only_one_here),
        TEST(two_or_none_are_an_error),
        TEST(a_sweep_file_is_not_its_database),
        TEST(the_database_comes_before_the_configuration),
        TEST(the_database_of_a_sweep_lies_beside_its_file),
        TEST(without_standard_input_it_is_found_too),
        TEST(a_large_sweep_file_names_its_database_too),
        TEST(a_broken_sweep_file_is_not_taken_for_none),
        TEST(a_sweep_without_a_name_is_an_error),
        TEST(several_models_have_a_database_each),
        TEST(databases_of_different_sweeps_are_no_models_of_one),
        TEST(a_file_is_followed_to_the_folder_of_the_database),
        TEST(a_label_is_read_from_the_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
