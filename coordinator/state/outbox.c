#include "coordinator/state/outbox.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/log.h"
#include "common/mem.h"
#include "common/msg.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/replay/replay.h"
#include "coordinator/spec/spec.h"
#include "coordinator/state/reactor.h"
#include "coordinator/state/records.h"

bool outbox_send(struct sweep *sweep, size_t host, struct msg *msg)
{
    const struct sweep_link *link = &sweep->reactor.io.link;
    struct err err;

    msg->epoch = sweep->reactor.epoch;
    if (link->send(link->self, host, msg, &err) == 0)
        return true;
    log_line(LOG_W, "SEND-FAILED", "host=%s type=%s why=%s",
             sweep->fleet.hosts[host].host->name, msg_type_name(msg->type),
             err.text);
    return false;
}

void outbox_send_all(struct sweep *sweep, struct msg *msg)
{
    for (size_t i = 0; i < sweep->fleet.n; i++)
        if (host_state_is_connected(&sweep->fleet.hosts[i]))
            outbox_send(sweep, i, msg);
}

static void send_acks(struct sweep *sweep, size_t host)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];
    const char *nonces[ACKS_MAX];
    struct msg msg = { .type = MSG_ACK };

    if (host_state->n_acks == 0)
        return;
    for (size_t i = 0; i < host_state->n_acks; i++)
        nonces[i] = host_state->acks[i];
    msg.ack.nonces = (struct texts){ nonces, host_state->n_acks };
    outbox_send(sweep, host, &msg);
    host_state->n_acks = 0;
}

int outbox_commit(struct sweep *sweep, struct err *err)
{
    int rc;

    if (sweep->mail.pace.rows == 0)
        return 0;
    rc = sweep->reactor.io.disk.commit(sweep->reactor.io.disk.self,
                                       sweep->mail.store, err);
    if (rc < 0)
        return rc;
    commit_pace_committed(&sweep->mail.pace, reactor_now(sweep));
    for (size_t host = 0; host < sweep->fleet.n; host++)
        send_acks(sweep, host);
    return 0;
}

void outbox_acknowledge(struct sweep *sweep, size_t host, const char *nonce)
{
    struct host_state *host_state = &sweep->fleet.hosts[host];

    /* Full: the worker offers the result again after this batch is
     * acknowledged. */
    if (host_state->n_acks < ACKS_MAX)
        snprintf(host_state->acks[host_state->n_acks++], HASH_HEX, "%s", nonce);
    records_dirty(sweep);
}
