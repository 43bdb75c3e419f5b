#include "worker/runner/wire/wire_request.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "common/device_kind.h"
#include "worker/runner/wire/wire_text.h"

/* A year: nobody means a longer limit. */
#define TIMEOUT_S_MAX 31536000.0
#define COUNT_MAX ((uint64_t)1 << 40)
/* Values are made as doubles. */
#define BOUND_MAX ((int64_t)1 << 53)

static const char *const role_names[] = { "in", "out", "workspace" };
static const char *const kind_names[] = { "open", "measure", "check", "quit" };

static bool read_device(void *message, char *rest)
{
    struct wire_request *request = message;
    enum device_kind kind;

    return device_kind_read(rest, &kind) &&
           wire_read_name(rest, request->device, sizeof(request->device));
}

static bool read_gpu(void *message, char *rest)
{
    struct wire_request *request = message;

    return rest[0] != '\0' &&
           wire_read_name(rest, request->gpu, sizeof(request->gpu));
}

static bool read_artifact(void *message, char *rest)
{
    struct wire_request *request = message;

    return wire_read_path(rest, request->measure.kernel.path, WIRE_PATH_MAX);
}

static bool read_entry(void *message, char *rest)
{
    struct wire_request *request = message;

    return rest[0] != '\0' &&
           wire_read_name(rest, request->measure.kernel.entry,
                          WIRE_NAME_MAX + 1);
}

static bool read_triple(char **rest, uint32_t triple[3])
{
    for (int i = 0; i < 3; i++) {
        uint64_t value;

        if (!wire_read_u64(wire_word(rest), UINT32_MAX, &value))
            return false;
        triple[i] = (uint32_t)value;
    }
    return true;
}

static bool read_grid(void *message, char *rest)
{
    struct wire_request *request = message;

    return read_triple(&rest, request->measure.kernel.grid) && *rest == '\0';
}

static bool read_block(void *message, char *rest)
{
    struct wire_request *request = message;

    return read_triple(&rest, request->measure.kernel.block) && *rest == '\0';
}

static bool read_smem(void *message, char *rest)
{
    struct wire_request *request = message;

    return wire_read_u64(rest, COUNT_MAX, &request->measure.kernel.smem);
}

/* "ROWS COLUMNS", which must divide the buffer. */
static bool read_ramp(struct wire_arg *arg, char **rest)
{
    uint64_t rows, columns;

    if (!wire_read_u64(wire_word(rest), COUNT_MAX, &rows) ||
        !wire_read_u64(wire_word(rest), COUNT_MAX, &columns) || rows == 0 ||
        columns == 0 || (uint64_t)arg->count / rows % columns != 0 ||
        (uint64_t)arg->count % rows != 0)
        return false;
    arg->rows = (int64_t)rows;
    arg->columns = (int64_t)columns;
    return true;
}

static bool is_bound(int64_t bound)
{
    return bound >= -BOUND_MAX && bound <= BOUND_MAX;
}

/* "ramp ROWS COLUMNS", "range LOW HIGH", "sorted HIGH", "file NAME"; the other
 * fills are one word. */
static bool read_fill(struct wire_arg *arg, char **rest)
{
    int fill = wire_read_choice(wire_word(rest), wire_fill_names, FILL_KINDS);

    if (fill < 0)
        return false;
    arg->fill = (enum fill_kind)fill;
    if (arg->fill == FILL_RAMP)
        return read_ramp(arg, rest);
    if (arg->fill == FILL_FILE)
        return wire_read_name(wire_word(rest), arg->file, sizeof(arg->file)) &&
               arg->file[0] != '\0';
    if (arg->fill == FILL_RANGE && !wire_read_i64(wire_word(rest), &arg->low))
        return false;
    if ((arg->fill == FILL_RANGE || arg->fill == FILL_SORTED) &&
        !wire_read_i64(wire_word(rest), &arg->high))
        return false;
    return is_bound(arg->low) && is_bound(arg->high) && arg->low <= arg->high;
}

/* "exact", or one or more "RULE MOST". */
static bool read_tolerance(struct tolerance *tolerance, char **rest)
{
    do {
        int rule =
            wire_read_choice(wire_word(rest), wire_rule_names, TOLERANCE_RULES);
        double most = 0;

        if (rule < 0 || (tolerance->rules & 1u << rule) != 0)
            return false;
        if (rule != TOLERANCE_EXACT &&
            (!wire_read_real(wire_word(rest), &most) || !isfinite(most) ||
             most < 0))
            return false;
        tolerance->rules |= 1u << rule;
        tolerance->most[rule] = most;
    } while (**rest != '\0');
    return true;
}

static bool read_buffer(struct wire_arg *arg, char *rest)
{
    uint64_t count;
    int role;

    if (!wire_read_u64(wire_word(&rest), COUNT_MAX, &count) || count == 0)
        return false;
    arg->buffer = true;
    arg->count = (int64_t)count;
    if (!read_fill(arg, &rest) ||
        !wire_read_real(wire_word(&rest), &arg->scale) || !isfinite(arg->scale))
        return false;
    role = wire_read_choice(wire_word(&rest), role_names, WIRE_ROLES);
    arg->role = (enum wire_role)role;
    if (role == WIRE_OUT)
        return read_tolerance(&arg->tolerance, &rest);
    arg->infinities = role == WIRE_IN && strcmp(rest, "infinities") == 0;
    if (arg->infinities)
        return fill_is_random(arg->fill) && element_is_float(arg->type);
    return role >= 0 && *rest == '\0' &&
           (role == WIRE_WORKSPACE) == (arg->fill == FILL_POISON);
}

static bool read_arg(void *message, char *rest)
{
    static const char *const classes[] = { "scalar", "buffer" };
    struct wire_measure *measure = &((struct wire_request *)message)->measure;
    struct wire_arg *arg = &measure->args[measure->n_args];
    int type, is_buffer;

    if (measure->n_args == WIRE_ARGS_MAX ||
        !wire_read_name(wire_word(&rest), arg->name, sizeof(arg->name)))
        return false;
    type = wire_read_choice(wire_word(&rest), wire_type_names, ELEMENT_TYPES);
    is_buffer = wire_read_choice(wire_word(&rest), classes, 2);
    if (type < 0 || is_buffer < 0)
        return false;
    measure->n_args++;
    arg->type = (enum element_type)type;
    if (is_buffer)
        return read_buffer(arg, rest);
    if (element_is_float(arg->type))
        return wire_read_real(rest, &arg->real);
    return wire_read_i64(rest, &arg->integer);
}

static bool read_files(void *message, char *rest)
{
    struct wire_request *request = message;

    return wire_read_path(rest, request->measure.files, WIRE_PATH_MAX);
}

static bool read_reference(void *message, char *rest)
{
    struct wire_request *request = message;
    struct wire_kernel *kernel = &request->measure.reference;
    const char *entry;

    if (!wire_read_path(wire_word(&rest), kernel->path, WIRE_PATH_MAX))
        return false;
    entry = wire_word(&rest);
    return wire_read_name(entry, kernel->entry, sizeof(kernel->entry)) &&
           read_triple(&rest, kernel->grid) &&
           read_triple(&rest, kernel->block) &&
           wire_read_u64(rest, COUNT_MAX, &kernel->smem);
}

static bool read_seed(void *message, char *rest)
{
    struct wire_request *request = message;

    return wire_read_u64(rest, UINT64_MAX, &request->measure.seed);
}

/* "zeros+ties" */
static bool read_edges(char *word, unsigned *out)
{
    char *rest = word;

    *out = 0;
    while (rest) {
        char *end = strchr(rest, '+');
        int edge;

        if (end)
            *end = '\0';
        edge = wire_read_choice(rest, wire_edge_names, EDGES);
        if (edge < 0 || *out >> edge & 1u)
            return false;
        *out |= 1u << edge;
        rest = end ? end + 1 : NULL;
    }
    return true;
}

static bool read_trials(void *message, char *rest)
{
    struct trials *trials = &((struct wire_request *)message)->measure.trials;
    uint64_t seeds;
    char *word;

    if (!wire_read_u64(wire_word(&rest), TRIALS_SEEDS_MAX, &seeds) || seeds < 1)
        return false;
    trials->seeds = (unsigned)seeds;
    while ((word = wire_word(&rest)))
        if (trials->n_edges == TRIALS_EDGES_MAX ||
            !read_edges(word, &trials->edges[trials->n_edges++]))
            return false;
    return *rest == '\0';
}

static bool read_warmups(void *message, char *rest)
{
    struct wire_request *request = message;
    uint64_t n;

    if (!wire_read_u64(rest, WIRE_WARMUPS_MAX, &n))
        return false;
    request->measure.warmups = (unsigned)n;
    return true;
}

static bool read_samples(void *message, char *rest)
{
    struct wire_request *request = message;
    uint64_t least, most;

    if (!wire_read_u64(wire_word(&rest), WIRE_SAMPLES_MAX, &least) ||
        !wire_read_u64(rest, WIRE_SAMPLES_MAX, &most))
        return false;
    request->measure.least = (unsigned)least;
    request->measure.most = (unsigned)most;
    return least > 0 && least <= most;
}

/* A finite number >= 0. */
static bool read_positive(const char *word, double *out)
{
    return wire_read_real(word, out) && isfinite(*out) && *out >= 0;
}

static bool read_repeats(void *message, char *rest)
{
    struct wire_request *request = message;
    uint64_t n;

    if (!wire_read_u64(rest, WIRE_REPEATS_MAX, &n))
        return false;
    request->measure.repeats = (unsigned)n;
    return true;
}

static bool read_noise(void *message, char *rest)
{
    struct wire_request *request = message;

    return read_positive(rest, &request->measure.noise);
}

static bool read_margin(void *message, char *rest)
{
    struct wire_request *request = message;

    return read_positive(rest, &request->measure.margin);
}

static bool read_incumbent(void *message, char *rest)
{
    struct wire_request *request = message;

    return read_positive(rest, &request->measure.incumbent_s);
}

static bool read_l2(void *message, char *rest)
{
    struct wire_request *request = message;
    int choice = wire_read_choice(rest, l2_mode_names, L2_MODES);

    request->measure.l2 = (enum l2_mode)choice;
    return choice > L2_MODE_NONE;
}

static bool read_timeout(void *message, char *rest)
{
    struct wire_measure *measure = &((struct wire_request *)message)->measure;

    return wire_read_real(rest, &measure->timeout_s) &&
           measure->timeout_s > 0 && measure->timeout_s <= TIMEOUT_S_MAX;
}

#define TRIPLE "three integers in 0..4294967295"
#define A_PATH "a path of less than 4096 bytes without blanks"
#define A_NAME "a name of 1 to 64 letters, digits, '_' and '-'"

static const struct wire_field open_fields[] = {
    { .key = "device", read_device, "'cuda', 'cpu' or 'replay'" },
    { .key = "gpu", read_gpu, A_NAME },
};

static const struct wire_field measure_fields[] = {
    { .key = "artifact", read_artifact, A_PATH },
    { .key = "entry", read_entry, A_NAME },
    { .key = "grid", read_grid, TRIPLE },
    { .key = "block", read_block, TRIPLE },
    { .key = "smem", read_smem, "bytes" },
    { .key = "arg",
      read_arg,
      "'NAME TYPE buffer COUNT FILL SCALE in [infinities]', '... out RULE "
      "MOST...', '... "
      "workspace' or 'NAME TYPE scalar VALUE', at most 64 times; with 'ramp "
      "ROWS COLUMNS' that divide it, 'range LOW HIGH', 'sorted HIGH', 'file "
      "NAME', 'poison' "
      "only of what is written",
      .repeats = true },
    { .key = "files", read_files, A_PATH, .optional = true },
    { .key = "reference",
      read_reference,
      "'PATH ENTRY GX GY GZ BX BY BZ SMEM'" },
    { .key = "seed", read_seed, "an integer in 0..2^64-1" },
    { .key = "trials",
      read_trials,
      "seeds in 1..8, then up to 8 of 'zeros', 'ties', 'large', 'tiny', "
      "'infinities', joined by '+'" },
    { .key = "warmups", read_warmups, "an integer in 0..1000" },
    { .key = "samples",
      read_samples,
      "two integers in 1..1000, the first not the larger" },
    { .key = "repeats",
      read_repeats,
      "an integer in 0..100000",
      .optional = true },
    { .key = "noise", read_noise, "a number >= 0" },
    { .key = "margin", read_margin, "a number >= 0" },
    { .key = "incumbent_s", read_incumbent, "seconds, 0 for none" },
    { .key = "l2", read_l2, "'flush', 'warm' or 'rotate'" },
    { .key = "timeout_s", read_timeout, "seconds, more than 0" },
};

static const struct {
    const struct wire_field *fields;
    size_t n;
} requests[] = {
    [WIRE_OPEN] = { open_fields, sizeof(open_fields) / sizeof(*open_fields) },
    [WIRE_MEASURE] = { measure_fields,
                       sizeof(measure_fields) / sizeof(*measure_fields) },
    [WIRE_CHECK] = { measure_fields,
                     sizeof(measure_fields) / sizeof(*measure_fields) },
    [WIRE_QUIT] = { NULL, 0 },
};

#define STARTED (UINT64_C(1) << 63)

enum wire_step wire_request_line(struct wire_request *request, char *line,
                                 char why[WIRE_WHY_MAX])
{
    int kind;

    if (!(request->seen & STARTED)) {
        kind = wire_read_choice(line, kind_names, 4);
        if (kind < 0) {
            snprintf(why, WIRE_WHY_MAX, "'%.60s' is not a request", line);
            return WIRE_BAD;
        }
        request->kind = (enum wire_request_kind)kind;
        request->measure.untimed = kind == WIRE_CHECK;
        request->seen = STARTED;
        return WIRE_MORE;
    }
    if (line[0] == '\0')
        return wire_field_end(requests[request->kind].fields,
                              requests[request->kind].n, request->seen, why);
    return wire_field_line(requests[request->kind].fields,
                           requests[request->kind].n, request, &request->seen,
                           line, why);
}

static void put_tolerance(FILE *stream, const struct tolerance *tolerance)
{
    for (int r = 0; r < TOLERANCE_RULES; r++) {
        if (!(tolerance->rules & 1u << r))
            continue;
        fprintf(stream, " %s", wire_rule_names[r]);
        if (r != TOLERANCE_EXACT)
            wire_put_real(stream, tolerance->most[r]);
    }
}

static void put_arg(FILE *stream, const struct wire_arg *arg)
{
    fprintf(stream, "arg %s %s ", arg->name, wire_type_name(arg->type));
    if (arg->buffer) {
        fprintf(stream, "buffer %" PRId64 " %s", arg->count,
                wire_fill_name(arg->fill));
        if (arg->fill == FILL_RAMP)
            fprintf(stream, " %" PRId64 " %" PRId64, arg->rows, arg->columns);
        else if (arg->fill == FILL_RANGE)
            fprintf(stream, " %" PRId64 " %" PRId64, arg->low, arg->high);
        else if (arg->fill == FILL_SORTED)
            fprintf(stream, " %" PRId64, arg->high);
        else if (arg->fill == FILL_FILE)
            fprintf(stream, " %s", arg->file);
        wire_put_real(stream, arg->scale);
        fprintf(stream, " %s", role_names[arg->role]);
        if (arg->infinities)
            fputs(" infinities", stream);
        put_tolerance(stream, &arg->tolerance);
    } else if (element_is_float(arg->type)) {
        fputs("scalar", stream);
        wire_put_real(stream, arg->real);
    } else {
        fprintf(stream, "scalar %" PRId64, arg->integer);
    }
    fputc('\n', stream);
}

static void put_reference(FILE *stream, const struct wire_kernel *kernel)
{
    fputs("reference ", stream);
    wire_put_path(stream, kernel->path);
    fprintf(stream, " %s %u %u %u %u %u %u %" PRIu64 "\n", kernel->entry,
            kernel->grid[0], kernel->grid[1], kernel->grid[2], kernel->block[0],
            kernel->block[1], kernel->block[2], kernel->smem);
}

static void put_trials(FILE *stream, const struct trials *trials)
{
    fprintf(stream, "trials %u", trials->seeds);
    for (size_t i = 0; i < trials->n_edges; i++) {
        char before = ' ';

        for (int edge = 0; edge < EDGES; edge++) {
            if (!(trials->edges[i] >> edge & 1u))
                continue;
            fprintf(stream, "%c%s", before, wire_edge_names[edge]);
            before = '+';
        }
    }
    fputc('\n', stream);
}

static void put_measure(FILE *stream, const struct wire_measure *measure)
{
    const struct wire_kernel *kernel = &measure->kernel;

    fputs("artifact ", stream);
    wire_put_path(stream, kernel->path);
    fprintf(stream, "\nentry %s\ngrid %u %u %u\nblock %u %u %u\n",
            kernel->entry, kernel->grid[0], kernel->grid[1], kernel->grid[2],
            kernel->block[0], kernel->block[1], kernel->block[2]);
    fprintf(stream, "smem %" PRIu64 "\n", kernel->smem);
    for (size_t i = 0; i < measure->n_args; i++)
        put_arg(stream, &measure->args[i]);
    if (measure->files[0]) {
        fputs("files ", stream);
        wire_put_path(stream, measure->files);
        fputc('\n', stream);
    }
    put_reference(stream, &measure->reference);
    fprintf(stream, "seed %" PRIu64 "\n", measure->seed);
    put_trials(stream, &measure->trials);
    fprintf(stream, "warmups %u\nsamples %u %u\nrepeats %u\nnoise",
            measure->warmups, measure->least, measure->most, measure->repeats);
    wire_put_real(stream, measure->noise);
    fputs("\nmargin", stream);
    wire_put_real(stream, measure->margin);
    fputs("\nincumbent_s", stream);
    wire_put_real(stream, measure->incumbent_s);
    fprintf(stream, "\nl2 %s\ntimeout_s", l2_mode_name(measure->l2));
    wire_put_real(stream, measure->timeout_s);
    fputc('\n', stream);
}

int wire_write_request(FILE *stream, const struct wire_request *request)
{
    fprintf(stream, "%s\n", kind_names[request->kind]);
    if (request->kind == WIRE_OPEN)
        fprintf(stream, "device %s\ngpu %s\n", request->device, request->gpu);
    else if (request->kind == WIRE_MEASURE || request->kind == WIRE_CHECK)
        put_measure(stream, &request->measure);
    return wire_put_end(stream);
}
