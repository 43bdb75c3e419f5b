#include "tests/damage/answers.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"
#include "coordinator/conclusion/conclusion.h"
#include "coordinator/conclusion/winner.h"
#include "coordinator/export/export.h"
#include "coordinator/inspect/profile.h"
#include "coordinator/inspect/verify.h"
#include "coordinator/lessons/lessons.h"
#include "coordinator/report/report_print.h"
#include "coordinator/result/report.h"
#include "coordinator/result/report_cost.h"
#include "coordinator/result/stored_spec.h"
#include "coordinator/store/store.h"
#include "tests/coordinator/result/confirmation_fixture.h"

#define IN_MEMORY "/dev/shm"

static char folder[64];

int answers_setup(void **state)
{
    struct err err;

    snprintf(folder, sizeof(folder), "%s/fa_damage_XXXXXX",
             access(IN_MEMORY, W_OK) == 0 ? IN_MEMORY : "/tmp");
    if (hash_setup(&err) < 0 || !mkdtemp(folder))
        return -1;
    *state = mem_printf("%s/sweep.db", folder);
    return 0;
}

int answers_teardown(void **state)
{
    answers_remove(*state);
    free(*state);
    return rmdir(folder);
}

static int say_winner(struct store *store, const struct report *report,
                      FILE *to, struct err *err)
{
    struct stored_spec stored = { NULL, NULL, NULL };
    struct export *export = NULL;
    struct winner winner;
    int rc = stored_spec_open(report, &stored, err);

    if (rc == 0)
        rc = winner_load(store, report, NULL, &winner, err);
    if (rc == 0)
        rc = export_make(report, &stored, &winner, store, &export, err);
    if (rc == 0)
        rc = export_json(export, to, err);
    export_free(export);
    stored_spec_close(&stored);
    return rc;
}

static int say_all(struct store *store, FILE *to, struct err *err)
{
    struct report *report = NULL;
    struct report_cost *cost = NULL;
    struct conclusion *conclusion = NULL;
    struct lessons lessons = { 0 };
    struct profile profiles = { NULL, 0 };
    struct report_view view = { .lessons = &lessons, .profiles = &profiles };
    int rc = report_load(store, &report, err);

    if (rc == 0)
        rc = stored_spec_metrics(report, err);
    if (rc == 0)
        rc = report_cost_load(store, &cost, err);
    if (rc == 0)
        rc = conclusion_load(store, report, cost, CONFIRMATION_CONFIRM,
                             &conclusion, err);
    if (rc == 0)
        rc = profile_load(store, report, &profiles, err);
    if (rc == 0)
        rc = lessons_load(report, NULL, store, &lessons, err);
    if (rc == 0) {
        view.report = report;
        view.cost = cost;
        view.conclusion = conclusion;
        rc = report_json(&view, to, err);
    }
    if (rc == 0)
        rc = report_csv(&view, to, err);
    if (rc == 0)
        rc = say_winner(store, report, to, err);
    profile_fini(&profiles);
    lessons_fini(&lessons);
    conclusion_free(conclusion);
    report_cost_free(cost);
    report_free(report);
    return rc;
}

char *answers_of(const char *path, struct err *err)
{
    struct store *store;
    char *text = NULL;
    size_t len;
    FILE *to;
    int rc = store_open(path, STORE_WHOLE, &store, err);

    if (rc == 0) {
        to = open_memstream(&text, &len);
        rc = say_all(store, to, err);
        fclose(to);
        store_close(store);
    }
    if (rc == 0)
        return text;
    free(text);
    if (rc != ERR_STORE && !strstr(err->text, "holds no sweep yet"))
        fail_msg("a damage ends with %d: %s", rc, err->text);
    return NULL;
}

long long answers_found(const char *path)
{
    struct store *store;
    struct verify verify;
    struct err err;
    long long found;

    if (store_open(path, STORE_READ, &store, &err) < 0)
        return -1;
    verify_run(store, &verify);
    found = verify.found;
    verify_fini(&verify);
    store_close(store);
    return found;
}

void answers_make(const char *path)
{
    struct scene s = { .n_gpus = 2, .times = { 1, 0.763, 0.9 } };

    scene_begin(&s, path, 2);
    scene_put_blocks(&s, SCENE_BLOCKS);
    scene_end(&s, true);
    assert_true(s.conclusion->success);
    scene_close(&s);
}

char *answers_read(const char *path, size_t *len)
{
    FILE *file = fopen(path, "re");
    char *bytes;

    assert_non_null(file);
    assert_int_equal(fseek(file, 0, SEEK_END), 0);
    *len = (size_t)ftell(file);
    rewind(file);
    bytes = mem_new(*len + 1, 1);
    assert_int_equal(fread(bytes, 1, *len, file), *len);
    fclose(file);
    return bytes;
}

void answers_write(const char *path, const char *bytes, size_t len)
{
    FILE *file = fopen(path, "we");

    assert_non_null(file);
    assert_int_equal(fwrite(bytes, 1, len, file), len);
    assert_int_equal(fclose(file), 0);
}

void answers_remove(const char *path)
{
    static const char *const ends[] = { "", "-wal", "-shm", ".lock" };

    for (size_t i = 0; i < sizeof(ends) / sizeof(ends[0]); i++) {
        char *name = mem_printf("%s%s", path, ends[i]);

        (void)remove(name); /* not all of them exist */
        free(name);
    }
}
