/* agent_say.c - messages about the worker and its leases */
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/log.h"
#include "common/mem.h"
#include "worker/agent/agent_internal.h"

#define HELLO_NS (1 * NS_PER_S)

void agent_send(struct agent *agent, struct msg *msg)
{
    struct err err;

    if (agent->link && link_send(agent->link, msg, &err) < 0)
        log_line(LOG_W, "SEND-FAILED", "type=%s %s", msg_type_name(msg->type),
                 err.text);
}

void agent_greet_again(struct agent *agent, int64_t now_ns)
{
    agent->connection.welcomed = false;
    agent->connection.announced = RESOURCES_OPENING;
    agent->due.hello_ns = now_ns;
}

void agent_resync(struct agent *agent, int64_t now_ns)
{
    if (!agent->connection.welcomed)
        return;
    agent_greet_again(agent, now_ns);
    transfers_forget_wants(agent->transfers);
}

/* The identities of all work held here, so that it is not leased again. */
static struct texts running(struct agent *agent)
{
    struct lease *lease = agent->queue ? queue_first(agent->queue) : NULL;
    const char **items = NULL;
    size_t n = 0;

    for (; lease; lease = lease->next) {
        char text[MSG_IDENTITY_BYTES];

        msg_identity_text(&msg_work(&lease->msg)->id, text);
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
    struct msg msg = { .type = MSG_HELLO,
                       .hello = { .protocol = MSG_PROTOCOL,
                                  .version = FA_VERSION,
                                  .host = host,
                                  .boot_id = boot_id,
                                  .pid = getpid(),
                                  .cpus = count_cpus(),
                                  .lost = agent->lost,
                                  .running = running(agent) } };
    size_t n;

    gethostname(host, sizeof(host) - 1);
    clock_boot_id(boot_id);
    journal_entries(agent->journal, &n);
    msg.hello.journal = (int64_t)n;
    agent_send(agent, &msg);
    free_texts(msg.hello.running);
    agent->due.hello_ns = now_ns + HELLO_NS;
}

static void send_gpu(struct agent *agent, size_t i)
{
    struct gpu *gpu = resources_gpu(agent->bench, i);
    char *lines[WIRE_FACTS_MAX];
    size_t n;
    const struct wire_fact *facts = gpu_facts(gpu, &n);
    const char *name = gpu_fact(gpu, "gpu_name");
    struct msg msg = { .type = MSG_GPU,
                       .gpu = { .index = (int64_t)i,
                                .uuid = gpu_uuid(gpu),
                                .name =
                                    name[0] ? name : gpu_fact(gpu, "device"),
                                .driver = gpu_fact(gpu, "driver"),
                                .facts = { (const char *const *)lines, n } } };

    for (size_t k = 0; k < n; k++)
        lines[k] = mem_printf("%s %s", facts[k].name, facts[k].value);
    agent_send(agent, &msg);
    for (size_t k = 0; k < n; k++)
        free(lines[k]);
}

static void send_trouble(struct agent *agent)
{
    const char *what = resources_what(agent->bench);
    const char *text = resources_why(agent->bench);
    struct msg msg = { .type = MSG_TROUBLE,
                       .trouble = { .what = what, .text = text } };

    log_line(LOG_E, "TROUBLE", "what=%s %s", what, text);
    agent_send(agent, &msg);
}

static void send_ready(struct agent *agent)
{
    size_t gpus = resources_n_gpus(agent->bench);
    char waits[GPU_SHARE_TEXT_BYTES] = "";
    struct msg ready = { .type = MSG_READY,
                         .ready = {
                             .toolkit = resources_toolkit(agent->bench),
                             .slots = (int64_t)resources_n_slots(agent->bench),
                             .n_gpus = (int64_t)gpus,
                             .measure_credit = AGENT_MEASURE_CREDIT,
                             .warning = resources_warning(agent->bench),
                             .waits = waits } };

    if (!agent->queue)
        agent->queue = queue_new(resources_n_slots(agent->bench), gpus,
                                 AGENT_MEASURE_CREDIT);
    queue_add_gpus(agent->queue, gpus);
    agent->share.announced = gpus;
    if (agent->share.gpus && resources_lack_gpus(agent->bench))
        gpu_share_reason(agent->share.gpus, waits);
    log_line(LOG_I, "READY", "gpus=%zu sandbox=%s", gpus,
             resources_means(agent->bench));
    for (size_t i = 0; i < gpus; i++)
        send_gpu(agent, i);
    agent_send(agent, &ready);
}

void agent_announce(struct agent *agent)
{
    if (!agent->bench ||
        agent->connection.announced == resources_state(agent->bench))
        return;
    switch (resources_state(agent->bench)) {
    case RESOURCES_OPENING:
        return;
    case RESOURCES_READY:
        send_ready(agent);
        break;
    case RESOURCES_TROUBLE:
        send_trouble(agent);
        break;
    }
    agent->connection.announced = resources_state(agent->bench);
}

void agent_refuse(struct agent *agent, const struct msg *lease,
                  const char *text)
{
    int64_t number = msg_work(lease)->lease;
    struct msg msg = { .type = MSG_REFUSE,
                       .refuse = { .lease = number, .text = text } };

    log_line(LOG_W, "LEASE-REFUSED", "lease=%lld %s", (long long)number, text);
    if (!agent->link)
        return;
    if (lease->epoch == link_epoch(agent->link))
        agent_send(agent, &msg);
    else
        agent_greet_again(agent, clock_boot_ns());
}

void agent_say_started(struct agent *agent, struct lease *lease)
{
    struct msg msg = { .type = MSG_STARTED,
                       .started = { .lease = msg_work(&lease->msg)->lease } };

    lease->running = true;
    if (agent->link && lease->msg.epoch == link_epoch(agent->link))
        agent_send(agent, &msg);
}
