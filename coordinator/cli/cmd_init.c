#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/cli/cmd.h"
#include "coordinator/source/kernel_scan.h"
#include "coordinator/options/fail.h"
#include "coordinator/options/options.h"
#include "coordinator/templates/kernel_sweep.h"
#include "coordinator/templates/templates.h"
#include "coordinator/text/shell_word.h"
#include "coordinator/text/terminal.h"

#define SOURCE_MAX (1 << 20) /* bytes */

struct settings {
    const char *folder, *template, *from, *entry;
    bool list;
};

static void print_list(void)
{
    const struct template *template;

    for (size_t i = 0; (template = templates_at(i)); i++)
        printf("%-10s %s\n", template->name, template->what);
}

static int read_source(const char *path, char **text, struct err *err)
{
    FILE *file = fopen(path, "r");
    struct stat stat;
    size_t len;

    if (!file)
        return err_set(err, ERR_INPUT, "%s: %s; --from names a CUDA source",
                       path, strerror(errno));
    if (fstat(fileno(file), &stat) == 0 && S_ISDIR(stat.st_mode)) {
        (void)fclose(file);
        return err_set(err, ERR_INPUT,
                       "%s is a folder; --from names a CUDA source in it",
                       path);
    }
    *text = mem_new(SOURCE_MAX + 1, 1);
    len = fread(*text, 1, SOURCE_MAX, file);
    (void)fclose(file);
    if (len > 0 && len < SOURCE_MAX && !memchr(*text, '\0', len)) {
        (*text)[len] = '\0';
        return 0;
    }
    free(*text);
    *text = NULL;
    if (len == 0)
        return err_set(err, ERR_INPUT,
                       "%s is empty; --from names a CUDA source", path);
    return err_set(err, ERR_INPUT, "%s is not a text of less than %d bytes",
                   path, SOURCE_MAX);
}

/* Macros that look like tunables and cannot be one yet. */
static void print_fixed(const struct kernel_scan *scan)
{
    for (size_t i = 0; i < scan->n_fixed; i++)
        printf("%s%s", i ? ", " : "Not tunables: ", scan->fixed[i].name);
    if (scan->n_fixed)
        printf(". To tune one, write\n"
               "    #ifndef %s\n"
               "    #define %s %s\n"
               "    #endif\n"
               "and name it in sweep.json.\n",
               scan->fixed[0].name, scan->fixed[0].name, scan->fixed[0].value);
}

/* 'folder' is NULL for the one that the user is in. */
static void print_check(const char *folder)
{
    char *word = folder ? shell_word(folder) : NULL;

    if (word)
        printf("    cd %s\n", word);
    printf("    fa-coord check\n");
    free(word);
}

/* The sweep file stands beside the kernel, as its sources must. */
static int write_for(const struct settings *settings, struct err *err)
{
    const char *slash = strrchr(settings->from, '/');
    char *folder =
        slash ? mem_dup(settings->from, (size_t)(slash - settings->from) + 1)
              : mem_strdup(".");
    const char *name = slash ? slash + 1 : settings->from;
    char *source = NULL, *sweep = NULL, *reference = NULL;
    struct kernel_scan scan = { .n = 0 };
    struct err why = { "" };
    size_t tunables;
    int rc = read_source(settings->from, &source, err);

    if (rc == 0 && kernel_scan(source, settings->entry, &scan, &why) < 0)
        rc = err_set(err, ERR_INPUT, "%s: %s", settings->from, why.text);
    if (rc == 0) {
        sweep = kernel_sweep_json(&scan, name, source);
        reference = kernel_sweep_reference(&scan);
        rc = templates_write_files(
            (const struct template_file[]){ { "sweep.json", sweep },
                                            { "reference.cu", reference } },
            2, folder, err);
    }
    tunables = kernel_sweep_tunables(&scan);
    if (rc == 0) {
        printf("sweep.json and reference.cu are beside %s: %zu parameter%s, "
               "%zu tunable%s.\n"
               "Now check the lines of sweep.json that say CHECK, write "
               "reference.cu, and run\n",
               name, scan.n, scan.n == 1 ? "" : "s", tunables,
               tunables == 1 ? "" : "s");
        print_check(slash ? folder : NULL);
        print_fixed(&scan);
    }
    kernel_scan_fini(&scan);
    free(source);
    free(sweep);
    free(reference);
    free(folder);
    return rc;
}

static int write_template(const struct settings *settings, struct err *err)
{
    const char *folder = settings->folder ? settings->folder : ".";
    char *word = shell_word(folder);
    int rc = templates_write(settings->template, folder, err);

    if (rc == 0)
        printf("a %s is in '%s'. Next:\n"
               "    cd %s\n"
               "    fa-coord check                # the file and the sources\n"
               "    fa-coord sweep --device cpu --db cpu.db    # is it right? "
               "needs no GPU\n"
               "    fa-coord sweep --hosts hosts.txt\n",
               settings->template, folder, word);
    free(word);
    return rc;
}

static int run(const struct settings *settings, struct err *err)
{
    if (settings->list) {
        print_list();
        return 0;
    }
    if (settings->from && settings->folder)
        return err_set(err, ERR_INPUT,
                       "init: with --from the files are written beside the "
                       "kernel; leave '%s' out",
                       settings->folder);
    if (settings->from)
        return write_for(settings, err);
    if (settings->template)
        return write_template(settings, err);
    return err_set(err, ERR_INPUT,
                   "init: choose a --template (--list names them), or a "
                   "kernel with --from");
}

int cmd_init(int argc, char *argv[])
{
    struct settings settings = { .list = false };
    const struct option list[] = {
        { "template", OPTION_TEXT, &settings.template,
          "reduction|stencil|matmul", "a complete sweep to start from",
          "from list" },
        { "from", OPTION_TEXT, &settings.from, "FILE",
          "make a sweep file for this kernel, from its parameters and macros",
          "list" },
        { "entry", OPTION_TEXT, &settings.entry, "NAME",
          "the kernel, if the file has several", NULL },
        { "list", OPTION_FLAG, &settings.list, NULL, "list the templates",
          NULL },
    };
    const struct options options = {
        .command = "init",
        .arguments = "[FOLDER]",
        .what = "Begin a new sweep, from a template or for a kernel that you "
                "have.",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
        .needing = "entry",
        .needed = "from",
        .arguments_max = 1,
        .plain = &settings.folder,
    };
    struct err err;
    int rc = options_parse(&options, argc, argv, &err);

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc == 0)
        rc = run(&settings, &err);
    if (rc == 0)
        rc = terminal_flush(stdout, &err);
    return rc < 0 ? fail_with(rc, &err) : 0;
}
