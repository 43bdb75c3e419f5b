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

#include "coordinator/dial/dial_keys.h"

struct stage {
    char folder[64], db[96], path[128];
};

static int set_up(void **state)
{
    static struct stage stage;

    strcpy(stage.folder, "/tmp/fa-dial-XXXXXX");
    assert_non_null(mkdtemp(stage.folder));
    snprintf(stage.db, sizeof(stage.db), "%s/a.db", stage.folder);
    snprintf(stage.path, sizeof(stage.path), "%s.dial", stage.db);
    *state = &stage;
    return 0;
}

static int tear_down(void **state)
{
    struct stage *stage = *state;

    dial_keys_remove(stage->db);
    return rmdir(stage->folder);
}

static void keys_and_port_are_kept_and_private(void **state)
{
    struct stage *stage = *state;
    struct dial_keys *keys;
    struct dial_pair server, host;
    struct stat st;

    assert_int_equal(dial_keys_open(stage->db, &keys, NULL), 0);
    assert_int_equal(dial_keys_port(keys), 0);
    server = *dial_keys_server(keys);
    host = *dial_keys_host(keys, "node-1", NULL);
    assert_string_not_equal(dial_keys_host(keys, "node-2", NULL)->public_key,
                            host.public_key);
    dial_keys_set_port(keys, 4711);
    dial_keys_add_job(keys, "fa-1-gpu");
    dial_keys_add_job(keys, "fa-1-gpu");
    assert_false(dial_keys_exist(stage->db));
    assert_int_equal(dial_keys_save(keys, NULL), 0);
    dial_keys_close(keys);
    assert_int_equal(stat(stage->path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(dial_keys_open(stage->db, &keys, NULL), 0);
    assert_true(dial_keys_exist(stage->db));
    assert_int_equal(dial_keys_port(keys), 4711);
    assert_string_equal(dial_keys_job(keys, 0), "fa-1-gpu");
    assert_null(dial_keys_job(keys, 1));
    assert_memory_equal(dial_keys_server(keys), &server, sizeof(server));
    assert_memory_equal(dial_keys_host(keys, "node-1", NULL), &host,
                        sizeof(host));
    dial_keys_close(keys);
}

static void another_file_is_refused_by_its_line(void **state)
{
    struct stage *stage = *state;
    struct dial_keys *keys;
    struct err err;
    FILE *file = fopen(stage->path, "w");

    fputs("fa-dial 1\nport 99999\n", file);
    fclose(file);
    assert_int_equal(dial_keys_open(stage->db, &keys, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "a.db.dial:2: "));
    file = fopen(stage->path, "w");
    fputs("fa-dial 1\nport 9\n", file);
    fclose(file);
    assert_int_equal(dial_keys_open(stage->db, &keys, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "the key of the server is missing"));
}

static void invitations_are_private_and_go_with_the_keys(void **state)
{
    struct stage *stage = *state;
    char *folder = dial_keys_folder(stage->db);
    char path[160];
    struct stat st;

    assert_int_equal(dial_keys_write(folder, "node-1", "text\n", NULL), 0);
    assert_int_equal(dial_keys_write(folder, "node-1", "other\n", NULL), 0);
    snprintf(path, sizeof(path), "%s/node-1", folder);
    assert_int_equal(stat(path, &st), 0);
    assert_int_equal(st.st_mode & 0777, 0600);
    assert_int_equal(st.st_size, 6);
    dial_keys_remove(stage->db);
    assert_int_equal(access(folder, F_OK), -1);
    free(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(keys_and_port_are_kept_and_private,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(another_file_is_refused_by_its_line,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            invitations_are_private_and_go_with_the_keys, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
