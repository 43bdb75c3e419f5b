#include "coordinator/usage/help.h"

#include "coordinator/usage/commands.h"
#include "coordinator/print/paragraph.h"
#include "coordinator/options/options.h"
#include "coordinator/text/exit_code.h"

void help_commands(FILE *to)
{
    const struct exit_meaning *meaning;
    const struct command *command;

    fputs("usage: fa-coord COMMAND [ARGUMENTS]\n\n", to);
    for (size_t i = 0; (command = commands_at(i)); i++) {
        fprintf(to, "  %-10s ", command->name);
        paragraph_put(to, 13, 13, command->help);
    }
    fputs("\nSee also: fa-coord COMMAND --help, fa-coord --version.\n\n"
          "exit codes (fuzz and compare have answers of their own):\n",
          to);
    for (size_t i = 0; (meaning = exit_code_meaning(i)); i++) {
        fprintf(to, "  %-13s ", meaning->codes);
        paragraph_put(to, 16, 16, meaning->text);
    }
}

void help_command(const struct options *options, void *to)
{
    const struct command *command = commands_find(options->command);

    options_help(options, to);
    if (!command || !*command->examples)
        return;
    fputs("\nexamples:\n", to);
    for (const char *line = command->examples; *line;) {
        const char *end = line;

        while (*end++ != '\n')
            ;
        fprintf(to, "  %.*s", (int)(end - line), line);
        line = end;
    }
}
