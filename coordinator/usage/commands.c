#include "coordinator/usage/commands.h"

#include <assert.h>
#include <string.h>

#include "coordinator/text/suggest.h"

#define COMMANDS_MAX 64

static struct {
    const struct command *list;
    size_t n;
} commands;

void commands_set(const struct command *list, size_t n)
{
    assert(n <= COMMANDS_MAX);
    commands.list = list;
    commands.n = n;
}

const struct command *commands_at(size_t i)
{
    return i < commands.n ? &commands.list[i] : NULL;
}

const struct command *commands_find(const char *name)
{
    for (size_t i = 0; i < commands.n; i++)
        if (strcmp(commands.list[i].name, name) == 0)
            return &commands.list[i];
    return NULL;
}

const char *commands_near(const char *name)
{
    const char *names[COMMANDS_MAX];

    for (size_t i = 0; i < commands.n; i++)
        names[i] = commands.list[i].name;
    return suggest_name(name, strlen(name), names, commands.n);
}

void commands_options(const struct command *command, options_show *take,
                      void *to)
{
    char name[32], help[] = "--help";
    char *argv[] = { name, help, NULL };

    (void)strncpy(name, command->name, sizeof(name) - 1);
    name[sizeof(name) - 1] = '\0';
    options_on_help(take, to);
    (void)command->run(2, argv);
    options_on_help(NULL, NULL);
}
