#include "coordinator/remote/login_pace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/mem.h"

#define ANSWERS_NS (60 * NS_PER_S)
#define PAUSE_FIRST_MS 400
#define PAUSE_DOUBLINGS 4 /* 6.4 s */

struct server {
    char name[LOGIN_PACE_SERVER_BYTES];
    double window;
    int inside;
    int64_t answered_ns; /* the last time; 0: never */
    int64_t halved_at;   /* the last ticket before that */
};

enum place {
    OUTSIDE,
    WAITING,
    INSIDE
};

struct guest {
    enum place place;
    size_t server;
    int64_t ticket; /* when it asked, or entered */
};

struct login_pace {
    struct server *servers;
    size_t n_servers;
    struct guest *guests;
    size_t n;
    int64_t tickets; /* given out */
};

struct login_pace *login_pace_new(size_t n)
{
    struct login_pace *pace = mem_new(1, sizeof(*pace));

    pace->guests = mem_new(n, sizeof(*pace->guests));
    pace->n = n;
    return pace;
}

void login_pace_free(struct login_pace *pace)
{
    if (!pace)
        return;
    free(pace->servers);
    free(pace->guests);
    free(pace);
}

static size_t find(const struct login_pace *pace, const char *name)
{
    size_t i = 0;

    while (i < pace->n_servers && strcmp(pace->servers[i].name, name) != 0)
        i++;
    return i;
}

void login_pace_ask(struct login_pace *pace, size_t host, const char *name)
{
    size_t i = find(pace, name);

    if (i == pace->n_servers) {
        pace->servers = mem_grow(pace->servers, i + 1, sizeof(*pace->servers));
        pace->servers[i] = (struct server){ .window = LOGIN_PACE_FIRST };
        snprintf(pace->servers[i].name, sizeof(pace->servers[i].name), "%s",
                 name);
        pace->n_servers++;
    }
    pace->guests[host] = (struct guest){ WAITING, i, ++pace->tickets };
}

static bool has_room(const struct server *server)
{
    return server->inside < (int)server->window;
}

bool login_pace_next(struct login_pace *pace, size_t *host)
{
    struct guest *first = NULL;

    for (size_t i = 0; i < pace->n; i++) {
        struct guest *guest = &pace->guests[i];

        if (guest->place == WAITING &&
            has_room(&pace->servers[guest->server]) &&
            (!first || guest->ticket < first->ticket)) {
            first = guest;
            *host = i;
        }
    }
    if (!first)
        return false;
    pace->servers[first->server].inside++;
    first->place = INSIDE;
    first->ticket = ++pace->tickets;
    return true;
}

static void widen(struct server *server)
{
    server->window += 1 / server->window;
    if (server->window > LOGIN_PACE_MOST)
        server->window = LOGIN_PACE_MOST;
}

static void halve(struct login_pace *pace, struct server *server)
{
    server->window = server->window > 2 ? server->window / 2 : 1;
    server->halved_at = pace->tickets;
}

bool login_pace_end(struct login_pace *pace, size_t host,
                    enum login_pace_end end, int64_t now_ns)
{
    struct guest *guest = &pace->guests[host];
    struct server *server;
    bool was_inside = guest->place == INSIDE, answers;

    if (guest->place == OUTSIDE)
        return false;
    guest->place = OUTSIDE;
    if (!was_inside)
        return false;
    server = &pace->servers[guest->server];
    server->inside--;
    answers = server->answered_ns && now_ns - server->answered_ns < ANSWERS_NS;
    if (end == LOGIN_PACE_IN) {
        server->answered_ns = now_ns;
        widen(server);
    } else if (end == LOGIN_PACE_DROPPED && guest->ticket > server->halved_at) {
        halve(pace, server);
    }
    return end == LOGIN_PACE_DROPPED && (server->inside > 0 || answers);
}

int login_pace_window(const struct login_pace *pace, const char *name)
{
    size_t i = find(pace, name);

    return i < pace->n_servers ? (int)pace->servers[i].window
                               : LOGIN_PACE_FIRST;
}

int64_t login_pace_pause_ms(int drops, uint32_t random)
{
    int doublings = drops < PAUSE_DOUBLINGS ? drops : PAUSE_DOUBLINGS;
    int64_t most = (int64_t)PAUSE_FIRST_MS << doublings;

    return most / 2 + random % (most / 2 + 1);
}
