#include "tests/e2e/sshd.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <pwd.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/clock.h"

#define START_MS 10000

extern char **environ;

static pid_t start(const char *const argv[], const char *log)
{
    posix_spawn_file_actions_t actions;
    pid_t pid;

    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
    posix_spawn_file_actions_addopen(&actions, 1, log,
                                     O_WRONLY | O_CREAT | O_APPEND, 0600);
    posix_spawn_file_actions_adddup2(&actions, 1, 2);
    assert_int_equal(posix_spawnp(&pid, argv[0], &actions, NULL,
                                  (char *const *)argv, environ),
                     0);
    posix_spawn_file_actions_destroy(&actions);
    return pid;
}

static void make_key(const struct sshd *sshd, const char *name,
                     const char *type, const char *passphrase)
{
    char path[300], log[300];
    const char *const argv[] = { "ssh-keygen", "-q",       "-t", type,
                                 "-N",         passphrase, "-C", name,
                                 "-f",         path,       NULL };
    int status;

    snprintf(path, sizeof(path), "%s/%s", sshd->dir, name);
    snprintf(log, sizeof(log), "%s/keygen.log", sshd->dir);
    if (access(path, F_OK) == 0)
        return;
    assert_true(waitpid(start(argv, log), &status, 0) > 0);
    assert_int_equal(status, 0);
}

static void read_line(const struct sshd *sshd, const char *name, char *out,
                      size_t size)
{
    char path[300];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", sshd->dir, name);
    file = fopen(path, "r");
    assert_non_null(file);
    assert_non_null(fgets(out, (int)size, file));
    fclose(file);
    out[strcspn(out, "\n")] = '\0';
}

static void write_text(const struct sshd *sshd, const char *name,
                       const char *text)
{
    char path[300];
    FILE *file;

    snprintf(path, sizeof(path), "%s/%s", sshd->dir, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0600), 0);
}

static void make_keys(struct sshd *sshd)
{
    static const char *const login[][3] = {
        { "id_ed25519", "ed25519", "" },
        { "id_ecdsa", "ecdsa", "" },
        { "id_rsa", "rsa", "" },
        { "id_locked", "ed25519", "secret" },
    };
    char keys[4096] = "", name[300], line[1024];
    const char *space;

    for (size_t i = 0; i < sizeof(login) / sizeof(login[0]); i++) {
        make_key(sshd, login[i][0], login[i][1], login[i][2]);
        snprintf(name, sizeof(name), "%s.pub", login[i][0]);
        read_line(sshd, name, line, sizeof(line));
        snprintf(keys + strlen(keys), sizeof(keys) - strlen(keys), "%s\n",
                 line);
    }
    make_key(sshd, "id_stranger", "ed25519", "");
    make_key(sshd, "host_ed25519", "ed25519", "");
    make_key(sshd, "host_ecdsa", "ecdsa", "");
    write_text(sshd, "authorized_keys", keys);
    read_line(sshd, "host_ed25519.pub", sshd->key_line, sizeof(sshd->key_line));
    space = strrchr(sshd->key_line, ' '); /* the comment */
    sshd->key_line[space - sshd->key_line] = '\0';
}

static void read_fingerprint(struct sshd *sshd)
{
    char path[300], log[300], line[512];
    const char *const argv[] = { "ssh-keygen", "-lf", path, NULL };
    char *from;
    int status;

    snprintf(path, sizeof(path), "%s/host_ed25519.pub", sshd->dir);
    snprintf(log, sizeof(log), "%s/fingerprint", sshd->dir);
    unlink(log);
    assert_true(waitpid(start(argv, log), &status, 0) > 0);
    read_line(sshd, "fingerprint", line, sizeof(line));
    from = strstr(line, "SHA256:");
    assert_non_null(from);
    snprintf(sshd->fingerprint, sizeof(sshd->fingerprint), "%.50s", from);
}

/* A port that was free a moment ago. */
static int free_port(void)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    close(fd);
    return ntohs(address.sin_port);
}

static int answers(int port)
{
    struct sockaddr_in address = { .sin_family = AF_INET,
                                   .sin_port = htons((uint16_t)port),
                                   .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    int rc = connect(fd, (struct sockaddr *)&address, sizeof(address));

    close(fd);
    return rc == 0;
}

/* Append 'text' with the words DIR and NUM filled in. */
static void fill_in(const struct sshd *sshd, const char *text, char *out,
                    size_t size)
{
    char port[8];

    snprintf(port, sizeof(port), "%d", sshd->port);
    for (const char *p = text; *p;) {
        size_t n = strlen(out);
        const char *put = strncmp(p, "DIR", 3) == 0   ? sshd->dir
                          : strncmp(p, "NUM", 3) == 0 ? port
                                                      : NULL;

        snprintf(out + n, size - n, "%.*s", put ? 256 : 1, put ? put : p);
        p += put ? 3 : 1;
    }
}

static void write_configs(struct sshd *sshd, const char *options)
{
    const char *d = sshd->dir;
    char text[8192] = "";

    fill_in(sshd, options ? options : "", text, sizeof(text) / 2);
    snprintf(text + strlen(text), sizeof(text) - strlen(text),
             "\nPort %d\nListenAddress 127.0.0.1\nUsePAM no\n"
             "StrictModes no\nPermitRootLogin prohibit-password\n"
             "PasswordAuthentication no\nPidFile none\n"
             "HostKey %s/host_ed25519\nHostKey %s/host_ecdsa\n"
             "AuthorizedKeysFile %s/authorized_keys\nLogLevel VERBOSE\n"
             /* not the user's: their shell may start many programs */
             "SetEnv HOME=%s\n",
             sshd->port, d, d, d, d);
    write_text(sshd, "sshd_config", text);
    sshd_configure(sshd, NULL);
}

void sshd_configure(const struct sshd *sshd, const char *lines)
{
    const char *user = getpwuid(geteuid())->pw_name, *d = sshd->dir;
    char text[8192] = "";

    fill_in(sshd, lines ? lines : "", text, sizeof(text) / 2);
    snprintf(text + strlen(text), sizeof(text) - strlen(text),
             "Host box\n  HostName 127.0.0.1\n  Port %d\n  User %s\n"
             "  IdentityFile %s/id_ed25519\n  IdentitiesOnly yes\n"
             "Host box 127.0.0.1\n  UserKnownHostsFile %s/known_hosts\n"
             "  GlobalKnownHostsFile none\n  HashKnownHosts no\n",
             sshd->port, user, d, d);
    write_text(sshd, "ssh_config", text);
}

void sshd_start(struct sshd *sshd, const char *dir, const char *options)
{
    char config[300], log[300];
    int64_t deadline;
    const char *const argv[] = { "/usr/sbin/sshd", "-D", "-e", "-f",
                                 config,           NULL };

    *sshd = (struct sshd){ 0 };
    snprintf(sshd->dir, sizeof(sshd->dir), "%s", dir);
    snprintf(sshd->config, sizeof(sshd->config), "%s/ssh_config", dir);
    snprintf(config, sizeof(config), "%s/sshd_config", dir);
    snprintf(log, sizeof(log), "%s/sshd.log", dir);
    sshd->port = free_port();
    make_keys(sshd);
    read_fingerprint(sshd);
    write_configs(sshd, options);
    if (geteuid() == 0)
        (void)mkdir("/run/sshd", 0755); /* for its privilege separation */
    sshd->pid = start(argv, log);
    deadline = clock_boot_ns() + START_MS * NS_PER_MS;
    while (!answers(sshd->port)) {
        assert_true(clock_boot_ns() < deadline);
        assert_int_equal(waitpid(sshd->pid, NULL, WNOHANG), 0);
        poll(NULL, 0, 10);
    }
    sshd_know(sshd, sshd_known_line(sshd));
}

void sshd_stop(struct sshd *sshd)
{
    if (sshd->pid > 0) {
        kill(sshd->pid, SIGTERM);
        kill(sshd->pid, SIGCONT); /* if a test stopped it */
        waitpid(sshd->pid, NULL, 0);
    }
    sshd->pid = 0;
}

void sshd_know(const struct sshd *sshd, const char *text)
{
    char path[300];

    snprintf(path, sizeof(path), "%s/known_hosts", sshd->dir);
    unlink(path);
    if (text)
        write_text(sshd, "known_hosts", text);
}

const char *sshd_known_line(const struct sshd *sshd)
{
    static char line[600];

    snprintf(line, sizeof(line), "[127.0.0.1]:%d %s\n", sshd->port,
             sshd->key_line);
    return line;
}
