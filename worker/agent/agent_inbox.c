/* agent_inbox.c - messages from the coordinator, and the replies */
#include <stdio.h>
#include <string.h>

#include "common/log.h"
#include "worker/agent/agent_internal.h"
#include "worker/agent/claim.h"

#define MESSAGES_A_TURN 64 /* then children and timers get their turn */
#define BEAT_MS_MIN 100

static void on_welcome(struct agent *agent, const struct msg_welcome *welcome,
                       int64_t now_ns)
{
    const char *database = link_invite(agent->link)->owner.database;
    struct err err;
    int rc;

    if (welcome->protocol != MSG_PROTOCOL) {
        agent_stop(agent, AGENT_STOPS, "the coordinator's protocol differs");
        return;
    }
    if (agent->connection.welcomed)
        return; /* the reply to an earlier HELLO */
    agent->connection.welcomed = true;
    agent->liveness.beat_every_ns =
        (welcome->beat_ms < BEAT_MS_MIN ? BEAT_MS_MIN : welcome->beat_ms) *
        NS_PER_MS;
    agent->due.beat_ns = now_ns + agent->liveness.beat_every_ns;
    agent->liveness.linger_ns = welcome->linger_ms * NS_PER_MS;
    snprintf(agent->end.poweroff, sizeof(agent->end.poweroff), "%s",
             welcome->poweroff);
    agent_offer_results(agent, now_ns, true);
    if (agent->bench && resources_serves(agent->bench, welcome, database))
        return;
    queue_free(agent->queue);
    agent->queue = NULL;
    resources_close(agent->bench);
    rc = agent_share_open(agent, welcome->gpus, &err);
    agent->bench = resources_open(welcome, agent->cache, agent->share.gpus,
                                  database, now_ns);
    if (rc != 0)
        resources_fail(agent->bench, "lock", err.text);
    agent->connection.announced = RESOURCES_OPENING;
}

static void on_stop(struct agent *agent, const struct msg_stop *stop,
                    int64_t now_ns)
{
    if (strcmp(stop->what, "next") == 0) {
        agent_keep(agent, now_ns);
    } else if (strcmp(stop->what, "now") == 0) {
        snprintf(agent->end.said, sizeof(agent->end.said), "%s",
                 stop->text && *stop->text
                     ? stop->text
                     : "the coordinator asked it to stop");
        agent_stop(agent, AGENT_STOPS, agent->end.said);
    } else {
        agent_stop(agent, AGENT_DRAINS, "the coordinator no longer needs it");
        agent->end.asked_by = link_epoch(agent->link);
    }
}

static void on_fetch(struct agent *agent, const char *hash)
{
    struct msg missing = { .type = MSG_MISSING, .missing = { .hash = hash } };

    if (!transfers_fetch(agent->transfers, hash))
        agent_send(agent, &missing);
}

static int on_bundle(struct agent *agent, struct msg *msg, struct err *err)
{
    char hash[HASH_HEX];
    int rc;

    memcpy(hash, msg->bundle.hash, strlen(msg->bundle.hash) + 1);
    rc = transfers_take_bundle(agent->transfers, msg, err);
    if (rc == 1)
        agent_arrived(agent, hash);
    return rc;
}

static int on_artifact(struct agent *agent, const struct msg_artifact *artifact,
                       int64_t now_ns, struct err *err)
{
    int rc = transfers_take_chunk(agent->transfers, artifact, err);
    struct msg more;

    if (rc == 1)
        agent_arrived(agent, artifact->hash);
    if (rc == 0 &&
        transfers_want_window(agent->transfers, artifact->hash, now_ns, &more))
        agent_send(agent, &more);
    return rc;
}

/* A relay ends with its coordinator's run, so no other run comes through it;
 * over TCP the runs of a coordinator share an address. */
static bool dialled_back(const struct agent *agent)
{
    return strncmp(link_invite(agent->link)->endpoint, "tcp://", 6) == 0;
}

static int dispatch(struct agent *agent, struct msg *msg, int64_t now_ns,
                    struct err *err)
{
    switch (msg->type) {
    case MSG_WELCOME:
        on_welcome(agent, &msg->welcome, now_ns);
        return 0;
    case MSG_BUILD:
    case MSG_MEASURE:
    case MSG_TOOL:
        if (agent->connection.welcomed || !dialled_back(agent))
            agent_add_lease(agent, msg); /* else HELLO has said: not here */
        return 0;
    case MSG_BUNDLE:
        return on_bundle(agent, msg, err);
    case MSG_ARTIFACT:
        return on_artifact(agent, &msg->artifact, now_ns, err);
    case MSG_MISSING:
        agent_missing(agent, msg->missing.hash);
        return 0;
    case MSG_FETCH:
        on_fetch(agent, msg->fetch.hash);
        return 0;
    case MSG_ACK:
        for (size_t i = 0; i < msg->ack.nonces.n; i++)
            journal_ack(agent->journal, msg->ack.nonces.items[i]);
        return 0;
    case MSG_CANCEL:
        agent_cancel(agent, msg->epoch, &msg->cancel, now_ns);
        return 0;
    case MSG_BEAT:
        return 0;
    case MSG_STOP:
        on_stop(agent, &msg->stop, now_ns);
        return 0;
    default:
        return err_set(err, ERR_PROTO, "%s is not for a worker",
                       msg_type_name(msg->type));
    }
}

/* Only a worker that dialled back is invited again over its connection; a relay
 * brings the invitations of the others. */
static int on_invite(const struct agent *agent, const char *text,
                     struct invite *again, struct err *err)
{
    if (!dialled_back(agent))
        return err_set(err, ERR_PROTO, "INVITE is for workers that dial back");
    return invite_parse(text, strlen(text), again, err);
}

/* Over TCP, a coordinator of another run does not show that the own one is
 * there. */
static int take(struct agent *agent, struct msg *msg, int64_t now_ns,
                struct err *err)
{
    switch (claim_message(link_epoch(agent->link), msg->epoch)) {
    case CLAIM_TAKE:
        agent->liveness.heard_ns = now_ns;
        return dispatch(agent, msg, now_ns, err);
    case CLAIM_GREET:
        if (dialled_back(agent))
            agent_resync(agent, now_ns);
        break;
    case CLAIM_DROP:
        break;
    }
    if (!dialled_back(agent))
        agent->liveness.heard_ns = now_ns;
    return 0;
}

bool agent_receive(struct agent *agent, int64_t now_ns, struct invite *again)
{
    for (int i = 0; i < MESSAGES_A_TURN; i++) {
        struct msg msg;
        struct err err;
        int rc = link_recv(agent->link, &msg, &err);

        if (rc == 0)
            return false;
        if (rc == 1) {
            bool invited = msg.type == MSG_INVITE;

            rc = invited ? on_invite(agent, msg.invite.text, again, &err)
                         : take(agent, &msg, now_ns, &err);
            msg_fini(&msg);
            if (invited && rc == 0)
                return true;
        }
        if (rc < 0)
            log_line(LOG_W, "MESSAGE-DROPPED", "%s", err.text);
    }
    return false;
}
