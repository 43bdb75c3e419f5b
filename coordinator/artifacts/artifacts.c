/* How artifacts travel: from the host that built one, through the coordinator,
 * to the hosts that will measure it.
 *
 * A request ends with the last chunk, with MISSING, or when its host is lost.
 * If no chunk comes, or if they come too slowly, the builder is asked again. If
 * it never answers, or its bytes do not match the hash, the artifact is built
 * again.
 *
 * With a cache (kept_artifacts.h), the coordinator keeps a copy of what it
 * fetched, and fetches the rest of what was built, one at a time from each
 * host.  Then nobody is asked for it again, and if the host that built it is
 * gone, nobody builds it again.
 *
 * What is sent to a host waits in memory until the host reads it, so a host
 * gets files for its leases only, and only a few times for each. */
#include "coordinator/artifacts/artifacts.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/log.h"
#include "common/mem.h"
#include "common/msg.h"
#include "coordinator/cache/artifact_cache.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/plan/plan_msg.h"
#include "coordinator/schedule/arrivals.h"
#include "coordinator/spec/spec.h"
#include "coordinator/artifacts/kept_artifacts.h"
#include "coordinator/state/leases.h"
#include "coordinator/state/outbox.h"
#include "coordinator/state/reactor.h"

#define FETCH_AGAIN_NS (10 * NS_PER_S) /* without a chunk */
#define FETCHES_MAX 3                  /* of one artifact from one host */
#define FETCH_BYTES_PER_S 32768        /* at least */
#define VANISHED_MAX 5                 /* artifacts of one unit */
/* A worker repeats a WANT every 10 s, and its link may be slow. */
#define WANTS_MAX 8 /* for one lease, without windows of inputs */

enum wish {
    WISH_NONE,
    WISH_CHUNKS, /* each as it comes */
    WISH_REST,   /* the first ones have passed: all of it when it is here */
};

struct fetch {
    char hash[HASH_HEX];
    int from;          /* the host that was asked, -1 for none yet */
    int tries;         /* times it was asked */
    int64_t asked_ns;  /* the last time */
    int64_t moved_ns;  /* it was asked, or a chunk came */
    enum wish *wishes; /* [hosts] */
    bool keeps;        /* it is for the cache, also if no host wants it */
    char *bytes;       /* for the cache; NULL: none, or too many */
    int answers;       /* that began to come */
    struct hash *sum;  /* of the chunks of the last one so far */
    int64_t summed;    /* bytes */
    int64_t total;     /* as it says */
};

/* Several units may be the same binary: one that a host has, if there is one.
 */
static int unit_of_artifact(const struct sweep *sweep, const char *hash)
{
    int found = -1;

    for (int unit = 0; unit <= plan_units(sweep->work.plan); unit++) {
        if (strcmp(sweep->work.artifacts[unit], hash) != 0)
            continue;
        if (sched_home(sweep->work.sched, unit) >= 0)
            return unit;
        found = found < 0 ? unit : found;
    }
    return found;
}

static void tell_missing(struct sweep *sweep, size_t host, const char *hash)
{
    struct msg msg = { .type = MSG_MISSING, .missing.hash = hash };

    outbox_send(sweep, host, &msg);
}

static void want_bundle(struct sweep *sweep, size_t host, const char *hash)
{
    const int units[] = { 0, plan_units(sweep->work.plan) };
    struct msg tool = { .type = MSG_BUNDLE };

    for (size_t i = 0; i < 2; i++) {
        struct msg msg = { .type = MSG_BUNDLE };

        plan_bundle(sweep->work.plan, units[i], &msg.bundle);
        if (strcmp(msg.bundle.hash, hash) == 0) {
            outbox_send(sweep, host, &msg);
            return;
        }
    }
    if (pass_bundle(sweep, hash, &tool.bundle)) {
        outbox_send(sweep, host, &tool);
        return;
    }
    tell_missing(sweep, host, hash);
}

static struct fetch *find_fetch(struct sweep *sweep, const char *hash)
{
    for (size_t i = 0; i < sweep->work.n_fetches; i++)
        if (strcmp(sweep->work.fetches[i].hash, hash) == 0)
            return &sweep->work.fetches[i];
    return NULL;
}

static struct fetch *new_fetch(struct sweep *sweep, const char *hash)
{
    struct fetch *fetch;

    sweep->work.fetches =
        mem_grow(sweep->work.fetches, sweep->work.n_fetches + 1,
                 sizeof(*sweep->work.fetches));
    fetch = &sweep->work.fetches[sweep->work.n_fetches++];
    *fetch = (struct fetch){ .from = -1 };
    snprintf(fetch->hash, sizeof(fetch->hash), "%s", hash);
    fetch->wishes = mem_new(sweep->fleet.n, sizeof(*fetch->wishes));
    fetch->sum = hash_new();
    return fetch;
}

/* The last one takes its place, so iterate from the end. */
static void drop_fetch(struct sweep *sweep, struct fetch *fetch)
{
    free(fetch->wishes);
    free(fetch->bytes);
    free(fetch->sum);
    *fetch = sweep->work.fetches[--sweep->work.n_fetches];
}

/* A host that loses each artifact that it builds would build for ever. */
static void lose_unit(struct sweep *sweep, int unit, int host)
{
    if (kept_artifacts_take_over(sweep, unit))
        return;
    sched_vanished(sweep->work.sched, unit);
    if (host >= 0 && host < (int)sweep->fleet.n &&
        ++sweep->work.vanished[unit] == VANISHED_MAX)
        host_state_condemn(
            &sweep->fleet.hosts[host], ERR_NETWORK,
            "it lost an artifact that it had built, five times in a row");
}

/* This host does not have it, for none of its units; -1: no host has it. */
static void note_vanished(struct sweep *sweep, const char *hash, int host)
{
    for (int unit = 0; unit <= plan_units(sweep->work.plan); unit++)
        if (strcmp(sweep->work.artifacts[unit], hash) == 0 &&
            sched_home(sweep->work.sched, unit) == host)
            lose_unit(sweep, unit, host);
}

/* It must be built again: hosts that wait for it give their leases back. */
static void give_up_fetch(struct sweep *sweep, struct fetch *fetch)
{
    char hash[HASH_HEX];
    int unit = unit_of_artifact(sweep, fetch->hash);

    memcpy(hash, fetch->hash, HASH_HEX);
    log_line(LOG_W, "ARTIFACT-MISSING", "artifact=%s", hash);
    for (size_t host = 0; host < sweep->fleet.n; host++)
        if (fetch->wishes[host] != WISH_NONE)
            tell_missing(sweep, host, hash);
    drop_fetch(sweep, fetch);
    if (unit >= 0)
        note_vanished(sweep, hash, sched_home(sweep->work.sched, unit));
}

/* Its answer has stopped, or takes too long. */
static bool is_stuck(const struct fetch *fetch, int64_t now)
{
    int64_t s = fetch->total / FETCH_BYTES_PER_S;

    return now - fetch->moved_ns >= FETCH_AGAIN_NS ||
           now - fetch->asked_ns >= FETCH_AGAIN_NS + s * NS_PER_S;
}

static bool is_wanted(const struct sweep *sweep, const struct fetch *fetch)
{
    for (size_t host = 0; host < sweep->fleet.n; host++)
        if (fetch->wishes[host] != WISH_NONE)
            return true;
    return false;
}

/* The coordinator has it by now. */
static void end_by_copy(struct sweep *sweep, struct fetch *fetch)
{
    bool all = true;

    for (size_t host = 0; host < sweep->fleet.n; host++)
        if (fetch->wishes[host] != WISH_NONE)
            all = all && kept_artifacts_send(sweep, host, fetch->hash);
    if (all)
        drop_fetch(sweep, fetch);
    else
        give_up_fetch(sweep, fetch);
}

/* The host that has it did not send it. */
static void condemn_home(struct sweep *sweep, struct fetch *fetch, int home)
{
    if (is_wanted(sweep, fetch))
        host_state_condemn(&sweep->fleet.hosts[home], ERR_NETWORK,
                           "it was asked three times for an artifact that it "
                           "built, and did not send it");
    else
        drop_fetch(sweep, fetch);
}

/* Ask for it or ask again; wait while its host may come back; or give it up. */
static void step_fetch(struct sweep *sweep, struct fetch *fetch, int64_t now)
{
    struct msg msg = { .type = MSG_FETCH, .fetch.hash = fetch->hash };
    int unit = unit_of_artifact(sweep, fetch->hash);
    int home = unit < 0 ? -1 : sched_home(sweep->work.sched, unit);

    if (home == kept_artifacts_home(sweep)) {
        end_by_copy(sweep, fetch);
        return;
    }
    if (home < 0 && !is_wanted(sweep, fetch)) {
        drop_fetch(sweep, fetch);
        return;
    }
    if (home < 0 || fetch->wishes[home] != WISH_NONE) {
        give_up_fetch(sweep, fetch);
        return;
    }
    if (sweep->fleet.hosts[home].state != HOST_STATE_READY ||
        sweep->fleet.hosts[home].suspect)
        return; /* until the host is back, or lost: then no host has it */
    if (fetch->from != home)
        fetch->tries = fetch->answers = 0;
    else if (!is_stuck(fetch, now))
        return;
    if (fetch->tries == FETCHES_MAX) {
        condemn_home(sweep, fetch, home);
        return; /* now no host has it */
    }
    fetch->from = home;
    fetch->tries++;
    fetch->asked_ns = fetch->moved_ns = now;
    outbox_send(sweep, (size_t)home, &msg);
}

static void want_artifact(struct sweep *sweep, size_t host, const char *hash)
{
    struct fetch *fetch = find_fetch(sweep, hash);

    if (unit_of_artifact(sweep, hash) < 0) {
        tell_missing(sweep, host, hash);
        return;
    }
    if (kept_artifacts_send(sweep, host, hash))
        return;
    if (!fetch)
        fetch = new_fetch(sweep, hash);
    if (fetch->wishes[host] == WISH_NONE)
        fetch->wishes[host] = fetch->bytes ? WISH_REST : WISH_CHUNKS;
    step_fetch(sweep, fetch, reactor_now(sweep));
}

/* If nothing else is fetched from this host: the next one for the cache. */
static void keep_next(struct sweep *sweep, size_t host)
{
    const struct host_state *from = &sweep->fleet.hosts[host];
    struct fetch *fetch;
    int unit;

    if (from->state != HOST_STATE_READY || from->suspect)
        return;
    for (size_t i = 0; i < sweep->work.n_fetches; i++)
        if (sweep->work.fetches[i].from == (int)host)
            return;
    unit = kept_artifacts_next(sweep, host);
    if (unit < 0 || find_fetch(sweep, sweep->work.artifacts[unit]))
        return;
    fetch = new_fetch(sweep, sweep->work.artifacts[unit]);
    fetch->keeps = true;
    step_fetch(sweep, fetch, reactor_now(sweep));
}

void artifacts_built(struct sweep *sweep, size_t host, int unit)
{
    kept_artifacts_queue(sweep, host, unit);
    keep_next(sweep, host);
}

/* That it asks for more shows that what is before has arrived. */
static void note_arrival(struct sweep *sweep, size_t host,
                         const struct spec_input *input, size_t offset)
{
    const struct spec_inputs *inputs = &sweep->work.spec->inputs;

    if (!sweep->work.arrivals)
        sweep->work.arrivals = arrivals_new(sweep->fleet.n, inputs->n);
    leases_arrived(sweep, host,
                   arrivals_asked(sweep->work.arrivals, host,
                                  (size_t)(input - inputs->list),
                                  (int64_t)offset, reactor_now(sweep)));
}

/* The worker asks for the next window when it has this one. */
static void want_input(struct sweep *sweep, size_t host,
                       const struct msg_want *want)
{
    const struct spec_input *input =
        spec_inputs_find(sweep->work.spec, want->hash);
    size_t at = want->offset < 0 ? 0 : (size_t)want->offset, len = 0, end;
    const char *bytes = input ? spec_inputs_bytes(input, &len) : NULL;

    if (at >= len) {
        tell_missing(sweep, host, want->hash);
        return;
    }
    note_arrival(sweep, host, input, at);
    end = (at / MSG_WINDOW_MAX + 1) * MSG_WINDOW_MAX;
    if (end > len)
        end = len;
    while (at < end) {
        size_t n = end - at < MSG_CHUNK_MAX ? end - at : MSG_CHUNK_MAX;
        struct msg msg = { .type = MSG_ARTIFACT,
                           .artifact = { .hash = want->hash,
                                         .offset = (int64_t)at,
                                         .total = (int64_t)len,
                                         .chunk = { &bytes[at], n } } };

        if (!outbox_send(sweep, host, &msg))
            return;
        at += n;
    }
}

/* May work of this lease need such a file?  Sources are for builds and
 * commands, the others for measurements and commands. */
static bool needs(const struct sched_lease *lease, const char *what)
{
    bool bundle = strcmp(what, MSG_WANT_BUNDLE) == 0;

    return sched_is_tool(lease->purpose) ||
           bundle == (lease->stage == JOB_BUILD);
}

/* One of the host's leases needs it and has not had too many. */
static bool may_have(struct sweep *sweep, size_t host, const struct msg *msg)
{
    int most = WANTS_MAX * (1 + (int)spec_inputs_windows(sweep->work.spec));
    const struct sched_lease *lease;

    for (int i = 0; (lease = sched_lease_at(sweep->work.sched, i)); i++) {
        struct issued_lease *grant = &sweep->work.issued[lease->id - 1];

        if (lease->host != (int)host || !needs(lease, msg->want.what) ||
            grant->wants >= most)
            continue;
        grant->wants++;
        return true;
    }
    log_line(LOG_W, "WANT-IGNORED", "host=%s what=%s",
             sweep->fleet.hosts[host].host->name, msg->want.what);
    return false;
}

void artifacts_want(struct sweep *sweep, size_t host, const struct msg *msg)
{
    if (!may_have(sweep, host, msg))
        return;
    if (strcmp(msg->want.what, MSG_WANT_BUNDLE) == 0)
        want_bundle(sweep, host, msg->want.hash);
    else if (strcmp(msg->want.what, MSG_WANT_INPUT) == 0)
        want_input(sweep, host, &msg->want);
    else
        want_artifact(sweep, host, msg->want.hash);
}

/* Another answer: all of it comes. */
static void begin_answer(const struct sweep *sweep, struct fetch *fetch,
                         int64_t total)
{
    fetch->answers++;
    fetch->total = total;
    fetch->summed = 0;
    hash_init(fetch->sum);
    for (size_t host = 0; host < sweep->fleet.n; host++)
        if (fetch->wishes[host] == WISH_REST)
            fetch->wishes[host] = WISH_CHUNKS;
}

/* Is it the next chunk, or the first one of another answer? */
static bool is_next(const struct sweep *sweep, struct fetch *fetch,
                    const struct msg_artifact *part)
{
    if (part->offset == 0 && fetch->answers < fetch->tries)
        begin_answer(sweep, fetch, part->total);
    return (part->chunk.len > 0 || part->total == 0) && fetch->answers > 0 &&
           part->offset == fetch->summed && part->total == fetch->total &&
           (int64_t)part->chunk.len <= fetch->total - fetch->summed;
}

/* False if it was the last one, and the bytes do not match their hash. */
static bool sum_chunk(const struct sweep *sweep, struct fetch *fetch,
                      const struct msg_artifact *part)
{
    size_t at = (size_t)fetch->summed, n = part->chunk.len;
    char hash[HASH_HEX];

    if (sweep->reactor.options->cache && n > 0 &&
        fetch->total <= ARTIFACT_CACHE_FILE_MAX) {
        fetch->bytes = mem_grow(fetch->bytes, at + n, 1);
        memcpy(fetch->bytes + at, part->chunk.data, n);
    }
    hash_add(fetch->sum, part->chunk.data, n);
    fetch->summed += (int64_t)n;
    if (fetch->summed < fetch->total)
        return true;
    hash_end(fetch->sum, hash);
    return strcmp(hash, fetch->hash) == 0;
}

/* All of it has come. */
static void end_fetch(struct sweep *sweep, struct fetch *fetch)
{
    size_t len = (size_t)fetch->total;

    if (fetch->bytes)
        kept_artifacts_put(sweep, fetch->hash, fetch->bytes, len);
    for (size_t i = 0; i < sweep->fleet.n; i++)
        if (fetch->wishes[i] == WISH_REST)
            kept_artifacts_send_bytes(sweep, i, fetch->hash, fetch->bytes, len);
    drop_fetch(sweep, fetch);
}

bool artifacts_chunk(struct sweep *sweep, size_t host, const struct msg *msg)
{
    const struct msg_artifact *part = &msg->artifact;
    struct fetch *fetch = find_fetch(sweep, part->hash);
    struct msg out = { .type = MSG_ARTIFACT, .artifact = *part };

    if (!fetch || fetch->from != (int)host || !is_next(sweep, fetch, part))
        return false;
    fetch->moved_ns = reactor_now(sweep);
    if (!sum_chunk(sweep, fetch, part)) {
        host_state_condemn(
            &sweep->fleet.hosts[host], ERR_PROTO,
            "the bytes of an artifact that it built do not match "
            "their hash");
        return true;
    }
    for (size_t i = 0; i < sweep->fleet.n; i++)
        if (fetch->wishes[i] == WISH_CHUNKS)
            outbox_send(sweep, i, &out);
    if (fetch->summed == fetch->total) {
        end_fetch(sweep, fetch);
        keep_next(sweep, host);
    }
    return true;
}

void artifacts_missing(struct sweep *sweep, size_t host, const char *hash)
{
    struct fetch *fetch = find_fetch(sweep, hash);

    if (fetch && fetch->from == (int)host && !is_wanted(sweep, fetch))
        drop_fetch(sweep, fetch);
    else if (fetch && fetch->from == (int)host)
        give_up_fetch(sweep, fetch);
    else
        note_vanished(sweep, hash, (int)host);
}

void artifacts_turn(struct sweep *sweep, int64_t now)
{
    for (size_t i = sweep->work.n_fetches; i-- > 0;)
        step_fetch(sweep, &sweep->work.fetches[i], now);
    for (size_t host = 0; sweep->work.kept && host < sweep->fleet.n; host++)
        keep_next(sweep, host);
}

void artifacts_forget_host(struct sweep *sweep, size_t host)
{
    for (int unit = 0; unit <= plan_units(sweep->work.plan); unit++)
        if (sched_home(sweep->work.sched, unit) == (int)host)
            kept_artifacts_take_over(sweep, unit);
    for (size_t i = sweep->work.n_fetches; i-- > 0;) {
        struct fetch *fetch = &sweep->work.fetches[i];

        fetch->wishes[host] = WISH_NONE;
        if (!is_wanted(sweep, fetch) &&
            (!fetch->keeps || fetch->from == (int)host))
            drop_fetch(sweep, fetch);
    }
}

void artifacts_free(struct sweep *sweep)
{
    while (sweep->work.n_fetches > 0)
        drop_fetch(sweep, &sweep->work.fetches[sweep->work.n_fetches - 1]);
    free(sweep->work.fetches);
    kept_artifacts_free(sweep);
    arrivals_free(sweep->work.arrivals);
}
