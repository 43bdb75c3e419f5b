/* Commands on workers: the external baselines of a sweep file in the blocks of
 * a confirmation.  Only workers run them, never the coordinator. */
#include "coordinator/passes/external_runs.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/device_kind.h"
#include "common/mem.h"
#include "common/msg.h"
#include "common/outcome.h"
#include "coordinator/confirm/look_plan.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/passes/confirmation_internal.h"
#include "coordinator/plan/external_baseline.h"
#include "coordinator/reactor/orders.h"
#include "coordinator/spec/bundle.h"
#include "coordinator/spec/spec.h"
#include "coordinator/stored/pass_rows.h"

/* One external baseline. */
struct external_run {
    const struct spec_external *is; /* borrowed from the spec */
    struct bundle bundle;
    char (*keys)[HASH_HEX]; /* of its results, [shapes] */
    struct external_schedule
        *schedule; /* a run's number is that of its order */
};

struct external_runs {
    struct external_run list[SPEC_EXTERNALS_MAX];
    size_t n;
    int64_t round; /* of the pass; its blocks follow */
    /* of the messages made last */
    const char *names[BUNDLE_FILES_MAX];
    struct bytes contents[BUNDLE_FILES_MAX];
    const struct external_run *commanded;
    char **command, *ask;
};

/* ---- which one ---- */

/* That has this order, or NULL. */
static struct external_run *with_order(struct external_runs *tools,
                                       int64_t order)
{
    int round, host;
    int64_t id;

    for (size_t k = 0; k < tools->n; k++)
        for (size_t i = 0; (id = external_schedule_at(tools->list[k].schedule,
                                                      i, &round, &host));
             i++)
            if (id == order)
                return &tools->list[k];
    return NULL;
}

/* Whose result has this key at some shape, or NULL. */
static struct external_run *with_key(const struct sweep *sweep,
                                     struct external_runs *tools,
                                     const char *key)
{
    for (size_t k = 0; k < tools->n; k++)
        for (int i = 0; i < plan_shapes(sweep->work.plan); i++)
            if (strcmp(tools->list[k].keys[i], key) == 0)
                return &tools->list[k];
    return NULL;
}

static int host_named(const struct sweep *sweep, const char *name)
{
    for (size_t i = 0; i < sweep->fleet.n; i++)
        if (strcmp(sweep->fleet.hosts[i].host->name, name) == 0)
            return (int)i;
    return -1;
}

/* ---- begin ---- */

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
static int recall(struct sweep *sweep, struct external_run *run, int64_t round,
                  struct err *err)
{
    struct past_failures past = { sweep, run->schedule };
    const struct pass_rows_externals which = {
        .name = run->is->name,
        .after = round,
        .before = round + CONFIRMATION_ROUNDS,
    };
    int64_t blocks;
    int rc = pass_rows_external_blocks(sweep->mail.store, &which, &blocks, err);

    if (rc < 0)
        return rc;
    external_schedule_had(run->schedule, (int)blocks);
    return pass_rows_external_failures(sweep->mail.store, &which, had_failure,
                                       &past, err);
}

static void make_keys(const struct sweep *sweep, struct external_run *run)
{
    int n = plan_shapes(sweep->work.plan);

    run->keys = mem_new((size_t)n, sizeof(*run->keys));
    for (int i = 0; i < n; i++) {
        char **command = external_baseline_command(
            sweep->work.spec, run->is, plan_shape(sweep->work.plan, i));
        char *ask = external_baseline_ask(sweep->work.spec, run->is,
                                          plan_shape(sweep->work.plan, i));

        external_baseline_key(run->is, command, ask, run->bundle.hash,
                              run->keys[i]);
        external_baseline_command_free(run->is, command);
        free(ask);
    }
}

/* Emulated times are not compared, so no number of blocks is too few. */
static int blocks_of(const struct sweep *sweep, const struct confirmation *is,
                     const struct spec_external *external)
{
    bool emulated =
        device_kind_is(sweep->reactor.options->device, DEVICE_KIND_CPU);
    size_t needed =
        emulated ? 1 : verdict_blocks_needed(is->n_running, &is->rules);

    return external_schedule_blocks(
        external->blocks, needed, look_plan_first(is),
        is->against && strcmp(is->against, external->name) == 0);
}

static int begin(struct sweep *sweep, const struct confirmation_pass *c,
                 struct external_run *run, struct err *err)
{
    int rc;

    run->schedule = external_schedule_new(&(struct external_schedule_design){
        .hosts = (int)sweep->fleet.n,
        .shapes = plan_shapes(sweep->work.plan),
        .blocks = blocks_of(sweep, c->is, run->is),
        .attempts = sweep->reactor.options->attempts });
    rc = bundle_files(sweep->work.spec, run->is->files, run->is->files_at,
                      run->is->n_files, &run->bundle, err);
    if (rc == 0)
        make_keys(sweep, run);
    return rc == 0 ? recall(sweep, run, c->tools->round, err) : rc;
}

int external_runs_begin(struct sweep *sweep, struct confirmation_pass *c,
                        struct err *err)
{
    const struct spec_externals *externals = &sweep->work.spec->externals;
    int rc = 0;

    if (externals->n == 0 || sweep->work.spec->replay)
        return 0; /* recorded times are from another day and another card */
    c->tools = mem_new(1, sizeof(*c->tools));
    c->tools->round = confirmation_round(c->is, 0);
    for (size_t i = 0; rc == 0 && i < externals->n; i++) {
        struct external_run *run = &c->tools->list[c->tools->n++];

        run->is = &externals->list[i];
        rc = begin(sweep, c, run, err);
    }
    return rc;
}

void external_runs_free(struct external_runs *tools)
{
    if (!tools)
        return;
    if (tools->commanded)
        external_baseline_command_free(tools->commanded->is, tools->command);
    free(tools->ask);
    for (size_t i = 0; i < tools->n; i++) {
        bundle_fini(&tools->list[i].bundle);
        external_schedule_free(tools->list[i].schedule);
        free(tools->list[i].keys);
    }
    free(tools);
}

/* ---- orders */

size_t external_runs_count(const struct confirmation_pass *c)
{
    return c->tools ? c->tools->n : 0;
}

enum external_schedule_answer external_runs_joins(struct confirmation_pass *c,
                                                  size_t which, int host,
                                                  int round, int shape)
{
    return external_schedule_join(c->tools->list[which].schedule, round, host,
                                  shape);
}

enum external_schedule_answer
external_runs_ask(const struct confirmation_pass *c, size_t which, int host,
                  int shape)
{
    return external_schedule_ask(c->tools->list[which].schedule, host, shape);
}

void external_runs_order(struct sweep *sweep, struct confirmation_pass *c,
                         size_t which, const struct card *card, int shape)
{
    int round = (int)confirmation_round(c->is, card->block);
    const struct sched_order order = { .unit = 0, /* built for the block */
                                       .shape = shape,
                                       .host = card->host,
                                       .gpu = card->gpu,
                                       .purpose = SCHED_EXTERNAL,
                                       .pass = c->pass,
                                       .round = round };
    int64_t id = orders_place(sweep, &order);

    if (id) /* else the GPU is gone, and its block breaks */
        external_schedule_begin(c->tools->list[which].schedule, id, round,
                                card->host, shape);
}

bool external_runs_runs(const struct confirmation_pass *c, int round)
{
    for (size_t i = 0; i < external_runs_count(c); i++)
        if (external_schedule_runs(c->tools->list[i].schedule, round))
            return true;
    return false;
}

/* Cancel the runs of one block or of one host that no worker has yet. */
static void cancel(struct sweep *sweep, struct external_schedule *schedule,
                   int round, int host)
{
    int its_round, its_host;
    int64_t id;

    for (size_t i = 0;
         (id = external_schedule_at(schedule, i, &its_round, &its_host));)
        if ((its_round == round || its_host == host) &&
            sched_order_cancel(sweep->work.sched, id))
            external_schedule_end(
                schedule, id,
                EXTERNAL_SCHEDULE_DROPPED); /* index 'i' is another run now */
        else
            i++;
}

void external_runs_complete(struct confirmation_pass *c, int round)
{
    for (size_t i = 0; i < external_runs_count(c); i++)
        external_schedule_complete(c->tools->list[i].schedule, round);
}

void external_runs_broken(struct sweep *sweep, struct confirmation_pass *c,
                          int round)
{
    for (size_t i = 0; i < external_runs_count(c); i++) {
        cancel(sweep, c->tools->list[i].schedule, round, -1);
        external_schedule_broken(c->tools->list[i].schedule, round);
    }
}

bool external_runs_waits(const struct confirmation_pass *c)
{
    int round, host;

    for (size_t i = 0; i < external_runs_count(c); i++)
        if (external_schedule_at(c->tools->list[i].schedule, 0, &round, &host))
            return true;
    return false;
}

int external_runs_waits_for(const struct confirmation_pass *c,
                            pass_wait_fn *tell, void *arg)
{
    int round, host, n = 0;
    int64_t id;

    for (size_t k = 0; k < external_runs_count(c); k++)
        for (size_t i = 0; (id = external_schedule_at(
                                c->tools->list[k].schedule, i, &round, &host));
             i++, n++)
            tell(arg,
                 &(struct pass_wait){ .what = "a run of an external baseline",
                                      .end = PASS_WAIT_ORDER,
                                      .order = id });
    return n;
}

/* ---- leases */

static void put_bundle(struct external_runs *tools, const struct bundle *bundle,
                       struct msg_bundle *out)
{
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
    for (size_t i = 0; i < external_runs_count(c); i++) {
        const struct bundle *bundle = &c->tools->list[i].bundle;

        if (strcmp(bundle->hash, hash) != 0)
            continue;
        put_bundle(c->tools, bundle, out);
        return true;
    }
    return false;
}

int external_runs_fill(struct sweep *sweep, struct confirmation_pass *c,
                       const struct sched_lease *lease, struct msg_tool *out,
                       char key[HASH_HEX], struct err *err)
{
    struct external_runs *tools = c->tools;
    const struct external_run *run = with_order(tools, lease->order);

    (void)err;
    assert(run);
    if (tools->commanded)
        external_baseline_command_free(tools->commanded->is, tools->command);
    tools->commanded = run;
    tools->command = external_baseline_command(
        sweep->work.spec, run->is, plan_shape(sweep->work.plan, lease->shape));
    free(tools->ask);
    tools->ask = external_baseline_ask(
        sweep->work.spec, run->is, plan_shape(sweep->work.plan, lease->shape));
    memcpy(key, run->keys[lease->shape], HASH_HEX);
    out->command = (struct texts){ (const char *const *)tools->command,
                                   run->is->n_command };
    out->ask = tools->ask ? tools->ask : "";
    out->bundle = run->bundle.n ? run->bundle.hash : "";
    out->launch.artifact = out->launch.reference = out->launch.request = "";
    out->launch.limit_ms = (int64_t)(run->is->timeout_s * 1e3);
    return 0;
}

/* A run that ended with status 0 but printed no valid result gives no time. */
const char *external_runs_judge(const struct sweep *sweep,
                                const struct confirmation_pass *c,
                                struct msg_ran *ran, struct err *why)
{
    const struct external_run *run =
        c->tools ? with_key(sweep, c->tools, ran->work.key) : NULL;
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
    return run ? run->is->name : ran->work.id.purpose;
}

/* ---- results */

/* It would fail in the next block too. */
static void give_up_on(struct sweep *sweep, struct external_run *run, int host,
                       enum outcome outcome, const char *detail)
{
    external_schedule_failed(run->schedule, host);
    progress_say(sweep->reactor.progress, "%s: '%s' has no time there: %s: %s",
                 sweep->fleet.hosts[host].host->name, run->is->name,
                 outcome_name(outcome), detail);
    cancel(sweep, run->schedule, -1, host);
}

void external_runs_lost(struct sweep *sweep, struct confirmation_pass *c,
                        const struct sched_lease *lease, const char *reason)
{
    struct external_run *run =
        c->tools ? with_order(c->tools, lease->order) : NULL;

    if (run && !external_schedule_is_off(run->schedule, lease->host) &&
        external_schedule_lost(run->schedule, lease->host))
        give_up_on(sweep, run, lease->host, OUTCOME_CRASH, reason);
}

/* Its block continues without it when it has no more tries. */
static bool dropped(struct external_run *run, const struct sched_lease *lease)
{
    return !external_schedule_end(run->schedule, lease->order,
                                  EXTERNAL_SCHEDULE_DROPPED) ||
           external_schedule_is_off(run->schedule, lease->host);
}

bool external_runs_ended(struct sweep *sweep, struct confirmation_pass *c,
                         const struct sched_lease *lease,
                         const struct msg *result)
{
    struct external_runs *tools = c->tools;
    enum outcome outcome = OUTCOME_LOST;
    struct external_run *run;
    bool ran;

    if (!tools)
        return true;
    run = lease->order ? with_order(tools, lease->order)
                       : with_key(sweep, tools, msg_work(result)->key);
    if (!run)
        return true; /* cancelled before, or of another sweep file */
    if (!result)
        return dropped(run, lease);
    ran = outcome_read(msg_result(result)->outcome, &outcome) &&
          outcome == OUTCOME_RAN;
    if (lease->round <= tools->round ||
        lease->round >= tools->round + CONFIRMATION_ROUNDS)
        return true; /* of another confirmation */
    if (lease->order)
        external_schedule_end(run->schedule, lease->order,
                              ran ? EXTERNAL_SCHEDULE_TIMED
                                  : EXTERNAL_SCHEDULE_FAILED);
    if (!ran)
        give_up_on(sweep, run, lease->host, outcome,
                   msg_result(result)->detail);
    return true;
}
