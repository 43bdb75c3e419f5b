#include "coordinator/login_gate.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/hosts.h"

struct endpoint {
    char name[288];
    int inside;
};

struct login_gate {
    struct endpoint *list;
    size_t n;
};

struct login_gate *login_gate_new(void)
{
    return mem_new(1, sizeof(struct login_gate));
}

void login_gate_free(struct login_gate *gate)
{
    if (!gate)
        return;
    free(gate->list);
    free(gate);
}

static struct endpoint *find(struct login_gate *gate, const struct host *host)
{
    char name[288];

    if (*host->jump)
        snprintf(name, sizeof(name), "jump %s", host->jump);
    else
        snprintf(name, sizeof(name), "%s:%d", host->address, host->port);
    for (size_t i = 0; i < gate->n; i++)
        if (strcmp(gate->list[i].name, name) == 0)
            return &gate->list[i];
    gate->list = mem_grow(gate->list, gate->n + 1, sizeof(*gate->list));
    gate->list[gate->n] = (struct endpoint){ 0 };
    memcpy(gate->list[gate->n].name, name, sizeof(name));
    return &gate->list[gate->n++];
}

bool login_gate_enter(struct login_gate *gate, const struct host *host)
{
    struct endpoint *endpoint;

    if (host->local)
        return true;
    endpoint = find(gate, host);
    if (endpoint->inside == LOGIN_GATE_MAX)
        return false;
    endpoint->inside++;
    return true;
}

void login_gate_leave(struct login_gate *gate, const struct host *host)
{
    struct endpoint *endpoint;

    if (host->local)
        return;
    endpoint = find(gate, host);
    assert(endpoint->inside > 0);
    endpoint->inside--;
}
