#include "coordinator/remote/login_pace.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/int64.h"
#include "common/mem.h"

#define ANSWERS_NS (60 * NS_PER_S)
#define PAUSE_FIRST_MS 400
#define PAUSE_DOUBLINGS 4 /* 6.4 s */

/* One sshd, as far as is known. */
struct server {
    char identity[LOGIN_PACE_IDENTITY_BYTES]; /* "": not known yet */
    double window;
    int inside;
    int64_t answered_ns; /* the last time; 0: never */
    int64_t answered_at; /* a ticket of that moment */
    int64_t halved_at;   /* the last ticket before it was halved */
};

struct address {
    char name[LOGIN_PACE_SERVER_BYTES];
    size_t server;
};

enum place {
    OUTSIDE,
    WAITING,
    INSIDE
};

struct guest {
    enum place place;
    size_t address;
    int64_t ticket; /* when it asked, or entered */
};

struct login_pace {
    struct server *servers; /* one is made for each address */
    struct address *addresses;
    size_t n_addresses;
    size_t dropping; /* the server of those that never answered */
    bool has_dropping;
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
    free(pace->addresses);
    free(pace->guests);
    free(pace);
}

static size_t find(const struct login_pace *pace, const char *name)
{
    size_t i = 0;

    while (i < pace->n_addresses && strcmp(pace->addresses[i].name, name) != 0)
        i++;
    return i;
}

static void add(struct login_pace *pace, const char *name)
{
    size_t i = pace->n_addresses++;
    struct address *address;

    pace->servers = mem_grow(pace->servers, i + 1, sizeof(*pace->servers));
    pace->addresses =
        mem_grow(pace->addresses, i + 1, sizeof(*pace->addresses));
    pace->servers[i] = (struct server){ .window = LOGIN_PACE_FIRST };
    address = &pace->addresses[i];
    address->server = i;
    snprintf(address->name, sizeof(address->name), "%s", name);
}

void login_pace_ask(struct login_pace *pace, size_t host, const char *name)
{
    size_t i = find(pace, name);

    if (i == pace->n_addresses)
        add(pace, name);
    pace->guests[host] = (struct guest){ WAITING, i, ++pace->tickets };
}

static struct server *server_of(const struct login_pace *pace,
                                const struct guest *guest)
{
    return &pace->servers[pace->addresses[guest->address].server];
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

        if (guest->place == WAITING && has_room(server_of(pace, guest)) &&
            (!first || guest->ticket < first->ticket)) {
            first = guest;
            *host = i;
        }
    }
    if (!first)
        return false;
    server_of(pace, first)->inside++;
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

/* Two servers are one: its logins are those of both, and its window is the
 * smaller one. */
static void merge(struct login_pace *pace, size_t gone, size_t into)
{
    struct server *from = &pace->servers[gone], *to = &pace->servers[into];

    if (gone == into)
        return;
    to->inside += from->inside;
    if (from->window < to->window)
        to->window = from->window;
    to->answered_ns = int64_max(to->answered_ns, from->answered_ns);
    to->answered_at = int64_max(to->answered_at, from->answered_at);
    to->halved_at = int64_max(to->halved_at, from->halved_at);
    from->inside = 0;
    for (size_t i = 0; i < pace->n_addresses; i++)
        if (pace->addresses[i].server == gone)
            pace->addresses[i].server = into;
    if (pace->has_dropping && pace->dropping == gone)
        pace->dropping = into;
}

void login_pace_known(struct login_pace *pace, size_t host,
                      const char *identity)
{
    const struct guest *guest = &pace->guests[host];
    struct server *server;
    size_t mine;

    if (guest->place != INSIDE || !*identity)
        return;
    mine = pace->addresses[guest->address].server;
    server = server_of(pace, guest);
    if (!*server->identity)
        snprintf(server->identity, sizeof(server->identity), "%s", identity);
    for (size_t i = 0; i < pace->n_addresses; i++) {
        size_t other = pace->addresses[i].server;

        if (strncmp(pace->servers[other].identity, identity,
                    LOGIN_PACE_IDENTITY_BYTES - 1) == 0)
            merge(pace, other, mine);
    }
}

/* Did logins at other servers, any of which may be this one, overlap with one
 * that began at 'ticket'? */
static bool others_inside(const struct login_pace *pace,
                          const struct server *server, int64_t ticket)
{
    for (size_t i = 0; i < pace->n_addresses; i++) {
        const struct server *other = &pace->servers[i];

        if (other != server && (other->answered_at > ticket ||
                                (!*other->identity && other->inside > 0)))
            return true;
    }
    return false;
}

/* An address that never answered drops us. */
static void suspect(struct login_pace *pace, const struct guest *guest)
{
    size_t mine = pace->addresses[guest->address].server;

    if (pace->has_dropping)
        merge(pace, mine, pace->dropping);
    else
        pace->dropping = mine;
    pace->has_dropping = true;
}

bool login_pace_end(struct login_pace *pace, size_t host,
                    enum login_pace_end end, int64_t now_ns)
{
    struct guest *guest = &pace->guests[host];
    struct server *server;
    bool was_inside = guest->place == INSIDE, is_busy = false, answers;

    if (guest->place == OUTSIDE)
        return false;
    guest->place = OUTSIDE;
    if (!was_inside)
        return false;
    server = server_of(pace, guest);
    server->inside--;
    if (end == LOGIN_PACE_DROPPED && !*server->identity) {
        is_busy = others_inside(pace, server, guest->ticket);
        suspect(pace, guest);
        server = server_of(pace, guest);
    }
    answers = server->answered_ns && now_ns - server->answered_ns < ANSWERS_NS;
    if (end == LOGIN_PACE_IN) {
        server->answered_ns = now_ns;
        server->answered_at = ++pace->tickets;
        widen(server);
    } else if (end == LOGIN_PACE_DROPPED && guest->ticket > server->halved_at) {
        halve(pace, server);
    }
    return end == LOGIN_PACE_DROPPED &&
           (is_busy || server->inside > 0 || answers);
}

int login_pace_window(const struct login_pace *pace, const char *name)
{
    size_t i = find(pace, name);

    return i < pace->n_addresses
               ? (int)pace->servers[pace->addresses[i].server].window
               : LOGIN_PACE_FIRST;
}

int64_t login_pace_pause_ms(int drops, uint32_t random)
{
    int doublings = drops < PAUSE_DOUBLINGS ? drops : PAUSE_DOUBLINGS;
    int64_t most = (int64_t)PAUSE_FIRST_MS << doublings;

    return most / 2 + random % (most / 2 + 1);
}
