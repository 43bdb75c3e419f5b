/* agent_results.c - stores results in the journal, and sends them
 */
#include <errno.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/nonce.h"
#include "common/outcome.h"
#include "worker/agent/agent_internal.h"
#include "worker/store/journal_gather.h"
#include "worker/store/refusal.h"

static const struct msg_usage usage_unknown = { -1, -1, -1 };
static const struct msg_checked checked_unknown = { -1, -1 };

/* The database that is served, "" if none.  Its id is a secret, and the journal
 * is on disk: so a hash of it. */
static void hash_owner(const struct agent *agent, char out[HASH_HEX])
{
    out[0] = '\0';
    if (agent->link)
        hash_of(link_invite(agent->link)->owner.id, HASH_HEX - 1, out);
}

/* Room comes before new results: a full journal would end all work here. */
static void age_journal(struct agent *agent)
{
    char owner[HASH_HEX];
    size_t n;

    hash_owner(agent, owner);
    n = journal_age(agent->journal, owner, clock_utc_ns());
    if (n > 0)
        log_line(LOG_W, "JOURNAL-AGED", "records=%zu", n);
}

void agent_gather_results(struct agent *agent)
{
    struct journal_gathered found;
    char owner[HASH_HEX];

    hash_owner(agent, owner);
    found = journal_gather(agent->instance, agent->journal, owner);
    if (found.moved > 0)
        log_line(LOG_I, "RESULTS-GATHERED", "records=%zu", found.moved);
    if (found.damage.records == 0)
        return;
    log_line(LOG_E, "JOURNAL-DAMAGED", "records=%zu bytes=%zu",
             found.damage.records, found.damage.bytes);
    agent->lost =
        (agent->lost > 0 ? agent->lost : 0) + (int64_t)found.damage.records;
}

static int store(struct agent *agent, const struct msg *result, struct err *err)
{
    struct journal_record record = { .utc_ns = clock_utc_ns() };
    struct buf bytes;
    int rc;

    buf_init(&bytes, MSG_BYTES_MAX);
    rc = msg_encode(result, &bytes, err);
    if (rc == 0) {
        record.message = bytes.bytes;
        record.len = bytes.len;
        hash_owner(agent, record.owner);
        age_journal(agent);
        rc = journal_add(agent->journal, &record, err);
    }
    buf_fini(&bytes);
    return rc;
}

/* If a result is too large for a message, this is sent instead: the lease ends,
 * and the user can read why. */
static int store_unfit(struct agent *agent, const struct msg *result,
                       struct err *err)
{
    char detail[sizeof(err->text) + 64];
    struct msg crash = { .type = result->type, .epoch = result->epoch };

    if (result->type == MSG_MEASURED)
        crash.measured =
            (struct msg_measured){ .gpu = result->measured.gpu,
                                   .relative_l2 = NAN,
                                   .max_error = NAN,
                                   .max_at = -1,
                                   .checked = checked_unknown,
                                   .usage = usage_unknown,
                                   .sampling =
                                       wire_sampling_name(WIRE_SAMPLING_NONE),
                                   .l2 = l2_mode_name(L2_MODE_NONE) };
    else if (result->type == MSG_BUILT)
        crash.built.usage = usage_unknown;
    else if (result->type == MSG_RAN)
        crash.ran = (struct msg_ran){ .gpu = result->ran.gpu, .status = -1 };
    *msg_work_of(&crash) = *msg_work(result);
    *msg_result_of(&crash) =
        (struct msg_result){ .nonce = msg_result(result)->nonce,
                             .outcome = outcome_name(OUTCOME_CRASH),
                             .detail = detail };
    log_line(LOG_E, "RESULT-UNFIT", "lease=%lld %s",
             (long long)msg_work(result)->lease, err->text);
    snprintf(detail, sizeof(detail),
             "the worker could not encode its result: %s", err->text);
    return store(agent, &crash, err);
}

static void refuse_unstored(struct agent *agent, const struct lease *lease,
                            const struct err *why)
{
    char text[sizeof(why->text) + 128];

    snprintf(text, sizeof(text), "its result could not be stored: %s",
             why->text);
    agent_refuse(agent, &lease->msg, text);
}

void agent_deliver(struct agent *agent, struct lease *lease, struct msg *result,
                   int64_t now_ns)
{
    char nonce[HASH_HEX];
    struct err err;
    int rc;

    nonce_draw(clock_utc_ns(), nonce);
    result->epoch = lease->msg.epoch;
    *msg_work_of(result) = *msg_work(&lease->msg);
    msg_result_of(result)->nonce = nonce;
    rc = store(agent, result, &err);
    if (rc == ERR_INPUT)
        rc = store_unfit(agent, result, &err);
    if (rc < 0)
        refuse_unstored(agent, lease, &err);
    msg_result_of(result)->nonce = NULL; /* it dies with this function */
    queue_remove(agent->queue, lease);
    agent_offer_results(agent, now_ns, false);
}

static char *cut(const char *text, size_t most)
{
    size_t len = strlen(text);

    return mem_dup(text, len < most ? len : most);
}

static void deliver_build(struct agent *agent, struct lease *lease,
                          const struct build_result *made, int64_t now_ns)
{
    bool built = made->outcome == OUTCOME_BUILT;
    char *detail = cut(made->detail, MSG_DETAIL_MAX);
    char *log = cut(made->log, MSG_LOG_MAX);
    struct msg msg = {
        .type = MSG_BUILT,
        .built = { .result = { .outcome = outcome_name(made->outcome),
                               .detail = detail,
                               .seconds = made->seconds,
                               .blame = made->unfit ? MSG_BLAME_SWEEP : "" },
                   .log = log,
                   .cached = made->cached,
                   .usage = usage_unknown }
    };

    if (built) {
        msg.built.artifact = made->made.artifact;
        msg.built.artifact_bytes = made->made.bytes;
        msg.built.usage =
            (struct msg_usage){ .registers = made->made.registers,
                                .spill_bytes = made->made.spill_bytes,
                                .static_smem = made->made.static_smem };
    }
    agent_deliver(agent, lease, &msg, now_ns);
    free(detail);
    free(log);
}

static struct msg_checked checked_of(const struct wire_checked *wire)
{
    return wire->launches < 0
               ? checked_unknown
               : (struct msg_checked){ wire->launches, wire->varied };
}

static void deliver_measurement(struct agent *agent, struct lease *lease,
                                const struct gpu_result *result, int64_t now_ns)
{
    const struct wire_result *wire = &result->wire;
    double clock[WIRE_STATES_MAX], temp[WIRE_STATES_MAX];
    double power[WIRE_STATES_MAX], throttle[WIRE_STATES_MAX];
    char l2[32];
    struct msg msg = {
        .type = MSG_MEASURED,
        .measured = { .result = { .outcome = outcome_name(result->outcome),
                                  .detail = result->detail,
                                  .seconds = result->seconds,
                                  .blame = result->reference
                                               ? MSG_BLAME_REFERENCE
                                               : "" },
                      .gpu = lease->msg.measure.launch.gpu,
                      .artifact = lease->msg.measure.launch.artifact,
                      .argument = wire->argument,
                      .relative_l2 = wire->relative_l2,
                      .max_error = wire->max_error,
                      .max_at = wire->max_at,
                      .samples = { wire->samples, wire->n_samples },
                      .sampling = wire_sampling_name(wire->sampling),
                      .rejected = { wire->rejected, wire->n_rejected },
                      .l2 = l2,
                      .checked = checked_of(&wire->checked),
                      .blocked = wire->blocked,
                      .clock_mhz = { clock, wire->n_states },
                      .temp_c = { temp, wire->n_states },
                      .power_w = { power, wire->n_states },
                      .throttle = { throttle, wire->n_states },
                      .held_s = isfinite(wire->held_s) ? wire->held_s : 0,
                      .usage = { .registers = wire->usage.regs,
                                 .spill_bytes = wire->usage.local_bytes,
                                 .static_smem = wire->usage.static_smem } }
    };

    snprintf(l2, sizeof(l2), wire->copies > 0 ? "%s %u" : "%s",
             l2_mode_name(wire->l2), wire->copies);
    for (size_t i = 0; i < wire->n_states; i++) {
        clock[i] = wire->states[i].clock_mhz;
        temp[i] = wire->states[i].temp_c;
        power[i] = wire->states[i].power_w;
        throttle[i] = (double)wire->states[i].throttle;
    }
    agent_deliver(agent, lease, &msg, now_ns);
}

static bool says(const struct build_result *made, const char *text)
{
    return strstr(made->detail, text) || (made->log && strstr(made->log, text));
}

/* The system refused a file of the work folder, or that is gone: no result. */
static bool is_refusal(const char *detail)
{
    static const int numbers[] = { ENOSPC, EDQUOT, EIO,     EROFS,  EMFILE,
                                   ENFILE, ENOENT, ENOTDIR, EACCES, ESTALE };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (strstr(detail, strerror(numbers[i])))
            return true;
    return false;
}

/* If a file could not be written, the compiler's error is not about the source.
 * True with what to do about it.  A full disk may have room again, but this
 * process keeps its limits. */
static bool write_trouble(struct agent *agent, const struct build_result *made,
                          struct err *out)
{
    static const char limit[] =
        "the compiler may not write a file that large: raise 'ulimit -f' for "
        "logins there, or in /etc/security/limits.conf";

    if (made->outcome == OUTCOME_BUILT)
        return false;
    if (made->outcome == OUTCOME_CRASH && is_refusal(made->detail)) {
        err_set(out, ERR_SYSTEM, "%s", made->detail);
        if (!strstr(made->detail, agent->instance->home)) /* "../tmp" */
            (void)err_within(out, ERR_SYSTEM, "'%s'", agent->instance->dir);
        return true;
    }
    if (refusal_is_full(agent->instance->dir, made->detail, out) ||
        (made->log && refusal_is_full(agent->instance->dir, made->log, out)))
        return true;
    if (!says(made, strerror(EFBIG)) && !says(made, strsignal(SIGXFSZ)))
        return false;
    resources_fail(agent->bench, "limits", limit);
    err_set(out, ERR_SYSTEM, "%s", limit);
    return true;
}

static void collect_builds(struct agent *agent, int64_t now_ns)
{
    struct slots *slots = resources_slots(agent->bench);
    struct build_result result;
    int64_t number;

    while (slots_next_started(slots, &number))
        continue; /* results are added only when a slot is free */
    while (slots_next_result(slots, &number, &result)) {
        struct lease *lease = queue_numbered(agent->queue, number);
        struct err trouble;
        bool refused = write_trouble(agent, &result, &trouble);

        if (lease && refused) {
            agent_refuse(agent, &lease->msg, trouble.text);
            queue_remove(agent->queue, lease);
        } else if (lease) {
            deliver_build(agent, lease, &result, now_ns);
        }
        build_result_fini(&result);
    }
}

static void collect_measurements(struct agent *agent, int64_t now_ns)
{
    struct gpu_result result;

    for (size_t i = 0; i < resources_n_gpus(agent->bench); i++)
        while (gpu_next_result(resources_gpu(agent->bench, i), &result)) {
            struct lease *lease = queue_numbered(agent->queue, result.lease);

            if (lease)
                deliver_measurement(agent, lease, &result, now_ns);
        }
}

void agent_collect_results(struct agent *agent, int64_t now_ns)
{
    collect_builds(agent, now_ns);
    collect_measurements(agent, now_ns);
}

void agent_offer_results(struct agent *agent, int64_t now_ns, bool all)
{
    struct journal_entry *entries;
    struct err err;
    size_t n;

    if (now_ns >= agent->due.resend_ns &&
        journal_probe(agent->journal, &err) < 0)
        log_line(LOG_E, "JOURNAL-STUCK", "%s", err.text);
    agent->due.resend_ns = now_ns + AGENT_RESEND_NS;
    if (!agent->link || !agent->connection.welcomed)
        return;
    entries = journal_entries(agent->journal, &n);
    for (size_t i = 0; i < n; i++) {
        struct journal_entry *entry = &entries[i];

        if (!all && entry->sent_ns > 0 &&
            now_ns - entry->sent_ns < AGENT_RESEND_NS)
            continue;
        if (link_send_bytes(agent->link, entry->record.message,
                            entry->record.len, &err) < 0)
            return; /* it will be sent again soon */
        entry->sent_ns = now_ns;
    }
    age_journal(agent);
}
