/* external_strategy_inbox.c - what the program answers */
#include "coordinator/search/external_strategy_internal.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/model/domain.h"
#include "coordinator/text/json.h"

#define REFUSED_MAX 10000 /* illegal or known points in a row */

static int unexpected(const struct external_strategy *external,
                      const char *line, struct err *err)
{
    return err_set(err, ERR_PROTO,
                   "strategy '%s', line %d: '%.80s' where %s was expected",
                   external->program, external->lines, line,
                   external->phase == EXTERNAL_STRATEGY_STARTING
                       ? "{\"ready\": \"its name\"}"
                   : external->phase == EXTERNAL_STRATEGY_ASKED
                       ? "{\"point\": [...]}, {\"wait\": true} or "
                         "{\"done\": true}"
                       : "no answer");
}

static int read_levels(const struct external_strategy *external,
                       const struct json *point, uint16_t *levels,
                       struct err *err)
{
    size_t n = (size_t)domain_tunables(external->domain);

    if (point->kind != JSON_ARRAY || point->n != n)
        return err_set(err, ERR_PROTO,
                       "strategy '%s', line %d: \"point\" is a list of %zu "
                       "numbers, an index into the values of each tunable",
                       external->program, external->lines, n);
    for (size_t t = 0; t < n; t++) {
        const struct json *at = &point->items[t];
        int last = domain_tunable(external->domain, (int)t)->levels - 1;

        if (at->kind != JSON_NUMBER || !at->whole || at->number < 0 ||
            at->number > last)
            return err_set(err, ERR_PROTO,
                           "strategy '%s', line %d: the index of '%s' is a "
                           "whole number from 0 to %d",
                           external->program, external->lines,
                           external->tunables[t], last);
        levels[t] = (uint16_t)at->number;
    }
    return 0;
}

/* Tell it why the point is refused, or what is known of it, and ask again. */
static int refuse(struct external_strategy *external, const uint16_t *levels,
                  int point, struct err *err)
{
    if (++external->refused > REFUSED_MAX)
        return err_set(err, ERR_PROTO,
                       "strategy '%s': %d points in a row do not pass the "
                       "gates or were asked for before",
                       external->program, REFUSED_MAX);
    if (point >= 0)
        external_strategy_put_tell(external, point);
    else
        external_strategy_put_illegal(external, levels);
    external_strategy_put_ask(external);
    return 0;
}

static int take_point(struct external_strategy *external, const struct json *at,
                      struct err *err)
{
    uint16_t levels[DOMAIN_TUNABLES_MAX];
    int rc = read_levels(external, at, levels, err), point;

    if (rc < 0)
        return rc;
    point = domain_find(external->domain, levels);
    if (point < 0 || trials_state(&external->trials, point) != TRIAL_UNSEEN)
        return refuse(external, levels, point, err);
    external->refused = 0;
    external->point = point;
    external->phase = EXTERNAL_STRATEGY_ANSWERED;
    return 0;
}

static bool is_true(const struct json *root, const char *key)
{
    const struct json *member = json_find(root, key);

    return member && member->kind == JSON_BOOL && member->truth;
}

static int take_answer(struct external_strategy *external,
                       const struct json *root, const char *line,
                       struct err *err)
{
    const struct json *ready = json_find(root, "ready");
    const struct json *point = json_find(root, "point");

    if (external->phase == EXTERNAL_STRATEGY_STARTING && ready &&
        ready->kind == JSON_TEXT) {
        free(external->name);
        external->name = mem_strdup(ready->text);
        external->phase = EXTERNAL_STRATEGY_IDLE;
        return 0;
    }
    if (external->phase != EXTERNAL_STRATEGY_ASKED)
        return unexpected(external, line, err);
    if (point)
        return take_point(external, point, err);
    if (is_true(root, "wait") && external->trials.pending > 0)
        external->phase = EXTERNAL_STRATEGY_RESTING;
    else if (is_true(root, "done"))
        external->phase = EXTERNAL_STRATEGY_DONE;
    else
        return unexpected(external, line, err);
    return 0;
}

static int take_line(struct external_strategy *external, const char *line,
                     size_t len, struct err *err)
{
    struct json_doc *doc = NULL;
    char *text = mem_dup(line, len);
    int rc;

    external->lines++;
    rc = json_parse(external->program, text, len, &doc, NULL);
    if (rc < 0 || json_root(doc)->kind != JSON_OBJECT)
        rc = unexpected(external, text, err);
    else
        rc = take_answer(external, json_root(doc), text, err);
    json_free(doc);
    free(text);
    return rc;
}

int external_strategy_take_lines(struct external_strategy *external,
                                 struct err *err)
{
    int rc = 0;

    while (rc == 0 && external->in.len > 0) {
        const char *end = memchr(external->in.bytes, '\n', external->in.len);
        size_t len = end ? (size_t)(end - external->in.bytes) : 0;

        if (!end && external->in.len == EXTERNAL_STRATEGY_LINE_MAX)
            return err_set(err, ERR_PROTO,
                           "strategy '%s': a line of more than %d bytes",
                           external->program, EXTERNAL_STRATEGY_LINE_MAX);
        if (!end)
            break;
        rc = take_line(external, external->in.bytes, len, err);
        buf_take(&external->in, len + 1);
    }
    return rc;
}
