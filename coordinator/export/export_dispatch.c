#include "coordinator/export/export_dispatch.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/conclusion/winner.h"
#include "coordinator/export/export.h"
#include "coordinator/result/report.h"
#include "coordinator/result/stored_spec.h"
#include "coordinator/space/space.h"
#include "coordinator/space/space_config.h"

/* A shape and what was chosen for it. */
struct choice {
    size_t config; /* index in the table of configurations */
    struct space_launch launch;
    double median_s;
    const char *state;
};

struct dispatch {
    const struct report *report;
    struct stored_spec *stored;
    char *prefix, *lower; /* FLASH_ATTENTION, flash_attention */
    struct choice *choices;
    const struct report_config **configs;
    char **flags; /* of each configuration */
    size_t n_configs;
};

static size_t config_of(struct dispatch *dispatch,
                        const struct report_config *config)
{
    size_t i = 0;

    while (i < dispatch->n_configs && dispatch->configs[i] != config)
        i++;
    return i;
}

static int take_flags(struct dispatch *dispatch, const struct export *export,
                      struct err *err)
{
    char *text = NULL;
    size_t len = 0;
    FILE *memory = open_memstream(&text, &len);

    if (!memory)
        return err_set(err, ERR_SYSTEM, "no memory for an export");
    export_flags(export, memory);
    fclose(memory);
    text[strcspn(text, "\n")] = '\0';
    dispatch->flags[dispatch->n_configs] = text;
    return 0;
}

static int choose(struct dispatch *dispatch, struct store *store, size_t s,
                  struct err *err)
{
    const struct report *report = dispatch->report;
    struct choice *choice = &dispatch->choices[s];
    const struct spec_shape *shapes;
    struct export *export = NULL;
    struct winner winner;
    size_t n_shapes;
    int rc = winner_load(store, report, report->shapes[s].name, &winner, err);

    if (rc != 0)
        return rc;
    /* It leaves the values of this configuration in 'stored'. */
    rc = export_make(report, dispatch->stored, &winner, store, &export, err);
    if (rc < 0)
        return rc;
    shapes = space_shapes(dispatch->stored->space, &n_shapes);
    rc = space_launch(dispatch->stored->space, dispatch->stored->values,
                      &shapes[s], &choice->launch, err);
    choice->config = config_of(dispatch, winner.config);
    choice->median_s = winner.config->cells[s].summary.median;
    choice->state = winner.state;
    if (rc == 0 && choice->config == dispatch->n_configs) {
        rc = take_flags(dispatch, export, err);
        dispatch->configs[dispatch->n_configs++] = winner.config;
    }
    export_free(export);
    return rc;
}

/* ---- the header */

static void put_quoted(const char *text, FILE *to)
{
    fputc('"', to);
    for (; *text; text++)
        fprintf(to, *text == '"' || *text == '\\' ? "\\%c" : "%c", *text);
    fputc('"', to);
}

/* Initialisers for arrays of texts. */
static void put_configs(const struct dispatch *dispatch, FILE *to)
{
    fprintf(to, "#define %s_CONFIGS %zu\n#define %s_CONFIG_KEYS { ",
            dispatch->prefix, dispatch->n_configs, dispatch->prefix);
    for (size_t i = 0; i < dispatch->n_configs; i++) {
        fputs(i ? ", " : "", to);
        put_quoted(dispatch->configs[i]->key, to);
    }
    fprintf(to, " }\n#define %s_CONFIG_FLAGS { \\\n", dispatch->prefix);
    for (size_t i = 0; i < dispatch->n_configs; i++) {
        fputs("    ", to);
        put_quoted(dispatch->flags[i], to);
        fputs(", \\\n", to);
    }
    fputs("}\n", to);
}

/* A shape variable may have any name, also that of a field. */
static void put_struct(const struct dispatch *dispatch, FILE *to)
{
    const struct spec_shapes *shapes = &dispatch->stored->spec->shapes;

    fprintf(to, "\nstruct %s_choice {\n", dispatch->lower);
    for (size_t v = 0; v < shapes->n_vars; v++)
        fprintf(to, "%s        long long %s;\n", v ? "" : "    struct {\n",
                shapes->vars[v]);
    fprintf(to, "%s", shapes->n_vars ? "    } shape;\n" : "");
    fprintf(to, "    int config;\n    long long grid[3], block[3], smem;\n"
                "    double median_s;\n};\n\n");
}

static void put_table(const struct dispatch *dispatch, FILE *to)
{
    const struct report *report = dispatch->report;
    const struct spec_shape *shapes;
    size_t n_shapes, n_vars = dispatch->stored->spec->shapes.n_vars;

    shapes = space_shapes(dispatch->stored->space, &n_shapes);
    fprintf(to, "#define %s_CHOICES %zu\n", dispatch->prefix, report->n_shapes);
    fprintf(to, "static const struct %s_choice %s_choices[%s_CHOICES] = {\n",
            dispatch->lower, dispatch->lower, dispatch->prefix);
    for (size_t s = 0; s < report->n_shapes; s++) {
        const struct choice *choice = &dispatch->choices[s];
        const struct space_launch *launch = &choice->launch;

        fprintf(to, "    { ");
        for (size_t v = 0; v < n_vars; v++)
            fprintf(to, "%s%" PRId64 "%s", v ? ", " : "{ ", shapes[s].vars[v],
                    v + 1 < n_vars ? "" : " }, ");
        fprintf(to,
                "%zu, { %lld, %lld, %lld }, { %lld, %lld, %lld }, %lld, %.9g "
                "}, /* %s: %s */\n",
                choice->config, (long long)launch->grid[0],
                (long long)launch->grid[1], (long long)launch->grid[2],
                (long long)launch->block[0], (long long)launch->block[1],
                (long long)launch->block[2], (long long)launch->smem,
                choice->median_s, report->shapes[s].name, choice->state);
    }
    fprintf(to, "};\n\n");
}

/* Distances relative to the sizes, because 1 and 2 differ more than 1000 and
 * 1001 (Lance and Williams, 1967: the Canberra distance).  The parameters begin
 * with v_, because a shape variable may have the name of a local one. */
static void put_function(const struct dispatch *dispatch, FILE *to)
{
    const struct spec_shapes *shapes = &dispatch->stored->spec->shapes;

    fprintf(to,
            "/* The index in the table of this shape, or of the nearest one: "
            "its variables\n * differ least, each relative to its size. */\n"
            "static inline int %s_choose(",
            dispatch->lower);
    for (size_t v = 0; v < shapes->n_vars; v++)
        fprintf(to, "%slong long v_%s", v ? ", " : "", shapes->vars[v]);
    fprintf(to, "%s)\n{\n    int best = 0;\n    double least = -1;\n\n",
            shapes->n_vars ? "" : "void");
    fprintf(to,
            "    for (int i = 0; i < %s_CHOICES; i++) {\n"
            "        const struct %s_choice *at = &%s_choices[i];\n"
            "        double far = 0;\n\n        (void)at;\n",
            dispatch->prefix, dispatch->lower, dispatch->lower);
    for (size_t v = 0; v < shapes->n_vars; v++) {
        const char *name = shapes->vars[v];

        fprintf(to,
                "        if (at->shape.%s != v_%s)\n"
                "            far += (double)(at->shape.%s > v_%s ?\n"
                "                            at->shape.%s - v_%s : v_%s - "
                "at->shape.%s) /\n"
                "                   ((double)(at->shape.%s < 0 ? "
                "-at->shape.%s : at->shape.%s) +\n"
                "                    (double)(v_%s < 0 ? -v_%s : v_%s));\n",
                name, name, name, name, name, name, name, name, name, name,
                name, name, name, name);
    }
    fprintf(to, "        if (least < 0 || far < least) {\n"
                "            least = far;\n            best = i;\n        }\n"
                "    }\n    return best;\n}\n\n");
}

static void put_header(const struct dispatch *dispatch, FILE *to)
{
    fprintf(to,
            "/* clang-format off */\n"
            "/* The best configuration at each shape of the sweep %s, written "
            "by fa-coord\n * export.  Compile the kernel once with the flags "
            "of each configuration; launch\n * the one that the table has for "
            "a shape. */\n"
            "#ifndef %s_DISPATCH_H\n#define %s_DISPATCH_H\n\n",
            dispatch->report->name, dispatch->prefix, dispatch->prefix);
    put_configs(dispatch, to);
    put_struct(dispatch, to);
    put_table(dispatch, to);
    put_function(dispatch, to);
    fprintf(to, "#endif\n");
}

int export_dispatch(struct store *store, const struct report *report,
                    struct stored_spec *stored, FILE *to, struct err *err)
{
    struct dispatch dispatch = {
        .report = report,
        .stored = stored,
        .prefix = export_prefix(report->name),
        .lower = export_prefix(report->name),
        .choices = mem_new(report->n_shapes + 1, sizeof(struct choice)),
        .configs = mem_new(report->n_shapes + 1, sizeof(void *)),
        .flags = mem_new(report->n_shapes + 1, sizeof(char *)),
    };
    int rc = 0;

    for (char *c = dispatch.lower; *c; c++)
        *c = (char)tolower((unsigned char)*c);
    for (size_t s = 0; rc == 0 && s < report->n_shapes; s++)
        rc = choose(&dispatch, store, s, err);
    if (rc == 0)
        put_header(&dispatch, to);
    for (size_t i = 0; i < dispatch.n_configs; i++)
        free(dispatch.flags[i]);
    free(dispatch.flags);
    free(dispatch.configs);
    free(dispatch.choices);
    free(dispatch.prefix);
    free(dispatch.lower);
    return rc;
}
