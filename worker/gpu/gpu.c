#include "worker/gpu/gpu.h"

#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/device_kind.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "worker/gpu/gpu_hold.h"
#include "worker/gpu/gpu_runner.h"
#include "worker/gpu/gpu_spares.h"
#include "worker/gpu/request.h"
#include "worker/gpu/runner_session.h"
#include "worker/store/runner_dir.h"

#define AGAIN_NS (1 * NS_PER_S)        /* between attempts to open it again */
#define LOCK_AGAIN_NS (50 * NS_PER_MS) /* likewise, to lock it */
/* So long a GPU has nothing to do: longer than between the measurements of a
 * block. */
#define SPARE_AFTER_NS (30 * NS_PER_MS)

enum {
    OPEN_TRIES = 3
};

/* State of the runner; gpu_state follows from it. */
enum phase {
    OPENING,
    TAKING_OVER, /* open; the one before has not ended yet */
    LOCKING,     /* open; another worker, which may be ending, has it */
    READY,
    ENDING, /* killed, not yet gone */
    PAUSED, /* waits until again_at_ns */
    LOST    /* failed for good; 'trouble' says why */
};

struct gpu {
    struct gpu_runner runner;
    char *home;
    bool facts_only; /* the runner is fa-facts */
    enum phase phase;
    struct runner_session *session; /* NULL when PAUSED and LOST */
    struct runner_session *retired; /* the one before, until it has ended */
    bool session_facts;             /* 'session' is one of fa-facts ... */
    bool retired_facts;             /* ... and this is 'retired' */
    bool was_spare;                 /* and this is 'session' */
    bool alone;                     /* no two processes can have it open */
    struct gpu_spares *spares;      /* of fa-runner, never of fa-facts */
    int tries;                      /* attempts to open it since a success */
    int64_t again_at_ns, spare_at_ns;
    size_t n_measured; /* measurements of this process */
    char trouble[WIRE_TEXT_MAX + 64];

    struct gpu_hold hold;
    struct wire_fact facts[WIRE_FACTS_MAX];
    size_t n_facts;

    bool has_job, has_result;
    bool waits, wants_fresh; /* the job: for a spare; a fresh runner */
    int64_t limit_ns, started_ns;
    struct wire_request request;
    struct gpu_result result; /* of the current job, then of the last one */
};

static int start_runner(struct gpu *gpu, int64_t now_ns, struct err *err)
{
    int rc = gpu_runner_open(&gpu->runner, now_ns, &gpu->session, err);

    if (rc < 0)
        return rc;
    gpu->session_facts = gpu->facts_only;
    gpu->phase = OPENING;
    gpu->n_measured = 0;
    gpu->was_spare = false;
    return 0;
}

int gpu_open(const struct gpu_spec *spec, int64_t now_ns, struct gpu **out,
             struct err *err)
{
    struct gpu *gpu = mem_new(1, sizeof(*gpu));
    int rc;

    snprintf(gpu->runner.device, sizeof(gpu->runner.device), "%s",
             spec->device);
    snprintf(gpu->runner.gpu, sizeof(gpu->runner.gpu), "%s", spec->gpu);
    gpu->runner.program = mem_strdup(spec->runner);
    gpu->facts_only = spec->facts_only;
    gpu->home = mem_strdup(spec->home ? spec->home : spec->dir);
    gpu->runner.sandbox = spec->sandbox;
    gpu_hold_init(&gpu->hold);
    gpu->spares = gpu_spares_new(spec->spares);
    rc = runner_dir_open(spec->dir, &gpu->runner.folder, err);
    if (rc == 0)
        rc = start_runner(gpu, now_ns, err);
    if (rc < 0) {
        gpu_close(gpu);
        return rc;
    }
    *out = gpu;
    return 0;
}

void gpu_close(struct gpu *gpu)
{
    if (!gpu)
        return;
    runner_session_free(gpu->session);
    runner_session_free(gpu->retired);
    gpu_spares_free(gpu->spares);
    gpu_hold_release(&gpu->hold);
    runner_dir_close(&gpu->runner.folder);
    free(gpu->runner.program);
    free(gpu->home);
    free(gpu);
}

size_t gpu_poll(const struct gpu *gpu, struct pollfd *fds, size_t max)
{
    size_t n = 0;

    if (gpu->session)
        n = runner_session_poll(gpu->session, fds, max);
    if (gpu->retired)
        n += runner_session_poll(gpu->retired, fds + n, max - n);
    return n + gpu_spares_poll(gpu->spares, fds + n, max - n);
}

static int64_t session_deadline_ns(const struct runner_session *session)
{
    return session ? runner_session_deadline_ns(session) : INT64_MAX;
}

static bool may_tend_spares(const struct gpu *gpu)
{
    return gpu->phase == READY && !gpu->has_job && !gpu->session_facts &&
           !gpu->alone && gpu_spares_wants(gpu->spares);
}

int64_t gpu_deadline_ns(const struct gpu *gpu)
{
    int64_t retired_ns = session_deadline_ns(gpu->retired);
    int64_t spares_ns = may_tend_spares(gpu)
                            ? gpu->spare_at_ns
                            : gpu_spares_deadline_ns(gpu->spares);
    int64_t ns = gpu->phase == PAUSED || gpu->phase == LOCKING
                     ? gpu->again_at_ns
                     : session_deadline_ns(gpu->session);

    ns = ns < retired_ns ? ns : retired_ns;
    return ns < spares_ns ? ns : spares_ns;
}

static void finish_job(struct gpu *gpu, enum outcome outcome,
                       const char *detail, int64_t now_ns)
{
    gpu->result.outcome = outcome;
    snprintf(gpu->result.detail, sizeof(gpu->result.detail), "%s", detail);
    gpu->result.seconds = (double)(now_ns - gpu->started_ns) / 1e9;
    gpu->has_job = false;
    gpu->has_result = true;
}

/* This worker cannot use the GPU any more. */
static void lose(struct gpu *gpu, const char *why, int64_t now_ns)
{
    snprintf(gpu->trouble, sizeof(gpu->trouble), "%s", why);
    gpu->phase = LOST;
    if (gpu->has_job)
        finish_job(gpu, OUTCOME_CRASH, why, now_ns);
}

static void replace(struct gpu *gpu, int64_t now_ns)
{
    runner_session_kill(gpu->session, now_ns);
    gpu->phase = ENDING;
}

static void forget_wire(struct gpu *gpu)
{
    memset(&gpu->result.wire, 0, sizeof(gpu->result.wire));
    gpu->result.wire.relative_l2 = gpu->result.wire.max_error = NAN;
    gpu->result.wire.max_at = -1;
    gpu->result.wire.usage = (struct wire_usage){ -1, -1, -1 };
    gpu->result.wire.checked.launches = -1;
}

static void send_job(struct gpu *gpu, int64_t now_ns)
{
    forget_wire(gpu);
    runner_session_ask(gpu->session, &gpu->request, gpu->limit_ns, now_ns);
}

/* An earlier kernel of this process may have caused the failure, or it died
 * while it was a spare. */
static bool may_be_inherited(const struct gpu *gpu)
{
    return (gpu->n_measured > 0 || gpu->was_spare) && !gpu->result.repeated;
}

static void settle_reply(struct gpu *gpu, const struct wire_result *wire,
                         int64_t now_ns)
{
    bool failed = wire->outcome != OUTCOME_CORRECT &&
                  wire->outcome != OUTCOME_CONSTRAINTS;

    /* or the spares had the memory that it lacked */
    if (failed &&
        (may_be_inherited(gpu) || (wire->outcome == OUTCOME_CRASH &&
                                   gpu_spares_drop(gpu->spares, now_ns)))) {
        gpu->result.repeated = true;
        replace(gpu, now_ns);
        return;
    }
    gpu->n_measured++;
    gpu->result.wire = *wire;
    finish_job(gpu, wire->outcome, wire->detail, now_ns);
    if (wire->poisoned)
        replace(gpu, now_ns);
}

/* Every configuration would meet it. */
static void settle_reference(struct gpu *gpu, const char *why, int64_t now_ns)
{
    if (may_be_inherited(gpu)) {
        gpu->result.repeated = true;
        return;
    }
    gpu->result.reference = true;
    finish_job(gpu, OUTCOME_CRASH, why, now_ns);
}

static void settle_death(struct gpu *gpu, const struct runner_session_end *end,
                         int64_t now_ns)
{
    char limit[64];
    const char *why;

    if (may_be_inherited(gpu)) {
        gpu->result.repeated = true;
        return;
    }
    snprintf(limit, sizeof(limit), "no answer within %g s",
             (double)gpu->limit_ns / 1e9);
    why = end->cause == RUNNER_SESSION_LIMIT ? limit : end->text;
    if (end->in_reference && gpu_runner_outcome(end) != OUTCOME_CRASH) {
        char text[sizeof(end->text) + 16];

        snprintf(text, sizeof(text), "reference: %s", why);
        settle_reference(gpu, text, now_ns);
        return;
    }
    finish_job(gpu, gpu_runner_outcome(end), why, now_ns);
}

static void start_again(struct gpu *gpu, int64_t now_ns)
{
    struct err err;

    if (start_runner(gpu, now_ns, &err) < 0)
        lose(gpu, err.text, now_ns);
}

static void take_over(struct gpu *gpu, int64_t now_ns)
{
    runner_session_kill(gpu->retired, now_ns);
    gpu->phase = TAKING_OVER;
}

static void ready(struct gpu *gpu, int64_t now_ns);

/* With a spare, this process stays until the GPU has nothing to do.  Without,
 * the next one opens the GPU before this one ends: a driver that no process
 * uses is unloaded, and to load it again takes longer than to open the GPU.
 * Nothing is measured until this one has ended. */
static void renew(struct gpu *gpu, int64_t now_ns)
{
    struct runner_session *spare;

    if (gpu->alone) {
        replace(gpu, now_ns);
        return;
    }
    spare = gpu->session_facts ? NULL : gpu_spares_take(gpu->spares, now_ns);
    if (spare) {
        gpu_spares_keep(gpu->spares, gpu->session);
        gpu->session = spare;
        gpu->n_measured = 0;
        gpu->was_spare = true;
        ready(gpu, now_ns);
        return;
    }
    gpu->retired = gpu->session;
    gpu->retired_facts = gpu->session_facts;
    gpu->session = NULL;
    start_again(gpu, now_ns);
}

static void ready(struct gpu *gpu, int64_t now_ns)
{
    gpu->phase = READY;
    if (gpu->session_facts && !gpu->facts_only)
        renew(gpu, now_ns);
    else if (gpu->has_job && !gpu->waits)
        send_job(gpu, now_ns);
}

/* It is open. */
static void lock(struct gpu *gpu, int64_t now_ns)
{
    struct err err;

    if (gpu_hold_take(&gpu->hold, gpu->runner.device, gpu->runner.gpu,
                      gpu->home, gpu_fact(gpu, "uuid"), now_ns, &err) < 0) {
        if (!gpu_hold_waits(&gpu->hold, now_ns)) {
            lose(gpu, err.text, now_ns);
            return;
        }
        gpu->phase = LOCKING;
        gpu->again_at_ns = now_ns + LOCK_AGAIN_NS;
        return;
    }
    gpu->tries = 0;
    if (gpu->retired)
        take_over(gpu, now_ns);
    else
        ready(gpu, now_ns);
}

static void opened(struct gpu *gpu, const struct wire_reply *reply,
                   int64_t now_ns)
{
    if (reply->kind != WIRE_OK) {
        /* they may be in the way */
        if (gpu->retired || gpu_spares_drop(gpu->spares, now_ns))
            replace(gpu, now_ns);
        else
            lose(gpu, reply->error, now_ns);
        return;
    }
    memcpy(gpu->facts, reply->facts, sizeof(gpu->facts));
    gpu->n_facts = reply->n_facts;
    lock(gpu, now_ns);
}

static void take_reply(struct gpu *gpu, int64_t now_ns)
{
    const struct wire_reply *reply = runner_session_reply(gpu->session);

    if (gpu->phase == OPENING) {
        opened(gpu, reply, now_ns);
    } else if (gpu->phase == READY && gpu->has_job) {
        if (reply->kind == WIRE_RESULT) {
            settle_reply(gpu, &reply->result, now_ns);
            return;
        }
        if (reply->kind == WIRE_REFERENCE)
            settle_reference(gpu, reply->error, now_ns);
        else if (gpu_spares_drop(gpu->spares, now_ns)) /* as above */
            gpu->result.repeated = true;
        else
            finish_job(gpu, OUTCOME_CRASH, reply->error, now_ns);
        replace(gpu, now_ns);
    }
}

/* Memory, or a compute mode, may be for one process only; or the spares have
 * the memory.  fa-facts is in nobody's way. */
static void try_alone(struct gpu *gpu, int64_t now_ns)
{
    gpu->alone = !gpu_spares_drop(gpu->spares, now_ns) && !gpu->retired_facts;
    runner_session_kill(gpu->retired, now_ns);
    gpu->phase = PAUSED;
    gpu->again_at_ns = now_ns + AGAIN_NS;
}

/* A GPU may need a moment after a fault, so retry opening it. */
static void died(struct gpu *gpu, int64_t now_ns)
{
    struct runner_session_end end;

    runner_session_end(gpu->session, &end);
    runner_session_free(gpu->session);
    gpu->session = NULL;
    if (gpu->retired) {
        try_alone(gpu, now_ns);
        return;
    }
    if (gpu->phase == OPENING && gpu_spares_drop(gpu->spares, now_ns))
        gpu->tries = 0;
    if (gpu->phase == OPENING && ++gpu->tries == OPEN_TRIES) {
        char why[sizeof(gpu->trouble)];

        snprintf(why, sizeof(why), "fa-runner cannot open the device: %s",
                 end.text);
        lose(gpu, why, now_ns);
        return;
    }
    if (gpu->phase == READY && gpu->has_job && !gpu->waits)
        settle_death(gpu, &end, now_ns);
    if (gpu->phase == OPENING) {
        gpu->phase = PAUSED;
        gpu->again_at_ns = now_ns + AGAIN_NS;
    } else {
        start_again(gpu, now_ns);
    }
}

static void quarantine_stuck(struct gpu *gpu, int64_t now_ns)
{
    lose(gpu,
         "quarantined: SIGKILL does not end its process, which hangs in "
         "the driver; reset the GPU or restart the machine",
         now_ns);
}

static void step_retired(struct gpu *gpu, int64_t now_ns)
{
    if (gpu->phase == LOST)
        runner_session_kill(gpu->retired, now_ns);
    switch (runner_session_step(gpu->retired, now_ns)) {
    case RUNNER_SESSION_NOTHING:
    case RUNNER_SESSION_REPLY:
        return;
    case RUNNER_SESSION_STUCK:
        quarantine_stuck(gpu, now_ns);
        return;
    case RUNNER_SESSION_DEAD:
        break;
    }
    runner_session_free(gpu->retired);
    gpu->retired = NULL;
    if (gpu->phase == TAKING_OVER)
        ready(gpu, now_ns);
}

static void begin_job(struct gpu *gpu, int64_t now_ns)
{
    if (gpu->wants_fresh && gpu->n_measured > 0)
        renew(gpu, now_ns); /* the job is sent when the new runner is ready */
    else
        send_job(gpu, now_ns);
}

static void tend_spares(struct gpu *gpu, int64_t now_ns)
{
    struct runner_session *session;
    struct err err;

    if (gpu_spares_end_kept(gpu->spares, now_ns))
        return;
    if (gpu_runner_open(&gpu->runner, now_ns, &session, &err) < 0) {
        (void)gpu_spares_drop(gpu->spares, now_ns);
        return;
    }
    gpu_spares_add(gpu->spares, session);
}

static void step_spares(struct gpu *gpu, int64_t now_ns)
{
    if (!gpu_spares_step(gpu->spares, now_ns))
        quarantine_stuck(gpu, now_ns);
    if (gpu->phase == READY && gpu->waits && !gpu_spares_busy(gpu->spares)) {
        gpu->waits = false;
        begin_job(gpu, now_ns);
    }
    if (!may_tend_spares(gpu))
        gpu->spare_at_ns = now_ns + SPARE_AFTER_NS;
    else if (now_ns >= gpu->spare_at_ns)
        tend_spares(gpu, now_ns);
}

enum gpu_state gpu_step(struct gpu *gpu, int64_t now_ns)
{
    step_spares(gpu, now_ns);
    if (gpu->retired)
        step_retired(gpu, now_ns);
    if (gpu->phase == PAUSED && now_ns >= gpu->again_at_ns)
        start_again(gpu, now_ns);
    if (gpu->phase == LOCKING && now_ns >= gpu->again_at_ns)
        lock(gpu, now_ns);
    if (gpu->phase == LOST && gpu->session) {
        runner_session_kill(gpu->session, now_ns);
        if (runner_session_step(gpu->session, now_ns) == RUNNER_SESSION_DEAD) {
            runner_session_free(gpu->session);
            gpu->session = NULL;
        }
        return GPU_TROUBLE;
    }
    if (!gpu->session)
        return gpu_state(gpu);
    switch (runner_session_step(gpu->session, now_ns)) {
    case RUNNER_SESSION_NOTHING:
        break;
    case RUNNER_SESSION_REPLY:
        take_reply(gpu, now_ns);
        break;
    case RUNNER_SESSION_DEAD:
        died(gpu, now_ns);
        break;
    case RUNNER_SESSION_STUCK:
        quarantine_stuck(gpu, now_ns);
        break;
    }
    return gpu_state(gpu);
}

void gpu_use(struct gpu *gpu, const char *runner, int64_t now_ns)
{
    free(gpu->runner.program);
    gpu->runner.program = mem_strdup(runner);
    gpu->facts_only = false;
    if (gpu->phase == READY)
        ready(gpu, now_ns);
}

enum gpu_state gpu_state(const struct gpu *gpu)
{
    if (gpu->phase == LOST)
        return GPU_TROUBLE;
    if (gpu->has_job)
        return GPU_BUSY;
    if (gpu->phase != READY)
        return GPU_STARTING;
    return gpu->session_facts ? GPU_KNOWN : GPU_IDLE;
}

bool gpu_is_taken(const struct gpu *gpu)
{
    return gpu->hold.lock == ERR_DEVICE;
}

const char *gpu_index(const struct gpu *gpu)
{
    return gpu->hold.lock >= 0 ? gpu->runner.gpu : "";
}

const char *gpu_trouble(const struct gpu *gpu)
{
    return gpu->trouble;
}

const char *gpu_uuid(const struct gpu *gpu)
{
    return gpu->hold.uuid;
}

const char *gpu_fact(const struct gpu *gpu, const char *name)
{
    for (size_t i = 0; i < gpu->n_facts; i++)
        if (strcmp(gpu->facts[i].name, name) == 0)
            return gpu->facts[i].value;
    return "";
}

const struct wire_fact *gpu_facts(const struct gpu *gpu, size_t *n)
{
    *n = gpu->n_facts;
    return gpu->facts;
}

int gpu_measure(struct gpu *gpu, const struct gpu_job *job, int64_t now_ns,
                struct err *err)
{
    int rc;

    if (gpu_state(gpu) != GPU_IDLE)
        return err_set(err, ERR_INPUT, "GPU %s is not idle", gpu->hold.uuid);
    rc = request_place(job, &gpu->runner.folder, &gpu->request, err);
    if (rc < 0)
        return rc;
    memset(&gpu->result, 0, sizeof(gpu->result));
    gpu->result.lease = job->lease;
    gpu->limit_ns = job->limit_ns > 0 ? job->limit_ns : GPU_LIMIT_NS;
    gpu->started_ns = now_ns;
    gpu->has_job = true;
    gpu->wants_fresh = job->fresh;
    gpu->waits = gpu_spares_busy(gpu->spares);
    if (!gpu->waits)
        begin_job(gpu, now_ns);
    return 0;
}

void gpu_cancel(struct gpu *gpu, int64_t now_ns)
{
    if (!gpu->has_job)
        return;
    gpu->has_job = false;
    if (gpu->phase == READY && !gpu->waits)
        replace(gpu, now_ns);
    gpu->waits = false;
}

void gpu_quarantine(struct gpu *gpu, const char *why, int64_t now_ns)
{
    lose(gpu, why, now_ns);
}

bool gpu_next_result(struct gpu *gpu, struct gpu_result *out)
{
    if (!gpu->has_result)
        return false;
    *out = gpu->result;
    gpu->has_result = false;
    return true;
}
