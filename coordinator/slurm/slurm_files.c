#include "coordinator/slurm/slurm_files.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/process/subprocess.h"
#include "coordinator/process/stderr_tail.h"

#define NAME_HEX 12
#define CANCEL_NS (20 * NS_PER_S)
#define ANSWER_MAX 4096

void slurm_files_name(const struct host *host, const char *public_key,
                      char out[SLURM_NAME_BYTES])
{
    char hash[HASH_HEX];

    hash_of(public_key, strlen(public_key), hash);
    snprintf(out, SLURM_NAME_BYTES, "fa-%.*s-%s", NAME_HEX, hash,
             host->dial.slurm.partition);
}

void slurm_files_host(const char *name, int task, char *out, size_t size)
{
    const char *partition = name + strlen("fa-") + NAME_HEX + strlen("-");

    snprintf(out, size, "slurm:%s-%d", partition, task);
}

char *slurm_files_folder(const struct host *host, const char *public_key)
{
    char name[SLURM_NAME_BYTES];

    slurm_files_name(host, public_key, name);
    return mem_printf("%s/%s", host->workdir, name);
}

static int make_folder(const char *path, struct err *err)
{
    if (mkdir(path, 0700) < 0 && errno != EEXIST)
        return err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
    return 0;
}

static bool write_all(int fd, const char *bytes, size_t len)
{
    while (len > 0) {
        ssize_t n = write(fd, bytes, len);

        if (n < 0 && errno != EINTR)
            return false;
        if (n > 0) {
            bytes += n;
            len -= (size_t)n;
        }
    }
    return true;
}

/* Whole or not at all; what runs there keeps its file. */
static int put(const char *folder, const char *name, const void *bytes,
               size_t len, struct err *err)
{
    char *path = mem_printf("%s/%s", folder, name);
    char *part = mem_printf("%s.part-%d", path, (int)getpid());
    int fd = open(part, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0700);
    int rc = 0;

    if (fd < 0 || !write_all(fd, bytes, len) || fsync(fd) < 0 ||
        rename(part, path) < 0) {
        rc = err_set(err, ERR_SYSTEM, "%s: %s", path, strerror(errno));
        unlink(part);
    }
    if (fd >= 0)
        close(fd);
    free(part);
    free(path);
    return rc;
}

/* The characters of a work folder mean nothing to a shell (hosts_load()). */
static char *script(const struct host *host, const char *folder,
                    const char *name)
{
    return mem_printf(
        "#!/bin/sh\n"
        "# A worker of fa-coord; its cache stays on the node.\n"
        "umask 077\n"
        "folder=${SLURM_TMPDIR:-${TMPDIR:-/tmp}}/%s-$SLURM_ARRAY_TASK_ID\n"
        "exec %s/fa-worker --workdir \"$folder\" --gpus %s \\\n"
        "    --invitation \"%s/slurm:%s-$SLURM_ARRAY_TASK_ID\"\n",
        name, folder, host_gpus(host), folder, host->dial.slurm.partition);
}

int slurm_files_put(const struct host *host, const char *public_key,
                    const void *program, size_t len, struct err *err)
{
    char *folder = slurm_files_folder(host, public_key), *text;
    char name[SLURM_NAME_BYTES];
    int rc = make_folder(host->workdir, err);

    slurm_files_name(host, public_key, name);
    text = script(host, folder, name);
    if (rc == 0)
        rc = make_folder(folder, err);
    if (rc == 0)
        rc = put(folder, "fa-worker", program, len, err);
    if (rc == 0)
        rc = put(folder, "job.sh", text, strlen(text), err);
    free(text);
    free(folder);
    return rc;
}

static void remove_folder(const char *folder)
{
    DIR *dir = opendir(folder);
    struct dirent *entry;

    while (dir && (entry = readdir(dir)))
        if (entry->d_name[0] != '.')
            unlinkat(dirfd(dir), entry->d_name, 0);
    if (dir)
        closedir(dir);
    rmdir(folder);
}

int slurm_files_cancel(const char *name, struct err *err)
{
    char flag[SLURM_NAME_BYTES + 16], why[160] = "";
    const char *argv[] = { "scancel", "--quiet", flag, NULL };
    struct stderr_tail errors = { .len = 0 };
    struct buf out;
    int status = -1, rc;

    snprintf(flag, sizeof(flag), "--name=%s", name);
    buf_init(&out, ANSWER_MAX);
    rc = subprocess_output(argv, clock_boot_ns() + CANCEL_NS, &out, &errors,
                           &status, err);
    buf_fini(&out);
    if (rc == 0 && status == 0)
        return 0;
    if (rc == 0)
        stderr_tail_say(&errors, 1, why, sizeof(why));
    return err_set(err, ERR_SYSTEM,
                   "jobs of Slurm may be left: run 'scancel --name=%s' (%s)",
                   name, rc < 0 ? "scancel does not answer" : why);
}

void slurm_files_remove(const struct hosts *hosts, const char *public_key)
{
    for (size_t i = 0; i < hosts->n; i++) {
        char *folder;

        if (hosts->list[i].dial.slurm.task != 1)
            continue;
        folder = slurm_files_folder(&hosts->list[i], public_key);
        remove_folder(folder);
        free(folder);
    }
}
