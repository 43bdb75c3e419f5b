#include "coordinator/remote/deploy.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/int64.h"
#include "coordinator/remote/remote.h"

#define SCRIPT_MAX 4096
#define ANSWER_MAX (256 << 10) /* a login shell may print a lot first */
#define PROBE_NS (30 * NS_PER_S)
#define INPUT "fa-input" /* what the probe reads from its stdin */
#define BEGIN "fa-begin\n"
#define SAID_BYTES 300

/* Scripts stand between single quotes on the command line of a login shell of
 * unknown kind: no single quote, no '!' (csh's history), no newline. */
#define QUOTED(script) "exec sh -c '" script "'"

/* Sets $d from the folder's name and goes there; "~/" is the home folder.  A
 * program that is already there is checked like an upload. */
#define SUM                                                       \
    "sum() { if command -v sha256sum >/dev/null 2>&1; then "      \
    "set -- \"$1\" $(sha256sum <\"$1\"); test \"$2\" = %s; else " \
    "set -- $(cksum <\"$1\"); test \"$1 $2\" = \"%lu %zu\"; fi; }; "

static const char probe_script[] = QUOTED(
    "echo; echo fa-begin; exec 2>&1; umask 077; read -r x; "
    "test \"$x\" = " INPUT " || echo swallowed; cd; d=\"%s\"; "
    "mkdir -p \"$d\" && cd \"$d\" || { echo fa-end; exit 0; }; "
    "chmod 700 . ; test -O . || echo foreign; test -w . || echo readonly; "
    "echo dir \"$(pwd -P)\"; echo machine \"$(uname -m)\"; " SUM
    "test -x fa-worker-%s && sum fa-worker-%s && echo have; echo fa-end");

/* Removes the parts that killed uploads of this machine left; a work folder may
 * be one that machines share.  When the connection is lost, "echo" meets a
 * broken pipe, and some shells do not run the trap of EXIT then. */
static const char upload_script[] = QUOTED(
    "echo; echo fa-begin; exec 2>&1; umask 077; cd \"%s\" || exit 1; "
    "h=$(uname -n); for f in .fa-worker-*.$h.*; "
    "do kill -0 ${f##*.} || rm -f $f; done 2>/dev/null; "
    "t=.fa-worker-%s.$h.$$; trap \"rm -f $t\" EXIT; "
    "trap \"exit 1\" HUP INT PIPE TERM; cat >$t || echo short; " SUM
    "sum $t && echo same && chmod 700 $t && ./$t --version >/dev/null && "
    "mv -f $t fa-worker-%s && echo ready; echo fa-end");

struct answer {
    struct buf text;
    char said[SAID_BYTES];
};

/* The text after the begin mark, or NULL. */
static const char *body(const struct answer *a)
{
    const char *begin = strstr(buf_text(&a->text), "\n" BEGIN);

    return begin ? begin + 1 + sizeof(BEGIN) - 1 : NULL;
}

static bool has_line(const char *text, const char *line)
{
    size_t n = strlen(line);

    for (const char *p = text; (p = strstr(p, line)) != NULL; p += n)
        if ((p == text || p[-1] == '\n') && (p[n] == '\n' || p[n] == '\0'))
            return true;
    return false;
}

/* The rest of the line that starts with 'key', or "". */
static void value_of(const char *text, const char *key, char *out, size_t size)
{
    size_t n = strlen(key);

    *out = '\0';
    for (const char *p = text; (p = strstr(p, key)) != NULL; p += n)
        if ((p == text || p[-1] == '\n') && p[n] == ' ') {
            snprintf(out, size, "%.*s", (int)strcspn(p + n + 1, "\r\n"),
                     p + n + 1);
            return;
        }
}

/* Error messages of the tools: all lines but those of the script, joined. */
static void complaint_of(const char *text, char *out, size_t size)
{
    static const char *const ours[] = { "fa-end",  "same",     "ready",
                                        "have",    "short",    "readonly",
                                        "foreign", "swallowed" };
    size_t used = 0;

    *out = '\0';
    while (*text) {
        size_t n = strcspn(text, "\n");
        bool skip = n == 0 || strncmp(text, "dir ", 4) == 0 ||
                    strncmp(text, "machine ", 8) == 0;

        for (size_t i = 0; i < sizeof(ours) / sizeof(char *) && !skip; i++)
            skip = n == strlen(ours[i]) && memcmp(text, ours[i], n) == 0;
        if (!skip && used + n + 3 < size)
            used += (size_t)snprintf(out + used, size - used, "%s%.*s",
                                     used ? "; " : "", (int)n, text);
        text += n + (text[n] == '\n');
    }
    for (char *p = out; *p; p++)
        if ((unsigned char)*p < ' ' || *p == 0x7f)
            *p = ' ';
}

static int ask(struct remote *remote, const char *command, const void *input,
               size_t input_len, int64_t deadline_ns, struct answer *a,
               struct err *err)
{
    struct remote_io io = { .out = &a->text,
                            .said = a->said,
                            .said_size = sizeof(a->said),
                            .input = input,
                            .input_len = input_len,
                            .deadline_ns = deadline_ns };
    int status, rc;

    buf_init(&a->text, ANSWER_MAX);
    rc = remote_exec(remote, command, &io, &status, err);
    if (rc == ERR_NETWORK && clock_boot_ns() >= deadline_ns)
        return err_set(err, rc,
                       "deploy: the login shell gave no answer in time%s%s; "
                       "does ssh HOST true end by itself? A start-up file "
                       "(~/.bashrc) may wait for something",
                       *a->said ? "; it said: " : "", a->said);
    if (rc == 0 && !body(a) && a->text.truncated)
        return err_set(err, ERR_INPUT,
                       "deploy: a start-up file of the login shell (~/.bashrc) "
                       "prints more than %d KiB; let it print only if the "
                       "shell is interactive",
                       ANSWER_MAX >> 10);
    if (rc == 0 && !body(a))
        rc = err_set(err, ERR_INPUT,
                     "deploy: the login shell did not start 'sh' (status %d, "
                     "it said: %s%.80s); does ssh HOST sh -c true work?",
                     status, a->said, buf_text(&a->text));
    if (rc == 0 && !a->text.truncated && !has_line(body(a), "fa-end"))
        rc = err_set(err, ERR_NETWORK,
                     "deploy: the shell on the host ended before its script "
                     "did; was it killed?");
    return rc;
}

/* The machine that a program is built for, as `uname -m` names it; "" if
 * unknown. */
static const char *machine_of(const struct worker_binary *program)
{
    if (program->len < 20 || memcmp(program->bytes, "\177ELF", 4) != 0)
        return "";
    switch (program->bytes[18] | program->bytes[19] << 8) { /* e_machine */
    case 62:
        return "x86_64";
    case 183:
        return "aarch64";
    default:
        return "";
    }
}

static int judge_probe(const struct answer *a, const char *workdir,
                       const struct worker_binary *program,
                       struct deployed *out, struct err *err)
{
    const char *text = body(a), *want = machine_of(program);
    char machine[64], complaint[SAID_BYTES];

    if (has_line(text, "swallowed"))
        return err_set(err, ERR_INPUT,
                       "deploy: a start-up file of the login shell (~/.bashrc) "
                       "reads the standard input, which belongs to the worker; "
                       "let it read only if the shell is interactive");
    value_of(text, "dir", out->workdir, sizeof(out->workdir));
    value_of(text, "machine", machine, sizeof(machine));
    complaint_of(text, complaint, sizeof(complaint));
    if (!*out->workdir || has_line(text, "readonly"))
        return err_set(err, ERR_INPUT,
                       "deploy: the work folder '%s' cannot be created or "
                       "written (%s); name another one with workdir=",
                       workdir, *complaint ? complaint : "no permission");
    if (has_line(text, "foreign"))
        return err_set(err, ERR_INPUT,
                       "deploy: the work folder '%s' belongs to another user; "
                       "name one of your own with workdir=",
                       out->workdir);
    if (strspn(out->workdir,
               "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
               "0123456789/._-+@%,:") != strlen(out->workdir))
        return err_set(
            err, ERR_INPUT,
            "deploy: the path of the work folder '%s' has characters that a "
            "shell changes; name another one with workdir=",
            out->workdir);
    if (*want && *machine && strcmp(want, machine) != 0)
        return err_set(err, ERR_INPUT,
                       "deploy: the machine is %s, but this fa-worker is for "
                       "%s; build fa-worker for the machine",
                       machine, want);
    return 0;
}

static int judge_upload(const struct answer *a, const struct deployed *out,
                        struct err *err)
{
    const char *text = body(a);
    char complaint[SAID_BYTES];

    if (has_line(text, "ready"))
        return 0;
    complaint_of(text, complaint, sizeof(complaint));
    if (!has_line(text, "same") && strstr(complaint, "ile too large"))
        return err_set(err, ERR_INPUT,
                       "deploy: fa-worker may not be written to %s (%s); raise "
                       "'ulimit -f' for logins there",
                       out->workdir, complaint);
    if (!has_line(text, "same"))
        return err_set(
            err, ERR_INPUT,
            "deploy: the upload to %s arrived damaged (%s); is the disk full?",
            out->workdir, *complaint ? complaint : "cut off");
    if (strstr(complaint, "ermission denied"))
        return err_set(err, ERR_INPUT,
                       "deploy: programs cannot run in %s (%s); is it mounted "
                       "noexec? Name another folder with workdir=",
                       out->workdir, complaint);
    return err_set(err, ERR_INPUT,
                   "deploy: fa-worker does not start on the host (%s)",
                   *complaint ? complaint : "it ended with an error");
}

static int upload(struct remote *remote, const struct worker_binary *p,
                  int64_t deadline_ns, struct deployed *out, struct err *err)
{
    char script[SCRIPT_MAX];
    struct answer a;
    int rc;

    snprintf(script, sizeof(script), upload_script, out->workdir, p->hash,
             p->sha256, (unsigned long)p->cksum, p->len, p->hash);
    rc = ask(remote, script, p->bytes, p->len, deadline_ns, &a, err);
    if (rc == 0)
        rc = judge_upload(&a, out, err);
    buf_fini(&a.text);
    out->uploaded = 1;
    return rc;
}

int deploy_program(struct remote *remote, const char *workdir,
                   const struct worker_binary *p, int64_t deadline_ns,
                   struct deployed *out, struct err *err)
{
    const char *folder = *workdir ? workdir : DEPLOY_WORKDIR;
    char script[SCRIPT_MAX];
    struct answer a;
    int rc, n;
    bool have;

    *out = (struct deployed){ 0 };
    /* The script runs 'cd' first, so what follows "~/" is a relative path. */
    snprintf(script, sizeof(script), probe_script,
             strncmp(folder, "~/", 2) == 0 ? folder + 2 : folder, p->sha256,
             (unsigned long)p->cksum, p->len, p->hash, p->hash);
    rc = ask(remote, script, INPUT "\n", strlen(INPUT "\n"),
             int64_min(deadline_ns, clock_boot_ns() + PROBE_NS), &a, err);
    if (rc == 0)
        rc = judge_probe(&a, folder, p, out, err);
    have = rc == 0 && has_line(body(&a), "have");
    buf_fini(&a.text);
    if (rc < 0)
        return rc;
    n = snprintf(out->program, sizeof(out->program), "%s/fa-worker-%s",
                 out->workdir, p->hash);
    if (n < 0 || n >= (int)sizeof(out->program))
        return err_set(err, ERR_INPUT,
                       "deploy: the path of the work folder is too long; name "
                       "another one with workdir=");
    return have ? 0 : upload(remote, p, deadline_ns, out, err);
}
