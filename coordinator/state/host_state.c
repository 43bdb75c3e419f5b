#include "coordinator/state/host_state.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void host_state_condemn(struct host_state *host_state, int code,
                        const char *why)
{
    if (host_state->conduct.condemned)
        return;
    host_state->conduct.condemned = true;
    host_state->conn.code = code;
    snprintf(host_state->conn.why, sizeof(host_state->conn.why), "%s", why);
}

void host_state_floods(struct host_state *host_state)
{
    host_state_condemn(host_state, ERR_PROTO,
                       "it floods: it sends more than its work explains");
}

bool host_state_is_connected(const struct host_state *host_state)
{
    return host_state->state == HOST_STATE_READY ||
           host_state->state == HOST_STATE_GREETED;
}

bool host_state_is_to_come(const struct host_state *host_state)
{
    return host_state->state != HOST_STATE_READY &&
           host_state->state != HOST_STATE_FAILED &&
           (!host_state->conn.is_rented || host_state->conn.is_wanted);
}

bool host_state_same_worker(const struct host_state *a,
                            const struct host_state *b)
{
    return a->worker.pid != 0 && a->worker.pid == b->worker.pid &&
           strcmp(a->worker.boot_id, b->worker.boot_id) == 0;
}

void host_state_forget_running(struct host_state *host_state)
{
    for (size_t i = 0; i < host_state->worker.n_running; i++)
        free(host_state->worker.running[i]);
    free(host_state->worker.running);
    host_state->worker.running = NULL;
    host_state->worker.n_running = 0;
}
