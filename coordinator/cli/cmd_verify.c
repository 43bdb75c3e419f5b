#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>

#include "common/err.h"
#include "coordinator/cli/cmd.h"
#include "coordinator/inspect/verify.h"
#include "coordinator/dbpath/dbpath.h"
#include "coordinator/store/store.h"
#include "coordinator/options/fail.h"
#include "coordinator/options/options.h"
#include "coordinator/text/exit_code.h"
#include "coordinator/text/json_out.h"
#include "coordinator/text/terminal.h"

static const char *const covered[] = {
    "every column of every table, by the checksum of its row",
    "rows that are missing or too many, by the count and sum of each table",
    "the key of each configuration, computed from its parameters",
    "the pages and indices of the file",
    "identities, outcomes and intervals, against each other",
    NULL,
};
static const char *const not_covered[] = {
    "rows that were changed together with their checksums and the count",
    "what was deleted before the database had format 11",
    "changes of before the database had format 10, but for build, result, "
    "tool and keys",
    NULL,
};

static void put_names(struct json_out *out, const char *name,
                      const char *const *names)
{
    json_out_open(out, name, '[');
    for (; *names; names++)
        json_out_text(out, NULL, *names);
    json_out_close(out);
}

static void print_names(const char *what, const char *const *names)
{
    for (; *names; names++)
        printf("%s%s\n", what, *names);
}

static void print_json(const char *path, const struct verify *verify)
{
    struct json_out out;

    json_out_init(&out, stdout);
    json_out_open(&out, NULL, '{');
    json_out_text(&out, "database", path);
    json_out_bool(&out, "sound", verify->found == 0);
    json_out_int(&out, "checksums", verify->rows);
    json_out_int(&out, "keys", verify->keys);
    put_names(&out, "covered", covered);
    put_names(&out, "not_covered", not_covered);
    json_out_int(&out, "found", verify->found);
    json_out_open(&out, "findings", '[');
    for (size_t i = 0; i < verify->n_findings; i++) {
        json_out_open(&out, NULL, '{');
        json_out_text(&out, "check", verify->findings[i].check);
        json_out_text(&out, "text", verify->findings[i].text);
        json_out_close(&out);
    }
    json_out_close(&out);
    json_out_close(&out);
}

static void print_lines(const char *path, const struct verify *verify)
{
    for (size_t i = 0; i < verify->n_findings; i++)
        printf("%s: %s\n", verify->findings[i].check, verify->findings[i].text);
    if (verify->found > (int64_t)verify->n_findings)
        printf("and %" PRId64 " more\n",
               verify->found - (int64_t)verify->n_findings);
    if (verify->found)
        printf("%s: %" PRId64 " findings\n", path, verify->found);
    else
        printf("%s is sound: integrity, %" PRId64 " checksums, %" PRId64
               " configuration keys, identities, outcomes, intervals\n",
               path, verify->rows, verify->keys);
    print_names("covers ", covered);
    print_names("does not cover ", not_covered);
}

int cmd_verify(int argc, char *argv[])
{
    bool json = false;
    const char *given = NULL;
    const struct option list[] = {
        { "json", OPTION_FLAG, &json, NULL, "for programs", NULL },
        { "db", OPTION_TEXT, &given, "FILE",
          "the database, instead of as an argument", NULL },
    };
    const struct options options = {
        .command = "verify",
        .arguments = "[DB]",
        .what = "Verify the checksums and invariants of a database.",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
        .first_flag = "db",
        .arguments_max = 1,
        .plain = &given,
    };
    struct store *store = NULL;
    struct verify verify = { 0 };
    char *path = NULL;
    struct err err;
    int rc = options_parse(&options, argc, argv, &err);

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc == 0)
        rc = dbpath_find(given, &path, &err);
    if (rc == 0)
        rc = store_open(path, STORE_READ, &store, &err);
    if (rc == 0) {
        verify_run(store, &verify);
        (json ? print_json : print_lines)(path, &verify);
        rc = terminal_flush(stdout, &err);
    }
    if (rc < 0)
        rc = fail_with(rc, &err);
    else if (verify.found)
        rc = EXIT_DATABASE;
    verify_fini(&verify);
    store_close(store);
    free(path);
    return rc;
}
