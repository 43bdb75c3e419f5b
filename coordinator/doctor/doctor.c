#include "coordinator/doctor/doctor.h"

#include <dirent.h>
#include <errno.h>
#include <pwd.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/un.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/remote/remote.h"
#include "coordinator/replay/landscape.h"
#include "coordinator/model/domain.h"
#include "coordinator/process/program.h"
#include "coordinator/store/dbfile.h"
#include "coordinator/tasks/record_file.h"
#include "coordinator/text/terminal.h"

#define HERE "here"
#define DISK_MIN_MIB 256 /* a large sweep's database and its WAL */

const char *doctor_verdict_name(enum doctor_verdict verdict)
{
    static const char *const names[] = { "ok", "note", "warning", "FAILED" };

    return names[verdict];
}

void doctor_add(struct doctor *doctor, const char *where, const char *what,
                enum doctor_verdict verdict, const char *remedy,
                const char *fmt, ...)
{
    struct doctor_finding finding = { .what = what, .verdict = verdict };
    va_list ap;

    va_start(ap, fmt);
    if (vasprintf(&finding.text, fmt, ap) < 0)
        mem_exhausted();
    va_end(ap);
    finding.where = terminal_clean(mem_strdup(where), false);
    finding.remedy = terminal_clean(mem_strdup(remedy ? remedy : ""), false);
    terminal_clean(finding.text, false);
    doctor->findings =
        mem_grow(doctor->findings, doctor->n + 1, sizeof(*doctor->findings));
    doctor->findings[doctor->n++] = finding;
}

void doctor_fini(struct doctor *doctor)
{
    for (size_t i = 0; i < doctor->n; i++) {
        free(doctor->findings[i].where);
        free(doctor->findings[i].text);
        free(doctor->findings[i].remedy);
    }
    free(doctor->findings);
    *doctor = (struct doctor){ 0 };
}

/* ---- this machine ---- */

static void check_ssh(struct doctor *doctor)
{
    if (program_is_here("ssh"))
        doctor_add(doctor, HERE, "ssh", DOCTOR_OK, NULL,
                   "the OpenSSH client is installed");
    else
        doctor_add(doctor, HERE, "ssh", DOCTOR_WARNING,
                   "install openssh-client",
                   "there is no ssh program in PATH: ~/.ssh/config is ignored, "
                   "and jump hosts and --ssh=openssh do not work");
}

static void check_agent(struct doctor *doctor, const char *path)
{
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    int fd;

    if (!path || !*path || strlen(path) >= sizeof(address.sun_path)) {
        doctor_add(
            doctor, HERE, "agent", DOCTOR_NOTE, NULL,
            "there is no SSH agent; only keys without a passphrase work");
        return;
    }
    memcpy(address.sun_path, path, strlen(path) + 1);
    fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0)
        doctor_add(doctor, HERE, "agent", DOCTOR_OK, NULL,
                   "the SSH agent answers");
    else
        doctor_add(doctor, HERE, "agent", DOCTOR_WARNING,
                   "start ssh-agent and ssh-add your key, or unset "
                   "SSH_AUTH_SOCK",
                   "the SSH agent at %s does not answer: %s", path,
                   strerror(errno));
    close(fd);
}

static int is_private_key(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name);

    return strncmp(entry->d_name, "id_", 3) == 0 &&
           (len < 4 || strcmp(entry->d_name + len - 4, ".pub") != 0);
}

static void check_key(struct doctor *doctor, const char *folder,
                      const char *name)
{
    char *path = mem_printf("%s/%s", folder, name);
    char *remedy = mem_printf("chmod 600 %s", path);
    struct stat st;

    if (stat(path, &st) < 0 || access(path, R_OK) < 0)
        doctor_add(doctor, HERE, "key", DOCTOR_WARNING, remedy,
                   "%s cannot be read: %s", path, strerror(errno));
    else if (st.st_mode & 077)
        doctor_add(doctor, HERE, "key", DOCTOR_WARNING, remedy,
                   "other users can read %s (mode %03o)", path,
                   (unsigned)st.st_mode & 0777);
    else
        doctor_add(doctor, HERE, "key", DOCTOR_OK, NULL, "only you can read %s",
                   path);
    free(remedy);
    free(path);
}

/* OpenSSH asks the account for its home folder, all others ask HOME. */
static void check_home(struct doctor *doctor, const char *home)
{
    const struct passwd *account = getpwuid(geteuid());
    struct stat of_home, of_account;

    if (!home || !account || stat(home, &of_home) < 0 ||
        stat(account->pw_dir, &of_account) < 0 ||
        (of_home.st_dev == of_account.st_dev &&
         of_home.st_ino == of_account.st_ino))
        return;
    doctor_add(doctor, HERE, "home", DOCTOR_NOTE,
               "set HOME to it, or name keys by key= in the hosts file",
               "HOME is %s, and this account has %s: ssh has its configuration "
               "and known_hosts there, and keys are looked for in HOME",
               home, account->pw_dir);
}

static void check_keys(struct doctor *doctor, const char *home)
{
    char *folder = mem_printf("%s/.ssh", home ? home : "");
    struct dirent **entries = NULL;
    int n = scandir(folder, &entries, is_private_key, alphasort);

    if (n <= 0)
        doctor_add(
            doctor, HERE, "key", DOCTOR_NOTE, NULL,
            "there is no private key in %s; hosts need key= or an SSH agent",
            folder);
    for (int i = 0; i < n; i++) {
        check_key(doctor, folder, entries[i]->d_name);
        free(entries[i]);
    }
    free(entries);
    free(folder);
}

static void check_disk(struct doctor *doctor)
{
    struct statvfs space;
    struct statfs fs;
    unsigned long long mib;
    const char *network;

    if (statvfs(".", &space) < 0 || statfs(".", &fs) < 0) {
        doctor_add(doctor, HERE, "disk", DOCTOR_FAILED,
                   "change to a folder that exists", "this folder: %s",
                   strerror(errno));
        return;
    }
    mib = (unsigned long long)space.f_bavail * space.f_frsize >> 20;
    network = dbfile_network((unsigned long)fs.f_type);
    if (network)
        doctor_add(doctor, HERE, "disk", DOCTOR_FAILED,
                   "name a database on a local disk with --db",
                   "this folder is on %s, where SQLite's write-ahead log does "
                   "not work",
                   network);
    else
        doctor_add(doctor, HERE, "disk",
                   mib < DISK_MIN_MIB ? DOCTOR_WARNING : DOCTOR_OK,
                   mib < DISK_MIN_MIB ? "free some disk space, or name a "
                                        "database on another disk with --db"
                                      : NULL,
                   "%llu MiB free for the database", mib);
    if (access(".", W_OK) < 0)
        doctor_add(doctor, HERE, "disk", DOCTOR_FAILED,
                   "change to a folder that you can write, or name a database "
                   "in one with --db",
                   "you cannot write to this folder");
}

void doctor_record(struct doctor *doctor, const char *path)
{
    struct landscape *record = NULL;
    struct err err = { "" };

    if (record_file_load(path, &record, &err) == 0)
        doctor_add(doctor, HERE, "record", DOCTOR_OK, NULL,
                   "%s has %d configurations, recorded on %s", path,
                   domain_size(record->domain),
                   record->device[0] ? record->device : "an unnamed device");
    else
        doctor_add(doctor, HERE, "record", DOCTOR_FAILED,
                   "name a Kernel Tuner cache, a T4 file or the database of a "
                   "sweep",
                   "%s", err.text);
    landscape_free(record);
}

void doctor_here(struct doctor *doctor, const struct remote_options *options)
{
    check_ssh(doctor);
    check_agent(doctor, options->agent);
    check_home(doctor, options->home);
    check_keys(doctor, options->home);
    check_disk(doctor);
}
