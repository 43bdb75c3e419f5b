/* A flag that several commands have means the same in each, and a command that
 * does what the flag is about has it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "coordinator/cli/command_table.h"
#include "coordinator/usage/commands.h"

#define FLAGS_MAX 64
#define SEEN_MAX 256

/* What a command does, by the flags that this asks for. */
static const struct {
    const char *command, *flags;
} expected[] = {
    { "check", "json device hosts" },
    { "space", "json device db" },
    { "doctor", "json device hosts" },
    { "sweep", "json device db hosts" },
    { "resume", "json db hosts" },
    { "confirm", "json db hosts" },
    { "bench", "json db hosts" },
    { "fuzz", "json device db hosts" },
    { "profile", "json db hosts" },
    { "status", "json db" },
    { "release", "json db" },
    { "watch", "db" }, /* it prints for people */
    { "report", "json db" },
    { "serve", "db" },     /* its page has addresses for programs */
    { "compare", "json" }, /* two databases: which one --db means is unclear */
    { "explain", "json db hosts" },
    { "export", "db" }, /* what it prints has a --format */
    { "import", "" },   /* it prints nothing on standard output */
    { "verify", "json db" },
    { "recover", "json db" },
    { "prune", "json db hosts" },
    { "config", "json" },
};

/* The flags of one command, as commands_options() shows them. */
struct flags {
    struct {
        const char *name;
        enum option_kind kind;
    } list[FLAGS_MAX];
    size_t n;
    const char *arguments, *first_flag;
};

static void take(const struct options *options, void *to)
{
    struct flags *flags = to;

    assert_true(options->n <= FLAGS_MAX);
    flags->n = options->n;
    flags->arguments = options->arguments;
    flags->first_flag = options->first_flag;
    for (size_t i = 0; i < options->n; i++) {
        flags->list[i].name = options->list[i].name;
        flags->list[i].kind = options->list[i].kind;
    }
}

static bool has(const struct flags *flags, const char *name, size_t len)
{
    for (size_t i = 0; i < flags->n; i++)
        if (strlen(flags->list[i].name) == len &&
            memcmp(flags->list[i].name, name, len) == 0)
            return true;
    return false;
}

static struct flags flags_of(const struct command *command)
{
    struct flags flags = { .n = 0 };

    commands_options(command, take, &flags);
    return flags;
}

static void every_command_has_the_flags_of_what_it_does(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++) {
        const struct command *command = commands_find(expected[i].command);
        const char *word = expected[i].flags;
        struct flags flags;

        assert_non_null(command);
        flags = flags_of(command);
        while (*word) {
            size_t len = strcspn(word, " ");

            if (!has(&flags, word, len))
                fail_msg("%s has no --%.*s", command->name, (int)len, word);
            word += len + strspn(word + len, " ");
        }
    }
}

/* 'check' reads the prices of hosts, and reaches none. */
static void what_uses_hosts_says_how_to_reach_them(void **state)
{
    static const char *const ways[] = { "ssh", "accept-new-host-keys" };

    (void)state;
    for (size_t i = 0; commands_at(i); i++) {
        const struct flags flags = flags_of(commands_at(i));
        bool hosts = has(&flags, "hosts", strlen("hosts")) &&
                     strcmp(commands_at(i)->name, "check") != 0;

        for (size_t w = 0; w < sizeof(ways) / sizeof(ways[0]); w++)
            if (has(&flags, ways[w], strlen(ways[w])) != hosts)
                fail_msg("%s: --hosts and --%s belong together",
                         commands_at(i)->name, ways[w]);
    }
}

static void a_database_is_an_argument_or_a_flag(void **state)
{
    (void)state;
    for (size_t i = 0; commands_at(i); i++) {
        const struct flags flags = flags_of(commands_at(i));

        if (strncmp(flags.arguments, "[DB", 3) == 0 &&
            (!flags.first_flag || strcmp(flags.first_flag, "db") != 0))
            fail_msg("%s takes DB and --db at once", commands_at(i)->name);
    }
}

/* A list is a flag that may be given again. */
static bool is_alike(enum option_kind a, enum option_kind b)
{
    return (a == OPTION_LIST ? OPTION_TEXT : a) ==
           (b == OPTION_LIST ? OPTION_TEXT : b);
}

static void a_name_has_one_kind_of_value(void **state)
{
    struct {
        const char *name, *command;
        enum option_kind kind;
    } seen[SEEN_MAX];
    size_t n = 0;

    (void)state;
    for (size_t i = 0; commands_at(i); i++) {
        const struct flags flags = flags_of(commands_at(i));

        for (size_t f = 0; f < flags.n; f++) {
            for (size_t s = 0; s < n; s++)
                if (strcmp(seen[s].name, flags.list[f].name) == 0 &&
                    !is_alike(seen[s].kind, flags.list[f].kind))
                    fail_msg("--%s differs between %s and %s", seen[s].name,
                             seen[s].command, commands_at(i)->name);
            assert_true(n < SEEN_MAX);
            seen[n].name = flags.list[f].name;
            seen[n].command = commands_at(i)->name;
            seen[n++].kind = flags.list[f].kind;
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_command_has_the_flags_of_what_it_does),
        cmocka_unit_test(what_uses_hosts_says_how_to_reach_them),
        cmocka_unit_test(a_database_is_an_argument_or_a_flag),
        cmocka_unit_test(a_name_has_one_kind_of_value),
    };

    command_table_use();
    return cmocka_run_group_tests(tests, NULL, NULL);
}
