#include "coordinator/usage/user_config.h"

#include <ctype.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "common/mem.h"
#include "common/remedy.h"
#include "coordinator/usage/commands.h"
#include "coordinator/options/options.h"
#include "coordinator/text/suggest.h"

#define FILE_MAX 65536 /* bytes */
#define NAMES_MAX 512  /* flags of all commands */
#define NAME_MAX_LEN 64
#define PREFIX "FA_COORD_"

/* ---- which flags there are */

struct names {
    const char *command; /* NULL: any */
    const char *list[NAMES_MAX];
    size_t n;
};

static bool is_refused(const char *name)
{
    return strcmp(name, "force") == 0 || strcmp(name, "fresh") == 0;
}

static void take_names(const struct options *options, void *to)
{
    struct names *names = to;

    for (size_t i = 0; i < options->n && names->n < NAMES_MAX; i++)
        names->list[names->n++] = options->list[i].name;
}

static void list_names(struct names *names)
{
    const struct command *command;

    names->n = 0;
    for (size_t i = 0; (command = commands_at(i)); i++)
        if (!names->command || strcmp(names->command, command->name) == 0)
            commands_options(command, take_names, names);
}

static int check_name(const char *command, const char *name, const char *origin,
                      struct err *err)
{
    struct names names = { .command = command };
    const char *near;

    if (command && !commands_find(command)) {
        near = commands_near(command);
        return err_set(err, ERR_INPUT, "%s: there is no command '%.64s'%s%s%s",
                       origin, command, near ? "; did you mean '" : "",
                       near ? near : "", near ? "'?" : "");
    }
    if (!*name)
        return err_set(err, ERR_INPUT, "%s: a line is NAME = VALUE", origin);
    if (is_refused(name))
        return err_set(err, ERR_INPUT,
                       "%s: --%s works on the command line only", origin, name);
    list_names(&names);
    for (size_t i = 0; i < names.n; i++)
        if (strcmp(names.list[i], name) == 0)
            return 0;
    near = suggest_name(name, strlen(name), names.list, names.n);
    return err_set(err, ERR_INPUT, "%s: %s%s%s has no flag '--%.64s'%s%s%s",
                   origin, command ? "'" : "", command ? command : "fa-coord",
                   command ? "'" : "", name, near ? "; did you mean '--" : "",
                   near ? near : "", near ? "'?" : "");
}

static int add(struct user_config *config, const char *command,
               const char *name, char *value, char *origin, struct err *err)
{
    int rc = check_name(command, name, origin, err);

    if (rc < 0) {
        free(value);
        free(origin);
        return rc;
    }
    config->list = mem_grow(config->list, config->n + 1, sizeof(*config->list));
    config->list[config->n++] =
        (struct option_default){ .command =
                                     command ? mem_strdup(command) : NULL,
                                 .name = mem_strdup(name),
                                 .value = value,
                                 .origin = origin };
    return 0;
}

/* ---- the file */

static char *trimmed(const char *text, size_t len)
{
    while (len && isspace((unsigned char)*text)) {
        text++;
        len--;
    }
    while (len && isspace((unsigned char)text[len - 1]))
        len--;
    return mem_dup(text, len);
}

static char *value_of(const char *text, size_t len, const char *home)
{
    char *value = trimmed(text, len), *whole;

    if (!home || strncmp(value, "~/", 2) != 0)
        return value;
    whole = mem_printf("%s%s", home, value + 1);
    free(value);
    return whole;
}

static int parse_line(const char *line, size_t len, const char *home,
                      char *origin, struct user_config *out, struct err *err)
{
    const char *equals = memchr(line, '=', len);
    char *name, *dot;
    int rc;

    if (!equals) {
        rc = err_set(err, ERR_INPUT, "%s: a line is NAME = VALUE", origin);
        free(origin);
        return rc;
    }
    name = trimmed(line, (size_t)(equals - line));
    dot = strchr(name, '.');
    if (dot)
        *dot = '\0';
    rc = add(out, dot ? name : NULL, dot ? dot + 1 : name,
             value_of(equals + 1, len - (size_t)(equals + 1 - line), home),
             origin, err);
    free(name);
    return rc;
}

int user_config_parse(const char *text, const char *path, const char *home,
                      struct user_config *out, struct err *err)
{
    static const char mark[] = "\xef\xbb\xbf"; /* of the byte order */
    int number = 1, rc = 0;

    if (strncmp(text, mark, strlen(mark)) == 0)
        text += strlen(mark);
    for (; *text && rc == 0; number++) {
        size_t len = strcspn(text, "\n");
        size_t blank = strspn(text, " \t\r");

        if (blank < len && text[blank] != '#')
            rc = parse_line(text, len, home, mem_printf("%s:%d", path, number),
                            out, err);
        text += len + (text[len] == '\n');
    }
    return rc;
}

/* ---- the environment */

/* The list owns its texts, which options.h only borrows. */
static void free_text(const char *text)
{
    union {
        const char *borrowed;
        char *owned;
    } is = { text };

    free(is.owned);
}

static void entry_fini(const struct option_default *entry)
{
    free_text(entry->command);
    free_text(entry->name);
    free_text(entry->value);
    free_text(entry->origin);
}

/* Forget what the file says of this flag, for whatever command. */
static void overrule(struct user_config *config, const char *name)
{
    size_t kept = 0;

    for (size_t i = 0; i < config->n; i++)
        if (strcmp(config->list[i].name, name) == 0)
            entry_fini(&config->list[i]);
        else
            config->list[kept++] = config->list[i];
    config->n = kept;
}

/* Without a value, it only takes away what the file says. */
static int take_variable(struct user_config *config, const char *name,
                         const char *value, char *origin, struct err *err)
{
    int rc;

    overrule(config, name);
    if (*value)
        return add(config, NULL, name, mem_strdup(value), origin, err);
    rc = check_name(NULL, name, origin, err);
    free(origin);
    return rc;
}

int user_config_environment(char *const *environment, struct user_config *out,
                            struct err *err)
{
    for (; *environment; environment++) {
        const char *variable = *environment, *equals = strchr(variable, '=');
        char name[NAME_MAX_LEN], *origin;
        size_t len = 0;
        int rc;

        if (strncmp(variable, PREFIX, strlen(PREFIX)) != 0 || !equals)
            continue;
        origin = mem_dup(variable, (size_t)(equals - variable));
        variable += strlen(PREFIX);
        for (; variable < equals && len + 1 < sizeof(name); variable++)
            name[len++] = *variable == '_'
                              ? '-'
                              : (char)tolower((unsigned char)*variable);
        name[len] = '\0';
        rc = take_variable(out, name, equals + 1, origin, err);
        if (rc < 0)
            return rc;
    }
    return 0;
}

/* ---- both */

char *user_config_path(void)
{
    const char *base = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

    if (base && *base == '/')
        return mem_printf("%s/fa-coord/config", base);
    return home && *home ? mem_printf("%s/.config/fa-coord/config", home)
                         : NULL;
}

/* The system refuses it with this number. */
static int refuse(const char *path, int number, struct err *err)
{
    const char *remedy = remedy_of(number);

    return remedy ? err_set(err, ERR_SYSTEM, "%s: %s; %s", path,
                            strerror(number), remedy)
                  : err_set(err, ERR_INPUT, "%s: %s", path, strerror(number));
}

static int read_file(const char *path, char **text, struct err *err)
{
    FILE *file = fopen(path, "r");
    size_t len;
    int failed;

    *text = NULL;
    if (!file)
        return errno == ENOENT || errno == ENOTDIR ? 0
                                                   : refuse(path, errno, err);
    *text = mem_new(FILE_MAX + 1, 1);
    len = fread(*text, 1, FILE_MAX + 1, file);
    failed = ferror(file) ? errno : 0;
    (void)fclose(file); /* nothing was written */
    if (!failed && len <= FILE_MAX && !memchr(*text, '\0', len)) {
        (*text)[len] = '\0';
        return 0;
    }
    free(*text);
    *text = NULL;
    return failed
               ? refuse(path, failed, err)
               : err_set(err, ERR_INPUT, "%s: not a text of at most %d bytes",
                         path, FILE_MAX);
}

int user_config_load(struct user_config *out, struct err *err)
{
    char *path = user_config_path(), *text = NULL;
    int rc = 0;

    *out = (struct user_config){ NULL, 0 };
    if (path)
        rc = read_file(path, &text, err);
    if (text)
        rc = user_config_parse(text, path, getenv("HOME"), out, err);
    if (rc == 0)
        rc = user_config_environment(environ, out, err);
    free(text);
    free(path);
    if (rc < 0)
        user_config_fini(out);
    return rc;
}

void user_config_fini(struct user_config *config)
{
    for (size_t i = 0; i < config->n; i++)
        entry_fini(&config->list[i]);
    free(config->list);
    *config = (struct user_config){ NULL, 0 };
}
