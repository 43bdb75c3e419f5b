/* If "ssh HOST" works in a terminal, fa-coord works, and if not, neither does:
 * a table of servers and configurations (ssh_case.h).
 *
 * test_e2e_ssh_setups
 *     tries the quick ones by ssh and by what "fa-coord doctor --hosts" runs
 *     for a host
 * test_e2e_ssh_setups --all
 *     also all of them by the two programs as users run them, and silent
 *     servers
 * test_e2e_ssh_setups --table FILE
 *     those two programs only; writes docs/ssh-setups.md
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <libssh2.h>
#include <pwd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/hash.h"
#include "coordinator/process/subprocess.h"
#include "coordinator/remote/ssh.h"
#include "coordinator/doctor/doctor.h"
#include "coordinator/text/exit_code.h"
#include "tests/e2e/login.h"
#include "tests/e2e/ssh_case.h"

static struct sshd sshd;
static char dir[] = "/tmp/fa-test-setups-XXXXXX";

/* Run a command of sh(1) in the folder; returns its status. */
static int sh(const char *format, ...) __attribute__((format(printf, 1, 2)));
static int sh(const char *format, ...)
{
    char command[2048];
    const char *const argv[] = { "/bin/sh", "-c", command, NULL };
    struct err err;
    va_list ap;
    int status;

    snprintf(command, sizeof(command), "cd %s && ", dir);
    va_start(ap, format);
    vsnprintf(command + strlen(command), sizeof(command) - strlen(command),
              format, ap);
    va_end(ap);
    if (subprocess_output(argv, login_in_s(60), NULL, NULL, &status, &err) < 0)
        fail_msg("%s: %s", command, err.text);
    return status;
}

/* The files that the table names; the port is another one after each start. */
static void write_files(void)
{
    int port = sshd.port;

    assert_int_equal(
        sh("host='[127.0.0.1]:%d'; for f in host_ed25519 host_ecdsa id_rsa; "
           "do echo \"$host $(cut -d' ' -f1,2 $f.pub)\"; done >known_hosts; "
           "grep ssh-rsa known_hosts >known_rsa; "
           "cp known_hosts hashed; ssh-keygen -q -H -f hashed 2>/dev/null; "
           "sed 's/^/@revoked /' known_hosts >revoked; "
           "cat known_hosts >>revoked; "
           "echo \"$host $(cut -d' ' -f1,2 id_stranger.pub)\" >changed; "
           "echo \"@cert-authority * $(cut -d' ' -f1,2 id_stranger.pub)\" "
           ">authority; "
           "printf 'Host box\\n HostName 127.0.0.1\\n' >more",
           port),
        0);
}

static void with_server(const char *options)
{
    sshd_stop(&sshd);
    sshd_start(&sshd, dir, options);
    write_files();
}

/* What the doctor says about reaching the host, joined; true if it can be. */
static bool doctor_says(char *out, size_t size)
{
    struct host host = login_host(&sshd, "box");
    struct remote_options options = login_options(&sshd, REMOTE_SSH_AUTO);
    struct doctor doctor = { 0 };
    bool reached = true;

    doctor_host(&doctor, &host, &options);
    *out = '\0';
    for (size_t i = 0; i < doctor.n; i++) {
        const struct doctor_finding *finding = &doctor.findings[i];

        if (strcmp(finding->what, "reach") != 0)
            continue;
        reached = reached && finding->verdict != DOCTOR_FAILED;
        if (finding->verdict != DOCTOR_OK)
            snprintf(out + strlen(out), size - strlen(out), "%s",
                     finding->text);
    }
    doctor_fini(&doctor);
    return reached;
}

/* Both at the same time. */
static bool agree(const struct ssh_case *setup)
{
    char command[400], said[4096];
    const char *const argv[] = { "/bin/sh", "-c", command, NULL };
    int64_t start = clock_boot_ns();
    struct subprocess ssh;
    struct err err;
    bool reached;
    int status;

    sshd_configure(&sshd, setup->client);
    snprintf(command, sizeof(command),
             "exec ssh -F %s/ssh_config -oBatchMode=yes "
             "-oStrictHostKeyChecking=yes box true >/dev/null 2>&1",
             dir);
    assert_int_equal(subprocess_start(argv, &ssh, &err), 0);
    reached = doctor_says(said, sizeof(said));
    print_message("%-32s %-5s %5.2f s  %s\n", setup->name,
                  reached ? "works" : "fails",
                  (double)(clock_boot_ns() - start) / 1e9, said);
    if (subprocess_wait(&ssh, login_in_s(60), &status, &err) < 0)
        fail_msg("%s: ssh: %s", setup->name, err.text);
    subprocess_stop(&ssh);
    if ((status == 0) != setup->works)
        print_message("  ssh ended with %d\n", status);
    return (status == 0) == setup->works && reached == setup->works &&
           (setup->remark ? strstr(said, setup->remark) != NULL
                          : *said == '\0');
}

static void all_agree(const struct ssh_case *table, size_t n)
{
    const char *server = "of the table before";
    int failed = 0;

    for (size_t i = 0; i < n; i++) {
        if (table[i].server != server)
            with_server(table[i].server);
        server = table[i].server;
        failed += !agree(&table[i]);
    }
    assert_int_equal(failed, 0);
}

static void ssh_and_the_doctor_agree(void **state)
{
    (void)state;
    all_agree(ssh_case_quick, ssh_case_n_quick);
}

/* ---- the programs as users run them ---- */

#define SAID_MAX (64 << 10)

static const char *table_path; /* of --table */
static FILE *table_file;

struct answer {
    int status;
    double seconds;
    struct buf said;
};

/* Run a command whose ~/.ssh/config is the one of the test: both programs take
 * the home folder from the user database, so another one is put in its place,
 * for this command only. */
static void ask(const char *command, struct answer *out)
{
    const char *home = getpwuid(geteuid())->pw_dir;
    char script[1024];
    const char *const argv[] = {
        "unshare", "--mount", geteuid() == 0 ? "--" : "--map-current-user",
        "sh",      "-c",      script,
        NULL
    };
    int64_t start;
    struct err err;

    snprintf(script, sizeof(script),
             "mount --bind %s/home %s && cd %s && unset SSH_AUTH_SOCK && "
             "export HOME=%s COLUMNS=1000 && exec %s", /* a row is a line */
             dir, home, dir, home, command);
    buf_init(&out->said, SAID_MAX);
    start = clock_boot_ns();
    if (subprocess_output(argv, login_in_s(90), &out->said, NULL, &out->status,
                          &err) < 0)
        fail_msg("%s: %s", command, err.text);
    out->seconds = (double)(clock_boot_ns() - start) / 1e9;
}

static bool may_mount(void)
{
    struct answer answer;

    ask("true", &answer);
    buf_fini(&answer.said);
    return answer.status == 0;
}

/* Append the text with words for what is another one in each run. */
static void add_lasting(struct buf *out, const char *text, size_t len)
{
    char port[16];
    const struct {
        const char *is;
        size_t len; /* of what is replaced */
        const char *by;
    } words[] = {
        { dir, strlen(dir), "DIR" },
        { port, (size_t)snprintf(port, sizeof(port), "%d", sshd.port), "NUM" },
        { "SHA256:", 50, "SHA256:..." },
        { "|", 1, "\\|" }, /* would end the cell of the table */
    };

    for (size_t at = 0, step; at < len; at += step) {
        const char *by = NULL;

        step = 1;
        for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
            if (strncmp(text + at, words[i].is, strlen(words[i].is)) == 0) {
                step = words[i].len;
                by = words[i].by;
            }
        buf_add(out, by ? by : text + at, by ? strlen(by) : 1);
    }
}

/* What the doctor says about the login, beside that it works: in its table, the
 * rows "box reach" whose verdict is another word than ok. */
static void remarks_of(const char *said, struct buf *out)
{
    for (const char *row = said; (row = strstr(row, "\nbox ")); row++) {
        const char *end = row + 1 + strcspn(row + 1, "\n");
        char what[16], verdict[16];
        int skip = 0;

        if (sscanf(row, " box %15s %15s %n", what, verdict, &skip) == 2 &&
            strcmp(what, "reach") == 0 && strcmp(verdict, "ok") != 0)
            add_lasting(out, row + skip, (size_t)(end - row) - (size_t)skip);
    }
}

/* One row of the table, which is the output too. */
static void put_row(const char *name, const struct answer *ssh,
                    const struct answer *doctor, const char *remarks)
{
    struct buf row;

    buf_init(&row, SAID_MAX);
    buf_printf(&row, "| %s | %s | %.2f s | %s | %.2f s | %s |\n", name,
               ssh->status == 0 ? "works" : "fails", ssh->seconds,
               doctor->status == 0 ? "works" : "fails", doctor->seconds,
               remarks);
    print_message("%s", buf_text(&row));
    if (table_file)
        fprintf(table_file, "%s", buf_text(&row));
    buf_fini(&row);
}

/* Does it end as the set-up says? */
static bool is_right(const struct ssh_case *setup, int ssh, int doctor,
                     const char *remarks)
{
    bool fails = doctor == EXIT_NO_HOST || doctor == EXIT_REFUSED;

    return (ssh == 0) == setup->works &&
           (setup->works ? doctor == EXIT_DONE : fails) &&
           (setup->remark ? strstr(remarks, setup->remark) != NULL
                          : *remarks == '\0');
}

/* Both programs, one after the other. */
static bool programs_agree(const struct ssh_case *setup)
{
    struct answer ssh, doctor;
    struct buf remarks;
    bool right;

    buf_init(&remarks, SAID_MAX);
    sshd_configure(&sshd, setup->client);
    assert_int_equal(sh("cp ssh_config home/.ssh/config"), 0);
    ask("ssh -o BatchMode=yes -o StrictHostKeyChecking=yes box true 2>&1",
        &ssh);
    ask(FA_BINARY_DIR "/bin/fa-coord doctor --hosts hosts", &doctor);
    remarks_of(buf_text(&doctor.said), &remarks);
    put_row(setup->name, &ssh, &doctor, buf_text(&remarks));
    right = is_right(setup, ssh.status, doctor.status, buf_text(&remarks));
    if (!right)
        print_message("ssh: %d, %s\ndoctor: %d, %s\n", ssh.status,
                      buf_text(&ssh.said), doctor.status,
                      buf_text(&doctor.said));
    buf_fini(&ssh.said);
    buf_fini(&doctor.said);
    buf_fini(&remarks);
    return right;
}

static int try_table(const struct ssh_case *table, size_t n)
{
    const char *server = "of the table before";
    int failed = 0;

    for (size_t i = 0; i < n; i++) {
        if (table[i].server != server)
            with_server(table[i].server);
        server = table[i].server;
        failed += !programs_agree(&table[i]);
    }
    return failed;
}

static void begin_table(void)
{
    char date[CLOCK_ISO_BYTES], version[256] = "";
    FILE *said = popen("ssh -V 2>&1", "r");

    assert_non_null(said);
    assert_non_null(fgets(version, sizeof(version), said));
    pclose(said);
    version[strcspn(version, "\n")] = '\0';
    clock_iso(clock_utc_ns(), date);
    table_file = fopen(table_path, "w");
    assert_non_null(table_file);
    fprintf(
        table_file,
        "# SSH set-ups\n\n"
        "If `ssh HOST` works, fa-coord reaches the host, and if `ssh` refuses, "
        "so does fa-coord:\n\n"
        "    ssh -o BatchMode=yes -o StrictHostKeyChecking=yes HOST true\n"
        "    fa-coord doctor --hosts hosts.txt      # HOST role=builder\n\n"
        "Both were run for each of these servers and configurations, with "
        "a real sshd on the same machine.\nMade on %.10s with %s\nand libssh2 "
        "%s, on two busy cores, by:\n\n"
        "    build/dev/tests/test_e2e_ssh_setups --table docs/ssh-setups.md\n\n"
        "The doctor looks at the host after the login. Where it uses the "
        "system's ssh, it logs in twice.\n\"It says\" is what it tells about "
        "the "
        "login, beside that it works. DIR is a folder with keys and\nknown "
        "hosts, NUM the port of the server.\n\n"
        "| set-up | ssh | time | fa-coord doctor | time | it says |\n"
        "|---|---|---|---|---|---|\n",
        date, version, libssh2_version(0));
}

static void ssh_and_fa_coord_agree(void **state)
{
    int failed;

    (void)state;
    assert_int_equal(sh("mkdir -p -m 700 home/.ssh && echo box role=builder "
                        "workdir=%s/work >hosts",
                        dir),
                     0);
    if (!may_mount())
        skip();
    if (table_path)
        begin_table();
    failed = try_table(ssh_case_quick, ssh_case_n_quick) +
             try_table(ssh_case_slow, ssh_case_n_slow);
    if (table_file)
        assert_int_equal(fclose(table_file), 0);
    assert_int_equal(failed, 0);
}

/* With both ways to log in; 'limit_s' is when the user must know. */
static void silence_is_named(const char *client, const char *const parts[2],
                             int limit_s)
{
    static const enum remote_ssh ways[2] = { REMOTE_SSH_LIBSSH2,
                                             REMOTE_SSH_OPENSSH };

    sshd_configure(&sshd, client);
    for (size_t i = 0; i < 2; i++) {
        struct remote_options options = login_options(&sshd, ways[i]);
        int64_t start = clock_boot_ns();

        login_refused(&sshd, "box", &options, ERR_NETWORK, parts[i]);
        print_message("%s: %.1f s\n", parts[i],
                      (double)(clock_boot_ns() - start) / 1e9);
        assert_true(clock_boot_ns() < start + limit_s * NS_PER_S);
    }
}

/* The kernel accepts for it. */
static void a_silent_server_is_named(void **state)
{
    static const char *const parts[2] = { "no answer within 10 s",
                                          "timed out during banner exchange" };

    (void)state;
    with_server(NULL);
    assert_int_equal(kill(sshd.pid, SIGSTOP), 0);
    silence_is_named(NULL, parts, 60);
    assert_int_equal(kill(sshd.pid, SIGCONT), 0);
}

static void a_slow_match_exec_is_named(void **state)
{
    static const char *const parts[2] = { "'Match exec'", "'Match exec'" };

    (void)state;
    with_server(NULL);
    silence_is_named("Match exec \"exec sleep 100\"\n", parts, 60);
}

static void a_frozen_agent_is_named(void **state)
{
    char path[300];
    const char *const argv[] = { "ssh-agent", "-D", "-a", path, NULL };
    const char *const parts[2] = { path, path };
    struct subprocess agent;
    struct err err;

    (void)state;
    with_server("AuthorizedKeysFile DIR/id_rsa.pub");
    snprintf(path, sizeof(path), "%s/agent", dir);
    assert_int_equal(subprocess_start(argv, &agent, &err), 0);
    assert_int_equal(sh("for i in $(seq 500); do test -S agent && exit; "
                        "sleep 0.01; done; exit 1"),
                     0);
    assert_int_equal(kill(agent.pid, SIGSTOP), 0);
    silence_is_named(SSH_CASE_BOX " IdentityAgent DIR/agent\n", parts, 30);
    sshd_configure(&sshd, SSH_CASE_BOX " IdentityAgent DIR/agent\n"
                                       " IdentityFile DIR/id_rsa\n");
    struct remote_options options = login_options(&sshd, REMOTE_SSH_OPENSSH);
    login_works(&sshd, "box", &options);
    assert_int_equal(kill(agent.pid, SIGCONT), 0);
    subprocess_stop(&agent);
}

/* A private key in OpenSSH's format as far as it is read: its public half is
 * of the kind that lives in a token. */
static int make_token_key(void)
{
    return sh("{ echo '-----BEGIN OPENSSH PRIVATE KEY-----'; "
              "{ printf 'openssh-key-v1\\0\\0\\0\\0\\4none\\0\\0\\0\\4none"
              "\\0\\0\\0\\0\\0\\0\\0\\1\\0\\0\\0\\112\\0\\0\\0\\032'; "
              "printf 'sk-ssh-ed25519@openssh.com\\0\\0\\0\\040'; "
              "head -c 32 /dev/zero; printf '\\0\\0\\0\\4ssh:'; } | base64; "
              "echo '-----END OPENSSH PRIVATE KEY-----'; } >id_token && "
              "chmod 600 id_token");
}

static int setup(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(hash_setup(&err), 0);
    assert_int_equal(ssh_setup(&err), 0);
    assert_non_null(mkdtemp(dir));
    sshd_start(&sshd, dir, NULL);
    write_files();
    assert_int_equal(make_token_key(), 0);
    return sh("cp id_ecdsa id_open; cp id_ecdsa.pub id_open.pub; "
              "chmod 644 id_open; for to in id host; do cp id_ecdsa "
              "${to}_signed; cp id_ecdsa.pub ${to}_signed.pub; done; "
              "ssh-keygen -q -s id_stranger -I me -n $(id -un) id_signed.pub; "
              "ssh-keygen -q -h -s id_stranger -I box host_signed.pub");
}

static int teardown(void **state)
{
    (void)state;
    sshd_stop(&sshd);
    ssh_cleanup();
    return sh("rm -rf %s", dir);
}

int main(int argc, char *argv[])
{
    const struct CMUnitTest cheap[] = {
        cmocka_unit_test(ssh_and_the_doctor_agree),
    };
    const struct CMUnitTest all[] = {
        cmocka_unit_test(ssh_and_the_doctor_agree),
        cmocka_unit_test(ssh_and_fa_coord_agree),
        cmocka_unit_test(a_silent_server_is_named),
        cmocka_unit_test(a_slow_match_exec_is_named),
        cmocka_unit_test(a_frozen_agent_is_named),
    };

    const struct CMUnitTest table[] = {
        cmocka_unit_test(ssh_and_fa_coord_agree),
    };

    if (argc > 2 && strcmp(argv[1], "--table") == 0) {
        table_path = argv[2];
        return cmocka_run_group_tests(table, setup, teardown);
    }
    if (argc > 1 && strcmp(argv[1], "--all") == 0)
        return cmocka_run_group_tests(all, setup, teardown);
    return cmocka_run_group_tests(cheap, setup, teardown);
}
