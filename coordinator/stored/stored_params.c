#include "coordinator/stored/stored_params_internal.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/text/decimal.h"

#define INTEGER_MAX 9007199254740992.0 /* 2^53 */
#define DIGITS_PLAIN 15 /* of an integer that is printed as it is written */

/* Items and their texts are one block: reports hold many thousands. */
struct writer {
    struct stored_params *out;
    char *at;
};

static void begin(struct writer *writer, struct stored_params *out,
                  size_t items, size_t bytes)
{
    out->items = mem_new(items * sizeof(*out->items) + bytes + 1, 1);
    out->n = 0;
    *writer = (struct writer){ out, (char *)(out->items + items) };
}

static char *keep(struct writer *writer, const char *text, size_t len)
{
    char *kept = writer->at;

    memcpy(kept, text, len);
    kept[len] = '\0';
    writer->at += len + 1;
    return kept;
}

static struct stored_param *add(struct writer *writer, const char *name,
                                size_t len)
{
    struct stored_param *param = &writer->out->items[writer->out->n++];

    param->name = keep(writer, name, len);
    return param;
}

static void put_text(struct writer *writer, struct stored_param *param,
                     const char *text, size_t len)
{
    param->type = STORED_PARAM_TEXT;
    param->text = keep(writer, text, len);
}

static void put_bool(struct writer *writer, struct stored_param *param,
                     bool truth)
{
    param->type = STORED_PARAM_BOOL;
    param->number = truth;
    param->text = truth ? keep(writer, "true", 4) : keep(writer, "false", 5);
}

static bool is_whole(double number)
{
    return number == floor(number) && fabs(number) <= INTEGER_MAX;
}

/* How a number is printed; the length. */
static size_t print_number(double number, char out[DECIMAL_BYTES])
{
    if (is_whole(number))
        return (size_t)snprintf(out, DECIMAL_BYTES, "%.0f", number);
    if (isfinite(number))
        return decimal_text(number, out);
    return (size_t)snprintf(out, DECIMAL_BYTES, "%g", number);
}

static void put_number(struct writer *writer, struct stored_param *param,
                       double number, const char *text, size_t len)
{
    param->type = is_whole(number) ? STORED_PARAM_INTEGER : STORED_PARAM_REAL;
    param->number = number;
    param->text = keep(writer, text, len);
}

/* ---- as the database has them: flat, and nothing escaped */

static const char *skip_blanks(const char *at)
{
    while (*at == ' ' || *at == '\t' || *at == '\n' || *at == '\r')
        at++;
    return at;
}

/* The end of a text that begins at the quote, NULL when it is not so plain. */
static const char *end_of_text(const char *at)
{
    if (*at != '"')
        return NULL;
    for (at++; *at != '"'; at++)
        if ((unsigned char)*at < 0x20 || *at == '\\')
            return NULL;
    return at;
}

/* "-12", which is printed as it is written; its length, or 0. */
static size_t plain_integer(const char *at)
{
    const char *digits = at + (*at == '-');
    size_t n = strspn(digits, "0123456789");

    if (n == 0 || n > DIGITS_PLAIN || (*digits == '0' && n > 1) ||
        strchr(".eE", digits[n]))
        return 0;
    return (size_t)(digits - at) + n;
}

/* NULL when it is not one, or is printed longer than it is written. */
static const char *read_number(struct writer *writer,
                               struct stored_param *param, const char *at)
{
    size_t plain = plain_integer(at), len, written;
    char text[DECIMAL_BYTES];
    const char *end;
    double number;

    if (!strspn(at, "-0123456789"))
        return NULL;
    number = decimal_real(at, &end);
    written = (size_t)(end - at);
    if (plain > 0) {
        put_number(writer, param, number, at, plain);
        return at + plain;
    }
    if (!isfinite(number) || strspn(at, "0123456789+-.eE") != written)
        return NULL;
    len = print_number(number, text);
    if (len > written)
        return NULL;
    put_number(writer, param, number, text, len);
    if (strcspn(at, ".eE") < written) /* also 1.0, which is printed as 1 */
        param->type = STORED_PARAM_REAL;
    return end;
}

static const char *read_value(struct writer *writer, struct stored_param *param,
                              const char *at)
{
    const char *end = end_of_text(at);

    if (end) {
        put_text(writer, param, at + 1, (size_t)(end - at) - 1);
        return end + 1;
    }
    if (strncmp(at, "true", 4) == 0) {
        put_bool(writer, param, true);
        return at + 4;
    }
    if (strncmp(at, "false", 5) == 0) {
        put_bool(writer, param, false);
        return at + 5;
    }
    return read_number(writer, param, at);
}

bool stored_params_read_plain(const char *json, struct stored_params *out)
{
    const char *at = skip_blanks(json), *end;
    struct writer writer;
    size_t items = 1;

    for (const char *c = json; *c; c++)
        items += *c == ',';
    begin(&writer, out, items, strlen(json));
    if (*at++ != '{')
        return false;
    for (at = skip_blanks(at); *at != '}' || out->n > 0;) {
        struct stored_param *param;

        end = end_of_text(at);
        if (!end)
            return false;
        param = add(&writer, at + 1, (size_t)(end - at) - 1);
        at = skip_blanks(end + 1);
        if (*at != ':')
            return false;
        at = read_value(&writer, param, skip_blanks(at + 1));
        if (!at)
            return false;
        at = skip_blanks(at);
        if (*at == '}')
            return true;
        if (*at != ',')
            return false;
        at = skip_blanks(at + 1);
    }
    return true;
}

/* ---- any other object */

static void take_item(struct writer *writer, const struct cJSON *item)
{
    struct stored_param *param =
        add(writer, item->string, strlen(item->string));

    char text[DECIMAL_BYTES];

    if (cJSON_IsNumber(item))
        put_number(writer, param, item->valuedouble, text,
                   print_number(item->valuedouble, text));
    else if (cJSON_IsBool(item))
        put_bool(writer, param, cJSON_IsTrue(item));
    else if (cJSON_IsString(item))
        put_text(writer, param, item->valuestring, strlen(item->valuestring));
    else
        put_text(writer, param, "null", 4);
}

static int read_any(const char *json, struct stored_params *out,
                    struct err *err)
{
    cJSON *tree = cJSON_Parse(json);
    struct writer writer;
    const cJSON *item;
    size_t items = 0, bytes = 0;

    if (!cJSON_IsObject(tree)) {
        cJSON_Delete(tree);
        return err_set(err, ERR_STORE,
                       "parameters '%.80s' are not a JSON object", json);
    }
    cJSON_ArrayForEach(item, tree)
    {
        items++;
        bytes += strlen(item->string);
        bytes += cJSON_IsString(item) ? strlen(item->valuestring) : 0;
        bytes += DECIMAL_BYTES + 2;
    }
    begin(&writer, out, items, bytes);
    cJSON_ArrayForEach(item, tree)
    {
        take_item(&writer, item);
    }
    cJSON_Delete(tree);
    return 0;
}

int stored_params_parse(const char *json, struct stored_params *out,
                        struct err *err)
{
    *out = (struct stored_params){ 0 };
    if (stored_params_read_plain(json, out))
        return 0;
    stored_params_fini(out);
    return read_any(json, out, err);
}

void stored_params_fini(struct stored_params *params)
{
    free(params->items);
    *params = (struct stored_params){ 0 };
}

const struct stored_param *
stored_params_find(const struct stored_params *params, const char *name)
{
    for (size_t i = 0; i < params->n; i++)
        if (strcmp(params->items[i].name, name) == 0)
            return &params->items[i];
    return NULL;
}

const struct stored_param *
stored_params_find_at(const struct stored_params *params, size_t place,
                      const char *name)
{
    return place < params->n && strcmp(params->items[place].name, name) == 0
               ? &params->items[place]
               : stored_params_find(params, name);
}
