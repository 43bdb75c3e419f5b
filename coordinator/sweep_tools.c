/* Commands on workers: a sweep file's external baseline in the blocks of a
 * contest.  None of them ever runs on this machine but by a worker. */
#include "coordinator/sweep_state.h"

#include <assert.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "coordinator/bundle.h"
#include "coordinator/contest.h"
#include "coordinator/external_baseline.h"
#include "coordinator/ncu.h"
#include "coordinator/spec.h"
#include "coordinator/sql.h"

/* A run that was ordered and is not over. */
struct errand {
    int64_t order;
    int host, round;
};

struct sweep_tools {
    struct bundle bundle; /* of the external baseline */
    const char *names[BUNDLE_FILES_MAX];
    struct bytes contents[BUNDLE_FILES_MAX];
    char **command; /* of the message made last */
    int blocks;     /* it takes part in, or did */
    bool *off;      /* hosts on which it does not run */
    struct errand *errands;
    size_t n;
};

static const struct spec_external *external_of(const struct sweep *sweep)
{
    return &sweep->spec->external;
}

/* In how many blocks of the contest it had a time already. */
static int count_blocks(struct sweep *sweep, const struct contest *contest,
                        int *out, struct err *err)
{
    static const char text[] =
        "SELECT count(DISTINCT round) FROM tool WHERE purpose='external' AND"
        " counted=1 AND outcome='ran' AND round>?1 AND round<?2";
    int64_t first = contest_round(contest, 0);
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(store_db(sweep->store), text, &stmt, err);

    if (rc == 0)
        rc = sql_start(stmt, err, "II", first, first + CONTEST_ROUNDS);
    if (rc == 0)
        rc = sql_step(stmt, err);
    if (rc == 1)
        *out = (int)sql_int(stmt, 0);
    sql_free(stmt);
    return rc < 0 ? rc : 0;
}

int sweep_tools_begin(struct sweep *sweep, const struct contest *contest,
                      struct err *err)
{
    const struct spec_external *external = external_of(sweep);
    struct sweep_tools *tools;
    int rc;

    if (!external->name || sweep->spec->replay)
        return 0; /* a recorded time is of another day and another card */
    tools = mem_new(1, sizeof(*tools));
    rc = bundle_files(sweep->spec, external->files, external->files_at,
                      external->n_files, &tools->bundle, err);
    if (rc == 0)
        rc = count_blocks(sweep, contest, &tools->blocks, err);
    if (rc < 0) {
        bundle_fini(&tools->bundle);
        free(tools);
        return rc;
    }
    tools->off = mem_new(sweep->n_boxes, sizeof(*tools->off));
    sweep->tools = tools;
    return 0;
}

void sweep_tools_free(struct sweep *sweep)
{
    struct sweep_tools *tools = sweep->tools;

    if (!tools)
        return;
    if (tools->command)
        external_command_free(sweep->spec, tools->command);
    bundle_fini(&tools->bundle);
    free(tools->off);
    free(tools->errands);
    free(tools);
}

/* ---- orders */

bool sweep_external_joins(struct sweep *sweep, int host)
{
    struct sweep_tools *tools = sweep->tools;

    if (!tools || tools->off[host] ||
        tools->blocks >= external_of(sweep)->blocks)
        return false;
    tools->blocks++;
    return true;
}

void sweep_external_order(struct sweep *sweep, int host, int gpu, int shape,
                          int round)
{
    struct sweep_tools *tools = sweep->tools;
    const struct sched_order order = { .unit = 0, /* built for the block */
                                       .shape = shape,
                                       .host = host,
                                       .gpu = gpu,
                                       .purpose = SCHED_EXTERNAL,
                                       .round = round };
    int64_t id = sweep_order(sweep, &order);

    if (!id)
        return; /* the GPU has gone, and its block breaks */
    tools->errands =
        mem_grow(tools->errands, tools->n + 1, sizeof(*tools->errands));
    tools->errands[tools->n++] = (struct errand){ id, host, round };
}

static void forget(struct sweep_tools *tools, int64_t order)
{
    for (size_t i = 0; i < tools->n; i++)
        if (tools->errands[i].order == order) {
            tools->errands[i] = tools->errands[--tools->n];
            return;
        }
}

void sweep_external_broken(struct sweep *sweep, int round)
{
    struct sweep_tools *tools = sweep->tools;
    bool was = false;

    for (size_t i = tools ? tools->n : 0; i-- > 0;)
        if (tools->errands[i].round == round) {
            was = true;
            if (sched_order_cancel(sweep->sched, tools->errands[i].order))
                forget(tools, tools->errands[i].order);
        }
    if (was)
        tools->blocks--;
}

bool sweep_tools_wait(const struct sweep *sweep)
{
    return sweep->tools && sweep->tools->n > 0;
}

void sweep_tool_dropped(struct sweep *sweep, const struct sched_lease *lease)
{
    sweep_profile_ended(sweep, lease->order);
    if (sweep->tools)
        forget(sweep->tools, lease->order);
}

/* ---- leases */

static void put_bundle(struct sweep_tools *tools, struct msg *msg)
{
    const struct bundle *bundle = &tools->bundle;

    for (size_t i = 0; i < bundle->n; i++) {
        tools->names[i] = bundle->files[i].name;
        tools->contents[i] =
            (struct bytes){ bundle->files[i].bytes, bundle->files[i].len };
    }
    msg->hash = bundle->hash;
    msg->names = (struct texts){ tools->names, bundle->n };
    msg->contents = (struct blobs){ tools->contents, bundle->n };
}

bool sweep_tool_bundle(struct sweep *sweep, const char *hash, struct msg *msg)
{
    if (!sweep->tools || strcmp(sweep->tools->bundle.hash, hash) != 0)
        return false;
    put_bundle(sweep->tools, msg);
    return true;
}

int sweep_tool_fill(struct sweep *sweep, const struct sched_lease *lease,
                    struct msg *msg, char key[HASH_HEX], struct err *err)
{
    struct sweep_tools *tools = sweep->tools;
    const struct spec_external *external = external_of(sweep);

    if (lease->purpose == SCHED_PROFILE)
        return sweep_profile_fill(sweep, lease, msg, key, err);
    assert(tools);
    if (tools->command)
        external_command_free(sweep->spec, tools->command);
    tools->command =
        external_command(sweep->spec, plan_shape(sweep->plan, lease->shape));
    external_key(sweep->spec, tools->command, tools->bundle.hash, key);
    msg->command = (struct texts){ (const char *const *)tools->command,
                                   external->n_command };
    msg->bundle = tools->bundle.n ? tools->bundle.hash : "";
    msg->artifact = msg->reference = msg->request = "";
    msg->limit_ms = (int64_t)(external->timeout_s * 1e3);
    return 0;
}

const char *sweep_tool_name(const struct sweep *sweep, const char *purpose)
{
    const char *name = external_of(sweep)->name;

    if (strcmp(purpose, "profile") == 0)
        return "ncu";
    return name ? name : purpose;
}

/* ---- results */

static int read_external(const struct msg *msg, struct err *err)
{
    struct external_output output;
    int rc = external_read(msg->output, strlen(msg->output), msg->seconds,
                           &output, err);

    if (rc == 0)
        external_output_fini(&output);
    return rc;
}

static int read_profile(const struct msg *msg, struct err *err)
{
    struct ncu_profile *profile = mem_new(1, sizeof(*profile));
    int rc = ncu_read(msg->output, msg->log, profile, err);

    free(profile);
    return rc;
}

/* A run that ended well and printed what is no result has told nothing; of a
 * profiler that failed, what it printed knows why. */
static void judge(struct msg *msg, struct err *why)
{
    bool profile = strcmp(msg->id.purpose, "profile") == 0;
    bool ran = strcmp(msg->outcome, "ran") == 0;
    int rc;

    if (!ran && !(profile && strcmp(msg->outcome, "failed") == 0))
        return;
    rc = profile ? read_profile(msg, why) : read_external(msg, why);
    if (rc == 0)
        return;
    if (ran)
        msg->outcome = "garbage";
    msg->detail = why->text;
}

/* It will not do better in the next block. */
static void give_up_on(struct sweep *sweep, int host, const struct msg *msg)
{
    struct sweep_tools *tools = sweep->tools;

    if (!tools || tools->off[host])
        return;
    tools->off[host] = true;
    progress_say(sweep->progress, "%s: '%s' has no time there: %s: %s",
                 sweep->boxes[host].host->name, external_of(sweep)->name,
                 msg->outcome, msg->detail);
    for (size_t i = tools->n; i-- > 0;)
        if (tools->errands[i].host == host &&
            sched_order_cancel(sweep->sched, tools->errands[i].order))
            forget(tools, tools->errands[i].order);
}

static void settle_order(struct sweep *sweep, const struct sched_lease *job,
                         const struct msg *msg)
{
    bool ran = strcmp(msg->outcome, "ran") == 0;
    const struct sched_lease *held =
        sched_order_lease(sweep->sched, job->order);
    struct sched_lease lease;

    if (held) {
        lease = *held;
        if (strcmp(msg->outcome, "crash") == 0) {
            sweep_crashed(sweep, &lease, msg);
            return;
        }
        sweep_end_lease(sweep, &lease, "done",
                        ran ? LEDGER_MEASURING : LEDGER_FAILED);
    }
    if (!sched_order_apply(sweep->sched, job->order,
                           ran ? JOB_EV_RESULT : JOB_EV_REJECT))
        return;
    if (job->purpose == SCHED_PROFILE) {
        sweep_profile_ended(sweep, job->order);
        return;
    }
    if (sweep->tools)
        forget(sweep->tools, job->order);
    if (!ran)
        give_up_on(sweep, job->host, msg);
}

int sweep_ran(struct sweep *sweep, size_t host, const struct msg *msg,
              struct err *err)
{
    struct sched_lease job = { .unit = -1 };
    struct msg judged = *msg;
    struct err why = { "" };
    int rc = sweep_resolve(sweep, host, msg, &job, err);

    if (rc != 0)
        return rc < 0 ? rc : 0;
    judge(&judged, &why);
    rc = sweep_put_tool(sweep, host, &judged,
                        strcmp(msg->outcome, "crash") == 0);
    if (rc < 0)
        return 0; /* the sweep is ending, for the store's reason */
    sweep_acknowledge(sweep, host, msg->nonce);
    sweep->boxes[host].refusals = 0;
    if (job.order)
        settle_order(sweep, &job, &judged);
    return 0;
}
