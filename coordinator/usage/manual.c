#include "coordinator/usage/manual.h"

#include <ctype.h>
#include <string.h>

#include "coordinator/usage/commands.h"
#include "coordinator/options/options.h"
#include "coordinator/text/exit_code.h"

/* Text in which nothing is a request or an escape. */
static void put_n(const char *text, size_t len, FILE *to)
{
    if (len && (*text == '.' || *text == '\''))
        fputs("\\&", to);
    for (size_t i = 0; i < len; i++)
        if (text[i] == '\\')
            fputs("\\e", to);
        else if (text[i] == '-')
            fputs("\\-", to);
        else
            fputc(text[i], to);
}

static void put(const char *text, FILE *to)
{
    put_n(text, strlen(text), to);
}

static void put_title(const char *command, FILE *to)
{
    fputs(".TH FA\\-COORD", to);
    if (*command)
        fputs("\\-", to);
    for (const char *c = command; *c; c++)
        fputc(toupper((unsigned char)*c), to);
    fprintf(to, " 1 %s \"fa\\-coord %s\" \"User Commands\"\n", FA_VERSION_DATE,
            FA_VERSION);
}

static void put_exit_codes(FILE *to)
{
    const struct exit_meaning *meaning;

    fputs(".SH EXIT STATUS\n", to);
    for (size_t i = 0; (meaning = exit_code_meaning(i)); i++) {
        fputs(".TP\n.B ", to);
        put(meaning->codes, to);
        fputc('\n', to);
        put(meaning->text, to);
        fputc('\n', to);
    }
}

void manual_program(FILE *to)
{
    const struct command *command;

    put_title("", to);
    fputs(
        ".SH NAME\n"
        "fa\\-coord \\- find the fastest configuration of a GPU kernel\n"
        ".SH SYNOPSIS\n"
        ".B fa\\-coord\n"
        ".I COMMAND\n"
        ".RI [ ARGUMENTS ]\n"
        ".SH DESCRIPTION\n"
        "fa\\-coord builds the legal configurations of a kernel with tunable\n"
        "parameters on hosts that it reaches over SSH, checks and times each,\n"
        "and says with evidence which one is faster than the baseline, or "
        "that\n"
        "none is.  Every result goes into one SQLite database, with its cost.\n"
        ".SH COMMANDS\n",
        to);
    for (size_t i = 0; (command = commands_at(i)); i++) {
        fputs(".TP\n.BR fa\\-coord\\-", to);
        put(command->name, to);
        fputs(" (1)\n", to);
        put(command->help, to);
        fputc('\n', to);
    }
    put_exit_codes(to);
    fputs(".SH ENVIRONMENT\n"
          ".TP\n.B FA_COORD_NAME\n"
          "The value of the flag \\-\\-name where a command does not give it.\n"
          ".TP\n.BR NO_COLOR \", \" CLICOLOR_FORCE \", \" COLUMNS\n"
          "No colours; colours in pipes too; how wide lines are.\n"
          ".SH FILES\n"
          ".TP\n.I ~/.config/fa\\-coord/config\n"
          "Defaults of flags: NAME = VALUE, or COMMAND.NAME = VALUE.\n"
          ".TP\n.I sweep.json\n"
          "The sweep file: kernel, tunables, gates, shapes.\n"
          ".TP\n.I hosts.txt\n"
          "The machines, one a line: USER@HOST and attributes such as rate=.\n",
          to);
}

static void put_synopsis(const struct options *options, FILE *to)
{
    fputs(".SH SYNOPSIS\n.B fa\\-coord ", to);
    put(options->command, to);
    fputc('\n', to);
    if (*options->arguments) {
        put(options->arguments, to);
        fputc('\n', to);
    }
    fputs(".RI [ FLAGS ]\n", to);
}

static void put_flags(const struct options *options, FILE *to)
{
    fputs(".SH OPTIONS\n", to);
    for (size_t i = 0; i < options->n; i++) {
        const struct option *option = &options->list[i];

        fputs(".TP\n\\fB\\-\\-", to);
        put(option->name, to);
        fputs("\\fR", to);
        if (option->kind != OPTION_FLAG) {
            fputs(" \\fI", to);
            put(options_value(option), to);
            fputs("\\fR", to);
        }
        fputc('\n', to);
        put(option->help, to);
        fputc('\n', to);
    }
    fputs(".TP\n.BR \\-\\-help \", \" \\-h\nA short form of this page.\n", to);
}

static void put_examples(const char *examples, FILE *to)
{
    if (!*examples)
        return;
    fputs(".SH EXAMPLES\n.nf\n", to);
    while (*examples) {
        size_t len = strcspn(examples, "\n");

        put_n(examples, len, to);
        fputc('\n', to);
        examples += len + 1;
    }
    fputs(".fi\n", to);
}

void manual_command(const struct options *options, void *to)
{
    const struct command *command = commands_find(options->command);

    put_title(options->command, to);
    fputs(".SH NAME\nfa\\-coord\\-", to);
    put(options->command, to);
    fputs(" \\- ", to);
    put(command ? command->help : options->what, to);
    fputc('\n', to);
    put_synopsis(options, to);
    fputs(".SH DESCRIPTION\n", to);
    put(options->what, to);
    fputc('\n', to);
    put_flags(options, to);
    put_examples(command ? command->examples : "", to);
    fputs(".SH SEE ALSO\n.BR fa\\-coord (1)\n", to);
}
