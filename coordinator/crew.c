#include "coordinator/crew.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/invite.h"
#include "common/mem.h"
#include "coordinator/deploy.h"
#include "coordinator/hand.h"
#include "coordinator/hosts.h"
#include "coordinator/server.h"

#define STOP_MS 2000 /* RELIABILITY F19: the second Ctrl-C */

struct crew {
    struct hand **hands;
    size_t n;
    struct program worker;
};

/* fa-worker lies beside fa-coord, or where `cmake --install` puts it. */
static int load_worker(struct program *out, struct err *err)
{
    static const char *const places[] = { "fa-worker",
                                          "../libexec/fa-coord/fa-worker" };
    char self[PATH_MAX], path[PATH_MAX + 64];
    ssize_t n = readlink("/proc/self/exe", self, sizeof(self) - 1);
    char *slash;

    self[n < 0 ? 0 : n] = '\0';
    slash = strrchr(self, '/');
    if (!slash)
        return err_set(err, ERR_SYSTEM, "/proc/self/exe: %s", strerror(errno));
    *slash = '\0';
    for (size_t i = 0; i < sizeof(places) / sizeof(places[0]); i++) {
        snprintf(path, sizeof(path), "%s/%s", self, places[i]);
        if (access(path, R_OK) == 0)
            return program_load(path, out, err);
    }
    return err_set(err, ERR_INPUT,
                   "fa-worker is not in %s; it is built and installed "
                   "together with fa-coord",
                   self);
}

static int start_hand(struct crew *crew, void *zctx, const struct hosts *hosts,
                      struct server *server, const struct crew_options *options,
                      struct err *err)
{
    struct hand_task task = {
        .index = crew->n,
        .host = &hosts->list[crew->n],
        .program = &crew->worker,
        .invite = { .epoch = options->epoch,
                    .linger_ms = options->linger_s * 1000 },
    };
    struct invite *invite = &task.invite;
    int rc;

    snprintf(invite->endpoint, sizeof(invite->endpoint), "%s", INVITE_RELAY);
    snprintf(invite->server_key, CURVE_KEY_BYTES, "%s",
             server_public_key(server));
    rc = server_admit(server, crew->n, invite->public_key, invite->secret_key,
                      err);
    if (rc == 0)
        rc = hand_start(zctx, &task, options, &crew->hands[crew->n], err);
    if (rc == 0)
        crew->n++;
    invite_wipe(invite);
    return rc;
}

int crew_start(void *zctx, const struct hosts *hosts, struct server *server,
               const struct crew_options *options, struct crew **out,
               struct err *err)
{
    struct crew *crew = mem_new(1, sizeof(*crew));
    int rc = load_worker(&crew->worker, err);

    crew->hands = mem_new(hosts->n, sizeof(struct hand *));
    *out = crew;
    while (rc == 0 && crew->n < hosts->n)
        rc = start_hand(crew, zctx, hosts, server, options, err);
    return rc;
}

void *crew_socket(struct crew *crew, size_t host)
{
    return hand_socket(crew->hands[host]);
}

int crew_recv(struct crew *crew, size_t host, struct crew_news *out)
{
    return hand_recv(crew->hands[host], out);
}

void crew_dismiss(struct crew *crew, size_t host)
{
    hand_dismiss(crew->hands[host]);
}

/* When a hand is left behind, so is what it holds: the program is about to
 * end. */
bool crew_stop(struct crew *crew)
{
    int64_t until = clock_boot_ns() + STOP_MS * NS_PER_MS;
    bool all = true;

    if (!crew)
        return true;
    for (size_t i = 0; i < crew->n; i++)
        hand_dismiss(crew->hands[i]);
    for (size_t i = 0; i < crew->n; i++)
        all = hand_join(crew->hands[i], until) && all;
    if (all) {
        program_fini(&crew->worker);
        free(crew->hands);
        free(crew);
    }
    return all;
}
