#include "coordinator/usage/completion.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/usage/commands.h"
#include "coordinator/options/options.h"
#include "coordinator/text/suggest.h"

/* The choices of "cuda|cpu|replay=FILE" that are words: "cuda cpu replay=".
 * Returns how many; 0 where the value is something else. */
static size_t put_words(const char *value, FILE *to)
{
    size_t n = 0;

    if (!value || !strchr(value, '|') || isupper((unsigned char)*value))
        return 0;
    while (*value) {
        size_t len = strcspn(value, "|"), word = 0;

        while (word < len && !isupper((unsigned char)value[word]) &&
               value[word] != '.')
            word++;
        if (word > 0) {
            if (to)
                fprintf(to, "%s%.*s", n ? " " : "", (int)word, value);
            n++;
        }
        value += len + (value[len] == '|');
    }
    return n;
}

static bool is_file(const struct option *option)
{
    return option->kind == OPTION_TEXT && (strcmp(option->value, "FILE") == 0 ||
                                           strcmp(option->value, "DB") == 0);
}

/* A text between single quotes of a shell. */
static void put_quoted(const char *text, const char *escaped, FILE *to)
{
    for (; *text; text++)
        if (*text == '\'')
            fputs("'\\''", to);
        else if (*escaped && strchr(escaped, *text))
            fprintf(to, "\\%c", *text);
        else
            fputc(*text, to);
}

static void put_names(FILE *to)
{
    const struct command *command;

    for (size_t i = 0; (command = commands_at(i)); i++)
        fprintf(to, "%s%s", i ? " " : "", command->name);
}

/* ---- bash */

static void bash_flags(const struct options *options, void *to)
{
    fprintf(to, "    %s) words=\"", options->command);
    for (size_t i = 0; i < options->n; i++)
        fprintf(to, "--%s ", options->list[i].name);
    fputs("--help\" ;;\n", to);
}

static void bash_values(const struct options *options, void *to)
{
    for (size_t i = 0; i < options->n; i++) {
        const struct option *option = &options->list[i];

        if (option->kind == OPTION_FLAG || is_file(option))
            continue;
        fprintf(to, "    '%s --%s') words=\"", options->command, option->name);
        put_words(option->value, to);
        fputs("\"; files=no ;;\n", to);
    }
}

static void bash_files(const struct options *options, void *to)
{
    for (size_t i = 0; i < options->n; i++)
        if (is_file(&options->list[i]))
            fprintf(to, "    '%s --%s') words= ;;\n", options->command,
                    options->list[i].name);
}

static void each(options_show *show, FILE *to)
{
    const struct command *command;

    for (size_t i = 0; (command = commands_at(i)); i++)
        commands_options(command, show, to);
}

static void print_bash(FILE *to)
{
    fputs("# bash completion of fa-coord\n"
          "_fa_coord() {\n"
          "    local current=${COMP_WORDS[COMP_CWORD]}\n"
          "    local before=${COMP_WORDS[COMP_CWORD - 1]}\n"
          "    local words= files=yes\n"
          "    COMPREPLY=()\n"
          "    # bash takes --name=VALUE for three words\n"
          "    if [ \"$current\" = = ]; then\n"
          "        current=\n"
          "    elif [ \"$before\" = = ] && [ \"$COMP_CWORD\" -gt 2 ]; then\n"
          "        before=${COMP_WORDS[COMP_CWORD - 2]}\n"
          "    fi\n"
          "    if [ \"$COMP_CWORD\" -eq 1 ]; then\n"
          "        words=\"",
          to);
    put_names(to);
    fputs(" --help --version\" files=no\n"
          "    elif [ \"${COMP_WORDS[1]}\" = help ]; then\n"
          "        words=\"",
          to);
    put_names(to);
    fputs(" --man\" files=no\n"
          "    else\n"
          "    case ${COMP_WORDS[1]} in\n",
          to);
    each(bash_flags, to);
    fputs("    esac\n"
          "    case $current in -*) files=no ;; *) words= ;; esac\n"
          "    case \"${COMP_WORDS[1]} $before\" in\n",
          to);
    each(bash_values, to);
    each(bash_files, to);
    fputs("    'completion completion') words=\"bash zsh fish\"; files=no ;;\n"
          "    esac\n"
          "    fi\n"
          "    if [ \"$files\" = yes ]; then\n"
          "        mapfile -t COMPREPLY < <(compgen -f -- \"$current\")\n"
          "    else\n"
          "        mapfile -t COMPREPLY < "
          "<(compgen -W \"$words\" -- \"$current\")\n"
          "    fi\n"
          "}\n"
          "complete -o filenames -F _fa_coord fa-coord\n",
          to);
}

/* ---- zsh */

static void zsh_flags(const struct options *options, void *to)
{
    fprintf(to, "    %s)\n        _arguments", options->command);
    for (size_t i = 0; i < options->n; i++) {
        const struct option *option = &options->list[i];

        /* '=': its value follows that, or is the next word */
        fprintf(to, " \\\n            '%s--%s%s[",
                option->kind == OPTION_LIST ? "*" : "", option->name,
                option->kind == OPTION_FLAG ? "" : "=");
        put_quoted(option->help, "[]:\\", to);
        fputc(']', to);
        if (option->kind != OPTION_FLAG) {
            fputc(':', to);
            put_quoted(option->value, "[]:\\", to);
            fputc(':', to);
        }
        if (put_words(option->value, NULL)) {
            fputc('(', to);
            put_words(option->value, to);
            fputc(')', to);
        } else if (is_file(option)) {
            fputs("_files", to);
        } else if (option->kind != OPTION_FLAG) {
            fputc(' ', to);
        }
        fputc('\'', to);
    }
    fputs(" \\\n            '(- *)'{-h,--help}'[show the help]'", to);
    if (strcmp(options->command, "completion") == 0)
        fputs(" \\\n            '1:SHELL:(bash zsh fish)'", to);
    else if (strcmp(options->command, "help") == 0)
        fputs(" \\\n            '1:COMMAND:($names)'", to);
    else if (*options->arguments)
        fputs(" \\\n            '*:FILE:_files'", to);
    fputs("\n        ;;\n", to);
}

static void print_zsh(FILE *to)
{
    const struct command *command;

    fputs("#compdef fa-coord\n"
          "# zsh completion of fa-coord\n"
          "local -a commands names\n"
          "local state line\n"
          "names=(",
          to);
    put_names(to);
    fputs(")\ncommands=(\n", to);
    for (size_t i = 0; (command = commands_at(i)); i++) {
        fprintf(to, "    '%s:", command->name);
        put_quoted(command->help, ":\\", to);
        fputs("'\n", to);
    }
    fputs(")\n"
          "_arguments -C '1: :->command' '*:: :->arguments'\n"
          "case $state in\n"
          "command)\n"
          "    _describe command commands\n"
          "    ;;\n"
          "arguments)\n"
          "    case $line[1] in\n",
          to);
    each(zsh_flags, to);
    fputs("    esac\n"
          "    ;;\n"
          "esac\n",
          to);
}

/* ---- fish */

static void fish_flags(const struct options *options, void *to)
{
    for (size_t i = 0; i < options->n; i++) {
        const struct option *option = &options->list[i];

        fprintf(to,
                "complete -c fa-coord -n '__fish_seen_subcommand_from %s' "
                "-l %s",
                options->command, option->name);
        if (is_file(option)) {
            fputs(" -r -F", to);
        } else if (put_words(option->value, NULL)) {
            fputs(" -x -a '", to);
            put_words(option->value, to);
            fputc('\'', to);
        } else if (option->kind != OPTION_FLAG) {
            fputs(" -x", to);
        }
        fputs(" -d '", to);
        put_quoted(option->help, "\\", to);
        fputs("'\n", to);
    }
}

static void print_fish(FILE *to)
{
    const struct command *command;

    fputs("# fish completion of fa-coord\n", to);
    for (size_t i = 0; (command = commands_at(i)); i++) {
        fprintf(to,
                "complete -c fa-coord -n __fish_use_subcommand -f -a %s -d '",
                command->name);
        put_quoted(command->help, "\\", to);
        fputs("'\n", to);
    }
    fputs("complete -c fa-coord -n '__fish_seen_subcommand_from completion' "
          "-f -a 'bash zsh fish'\n"
          "complete -c fa-coord -n '__fish_seen_subcommand_from help' -f -a '",
          to);
    put_names(to);
    fputs("'\n", to);
    each(fish_flags, to);
}

int completion_print(const char *shell, FILE *to, struct err *err)
{
    static const char *const shells[] = { "bash", "zsh", "fish" };
    char ending[SUGGEST_BYTES];

    if (strcmp(shell, "bash") == 0)
        print_bash(to);
    else if (strcmp(shell, "zsh") == 0)
        print_zsh(to);
    else if (strcmp(shell, "fish") == 0)
        print_fish(to);
    else
        return err_set(err, ERR_INPUT,
                       "completion: there is no completion for '%.64s'; "
                       "choose bash, zsh or fish%s",
                       shell,
                       suggest_ending(shell, strlen(shell), shells,
                                      sizeof(shells) / sizeof(shells[0]),
                                      ending));
    return 0;
}
