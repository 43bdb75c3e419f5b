#include "coordinator/export/export.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/config/config.h"
#include "coordinator/export/c_expression.h"
#include "coordinator/result/evidence.h"
#include "coordinator/replay/replay.h"
#include "coordinator/result/report.h"
#include "coordinator/result/stored_spec.h"
#include "coordinator/space/space.h"
#include "coordinator/space/space_config.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/store/store.h"
#include "coordinator/text/terminal.h"

#define HEADER_MAX (1 << 20)

const char *const export_launch_names[EXPORT_LAUNCHES] = {
    "GRID_X", "GRID_Y", "GRID_Z", "BLOCK_X", "BLOCK_Y", "BLOCK_Z", "SMEM",
};

const struct spec_rule *export_launch_rule(const struct spec *spec, size_t i)
{
    const struct spec_launch *launch = &spec->kernel.launch;

    return i < 3   ? &launch->grid[i]
           : i < 6 ? &launch->block[i - 3]
                   : &launch->smem;
}

/* ---- names */

char *export_prefix(const char *name)
{
    /* C reserves names that begin with _ or contain __. */
    char *prefix = mem_new(strlen(name) + sizeof("FA_"), 1);
    size_t n = 0;

    if (!isalpha((unsigned char)*name)) {
        memcpy(prefix, "FA_", 3);
        n = 3;
    }
    for (; *name; name++)
        if (isalnum((unsigned char)*name))
            prefix[n++] = (char)toupper((unsigned char)*name);
        else if (n && prefix[n - 1] != '_')
            prefix[n++] = '_';
    while (n && prefix[n - 1] == '_')
        n--;
    prefix[n] = '\0';
    return prefix;
}

char *export_name(const struct export *export, const char *name)
{
    char *text = mem_printf("%s_%s", export->prefix, name);

    for (char *c = text; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return text;
}

/* ---- macros */

/* Take a line "#define NAME VALUE" of the header that a build sees. */
static void add_macro(struct export *export, const char *line, bool derived)
{
    const char *name = line + strlen("#define ");
    size_t len = strcspn(name, " ");
    struct export_macro *macro;

    export->macros =
        mem_grow(export->macros, export->n_macros + 1, sizeof(*export->macros));
    macro = &export->macros[export->n_macros++];
    macro->name = mem_dup(name, len);
    macro->value = mem_dup(name + len + 1, strcspn(name + len + 1, "\n"));
    macro->exported = export_name(export, macro->name);
    macro->derived = derived;
}

static int make_macros(struct export *export, struct err *err)
{
    const struct stored_spec *stored = export->stored;
    const struct spec *spec = stored->spec;
    const char *first =
        spec->space.n_derived ? spec->space.derived[0].name : "";
    bool derived = false;
    struct buf text;
    int rc = space_derive(stored->space, stored->values, export->derived, err);

    if (rc < 0)
        return rc;
    buf_init(&text, HEADER_MAX);
    config_header(spec, stored->values, export->derived, &text);
    for (const char *line = buf_text(&text); *line;
         line = strchr(line, '\n') + 1) {
        const char *name = line + strlen("#define ");

        derived = derived || (strcspn(name, " ") == strlen(first) &&
                              strncmp(name, first, strlen(first)) == 0);
        add_macro(export, line, derived);
    }
    buf_fini(&text);
    return 0;
}

/* ---- the launch */

static bool same(const char *name, const char *text, size_t len)
{
    return strlen(name) == len && strncasecmp(name, text, len) == 0;
}

static void put_name(const struct export *export, const char *name,
                     const struct value *value, struct c_expression_name *out)
{
    char *exported = export_name(export, name);

    out->kind = value->kind == VALUE_TEXT   ? C_EXPRESSION_TEXT
                : value->kind == VALUE_REAL ? C_EXPRESSION_REAL
                                            : C_EXPRESSION_NUMBER;
    snprintf(out->c, sizeof(out->c), "%s",
             out->kind == C_EXPRESSION_TEXT ? value->text : exported);
    free(exported);
}

static bool find_fact(struct export *export, const char *name, size_t len,
                      struct c_expression_name *out)
{
    static const struct value whole = { .kind = VALUE_INT };

    for (size_t i = 0; i < GPU_ARCH_FACTS; i++) {
        if (!same(gpu_arch_fact_name(i), name, len) ||
            !stored_params_find(&export->facts, gpu_arch_fact_name(i)))
            continue;
        put_name(export, gpu_arch_fact_name(i), &whole, out);
        export->facts_used |= UINT64_C(1) << i;
        return true;
    }
    return false;
}

static bool find_name(void *arg, const char *name, size_t len,
                      struct c_expression_name *out)
{
    struct export *export = arg;
    const struct spec *spec = export->stored->spec;

    for (size_t i = 0; i < spec->space.n_axes; i++)
        if (same(spec->space.axes[i].name, name, len)) {
            put_name(export, spec->space.axes[i].name,
                     &export->stored->values[i], out);
            return true;
        }
    for (size_t i = 0; i < spec->space.n_derived; i++)
        if (same(spec->space.derived[i].name, name, len)) {
            put_name(export, spec->space.derived[i].name, &export->derived[i],
                     out);
            return true;
        }
    for (size_t i = 0; i < spec->shapes.n_vars; i++)
        if (same(spec->shapes.vars[i], name, len)) {
            out->kind = C_EXPRESSION_VARIABLE;
            snprintf(out->c, sizeof(out->c), "%s", spec->shapes.vars[i]);
            return true;
        }
    return find_fact(export, name, len, out);
}

static int make_launch(struct export *export, struct err *err)
{
    const struct spec *spec = export->stored->spec;

    for (size_t i = 0; i < EXPORT_LAUNCHES; i++) {
        const struct spec_rule *rule = export_launch_rule(spec, i);
        struct c_expression_flaw flaw;
        struct buf c;

        buf_init(&c, C_EXPRESSION_BYTES_MAX + 2);
        if (c_expression_translate(rule->text, find_name, export, &c, &flaw) <
            0) {
            buf_fini(&c);
            return spec_err_in(spec, rule, flaw.at, err, flaw.why,
                               "the launch cannot be exported to C: %s",
                               flaw.what);
        }
        export->launch[i] = mem_strdup(buf_text(&c));
        buf_fini(&c);
    }
    return 0;
}

/* ---- no name twice */

#define NAMES_MAX \
    (6 * SPEC_LIST_MAX + SPEC_VARS_MAX + EXPORT_LAUNCHES + GPU_ARCH_FACTS + 8)

static size_t collect(const struct export *export, char *names[NAMES_MAX])
{
    static const char *const fixed[] = { "TUNED_H", "KERNEL_MACROS",
                                         "KERNEL_ENTRY", "KERNEL_STANDARD",
                                         "KERNEL_ARCH" };
    const struct spec *spec = export->stored->spec;
    size_t n = 0;

    for (size_t i = 0; i < export->n_macros; i++) {
        names[n++] = mem_strdup(export->macros[i].name);
        names[n++] = mem_strdup(export->macros[i].exported);
    }
    for (size_t i = 0; i < spec->shapes.n_vars; i++)
        names[n++] = mem_strdup(spec->shapes.vars[i]);
    for (size_t i = 0; i < sizeof(fixed) / sizeof(fixed[0]); i++)
        names[n++] = export_name(export, fixed[i]);
    for (size_t i = 0; i < EXPORT_LAUNCHES; i++)
        names[n++] =
            mem_printf("%s_LAUNCH_%s", export->prefix, export_launch_names[i]);
    for (size_t i = 0; i < GPU_ARCH_FACTS; i++)
        if (export->facts_used >> i & 1)
            names[n++] = export_name(export, gpu_arch_fact_name(i));
    return n;
}

static int by_text(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

static int check_names(const struct export *export, struct err *err)
{
    char *names[NAMES_MAX];
    size_t n = collect(export, names);
    int rc = 0;

    qsort(names, n, sizeof(names[0]), by_text);
    for (size_t i = 1; i < n && rc == 0; i++)
        if (strcmp(names[i - 1], names[i]) == 0)
            rc = err_set(
                err, ERR_INPUT,
                "the header would define '%s' twice: rename the tunable, "
                "derived value, shape variable or sweep that it comes from",
                names[i]);
    for (size_t i = 0; i < n; i++)
        free(names[i]);
    return rc;
}

/* ---- origin */

static char *clean_copy(const char *text)
{
    return terminal_clean(mem_strdup(text), false);
}

static void take_origin(void *arg, const struct evidence_origin *origin)
{
    struct export_origin *out = arg;

    snprintf(out->source_key, sizeof(out->source_key), "%s",
             origin->source_key);
    snprintf(out->artifact, sizeof(out->artifact), "%s", origin->artifact);
    out->gpu = clean_copy(origin->gpu);
    out->driver = clean_copy(origin->driver);
    out->measured_utc = origin->measured_utc;
    out->toolkit = clean_copy(origin->toolkit);
}

static int find_origin(struct export *export, struct store *store,
                       struct err *err)
{
    const struct report_config *config = export->winner.config;
    struct export_origin *origin = &export->origin;
    int rc = evidence_origin(store, config->key, config->cells[0].nonce,
                             take_origin, origin, err);

    if (export->report->sweep.recorded_on) {
        origin->source_key[0] = origin->artifact[0] = '\0';
        origin->measured_utc = 0;
    }
    return rc;
}

int export_make(const struct report *report, struct stored_spec *stored,
                const struct winner *winner, struct store *store,
                struct export **out, struct err *err)
{
    struct export *export = mem_new(1, sizeof(*export));
    const char *path = store_path(store), *slash = strrchr(path, '/');
    int rc;

    export->report = report;
    export->stored = stored;
    export->winner = *winner;
    export->has_kernel = replay_has_kernel(stored->spec);
    export->prefix = export_prefix(report->name);
    export->database =
        terminal_clean(mem_strdup(slash ? slash + 1 : path), false);
    export->derived =
        mem_new(stored->spec->space.n_derived + 1, sizeof(*export->derived));
    rc = stored_spec_values(stored, &winner->config->params, err);
    if (rc == 0)
        rc = stored_params_parse(report->sweep.facts, &export->facts, err);
    if (rc == 0)
        rc = make_macros(export, err);
    if (rc == 0)
        rc = make_launch(export, err);
    if (rc == 0)
        rc = check_names(export, err);
    if (rc == 0)
        rc = find_origin(export, store, err);
    if (rc < 0) {
        export_free(export);
        export = NULL;
    }
    *out = export;
    return rc;
}

void export_free(struct export *export)
{
    if (!export)
        return;
    for (size_t i = 0; i < export->n_macros; i++) {
        free(export->macros[i].name);
        free(export->macros[i].exported);
        free(export->macros[i].value);
    }
    free(export->macros);
    for (size_t i = 0; i < EXPORT_LAUNCHES; i++)
        free(export->launch[i]);
    stored_params_fini(&export->facts);
    free(export->origin.gpu);
    free(export->origin.driver);
    free(export->origin.toolkit);
    free(export->derived);
    free(export->database);
    free(export->prefix);
    free(export);
}
