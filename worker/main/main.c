#include <errno.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <termios.h>
#include <unistd.h>

#include <sodium.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/invite.h"
#include "common/limits.h"
#include "common/log.h"
#include "worker/agent/agent.h"
#include "worker/agent/control.h"
#include "worker/build/record_build.h"
#include "worker/gpu/gpu_list.h"
#include "worker/main/prune_answer.h"
#include "worker/main/relay.h"
#include "worker/main/start.h"
#include "worker/store/instance.h"
#include "worker/store/workdir.h"

#define OFFER_MS 10000
#define EXIT_USAGE 2
#define FILES_MIN 40 /* without slots and GPUs */

struct options {
    bool attach, started, help, version, dry_run;
    const char *workdir, *gpus, *hash, *invitation; /* NULL unless given */
    const char *prune; /* seconds; NULL: do not prune */
    const char *record, *artifact, *speed_up;
};

static int complain(const struct err *err)
{
    fprintf(stderr, "fa-worker: %s\n", err->text);
    return 1;
}

static int usage(FILE *to)
{
    fputs(
        "usage: fa-worker [--invitation FILE] [--workdir DIR] [--gpus LIST]\n"
        "                                           be a worker; without FILE\n"
        "                                           the invitation (fa-coord\n"
        "                                           invite) is read from "
        "stdin\n"
        "       fa-worker --attach [--workdir DIR] [--gpus LIST]\n"
        "                                           carry a coordinator's\n"
        "                                           frames on stdin, stdout\n"
        "       fa-worker --prune SECONDS [--dry-run] [--workdir DIR]\n"
        "                                           remove what was not\n"
        "                                           used for so long\n"
        "       fa-worker --hash FILE               print a file's hash\n"
        "       fa-worker --version | --help\n"
        "\n"
        "DIR is ~/.cache/fa-coord/work unless given. LIST is as in the\n"
        "hosts file: all, none, or indices such as 0,1.\n",
        to);
    return to == stderr ? EXIT_USAGE : 0;
}

static int parse(int argc, char *argv[], struct options *out)
{
    const struct {
        const char *name;
        bool *flag;
        const char **value;
    } table[] = {
        { "--attach", &out->attach, NULL },
        { "--started", &out->started, NULL }, /* start.h; not for people */
        { "--help", &out->help, NULL },
        { "--version", &out->version, NULL },
        { "--dry-run", &out->dry_run, NULL },
        { "--prune", NULL, &out->prune },
        { "--workdir", NULL, &out->workdir },
        { "--gpus", NULL, &out->gpus },
        { "--hash", NULL, &out->hash },
        { "--invitation", NULL, &out->invitation },
        { "--record", NULL, &out->record }, /* record_build.h; likewise */
        { "--artifact", NULL, &out->artifact },
        { "--speed-up", NULL, &out->speed_up },
    };
    const size_t n = sizeof(table) / sizeof(table[0]);

    for (int i = 1; i < argc; i++) {
        size_t k = 0;

        while (k < n && strcmp(argv[i], table[k].name) != 0)
            k++;
        if (k == n || (table[k].value && i + 1 == argc)) {
            fprintf(stderr,
                    k == n ? "fa-worker: unknown option '%s'; see --help\n"
                           : "fa-worker: %s needs a value; see --help\n",
                    argv[i]);
            return -1;
        }
        if (table[k].flag)
            *table[k].flag = true;
        else
            *table[k].value = argv[++i];
    }
    return 0;
}

static int print_hash(const char *path)
{
    char hash[HASH_HEX];
    struct err err;

    if (hash_file(path, hash, &err) < 0)
        return complain(&err);
    return puts(hash) < 0 ? 1 : 0;
}

/* Read lines up to the empty one, without echo on a terminal. */
static int read_invitation(char text[INVITE_BYTES_MAX], struct err *err)
{
    struct termios shown, hidden;
    bool terminal = tcgetattr(0, &shown) == 0;
    size_t len = 0;
    int end = 0;

    if (terminal) {
        hidden = shown;
        hidden.c_lflag &= ~(tcflag_t)ECHO;
        tcsetattr(0, TCSAFLUSH, &hidden);
        fputs("paste the invitation, with its empty last line:\n", stderr);
    }
    while (end == 0) {
        ssize_t n = read(0, text + len, INVITE_BYTES_MAX - len);

        if (n <= 0)
            end = err_set(err, ERR_INPUT,
                          "the invitation on stdin is incomplete; fa-coord "
                          "invite prints one");
        else
            end = invite_end(text, len += (size_t)n, err);
    }
    if (terminal)
        tcsetattr(0, TCSAFLUSH, &shown);
    return end;
}

static int read_file(const char *path, char text[INVITE_BYTES_MAX],
                     struct err *err)
{
    FILE *file = fopen(path, "re");
    size_t len = 0;
    int end;

    if (!file)
        return err_set(err, ERR_INPUT, "--invitation %s: %s", path,
                       strerror(errno));
    len = fread(text, 1, INVITE_BYTES_MAX, file);
    fclose(file);
    end = invite_end(text, len, err);
    return end != 0 ? end
                    : err_set(err, ERR_INPUT,
                              "--invitation %s: it is incomplete; fa-coord "
                              "invite writes one",
                              path);
}

/* 'path' is NULL for stdin. */
static int get_invite(const char *path, struct invite *out, struct err *err)
{
    char text[INVITE_BYTES_MAX];
    int rc = path ? read_file(path, text, err) : read_invitation(text, err);

    if (rc > 0)
        rc = invite_parse(text, (size_t)rc, out, err);
    sodium_memzero(text, sizeof(text));
    if (rc == 0 && strncmp(out->endpoint, "tcp://", 6) != 0) {
        rc = err_set(err, ERR_INPUT,
                     "invitation: endpoint '%s' needs --attach; one for a "
                     "worker started by hand begins with tcp://",
                     out->endpoint);
        invite_wipe(out);
    }
    return rc;
}

/* A worker is already running here: invite that one. */
static int hand_to_running(const struct instance *instance,
                           const struct invite *invite, struct err *err)
{
    int fd = control_connect(instance->socket, err), rc = fd;

    if (fd >= 0) {
        rc = control_offer(fd, invite, OFFER_MS, err);
        close(fd);
    }
    return rc;
}

static int work(const struct instance *instance, const char *invitation)
{
    struct agent *agent = NULL;
    struct invite invite;
    struct err err;
    int rc = get_invite(invitation, &invite, &err);

    if (rc < 0)
        return complain(&err);
    log_setup(stderr, LOG_I);
    rc = agent_open(instance, NULL, &agent, &err);
    if (rc == ERR_DEVICE)
        rc = hand_to_running(instance, &invite, &err);
    else if (rc == 0)
        rc = agent_invite(agent, &invite, &err);
    invite_wipe(&invite);
    if (rc != 0)
        rc = complain(&err);
    else if (agent)
        rc = agent_run(agent);
    agent_close(agent);
    return rc;
}

static int find_instance(const struct options *options, struct instance *out,
                         struct err *err)
{
    const char *which = options->gpus ? options->gpus : INSTANCE_ALL;
    char dir[WORKDIR_BYTES], gpus[GPU_LIST_BYTES];
    int rc = workdir_open(options->workdir, dir, err);

    if (rc < 0)
        return rc;
    if (gpu_list_sort(which, gpus) < 0)
        return err_set(err, ERR_INPUT,
                       "--gpus '%s': write all, none, or indices such as 0,1, "
                       "each once",
                       which);
    return instance_open(dir, gpus, out, err);
}

int main(int argc, char *argv[])
{
    const struct rlimit none = { 0, 0 };
    struct options options = { 0 };
    struct instance instance;
    struct err err;

    signal(SIGCHLD, SIG_DFL);      /* or no child would tell how it ended */
    setrlimit(RLIMIT_CORE, &none); /* a core dump would contain the keys */
    limits_setup();
    if (parse(argc, argv, &options) < 0)
        return EXIT_USAGE;
    if (options.help)
        return usage(stdout);
    if (options.version)
        return puts("fa-worker " FA_VERSION) < 0 ? 1 : 0;
    if (options.record && options.artifact && options.speed_up)
        return record_build(options.record, options.artifact, options.speed_up);
    if (hash_setup(&err) < 0 || limits_check_files(FILES_MIN, &err) < 0)
        return complain(&err);
    if (options.hash)
        return print_hash(options.hash);
    if (options.prune)
        return prune_answer(options.workdir, options.prune, options.dry_run);
    if (find_instance(&options, &instance, &err) < 0)
        return complain(&err);
    if (options.started)
        return start_serve(&instance);
    return options.attach ? relay_run(&instance)
                          : work(&instance, options.invitation);
}
