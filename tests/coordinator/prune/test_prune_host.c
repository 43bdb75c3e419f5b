#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/prune/prune_host.h"
#include "coordinator/prune/prune_list.h"

static struct prune_list list;

static int read_it(const char *answer, struct err *err)
{
    list = (struct prune_list){ 0 };
    return prune_host_read(answer, "gpu7", "/w", &list, err);
}

static void each_line_is_an_entry(void **state)
{
    struct err err;
    size_t n;

    (void)state;
    assert_int_equal(read_it("Welcome to gpu7!\n\nfa-prune 1\n"
                             "removed artifact 10 700000 /w/artifacts/a b\n"
                             "kept journal 99 800000 /w/journal\n"
                             "why it has results\n"
                             "removed log 5 1 /w/worker.log\n"
                             "end\n",
                             &err),
                     0);
    assert_int_equal(list.n, 3);
    assert_string_equal(list.entries[0].where, "gpu7");
    assert_string_equal(list.entries[0].kind, "artifact");
    assert_string_equal(list.entries[0].path, "/w/artifacts/a b");
    assert_int_equal(list.entries[0].age_s, 700000);
    assert_null(list.entries[0].why);
    assert_string_equal(list.entries[1].why, "it has results");
    assert_int_equal(prune_list_bytes(&list, false, &n), 15);
    assert_int_equal(n, 2);
    assert_int_equal(prune_list_bytes(&list, true, &n), 99);
    assert_int_equal(n, 1);
    prune_list_fini(&list);
}

static void a_folder_with_a_worker_is_kept(void **state)
{
    struct err err;

    (void)state;
    assert_int_equal(read_it("\nfa-prune 1\nbusy pid 7\nend\n", &err), 0);
    assert_int_equal(list.n, 1);
    assert_string_equal(list.entries[0].path, "/w");
    assert_string_equal(list.entries[0].why, "pid 7");
    prune_list_fini(&list);
}

static void an_answer_that_is_not_whole_is_refused(void **state)
{
    static const char *const answers[] = {
        "",
        "usage: fa-worker",
        "\nfa-prune 2\nend\n",
        "\nfa-prune 1\n",
        "\nfa-prune 1\nremoved artifact 10 7 /w/a\n",
        "\nfa-prune 1\nremoved artifact 10 /w/a\nend\n",
        "\nfa-prune 1\nremoved artifact -1 7 /w/a\nend\n",
        "\nfa-prune 1\nremoved artifact 10 7 \nend\n",
        "\nfa-prune 1\nwhy nothing\nend\n",
        "\nfa-prune 1\nforgot artifact 10 7 /w/a\nend\n",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(answers) / sizeof(answers[0]); i++) {
        struct err err;

        if (read_it(answers[i], &err) != ERR_PROTO)
            fail_msg("answer %zu was taken", i);
        prune_list_fini(&list);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_line_is_an_entry),
        cmocka_unit_test(a_folder_with_a_worker_is_kept),
        cmocka_unit_test(an_answer_that_is_not_whole_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
