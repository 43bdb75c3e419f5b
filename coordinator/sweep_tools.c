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
#include "coordinator/errands.h"
#include "coordinator/external_baseline.h"
#include "coordinator/ncu.h"
#include "coordinator/spec.h"
#include "coordinator/sql.h"

struct sweep_tools {
    struct bundle bundle; /* of the external baseline */
    const char *names[BUNDLE_FILES_MAX];
    struct bytes contents[BUNDLE_FILES_MAX];
    char **command;          /* of the message made last */
    int64_t round;           /* of the pass; its blocks follow */
    struct errands *errands; /* a run's number is that of its order */
};

static const struct spec_external *external_of(const struct sweep *sweep)
{
    return &sweep->spec->external;
}

static int host_named(const struct sweep *sweep, const char *name)
{
    for (size_t i = 0; i < sweep->n_boxes; i++)
        if (strcmp(sweep->boxes[i].host->name, name) == 0)
            return (int)i;
    return -1;
}

/* 'text' with the pass's rounds as ?1 and ?2 */
static int ask_of_pass(struct sweep *sweep, const char *text,
                       struct sqlite3_stmt **stmt, struct err *err)
{
    int64_t round = sweep->tools->round;
    int rc = sql_prepare(store_db(sweep->store), text, stmt, err);

    return rc < 0 ? rc
                  : sql_start(*stmt, err, "II", round, round + CONTEST_ROUNDS);
}

/* In how many blocks of the pass it had a time already. */
static int count_blocks(struct sweep *sweep, struct err *err)
{
    static const char text[] =
        "SELECT count(DISTINCT round) FROM tool WHERE purpose='external' AND"
        " counted=1 AND outcome='ran' AND round>?1 AND round<?2";
    struct sweep_tools *tools = sweep->tools;
    struct sqlite3_stmt *stmt = NULL;
    int rc = ask_of_pass(sweep, text, &stmt, err);

    if (rc == 0)
        rc = sql_step(stmt, err);
    if (rc == 1)
        errands_had(tools->errands, (int)sql_int(stmt, 0));
    sql_free(stmt);
    return rc < 0 ? rc : 0;
}

/* On which hosts it failed in the pass already. */
static int find_failures(struct sweep *sweep, struct err *err)
{
    static const char text[] =
        "SELECT DISTINCT host FROM tool WHERE purpose='external' AND"
        " counted=1 AND outcome<>'ran' AND round>?1 AND round<?2";
    struct sweep_tools *tools = sweep->tools;
    struct sqlite3_stmt *stmt = NULL;
    int rc = ask_of_pass(sweep, text, &stmt, err);

    while (rc >= 0 && (rc = sql_step(stmt, err)) == 1) {
        int host = host_named(sweep, sql_text(stmt, 0));

        if (host >= 0)
            errands_failed(tools->errands, host);
    }
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
    sweep->tools = tools = mem_new(1, sizeof(*tools));
    tools->round = contest_round(contest, 0);
    tools->errands = errands_new(
        &(struct errands_design){ .hosts = (int)sweep->n_boxes,
                                  .shapes = plan_shapes(sweep->plan),
                                  .blocks = external->blocks,
                                  .attempts = sweep->options->attempts });
    rc = bundle_files(sweep->spec, external->files, external->files_at,
                      external->n_files, &tools->bundle, err);
    if (rc == 0)
        rc = count_blocks(sweep, err);
    if (rc == 0)
        rc = find_failures(sweep, err);
    return rc;
}

void sweep_tools_free(struct sweep *sweep)
{
    struct sweep_tools *tools = sweep->tools;

    if (!tools)
        return;
    if (tools->command)
        external_command_free(sweep->spec, tools->command);
    bundle_fini(&tools->bundle);
    errands_free(tools->errands);
    free(tools);
}

/* ---- orders */

enum errands_answer sweep_external_joins(struct sweep *sweep, int host,
                                         int round, int shape)
{
    if (!sweep->tools)
        return ERRANDS_NO;
    return errands_join(sweep->tools->errands, round, host, shape);
}

enum errands_answer sweep_external_ask(const struct sweep *sweep, int host,
                                       int shape)
{
    return errands_ask(sweep->tools->errands, host, shape);
}

void sweep_external_order(struct sweep *sweep, int host, int gpu, int shape,
                          int round)
{
    const struct sched_order order = { .unit = 0, /* built for the block */
                                       .shape = shape,
                                       .host = host,
                                       .gpu = gpu,
                                       .purpose = SCHED_EXTERNAL,
                                       .round = round };
    int64_t id = sweep_order(sweep, &order);

    if (id) /* else the GPU has gone, and its block breaks */
        errands_begin(sweep->tools->errands, id, round, host, shape);
}

bool sweep_external_runs(const struct sweep *sweep, int round)
{
    return sweep->tools && errands_runs(sweep->tools->errands, round);
}

/* Those of one block, or of one host, that no worker has yet. */
static void cancel(struct sweep *sweep, int round, int host)
{
    struct errands *errands = sweep->tools->errands;
    int its_round, its_host;
    int64_t id;

    for (size_t i = 0; (id = errands_at(errands, i, &its_round, &its_host));)
        if ((its_round == round || its_host == host) &&
            sched_order_cancel(sweep->sched, id))
            errands_end(errands, id, ERRANDS_DROPPED); /* another is 'i' now */
        else
            i++;
}

void sweep_external_complete(struct sweep *sweep, int round)
{
    if (sweep->tools)
        errands_complete(sweep->tools->errands, round);
}

void sweep_external_broken(struct sweep *sweep, int round)
{
    if (!sweep->tools)
        return;
    cancel(sweep, round, -1);
    errands_broken(sweep->tools->errands, round);
}

bool sweep_tools_wait(const struct sweep *sweep)
{
    int round, host;

    return sweep->tools && errands_at(sweep->tools->errands, 0, &round, &host);
}

void sweep_tool_dropped(struct sweep *sweep, const struct sched_lease *lease)
{
    sweep_profile_ended(sweep, lease->order);
    /* Its block goes on without it when it has no more tries. */
    if (sweep->tools &&
        errands_end(sweep->tools->errands, lease->order, ERRANDS_DROPPED) &&
        !errands_is_off(sweep->tools->errands, lease->host))
        sweep_contest_broken(sweep, lease->round);
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
static void give_up_on(struct sweep *sweep, int host, const char *outcome,
                       const char *detail)
{
    errands_failed(sweep->tools->errands, host);
    progress_say(sweep->progress, "%s: '%s' has no time there: %s: %s",
                 sweep->boxes[host].host->name, external_of(sweep)->name,
                 outcome, detail);
    cancel(sweep, -1, host);
}

void sweep_external_lost(struct sweep *sweep, const struct sched_lease *lease,
                         const char *died, const char *reason)
{
    /* With its worker went the process of the block's measurements. */
    if (!died)
        sweep_contest_broken(sweep, lease->round);
    if (sweep->tools && !errands_is_off(sweep->tools->errands, lease->host) &&
        errands_lost(sweep->tools->errands, lease->host))
        give_up_on(sweep, lease->host, "crash", reason);
}

/* 'order' is 0 for one that an earlier run of the coordinator asked for. */
static void end_errand(struct sweep *sweep, const struct sched_lease *job,
                       const struct msg *msg)
{
    bool ran = strcmp(msg->outcome, "ran") == 0;
    struct sweep_tools *tools = sweep->tools;

    if (!tools || job->round <= tools->round ||
        job->round >= tools->round + CONTEST_ROUNDS)
        return;
    if (job->order)
        errands_end(tools->errands, job->order,
                    ran ? ERRANDS_TIMED : ERRANDS_FAILED);
    if (!ran)
        give_up_on(sweep, job->host, msg->outcome, msg->detail);
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
    if (job->purpose == SCHED_PROFILE)
        sweep_profile_ended(sweep, job->order);
    else
        end_errand(sweep, job, msg);
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
    else if (job.purpose == SCHED_EXTERNAL &&
             strcmp(msg->outcome, "crash") != 0)
        end_errand(sweep, &job, &judged);
    return 0;
}
