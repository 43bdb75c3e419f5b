#include "coordinator/remote/deploy.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <openssl/evp.h>
#include <sodium.h>

#include "common/buf.h"
#include "common/cksum.h"
#include "common/clock.h"
#include "common/err.h"
#include "coordinator/remote/remote.h"

#define SCRIPT_MAX 4096
#define ANSWER_MAX (256 << 10) /* a login shell may print a lot first */
#define PROBE_NS (30 * NS_PER_S)
#define INPUT "fa-input" /* what the probe reads from its stdin */
#define BEGIN "fa-begin\n"
#define SAID_BYTES 300
#define STILL_NS (15 * NS_PER_S) /* another upload that gets no further */

/* Scripts stand between single quotes on the command line of a login shell of
 * unknown kind: no single quote, no '!' (csh's history), no newline. */
#define QUOTED(script) "exec sh -c '" script "'"

/* Sets $d from the folder's name and goes there; "~/" is the home folder.  A
 * program that is already there is checked like an upload. */
#define SUM                                                       \
    "sum() { if command -v sha256sum >/dev/null 2>&1; then "      \
    "set -- \"$1\" $(sha256sum <\"$1\"); test \"$2\" = %s; else " \
    "set -- $(cksum <\"$1\"); test \"$1 $2\" = \"%lu %zu\"; fi; }; "

/* What there is of uploads: the length, its checksum in two words, and the
 * name. */
#define PARTS                                                           \
    "for f in .fa-worker-%s.*; do test -f $f && n=$(wc -c <$f) && "     \
    "echo part $n $(head -c $n $f | { sha256sum || cksum; }) $f; done " \
    "2>/dev/null; "
#define PART_NAME \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz.-0123456789"

/* The file .fa-upload-HASH.MACHINE has the process of sshd whose connection
 * uploads, or is about to.  While it is another one, wait 2 s at most for its
 * end; then say how much has arrived, or take its place. */
#define BUSY                                                                \
    "busy() { read -r p <$l && if test \"x$p\" = x$PPID; then false; else " \
    "kill -0 $p; fi; } 2>/dev/null; "
#define TURN                                                              \
    "m=$(uname -n | cksum); l=.fa-upload-%s.${m%%%% *}; " BUSY "i=0; "    \
    "while test $i -lt 20 && busy; do i=$((i+1)); sleep 0.1 || sleep 1; " \
    "done 2>/dev/null; "
#define TAKE_TURN                                            \
    "(set -C; echo $PPID >$l) 2>/dev/null || if busy; then " \
    "echo busy $(cat .fa-worker-%s.* 2>/dev/null | wc -c); " \
    "else { echo $PPID >$l; } 2>/dev/null; fi; "

/* The folder is below the home folder.  Without one, it would be made in the
 * current folder.  x: HOME may be empty. */
#define AT_HOME                                                        \
    "case \"$d\" in /*) ;; *) case \"$HOME\" in /*) cd 2>/dev/null;; " \
    "*) false;; esac || { echo \"homeless x$HOME\"; echo fa-end; "     \
    "exit 0; };; esac; "

static const char probe_script[] = QUOTED(
    "echo; echo fa-begin; exec 2>&1; umask 077; read -r x; "
    "test \"$x\" = " INPUT " || echo swallowed; d=\"%s\"; " AT_HOME
    "mkdir -p \"$d\" && cd \"$d\" || { echo fa-end; exit 0; }; "
    "chmod 700 . ; test -O . || echo foreign; test -w . || echo readonly; "
    "echo dir \"$(pwd -P)\"; echo machine \"$(uname -m)\"; " TURN SUM
    "test -x fa-worker-%s && sum fa-worker-%s && echo have && rm -f $l || "
    "{ " TAKE_TURN PARTS "}; echo fa-end");

/* The name of what is uploaded ends in the machine, as machines may share the
 * folder, and the process that writes it.  Another upload copies from it and
 * never writes to it: it may be that of another coordinator, or of a connection
 * whose end has not been noticed there.  What is left of processes of this
 * machine that ended goes then, and what is left of other programs after a day.
 * A process that has ended and was not waited for has no "exe".  cat fails if
 * the disk is full, which is tried, and if the connection breaks: then what has
 * come is kept, also if there was none left to say fa-begin to; unless another
 * upload was complete first.
 * One that runs is let be, if the caller says so. */
static const char upload_script[] = QUOTED(
    "trap \"\" PIPE; echo; echo fa-begin; exec 2>&1; umask 077; "
    "cd \"%s\" || exit 1; " SUM "tidy() { for f in .fa-worker-$h.$m.*; do "
    "test -e \"/proc/${f##*.}/exe\" || rm -f $f; done; }; "
    "h=%s n=%zu f=%s m=$(uname -n | cksum); m=${m%%%% *}; "
    "t=.fa-worker-$h.$m.$$ l=.fa-upload-$h.$m; " BUSY
    "if test %d = 1 && busy; then echo busy; echo fa-end; exit; fi; "
    "{ echo $PPID >$l; } 2>/dev/null; "
    "{ test $n = 0 || head -c $n $f; } >$t; tidy; "
    "if cat >>$t; then if sum $t; then echo same; "
    "chmod 700 $t && ./$t --version >/dev/null && "
    "mv -f $t fa-worker-$h && echo ready; rm -f $t; tidy; "
    "find .fa-worker-* .fa-upload-* -mtime +0 -exec rm -f {} + 2>/dev/null; "
    "else test $(wc -c <$t) -lt %zu || rm -f $t; fi; "
    "else head -c 9999 /dev/zero >$t.0 2>/dev/null || rm -f $t; rm -f $t.0; "
    "echo short; fi; test ! -x fa-worker-$h || rm -f $t; "
    "busy || rm -f $l; echo fa-end");

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
    static const char *const ours[] = { "fa-end",  "same",      "ready",
                                        "have",    "short",     "readonly",
                                        "foreign", "swallowed", "busy" };
    size_t used = 0;

    *out = '\0';
    while (*text) {
        size_t n = strcspn(text, "\n");
        bool skip = n == 0 || strncmp(text, "dir ", 4) == 0 ||
                    strncmp(text, "part ", 5) == 0 ||
                    strncmp(text, "busy ", 5) == 0 ||
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

bool deploy_may_be_in(const char *path)
{
    return strspn(path, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
                        "0123456789/._-+@%,:") == strlen(path);
}

/* 'io' has the input, the deadline, and what belongs to those. */
static int ask(struct remote *remote, const char *command, struct remote_io *io,
               struct answer *a, struct err *err)
{
    char text[SAID_BYTES];
    int status, rc;

    buf_init(&a->text, ANSWER_MAX);
    io->out = &a->text;
    io->said = a->said;
    io->said_size = sizeof(a->said);
    rc = remote_exec(remote, command, io, &status, err);
    buf_blank_nuls(&a->text); /* start-up files may print any byte */
    if (rc == ERR_NETWORK && !io->idle_ns && clock_boot_ns() >= io->deadline_ns)
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
    if (rc == 0 && !body(a)) {
        complaint_of(buf_text(&a->text), text, sizeof(text));
        rc = err_set(err, ERR_INPUT,
                     "deploy: the login shell did not start 'sh' (status %d, "
                     "it said%s%s%s%.200s); does ssh HOST sh -c true work?",
                     status, *a->said || *text ? ": " : " nothing", a->said,
                     *a->said && *text ? "; " : "", text);
    }
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
    char machine[64], complaint[SAID_BYTES], home[SAID_BYTES];

    if (has_line(text, "swallowed"))
        return err_set(err, ERR_INPUT,
                       "deploy: a start-up file of the login shell (~/.bashrc) "
                       "reads the standard input, which belongs to the worker; "
                       "let it read only if the shell is interactive");
    value_of(text, "homeless", home, sizeof(home));
    if (*home)
        return err_set(err, ERR_INPUT,
                       "deploy: the work folder '%s' needs a home folder, and "
                       "HOME is '%s', which is no folder; set HOME, or name "
                       "another with workdir=",
                       workdir, home + 1);
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
    if (!deploy_may_be_in(out->workdir))
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

void deploy_sha256(const unsigned char *bytes, size_t len,
                   char out[DEPLOY_SHA256_HEX])
{
    unsigned char digest[DEPLOY_SHA256_HEX / 2];

    if (EVP_Digest(bytes, len, digest, NULL, EVP_sha256(), NULL) != 1)
        abort(); /* this algorithm is in every OpenSSL */
    sodium_bin2hex(out, DEPLOY_SHA256_HEX, digest, sizeof(digest));
}

/* The beginning of the program, left of an upload; length 0: none. */
struct part {
    size_t len;
    char name[80];
};

/* Are these the words of sha256sum(1) or cksum(1) for the first 'len' bytes? */
static bool is_beginning(const struct worker_binary *p, size_t len,
                         const char *sum)
{
    char sha256[DEPLOY_SHA256_HEX];

    if (strlen(sum) != strlen(p->sha256))
        return strtoul(sum, NULL, 10) == cksum_of(p->bytes, len);
    deploy_sha256(p->bytes, len, sha256);
    return strcmp(sha256, sum) == 0;
}

static struct part longest_part(const char *text, const struct worker_binary *p)
{
    struct part longest = { 0 }, part;
    char sum[80];

    for (; (text = strstr(text, "\npart ")); text++)
        if (sscanf(text, " part %zu %79s %*s %79s", &part.len, sum,
                   part.name) == 3 &&
            part.len > longest.len && part.len <= p->len &&
            strspn(part.name, PART_NAME) == strlen(part.name) &&
            is_beginning(p, part.len, sum))
            longest = part;
    return longest;
}

static int judge_upload(const struct answer *a, const struct deployed *out,
                        const struct part *part, struct err *err)
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
    if (!has_line(text, "same") && !has_line(text, "short") && part->len > 0)
        return err_set(err, ERR_NETWORK,
                       "deploy: the rest of an upload to %s does not fit to "
                       "its beginning (%s); it starts again",
                       out->workdir, *complaint ? complaint : "changed");
    if (!has_line(text, "same"))
        return err_set(
            err, ERR_INPUT,
            "deploy: the upload to %s arrived damaged (%s); is the disk full? "
            "make room there, or name another folder with workdir=",
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

/* It calls the watch, to which it adds where the upload began. */
struct progress {
    const struct deploy_watch *watch;
    size_t begin;
};

static void note_sent(void *self, size_t bytes)
{
    const struct progress *progress = self;

    if (progress->watch)
        progress->watch->sent(progress->watch->self, progress->begin + bytes);
}

/* 1 if another upload runs, which 'waits' lets be. */
static int upload(struct remote *remote, const struct worker_binary *p,
                  const struct part *part, bool waits,
                  const struct deploy_watch *watch, struct deployed *out,
                  struct err *err)
{
    struct progress progress = { watch, part->len };
    struct remote_io io = { .input = p->bytes + part->len,
                            .input_len = p->len - part->len,
                            .idle_ns = DEPLOY_IDLE_S * NS_PER_S,
                            .deadline_ns =
                                clock_boot_ns() + DEPLOY_IDLE_S * NS_PER_S,
                            .sent = note_sent,
                            .self = &progress };
    char script[SCRIPT_MAX];
    struct answer a;
    int rc;

    if (watch)
        watch->found(watch->self, part->len);
    snprintf(script, sizeof(script), upload_script, out->workdir, p->sha256,
             (unsigned long)p->cksum, p->len, p->hash, part->len,
             *part->name ? part->name : "-", waits, p->len);
    rc = ask(remote, script, &io, &a, err);
    if (rc == 0 && has_line(body(&a), "busy"))
        rc = 1;
    else if (rc == 0)
        rc = judge_upload(&a, out, part, err);
    buf_fini(&a.text);
    out->uploaded = rc == 0;
    return rc;
}

/* What a probe found. */
struct found {
    bool has, is_busy;
    size_t busy_len; /* what another upload has */
    struct part part;
};

static int probe(struct remote *remote, const char *folder,
                 const struct worker_binary *p, struct found *found,
                 struct deployed *out, struct err *err)
{
    struct remote_io io = { .input = INPUT "\n",
                            .input_len = strlen(INPUT "\n"),
                            .deadline_ns = clock_boot_ns() + PROBE_NS };
    char script[SCRIPT_MAX], busy[32];
    struct answer a;
    int rc;

    *found = (struct found){ 0 };
    /* The script goes home first, so what follows "~/" is a relative path. */
    snprintf(script, sizeof(script), probe_script,
             strncmp(folder, "~/", 2) == 0 ? folder + 2 : folder, p->hash,
             p->sha256, (unsigned long)p->cksum, p->len, p->hash, p->hash,
             p->hash, p->hash);
    rc = ask(remote, script, &io, &a, err);
    if (rc == 0)
        rc = judge_probe(&a, folder, p, out, err);
    if (rc == 0) {
        found->has = has_line(body(&a), "have");
        value_of(body(&a), "busy", busy, sizeof(busy));
        found->is_busy = *busy != '\0';
        found->busy_len = strtoul(busy, NULL, 10);
        found->part = longest_part(body(&a), p);
    }
    buf_fini(&a.text);
    return rc;
}

int deploy_program(struct remote *remote, const char *workdir,
                   const struct worker_binary *p,
                   const struct deploy_watch *watch, struct deployed *out,
                   struct err *err)
{
    const char *folder = *workdir ? workdir : DEPLOY_WORKDIR;
    int64_t moved_ns = clock_boot_ns();
    size_t most = 0;
    struct found found;
    int rc, n;

    *out = (struct deployed){ 0 };
    do {
        rc = probe(remote, folder, p, &found, out, err);
        if (rc < 0)
            return rc;
        n = snprintf(out->program, sizeof(out->program), "%s/fa-worker-%s",
                     out->workdir, p->hash);
        if (n < 0 || n >= (int)sizeof(out->program))
            return err_set(err, ERR_INPUT,
                           "deploy: the path of the work folder is too long; "
                           "name another one with workdir=");
        if (found.has)
            return 0;
        if (found.busy_len > most) {
            most = found.busy_len;
            moved_ns = clock_boot_ns();
            if (watch)
                watch->sent(watch->self, most);
        }
        rc = found.is_busy && clock_boot_ns() - moved_ns < STILL_NS
                 ? 1
                 : upload(remote, p, &found.part, !found.is_busy, watch, out,
                          err);
    } while (rc == 1);
    return rc;
}
