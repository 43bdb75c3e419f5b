#include "worker/process/sandbox_policy.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/mem.h"
#include "worker/process/child.h"
#include "worker/process/sandbox.h"

/* In the home folder: keys, tokens and passwords. */
static const char *const secrets[] = {
    ".ssh",
    ".gnupg",
    ".netrc",
    ".git-credentials",
    ".pgpass",
    ".npmrc",
    ".pypirc",
    ".password-store",
    ".vault-token",
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".cargo/credentials.toml",
    ".config/gcloud",
    ".config/gh",
    ".config/git",
    ".config/rclone",
    ".cache/huggingface/token",
    ".huggingface",
    ".local/share/keyrings",
    ".mozilla",
    ".bash_history",
};

#define AGENTS "/tmp"
#define AGENT "ssh-" /* ssh-XXXXXXXXXX, of ssh-agent and of sshd */

static void hide_in(struct sandbox *sandbox, const char *folder,
                    const char *name)
{
    char *path = mem_printf("%s/%s", folder, name);

    (void)sandbox_set(sandbox, path, SANDBOX_HIDDEN); /* it may be missing */
    free(path);
}

static void hide_database(struct sandbox *sandbox, const char *database)
{
    static const char *const endings[] = { "", "-wal", "-shm", "-journal" };

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        char *path = mem_printf("%s%s", database, endings[i]);

        (void)sandbox_set(sandbox, path, SANDBOX_HIDDEN);
        free(path);
    }
}

static void hide_secrets(struct sandbox *sandbox,
                         const struct sandbox_policy *policy)
{
    const char *services = getenv("XDG_RUNTIME_DIR");
    char *run = mem_printf("/run/user/%u", (unsigned)geteuid());

    for (size_t i = 0; policy->home && i < sizeof(secrets) / sizeof(*secrets);
         i++)
        hide_in(sandbox, policy->home, secrets[i]);
    (void)sandbox_set(sandbox, run, SANDBOX_HIDDEN);
    if (services)
        (void)sandbox_set(sandbox, services, SANDBOX_HIDDEN);
    hide_database(sandbox, policy->database);
    (void)sandbox_set(sandbox, policy->dir, SANDBOX_HIDDEN);
    free(run);
}

static int refuse(const char *path, const char *why, struct err *err)
{
    return err_set(err, ERR_INPUT, "allow=%.120s: %s", path, why);
}

/* 'hidden' has what is never shown. */
static int show(struct sandbox *sandbox, const struct sandbox *hidden,
                const char *home, const char *path, struct err *err)
{
    char full[PATH_MAX], top[PATH_MAX];

    if (!realpath(path, full))
        return refuse(path, "there is no such folder on this host", err);
    if (strcmp(full, "/") == 0 ||
        (home && realpath(home, top) && sandbox_contains(full, top)))
        return refuse(path,
                      "this is the whole home folder; name the folders of "
                      "toolkits and Python environments in it",
                      err);
    if (sandbox_right(hidden, full) == SANDBOX_HIDDEN)
        return refuse(path,
                      "keys, tokens and the work folder are never shown to "
                      "kernels and commands",
                      err);
    if (!sandbox_set(sandbox, path, SANDBOX_READ))
        return refuse(path, "too many folders", err);
    return 0;
}

static int show_all(struct sandbox *sandbox, const struct sandbox *hidden,
                    const struct sandbox_policy *policy, struct err *err)
{
    const char *at = policy->allow;
    int rc = 0;

    while (rc == 0 && *at) {
        size_t len = strcspn(at, ":");
        bool below_home = len > 1 && at[0] == '~' && at[1] == '/';
        char *path =
            below_home && policy->home
                ? mem_printf("%s%.*s", policy->home, (int)len - 1, at + 1)
                : mem_printf("%.*s", (int)len, at);

        if (len > 0)
            rc = show(sandbox, hidden, policy->home, path, err);
        free(path);
        at += len + (at[len] == ':');
    }
    return rc;
}

int sandbox_policy_new(const struct sandbox_policy *policy,
                       struct sandbox **out, struct err *err)
{
    struct sandbox_policy known = *policy;
    struct sandbox *sandbox = sandbox_new(SANDBOX_NOTHING);
    struct sandbox *hidden = sandbox_new(SANDBOX_NOTHING);
    int rc;

    if (known.home && known.home[0] != '/')
        known.home = NULL;
    if (known.home)
        (void)sandbox_set(sandbox, known.home, SANDBOX_HIDDEN);
    hide_secrets(hidden, &known);
    rc = show_all(sandbox, hidden, &known, err);
    hide_secrets(sandbox, &known);
    sandbox_free(hidden);
    if (rc < 0) {
        sandbox_free(sandbox);
        return rc;
    }
    child_choose_means(sandbox);
    *out = sandbox;
    return 0;
}

struct sandbox *sandbox_policy_copy(const struct sandbox *sandbox)
{
    struct sandbox *copy = sandbox ? sandbox_copy(sandbox) : NULL;
    DIR *dir = copy ? opendir(AGENTS) : NULL;
    struct dirent *entry;
    struct stat st;

    while (dir && (entry = readdir(dir)))
        if (strncmp(entry->d_name, AGENT, strlen(AGENT)) == 0 &&
            fstatat(dirfd(dir), entry->d_name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
            st.st_uid == geteuid())
            hide_in(copy, AGENTS, entry->d_name);
    if (dir)
        closedir(dir);
    return copy;
}

const char *sandbox_policy_warning(const struct sandbox *sandbox)
{
    switch (sandbox->means) {
    case SANDBOX_MOUNTS:
        break;
    case SANDBOX_LANDLOCK:
        return "this host allows no namespaces: kernels and commands of the "
               "sweep can connect to sockets of this user";
    case SANDBOX_NOTHING:
        return "this host allows neither namespaces nor Landlock: kernels and "
               "commands of the sweep can read the home folder and the work "
               "folder, and signal processes of this user";
    }
    return "";
}
