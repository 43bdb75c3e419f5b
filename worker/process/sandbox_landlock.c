#include "worker/process/sandbox_landlock.h"

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "common/mem.h"
#include "worker/process/sandbox.h"

/* linux/landlock.h may be older than the system that this runs on. */
#ifndef SYS_landlock_create_ruleset
#define SYS_landlock_create_ruleset 444
#define SYS_landlock_add_rule 445
#define SYS_landlock_restrict_self 446
#endif

enum {
    VERSION = 1, /* the flag that asks for it */
    PATH_BENEATH = 1,
    EXECUTE = 1 << 0,
    WRITE_FILE = 1 << 1,
    READ_FILE = 1 << 2,
    READ_DIR = 1 << 3,
    EVERY_RIGHT = (1 << 13) - 1, /* of version 1 */
    REFER = 1 << 13,             /* version 2 */
    TRUNCATE = 1 << 14,          /* version 3 */
    OF_A_FILE = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE,
    TO_READ = EXECUTE | READ_FILE | READ_DIR,
    TCP = 3,              /* bind and connect; version 4 */
    SOCKETS_SIGNALS = 3,  /* version 6 */
    ENTRIES_MAX = 1 << 14 /* of a folder that has something hidden */
};

struct rules {
    uint64_t files, net, scoped;
};

struct __attribute__((packed)) rule {
    uint64_t allowed;
    int32_t file;
};

static long version(void)
{
    return syscall(SYS_landlock_create_ruleset, NULL, 0, VERSION);
}

bool sandbox_landlock_is_here(void)
{
    return version() >= 1;
}

static void allow(int rules, uint64_t rights, int file)
{
    struct rule rule = { rights, file };
    struct stat st;

    if (fstat(file, &st) < 0 || S_ISLNK(st.st_mode))
        return; /* its target has a rule of its own */
    if (!S_ISDIR(st.st_mode))
        rule.allowed &= OF_A_FILE;
    /* without its rule it cannot be opened, which is safe */
    (void)syscall(SYS_landlock_add_rule, rules, PATH_BENEATH, &rule, 0);
}

static bool decides_below(const struct sandbox *sandbox, const char *folder)
{
    for (size_t i = 0; i < sandbox->n; i++)
        if (strcmp(folder, "/") == 0 ||
            sandbox_contains(folder, sandbox->entries[i].path))
            return true;
    return false;
}

static bool is_entry(const struct sandbox *sandbox, const char *path)
{
    for (size_t i = 0; i < sandbox->n; i++)
        if (strcmp(sandbox->entries[i].path, path) == 0)
            return true;
    return false;
}

struct granting {
    const struct sandbox *sandbox;
    int rules;
    uint64_t handled;
};

static void grant(const struct granting *to, const char *path);

/* Each name in the folder by itself; entries are granted on their own. */
static void grant_each(const struct granting *to, const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;
    int left = ENTRIES_MAX;

    mem_check(dir);
    while (dir && left-- > 0 && (entry = readdir(dir))) {
        char path[PATH_MAX];

        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        if (snprintf(path, sizeof(path), "%s/%s", folder[1] ? folder : "",
                     entry->d_name) < (int)sizeof(path) &&
            !is_entry(to->sandbox, path))
            grant(to, path);
    }
    if (dir)
        closedir(dir);
}

static void grant_all(const struct granting *to, const char *path,
                      enum sandbox_right right)
{
    int file = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);

    if (file < 0)
        return;
    allow(to->rules,
          to->handled & (right == SANDBOX_READ ? TO_READ : to->handled), file);
    close(file);
}

/* As deep as the path of an entry. */
static void grant(const struct granting *to, const char *path)
{
    if (decides_below(to->sandbox, path))
        grant_each(to, path);
    else
        grant_all(to, path, sandbox_right(to->sandbox, path));
}

static bool has_entry_below(const struct sandbox *sandbox, size_t i)
{
    return i + 1 < sandbox->n && sandbox_contains(sandbox->entries[i].path,
                                                  sandbox->entries[i + 1].path);
}

int sandbox_landlock_open(const struct sandbox *sandbox)
{
    long abi = version();
    struct rules all = {
        .files = EVERY_RIGHT | (uint64_t)(abi >= 2 ? REFER : 0) |
                 (uint64_t)(abi >= 3 ? TRUNCATE : 0),
        .net = abi >= 4 && sandbox->offline ? TCP : 0,
        .scoped = abi >= 6 ? SOCKETS_SIGNALS : 0,
    };
    int rules = abi < 1 ? -1
                        : (int)syscall(SYS_landlock_create_ruleset, &all,
                                       sizeof(all), 0);
    struct granting to = { sandbox, rules, all.files };

    if (rules < 0)
        return -1;
    grant(&to, "/");
    for (size_t i = 0; i < sandbox->n; i++) {
        const struct sandbox_entry *entry = &sandbox->entries[i];

        if (entry->right == SANDBOX_HIDDEN)
            continue;
        if (has_entry_below(sandbox, i))
            grant_each(&to, entry->path);
        else
            grant_all(&to, entry->path, entry->right);
    }
    return rules;
}

bool sandbox_landlock_enter(int rules)
{
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           syscall(SYS_landlock_restrict_self, rules, 0) == 0;
}
