/* agent_stop.c - how a worker ends */
#include "common/log.h"
#include "worker/agent/agent_internal.h"

#define DRAIN_NS (600 * NS_PER_S)    /* the longest compile and its grace */
#define KEEP_NS (10 * NS_PER_S)      /* a step reads the database, and begins */
#define LAST_WORDS_NS (3 * NS_PER_S) /* for the ACK of the last results */

void agent_stop(struct agent *agent, enum agent_stop how, const char *why)
{
    if (how <= agent->end.how)
        return;
    log_line(LOG_I, how == AGENT_STOPS ? "STOPS" : "DRAINS", "%s", why);
    agent->end.how = how;
    agent->end.why = why;
    agent->end.by_ns = clock_boot_ns() + (how == AGENT_STOPS ? 0 : DRAIN_NS);
    if (agent->queue)
        queue_drop_idle(agent->queue);
}

/* Nothing of this step goes on.  The next one finds the GPUs open, unless
 * opening one again might mend it. */
static void end_step(struct agent *agent, int64_t now_ns)
{
    agent_drop_work(agent, now_ns);
    queue_free(agent->queue);
    agent->queue = NULL;
    if (agent->bench && resources_is_sound(agent->bench)) {
        resources_end_tools(agent->bench);
        return;
    }
    resources_close(agent->bench);
    agent->bench = NULL;
}

void agent_keep(struct agent *agent, int64_t now_ns)
{
    struct msg bye = { .type = MSG_BYE,
                       .bye.text = "until the next step of its command" };
    size_t n;

    if (agent->end.how != AGENT_RUNS || agent->end.kept_until_ns)
        return;
    log_line(LOG_I, "KEPT", "s=%lld", (long long)(KEEP_NS / NS_PER_S));
    end_step(agent, now_ns);
    agent->end.kept_until_ns = now_ns + KEEP_NS;
    journal_entries(agent->journal, &n);
    bye.bye.journal = (int64_t)n;
    agent_send(agent, &bye);
    /* no relay will bring the next step's invitation: ask for it */
    if (agent->connection.tcp)
        agent_greet_again(agent, now_ns);
}

bool agent_resume(struct agent *agent, int64_t epoch)
{
    if (agent->end.how == AGENT_STOPS ||
        (agent->end.how == AGENT_DRAINS && agent->end.asked_by == epoch))
        return false;
    if (agent->end.how == AGENT_DRAINS)
        log_line(LOG_I, "RESUMES", "epoch=%lld", (long long)epoch);
    agent->end = (struct agent_end){ .how = AGENT_RUNS };
    return true;
}

/* While draining: no work runs any more, and the results are acknowledged or
 * have timed out. */
bool agent_is_over(struct agent *agent, int64_t now_ns)
{
    size_t n;

    if (agent->end.how == AGENT_RUNS)
        return false;
    if (now_ns >= agent->end.by_ns)
        return true;
    if (agent->queue && queue_running(agent->queue) > 0)
        return false;
    journal_entries(agent->journal, &n);
    if (n == 0 || !agent->connection.welcomed)
        return true;
    if (agent->end.by_ns > now_ns + LAST_WORDS_NS)
        agent->end.by_ns = now_ns + LAST_WORDS_NS;
    return false;
}
