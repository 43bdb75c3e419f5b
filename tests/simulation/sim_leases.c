#include "tests/simulation/sim_leases.h"

#include <stdbool.h>
#include <stdlib.h>

#include "common/clock.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/outcome.h"

#define LOST_NS (30 * NS_PER_S) /* a host's leases end after this silence */

static void end(struct sim_leases *l, size_t i)
{
    l->out[i] = l->out[--l->n];
}

/* Work began or ended on this GPU or in these slots: the leases that wait there
 * have a new beginning. */
static void moves(struct sim_leases *l, int host, int gpu, int64_t now)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->out[i].host == host && l->out[i].gpu == gpu) {
            l->out[i].since_ns = now;
            l->out[i].slow_ns = 0;
        }
}

static void end_one(struct sim_leases *l, const struct sim_record *r)
{
    for (size_t i = 0; i < l->n; i++)
        if (l->out[i].lease == r->lease && l->out[i].host == r->host) {
            moves(l, r->host, l->out[i].gpu, r->at_ns);
            end(l, i);
            return;
        }
}

static void end_of_host(struct sim_leases *l, int host)
{
    for (size_t i = l->n; i > 0; i--)
        if (l->out[i - 1].host == host)
            end(l, i - 1);
}

/* Nothing was heard from this host for so long that the coordinator may have
 * given up its leases, and then it speaks again. */
static void doubt_silent(struct sim_leases *l, const struct sim_record *r)
{
    if (r->at_ns - l->heard_ns[r->host] <= LOST_NS)
        return;
    for (size_t i = 0; i < l->n; i++)
        if (l->out[i].host == r->host)
            l->out[i].doubted = true;
}

/* Work that is leased anew was given up, if that may be. */
static void begin(struct sim_leases *l, const struct sim_record *r)
{
    for (size_t i = l->n; i > 0; i--)
        if (l->out[i - 1].doubted && l->out[i - 1].id == r->id)
            end(l, i - 1);
    l->out = mem_grow(l->out, l->n + 1, sizeof(*l->out));
    l->out[l->n++] = (struct sim_lease){ .lease = r->lease,
                                         .host = r->host,
                                         .gpu = r->gpu,
                                         .id = r->id,
                                         .type = r->type,
                                         .since_ns = r->at_ns,
                                         .limit_ns = r->limit_ms * NS_PER_MS };
}

/* HELLO names the leases that the worker holds.  The host's other leases are
 * over; if the worker is another process, all of them are. */
static void greet(struct sim_leases *l, const struct sim_record *r, size_t at)
{
    const struct sim_trace *trace = l->trace;

    if (l->pid[r->host] != r->number || l->boot[r->host] != r->text)
        end_of_host(l, r->host);
    l->pid[r->host] = r->number;
    l->boot[r->host] = r->text;
    for (size_t i = l->n; i > 0; i--) {
        bool named = false;

        if (l->out[i - 1].host != r->host)
            continue;
        for (size_t k = at + 1;
             k < trace->n && trace->records[k].kind == r->kind &&
             trace->records[k].type == MSG_HELLO && trace->records[k].lease;
             k++)
            named = named || trace->records[k].id == l->out[i - 1].id;
        if (!named)
            end(l, i - 1);
    }
}

/* A result ends the leases of this work on all hosts.  A crash ends only that
 * of its own host. */
static void end_by_result(struct sim_leases *l, const struct sim_record *r)
{
    const char *outcome = sim_trace_text(l->trace, r->text);
    bool crash = outcome_is(outcome, OUTCOME_CRASH);

    for (size_t i = 0; i < l->n; i++)
        if (l->out[i].id == r->id && (!crash || l->out[i].host == r->host)) {
            moves(l, l->out[i].host, l->out[i].gpu, r->at_ns);
            end(l, i--);
        }
}

static void on_taken(struct sim_leases *l, const struct sim_record *r,
                     size_t at)
{
    bool ours = r->epoch == l->epoch;

    doubt_silent(l, r);
    l->heard_ns[r->host] = r->at_ns;
    switch (r->type) {
    case MSG_HELLO:
        if (ours && r->lease == 0)
            greet(l, r, at);
        return;
    case MSG_STARTED:
        for (size_t i = 0; ours && i < l->n; i++)
            if (l->out[i].host == r->host && l->out[i].lease == r->lease)
                moves(l, r->host, l->out[i].gpu, r->at_ns);
        return;
    case MSG_BUILT:
    case MSG_MEASURED:
    case MSG_RAN:
        end_by_result(l, r);
        return;
    case MSG_REFUSE:
        if (ours)
            end_one(l, r);
        return;
    case MSG_BYE:
        if (ours)
            end_of_host(l, r->host);
        return;
    default:
        return;
    }
}

static void on_sent(struct sim_leases *l, const struct sim_record *r)
{
    switch (r->type) {
    case MSG_BUILD:
    case MSG_MEASURE:
    case MSG_TOOL:
        if (r->number != 0) /* otherwise nobody got it, and it is given again */
            begin(l, r);
        return;
    case MSG_CANCEL:
        end_one(l, r);
        return;
    default:
        return;
    }
}

int64_t sim_leases_limit_ns(const struct sim_leases *l, size_t at)
{
    int64_t longest = 0;

    for (size_t i = 0; i < l->n; i++)
        if (l->out[i].host == l->out[at].host &&
            l->out[i].gpu == l->out[at].gpu && l->out[i].limit_ns > longest)
            longest = l->out[i].limit_ns;
    return longest;
}

static void forget_silent(struct sim_leases *l, int64_t now)
{
    for (size_t i = l->n; i > 0; i--)
        if (now - l->heard_ns[l->out[i - 1].host] > LOST_NS)
            end(l, i - 1);
}

void sim_leases_take(struct sim_leases *l, size_t at)
{
    const struct sim_record *r = &l->trace->records[at];

    switch (r->kind) {
    case SIM_BEGIN:
        l->n = 0;
        l->epoch = r->epoch;
        return;
    case SIM_SLEEP: /* the coordinator heard nothing */
        for (size_t i = 0; i < l->n; i++)
            l->out[i].since_ns += r->number;
        for (size_t host = 0; host < SIM_HOSTS_MAX; host++)
            l->heard_ns[host] += r->number;
        return;
    case SIM_COMMIT:
        for (size_t i = 0; i < l->n; i++)
            l->out[i].slow_ns += r->limit_ms * NS_PER_MS;
        return;
    case SIM_DISMISS:
        end_of_host(l, r->host);
        return;
    case SIM_TAKEN:
        on_taken(l, r, at);
        return;
    case SIM_SENT:
        forget_silent(l, r->at_ns);
        on_sent(l, r);
        return;
    default:
        return;
    }
}

void sim_leases_fini(struct sim_leases *l)
{
    free(l->out);
}
