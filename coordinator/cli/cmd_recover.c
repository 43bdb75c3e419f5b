#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/cli/cmd.h"
#include "coordinator/inspect/recover.h"
#include "coordinator/store/dbnew.h"
#include "coordinator/dbpath/dbpath.h"
#include "coordinator/store/store.h"
#include "coordinator/options/fail.h"
#include "coordinator/options/options.h"
#include "coordinator/text/exit_code.h"
#include "coordinator/text/json_out.h"
#include "coordinator/text/terminal.h"

#define SUFFIX ".db"

/* vector_add.db becomes vector_add-recovered.db, in the same folder. */
static char *name_copy(const char *path)
{
    size_t len = strlen(path), end = strlen(SUFFIX);
    bool has_suffix = len > end && strcmp(path + len - end, SUFFIX) == 0;

    return mem_printf("%.*s-recovered" SUFFIX,
                      (int)(has_suffix ? len - end : len), path);
}

static void print_json(const char *path, const struct recover *recover)
{
    struct json_out out;

    json_out_init(&out, stdout);
    json_out_open(&out, NULL, '{');
    json_out_text(&out, "database", path);
    json_out_bool(&out, "complete", !recover_is_hurt(recover));
    json_out_int(&out, "orphans", recover->orphans);
    json_out_bool(&out, "counted", !recover->uncounted);
    json_out_open(&out, "tables", '[');
    for (size_t i = 0; i < RECOVER_TABLES; i++) {
        const struct recover_table *table = &recover->tables[i];

        json_out_open(&out, NULL, '{');
        json_out_text(&out, "table", table->name);
        json_out_int(&out, "kept", table->kept);
        json_out_int(&out, "dropped", table->dropped);
        json_out_bool(&out, "damaged", table->damaged);
        json_out_int(&out, "missing", table->missing);
        json_out_int(&out, "surplus", table->surplus);
        json_out_bool(&out, "others", table->others);
        json_out_close(&out);
    }
    json_out_close(&out);
    json_out_close(&out);
}

static void print_counts(const struct recover_table *table)
{
    if (table->missing)
        printf("%s: %" PRId64 " rows are missing\n", table->name,
               table->missing);
    if (table->surplus)
        printf("%s: %" PRId64 " rows are there beside those that were "
               "written\n",
               table->name, table->surplus);
    if (table->others)
        printf("%s: its rows are not those that were written\n", table->name);
}

static void print_lines(const char *path, const struct recover *recover)
{
    int64_t kept = 0;

    for (size_t i = 0; i < RECOVER_TABLES; i++) {
        const struct recover_table *table = &recover->tables[i];

        kept += table->kept;
        if (table->dropped)
            printf("%s: %" PRId64 " rows do not hold\n", table->name,
                   table->dropped);
        if (table->damaged)
            printf("%s: some rows cannot be read\n", table->name);
        print_counts(table);
    }
    if (recover->uncounted)
        printf("how many rows were written is lost\n");
    if (recover->orphans)
        printf("%" PRId64 " rows belonged to rows that are lost\n",
               recover->orphans);
    printf("%s has %" PRId64 " rows%s\n", path, kept,
           recover_is_hurt(recover) ? "" : ": nothing is lost");
}

static int recover_to(const char *from_path, const char *to_path,
                      struct recover *out, struct err *err)
{
    struct store *from = NULL;
    struct dbnew *to = NULL;
    int rc = store_open(from_path, STORE_DAMAGED, &from, err);

    if (rc == 0)
        rc = dbnew_open(to_path, &to, err);
    if (rc == 0)
        rc = recover_run(from, dbnew_store(to), out, err);
    rc = dbnew_close(to, rc, err);
    store_close(from);
    return rc;
}

int cmd_recover(int argc, char *argv[])
{
    bool json = false;
    const char *given = NULL, *copy = NULL;
    const struct option list[] = {
        { "json", OPTION_FLAG, &json, NULL, "for programs", NULL },
        { "to", OPTION_TEXT, &copy, "FILE",
          "the copy; default: NAME-recovered.db", NULL },
        { "db", OPTION_TEXT, &given, "FILE",
          "the database, instead of as an argument", NULL },
    };
    const struct options options = {
        .command = "recover",
        .arguments = "[DB]",
        .what = "Copy the intact rows of a damaged database into a new one.",
        .list = list,
        .n = sizeof(list) / sizeof(list[0]),
        .first_flag = "db",
        .arguments_max = 1,
        .plain = &given,
    };
    struct recover recover = { .orphans = 0 };
    char *path = NULL, *to = NULL;
    struct err err;
    int rc = options_parse(&options, argc, argv, &err);

    if (rc == OPTIONS_HELP)
        return 0;
    if (rc == 0)
        rc = dbpath_find(given, &path, &err);
    if (rc == 0) {
        to = copy ? mem_strdup(copy) : name_copy(path);
        rc = recover_to(path, to, &recover, &err);
    }
    if (rc == 0) {
        (json ? print_json : print_lines)(to, &recover);
        rc = terminal_flush(stdout, &err);
    }
    rc = rc < 0                      ? fail_with(rc, &err)
         : recover_is_hurt(&recover) ? EXIT_PARTIAL
                                     : 0;
    free(path);
    free(to);
    return rc;
}
