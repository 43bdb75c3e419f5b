#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/state/sweep_options.h"
#include "coordinator/told/on_event.h"
#include "coordinator/text/exit_code.h"

static char folder[40], hook[64], file[64], command[160];
static char text[1 << 14];
static struct on_event *on;

static int setup(void **state)
{
    struct err err;
    FILE *script;

    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/fa-on-event-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(hook, sizeof(hook), "%s/hook", folder);
    snprintf(file, sizeof(file), "%s/told", folder);
    snprintf(command, sizeof(command), "sh  %s %s", hook, file);
    script = fopen(hook, "w");
    if (!script)
        return -1;
    fputs("read -r line && echo \"$line\" >>\"$1\"\n", script);
    fclose(script);
    return on_event_start(command, "x.db", "a \"sweep\"", &on, &err);
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(hook);
    (void)unlink(file);
    return rmdir(folder);
}

static struct sweep_notice of_host(enum sweep_notice_kind kind,
                                   const char *host, const char *why)
{
    return (struct sweep_notice){ .kind = kind,
                                  .host = host,
                                  .why = why,
                                  .best_s = (double)NAN,
                                  .baseline_s = (double)NAN,
                                  .usd = (double)NAN };
}

/* End, and return what was told but for "time", one event a line. */
static const char *told(int exit_code)
{
    FILE *from;
    size_t used = 0;
    char line[4096];

    on_event_stop(on, exit_code);
    from = fopen(file, "r");
    assert_non_null(from);
    while (fgets(line, sizeof(line), from)) {
        char *begin = strstr(line, "\"event\""), *time, *sweep;

        assert_memory_equal(line, "{\"dropped\": 0, ", 15);
        assert_non_null(begin);
        time = strstr(begin, "\"time\"");
        sweep = strstr(begin, "\"sweep\"");
        assert_true(time && sweep && time < sweep);
        used += (size_t)snprintf(text + used, sizeof(text) - used, "%.*s%s",
                                 (int)(time - begin), begin, sweep);
    }
    fclose(from);
    return text;
}

#define WHERE "\"sweep\": \"a \\\"sweep\\\"\", \"database\": \"x.db\""

static void a_host_is_back_only_if_it_was_lost(void **state)
{
    struct sweep_notice ready = of_host(SWEEP_NOTICE_READY, "a", NULL),
                        lost = of_host(SWEEP_NOTICE_LOST, "a", "silent");

    (void)state;
    on_event_tell(on, &ready);
    on_event_tell(on, &lost);
    on_event_tell(on, &lost);
    on_event_tell(on, &ready);
    on_event_tell(on, &ready);
    assert_string_equal(
        told(EXIT_PARTIAL),
        "\"event\": \"started\", " WHERE " }\n"
        "\"event\": \"host_lost\", " WHERE
        ", \"host\": \"a\", \"why\": \"silent\" }\n"
        "\"event\": \"host_back\", " WHERE ", \"host\": \"a\" }\n"
        "\"event\": \"finished\", " WHERE ", \"exit_code\": 5 }\n");
}

static void the_end_has_the_figures_of_the_search(void **state)
{
    struct sweep_notice search = { .kind = SWEEP_NOTICE_END,
                                   .tried = 7,
                                   .correct = 6,
                                   .total = 8,
                                   .best_s = 0.5,
                                   .baseline_s = 1,
                                   .usd = 0.25 };
    struct sweep_notice blocks = of_host(SWEEP_NOTICE_END, NULL, NULL);

    (void)state;
    on_event_tell(on, &search);
    blocks.total = 40;
    blocks.usd = 0.5;
    on_event_tell(on, &blocks);
    assert_non_null(strstr(told(EXIT_DONE),
                           "\"event\": \"finished\", " WHERE
                           ", \"exit_code\": 0, \"tried\": 7, \"correct\": 6, "
                           "\"total\": 8, \"best_s\": 0.5, \"baseline_s\": 1, "
                           "\"usd\": 0.5 }\n"));
}

static void each_way_to_end_has_its_event(void **state)
{
    static const struct {
        int code;
        const char *event;
    } cases[] = {
        { EXIT_DONE, "finished" },
        { EXIT_PARTIAL, "finished" },
        { EXIT_NO_RESULT, "failed" },
        { EXIT_NO_HOST, "failed" },
        { EXIT_DATABASE, "failed" },
        { EXIT_CAP, "budget_reached" },
        { EXIT_BY_SIGNAL + 2, "interrupted" },
    };
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
        char expected[64];

        if (i > 0)
            assert_int_equal(on_event_start(command, "x", "s", &on, &err), 0);
        snprintf(expected, sizeof(expected), "\"event\": \"%s\"",
                 cases[i].event);
        assert_non_null(strstr(told(cases[i].code), expected));
        (void)unlink(file);
    }
}

static void a_command_that_cannot_be_run_is_refused(void **state)
{
    struct on_event *none = NULL;
    struct err err;

    (void)state;
    assert_int_equal(on_event_start("  ", "x", "s", &none, &err), ERR_INPUT);
    assert_string_equal(err.text, "--on-event: name a command");
    assert_int_equal(on_event_start("no-such-program x", "x", "s", &none, &err),
                     ERR_INPUT);
    assert_string_equal(err.text,
                        "--on-event: 'no-such-program' is no program that can "
                        "be run; PATH has none of this name");
    assert_int_equal(on_event_start("/etc/passwd", "x", "s", &none, &err),
                     ERR_INPUT);
    assert_string_equal(
        err.text, "--on-event: '/etc/passwd' is no program that can be run");
    assert_int_equal(on_event_start("/tmp", "x", "s", &none, &err), ERR_INPUT);
    on_event_stop(none, 0);
    on_event_stop(on, 0);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_host_is_back_only_if_it_was_lost),
        TEST(the_end_has_the_figures_of_the_search),
        TEST(each_way_to_end_has_its_event),
        TEST(a_command_that_cannot_be_run_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
