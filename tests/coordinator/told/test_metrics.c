/* What --metrics may replace. */
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
#include "coordinator/told/metrics.h"

static char folder[64];

static int enter(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/fa_metrics_XXXXXX");
    return mkdtemp(folder) ? chdir(folder) : -1;
}

static int leave(void **state)
{
    (void)state;
    (void)unlink("m"); /* not every test makes every file */
    (void)unlink("m.fa-part");
    return chdir("/") < 0 ? -1 : rmdir(folder);
}

static void write_file(const char *text)
{
    FILE *file = fopen("m", "w");

    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void refuse(const char *file, const char *message)
{
    struct metrics metrics;
    struct err err = { "" };

    assert_int_equal(metrics_start("none.db", file, &metrics, &err), ERR_INPUT);
    assert_string_equal(err.text, message);
}

static void a_file_of_the_user_is_kept(void **state)
{
    static const char said[] =
        "--metrics=m: this file is there already, and what it holds are no "
        "metrics; name another, or remove it first";
    char text[40] = "";
    FILE *file;

    (void)state;
    write_file("{ \"name\": \"mine\" }\n");
    refuse("m", said);
    file = fopen("m", "r");
    assert_int_equal(fread(text, 1, sizeof(text), file), 19);
    fclose(file);
    assert_string_equal(text, "{ \"name\": \"mine\" }\n");
    write_file("# HELP fa_coord"); /* a beginning of it */
    refuse("m", said);
}

static void what_is_no_file_is_refused(void **state)
{
    (void)state;
    refuse("/dev/null", "--metrics=/dev/null: this is no file; name one that "
                        "may be replaced");
    refuse(".", "--metrics=.: this is no file; name one that may be replaced");
}

static void take(void)
{
    struct metrics metrics;
    struct err err = { "" };

    if (metrics_start("none.db", "m", &metrics, &err) < 0)
        fail_msg("%s", err.text);
    metrics_stop(&metrics);
}

static void metrics_are_replaced(void **state)
{
    (void)state;
    take();
    take(); /* now it is there, and empty */
    write_file("# HELP fa_coord_");
    take();
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)
    const struct CMUnitTest tests[] = {
        TEST(a_file_of_the_user_is_kept),
        TEST(what_is_no_file_is_refused),
        TEST(metrics_are_replaced),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
