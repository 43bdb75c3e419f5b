#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/err.h"
#include "coordinator/process/event_queue.h"
#include "coordinator/process/notifier.h"

static char folder[40];
static char file[64]; /* what the commands write */
static char text[1 << 16];

static int setup(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/fa-notifier-XXXXXX");
    if (!mkdtemp(folder))
        return -1;
    snprintf(file, sizeof(file), "%s/out", folder);
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    (void)unlink(file);
    return rmdir(folder);
}

static void start(const char *script, int64_t limit_ns, struct notifier *out)
{
    static const char *argv[5];
    struct err err;

    argv[0] = "sh";
    argv[1] = "-c";
    argv[2] = script;
    argv[3] = file; /* $0 */
    if (notifier_start(argv, "--test", limit_ns, out, &err) < 0)
        fail_msg("%s", err.text);
}

static void tell(struct notifier *notifier, int number)
{
    char object[64];

    snprintf(object, sizeof(object), "{ \"n\": %d }", number);
    notifier_send(notifier, object, strlen(object));
}

static void read_file(void)
{
    FILE *from = fopen(file, "r");
    size_t n = from ? fread(text, 1, sizeof(text) - 1, from) : 0;

    text[n] = '\0';
    if (from)
        fclose(from);
}

static void each_event_is_one_line_in_order(void **state)
{
    struct notifier notifier;

    (void)state;
    start("read -r line && echo \"$line\" >>\"$0\"", NOTIFIER_LIMIT_NS,
          &notifier);
    tell(&notifier, 1);
    tell(&notifier, 2);
    notifier_stop(&notifier);
    read_file();
    assert_string_equal(text, "{\"dropped\": 0, \"n\": 1 }\n"
                              "{\"dropped\": 0, \"n\": 2 }\n");
    notifier_stop(&notifier); /* nothing */
    tell(&notifier, 3);
}

/* However long the command takes, sending does not wait for it. */
static void
a_slow_command_blocks_nothing_and_the_last_event_is_told(void **state)
{
    struct notifier notifier;
    char last[64];

    (void)state;
    /* the first one hangs until it is killed */
    start("test -e \"$0\" || { : >\"$0\"; exec sleep 1000; };"
          "cat >>\"$0\"",
          4 * NS_PER_S, &notifier);
    for (int i = 0; i < EVENT_QUEUE_MAX + 20; i++)
        tell(&notifier, i);
    assert_int_equal(notifier.unsent, 0);
    notifier_stop(&notifier);
    read_file();
    snprintf(last, sizeof(last), "\"n\": %d }\n", EVENT_QUEUE_MAX + 19);
    assert_non_null(strstr(text, last));
    assert_null(strstr(text, "\"dropped\": 0"));
}

static void a_command_that_does_not_exist_stops_nothing(void **state)
{
    static const char *const argv[] = { "/nonexistent/program", NULL };
    struct notifier notifier;
    struct err err;

    (void)state;
    assert_int_equal(notifier_start(argv, "--test", NS_PER_S, &notifier, &err),
                     0);
    tell(&notifier, 1);
    notifier_stop(&notifier);
}

static void an_event_that_is_too_long_is_counted(void **state)
{
    static char object[NOTIFIER_BYTES_MAX + 1];
    struct notifier notifier;

    (void)state;
    start("cat >>\"$0\"", NOTIFIER_LIMIT_NS, &notifier);
    memset(object, ' ', sizeof(object));
    notifier_send(&notifier, object, sizeof(object));
    assert_int_equal(notifier.unsent, 1);
    notifier_stop(&notifier);
    read_file();
    assert_string_equal(text, "");
}

/* And this process goes on, with its own exit code. */
static void a_signal_ends_the_wait_and_the_command(void **state)
{
    struct notifier notifier;
    int64_t began = clock_boot_ns();
    sigset_t set, before;
    pid_t pid = 0;

    (void)state;
    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigprocmask(SIG_BLOCK, &set, &before);
    start("echo $$ >\"$0.new\"; mv \"$0.new\" \"$0\"; exec sleep 1000",
          NOTIFIER_LIMIT_NS, &notifier);
    tell(&notifier, 1);
    while (pid == 0) {
        (void)poll(NULL, 0, 1);
        read_file();
        pid = (pid_t)atoi(text);
    }
    kill(getpid(), SIGINT);
    notifier_stop(&notifier);
    assert_true(clock_boot_ns() - began < NOTIFIER_LIMIT_NS / 2);
    while (kill(pid, 0) == 0 && clock_boot_ns() - began < NOTIFIER_LIMIT_NS)
        (void)poll(NULL, 0, 1); /* until init has reaped it */
    assert_int_equal(kill(pid, 0), -1);
    sigprocmask(SIG_SETMASK, &before, NULL);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(each_event_is_one_line_in_order),
        TEST(a_slow_command_blocks_nothing_and_the_last_event_is_told),
        TEST(a_command_that_does_not_exist_stops_nothing),
        TEST(an_event_that_is_too_long_is_counted),
        TEST(a_signal_ends_the_wait_and_the_command),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
