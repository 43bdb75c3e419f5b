#include "coordinator/serve/serve_http.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <microhttpd.h>
#include <sodium.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/serve/serve_connections.h"
#include "coordinator/serve/serve_list.h"
#include "coordinator/serve/serve_request.h"
#include "coordinator/serve/serve_source.h"
#include "coordinator/text/terminal.h"

#define DAEMONS 2 /* 127.0.0.1 and ::1 */
/* libmicrohttpd refuses those beyond.  It takes ten at once, and closes those
 * that made room for them at its next run. */
#define CONNECTIONS_MAX (2 * SERVE_CONNECTIONS_MAX)
#define BACKLOG 128
#define CONNECTION_BYTES_MAX ((size_t)16 * 1024) /* request and headers */
#define IDLE_S 30u
#define LIST_AGAIN                                             \
    "5" /* seconds until a list or a waiting page is asked for \
         */

struct kept {
    char version[HASH_HEX];
    struct MHD_Response *page;
};

struct http {
    struct serve_source *sources;
    struct kept *kept; /* [n], the newest page of each */
    struct MHD_Daemon *daemons[DAEMONS];
    struct serve_connections open[DAEMONS];
    struct serve_request_site site;
    char token[SERVE_REQUEST_TOKEN_DIGITS + 1];
};

static void put_header(struct MHD_Response *response, const char *name,
                       const char *value)
{
    if (MHD_add_response_header(response, name, value) != MHD_YES)
        mem_exhausted();
}

/* 'text' is freed with the response; NULL: an empty one. */
static struct MHD_Response *respond(char *text, size_t bytes, const char *type)
{
    struct MHD_Response *response = MHD_create_response_from_buffer(
        bytes, text ? text : "",
        text ? MHD_RESPMEM_MUST_FREE : MHD_RESPMEM_PERSISTENT);

    if (!response)
        mem_exhausted();
    if (type)
        put_header(response, "Content-Type", type);
    put_header(response, "Cache-Control", "no-store");
    put_header(response, "Content-Security-Policy",
               "frame-ancestors 'none'; object-src 'none'");
    put_header(response, "Cross-Origin-Resource-Policy", "same-origin");
    put_header(response, "Referrer-Policy", "no-referrer");
    put_header(response, "X-Content-Type-Options", "nosniff");
    return response;
}

static enum MHD_Result send_once(struct MHD_Connection *connection, int status,
                                 struct MHD_Response *response)
{
    enum MHD_Result sent =
        MHD_queue_response(connection, (unsigned)status, response);

    MHD_destroy_response(response);
    return sent;
}

static enum MHD_Result send_markup(struct MHD_Connection *connection,
                                   char *text, size_t bytes, bool again)
{
    struct MHD_Response *response =
        respond(text, bytes, "text/html; charset=utf-8");

    if (again)
        put_header(response, "Refresh", LIST_AGAIN);
    return send_once(connection, MHD_HTTP_OK, response);
}

static enum MHD_Result send_list(struct http *http,
                                 struct MHD_Connection *connection)
{
    char *text;
    size_t bytes;
    FILE *to = mem_stream(&text, &bytes);

    for (size_t i = 0; i < http->site.n; i++)
        serve_source_look(&http->sources[i], clock_boot_ns(), clock_utc_ns());
    serve_list_write(http->sources, http->site.n, to);
    mem_stream_close(to, &text);
    return send_markup(connection, text, bytes,
                       serve_list_is_live(http->sources, http->site.n));
}

static enum MHD_Result send_wait(const struct serve_source *source,
                                 struct MHD_Connection *connection)
{
    char *text;
    size_t bytes;
    FILE *to = mem_stream(&text, &bytes);

    serve_list_wait(source, to);
    mem_stream_close(to, &text);
    return send_markup(connection, text, bytes, true);
}

/* A page that is being sent lives until its last byte is sent. */
static void keep_page(struct serve_source *source, struct kept *kept)
{
    if (!source->page)
        return;
    if (kept->page)
        MHD_destroy_response(kept->page);
    kept->page =
        respond(source->page, source->page_bytes, "text/html; charset=utf-8");
    source->page = NULL;
    memcpy(kept->version, source->version, sizeof(kept->version));
}

static enum MHD_Result send_page(struct http *http, size_t i,
                                 struct MHD_Connection *connection)
{
    struct serve_source *source = &http->sources[i];

    serve_source_look(source, clock_boot_ns(), clock_utc_ns());
    keep_page(source, &http->kept[i]);
    if (!http->kept[i].page)
        return send_wait(source, connection);
    return MHD_queue_response(connection, MHD_HTTP_OK, http->kept[i].page);
}

static enum MHD_Result send_version(struct http *http, size_t i,
                                    struct MHD_Connection *connection)
{
    const char *known = MHD_lookup_connection_value(connection, MHD_HEADER_KIND,
                                                    "If-None-Match");
    char hash[HASH_HEX], tag[HASH_HEX + 2], *text;
    struct MHD_Response *response;
    bool same;

    serve_source_look(&http->sources[i], clock_boot_ns(), clock_utc_ns());
    text = serve_source_version_json(&http->sources[i]);
    hash_of(text, strlen(text), hash);
    snprintf(tag, sizeof(tag), "\"%s\"", hash);
    same = known && strcmp(known, tag) == 0;
    if (same) {
        free(text);
        text = NULL;
    }
    response = respond(text, text ? strlen(text) : 0, "application/json");
    put_header(response, "ETag", tag);
    return send_once(connection, same ? MHD_HTTP_NOT_MODIFIED : MHD_HTTP_OK,
                     response);
}

static enum MHD_Result send_status(struct MHD_Connection *connection,
                                   int status)
{
    struct MHD_Response *response = respond(NULL, 0, NULL);

    if (status == MHD_HTTP_FOUND)
        put_header(response, "Location", "1/");
    if (status == MHD_HTTP_METHOD_NOT_ALLOWED)
        put_header(response, "Allow", "GET, HEAD");
    return send_once(connection, status, response);
}

struct headers {
    const char *host;
    int hosts;
    bool has_body;
};

static enum MHD_Result take_header(void *arg, enum MHD_ValueKind kind,
                                   const char *name, const char *value)
{
    struct headers *headers = arg;

    (void)kind;
    if (strcasecmp(name, "Host") == 0) {
        headers->host = value;
        headers->hosts++;
    }
    if (strcasecmp(name, "Transfer-Encoding") == 0 ||
        (strcasecmp(name, "Content-Length") == 0 && strcmp(value, "0") != 0))
        headers->has_body = true;
    return MHD_YES;
}

/* Called first when the headers are there; the answer is queued then, so that
 * no body is read. */
static enum MHD_Result answer(void *arg, struct MHD_Connection *connection,
                              const char *path, const char *method,
                              const char *version, const char *body,
                              size_t *body_bytes, void **state)
{
    struct http *http = arg;
    struct headers headers = { .host = NULL };
    struct serve_request_answer answer;

    (void)version;
    (void)body;
    (void)body_bytes;
    (void)state;
    MHD_get_connection_values(connection, MHD_HEADER_KIND, take_header,
                              &headers);
    answer = serve_request_answer(
        &http->site, &(struct serve_request){
                         .method = method,
                         .path = path,
                         .host = headers.hosts == 1 ? headers.host : NULL,
                         .has_body = headers.has_body });
    switch (answer.page) {
    case SERVE_REQUEST_LIST:
        return send_list(http, connection);
    case SERVE_REQUEST_PAGE:
        return send_page(http, answer.database, connection);
    case SERVE_REQUEST_VERSION:
        return send_version(http, answer.database, connection);
    case SERVE_REQUEST_NONE:
        break;
    }
    return send_status(connection, answer.status);
}

/* Paths with escapes are not understood. */
static size_t keep_escapes(void *arg, struct MHD_Connection *connection,
                           char *text)
{
    (void)arg;
    (void)connection;
    return strlen(text);
}

/* A socket that listens at 'port', or at a free one, which is filled in. */
static int listen_at(int family, int *port)
{
    struct sockaddr_in v4 = { .sin_family = AF_INET,
                              .sin_port = htons((uint16_t)*port),
                              .sin_addr = { htonl(INADDR_LOOPBACK) } };
    struct sockaddr_in6 v6 = { .sin6_family = AF_INET6,
                               .sin6_port = htons((uint16_t)*port),
                               .sin6_addr = IN6ADDR_LOOPBACK_INIT };
    bool is_v4 = family == AF_INET;
    const struct sockaddr *at = is_v4 ? (void *)&v4 : (void *)&v6;
    socklen_t len = is_v4 ? sizeof(v4) : sizeof(v6);
    int one = 1, fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0);

    if (fd < 0)
        return -1;
    if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &one, sizeof(one)) < 0 ||
        (!is_v4 &&
         setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &one, sizeof(one)) < 0) ||
        bind(fd, at, len) < 0 || listen(fd, BACKLOG) < 0 ||
        (is_v4 && getsockname(fd, (struct sockaddr *)&v4, &len) < 0)) {
        int saved = errno;

        close(fd);
        errno = saved;
        return -1;
    }
    if (is_v4)
        *port = ntohs(v4.sin_port);
    return fd;
}

static void note_connection(void *arg, struct MHD_Connection *connection,
                            void **state,
                            enum MHD_ConnectionNotificationCode code)
{
    const union MHD_ConnectionInfo *is =
        MHD_get_connection_info(connection, MHD_CONNECTION_INFO_CONNECTION_FD);

    (void)state;
    if (code == MHD_CONNECTION_NOTIFY_STARTED)
        serve_connections_add(arg, is->connect_fd);
    else
        serve_connections_remove(arg, is->connect_fd);
}

static struct MHD_Daemon *start_daemon(struct http *http, int i, int fd)
{
    struct MHD_Daemon *daemon = MHD_start_daemon(
        MHD_USE_EPOLL, 0, NULL, NULL, answer, http, MHD_OPTION_LISTEN_SOCKET,
        fd, MHD_OPTION_CONNECTION_LIMIT, CONNECTIONS_MAX,
        MHD_OPTION_CONNECTION_MEMORY_LIMIT, CONNECTION_BYTES_MAX,
        MHD_OPTION_CONNECTION_TIMEOUT, IDLE_S, MHD_OPTION_NOTIFY_CONNECTION,
        note_connection, &http->open[i], MHD_OPTION_UNESCAPE_CALLBACK,
        keep_escapes, NULL, MHD_OPTION_END);

    if (!daemon)
        close(fd);
    return daemon;
}

static int start(struct http *http, struct err *err)
{
    int fd = listen_at(AF_INET, &http->site.port);

    if (fd < 0)
        return err_set(err, ERR_SYSTEM, "port %d of 127.0.0.1: %s",
                       http->site.port, strerror(errno));
    http->daemons[0] = start_daemon(http, 0, fd);
    if (!http->daemons[0])
        return err_set(err, ERR_SYSTEM, "libmicrohttpd does not start");
    fd = listen_at(AF_INET6, &http->site.port);
    if (fd >= 0) /* else there is no ::1, or its port is taken */
        http->daemons[1] = start_daemon(http, 1, fd);
    return 0;
}

static int open_signals(struct err *err)
{
    sigset_t set;
    int fd;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    sigprocmask(SIG_BLOCK, &set, NULL);
    signal(SIGPIPE, SIG_IGN);
    fd = signalfd(-1, &set, SFD_CLOEXEC);
    if (fd < 0)
        return err_set(err, ERR_SYSTEM, "signalfd: %s", strerror(errno));
    return fd;
}

static unsigned connections(struct MHD_Daemon *daemon)
{
    return MHD_get_daemon_info(daemon, MHD_DAEMON_INFO_CURRENT_CONNECTIONS)
        ->num_connections;
}

/* A daemon that had too many connections, or no descriptor for one more, waits
 * for its next run to listen again, so it runs until none was closed. */
static void run(struct MHD_Daemon *daemon)
{
    unsigned before;

    do {
        before = connections(daemon);
        MHD_run(daemon);
    } while (connections(daemon) < before);
}

/* Until a signal comes. */
static void turn(struct http *http, int signals)
{
    struct pollfd fds[1 + DAEMONS] = { { .fd = signals, .events = POLLIN } };

    while (!fds[0].revents) {
        MHD_UNSIGNED_LONG_LONG wait_ms = 1000 * IDLE_S, left;

        for (int i = 0; i < DAEMONS; i++) {
            fds[1 + i] = (struct pollfd){ .fd = -1, .events = POLLIN };
            if (!http->daemons[i])
                continue;
            fds[1 + i].fd =
                MHD_get_daemon_info(http->daemons[i], MHD_DAEMON_INFO_EPOLL_FD)
                    ->epoll_fd;
            if (MHD_get_timeout(http->daemons[i], &left) == MHD_YES &&
                left < wait_ms)
                wait_ms = left;
        }
        (void)poll(fds, 1 + DAEMONS, (int)wait_ms); /* EINTR: once more */
        for (int i = 0; i < DAEMONS; i++)
            if (http->daemons[i])
                run(http->daemons[i]);
    }
}

static int say_address(const struct http *http, struct err *err)
{
    printf("http://127.0.0.1:%d/%s/\n", http->site.port, http->token);
    return terminal_flush(stdout, err);
}

int serve_http_run(struct serve_source *sources, size_t n, int port,
                   struct err *err)
{
    struct http http = { .sources = sources,
                         .kept = mem_new(n, sizeof(*http.kept)) };
    unsigned char secret[SERVE_REQUEST_TOKEN_DIGITS / 2];
    int signals = open_signals(err), rc = signals;

    randombytes_buf(secret, sizeof(secret));
    sodium_bin2hex(http.token, sizeof(http.token), secret, sizeof(secret));
    http.site = (struct serve_request_site){ http.token, port, n };
    if (rc >= 0)
        rc = start(&http, err);
    if (rc == 0)
        rc = say_address(&http, err);
    if (rc == 0)
        turn(&http, signals);
    for (int i = 0; i < DAEMONS; i++)
        if (http.daemons[i])
            MHD_stop_daemon(http.daemons[i]);
    for (size_t i = 0; i < n; i++)
        if (http.kept[i].page)
            MHD_destroy_response(http.kept[i].page);
    free(http.kept);
    if (signals >= 0)
        close(signals);
    return rc;
}
