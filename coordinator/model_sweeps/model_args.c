#include "coordinator/model_sweeps/model_args.h"

#include <assert.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/mem.h"
#include "coordinator/options/options.h"
#include "coordinator/text/exit_code.h"

#define PLACE "{model}"
#define TEXT_MAX (1 << 20)

void model_args_add(struct model_args *args, const char *format, ...)
{
    char line[4096];
    va_list list;
    int n;

    assert(args->n < MODEL_ARGS_MAX);
    va_start(list, format);
    n = vsnprintf(line, sizeof(line), format, list);
    va_end(list);
    if (n >= 0 && (size_t)n < sizeof(line)) {
        args->items[args->n++] = mem_strdup(line);
        return;
    }
    args->items[args->n] = mem_new((size_t)n + 1, 1);
    va_start(list, format);
    (void)vsnprintf(args->items[args->n++], (size_t)n + 1, format, list);
    va_end(list);
}

void model_args_fini(struct model_args *args)
{
    for (size_t i = 0; i < args->n; i++)
        free(args->items[i]);
    *args = (struct model_args){ .n = 0 };
}

char *model_args_expand(const char *text, const char *label)
{
    struct buf out;
    const char *place;

    buf_init(&out, TEXT_MAX);
    while ((place = strstr(text, PLACE))) {
        buf_add(&out, text, (size_t)(place - text));
        buf_str(&out, label);
        text = place + strlen(PLACE);
    }
    buf_str(&out, text);
    return out.bytes ? out.bytes : mem_strdup("");
}

char *model_args_file(const char *path, const char *label)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');

    if (strstr(path, PLACE))
        return model_args_expand(path, label);
    if (!dot || dot == path || (slash && dot == slash + 1))
        return mem_printf("%s.%s", path, label);
    return mem_printf("%.*s.%s%s", (int)(dot - path), path, label, dot);
}

static bool is_one_of(const char *name, const char *const names[], size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (strcmp(name, names[i]) == 0)
            return true;
    return false;
}

static void add_text(struct model_args *args, const struct option *option,
                     const char *label)
{
    static const char *const files[] = { "log", "metrics" };
    const char *text = *(const char *const *)option->out;
    char *own;

    if (!text)
        return;
    own = is_one_of(option->name, files, 2) ? model_args_file(text, label)
                                            : model_args_expand(text, label);
    model_args_add(args, "--%s=%s", option->name, own);
    free(own);
}

static void add_flag(struct model_args *args, const struct option *option,
                     const char *label)
{
    switch (option->kind) {
    case OPTION_FLAG:
        if (*(const bool *)option->out)
            model_args_add(args, "--%s", option->name);
        return;
    case OPTION_TEXT:
        add_text(args, option, label);
        return;
    case OPTION_INT:
        if (*(const int64_t *)option->out >= 0)
            model_args_add(args, "--%s=%" PRId64, option->name,
                           *(const int64_t *)option->out);
        return;
    case OPTION_REAL:
        if (*(const double *)option->out > 0)
            model_args_add(args, "--%s=%.17g", option->name,
                           *(const double *)option->out);
        return;
    case OPTION_LIST: /* no flag of these commands is one */
        return;
    }
}

void model_args_flags(struct model_args *args, const struct run_settings *set,
                      enum run_kind kind, const struct model_own *own)
{
    static const char *const owned[] = { "hosts", "db", "budget" };
    struct run_settings copy = *set;
    struct option list[RUN_FLAGS_MAX];
    size_t n = run_settings_flags(&copy, kind, list);

    for (size_t i = 0; i < n; i++)
        if (!is_one_of(list[i].name, owned, 3))
            add_flag(args, &list[i], own->label);
    if (own->hosts)
        model_args_add(args, "--hosts=%s", own->hosts);
    if (own->db)
        model_args_add(args, "--db=%s", own->db);
}

int model_args_code(const int *codes, size_t n)
{
    bool same = true;

    for (size_t i = 0; i < n; i++) {
        if (exit_code_is_signal(codes[i]))
            return codes[i];
        same = same && codes[i] == codes[0];
    }
    return same && n > 0 ? codes[0] : EXIT_PARTIAL;
}
