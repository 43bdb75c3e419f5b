/* What a command leaves behind for the next one, with a script as scancel. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/hash.h"
#include "coordinator/dial/dial_keys.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/link/dialling.h"
#include "coordinator/slurm/slurm_files.h"

static char folder[32], db[64];
/* The last one is behind the end. */
static struct host list[3];
static struct hosts hosts = { list, 2 };
static char jobs[3][SLURM_NAME_BYTES]; /* of "old", "gpu" and "behind" */

/* A scancel that keeps its arguments, and ends like this. */
static void write_scancel(int status)
{
    char path[64];
    FILE *file;

    snprintf(path, sizeof(path), "%s/scancel", folder);
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\necho \"$@\" >> %s/cancelled\nexit %d\n", folder,
            status);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0700), 0);
}

static struct host node(const char *partition, int task)
{
    struct host host = { .dial = { .back = true, .slurm.task = task } };

    snprintf(host.dial.slurm.partition, sizeof(host.dial.slurm.partition), "%s",
             partition);
    snprintf(host.workdir, sizeof(host.workdir), "%s", folder);
    return host;
}

static int set_up(void **state)
{
    struct dial_keys *keys;
    struct host old;
    struct err err;
    char search[256];

    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/fa-diall-XXXXXX");
    assert_non_null(mkdtemp(folder));
    snprintf(search, sizeof(search), "%s:/usr/bin:/bin", folder);
    setenv("PATH", search, 1);
    snprintf(db, sizeof(db), "%s/s.db", folder);
    write_scancel(0);
    old = node("old", 1);
    list[0] = node("gpu", 2); /* its line has the first */
    list[1] = node("gpu", 1);
    list[2] = node("behind", 1);
    assert_int_equal(dial_keys_open(db, &keys, &err), 0);
    for (int i = 0; i < 3; i++) {
        slurm_files_name(i == 0 ? &old : &list[i],
                         dial_keys_server(keys)->public_key, jobs[i]);
        dial_keys_add_job(keys, jobs[i]);
    }
    assert_int_equal(slurm_files_put(&list[1],
                                     dial_keys_server(keys)->public_key, "x", 1,
                                     &err),
                     0);
    assert_int_equal(dial_keys_save(keys, &err), 0);
    dial_keys_close(keys);
    return 0;
}

static int tear_down(void **state)
{
    char command[64];

    (void)state;
    snprintf(command, sizeof(command), "rm -rf %s", folder);
    return system(command);
}

static bool was_cancelled(const char *job)
{
    char path[64], text[1024], flag[SLURM_NAME_BYTES + 16];
    size_t n;
    FILE *file;

    snprintf(path, sizeof(path), "%s/cancelled", folder);
    snprintf(flag, sizeof(flag), "--name=%s\n", job);
    file = fopen(path, "r");
    if (!file)
        return false;
    n = fread(text, 1, sizeof(text) - 1, file);
    text[n] = '\0';
    fclose(file);
    return strstr(text, flag) != NULL;
}

/* What is behind the end of the list is not one of them. */
static void jobs_that_are_not_taken_over_are_cancelled(void **state)
{
    (void)state;
    dialling_begin(db, &hosts);
    assert_true(was_cancelled(jobs[0]));
    assert_false(was_cancelled(jobs[1]));
    assert_true(was_cancelled(jobs[2]));
}

static void all_jobs_can_be_cancelled(void **state)
{
    (void)state;
    assert_true(dialling_cancel(db));
    for (int i = 0; i < 3; i++)
        assert_true(was_cancelled(jobs[i]));
    write_scancel(1);
    assert_false(dialling_cancel(db));
    assert_true(dialling_cancel("/tmp/fa-no-such.db")); /* it has none */
}

static void count(void *arg, const char *job)
{
    int *n = arg;

    assert_string_equal(job, jobs[*n]);
    ++*n;
}

static void all_jobs_are_named(void **state)
{
    int n = 0;

    (void)state;
    dialling_jobs(db, count, &n);
    assert_int_equal(n, 3);
    dialling_jobs("/tmp/fa-no-such.db", count, &n);
    assert_int_equal(n, 3);
}

/* The folder of the jobs goes, and the keys when no command will need them. */
static void keys_are_kept_until_all_is_done(void **state)
{
    char path[256];

    (void)state;
    snprintf(path, sizeof(path), "%s/%s", folder, jobs[1]);
    assert_int_equal(access(path, F_OK), 0);
    dialling_end(db, &hosts, false);
    assert_int_equal(access(path, F_OK), -1);
    assert_true(dial_keys_exist(db));
    dialling_end(db, &hosts, true);
    assert_false(dial_keys_exist(db));
    dialling_end(db, &hosts, true); /* there are none */
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(jobs_that_are_not_taken_over_are_cancelled),
        CASE(all_jobs_can_be_cancelled),
        CASE(all_jobs_are_named),
        CASE(keys_are_kept_until_all_is_done),
    };
    struct err err;

    return hash_setup(&err) < 0 ? 1 : cmocka_run_group_tests(tests, NULL, NULL);
}
