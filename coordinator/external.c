#include "coordinator/external.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/json.h"
#include "common/mem.h"
#include "coordinator/child.h"
#include "coordinator/domain.h"
#include "coordinator/tail.h"
#include "coordinator/trials.h"
#include "coordinator/value.h"

#define PROTOCOL 1
#define LINE_MAX_BYTES 65536
#define OUT_MAX_BYTES (64 << 20) /* unread tells; the start has all values */
#define COMMAND_BYTES_MAX 65536
#define COMMAND_SHOWN 80  /* the rest of a message needs room too */
#define REFUSED_MAX 10000 /* illegal or known points in a row */

enum phase {
    PHASE_STARTING, /* until it says ready */
    PHASE_IDLE,     /* nothing was asked */
    PHASE_ASKED,
    PHASE_ANSWERED, /* 'point' waits to be taken */
    PHASE_RESTING,  /* it said wait: until the next tell */
    PHASE_DONE,
};

struct external {
    struct child child;
    char *program; /* for messages */
    char *name;
    const struct domain *domain;
    char **tunables; /* their names */
    struct trials trials;
    int n_shapes;
    double *times; /* [trials][n_shapes], NaN where there is none */
    int times_n;   /* trials */
    int budget;
    int64_t answer_ns, deadline_ns;
    enum phase phase;
    int point, refused, lines;
    struct buf in, out;
    struct tail errors;
};

static bool owes_an_answer(const struct external *external)
{
    return external->phase == PHASE_STARTING || external->phase == PHASE_ASKED;
}

static void write_point(struct external *external, int point)
{
    const uint16_t *levels = domain_point(external->domain, point);

    for (int t = 0; t < domain_tunables(external->domain); t++)
        buf_printf(&external->out, "%s%d", t ? "," : "[", levels[t]);
    buf_printf(&external->out, "]");
}

static void write_shapes(struct external *external,
                         const struct external_options *options)
{
    struct buf *out = &external->out;

    buf_printf(out, "\"shapes\":[");
    for (int i = 0; i < options->n_shapes; i++) {
        buf_printf(out, "%s", i ? "," : "");
        value_quote(options->shapes[i], out);
    }
    buf_printf(out, "],\"objective\":");
    value_quote(options->objective, out);
    buf_printf(out, ",");
}

static void write_start(struct external *external,
                        const struct external_options *options)
{
    const struct domain *domain = options->domain;
    struct buf *out = &external->out;

    buf_printf(
        out, "{\"start\":%d,\"seed\":%" PRIu64 ",\"budget\":%d,\"points\":%d,",
        PROTOCOL, options->seed, external->budget, domain_size(domain));
    if (options->n_shapes > 0)
        write_shapes(external, options);
    buf_printf(out, "\"tunables\":[");
    for (int t = 0; t < domain_tunables(domain); t++) {
        const struct domain_tunable *tunable = domain_tunable(domain, t);

        buf_printf(out, "%s{\"name\":", t ? "," : "");
        value_quote(options->tunables[t].name, out);
        buf_printf(out, ",\"ordered\":%s,\"values\":[",
                   tunable->ordered ? "true" : "false");
        for (int i = 0; i < tunable->levels; i++)
            buf_printf(out, "%s%s", i ? "," : "",
                       options->tunables[t].values[i]);
        buf_printf(out, "]}");
    }
    buf_printf(out, "]}\n");
}

/* As it was given, for messages. */
static char *join(const char *const *argv)
{
    struct buf text;

    buf_init(&text, COMMAND_BYTES_MAX);
    for (size_t i = 0; argv[i]; i++)
        buf_printf(&text, "%s%s", i ? " " : "", argv[i]);
    if (text.len > COMMAND_SHOWN)
        text.bytes[COMMAND_SHOWN] = '\0';
    return text.bytes;
}

int external_start(const struct external_options *options,
                   struct external **out, struct err *err)
{
    struct external *external = mem_new(1, sizeof(*external));
    int size = domain_size(options->domain), rc;
    int tunables = domain_tunables(options->domain);

    rc = child_start(options->argv, &external->child, err);
    if (rc < 0) {
        free(external);
        return err_within(err, rc, "strategy");
    }
    external->program = join(options->argv);
    external->name = mem_strdup(options->argv[0]);
    external->domain = options->domain;
    external->budget =
        options->budget == 0 || options->budget > size ? size : options->budget;
    external->answer_ns = options->answer_ns;
    external->n_shapes = options->n_shapes;
    external->deadline_ns = clock_boot_ns() + options->answer_ns;
    external->tunables = mem_new((size_t)tunables, sizeof(char *));
    for (int t = 0; t < tunables; t++)
        external->tunables[t] = mem_strdup(options->tunables[t].name);
    trials_init(&external->trials, options->domain);
    buf_init(&external->in, LINE_MAX_BYTES);
    buf_init(&external->out, OUT_MAX_BYTES);
    write_start(external, options);
    *out = external;
    return 0;
}

void external_stop(struct external *external)
{
    if (!external)
        return;
    child_stop(&external->child);
    for (int t = 0; t < domain_tunables(external->domain); t++)
        free(external->tunables[t]);
    free(external->tunables);
    trials_fini(&external->trials);
    free(external->times);
    buf_fini(&external->in);
    buf_fini(&external->out);
    free(external->program);
    free(external->name);
    free(external);
}

bool external_is_ready(const struct external *external)
{
    return external->phase != PHASE_STARTING;
}

const char *external_name(const struct external *external)
{
    return external->name;
}

enum strategy_answer external_ask(struct external *external, int *point)
{
    if (external->phase == PHASE_ANSWERED) {
        *point = external->point;
        trials_begin(&external->trials, external->point);
        external->phase = PHASE_IDLE;
        return STRATEGY_POINT;
    }
    if (external->phase == PHASE_DONE || external->trials.unseen_n == 0 ||
        external->trials.n >= external->budget)
        return STRATEGY_DONE;
    if (external->phase == PHASE_IDLE) {
        buf_printf(&external->out, "{\"ask\":1}\n");
        external->phase = PHASE_ASKED;
        external->deadline_ns = clock_boot_ns() + external->answer_ns;
    }
    return STRATEGY_WAIT;
}

void external_expect(struct external *external, int point)
{
    if (trials_state(&external->trials, point) == TRIAL_UNSEEN)
        trials_begin(&external->trials, point);
}

/* Those of each shape; nothing where they are not known. */
static void write_times(struct external *external, int trial)
{
    const double *times =
        external->times + (size_t)trial * (size_t)external->n_shapes;
    bool known = false;

    if (trial >= external->times_n)
        return;
    for (int i = 0; i < external->n_shapes; i++)
        known = known || !isnan(times[i]);
    for (int i = 0; known && i < external->n_shapes; i++) {
        buf_printf(&external->out, "%s", i ? "," : ",\"times\":[");
        if (isnan(times[i]))
            buf_printf(&external->out, "null");
        else
            buf_printf(&external->out, "%.9g", times[i]);
    }
    if (known)
        buf_printf(&external->out, "]");
}

static void keep_times(struct external *external, int trial,
                       const double *times)
{
    size_t n = (size_t)external->n_shapes;

    if (n == 0)
        return;
    while (external->times_n <= trial) {
        external->times = mem_grow(
            external->times, (size_t)external->times_n + 1, n * sizeof(double));
        for (size_t i = 0; i < n; i++)
            external->times[(size_t)external->times_n * n + i] = (double)NAN;
        external->times_n++;
    }
    for (size_t i = 0; i < n; i++)
        external->times[(size_t)trial * n + i] = times ? times[i] : (double)NAN;
}

static void write_tell(struct external *external, int point)
{
    const struct trials *trials = &external->trials;
    enum trial_state state = trials_state(trials, point);

    buf_printf(&external->out, "{\"tell\":");
    write_point(external, point);
    if (state == TRIAL_TIMED) {
        buf_printf(&external->out, ",\"state\":\"timed\",\"time\":%.9g",
                   trials->list[trials->of_point[point]].time);
        write_times(external, trials->of_point[point]);
        buf_printf(&external->out, "}\n");
    } else
        buf_printf(&external->out, ",\"state\":\"%s\"}\n",
                   state == TRIAL_FAILED ? "failed" : "lost");
}

void external_tell(struct external *external, int point,
                   enum strategy_outcome outcome, double time,
                   const double *times)
{
    static const enum trial_state states[] = {
        [STRATEGY_TIMED] = TRIAL_TIMED,
        [STRATEGY_FAILED] = TRIAL_FAILED,
        [STRATEGY_LOST] = TRIAL_LOST,
    };

    trials_settle(&external->trials, point, states[outcome], time);
    keep_times(external, external->trials.of_point[point], times);
    write_tell(external, point);
    if (external->phase == PHASE_RESTING)
        external->phase = PHASE_IDLE;
}

void external_poll(const struct external *external,
                   struct pollfd fds[EXTERNAL_FDS])
{
    fds[0] = (struct pollfd){
        .fd = external->child.fd,
        .events = (short)(POLLIN | (external->out.len > 0 ? POLLOUT : 0)),
    };
    fds[1] = (struct pollfd){ .fd = external->child.errors, .events = POLLIN };
}

int64_t external_deadline(const struct external *external)
{
    return owes_an_answer(external) ? external->deadline_ns : INT64_MAX;
}

/* ---- what it answers */

static int unexpected(const struct external *external, const char *line,
                      struct err *err)
{
    return err_set(
        err, ERR_PROTO, "strategy '%s', line %d: '%.80s' where %s was expected",
        external->program, external->lines, line,
        external->phase == PHASE_STARTING ? "{\"ready\": \"its name\"}"
        : external->phase == PHASE_ASKED
            ? "{\"point\": [...]}, {\"wait\": true} or "
              "{\"done\": true}"
            : "no answer");
}

static int read_levels(const struct external *external,
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

/* Tell it what is wrong with the point, or known of it, and ask again. */
static int refuse(struct external *external, const uint16_t *levels, int point,
                  struct err *err)
{
    if (++external->refused > REFUSED_MAX)
        return err_set(err, ERR_PROTO,
                       "strategy '%s': %d points in a row were illegal or "
                       "asked for before",
                       external->program, REFUSED_MAX);
    if (point >= 0) {
        write_tell(external, point);
    } else {
        buf_printf(&external->out, "{\"tell\":");
        for (int t = 0; t < domain_tunables(external->domain); t++)
            buf_printf(&external->out, "%s%d", t ? "," : "[", levels[t]);
        buf_printf(&external->out, "],\"state\":\"illegal\"}\n");
    }
    buf_printf(&external->out, "{\"ask\":1}\n");
    external->deadline_ns = clock_boot_ns() + external->answer_ns;
    return 0;
}

static int take_point(struct external *external, const struct json *at,
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
    external->phase = PHASE_ANSWERED;
    return 0;
}

static bool is_true(const struct json *root, const char *key)
{
    const struct json *member = json_find(root, key);

    return member && member->kind == JSON_BOOL && member->truth;
}

static int take_answer(struct external *external, const struct json *root,
                       const char *line, struct err *err)
{
    const struct json *ready = json_find(root, "ready");
    const struct json *point = json_find(root, "point");

    if (external->phase == PHASE_STARTING && ready &&
        ready->kind == JSON_TEXT) {
        free(external->name);
        external->name = mem_strdup(ready->text);
        external->phase = PHASE_IDLE;
        return 0;
    }
    if (external->phase != PHASE_ASKED)
        return unexpected(external, line, err);
    if (point)
        return take_point(external, point, err);
    if (is_true(root, "wait") && external->trials.pending > 0)
        external->phase = PHASE_RESTING;
    else if (is_true(root, "done"))
        external->phase = PHASE_DONE;
    else
        return unexpected(external, line, err);
    return 0;
}

static int take_line(struct external *external, const char *line, size_t len,
                     struct err *err)
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

static int take_lines(struct external *external, struct err *err)
{
    int rc = 0;

    while (rc == 0 && external->in.len > 0) {
        const char *end = memchr(external->in.bytes, '\n', external->in.len);
        size_t len = end ? (size_t)(end - external->in.bytes) : 0;

        if (!end && external->in.len == LINE_MAX_BYTES)
            return err_set(err, ERR_PROTO,
                           "strategy '%s': a line of more than %d bytes",
                           external->program, LINE_MAX_BYTES);
        if (!end)
            break;
        rc = take_line(external, external->in.bytes, len, err);
        buf_take(&external->in, len + 1);
    }
    return rc;
}

/* ---- its pipes */

static void drain_errors(struct external *external)
{
    char bytes[4096];
    ssize_t n = 0;

    for (int i = 0; i < 64 && external->child.errors >= 0; i++) {
        n = read(external->child.errors, bytes, sizeof(bytes));
        if (n <= 0)
            break;
        tail_add(&external->errors, bytes, (size_t)n);
    }
    if (n == 0 && external->child.errors >= 0) {
        close(external->child.errors);
        external->child.errors = -1;
    }
}

static int it_ended(struct external *external, struct err *err)
{
    char last[200];
    int status = -1;

    drain_errors(external);
    (void)child_wait(&external->child, clock_boot_ns() + NS_PER_S, &status,
                     NULL); /* still running then: the status stays unknown */
    tail_say(&external->errors, 1, last, sizeof(last));
    return err_set(err, ERR_NETWORK, "strategy '%s' ended (status %d)%s%s",
                   external->program, status, *last ? ": " : "", last);
}

static int flush(struct external *external, struct err *err)
{
    while (external->out.len > 0) {
        ssize_t n = send(external->child.fd, external->out.bytes,
                         external->out.len, MSG_NOSIGNAL);

        if (n < 0 && (errno == EAGAIN || errno == EINTR))
            return 0;
        if (n <= 0)
            return it_ended(external, err);
        buf_take(&external->out, (size_t)n);
    }
    return 0;
}

int external_work(struct external *external, int64_t now_ns, struct err *err)
{
    char bytes[8192];
    ssize_t n;
    int rc;

    drain_errors(external);
    n = read(external->child.fd, bytes, sizeof(bytes));
    if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
        return it_ended(external, err);
    if (n > 0)
        buf_add(&external->in, bytes, (size_t)n);
    rc = take_lines(external, err);
    if (rc == 0 && external->out.truncated)
        rc = err_set(err, ERR_NETWORK, "strategy '%s' does not read its stdin",
                     external->program);
    if (rc == 0)
        rc = flush(external, err);
    if (rc == 0 && owes_an_answer(external) && now_ns >= external->deadline_ns)
        rc = err_set(
            err, ERR_NETWORK, "strategy '%s' has not answered for %.0f s",
            external->program, (double)external->answer_ns / (double)NS_PER_S);
    return rc;
}
