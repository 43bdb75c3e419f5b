#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "worker/gpu/gpu_share.h"

#define ADA "ada@laptop, pid 4711, /home/ada/flash.db, since 2026-11-22T10:01Z"
#define BOB "bob@desk, pid 12, /home/bob/flash.db, since 2026-11-22T10:02Z"

static char home[40];

static int setup(void **state)
{
    (void)state;
    snprintf(home, sizeof(home), "/tmp/fa-share-XXXXXX");
    return mkdtemp(home) ? 0 : -1;
}

static int teardown(void **state)
{
    char command[64];

    (void)state;
    for (int i = 0; i < 8; i++) {
        snprintf(command, sizeof(command), "%s/gpus/%d", home, i);
        unlink(command);
    }
    snprintf(command, sizeof(command), "%s/gpus", home);
    (void)rmdir(command);
    return rmdir(home);
}

static struct gpu_share *open_share(const char *which, const char *owner)
{
    struct gpu_share *share;
    struct err err;

    assert_int_equal(gpu_share_open(home, which, &share, &err), 0);
    gpu_share_name(share, owner, 0);
    return share;
}

static void assert_held(const struct gpu_share *share, const char *expected)
{
    char list[GPU_LIST_BYTES];
    int indices[GPUS_MAX] = { 0 };

    gpu_list_write(indices, gpu_share_held(share, indices), list);
    assert_string_equal(list, expected);
}

static void assert_reason(const struct gpu_share *share, const char *expected)
{
    char reason[GPU_SHARE_TEXT_BYTES];

    gpu_share_reason(share, reason);
    assert_string_equal(reason, expected);
}

static void sets_that_differ_are_held_together(void **state)
{
    struct gpu_share *ada = open_share("0", ADA), *bob = open_share("1,2", BOB);

    (void)state;
    assert_held(ada, "0");
    assert_held(bob, "1,2");
    assert_int_equal(gpu_share_wanted(bob), 2);
    assert_reason(bob, "");
    gpu_share_close(ada);
    gpu_share_close(bob);
}

static void what_another_has_is_named_and_taken_later(void **state)
{
    struct gpu_share *ada = open_share("0,1", ADA);
    struct gpu_share *bob = open_share("0,1,2", BOB);

    (void)state;
    assert_held(bob, "2");
    assert_reason(bob, "its GPU 0,1 serve another sweep: " ADA);
    assert_int_equal(gpu_share_take(bob), 0);
    gpu_share_close(ada);
    assert_int_equal(gpu_share_take(bob), 2);
    assert_held(bob, "0,1,2");
    assert_reason(bob, "");
    ada = open_share("3", ADA);
    gpu_share_close(ada);
    gpu_share_close(bob);
}

static void a_gpu_that_comes_later_has_the_owner_too(void **state)
{
    struct gpu_share *ada = open_share("0", ADA);
    struct gpu_share *bob = open_share("0,1", BOB), *carl;

    (void)state;
    gpu_share_close(ada);
    assert_int_equal(gpu_share_take(bob), 1);
    carl = open_share("0,2", "carl");
    assert_reason(carl, "its GPU 0 serves another sweep: " BOB);
    gpu_share_close(bob);
    gpu_share_close(carl);
}

static void when_a_gpu_of_a_sweep_that_is_gone_comes_free_is_said(void **state)
{
    struct gpu_share *ada = open_share("0,1", ADA);
    struct gpu_share *bob = open_share("0,1,2", BOB);
    char reason[GPU_SHARE_TEXT_BYTES], *end;
    long left_s;

    (void)state;
    gpu_share_name(ada, ADA, clock_boot_ns() + 1000 * NS_PER_S);
    gpu_share_reason(bob, reason);
    end = strstr(reason, ADA "; free in at most ");
    assert_memory_equal(reason, "its GPU 0,1 wait for another sweep: " ADA,
                        strlen("its GPU 0,1 wait for another sweep: " ADA));
    assert_non_null(end);
    left_s = strtol(end + strlen(ADA "; free in at most "), &end, 10);
    assert_true(left_s > 500 && left_s <= 1001);
    assert_string_equal(end, " s");
    gpu_share_name(ada, ADA, 1); /* it takes longer than it should */
    assert_reason(bob, "its GPU 0,1 wait for another sweep: " ADA
                       "; free in at most 1 s");
    gpu_share_name(ada, ADA, 0);
    assert_reason(bob, "its GPU 0,1 serve another sweep: " ADA);
    gpu_share_close(ada);
    gpu_share_close(bob);
}

static void a_set_that_others_have_is_not_opened(void **state)
{
    struct gpu_share *ada, *bob = open_share("1", BOB), *carl;
    struct err err;

    (void)state;
    assert_int_equal(gpu_share_open(home, "0", &ada, &err), 0);
    assert_int_equal(gpu_share_open(home, "0", &carl, &err), GPU_SHARE_TAKEN);
    assert_null(carl);
    assert_string_equal(err.text, ""); /* it has no owner yet */
    gpu_share_name(ada, ADA, 0);
    assert_int_equal(gpu_share_open(home, "0,1", &carl, &err), GPU_SHARE_TAKEN);
    assert_string_equal(err.text,
                        "its GPU 0 serves another sweep: " ADA ", and others");
    assert_int_equal(gpu_share_open(home, "none", &carl, &err), 0);
    assert_held(carl, "");
    gpu_share_close(carl);
    assert_int_equal(gpu_share_open(home, "x", &carl, &err), ERR_INPUT);
    gpu_share_close(ada);
    gpu_share_close(bob);
}

/* Whatever its children still do. */
static void a_killed_holder_frees_its_gpus(void **state)
{
    struct gpu_share *bob;
    int ready[2], status;
    struct err err;
    char byte;
    pid_t pid;

    (void)state;
    assert_int_equal(pipe(ready), 0);
    pid = fork();
    if (pid == 0) {
        struct gpu_share *ada;

        if (gpu_share_open(home, "0", &ada, &err) == 0 &&
            write(ready[1], "x", 1) == 1)
            pause();
        _exit(1);
    }
    close(ready[1]);
    assert_int_equal(read(ready[0], &byte, 1), 1);
    close(ready[0]);
    assert_int_equal(gpu_share_open(home, "0", &bob, &err), GPU_SHARE_TAKEN);
    kill(pid, SIGKILL);
    waitpid(pid, &status, 0);
    bob = open_share("0", BOB);
    gpu_share_close(bob);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(sets_that_differ_are_held_together,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(
            what_another_has_is_named_and_taken_later, setup, teardown),
        cmocka_unit_test_setup_teardown(
            a_gpu_that_comes_later_has_the_owner_too, setup, teardown),
        cmocka_unit_test_setup_teardown(
            when_a_gpu_of_a_sweep_that_is_gone_comes_free_is_said, setup,
            teardown),
        cmocka_unit_test_setup_teardown(a_set_that_others_have_is_not_opened,
                                        setup, teardown),
        cmocka_unit_test_setup_teardown(a_killed_holder_frees_its_gpus, setup,
                                        teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
