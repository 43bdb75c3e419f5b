#include "tests/coordinator/reactor/reactor_fixture.h"

#include <fcntl.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/hash.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "coordinator/artifacts/artifacts.h"
#include "coordinator/reactor/dispatch.h"
#include "coordinator/reactor/host_events.h"
#include "coordinator/reactor/inbox.h"
#include "coordinator/reactor/prepare.h"
#include "coordinator/schedule/incumbents.h"
#include "coordinator/schedule/ledger.h"
#include "coordinator/space/space.h"
#include "coordinator/spec/gpu_arch.h"
#include "coordinator/spec/spec.h"
#include "coordinator/sql/sql.h"
#include "coordinator/state/records.h"
#include "coordinator/store/store.h"
#include "tests/coordinator/store/blank_db.h"

#define FOLDER FA_SOURCE_DIR "/kernels/vector_add"

void rig_open_bare(struct rig *rig, size_t n)
{
    static const struct pass_ops *const none[] = { NULL };
    struct sweep *sweep = &rig->sweep;
    struct err err = { "" };
    char path[64];

    *rig = (struct rig){ .now_ns = RIG_START_NS,
                         .hosts = { rig->list, n },
                         .options = { .device = "cpu",
                                      .arch = "sm_89",
                                      .command = "sweep",
                                      .hosts_file = "",
                                      .passes = none,
                                      .stay.linger_s = SWEEP_LINGER_S,
                                      .attempts = 2,
                                      .watch.quiet = true } };
    for (size_t i = 0; i < n; i++)
        snprintf(rig->list[i].name, sizeof(rig->list[i].name), "%c",
                 (char)('a' + (char)i));
    snprintf(rig->folder, sizeof(rig->folder), "/tmp/fa_reactor_XXXXXX");
    assert_int_equal(hash_setup(&err), 0);
    assert_non_null(mkdtemp(rig->folder));
    snprintf(path, sizeof(path), "%s/sweep.db", rig->folder);
    if (blank_db(path, &err) < 0 ||
        store_open(path, STORE_WRITE, &sweep->mail.store, &err) < 0 ||
        spec_load(FOLDER "/sweep.json", &sweep->work.spec, &err) < 0)
        fail_msg("%s", err.text);
}

void rig_run(struct rig *rig, int64_t epoch)
{
    const struct store_run run = { .epoch = epoch,
                                   .pid = 1,
                                   .machine = "here",
                                   .version = "1",
                                   .command = "sweep" };
    struct err err = { "" };

    if (store_run_start(rig->sweep.mail.store, &run, &err) < 0)
        fail_msg("%s", err.text);
}

/* Leases are of hosts that have a row; READY puts it, in a run. */
static void put_hosts(struct rig *rig)
{
    struct err err = { "" };

    for (size_t i = 0; i < rig->hosts.n; i++) {
        struct store_host row = { .name = rig->list[i].name,
                                  .position = (int64_t)i,
                                  .rate_usd_per_h = (double)NAN };

        if (store_host_put(rig->sweep.mail.store, &row, &err) < 0)
            fail_msg("%s", err.text);
    }
}

void rig_begin(struct rig *rig)
{
    struct sweep *sweep = &rig->sweep;
    struct err err = { "" };
    size_t n = rig->hosts.n;

    sweep->reactor = (struct reactor){ .options = &rig->options,
                                       .io = rig_io(rig),
                                       .progress = progress_new(true),
                                       .epoch = RIG_EPOCH,
                                       .started_ns = RIG_START_NS };
    sweep->fleet =
        (struct fleet){ .list = &rig->hosts,
                        .n = n,
                        .hosts = mem_new(n, sizeof(struct host_state)),
                        .usable_ns = RIG_START_NS };
    sweep->fleet.ledger = ledger_new((int)n, records_put_interval, sweep);
    ledger_keep_held(sweep->fleet.ledger, records_put_held);
    for (size_t i = 0; i < n; i++)
        sweep->fleet.hosts[i].host = &rig->list[i];
    rig_run(rig, RIG_EPOCH);
    put_hosts(rig);
    if (prepare_begin(sweep, false, &err) < 0)
        fail_msg("%s", err.text);
}

void rig_open(struct rig *rig, size_t n)
{
    rig_open_bare(rig, n);
    rig_begin(rig);
}

void rig_close(struct rig *rig)
{
    static const char *const ends[] = { "", "-wal", "-shm", ".lock" };
    struct sweep *sweep = &rig->sweep;
    char path[64];

    (void)rig_heard(rig);
    if (sweep->fleet.hosts) {
        for (size_t i = 0; i < sweep->fleet.n; i++)
            host_state_forget_running(&sweep->fleet.hosts[i]);
        sched_free(sweep->work.sched);
        incumbents_free(sweep->work.incumbents);
        tried_fini(&sweep->work.count.tried);
        plan_free(sweep->work.plan);
        space_close(sweep->work.space);
        ledger_free(sweep->fleet.ledger);
        progress_free(sweep->reactor.progress);
        artifacts_free(sweep);
        inbox_forget_kept(sweep);
        free(sweep->fleet.hosts);
        free(sweep->work.artifacts);
        free(sweep->work.vanished);
        free(sweep->work.issued);
        free(sweep->work.left.list);
    }
    spec_free(sweep->work.spec);
    store_close(sweep->mail.store);
    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        snprintf(path, sizeof(path), "%s/sweep.db%s", rig->folder, ends[i]);
        (void)unlink(path); /* not every test makes every file */
    }
    assert_int_equal(rmdir(rig->folder), 0);
}

struct msg rig_hello(int64_t pid)
{
    return (struct msg){ .type = MSG_HELLO,
                         .hello = { .protocol = MSG_PROTOCOL,
                                    .pid = pid,
                                    .cpus = 4,
                                    .boot_id = "b007",
                                    .host = "machine",
                                    .version = "1" } };
}

struct msg rig_gpu(const char *uuid)
{
    static char text[GPU_ARCH_FACTS][64];
    static const char *lines[GPU_ARCH_FACTS];
    const struct gpu_arch_facts *facts = gpu_arch_find("sm_89");

    for (size_t i = 0; i < GPU_ARCH_FACTS; i++) {
        snprintf(text[i], sizeof(text[i]), "%s %lld", gpu_arch_fact_name(i),
                 (long long)gpu_arch_fact(facts, i));
        lines[i] = text[i];
    }
    return (struct msg){ .type = MSG_GPU,
                         .gpu = { .uuid = uuid,
                                  .name = "NVIDIA L4",
                                  .driver = "1",
                                  .facts = { lines, GPU_ARCH_FACTS } } };
}

struct msg rig_is_ready(void)
{
    return (struct msg){
        .type = MSG_READY,
        .ready = { .slots = 1, .measure_credit = 1, .toolkit = "g++ 12.2.0" }
    };
}

void rig_listen(struct rig *rig)
{
    char path[64];

    snprintf(path, sizeof(path), "%s/heard", rig->folder);
    rig->heard = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    assert_true(rig->heard > 0);
    (void)unlink(path);
    fflush(stderr);
    rig->stderr_before = dup(STDERR_FILENO);
    assert_int_equal(dup2(rig->heard, STDERR_FILENO), STDERR_FILENO);
    log_setup(stderr, LOG_D);
}

const char *rig_heard(struct rig *rig)
{
    ssize_t n;

    if (rig->heard) {
        log_setup(NULL, LOG_E);
        fflush(stderr);
        (void)dup2(rig->stderr_before, STDERR_FILENO);
        close(rig->stderr_before);
        n = pread(rig->heard, rig->text, sizeof(rig->text) - 1, 0);
        assert_true(n >= 0);
        rig->text[n] = '\0';
        close(rig->heard);
        rig->heard = 0;
    }
    return rig->text;
}

void rig_ready(struct rig *rig, size_t host, int slots, int gpus)
{
    struct host_state *state = &rig->sweep.fleet.hosts[host];

    state->state = HOST_STATE_READY;
    state->was_ready = state->conn.attached = true;
    state->conn.heard_ns = rig->now_ns;
    state->n_gpus = gpus;
    state->worker.slots = slots;
    state->worker.credit = 1;
    snprintf(state->worker.toolkit, sizeof(state->worker.toolkit),
             "g++ 12.2.0");
    for (int i = 0; i < gpus; i++)
        snprintf(state->gpus[i].uuid, sizeof(state->gpus[i].uuid), "GPU-%zu-%d",
                 host, i);
    host_events_up(&rig->sweep, host);
}

int rig_take(struct rig *rig, size_t host, struct msg msg)
{
    struct err err = { "" };

    msg.epoch = RIG_EPOCH;
    return inbox_take(&rig->sweep, host, &msg, &err);
}

size_t rig_dispatch(struct rig *rig)
{
    size_t before = rig_count(rig, MSG_BUILD) + rig_count(rig, MSG_MEASURE);

    dispatch_ask(&rig->sweep);
    dispatch_leases(&rig->sweep);
    return rig_count(rig, MSG_BUILD) + rig_count(rig, MSG_MEASURE) - before;
}

void rig_lease(struct rig *rig, size_t host, enum job_stage stage, int unit)
{
    struct sched_lease lease;

    assert_true(sched_adopt(rig->sweep.work.sched, stage, unit, 0, (int)host, 0,
                            &lease));
    dispatch_granted(&rig->sweep, &lease);
}

const struct rig_sent *rig_first(const struct rig *rig, enum msg_type type)
{
    for (size_t i = 0; i < rig->n_sent; i++)
        if (rig->sent[i].type == type)
            return &rig->sent[i];
    fail_msg("no %s was sent", msg_type_name(type));
    return NULL;
}

const struct rig_sent *rig_last(const struct rig *rig, enum msg_type type)
{
    for (size_t i = rig->n_sent; i > 0; i--)
        if (rig->sent[i - 1].type == type)
            return &rig->sent[i - 1];
    fail_msg("no %s was sent", msg_type_name(type));
    return NULL;
}

size_t rig_count(const struct rig *rig, enum msg_type type)
{
    size_t n = 0;

    for (size_t i = 0; i < rig->n_sent; i++)
        n += rig->sent[i].type == type;
    return n;
}

/* Of a build, what only its result has. */
static struct msg_built built_of(const char *outcome, const char *artifact)
{
    return (struct msg_built){
        .artifact = outcome_is(outcome, OUTCOME_BUILT) ? artifact : "",
        .log = "",
    };
}

static struct msg_measured measured_of(const struct rig_sent *sent,
                                       const char *outcome,
                                       const double *samples)
{
    bool correct = outcome_is(outcome, OUTCOME_CORRECT);

    return (struct msg_measured){
        .gpu = sent->gpu,
        .artifact = sent->artifact,
        .argument = "",
        .l2 = "none",
        .sampling = correct ? "fixed" : "none",
        .samples = { samples, correct ? RIG_SAMPLES : 0 },
        .checked = { correct ? RIG_SAMPLES : 0, 0 },
        .held_s = RIG_HELD_S,
    };
}

void rig_result_of(const struct rig_sent *sent, const char *outcome,
                   double median_s, struct rig_result *out)
{
    bool build = sent->type == MSG_BUILD;

    snprintf(out->nonce, HASH_HEX, "%032llx", (unsigned long long)sent->lease);
    snprintf(out->artifact, HASH_HEX, "a%031llx",
             (unsigned long long)sent->lease);
    for (int i = 0; i < RIG_SAMPLES; i++)
        out->samples[i] = median_s;
    out->msg = (struct msg){ .type = build ? MSG_BUILT : MSG_MEASURED,
                             .epoch = RIG_EPOCH };
    if (build)
        out->msg.built = built_of(outcome, out->artifact);
    else
        out->msg.measured = measured_of(sent, outcome, out->samples);
    *msg_work_of(&out->msg) = (struct msg_work){
        .lease = sent->lease,
        .id = { .sweep = "vector_add",
                .config = sent->config,
                .shape = sent->shape,
                .purpose = sent->purpose,
                .stage = build ? "build" : "measure",
                .attempt = sent->attempt },
        .key = sent->key,
    };
    *msg_result_of(&out->msg) = (struct msg_result){ .nonce = out->nonce,
                                                     .outcome = outcome,
                                                     .detail = "why" };
}

int rig_built(struct rig *rig, const struct rig_sent *sent, const char *outcome)
{
    struct rig_result result;

    rig_result_of(sent, outcome, 0, &result);
    return rig_take(rig, sent->host, result.msg);
}

int rig_measured(struct rig *rig, const struct rig_sent *sent,
                 const char *outcome, double median_s)
{
    struct rig_result result;

    rig_result_of(sent, outcome, median_s, &result);
    return rig_take(rig, sent->host, result.msg);
}

void rig_build_two(struct rig *rig)
{
    struct rig_sent reference, first;

    assert_int_equal(rig_dispatch(rig), 2);
    reference = rig->sent[rig->n_sent - 2];
    first = rig->sent[rig->n_sent - 1];
    assert_string_equal(reference.purpose, "reference");
    assert_int_equal(rig_built(rig, &reference, "built"), 0);
    assert_int_equal(rig_built(rig, &first, "built"), 0);
}

int64_t rig_number(struct rig *rig, const char *sql)
{
    struct err err = { "" };
    int64_t number = -1;

    if (sql_number(store_db(rig->sweep.mail.store), sql, &number, &err, "") < 0)
        fail_msg("%s", err.text);
    return number;
}

int64_t rig_rows(struct rig *rig, const char *table_and_where)
{
    char *sql = mem_printf("SELECT count(*) FROM %s", table_and_where);
    int64_t rows = rig_number(rig, sql);

    free(sql);
    return rows;
}

void rig_come(struct rig *rig, size_t host, int64_t pid,
              const char *const *running, size_t n)
{
    struct msg hello = rig_hello(pid);
    char uuid[16];

    hello.hello.running = (struct texts){ running, n };
    snprintf(uuid, sizeof(uuid), "GPU-%zu", host);
    assert_int_equal(rig_take(rig, host, hello), 0);
    assert_int_equal(rig_take(rig, host, rig_gpu(uuid)), 0);
    assert_int_equal(rig_take(rig, host, rig_is_ready()), 0);
}

struct msg rig_owned(const struct msg *msg)
{
    struct msg owned = { 0 };
    struct buf bytes;
    struct err err;

    buf_init(&bytes, MSG_BYTES_MAX);
    if (msg_encode(msg, &bytes, &err) < 0 ||
        msg_decode(bytes.bytes, bytes.len, &owned, &err) < 0)
        fail_msg("%s", err.text);
    buf_fini(&bytes);
    return owned;
}

void rig_open_held(struct rig *rig, size_t n)
{
    rig_open(rig, n);
    progress_free(rig->sweep.reactor.progress);
    rig->sweep.reactor.progress = progress_new(false);
    for (size_t i = 0; i < n; i++)
        ledger_hold(rig->sweep.fleet.ledger, (int)i, RIG_START_NS);
    rig_listen(rig);
}

void rig_news(struct rig *rig, enum host_threads_event event, int code,
              const char *text)
{
    struct host_thread_news news = { .host = 0, .event = event, .code = code };

    snprintf(news.text, sizeof(news.text), "%s", text);
    host_events_news(&rig->sweep, &news);
}
