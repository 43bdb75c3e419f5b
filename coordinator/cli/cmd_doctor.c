#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "coordinator/cli/cmd.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/remote/remote.h"
#include "coordinator/remote/ssh.h"
#include "coordinator/doctor/doctor.h"
#include "coordinator/options/fail.h"
#include "coordinator/options/options.h"
#include "coordinator/tasks/run_settings.h"
#include "coordinator/text/exit_code.h"
#include "coordinator/text/json_out.h"
#include "coordinator/print/table.h"
#include "coordinator/text/terminal.h"

/* docs/exit-codes.md */

static void print_json(const struct doctor *doctor, int code)
{
    struct json_out out;

    json_out_init(&out, stdout);
    json_out_open(&out, NULL, '{');
    json_out_bool(&out, "fit", code == EXIT_DONE);
    json_out_int(&out, "usable_hosts", (int64_t)doctor->usable);
    json_out_open(&out, "findings", '[');
    for (size_t i = 0; i < doctor->n; i++) {
        const struct doctor_finding *finding = &doctor->findings[i];

        json_out_open(&out, NULL, '{');
        json_out_text(&out, "where", finding->where);
        json_out_text(&out, "what", finding->what);
        json_out_text(&out, "verdict",
                      finding->verdict == DOCTOR_FAILED
                          ? "failed"
                          : doctor_verdict_name(finding->verdict));
        json_out_text(&out, "text", finding->text);
        json_out_text(&out, "remedy", finding->remedy);
        json_out_close(&out);
    }
    json_out_close(&out);
    json_out_close(&out);
}

static void print_table(const struct doctor *doctor)
{
    struct table *table = table_new();

    table_column(table, 'l', "where");
    table_column(table, 'l', "what");
    table_column(table, 'l', "verdict");
    table_column(table, 'l', "finding");
    for (size_t i = 0; i < doctor->n; i++) {
        const struct doctor_finding *finding = &doctor->findings[i];

        table_cell(table, "%s", finding->where);
        table_cell(table, "%s", finding->what);
        table_cell(table, "%s", doctor_verdict_name(finding->verdict));
        table_cell(table, "%s%s%s", finding->text,
                   *finding->remedy ? "; remedy: " : "", finding->remedy);
    }
    table_print(table, stdout);
    table_free(table);
}

static int verdict(const struct doctor *doctor)
{
    bool failed = false;

    for (size_t i = 0; i < doctor->n; i++)
        failed |= doctor->findings[i].verdict == DOCTOR_FAILED;
    if (doctor->usable == 0)
        return doctor->refused ? EXIT_REFUSED : EXIT_NO_HOST;
    return failed ? EXIT_NO_RESULT : EXIT_DONE;
}

static int run(const struct hosts *hosts, const struct remote_options *options,
               const struct run_settings *set, int *code, struct err *err)
{
    struct doctor doctor = { .device = set->device };
    int rc = ssh_setup(err);

    if (rc < 0)
        return rc;
    doctor_here(&doctor, options);
    if (set->record)
        doctor_record(&doctor, set->record);
    for (size_t i = 0; i < hosts->n; i++)
        doctor_host(&doctor, &hosts->list[i], options);
    *code = verdict(&doctor);
    if (set->json)
        print_json(&doctor, *code);
    else
        print_table(&doctor);
    doctor_fini(&doctor);
    ssh_cleanup();
    return terminal_flush(stdout, err);
}

int cmd_doctor(int argc, char *argv[])
{
    struct run_settings set = RUN_SETTINGS;
    struct remote_options remote = { .home = getenv("HOME"),
                                     .agent = getenv("SSH_AUTH_SOCK") };
    const struct option list[] = {
        { "hosts", OPTION_TEXT, &set.hosts, "FILE", "check these hosts too",
          NULL },
        { "device", OPTION_TEXT, &set.device, "cuda|cpu|replay=FILE",
          "check what this device needs", NULL },
        { "ssh", OPTION_TEXT, &set.reach.ssh, "CLIENT",
          "auto, libssh2 or openssh: how to reach the hosts", NULL },
        { "accept-new-host-keys", OPTION_FLAG, &remote.accept_new_host_keys,
          NULL, "add unknown host keys to known_hosts", NULL },
        { "json", OPTION_FLAG, &set.json, NULL, "for programs", NULL },
    };
    const struct options options = {
        .command = "doctor",
        .arguments = "",
        .what = "Check that this machine and every host are ready for a sweep.",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
    };
    struct hosts hosts = { NULL, 0 };
    struct err err;
    int code = EXIT_DONE, rc = options_parse(&options, argc, argv, &err);

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc == 0)
        rc = run_settings_check(&set, false, &err);
    if (rc == 0)
        rc = remote_ssh_read(set.reach.ssh, &remote.ssh, &err);
    if (rc == 0 && set.hosts)
        rc = hosts_load(set.hosts, &hosts, &err);
    else if (rc == 0)
        hosts_local(&hosts);
    if (rc == 0)
        rc = run(&hosts, &remote, &set, &code, &err);
    hosts_fini(&hosts);
    return rc < 0 ? fail_with(rc, &err) : code;
}
