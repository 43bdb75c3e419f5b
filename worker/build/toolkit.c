#include "worker/build/toolkit.h"

#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/device_kind.h"
#include "common/mem.h"
#include "worker/process/child.h"
#include "worker/process/sandbox.h"

#define VERSION_LIMIT_NS                                \
    (30 * NS_PER_S) /* a toolkit on a slow network disk \
                     */

enum {
    VERSION_OUTPUT_MAX = 4096
};

struct toolkit {
    char device[8];
    char path[PATH_MAX];
    char text[TOOLKIT_TEXT_BYTES];
    struct child *child; /* NULL after it has answered */
};

struct toolkit_places toolkit_places(const struct sandbox *sandbox)
{
    return (struct toolkit_places){
        .root = "",
        .cuda_home = getenv("CUDA_HOME"),
        .cuda_path = getenv("CUDA_PATH"),
        .path = getenv("PATH"),
        .sandbox = sandbox,
    };
}

/* A search, for its error message. */
struct looking {
    const struct sandbox *sandbox;
    struct buf places;     /* where it looked */
    char hidden[PATH_MAX]; /* the first compiler that builds do not see */
};

static bool try_place(const char *folder, const char *name, char path[PATH_MAX],
                      struct looking *looking)
{
    int n = snprintf(path, PATH_MAX, "%s/%s", folder, name);

    buf_printf(&looking->places, "%s%s", looking->places.len > 0 ? ", " : "",
               folder);
    if (n >= PATH_MAX || access(path, X_OK) != 0)
        return false;
    if (sandbox_sees(looking->sandbox, path))
        return true;
    if (!looking->hidden[0])
        memcpy(looking->hidden, path, (size_t)n + 1);
    return false;
}

static bool try_below(const char *root, const char *folder, char path[PATH_MAX],
                      struct looking *looking)
{
    char bin[PATH_MAX];
    int n = snprintf(bin, sizeof(bin), "%s%s/bin", root, folder);

    return n < (int)sizeof(bin) && try_place(bin, "nvcc", path, looking);
}

static bool try_path(const char *search, const char *name, char path[PATH_MAX],
                     struct looking *looking)
{
    while (search && *search) {
        size_t len = strcspn(search, ":");
        char folder[PATH_MAX];

        if (search[0] == '/' && len < sizeof(folder)) {
            snprintf(folder, sizeof(folder), "%.*s", (int)len, search);
            if (try_place(folder, name, path, looking))
                return true;
        }
        search += len + (search[len] == ':');
    }
    return false;
}

/* The highest /usr/local/cuda-X.Y that contains nvcc. */
static bool try_newest(const char *root, char path[PATH_MAX],
                       struct looking *looking)
{
    char local[PATH_MAX], newest[NAME_MAX + 1] = "", folder[2 * NAME_MAX];
    size_t before = looking->places.len;
    DIR *dir;

    snprintf(local, sizeof(local), "%s/usr/local", root);
    dir = opendir(local);
    mem_check(dir);
    if (!dir)
        return false;
    for (struct dirent *entry; (entry = readdir(dir));) {
        char found[PATH_MAX];

        if (strncmp(entry->d_name, "cuda-", 5) != 0 ||
            strverscmp(entry->d_name, newest) <= 0)
            continue;
        snprintf(folder, sizeof(folder), "/usr/local/%s", entry->d_name);
        if (try_below(root, folder, found, looking))
            snprintf(newest, sizeof(newest), "%s", entry->d_name);
        looking->places.len = before;
    }
    closedir(dir);
    buf_printf(&looking->places, ", %s/usr/local/cuda-*/bin", root);
    snprintf(folder, sizeof(folder), "/usr/local/%s", newest);
    return newest[0] && try_below(root, folder, path, looking);
}

static bool find_nvcc(const struct toolkit_places *places, char path[PATH_MAX],
                      struct looking *looking)
{
    const char *root = places->root;

    if (places->cuda_home && places->cuda_home[0] &&
        try_below("", places->cuda_home, path, looking))
        return true;
    if (places->cuda_path && places->cuda_path[0] &&
        try_below("", places->cuda_path, path, looking))
        return true;
    return try_below(root, "/usr/local/cuda", path, looking) ||
           try_newest(root, path, looking) ||
           try_below(root, "/opt/cuda", path, looking) ||
           try_below(root, "/usr/lib/nvidia-cuda-toolkit", path, looking) ||
           try_path(places->path, "nvcc", path, looking);
}

static bool find_cxx(const struct toolkit_places *places, char path[PATH_MAX],
                     struct looking *looking)
{
    static const char *const names[] = { "c++", "g++", "clang++" };

    for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
        buf_clear(&looking->places);
        if (try_path(places->path, names[i], path, looking))
            return true;
    }
    return false;
}

static int say_hidden(const char *path, struct err *err)
{
    return err_set(err, ERR_INPUT,
                   "%.100s is in the home folder, which builds do not see; "
                   "name its toolkit's folder by allow= in hosts.txt",
                   path);
}

static int find_told(const struct sandbox *sandbox, const char *told,
                     char path[PATH_MAX], struct err *err)
{
    if (told[0] != '/')
        return err_set(err, ERR_INPUT,
                       "nvcc '%s' is not an absolute path; correct nvcc= in "
                       "hosts.txt",
                       told);
    if (access(told, X_OK) < 0 || strlen(told) >= PATH_MAX)
        return err_set(err, ERR_INPUT,
                       "nvcc '%s' is not a program on this host; correct nvcc= "
                       "in hosts.txt, or leave it out to search for nvcc",
                       told);
    if (!sandbox_sees(sandbox, told))
        return say_hidden(told, err);
    memcpy(path, told, strlen(told) + 1);
    return 0;
}

int toolkit_find(const char *device, const char *told,
                 const struct toolkit_places *places, char path[PATH_MAX],
                 struct err *err)
{
    bool cuda = device_kind_is(device, DEVICE_KIND_CUDA), found;
    struct looking looking = { .sandbox = places->sandbox };

    if (cuda && told[0])
        return find_told(places->sandbox, told, path, err);
    buf_init(&looking.places, sizeof(err->text) / 2);
    found = cuda ? find_nvcc(places, path, &looking)
                 : find_cxx(places, path, &looking);
    if (!found && looking.hidden[0])
        say_hidden(looking.hidden, err);
    else if (!found && cuda)
        err_set(err, ERR_INPUT,
                "there is no nvcc in %s; install the CUDA toolkit "
                "(deploy/setup.sh does it), or set nvcc=PATH in hosts.txt",
                buf_text(&looking.places));
    else if (!found)
        err_set(err, ERR_INPUT,
                "there is no C++ compiler (c++, g++, clang++) in %s; install "
                "g++ (deploy/setup.sh does it)",
                buf_text(&looking.places));
    buf_fini(&looking.places);
    return found ? 0 : ERR_INPUT;
}

/* The version number after 'before': digits and dots. */
static bool version_after(const char *output, const char *before, char out[32])
{
    const char *at = strstr(output, before);
    size_t len;

    if (!at)
        return false;
    at += strlen(before);
    len = strspn(at, "0123456789.");
    snprintf(out, 32, "%.*s", (int)len, at);
    return len > 0 && len < 32;
}

bool toolkit_version(const char *output, char text[TOOLKIT_TEXT_BYTES])
{
    static const struct {
        const char *sign, *before, *name;
    } compilers[] = {
        { "Cuda compilation tools", ", V", "nvcc" },
        { "clang version ", "clang version ", "clang++" },
        { "Free Software Foundation", ") ", "g++" },
    };
    char version[32];

    for (size_t i = 0; i < sizeof(compilers) / sizeof(compilers[0]); i++)
        if (strstr(output, compilers[i].sign) &&
            version_after(output, compilers[i].before, version)) {
            snprintf(text, TOOLKIT_TEXT_BYTES, "%s %s", compilers[i].name,
                     version);
            return true;
        }
    return false;
}

int toolkit_open(const char *device, const char *told,
                 const struct sandbox *sandbox, int64_t now_ns,
                 struct toolkit **out, struct err *err)
{
    struct toolkit_places places = toolkit_places(sandbox);
    struct toolkit *toolkit = mem_new(1, sizeof(*toolkit));
    int rc = toolkit_find(device, told, &places, toolkit->path, err);

    if (rc == 0)
        rc = child_start(
            &(struct child_spec){
                .argv = (const char *[]){ toolkit->path, "--version", NULL },
                .env =
                    (const char *[]){ "PATH=/usr/bin:/bin", "LC_ALL=C", NULL },
                .folder = "/",
                .sandbox = sandbox,
                .limit_ns = VERSION_LIMIT_NS,
            },
            now_ns, &toolkit->child, err);
    if (rc < 0) {
        free(toolkit);
        return rc;
    }
    snprintf(toolkit->device, sizeof(toolkit->device), "%s", device);
    *out = toolkit;
    return 0;
}

void toolkit_close(struct toolkit *toolkit)
{
    if (!toolkit)
        return;
    child_free(toolkit->child);
    free(toolkit);
}

size_t toolkit_poll(const struct toolkit *toolkit, struct pollfd *fds,
                    size_t max)
{
    return toolkit->child ? child_poll(toolkit->child, fds, max) : 0;
}

int64_t toolkit_deadline_ns(const struct toolkit *toolkit)
{
    return toolkit->child ? child_deadline_ns(toolkit->child) : INT64_MAX;
}

int toolkit_step(struct toolkit *toolkit, int64_t now_ns, struct err *err)
{
    char end[CHILD_END_BYTES];
    struct buf output;
    int rc = 1;

    if (!toolkit->child)
        return toolkit->text[0]
                   ? 1
                   : err_set(err, ERR_SYSTEM,
                             "'%s --version' does not tell its version",
                             toolkit->path);
    if (child_step(toolkit->child, now_ns) != CHILD_ENDED)
        return 0;
    buf_init(&output, VERSION_OUTPUT_MAX);
    capture_text(child_stdout(toolkit->child), &output);
    if (!toolkit_version(buf_text(&output), toolkit->text)) {
        child_end_text(child_end(toolkit->child), end);
        capture_text(child_stderr(toolkit->child), &output);
        rc = err_set(err, ERR_SYSTEM,
                     "'%s --version' does not tell its version (%s): %s",
                     toolkit->path, end, buf_text(&output));
    }
    buf_fini(&output);
    child_free(toolkit->child);
    toolkit->child = NULL;
    return rc;
}

const char *toolkit_path(const struct toolkit *toolkit)
{
    return toolkit->path;
}

const char *toolkit_text(const struct toolkit *toolkit)
{
    return toolkit->text;
}

const char *toolkit_device(const struct toolkit *toolkit)
{
    return toolkit->device;
}
