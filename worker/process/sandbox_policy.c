#include "worker/process/sandbox_policy.h"

#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/mem.h"
#include "worker/process/child.h"
#include "worker/process/sandbox.h"
#include "worker/process/sockets.h"

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

/* Who reaches one of these has programs run for it outside of a sandbox. */
static const char *const services[] = {
    "/run/user",         "/run/docker.sock", "/var/run/docker.sock",
    "/run/containerd",   "/run/podman",      "/run/crio",
    "/run/libvirt",      "/run/dbus",        "/run/systemd/private",
    "/run/snapd.socket", "/run/screen",
};

#define TEMPORARY "/tmp"
/* With more than this, all of it is hidden; a program is given some folders. */
#define SERVICES_MAX (SANDBOX_ENTRIES_MAX - 16)
#define OF_DRIVER "nvidia-" /* nvidia-mps: CUDA connects to it */

static void hide_in(struct sandbox *sandbox, const char *folder,
                    const char *name)
{
    char *path = mem_printf("%s/%s", folder, name);

    (void)sandbox_set(sandbox, path, SANDBOX_HIDDEN); /* it may be missing */
    free(path);
}

/* The length of "a/NAME" of a/NAME.fuzz.db and a/NAME.db; of another name, the
 * whole. */
static size_t stem_bytes(const char *database)
{
    static const char *const endings[] = { ".fuzz.db", ".db" };
    size_t len = strlen(database);

    for (size_t i = 0; i < sizeof(endings) / sizeof(endings[0]); i++) {
        size_t n = strlen(endings[i]);

        if (len > n && strcmp(database + len - n, endings[i]) == 0)
            return len - n;
    }
    return len;
}

bool sandbox_policy_hides_both(const char *database, const char *other)
{
    size_t n = stem_bytes(database);

    return strcmp(database, other) == 0 ||
           (database[n] && other[stem_bytes(other)] && n == stem_bytes(other) &&
            memcmp(database, other, n) == 0);
}

static void hide_file(struct sandbox *sandbox, const char *stem, size_t n,
                      const char *ending)
{
    static const char *const beside[] = { "", "-wal", "-shm", "-journal" };

    for (size_t i = 0; i < sizeof(beside) / sizeof(beside[0]); i++) {
        char *path = mem_printf("%.*s%s%s", (int)n, stem, ending, beside[i]);

        (void)sandbox_set(sandbox, path, SANDBOX_HIDDEN);
        free(path);
    }
}

static void hide_database(struct sandbox *sandbox, const char *database)
{
    size_t n = stem_bytes(database);

    hide_file(sandbox, database, strlen(database), "");
    if (!database[n])
        return;
    hide_file(sandbox, database, n, ".db");
    hide_file(sandbox, database, n, ".fuzz.db");
}

static void hide_keys(struct sandbox *sandbox, const char *home)
{
    for (size_t i = 0; i < sizeof(secrets) / sizeof(secrets[0]); i++)
        hide_in(sandbox, home, secrets[i]);
}

/* HOME may be another folder than that of the user.  fgetpwent() works in a
 * static program, and knows the users of this machine only. */
static void hide_keys_of_user(struct sandbox *sandbox)
{
    FILE *users = fopen("/etc/passwd", "re");
    const struct passwd *user;

    while (users && (user = fgetpwent(users)))
        if (user->pw_uid == geteuid())
            hide_keys(sandbox, user->pw_dir);
    if (users)
        fclose(users);
}

static void hide_secrets(struct sandbox *sandbox,
                         const struct sandbox_policy *policy)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");

    if (policy->home)
        hide_keys(sandbox, policy->home);
    hide_keys_of_user(sandbox);
    for (size_t i = 0; i < sizeof(services) / sizeof(services[0]); i++)
        (void)sandbox_set(sandbox, services[i], SANDBOX_HIDDEN);
    if (runtime)
        (void)sandbox_set(sandbox, runtime, SANDBOX_HIDDEN);
    hide_database(sandbox, policy->database);
    (void)sandbox_set(sandbox, policy->dir, SANDBOX_HIDDEN);
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
    sandbox->offline = true; /* if this host can do it */
    child_choose_means(sandbox);
    *out = sandbox;
    return 0;
}

static bool decides_in(const struct sandbox *sandbox, const char *folder)
{
    for (size_t i = 0; i < sandbox->n; i++)
        if (sandbox_contains(folder, sandbox->entries[i].path))
            return true;
    return false;
}

/* Of ssh-agent, tmux: ssh-XXXXXXXXXX, tmux-UID. */
static void hide_service(void *data, const char *name)
{
    struct sandbox *sandbox = data;
    char *path;

    if (strncmp(name, OF_DRIVER, strlen(OF_DRIVER)) == 0)
        return;
    path = mem_printf(TEMPORARY "/%s", name);
    /* one that holds the work folder is decided already */
    if (!decides_in(sandbox, path))
        (void)sandbox_set(sandbox, sandbox->n < SERVICES_MAX ? path : TEMPORARY,
                          SANDBOX_HIDDEN);
    free(path);
}

struct sandbox *sandbox_policy_copy(const struct sandbox *sandbox)
{
    struct sandbox *copy = sandbox ? sandbox_copy(sandbox) : NULL;

    if (copy)
        (void)sockets_find(TEMPORARY, clock_utc_ns(), hide_service, copy);
    return copy;
}

const char *sandbox_policy_means(const struct sandbox *sandbox)
{
    static const char *const names[] = { [SANDBOX_MOUNTS] = "mounts",
                                         [SANDBOX_LANDLOCK] = "Landlock",
                                         [SANDBOX_NOTHING] = "nothing" };

    return names[sandbox->means];
}

const char *sandbox_policy_warning(const struct sandbox *sandbox)
{
    switch (sandbox->means) {
    case SANDBOX_MOUNTS:
        return sandbox->offline
                   ? ""
                   : "this host allows no network namespaces: builds, and "
                     "kernels of the cpu device, have its network";
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
