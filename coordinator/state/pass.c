#include "coordinator/state/pass.h"

#include <assert.h>
#include <poll.h>

#include "common/msg.h"
#include "coordinator/state/reactor.h"

void pass_init(struct passes *passes, const struct pass_ops *const *ops)
{
    for (passes->n = 0; ops[passes->n]; passes->n++) {
        assert(passes->n < PASSES_MAX);
        passes->list[passes->n] =
            (struct pass){ .ops = ops[passes->n], .index = passes->n };
    }
}

void pass_free(struct passes *passes)
{
    for (int i = 0; i < passes->n; i++)
        if (passes->list[i].state)
            passes->list[i].ops->free(&passes->list[i]);
}

/* The next pass from '*i' on that takes part; NULL after the last. */
static struct pass *next(const struct sweep *sweep, int *i)
{
    const struct passes *passes = &sweep->passes;

    while (*i < passes->n) {
        const struct pass *pass = &passes->list[(*i)++];

        if (pass->state)
            return (struct pass *)pass;
    }
    return NULL;
}

/* What began and failed half-way takes no part: it is not to be asked. */
static int drop_failed(struct pass *pass, int rc)
{
    if (rc < 0 && pass->state) {
        pass->ops->free(pass);
        pass->state = NULL;
    }
    return rc;
}

/* These four decide which passes take part, so all are called. */
int pass_choose(struct sweep *sweep, int64_t passed, struct err *err)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < sweep->passes.n; i++) {
        struct pass *pass = &sweep->passes.list[i];

        if (pass->ops->start.choose)
            rc = drop_failed(pass,
                             pass->ops->start.choose(sweep, pass, passed, err));
    }
    return rc;
}

int pass_lead(struct sweep *sweep, struct err *err)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < sweep->passes.n; i++) {
        struct pass *pass = &sweep->passes.list[i];

        if (pass->ops->start.lead)
            rc = drop_failed(pass, pass->ops->start.lead(sweep, pass, err));
        if (rc == 1)
            sweep->passes.lead = pass;
    }
    return rc;
}

int pass_begin(struct sweep *sweep, struct err *err)
{
    int rc = 0;

    for (int i = 0; rc == 0 && i < sweep->passes.n; i++) {
        struct pass *pass = &sweep->passes.list[i];

        if (pass->ops->start.begin)
            rc = drop_failed(pass, pass->ops->start.begin(sweep, pass, err));
    }
    return rc;
}

int pass_recall(struct sweep *sweep, struct past_runs *past, struct err *err)
{
    struct pass *pass;
    int i = 0, rc = 0;

    while (rc == 0 && (pass = next(sweep, &i)))
        if (pass->ops->start.recall)
            rc = pass->ops->start.recall(sweep, pass, past, err);
    return rc;
}

void pass_turn(struct sweep *sweep)
{
    struct pass *pass;

    for (int i = 0; (pass = next(sweep, &i));)
        if (pass->ops->turn)
            pass->ops->turn(sweep, pass);
}

void pass_poll(struct sweep *sweep, struct pollfd *fds)
{
    struct pass *pass;

    for (int i = 0; i < PASS_FDS; i++)
        fds[i] = (struct pollfd){ .fd = -1 };
    for (int i = 0; (pass = next(sweep, &i));)
        if (pass->ops->poll)
            pass->ops->poll(sweep, pass, fds);
}

void pass_host_up(struct sweep *sweep, size_t host)
{
    struct pass *pass;

    for (int i = 0; (pass = next(sweep, &i));)
        if (pass->ops->host_up)
            pass->ops->host_up(sweep, pass, host);
}

void pass_host_down(struct sweep *sweep, size_t host)
{
    struct pass *pass;

    for (int i = 0; (pass = next(sweep, &i));)
        if (pass->ops->host_down)
            pass->ops->host_down(sweep, pass, host);
}

void pass_measured(struct sweep *sweep, const struct sched_lease *job,
                   const struct msg_measured *result)
{
    struct pass *pass;

    for (int i = 0; (pass = next(sweep, &i));)
        if (pass->ops->measured)
            pass->ops->measured(sweep, pass, job, result);
}

void pass_settled(struct sweep *sweep, int unit, int shape,
                  enum outcome outcome, double median_s)
{
    struct pass *pass;

    for (int i = 0; (pass = next(sweep, &i));)
        if (pass->ops->settled)
            pass->ops->settled(sweep, pass, unit, shape, outcome, median_s);
}

bool pass_bans(const struct sweep *sweep, size_t host, int gpu)
{
    const struct pass *pass;

    for (int i = 0; (pass = next(sweep, &i));)
        if (pass->ops->bans && pass->ops->bans(sweep, pass, host, gpu))
            return true;
    return false;
}

int pass_samples(const struct sweep *sweep, const struct sched_lease *lease)
{
    const struct pass *pass;
    int n = 0;

    for (int i = 0; n == 0 && (pass = next(sweep, &i));)
        if (pass->ops->amounts.samples)
            n = pass->ops->amounts.samples(sweep, pass, lease);
    return n;
}

int pass_repeats(const struct sweep *sweep, const struct sched_lease *lease)
{
    const struct pass *pass;
    int n = 0;

    for (int i = 0; n == 0 && (pass = next(sweep, &i));)
        if (pass->ops->amounts.repeats)
            n = pass->ops->amounts.repeats(sweep, pass, lease);
    return n;
}

bool pass_bundle(struct sweep *sweep, const char *hash, struct msg_bundle *out)
{
    struct pass *pass;

    for (int i = 0; (pass = next(sweep, &i));)
        if (pass->ops->commands.bundle &&
            pass->ops->commands.bundle(sweep, pass, hash, out))
            return true;
    return false;
}

const char *pass_method(const struct sweep *sweep)
{
    const struct pass *pass;

    for (int i = 0; (pass = next(sweep, &i));)
        if (pass->ops->method)
            return pass->ops->method(sweep, pass);
    return "exhaustive";
}

static void note_wait(void *arg, const struct pass_wait *wait)
{
    (void)wait;
    *(bool *)arg = true;
}

bool pass_waits(const struct sweep *sweep)
{
    const struct pass *pass;
    bool waits = false;

    for (int i = 0; !waits && (pass = next(sweep, &i));)
        if (pass->ops->waits_for)
            pass->ops->waits_for(sweep, pass, note_wait, &waits);
    return waits;
}

void pass_progress(const struct sweep *sweep, struct progress_facts *facts)
{
    const struct pass *pass;

    for (int i = 0; (pass = next(sweep, &i));)
        if (pass->ops->progress)
            pass->ops->progress(sweep, pass, facts);
}

struct pass *pass_of(struct sweep *sweep, enum sched_purpose purpose)
{
    struct pass *pass;

    for (int i = 0; (pass = next(sweep, &i));)
        if (pass->ops->purposes & 1U << purpose)
            return pass;
    return NULL;
}

struct pass *pass_at(struct sweep *sweep, int index)
{
    assert(index >= 0 && index < sweep->passes.n &&
           sweep->passes.list[index].state);
    return &sweep->passes.list[index];
}

void *pass_state(const struct sweep *sweep, const struct pass_ops *ops)
{
    for (int i = 0; i < sweep->passes.n; i++)
        if (sweep->passes.list[i].ops == ops)
            return sweep->passes.list[i].state;
    return NULL;
}
