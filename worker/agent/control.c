#include "worker/agent/control.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <sodium.h>

#include "common/clock.h"
#include "common/mem.h"

#define BACKLOG 8
#define GUEST_NS (5 * NS_PER_S) /* a relay sends its text at once */
#define ANSWER_BYTES 512

static const char *const words[] = {
    [CONTROL_NO] = "no ", [CONTROL_BUSY] = "busy ", [CONTROL_LATER] = "later "
};

struct control {
    struct sockaddr_un at;
    int listener;
    int relay; /* the attached one, or -1 */
    int guest; /* one whose invitation is not complete yet, or -1 */
    int64_t guest_until_ns;
    char text[INVITE_BYTES_MAX];
    size_t len;
};

static int sys_err(const char *what, struct err *err)
{
    return err_set(err, ERR_SYSTEM, "%s: %s", what, strerror(errno));
}

static struct sockaddr_un address(const char *path)
{
    struct sockaddr_un at = { .sun_family = AF_UNIX };

    snprintf(at.sun_path, sizeof(at.sun_path), "%s", path); /* instance.h */
    return at;
}

int control_open(const char *path, struct control **out, struct err *err)
{
    struct control *control = mem_new(1, sizeof(*control));
    int rc = 0;

    control->at = address(path);
    control->relay = control->guest = -1;
    control->listener =
        socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    unlink(control->at.sun_path); /* a killed worker's: we hold the lock */
    if (control->listener < 0 ||
        bind(control->listener, (struct sockaddr *)&control->at,
             sizeof(control->at)) < 0 ||
        listen(control->listener, BACKLOG) < 0)
        rc = sys_err(control->at.sun_path, err);
    if (rc < 0) {
        control_close(control);
        return rc;
    }
    *out = control;
    return 0;
}

static void hang_up(int *fd)
{
    if (*fd >= 0)
        close(*fd);
    *fd = -1;
}

static void forget_guest(struct control *control)
{
    hang_up(&control->guest);
    sodium_memzero(control->text, sizeof(control->text));
    control->len = 0;
}

void control_deafen(struct control *control)
{
    if (control->listener >= 0)
        unlink(control->at.sun_path);
    hang_up(&control->listener);
    forget_guest(control);
}

void control_close(struct control *control)
{
    if (!control)
        return;
    control_deafen(control);
    hang_up(&control->relay);
    free(control);
}

size_t control_fds(const struct control *control,
                   struct pollfd fds[CONTROL_FDS_MAX])
{
    const int all[] = { control->relay, control->guest,
                        control->guest < 0 ? control->listener : -1 };
    size_t n = 0;

    for (size_t i = 0; i < CONTROL_FDS_MAX; i++)
        if (all[i] >= 0)
            fds[n++] = (struct pollfd){ .fd = all[i], .events = POLLIN };
    return n;
}

static bool is_ours(int fd)
{
    struct ucred who;
    socklen_t len = sizeof(who);

    return getsockopt(fd, SOL_SOCKET, SO_PEERCRED, &who, &len) == 0 &&
           who.uid == geteuid();
}

static void welcome_guest(struct control *control, int64_t now_ns)
{
    int fd =
        accept4(control->listener, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);

    if (fd >= 0 && !is_ours(fd))
        hang_up(&fd);
    control->guest = fd;
    control->guest_until_ns = now_ns + GUEST_NS;
}

/* Returns 1 if the text is complete, 0 if not yet, ERR_* if it never will
 * be. */
static int read_guest(struct control *control, int64_t now_ns, struct err *err)
{
    ssize_t n = recv(control->guest, control->text + control->len,
                     sizeof(control->text) - control->len, 0);
    int end;

    if (n == 0)
        return err_set(err, ERR_NETWORK, "the relay hung up");
    if (n > 0)
        control->len += (size_t)n;
    else if (errno != EAGAIN && errno != EINTR)
        return sys_err("relay", err);
    end = invite_end(control->text, control->len, err);
    if (end == 0 && now_ns >= control->guest_until_ns)
        return err_set(err, ERR_PROTO, "the invitation does not end");
    return end > 0 ? 1 : end;
}

/* The relay sends nothing after its invitation, so input here means
 * end-of-file. */
static void look_after_relay(struct control *control)
{
    char byte;
    ssize_t n = recv(control->relay, &byte, 1, MSG_DONTWAIT);

    if (n >= 0 || (errno != EAGAIN && errno != EINTR))
        hang_up(&control->relay);
}

int control_step(struct control *control, int64_t now_ns, struct invite *out)
{
    struct err err;
    int rc;

    if (control->relay >= 0)
        look_after_relay(control);
    if (control->guest < 0)
        welcome_guest(control, now_ns);
    if (control->guest < 0)
        return 0;
    rc = read_guest(control, now_ns, &err);
    if (rc == 1)
        rc = invite_parse(control->text, control->len, out, &err) < 0 ? -1 : 1;
    if (rc < 0)
        control_refuse(control, CONTROL_NO, err.text);
    return rc == 1;
}

static void answer(struct control *control, const char *word, const char *why)
{
    char line[ANSWER_BYTES];
    int n = snprintf(line, sizeof(line) - 1, "%s%s", word, why);

    if (n > (int)sizeof(line) - 2)
        n = sizeof(line) - 2;
    line[n++] = '\n';
    /* if it has left already, the next step sees that */
    (void)send(control->guest, line, (size_t)n, MSG_NOSIGNAL);
}

void control_accept(struct control *control)
{
    answer(control, "ok", "");
    hang_up(&control->relay);
    control->relay = control->guest;
    control->guest = -1;
    forget_guest(control);
}

void control_refuse(struct control *control, enum control_refusal how,
                    const char *why)
{
    answer(control, words[how], why);
    forget_guest(control);
}

bool control_is_attached(const struct control *control)
{
    return control->relay >= 0;
}

int control_connect(const char *path, struct err *err)
{
    struct sockaddr_un at = address(path);
    int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int rc;

    if (fd < 0)
        return sys_err(at.sun_path, err);
    if (connect(fd, (struct sockaddr *)&at, sizeof(at)) == 0)
        return fd;
    rc = err_set(err, ERR_NETWORK, "%s: %s", at.sun_path, strerror(errno));
    close(fd);
    return rc;
}

static int read_answer(int fd, int64_t until_ns, char line[ANSWER_BYTES],
                       struct err *err)
{
    size_t len = 0;

    while (len < ANSWER_BYTES - 1) {
        int64_t left_ns = until_ns - clock_boot_ns();
        struct pollfd wait = { .fd = fd, .events = POLLIN };
        ssize_t n;

        if (left_ns <= 0)
            return err_set(err, ERR_NETWORK,
                           "the worker does not answer its control socket");
        if (poll(&wait, 1, (int)(left_ns / NS_PER_MS) + 1) <= 0)
            continue;
        n = recv(fd, line + len, ANSWER_BYTES - 1 - len, 0);
        if (n <= 0)
            return err_set(err, ERR_NETWORK, "the worker hung up");
        len += (size_t)n;
        line[len] = '\0';
        if (line[len - 1] == '\n') {
            line[len - 1] = '\0';
            return 0;
        }
    }
    return err_set(err, ERR_PROTO, "the worker's answer does not end");
}

/* Returns what control_offer() returns. */
static int read_refusal(const char *line, struct err *err)
{
    static const int codes[] = { [CONTROL_NO] = ERR_AUTH,
                                 [CONTROL_BUSY] = CONTROL_BUSY,
                                 [CONTROL_LATER] = ERR_NETWORK };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strncmp(line, words[i], strlen(words[i])) == 0)
            return err_set(err, codes[i], "%s", line + strlen(words[i]));
    return err_set(err, ERR_AUTH, "%s", line);
}

int control_offer(int fd, const struct invite *invite, int timeout_ms,
                  struct err *err)
{
    char text[INVITE_BYTES_MAX], line[ANSWER_BYTES];
    size_t len = invite_write(invite, text);
    ssize_t sent = send(fd, text, len, MSG_NOSIGNAL);
    int rc;

    sodium_memzero(text, sizeof(text));
    if (sent < 0 && (errno == EPIPE || errno == ECONNRESET))
        return err_set(err, ERR_NETWORK, "the worker hung up");
    if (sent != (ssize_t)len) /* it fits an empty socket buffer */
        return sys_err("control socket", err);
    rc = read_answer(fd, clock_boot_ns() + timeout_ms * NS_PER_MS, line, err);
    if (rc < 0)
        return rc;
    if (strcmp(line, "ok") == 0)
        return 0;
    return read_refusal(line, err);
}
