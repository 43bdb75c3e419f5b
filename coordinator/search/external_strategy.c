#include "coordinator/search/external_strategy_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/model/domain.h"
#include "coordinator/search/strategy.h"

#define OUT_MAX_BYTES (64 << 20) /* the start is long; tells may wait */
#define COMMAND_BYTES_MAX 65536
#define COMMAND_SHOWN 80 /* leaves room for the rest of a message */

static bool owes_an_answer(const struct external_strategy *external)
{
    return external->phase == EXTERNAL_STRATEGY_STARTING ||
           external->phase == EXTERNAL_STRATEGY_ASKED;
}

/* The command as it was given, for messages. */
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

int external_strategy_start(const struct external_strategy_options *options,
                            struct external_strategy **out, struct err *err)
{
    struct external_strategy *external = mem_new(1, sizeof(*external));
    int size = domain_size(options->domain), rc;
    int tunables = domain_tunables(options->domain);

    rc = subprocess_start(options->argv, &external->child, err);
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
    buf_init(&external->in, EXTERNAL_STRATEGY_LINE_MAX);
    buf_init(&external->out, OUT_MAX_BYTES);
    external_strategy_put_start(external, options);
    *out = external;
    return 0;
}

void external_strategy_stop(struct external_strategy *external)
{
    if (!external)
        return;
    subprocess_stop(&external->child);
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

bool external_strategy_is_ready(const struct external_strategy *external)
{
    return external->phase != EXTERNAL_STRATEGY_STARTING;
}

const char *external_strategy_name(const struct external_strategy *external)
{
    return external->name;
}

enum strategy_answer external_strategy_ask(struct external_strategy *external,
                                           int *point)
{
    if (external->phase == EXTERNAL_STRATEGY_ANSWERED) {
        *point = external->point;
        trials_begin(&external->trials, external->point);
        external->phase = EXTERNAL_STRATEGY_IDLE;
        return STRATEGY_POINT;
    }
    if (external->phase == EXTERNAL_STRATEGY_DONE ||
        external->trials.unseen_n == 0 ||
        external->trials.n >= external->budget)
        return STRATEGY_DONE;
    if (external->phase == EXTERNAL_STRATEGY_IDLE) {
        external_strategy_put_ask(external);
        external->phase = EXTERNAL_STRATEGY_ASKED;
    }
    return STRATEGY_WAIT;
}

void external_strategy_expect(struct external_strategy *external, int point)
{
    if (trials_state(&external->trials, point) == TRIAL_UNSEEN)
        trials_begin(&external->trials, point);
}

static void keep_times(struct external_strategy *external, int trial,
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

void external_strategy_tell(struct external_strategy *external, int point,
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
    external_strategy_put_tell(external, point);
    if (external->phase == EXTERNAL_STRATEGY_RESTING)
        external->phase = EXTERNAL_STRATEGY_IDLE;
}

void external_strategy_poll(const struct external_strategy *external,
                            struct pollfd fds[EXTERNAL_STRATEGY_FDS])
{
    fds[0] = (struct pollfd){
        .fd = external->child.fd,
        .events = (short)(POLLIN | (external->out.len > 0 ? POLLOUT : 0)),
    };
    fds[1] = (struct pollfd){ .fd = external->child.errors, .events = POLLIN };
}

int64_t external_strategy_deadline(const struct external_strategy *external)
{
    return owes_an_answer(external) ? external->deadline_ns : INT64_MAX;
}

/* ---- its pipes */

static void drain_errors(struct external_strategy *external)
{
    char bytes[4096];
    ssize_t n = 0;

    for (int i = 0; i < 64 && external->child.errors >= 0; i++) {
        n = read(external->child.errors, bytes, sizeof(bytes));
        if (n <= 0)
            break;
        stderr_tail_add(&external->errors, bytes, (size_t)n);
    }
    if (n == 0 && external->child.errors >= 0) {
        close(external->child.errors);
        external->child.errors = -1;
    }
}

static int it_ended(struct external_strategy *external, struct err *err)
{
    char last[200];
    int status = -1;

    drain_errors(external);
    (void)subprocess_wait(&external->child, clock_boot_ns() + NS_PER_S, &status,
                          NULL); /* still running: the status stays unknown */
    stderr_tail_say(&external->errors, 1, last, sizeof(last));
    return err_set(err, ERR_NETWORK, "strategy '%s' ended (status %d)%s%s",
                   external->program, status, *last ? ": " : "", last);
}

static int flush(struct external_strategy *external, struct err *err)
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

int external_strategy_work(struct external_strategy *external, int64_t now_ns,
                           struct err *err)
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
    rc = external_strategy_take_lines(external, err);
    if (rc == 0 && external->out.truncated)
        rc = err_set(err, ERR_NETWORK, "strategy '%s' does not read its stdin",
                     external->program);
    if (rc == 0)
        rc = flush(external, err);
    if (rc == 0 && owes_an_answer(external) && now_ns >= external->deadline_ns)
        rc = err_set(
            err, ERR_NETWORK, "strategy '%s' did not answer within %.0f s",
            external->program, (double)external->answer_ns / (double)NS_PER_S);
    return rc;
}
