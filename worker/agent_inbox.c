/* agent_inbox.c - what the coordinator says, and the answers */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/mem.h"
#include "worker/agent_private.h"

#define HELLO_NS (1 * NS_PER_S)
#define MESSAGES_A_TURN 64 /* then children and timers have theirs */
#define BEAT_MS_MIN 100

/* Identities of what is in hand, so that it is not handed out again. */
static struct texts running(struct agent *agent)
{
    struct lease *lease = agent->queue ? queue_first(agent->queue) : NULL;
    const char **items = NULL;
    size_t n = 0;

    for (; lease; lease = lease->next) {
        char text[MSG_IDENTITY_BYTES];

        msg_identity_text(&lease->msg.id, text);
        items = mem_grow(items, n + 1, sizeof(*items));
        items[n++] = mem_strdup(text);
    }
    return (struct texts){ items, n };
}

static void free_texts(struct texts texts)
{
    for (size_t i = 0; i < texts.n; i++)
        free((char *)texts.items[i]);
    free((char **)texts.items);
}

static int64_t count_cpus(void)
{
    cpu_set_t cpus;

    return sched_getaffinity(0, sizeof(cpus), &cpus) == 0 ? CPU_COUNT(&cpus)
                                                          : 1;
}

void agent_say_hello(struct agent *agent, int64_t now_ns)
{
    char host[256] = "", boot_id[CLOCK_BOOT_ID_BYTES];
    struct msg hello = { .type = MSG_HELLO,
                         .protocol = MSG_PROTOCOL,
                         .version = FA_VERSION,
                         .host = host,
                         .boot_id = boot_id,
                         .pid = getpid(),
                         .cpus = count_cpus(),
                         .running = running(agent) };
    size_t n;

    gethostname(host, sizeof(host) - 1);
    clock_boot_id(boot_id);
    journal_entries(agent->journal, &n);
    hello.journal = (int64_t)n;
    agent_send(agent, &hello);
    free_texts(hello.running);
    agent->hello_ns = now_ns + HELLO_NS;
}

static void send_gpu(struct agent *agent, size_t i)
{
    struct gpu *gpu = bench_gpu(agent->bench, i);
    char *lines[WIRE_FACTS_MAX];
    size_t n;
    const struct wire_fact *facts = gpu_facts(gpu, &n);
    const char *name = gpu_fact(gpu, "gpu_name");
    struct msg msg = { .type = MSG_GPU,
                       .index = (int64_t)i,
                       .gpu = gpu_uuid(gpu),
                       .name = name[0] ? name : gpu_fact(gpu, "device"),
                       .driver = gpu_fact(gpu, "driver"),
                       .facts = { (const char *const *)lines, n } };

    for (size_t k = 0; k < n; k++)
        lines[k] = mem_printf("%s %s", facts[k].name, facts[k].value);
    agent_send(agent, &msg);
    for (size_t k = 0; k < n; k++)
        free(lines[k]);
}

static void send_ready(struct agent *agent)
{
    size_t gpus = bench_n_gpus(agent->bench);
    struct msg ready = { .type = MSG_READY,
                         .toolkit = bench_toolkit(agent->bench),
                         .slots = (int64_t)bench_n_slots(agent->bench),
                         .n_gpus = (int64_t)gpus,
                         .measure_credit = AGENT_MEASURE_CREDIT };

    if (!agent->queue)
        agent->queue =
            queue_new(bench_n_slots(agent->bench), gpus, AGENT_MEASURE_CREDIT);
    for (size_t i = 0; i < gpus; i++)
        send_gpu(agent, i);
    agent_send(agent, &ready);
}

void agent_announce(struct agent *agent)
{
    struct msg trouble = { .type = MSG_TROUBLE };

    if (!agent->bench || agent->announced == bench_state(agent->bench))
        return;
    switch (bench_state(agent->bench)) {
    case BENCH_OPENING:
        return;
    case BENCH_READY:
        send_ready(agent);
        break;
    case BENCH_TROUBLE:
        trouble.what = bench_what(agent->bench);
        trouble.text = bench_why(agent->bench);
        log_line(LOG_E, "TROUBLE", "what=%s %s", trouble.what, trouble.text);
        agent_send(agent, &trouble);
        break;
    }
    agent->announced = bench_state(agent->bench);
}

static void on_welcome(struct agent *agent, const struct msg *msg,
                       int64_t now_ns)
{
    if (msg->protocol != MSG_PROTOCOL) {
        agent_stop(agent, AGENT_STOPS, "the coordinator's protocol differs");
        return;
    }
    if (agent->welcomed)
        return; /* the answer to a HELLO that was on its way */
    agent->welcomed = true;
    agent->absence.beat_every_ns =
        (msg->beat_ms < BEAT_MS_MIN ? BEAT_MS_MIN : msg->beat_ms) * NS_PER_MS;
    agent->beat_ns = now_ns + agent->absence.beat_every_ns;
    agent->absence.linger_ns = msg->linger_ms * NS_PER_MS;
    agent_offer_results(agent, now_ns, true);
    if (agent->bench && bench_serves(agent->bench, msg))
        return;
    queue_free(agent->queue);
    agent->queue = NULL;
    bench_close(agent->bench);
    agent->bench = bench_open(msg, agent->cache, now_ns);
    agent->announced = BENCH_OPENING;
}

static void on_stop(struct agent *agent, const struct msg *msg)
{
    if (strcmp(msg->what, "now") == 0)
        agent_stop(agent, AGENT_STOPS, "the coordinator says so");
    else
        agent_stop(agent, AGENT_DRAINS, "the coordinator needs it no more");
}

static void on_fetch(struct agent *agent, const struct msg *msg)
{
    struct msg missing = { .type = MSG_MISSING, .hash = msg->hash };

    if (!files_fetch(agent->files, msg->hash))
        agent_send(agent, &missing);
}

static int on_bundle(struct agent *agent, struct msg *msg, struct err *err)
{
    char hash[HASH_HEX];
    int rc;

    memcpy(hash, msg->hash, strlen(msg->hash) + 1);
    rc = files_take_bundle(agent->files, msg, err);
    if (rc == 1)
        agent_arrived(agent, hash);
    return rc;
}

static int on_artifact(struct agent *agent, const struct msg *msg,
                       struct err *err)
{
    int rc = files_take_chunk(agent->files, msg, err);

    if (rc == 1)
        agent_arrived(agent, msg->hash);
    return rc;
}

static int dispatch(struct agent *agent, struct msg *msg, int64_t now_ns,
                    struct err *err)
{
    switch (msg->type) {
    case MSG_WELCOME:
        on_welcome(agent, msg, now_ns);
        return 0;
    case MSG_BUILD:
    case MSG_MEASURE:
    case MSG_TOOL:
        agent_add_lease(agent, msg);
        return 0;
    case MSG_BUNDLE:
        return on_bundle(agent, msg, err);
    case MSG_ARTIFACT:
        return on_artifact(agent, msg, err);
    case MSG_MISSING:
        agent_missing(agent, msg->hash);
        return 0;
    case MSG_FETCH:
        on_fetch(agent, msg);
        return 0;
    case MSG_ACK:
        for (size_t i = 0; i < msg->nonces.n; i++)
            journal_ack(agent->journal, msg->nonces.items[i]);
        return 0;
    case MSG_CANCEL:
        agent_cancel(agent, msg->epoch, msg->lease, now_ns);
        return 0;
    case MSG_BEAT:
        return 0;
    case MSG_STOP:
        on_stop(agent, msg);
        return 0;
    default:
        return err_set(err, ERR_PROTO, "%s is not for a worker",
                       msg_type_name(msg->type));
    }
}

void agent_receive(struct agent *agent, int64_t now_ns)
{
    for (int i = 0; i < MESSAGES_A_TURN; i++) {
        struct msg msg;
        struct err err;
        int rc = link_recv(agent->link, &msg, &err);

        if (rc == 0)
            return;
        if (rc == 1) {
            agent->absence.heard_ns = now_ns;
            if (msg.epoch == link_epoch(agent->link))
                rc = dispatch(agent, &msg, now_ns, &err);
            msg_fini(&msg);
        }
        if (rc < 0)
            log_line(LOG_W, "MESSAGE-DROPPED", "%s", err.text);
    }
}
