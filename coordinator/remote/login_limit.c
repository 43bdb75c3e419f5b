#include "coordinator/remote/login_limit.h"

#include <assert.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "coordinator/hosts/hosts.h"

struct endpoint {
    char name[288];
    int inside;
};

struct login_limit {
    struct endpoint *list;
    size_t n;
};

struct login_limit *login_limit_new(void)
{
    return mem_new(1, sizeof(struct login_limit));
}

void login_limit_free(struct login_limit *gate)
{
    if (!gate)
        return;
    free(gate->list);
    free(gate);
}

static struct endpoint *find(struct login_limit *gate, const struct host *host)
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

bool login_limit_enter(struct login_limit *gate, const struct host *host)
{
    struct endpoint *endpoint;

    if (host->local)
        return true;
    endpoint = find(gate, host);
    if (endpoint->inside == LOGIN_LIMIT_MAX)
        return false;
    endpoint->inside++;
    return true;
}

void login_limit_leave(struct login_limit *gate, const struct host *host)
{
    struct endpoint *endpoint;

    if (host->local)
        return;
    endpoint = find(gate, host);
    assert(endpoint->inside > 0);
    endpoint->inside--;
}
