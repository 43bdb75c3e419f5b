#include "coordinator/options/options.h"

#include <assert.h>
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/print/paragraph.h"
#include "coordinator/print/screen.h"
#include "coordinator/text/suggest.h"

#define LIST_MAX 64    /* flags of a command */
#define CHOICES_MAX 40 /* columns of choices in the help */
#define HELP_COLUMN 28 /* where the texts about the flags begin */

static struct {
    options_show *show; /* NULL: print to stdout */
    void *to;
} on_help;

static struct {
    const struct option_default *list;
    size_t n;
} defaults;

void options_on_help(options_show *show, void *to)
{
    on_help.show = show;
    on_help.to = to;
}

void options_set_defaults(const struct option_default *list, size_t n)
{
    defaults.list = list;
    defaults.n = n;
}

/* The flags seen so far, by their place in the table. */
struct parse {
    const struct options *options;
    bool seen[LIST_MAX];
    int n_plain;
    bool only_plain; /* after -- */
};

static int find(const struct options *options, const char *name, size_t len)
{
    for (size_t i = 0; i < options->n; i++)
        if (strlen(options->list[i].name) == len &&
            memcmp(options->list[i].name, name, len) == 0)
            return (int)i;
    return -1;
}

static int unknown(const struct options *options, const char *flag, size_t len,
                   struct err *err)
{
    const char *names[LIST_MAX + 1], *near;

    for (size_t i = 0; i < options->n; i++)
        names[i] = options->list[i].name;
    names[options->n] = "help";
    near = suggest_name(flag, len, names, options->n + 1);
    if (near)
        return err_set(err, ERR_INPUT,
                       "%s: unknown flag '--%.*s'; did you mean '--%s'?",
                       options->command, (int)len, flag, near);
    return err_set(err, ERR_INPUT,
                   "%s: unknown flag '--%.*s'; see 'fa-coord %s --help'",
                   options->command, (int)len, flag, options->command);
}

/* Returns NULL, or what is wrong with the text. */
static const char *read_number(const struct option *option, const char *text,
                               double *out)
{
    bool is_int = option->kind == OPTION_INT;
    char *end;
    /* as a double, 2^53 + 1 equals 2^53 */
    long double exact = strtold(text, &end);
    double number = is_int ? (double)exact : strtod(text, &end);

    if (end == text || *end || strspn(text, "0123456789.eE+-") != strlen(text))
        return is_int ? "not a whole number" : "not a number";
    if (number < 0)
        return "less than 0";
    if (!isfinite(number))
        return "too large";
    if (is_int && exact > 0x1p53L)
        return "too large: whole numbers end at 2^53 = 9007199254740992";
    if (is_int && exact != floorl(exact))
        return "not a whole number";
    *out = number;
    return NULL;
}

static int add_item(const struct options *options, const struct option *option,
                    const char *text, struct err *err)
{
    struct option_list *list = option->out;

    if (list->n == OPTION_LIST_MAX)
        return err_set(err, ERR_INPUT, "%s: --%s is given more than %d times",
                       options->command, option->name, OPTION_LIST_MAX);
    list->items[list->n++] = text;
    return 0;
}

static int take_value(const struct options *options,
                      const struct option *option, const char *text,
                      struct err *err)
{
    const char *flaw;
    double number;

    if (!*text)
        return err_set(err, ERR_INPUT, "%s: --%s needs a value: %s",
                       options->command, option->name, option->value);
    if (option->kind == OPTION_LIST)
        return add_item(options, option, text, err);
    if (option->kind == OPTION_TEXT) {
        *(const char **)option->out = text;
        return 0;
    }
    flaw = read_number(option, text, &number);
    if (flaw)
        return err_set(err, ERR_INPUT, "%s: --%s: '%.64s' is %s",
                       options->command, option->name, text, flaw);
    if (option->kind == OPTION_INT)
        *(int64_t *)option->out = (int64_t)number;
    else
        *(double *)option->out = number;
    return 0;
}

static int check_together(const struct parse *parse, struct err *err)
{
    const struct options *options = parse->options;

    for (size_t i = 0; i < options->n; i++) {
        const char *word = options->list[i].excludes;

        while (parse->seen[i] && word && *word) {
            size_t len = strcspn(word, " ");
            int other = find(options, word, len);

            if (other >= 0 && parse->seen[other])
                return err_set(err, ERR_INPUT,
                               "%s: --%s and --%s cannot be combined",
                               options->command, options->list[i].name,
                               options->list[other].name);
            word += len + strspn(word + len, " ");
        }
    }
    return 0;
}

static bool is_seen(const struct parse *parse, const char *name)
{
    int at = find(parse->options, name, strlen(name));

    return at >= 0 && parse->seen[at];
}

static int check_needed(const struct parse *parse, struct err *err)
{
    const struct options *options = parse->options;
    const char *word = options->needing;

    if (!word || is_seen(parse, options->needed))
        return 0;
    while (*word) {
        size_t len = strcspn(word, " ");
        int at = find(options, word, len);

        assert(at >= 0);
        if (parse->seen[at])
            return err_set(err, ERR_INPUT, "%s: --%s works only with --%s",
                           options->command, options->list[at].name,
                           options->needed);
        word += len + strspn(word + len, " ");
    }
    return 0;
}

static bool has_first(const struct parse *parse)
{
    const char *first = parse->options->plain ? parse->options->plain[0] : NULL;
    size_t len = first ? strlen(first) : 0;

    return parse->n_plain > 0 &&
           (parse->options->all_first ||
            parse->n_plain == parse->options->arguments_max ||
            (len > 3 && strcmp(first + len - 3, ".db") == 0));
}

static int check_first(const struct parse *parse, struct err *err)
{
    const struct options *options = parse->options;

    if (!options->first_flag || !has_first(parse) ||
        !is_seen(parse, options->first_flag))
        return 0;
    return err_set(err, ERR_INPUT, "%s: give '%.200s' or --%s, not both",
                   options->command, options->plain[0], options->first_flag);
}

/* Returns how many of 'argv' were taken, or ERR_INPUT. */
static int take_flag(struct parse *parse, char *argv[], struct err *err)
{
    const struct options *options = parse->options;
    const char *flag = argv[0] + 2, *value = strchr(flag, '=');
    size_t len = value ? (size_t)(value - flag) : strlen(flag);
    int at = find(options, flag, len), rc;
    const struct option *option;

    if (at < 0)
        return unknown(options, flag, len, err);
    option = &options->list[at];
    if (parse->seen[at] && option->kind != OPTION_LIST)
        return err_set(err, ERR_INPUT, "%s: --%s is given twice",
                       options->command, option->name);
    parse->seen[at] = true;
    if (option->kind == OPTION_FLAG) {
        if (value)
            return err_set(err, ERR_INPUT, "%s: --%s takes no value",
                           options->command, option->name);
        *(bool *)option->out = true;
        return 1;
    }
    if (!value && (!argv[1] || strncmp(argv[1], "--", 2) == 0))
        return err_set(err, ERR_INPUT, "%s: --%s needs a value: %s",
                       options->command, option->name, option->value);
    rc = take_value(options, option, value ? value + 1 : argv[1], err);
    return rc < 0 ? rc : value ? 1 : 2;
}

static int take_plain(struct parse *parse, const char *text, struct err *err)
{
    const struct options *options = parse->options;

    if (text[0] == '-' && text[1] && !parse->only_plain)
        return err_set(err, ERR_INPUT,
                       "%s: unknown flag '%.64s'; flags begin with --, "
                       "'fa-coord %s --help' lists them",
                       options->command, text, options->command);
    if (!*text)
        return err_set(err, ERR_INPUT,
                       "%s: an argument is empty; is a variable of your shell "
                       "not set? The arguments are %s",
                       options->command,
                       *options->arguments ? options->arguments : "none");
    if (parse->n_plain == options->arguments_max)
        return err_set(err, ERR_INPUT,
                       "%s: unexpected argument '%.200s'; the arguments are %s",
                       options->command, text,
                       *options->arguments ? options->arguments : "none");
    options->plain[parse->n_plain++] = text;
    return 1;
}

/* ---- defaults */

static bool has_word(const char *words, const char *word)
{
    size_t len = strlen(word);

    while (words && *words) {
        size_t n = strcspn(words, " ");

        if (n == len && memcmp(words, word, n) == 0)
            return true;
        words += n + strspn(words + n, " ");
    }
    return false;
}

/* Would it contradict the command line? */
static bool is_out_of_place(const struct parse *parse, size_t at)
{
    const struct options *options = parse->options;
    const struct option *option = &options->list[at];

    for (size_t i = 0; i < options->n; i++)
        if (parse->seen[i] &&
            (has_word(options->list[i].excludes, option->name) ||
             has_word(option->excludes, options->list[i].name)))
            return true;
    if (options->first_flag && has_first(parse) &&
        strcmp(options->first_flag, option->name) == 0)
        return true;
    return has_word(options->needing, option->name) &&
           !parse
                ->seen[find(options, options->needed, strlen(options->needed))];
}

static const struct option_default *default_of(const struct options *options,
                                               const struct option *option)
{
    const struct option_default *found = NULL;

    for (size_t i = 0; i < defaults.n; i++) {
        const struct option_default *is = &defaults.list[i];

        if (strcmp(is->name, option->name) == 0 &&
            (is->command ? strcmp(is->command, options->command) == 0
                         : !found || !found->command))
            found = is;
    }
    return found;
}

static int take_default(const struct options *options,
                        const struct option *option,
                        const struct option_default *is, struct err *err)
{
    struct err why = { "" };
    bool yes = strcmp(is->value, "true") == 0;

    if (option->kind == OPTION_FLAG) {
        if (!yes && strcmp(is->value, "false") != 0)
            return err_set(err, ERR_INPUT, "%s: '%.64s' is not true or false",
                           is->origin, is->value);
        *(bool *)option->out = yes;
        return 0;
    }
    if (take_value(options, option, is->value, &why) < 0)
        return err_set(err, ERR_INPUT, "%s: %s", is->origin, why.text);
    return 0;
}

static int take_defaults(const struct parse *parse, struct err *err)
{
    const struct options *options = parse->options;

    for (size_t i = 0; i < options->n; i++) {
        const struct option_default *is =
            default_of(options, &options->list[i]);
        int rc;

        if (!is || parse->seen[i] || is_out_of_place(parse, i))
            continue;
        rc = take_default(options, &options->list[i], is, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- */

static bool asks_for_help(const char *arg)
{
    return strcmp(arg, "--help") == 0 || strcmp(arg, "-h") == 0;
}

static int help(const struct options *options)
{
    if (on_help.show)
        on_help.show(options, on_help.to);
    else
        options_help(options, stdout);
    return OPTIONS_HELP;
}

int options_parse(const struct options *options, int argc, char *argv[],
                  struct err *err)
{
    struct parse parse = { .options = options };
    int taken;

    for (int i = 0; i < options->arguments_max; i++)
        options->plain[i] = NULL;
    for (int i = 1; i < argc; i += taken) {
        if (!parse.only_plain && asks_for_help(argv[i]))
            return help(options);
        if (!parse.only_plain && strcmp(argv[i], "--") == 0) {
            parse.only_plain = true;
            taken = 1;
        } else if (!parse.only_plain && strncmp(argv[i], "--", 2) == 0) {
            taken = take_flag(&parse, argv + i, err);
        } else {
            taken = take_plain(&parse, argv[i], err);
        }
        if (taken < 0)
            return taken;
    }
    if (parse.n_plain < options->arguments_min)
        return err_set(err, ERR_INPUT,
                       "%s: %s is missing; see 'fa-coord %s --help'",
                       options->command, options->arguments, options->command);
    taken = check_together(&parse, err);
    if (taken == 0)
        taken = check_needed(&parse, err);
    if (taken == 0)
        taken = check_first(&parse, err);
    return taken < 0 ? taken : take_defaults(&parse, err);
}

const char *options_value(const struct option *option)
{
    if (option->kind == OPTION_FLAG)
        return "";
    return strlen(option->value) > CHOICES_MAX ? "NAME" : option->value;
}

static void print_flag(const char *name, const char *value, const char *help,
                       FILE *to)
{
    int width = fprintf(to, "  --%s%s%s", name, *value ? " " : "", value);
    size_t columns = screen_columns(to);
    size_t at = columns >= 2 * HELP_COLUMN ? HELP_COLUMN : 6;

    if ((size_t)width + 2 > at) {
        fputc('\n', to);
        width = 0;
    }
    fprintf(to, "%*s", (int)at - width, "");
    paragraph_put(to, at, at, help);
}

void options_help(const struct options *options, FILE *to)
{
    fprintf(to, "usage: fa-coord %s %s%s[FLAGS]\n\n", options->command,
            options->arguments, *options->arguments ? " " : "");
    paragraph_put(to, 0, 0, options->what);
    fputc('\n', to);
    for (size_t i = 0; i < options->n; i++) {
        const struct option *option = &options->list[i];

        print_flag(option->name, options_value(option), option->help, to);
    }
    print_flag("help", "", "this text, like -h", to);
}
