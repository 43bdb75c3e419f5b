#include "coordinator/doctor/doctor.h"

#include <stdlib.h>
#include <string.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/device_kind.h"
#include "common/err.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/remote/deploy.h"
#include "coordinator/remote/remote.h"
#include "coordinator/text/exit_code.h"

#define PROBE_NS (60 * NS_PER_S) /* a first nvidia-smi takes ten seconds */
#define ANSWER_MAX (256 << 10)   /* what a login shell prints included */
#define DISK_MIN_KIB (1 << 20)   /* artifacts, staged sources, files of nvcc */

/* A script for sh(1) on the host.  'w' is the work folder, 'n' the nvcc of the
 * hosts file or '', 'a' its allow.  It answers in lines "key value".  An nvcc
 * in the home folder that no folder of 'a' contains is hidden: builds do not
 * see it (worker/process/sandbox_policy.h). */
static const char probe[] =
    "umask 077\n"
    "is_hidden() {\n"
    "  r=$(readlink -f \"$1\") h=$(cd && pwd -P) || return 1\n"
    "  case $r in \"$h\"/*) ;; *) return 1;; esac\n"
    "  IFS=:\n"
    "  for d in $a; do\n"
    "    case $d in '~/'*) d=$HOME/${d#'~/'};; esac\n"
    "    d=$(cd \"$d\" 2>/dev/null && pwd -P) || continue\n"
    "    case $r in \"$d\"/*) return 1;; esac\n"
    "  done\n"
    "}\n"
    "no_home=\n"
    "case $w in '~'|'~/'*)\n"
    "  w=$HOME${w#'~'}\n"
    "  case $HOME in /*) [ -d \"$HOME\" ];; *) false;; esac ||\n"
    "  { no_home=yes; echo homeless x$HOME; };;\n"
    "esac\n"
    "echo system $(uname -sm)\n"
    "if [ -z \"$no_home\" ] && mkdir -p \"$w\" 2>/dev/null && f=$(mktemp "
    "\"$w/doctor.XXXXXX\"); then\n"
    "  echo writable $w\n"
    "  echo \"path $(cd \"$w\" && pwd -P)\"\n"
    "  printf '#!/bin/sh\\nexit 0\\n' >\"$f\" && chmod 700 \"$f\"\n"
    "  \"$f\" 2>/dev/null && echo executable $w\n"
    "  rm -f \"$f\"\n"
    "  echo disk $(df -Pk \"$w\" | awk 'NR==2 { print $4 }')\n"
    "fi\n"
    "for c in \"$n\" \"$CUDA_HOME/bin/nvcc\" \"$(command -v nvcc)\" "
    "/usr/local/cuda/bin/nvcc; do\n"
    "  [ -x \"$c\" ] || continue\n"
    "  echo nvcc $c $(\"$c\" --version | sed -n 's/.*release //p')\n"
    "  (is_hidden \"$c\") && echo hidden $c\n"
    "  break\n"
    "done\n"
    "for c in c++ g++ clang++; do\n"
    "  command -v $c >/dev/null && "
    "echo compiler $($c --version | head -n 1) && break\n"
    "done\n"
    "ls /dev/nvidia[0-9]* 2>/dev/null | sed 's/^/node /'\n"
    "command -v nvidia-smi >/dev/null && nvidia-smi --format=csv,noheader "
    "--query-gpu=name,driver_version,compute_mode 2>&1 | "
    "sed 's/^/gpu /'\n"
    "echo \"end $first\"\n";

/* May a sweep run on such a device? */
static bool may_use(const struct doctor *doctor, enum device_kind kind)
{
    return !doctor->device || device_kind_is(doctor->device, kind);
}

/* What is missing is a failure if the device was asked for. */
static enum doctor_verdict missing_is(const struct doctor *doctor,
                                      enum doctor_verdict otherwise)
{
    return doctor->device ? DOCTOR_FAILED : otherwise;
}

/* The rest of the first line that begins with 'key', copied to 'out'. */
static bool value(const char *answer, const char *key, char *out, size_t size)
{
    size_t len = strlen(key);

    for (const char *line = answer; *line;) {
        size_t n = strcspn(line, "\n");

        if (n > len && strncmp(line, key, len) == 0 && line[len] == ' ') {
            n -= len + 1;
            if (n >= size)
                n = size - 1;
            memcpy(out, line + len + 1, n);
            out[n] = '\0';
            return true;
        }
        line += n + (line[n] == '\n');
    }
    return false;
}

static void judge_folder(struct doctor *doctor, const char *name,
                         const char *answer)
{
    char text[512];

    if (value(answer, "homeless", text, sizeof(text))) {
        doctor_add(doctor, name, "workdir", DOCTOR_FAILED,
                   "set HOME, or workdir= in the hosts file",
                   "HOME is '%s', which is no folder", text + 1);
        return;
    }
    if (!value(answer, "writable", text, sizeof(text))) {
        doctor_add(doctor, name, "workdir", DOCTOR_FAILED,
                   "set workdir= in the hosts file to another folder",
                   "the work folder cannot be created or written");
        return;
    }
    if (value(answer, "path", text, sizeof(text)) && !deploy_may_be_in(text))
        doctor_add(doctor, name, "workdir", DOCTOR_FAILED,
                   "set workdir= in the hosts file to another folder",
                   "the path %s has characters that a shell changes", text);
    else if (value(answer, "executable", text, sizeof(text)))
        doctor_add(doctor, name, "workdir", DOCTOR_OK, NULL,
                   "%s is writable and programs in it run", text);
    else
        doctor_add(doctor, name, "workdir", DOCTOR_FAILED,
                   "set workdir= in the hosts file to a folder that is not "
                   "mounted noexec",
                   "programs in the work folder do not run");
    if (value(answer, "disk", text, sizeof(text)) &&
        strtoll(text, NULL, 10) >= DISK_MIN_KIB)
        doctor_add(doctor, name, "disk", DOCTOR_OK, NULL, "%lld MiB free",
                   strtoll(text, NULL, 10) / 1024);
    else
        doctor_add(doctor, name, "disk", DOCTOR_WARNING,
                   "free some disk space, or set workdir= to another folder",
                   "%lld MiB free; builds need %d MiB",
                   strtoll(text, NULL, 10) / 1024, DISK_MIN_KIB / 1024);
}

static void judge_gpus(struct doctor *doctor, const struct host *host,
                       const char *answer)
{
    bool wanted = host->role != HOST_BUILDER && strcmp(host->gpus, "none") != 0;
    enum doctor_verdict missing = !wanted ? DOCTOR_NOTE
                                  : host->local
                                      ? missing_is(doctor, DOCTOR_NOTE)
                                      : DOCTOR_FAILED;
    char text[512];

    if (value(answer, "gpu", text, sizeof(text)) && strchr(text, ','))
        doctor_add(doctor, host->name, "driver", DOCTOR_OK, NULL,
                   "%s (name, driver, compute mode)", text);
    else if (value(answer, "node", text, sizeof(text)))
        doctor_add(doctor, host->name, "driver", missing,
                   "install the NVIDIA driver that fits the Linux kernel, or "
                   "restart the machine if the driver was updated",
                   "%s exists, but nvidia-smi lists no GPU", text);
    else
        doctor_add(
            doctor, host->name, "driver", missing,
            missing != DOCTOR_FAILED ? NULL
            : host->local            ? "name a machine with a GPU by --hosts"
                          : "use a machine with a GPU, or set role=builder",
            "no NVIDIA GPU%s",
            missing == DOCTOR_NOTE && host->local
                ? "; without --hosts or with --device cpu, sweeps emulate "
                  "it"
                : "");
}

static void judge_nvcc(struct doctor *doctor, const struct host *host,
                       const char *answer)
{
    char text[512];

    if (value(answer, "hidden", text, sizeof(text)))
        doctor_add(doctor, host->name, "nvcc",
                   missing_is(doctor, DOCTOR_WARNING),
                   "name the toolkit's folder by allow= in the hosts file",
                   "%s is in the home folder, which builds do not see", text);
    else if (value(answer, "nvcc", text, sizeof(text)))
        doctor_add(doctor, host->name, "nvcc", DOCTOR_OK, NULL, "%s", text);
    else
        doctor_add(
            doctor, host->name, "nvcc",
            missing_is(doctor, host->local ? DOCTOR_NOTE : DOCTOR_WARNING),
            host->local && !doctor->device
                ? NULL
                : "install the CUDA toolkit, or set nvcc= in the hosts file",
            "nvcc is not in PATH, CUDA_HOME or /usr/local/cuda");
}

static void judge_compiler(struct doctor *doctor, const struct host *host,
                           const char *answer)
{
    char text[512];

    if (value(answer, "compiler", text, sizeof(text)))
        doctor_add(doctor, host->name, "compiler", DOCTOR_OK, NULL, "%s", text);
    else
        doctor_add(
            doctor, host->name, "compiler", missing_is(doctor, DOCTOR_WARNING),
            "install g++",
            "there is no C++ compiler; nvcc and the cpu device need one");
}

static void judge_system(struct doctor *doctor, const struct host *host,
                         const char *answer)
{
    char text[512];

    if (value(answer, "system", text, sizeof(text)) &&
        strcmp(text, "Linux x86_64") != 0)
        doctor_add(doctor, host->name, "system", DOCTOR_FAILED,
                   "use a machine with Linux on x86_64",
                   "the machine is %s; fa-worker is built for Linux x86_64",
                   text);
}

static void judge(struct doctor *doctor, const struct host *host,
                  const char *answer)
{
    bool cuda = may_use(doctor, DEVICE_KIND_CUDA);

    judge_folder(doctor, host->name, answer);
    if (cuda)
        judge_nvcc(doctor, host, answer);
    if (cuda || may_use(doctor, DEVICE_KIND_CPU))
        judge_compiler(doctor, host, answer);
    judge_system(doctor, host, answer);
    if (cuda)
        judge_gpus(doctor, host, answer);
}

/* Quote a text for sh, in single quotes. */
static void quoted(struct buf *out, const char *text)
{
    buf_add(out, "'", 1);
    for (; *text; text++) {
        if (*text == '\'')
            buf_add(out, "'\\''", 4);
        else
            buf_add(out, text, 1);
    }
    buf_add(out, "'", 1);
}

/* The last line break goes, the others become blanks. */
static void in_one_line(char *text)
{
    for (char *p = text; *p; p++)
        if ((unsigned char)*p < ' ')
            *p = p[1] ? ' ' : '\0';
}

static int ask(struct remote *remote, const struct host *host,
               struct buf *answer, struct err *err)
{
    struct buf script;
    char said[512] = "";
    struct remote_io io = { .out = answer,
                            .said = said,
                            .said_size = sizeof(said),
                            .deadline_ns = clock_boot_ns() + PROBE_NS };
    int status, rc;

    buf_init(&script, ANSWER_MAX);
    buf_printf(&script, "first=1 w=");
    quoted(&script, *host->workdir ? host->workdir : DEPLOY_WORKDIR);
    buf_printf(&script, " n=");
    quoted(&script, host->nvcc);
    buf_printf(&script, " a=");
    quoted(&script, host->allow);
    buf_printf(&script, "\n%s", probe);
    io.input = buf_text(&script);
    io.input_len = script.len;
    rc = remote_exec(remote, "sh -s", &io, &status, err);
    buf_blank_nuls(answer);
    buf_fini(&script);
    if (rc == 0 && !strstr(buf_text(answer), "end 1\n")) {
        if (!*said)
            snprintf(said, sizeof(said), "%.160s", buf_text(answer));
        in_one_line(said);
        rc = err_set(err, ERR_NETWORK,
                     "%s: the login shell does not run 'sh', or a start-up "
                     "file (~/.bashrc) reads the standard input or prints more "
                     "than %d KiB (it said%s %s)",
                     host->name, ANSWER_MAX >> 10, *said ? ":" : "",
                     *said ? said : "nothing");
    }
    return rc;
}

static bool has_failed(const struct doctor *doctor, size_t from)
{
    for (size_t i = from; i < doctor->n; i++)
        if (doctor->findings[i].verdict == DOCTOR_FAILED)
            return true;
    return false;
}

static void add_reached(struct doctor *doctor, const struct host *host,
                        const char *remarks)
{
    if (!host->local)
        doctor_add(doctor, host->name, "reach", DOCTOR_OK, NULL,
                   "connected and logged in; the host key is known");
    while (*remarks) {
        size_t len = strcspn(remarks, "\n");

        doctor_add(doctor, host->name, "reach", DOCTOR_NOTE, NULL, "%.*s",
                   (int)len, remarks);
        remarks += len + (remarks[len] == '\n');
    }
}

void doctor_host(struct doctor *doctor, const struct host *host,
                 const struct remote_options *options)
{
    struct remote *remote = NULL;
    struct buf answer;
    struct err err = { "" };
    size_t from = doctor->n;
    int rc;

    if (host->dial.back) {
        doctor_add(doctor, host->name, "reach", DOCTOR_NOTE, NULL,
                   "its worker dials back; nothing is asked before a sweep");
        return;
    }
    rc = remote_open(host, options, &remote, &err);
    buf_init(&answer, ANSWER_MAX);
    if (rc == 0) {
        add_reached(doctor, host, remote_remarks(remote));
        rc = ask(remote, host, &answer, &err);
    }
    if (rc == 0) {
        judge(doctor, host, buf_text(&answer));
    } else {
        doctor_add(doctor, host->name, "reach", DOCTOR_FAILED, NULL, "%s",
                   err.text);
        doctor->refused |= exit_code_of(rc) == EXIT_REFUSED;
    }
    doctor->usable += !has_failed(doctor, from);
    buf_fini(&answer);
    remote_close(remote);
}
