/* What the readers of all formats share. */
#include "coordinator/replay/landscape_internal.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/model/domain.h"
#include "coordinator/replay/numeral.h"
#include "coordinator/text/json_out.h"
#include "coordinator/text/terminal.h"

int landscape_next(struct landscape_reader *reader, enum json_token *token)
{
    return json_stream_next(reader->stream, token, reader->err);
}

const char *landscape_text(const struct landscape_reader *reader)
{
    return json_stream_text(reader->stream);
}

int landscape_scalar(const struct landscape_reader *reader,
                     enum json_token token, const char *name, double *number)
{
    *number = NAN;
    if (token == JSON_STREAM_NUMBER)
        *number = json_stream_number(reader->stream);
    else if (token == JSON_STREAM_TEXT && reader->quoted &&
             numeral_is(landscape_text(reader)))
        *number = numeral_real(landscape_text(reader), 0);
    else if (token != JSON_STREAM_TEXT && token != JSON_STREAM_WORD)
        return json_stream_flaw(reader->stream, reader->err,
                                "a value of '%s' is a list or an object; use "
                                "numbers, texts, true and false",
                                name);
    return 0;
}

int landscape_level(const struct landscape_tunable *tunable, const char *text,
                    double number)
{
    for (int i = 0; i < tunable->n; i++)
        if (isnan(number) ? isnan(tunable->numbers[i]) &&
                                strcmp(tunable->texts[i], text) == 0
                          : tunable->numbers[i] == number)
            return i;
    return -1;
}

/* Sort numbers in order, texts after them. */
static void add_value(struct landscape_tunable *tunable, const char *text,
                      double number)
{
    size_t n = (size_t)tunable->n;
    int i = tunable->n++;

    tunable->texts = mem_grow(tunable->texts, n + 1, sizeof(char *));
    tunable->numbers = mem_grow(tunable->numbers, n + 1, sizeof(double));
    while (i > 0 && !isnan(number) && !(tunable->numbers[i - 1] <= number)) {
        tunable->texts[i] = tunable->texts[i - 1];
        tunable->numbers[i] = tunable->numbers[i - 1];
        i--;
    }
    tunable->texts[i] = mem_strdup(text);
    tunable->numbers[i] = number;
}

int landscape_add_value(struct landscape_reader *reader,
                        struct landscape_tunable *tunable,
                        enum json_token token)
{
    double number;
    int rc = landscape_scalar(reader, token, tunable->name, &number);

    if (rc < 0 || landscape_level(tunable, landscape_text(reader), number) >= 0)
        return rc;
    if (tunable->n == DOMAIN_LEVELS_MAX)
        return json_stream_flaw(reader->stream, reader->err,
                                "'%s' has more than %d values", tunable->name,
                                DOMAIN_LEVELS_MAX);
    tunable->ordered = tunable->ordered && !isnan(number);
    add_value(tunable, landscape_text(reader), number);
    return 0;
}

/* The current text is its name. */
int landscape_add_tunable(struct landscape_reader *reader,
                          struct landscape_tunable **out)
{
    struct landscape *to = reader->to;

    if (!to->tunables)
        to->tunables = mem_new(DOMAIN_TUNABLES_MAX, sizeof(*to->tunables));
    if (to->tunables_n == DOMAIN_TUNABLES_MAX)
        return json_stream_flaw(reader->stream, reader->err,
                                "more than %d tunables", DOMAIN_TUNABLES_MAX);
    *out = &to->tunables[to->tunables_n++];
    (*out)->name = mem_strdup(landscape_text(reader));
    (*out)->ordered = true;
    return 0;
}

void landscape_make_domain(struct landscape *landscape)
{
    struct domain_tunable shapes[DOMAIN_TUNABLES_MAX];

    for (int t = 0; t < landscape->tunables_n; t++) {
        const struct landscape_tunable *tunable = &landscape->tunables[t];

        shapes[t] = (struct domain_tunable){
            .levels = tunable->n,
            .ordered = tunable->ordered,
            .values = tunable->ordered ? tunable->numbers : NULL,
        };
    }
    landscape->domain = domain_new(shapes, landscape->tunables_n);
}

int landscape_read_name(struct landscape_reader *reader, char **name)
{
    enum json_token token;
    int rc = landscape_next(reader, &token);

    if (rc < 0)
        return rc;
    if (token == JSON_STREAM_TEXT) {
        free(*name);
        *name = mem_dup(landscape_text(reader),
                        strnlen(landscape_text(reader), LANDSCAPE_NAME_MAX));
        terminal_clean(*name, false);
    }
    return json_stream_skip(reader->stream, token, reader->err);
}

static bool put_size(struct landscape_reader *reader, enum json_token token,
                     struct json_out *out)
{
    if (token == JSON_STREAM_NUMBER)
        json_out_real(out, NULL, json_stream_number(reader->stream));
    else if (token == JSON_STREAM_TEXT &&
             strlen(landscape_text(reader)) <= LANDSCAPE_NAME_MAX)
        json_out_text(out, NULL, landscape_text(reader));
    else
        return false;
    return true;
}

static int read_sizes(struct landscape_reader *reader, struct json_out *out,
                      bool *flat)
{
    enum json_token token;
    int rc = landscape_next(reader, &token), n = 0;

    if (rc < 0 || token != JSON_STREAM_OPEN_ARRAY) {
        *flat = rc == 0 && put_size(reader, token, out);
        return rc < 0 ? rc
                      : json_stream_skip(reader->stream, token, reader->err);
    }
    json_out_open(out, NULL, '[');
    while (rc == 0 && (rc = landscape_next(reader, &token)) == 0 &&
           token != JSON_STREAM_CLOSE_ARRAY && token != JSON_STREAM_END) {
        *flat =
            n++ < LANDSCAPE_SIZES_MAX && put_size(reader, token, out) && *flat;
        rc = json_stream_skip(reader->stream, token, reader->err);
    }
    json_out_close(out);
    return rc;
}

int landscape_read_problem(struct landscape_reader *reader)
{
    struct json_out out;
    bool flat = true;
    char *text = NULL;
    size_t len;
    FILE *to = mem_stream(&text, &len);
    int rc;

    json_out_init(&out, to);
    rc = read_sizes(reader, &out, &flat);
    mem_stream_close(to, &text);
    free(reader->to->problem);
    reader->to->problem = rc == 0 && flat ? text : NULL;
    if (!reader->to->problem)
        free(text);
    return rc;
}
