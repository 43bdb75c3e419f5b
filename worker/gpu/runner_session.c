#include "worker/gpu/runner_session.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/mem.h"

#define END_NS (5 * NS_PER_S) /* to kill it before it is abandoned */

enum {
    ENV_MAX = 16,
    STDERR_SHOWN = 600, /* last bytes of stderr in a reason */
    LINES_IN_A_STEP = 4096
};

struct runner_session {
    struct child *child;
    char *request; /* bytes from 'written' on are still to be written */
    size_t request_len, written;
    char line[WIRE_LINE_MAX];
    size_t line_len;
    struct wire_reply reply;
    bool asked;                /* a request has no answer yet */
    int64_t limit_at_ns;       /* of the request; INT64_MAX: none */
    bool killed, over, broken; /* why it ended: caller, limit, garbage */
    char why[WIRE_WHY_MAX];    /* if broken: why */
};

/* The environment that CUDA and a loader need from the user's set-up. */
static size_t environment(const char *folder, const char *env[ENV_MAX],
                          char *owned[ENV_MAX])
{
    static const char *const names[] = {
        "PATH",
        "HOME",
        "LD_LIBRARY_PATH",
        "CUDA_VISIBLE_DEVICES",
        "CUDA_DEVICE_ORDER",
        "CUDA_CACHE_PATH",
        "NVIDIA_VISIBLE_DEVICES",
    };
    size_t n = 0;

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
        if (getenv(names[i]))
            owned[n++] = mem_printf("%s=%s", names[i], getenv(names[i]));
    owned[n++] = mem_printf("TMPDIR=%s", folder);
    owned[n++] = mem_strdup("LC_ALL=C");
    for (size_t i = 0; i < n; i++)
        env[i] = owned[i];
    env[n] = NULL;
    return n;
}

int runner_session_start(const struct runner_session_spec *spec, int64_t now_ns,
                         struct runner_session **out, struct err *err)
{
    const char *env[ENV_MAX];
    char *owned[ENV_MAX];
    size_t n = environment(spec->folder, env, owned);
    struct runner_session *session = mem_new(1, sizeof(*session));
    int rc = child_start(
        &(struct child_spec){
            .argv = (const char *[]){ spec->runner, NULL },
            .env = env,
            .folder = spec->folder,
            .sandbox = spec->sandbox,
            .interactive = true,
        },
        now_ns, &session->child, err);

    while (n > 0)
        free(owned[--n]);
    session->limit_at_ns = INT64_MAX;
    if (rc < 0) {
        free(session);
        return rc;
    }
    *out = session;
    return 0;
}

void runner_session_free(struct runner_session *session)
{
    if (!session)
        return;
    child_finish(session->child, END_NS);
    free(session->request);
    free(session);
}

void runner_session_ask(struct runner_session *session,
                        const struct wire_request *request, int64_t limit_ns,
                        int64_t now_ns)
{
    FILE *stream;

    free(session->request);
    stream = mem_stream(&session->request, &session->request_len);
    (void)wire_write_request(stream, request); /* the stream keeps its error */
    mem_stream_close(stream, &session->request);
    session->written = 0;
    session->asked = true;
    session->limit_at_ns = now_ns + limit_ns;
    memset(&session->reply, 0, sizeof(session->reply));
    capture_clear(child_stderr(session->child));
}

void runner_session_kill(struct runner_session *session, int64_t now_ns)
{
    session->killed = true;
    child_kill(session->child, now_ns);
}

size_t runner_session_poll(const struct runner_session *session,
                           struct pollfd *fds, size_t max)
{
    size_t n = child_poll(session->child, fds, max);

    if (n < max && child_out(session->child) >= 0)
        fds[n++] = (struct pollfd){ .fd = child_out(session->child),
                                    .events = POLLIN };
    if (n < max && session->written < session->request_len &&
        child_in(session->child) >= 0)
        fds[n++] = (struct pollfd){ .fd = child_in(session->child),
                                    .events = POLLOUT };
    return n;
}

int64_t runner_session_deadline_ns(const struct runner_session *session)
{
    int64_t at_ns = child_deadline_ns(session->child);

    return session->limit_at_ns < at_ns ? session->limit_at_ns : at_ns;
}

static void break_off(struct runner_session *session, int64_t now_ns)
{
    session->broken = true;
    session->asked = false;
    child_kill(session->child, now_ns);
}

static void write_request(struct runner_session *session)
{
    while (session->written < session->request_len) {
        ssize_t n =
            write(child_in(session->child), session->request + session->written,
                  session->request_len - session->written);

        if (n < 0 && errno != EINTR)
            return; /* full; or it has ended, which its other pipes show */
        session->written += n > 0 ? (size_t)n : 0;
    }
}

/* Parse the complete lines; true with the last one of a reply. */
static bool take_lines(struct runner_session *session, int64_t now_ns)
{
    char *end;

    while ((end = memchr(session->line, '\n', session->line_len))) {
        size_t len = (size_t)(end - session->line) + 1;
        enum wire_step step = WIRE_BAD;

        *end = '\0';
        if (session->asked)
            step =
                wire_reply_line(&session->reply, session->line, session->why);
        else
            snprintf(session->why, sizeof(session->why), "'%.60s' unasked",
                     session->line);
        session->line_len -= len;
        memmove(session->line, session->line + len, session->line_len);
        if (step == WIRE_BAD) {
            break_off(session, now_ns);
            return false;
        }
        if (step == WIRE_DONE)
            return true;
    }
    if (session->line_len == sizeof(session->line)) {
        snprintf(session->why, sizeof(session->why), "a line does not end");
        break_off(session, now_ns);
    }
    return false;
}

static bool read_reply(struct runner_session *session, int64_t now_ns)
{
    for (int i = 0; i < LINES_IN_A_STEP && !session->broken; i++) {
        ssize_t n;

        if (take_lines(session, now_ns))
            return true;
        n = read(child_out(session->child), session->line + session->line_len,
                 sizeof(session->line) - session->line_len);
        if (n <= 0)
            return false;
        session->line_len += (size_t)n;
    }
    return false;
}

enum runner_session_event runner_session_step(struct runner_session *session,
                                              int64_t now_ns)
{
    enum child_state state = child_step(session->child, now_ns);

    if (state == CHILD_RUNNING)
        write_request(session);
    if (read_reply(session, now_ns)) {
        session->asked = false;
        session->limit_at_ns = INT64_MAX;
        return RUNNER_SESSION_REPLY;
    }
    if (state == CHILD_ENDED)
        return RUNNER_SESSION_DEAD;
    if (state == CHILD_STUCK)
        return RUNNER_SESSION_STUCK;
    if (now_ns >= session->limit_at_ns) {
        session->over = true;
        session->limit_at_ns = INT64_MAX;
        child_kill(session->child, now_ns);
    }
    return RUNNER_SESSION_NOTHING;
}

const struct wire_reply *
runner_session_reply(const struct runner_session *session)
{
    return &session->reply;
}

/* The end of its stderr as one line. */
static void last_words(struct runner_session *session, char *out, size_t size)
{
    const char *text;
    struct buf all;
    size_t n = 0;

    buf_init(&all, CAPTURE_HEAD + CAPTURE_TAIL + 64);
    capture_text(child_stderr(session->child), &all);
    text = buf_text(&all);
    if (all.len > STDERR_SHOWN)
        text += all.len - STDERR_SHOWN;
    while (*text && strchr("\n ", *text))
        text++;
    for (; *text && n + 1 < size; text++)
        out[n++] = (unsigned char)*text < ' ' ? ' ' : *text;
    while (n > 0 && out[n - 1] == ' ')
        n--;
    out[n] = '\0';
    buf_fini(&all);
}

void runner_session_end(struct runner_session *session,
                        struct runner_session_end *out)
{
    const struct child_end *end = child_end(session->child);
    char how[CHILD_END_BYTES], words[STDERR_SHOWN + 1];

    out->signal = end->signal;
    out->in_reference = strcmp(session->reply.stage, WIRE_STAGE_REFERENCE) == 0;
    out->cause = end->exited ? RUNNER_SESSION_EXITED : RUNNER_SESSION_SIGNALLED;
    if (session->killed)
        out->cause = RUNNER_SESSION_KILLED;
    else if (session->over)
        out->cause = RUNNER_SESSION_LIMIT;
    else if (session->broken)
        out->cause = RUNNER_SESSION_GARBAGE;
    child_end_text(end, how);
    last_words(session, words, sizeof(words));
    snprintf(out->text, sizeof(out->text), "%s%s%s",
             session->broken ? session->why : how, words[0] ? ": " : "", words);
}
