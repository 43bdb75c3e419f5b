/* Commands on workers: a sweep file's external baseline in the blocks of a
 * confirmation.  Only workers run it, never the coordinator. */
#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/outcome.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/passes/confirmation_internal.h"
#include "coordinator/plan/external_baseline.h"
#include "coordinator/reactor/orders.h"
#include "coordinator/spec/bundle.h"
#include "coordinator/spec/spec.h"
#include "coordinator/stored/pass_rows.h"

struct external_runs {
    struct bundle bundle; /* of the external baseline */
    const char *names[BUNDLE_FILES_MAX];
    struct bytes contents[BUNDLE_FILES_MAX];
    const struct spec *spec; /* borrowed */
    char **command;          /* of the message made last */
    int64_t round;           /* of the pass; its blocks follow */
    struct external_schedule
        *external_schedule; /* a run's number is that of its order */
};

static const struct spec_external *external_of(const struct sweep *sweep)
{
    return &sweep->work.spec->external;
}

static int host_named(const struct sweep *sweep, const char *name)
{
    for (size_t i = 0; i < sweep->fleet.n; i++)
        if (strcmp(sweep->fleet.hosts[i].host->name, name) == 0)
            return (int)i;
    return -1;
}

struct past_failures {
    const struct sweep *sweep;
    struct external_schedule *schedule;
};

/* The command failed on this host earlier in the pass. */
static void had_failure(void *arg, const char *name)
{
    const struct past_failures *past = arg;
    int host = host_named(past->sweep, name);

    if (host >= 0)
        external_schedule_failed(past->schedule, host);
}

/* Read what earlier runs did in this pass. */
static int recall(struct sweep *sweep, struct external_runs *tools,
                  struct err *err)
{
    struct past_failures past = { sweep, tools->external_schedule };
    int64_t blocks, after = tools->round,
                    before = tools->round + CONFIRMATION_ROUNDS;
    int rc = pass_rows_external_blocks(sweep->mail.store, after, before,
                                       &blocks, err);

    if (rc < 0)
        return rc;
    external_schedule_had(tools->external_schedule, (int)blocks);
    return pass_rows_external_failures(sweep->mail.store, after, before,
                                       had_failure, &past, err);
}

int external_runs_begin(struct sweep *sweep, struct confirmation_pass *c,
                        struct err *err)
{
    const struct spec_external *external = external_of(sweep);
    struct external_runs *tools;
    int rc;

    if (!external->name || sweep->work.spec->replay)
        return 0; /* recorded times are from another day and another card */
    c->tools = tools = mem_new(1, sizeof(*tools));
    tools->spec = sweep->work.spec;
    tools->round = confirmation_round(c->is, 0);
    tools->external_schedule =
        external_schedule_new(&(struct external_schedule_design){
            .hosts = (int)sweep->fleet.n,
            .shapes = plan_shapes(sweep->work.plan),
            .blocks = external->blocks,
            .attempts = sweep->reactor.options->attempts });
    rc = bundle_files(sweep->work.spec, external->files, external->files_at,
                      external->n_files, &tools->bundle, err);
    return rc == 0 ? recall(sweep, tools, err) : rc;
}

void external_runs_free(struct external_runs *tools)
{
    if (!tools)
        return;
    if (tools->command)
        external_baseline_command_free(tools->spec, tools->command);
    bundle_fini(&tools->bundle);
    external_schedule_free(tools->external_schedule);
    free(tools);
}

/* ---- orders */

enum external_schedule_answer
external_runs_joins(struct confirmation_pass *c, int host, int round, int shape)
{
    if (!c->tools)
        return EXTERNAL_SCHEDULE_NO;
    return external_schedule_join(c->tools->external_schedule, round, host,
                                  shape);
}

enum external_schedule_answer
external_runs_ask(const struct confirmation_pass *c, int host, int shape)
{
    return external_schedule_ask(c->tools->external_schedule, host, shape);
}

void external_runs_order(struct sweep *sweep, struct confirmation_pass *c,
                         int host, int gpu, int shape, int round)
{
    const struct sched_order order = { .unit = 0, /* built for the block */
                                       .shape = shape,
                                       .host = host,
                                       .gpu = gpu,
                                       .purpose = SCHED_EXTERNAL,
                                       .pass = c->pass,
                                       .round = round };
    int64_t id = orders_place(sweep, &order);

    if (id) /* else the GPU is gone, and its block breaks */
        external_schedule_begin(c->tools->external_schedule, id, round, host,
                                shape);
}

bool external_runs_runs(const struct confirmation_pass *c, int round)
{
    return c->tools &&
           external_schedule_runs(c->tools->external_schedule, round);
}

/* Cancel the runs of one block or of one host that no worker has yet. */
static void cancel(struct sweep *sweep, struct external_runs *tools, int round,
                   int host)
{
    struct external_schedule *external_schedule = tools->external_schedule;
    int its_round, its_host;
    int64_t id;

    for (size_t i = 0; (id = external_schedule_at(external_schedule, i,
                                                  &its_round, &its_host));)
        if ((its_round == round || its_host == host) &&
            sched_order_cancel(sweep->work.sched, id))
            external_schedule_end(
                external_schedule, id,
                EXTERNAL_SCHEDULE_DROPPED); /* index 'i' is another run now */
        else
            i++;
}

void external_runs_complete(struct confirmation_pass *c, int round)
{
    if (c->tools)
        external_schedule_complete(c->tools->external_schedule, round);
}

void external_runs_broken(struct sweep *sweep, struct confirmation_pass *c,
                          int round)
{
    if (!c->tools)
        return;
    cancel(sweep, c->tools, round, -1);
    external_schedule_broken(c->tools->external_schedule, round);
}

bool external_runs_waits(const struct confirmation_pass *c)
{
    int round, host;

    return c->tools &&
           external_schedule_at(c->tools->external_schedule, 0, &round, &host);
}

int external_runs_waits_for(const struct confirmation_pass *c,
                            pass_wait_fn *tell, void *arg)
{
    int round, host, n = 0;
    int64_t id;

    while (c->tools && (id = external_schedule_at(c->tools->external_schedule,
                                                  (size_t)n, &round, &host))) {
        tell(arg, &(struct pass_wait){ .what = "a run of the external baseline",
                                       .end = PASS_WAIT_ORDER,
                                       .order = id });
        n++;
    }
    return n;
}

/* ---- leases */

static void put_bundle(struct external_runs *tools, struct msg_bundle *out)
{
    const struct bundle *bundle = &tools->bundle;

    for (size_t i = 0; i < bundle->n; i++) {
        tools->names[i] = bundle->files[i].name;
        tools->contents[i] =
            (struct bytes){ bundle->files[i].bytes, bundle->files[i].len };
    }
    out->hash = bundle->hash;
    out->names = (struct texts){ tools->names, bundle->n };
    out->contents = (struct blobs){ tools->contents, bundle->n };
}

bool external_runs_bundle(struct confirmation_pass *c, const char *hash,
                          struct msg_bundle *out)
{
    if (!c->tools || strcmp(c->tools->bundle.hash, hash) != 0)
        return false;
    put_bundle(c->tools, out);
    return true;
}

int external_runs_fill(struct sweep *sweep, struct confirmation_pass *c,
                       const struct sched_lease *lease, struct msg_tool *out,
                       char key[HASH_HEX], struct err *err)
{
    struct external_runs *tools = c->tools;
    const struct spec_external *external = external_of(sweep);

    (void)err;
    assert(tools);
    if (tools->command)
        external_baseline_command_free(sweep->work.spec, tools->command);
    tools->command = external_baseline_command(
        sweep->work.spec, plan_shape(sweep->work.plan, lease->shape));
    external_baseline_key(sweep->work.spec, tools->command, tools->bundle.hash,
                          key);
    out->command = (struct texts){ (const char *const *)tools->command,
                                   external->n_command };
    out->bundle = tools->bundle.n ? tools->bundle.hash : "";
    out->launch.artifact = out->launch.reference = out->launch.request = "";
    out->launch.limit_ms = (int64_t)(external->timeout_s * 1e3);
    return 0;
}

/* A run that ended with status 0 but printed no valid result gives no time. */
const char *external_runs_judge(const struct sweep *sweep, struct msg_ran *ran,
                                struct err *why)
{
    const char *name = external_of(sweep)->name;
    struct external_baseline_output output;

    if (outcome_is(ran->result.outcome, OUTCOME_RAN)) {
        if (external_baseline_read(ran->output, strlen(ran->output),
                                   ran->result.seconds, &output, why) == 0) {
            external_baseline_output_fini(&output);
        } else {
            ran->result.outcome = outcome_name(OUTCOME_GARBAGE);
            ran->result.detail = why->text;
        }
    }
    return name ? name : ran->work.id.purpose;
}

/* ---- results */

/* It would fail in the next block too. */
static void give_up_on(struct sweep *sweep, struct external_runs *tools,
                       int host, enum outcome outcome, const char *detail)
{
    external_schedule_failed(tools->external_schedule, host);
    progress_say(sweep->reactor.progress, "%s: '%s' has no time there: %s: %s",
                 sweep->fleet.hosts[host].host->name, external_of(sweep)->name,
                 outcome_name(outcome), detail);
    cancel(sweep, tools, -1, host);
}

void external_runs_lost(struct sweep *sweep, struct confirmation_pass *c,
                        int host, const char *reason)
{
    if (c->tools &&
        !external_schedule_is_off(c->tools->external_schedule, host) &&
        external_schedule_lost(c->tools->external_schedule, host))
        give_up_on(sweep, c->tools, host, OUTCOME_CRASH, reason);
}

/* Its block continues without it when it has no more tries. */
static bool dropped(struct external_runs *tools,
                    const struct sched_lease *lease)
{
    return !external_schedule_end(tools->external_schedule, lease->order,
                                  EXTERNAL_SCHEDULE_DROPPED) ||
           external_schedule_is_off(tools->external_schedule, lease->host);
}

bool external_runs_ended(struct sweep *sweep, struct confirmation_pass *c,
                         const struct sched_lease *lease,
                         const struct msg *result)
{
    struct external_runs *tools = c->tools;
    enum outcome outcome = OUTCOME_LOST;
    bool ran;

    if (!tools)
        return true;
    if (!result)
        return dropped(tools, lease);
    ran = outcome_read(msg_result(result)->outcome, &outcome) &&
          outcome == OUTCOME_RAN;
    if (lease->round <= tools->round ||
        lease->round >= tools->round + CONFIRMATION_ROUNDS)
        return true; /* of another confirmation */
    if (lease->order)
        external_schedule_end(tools->external_schedule, lease->order,
                              ran ? EXTERNAL_SCHEDULE_TIMED
                                  : EXTERNAL_SCHEDULE_FAILED);
    if (!ran)
        give_up_on(sweep, tools, lease->host, outcome,
                   msg_result(result)->detail);
    return true;
}
