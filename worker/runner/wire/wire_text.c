#include "worker/runner/wire/wire_text.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const char *const wire_type_names[ELEMENT_TYPES] = {
    [ELEMENT_FP16] = "fp16",   [ELEMENT_BF16] = "bf16",
    [ELEMENT_FP32] = "fp32",   [ELEMENT_FP64] = "fp64",
    [ELEMENT_INT8] = "int8",   [ELEMENT_INT32] = "int32",
    [ELEMENT_INT64] = "int64",
};

const char *const wire_fill_names[FILL_KINDS] = {
    [FILL_NORMAL] = "normal", [FILL_UNIFORM] = "uniform",
    [FILL_ZEROS] = "zeros",   [FILL_ONES] = "ones",
    [FILL_IOTA] = "iota",     [FILL_RAMP] = "ramp",
    [FILL_FILE] = "file",     [FILL_RANGE] = "range",
    [FILL_SORTED] = "sorted", [FILL_PERMUTATION] = "permutation",
    [FILL_POISON] = "poison",
};

const char *const wire_edge_names[EDGES] = {
    [EDGE_ZEROS] = "zeros",           [EDGE_TIES] = "ties",
    [EDGE_LARGE] = "large",           [EDGE_TINY] = "tiny",
    [EDGE_INFINITIES] = "infinities", [EDGE_EXTREME] = "extreme",
    [EDGE_NEGATIVE] = "negative",     [EDGE_OFFSET] = "offset",
};

/* For messages; all together are less than TRIALS_NAME_MAX. */
static const char *const edge_words[EDGES] = {
    [EDGE_ZEROS] = "zeros",
    [EDGE_TIES] = "ties",
    [EDGE_LARGE] = "large values",
    [EDGE_TINY] = "tiny values",
    [EDGE_INFINITIES] = "infinities",
    [EDGE_EXTREME] = "extreme values",
    [EDGE_NEGATIVE] = "negative values",
    [EDGE_OFFSET] = "an offset",
};

const char *const wire_rule_names[TOLERANCE_RULES] = {
    [TOLERANCE_RELATIVE_L2] = "relative_l2",
    [TOLERANCE_MAX_ERROR] = "max_error",
    [TOLERANCE_ABSOLUTE] = "absolute",
    [TOLERANCE_ULP] = "ulp",
    [TOLERANCE_EXACT] = "exact",
};

const char *const wire_sampling_names[] = {
    [WIRE_SAMPLING_NONE] = "none", [WIRE_FIXED] = "fixed",
    [WIRE_SETTLED] = "settled",    [WIRE_LOSER] = "loser",
    [WIRE_UNSTABLE] = "unstable",
};

const char *wire_type_name(enum element_type type)
{
    return wire_type_names[type];
}

const char *wire_fill_name(enum fill_kind kind)
{
    return wire_fill_names[kind];
}

void trials_name(unsigned edges, size_t seed, char out[TRIALS_NAME_MAX])
{
    static const char *const seeds[TRIALS_SEEDS_MAX] = {
        "first", "second", "third",   "fourth",
        "fifth", "sixth",  "seventh", "eighth",
    };
    size_t n = 0;

    if (edges == 0) {
        snprintf(out, TRIALS_NAME_MAX, "%s seed", seeds[seed]);
        return;
    }
    for (int edge = 0; edge < EDGES; edge++) {
        if (!(edges >> edge & 1u))
            continue;
        n += (size_t)snprintf(out + n, TRIALS_NAME_MAX - n, "%s%s",
                              n ? ", " : "inputs with ", edge_words[edge]);
    }
}

const char *wire_rule_name(enum tolerance_rule rule)
{
    return wire_rule_names[rule];
}

const char *wire_sampling_name(enum wire_sampling sampling)
{
    return wire_sampling_names[sampling];
}

enum wire_step wire_field_line(const struct wire_field *fields, size_t n,
                               void *message, uint64_t *seen, char *line,
                               char why[WIRE_WHY_MAX])
{
    char *rest = strchr(line, ' ');
    char value[81];
    size_t i = 0;

    if (rest)
        *rest++ = '\0';
    else
        rest = line + strlen(line);
    while (i < n && strcmp(fields[i].key, line) != 0)
        i++;
    if (i == n) {
        snprintf(why, WIRE_WHY_MAX, "unknown field '%.60s'", line);
        return WIRE_BAD;
    }
    if ((*seen >> i & 1) && !fields[i].repeats) {
        snprintf(why, WIRE_WHY_MAX, "field '%s' is given twice", line);
        return WIRE_BAD;
    }
    *seen |= UINT64_C(1) << i;
    snprintf(value, sizeof(value), "%s", rest);
    if (!fields[i].read(message, rest)) {
        snprintf(why, WIRE_WHY_MAX, "%s '%s': expected %s", fields[i].key,
                 value, fields[i].expects);
        return WIRE_BAD;
    }
    return WIRE_MORE;
}

enum wire_step wire_field_end(const struct wire_field *fields, size_t n,
                              uint64_t seen, char why[WIRE_WHY_MAX])
{
    for (size_t i = 0; i < n; i++) {
        if (fields[i].optional || (seen >> i & 1))
            continue;
        snprintf(why, WIRE_WHY_MAX, "field '%s' is missing", fields[i].key);
        return WIRE_BAD;
    }
    return WIRE_DONE;
}

char *wire_word(char **rest)
{
    char *word = *rest;
    size_t len = strcspn(word, " ");

    if (len == 0)
        return NULL;
    *rest = word + len;
    if (word[len] == ' ')
        *(*rest)++ = '\0';
    return word;
}

bool wire_read_u64(const char *word, uint64_t max, uint64_t *out)
{
    char *end;

    if (!word || word[0] < '0' || word[0] > '9')
        return false;
    errno = 0;
    *out = strtoull(word, &end, 10);
    return errno == 0 && *end == '\0' && *out <= max;
}

bool wire_read_i64(const char *word, int64_t *out)
{
    const char *digits = word && word[0] == '-' ? word + 1 : word;
    char *end;

    if (!digits || digits[0] < '0' || digits[0] > '9')
        return false;
    errno = 0;
    *out = strtoll(word, &end, 10);
    return errno == 0 && *end == '\0';
}

bool wire_read_real(const char *word, double *out)
{
    static const char *const special[] = { "nan", "inf", "-inf" };
    const double values[] = { NAN, INFINITY, -INFINITY };
    char *end;
    int i;

    if (!word)
        return false;
    i = wire_read_choice(word, special, 3);
    if (i >= 0) {
        *out = values[i];
        return true;
    }
    if (word[strspn(word, "0123456789+-.eE")] != '\0')
        return false;
    *out = strtod(word, &end);
    return end != word && *end == '\0' && isfinite(*out);
}

static bool is_name_byte(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
           (c >= '0' && c <= '9') || c == '_' || c == '-';
}

bool wire_read_name(const char *word, char *out, size_t size)
{
    if (!word || strlen(word) >= size)
        return false;
    for (const char *c = word; *c; c++)
        if (!is_name_byte(*c))
            return false;
    memcpy(out, word, strlen(word) + 1);
    return true;
}

static int hex_digit(char c)
{
    static const char digits[] = "0123456789abcdef";
    const char *at = c ? strchr(digits, c) : NULL;

    return at ? (int)(at - digits) : -1;
}

bool wire_read_path(const char *word, char *out, size_t size)
{
    size_t n = 0;

    if (!word)
        return false;
    for (; *word; word++) {
        char c = *word;

        if (c == '%') {
            int high = hex_digit(word[1]);
            int low = high < 0 ? -1 : hex_digit(word[2]);

            if (low < 0 || high * 16 + low == 0)
                return false;
            c = (char)(high * 16 + low);
            word += 2;
        }
        if (n + 1 >= size)
            return false;
        out[n++] = c;
    }
    out[n] = '\0';
    return n > 0;
}

bool wire_read_text(const char *rest, char *out, size_t size)
{
    if (strlen(rest) >= size)
        return false;
    memcpy(out, rest, strlen(rest) + 1);
    return true;
}

int wire_read_choice(const char *word, const char *const *names, int n)
{
    for (int i = 0; word && i < n; i++)
        if (strcmp(word, names[i]) == 0)
            return i;
    return -1;
}

void wire_put_path(FILE *stream, const char *path)
{
    for (const unsigned char *c = (const unsigned char *)path; *c; c++)
        if (*c > ' ' && *c < 0x7f && *c != '%')
            fputc(*c, stream);
        else
            fprintf(stream, "%%%02x", *c);
}

/* A detail may quote any text: characters that would break the line become
 * spaces. */
void wire_put_text(FILE *stream, const char *key, const char *text)
{
    fprintf(stream, "%s ", key);
    for (const unsigned char *c = (const unsigned char *)text; *c; c++)
        fputc(*c < ' ' || *c == 0x7f ? ' ' : *c, stream);
    fputc('\n', stream);
}

void wire_put_real(FILE *stream, double value)
{
    if (isnan(value))
        fputs(" nan", stream);
    else
        fprintf(stream, " %.17g", value);
}

int wire_put_end(FILE *stream)
{
    fputc('\n', stream);
    return fflush(stream) == 0 && !ferror(stream) ? 0 : -1;
}
