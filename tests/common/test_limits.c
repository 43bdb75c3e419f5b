#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/limits.h"

static void set(int resource, rlim_t now, rlim_t most)
{
    const struct rlimit limit = { now, most };

    assert_int_equal(setrlimit((__rlimit_resource_t)resource, &limit), 0);
}

static void the_hard_limit_is_taken(void **state)
{
    struct rlimit limit;
    struct err err;

    (void)state;
    set(RLIMIT_NOFILE, 40, 64);
    limits_setup();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
    assert_int_equal(limit.rlim_cur, 64);
    assert_int_equal(limits_check_files(64, &err), 0);
    assert_int_equal(limits_check_files(65, &err), ERR_SYSTEM);
    assert_string_equal(err.text,
                        "at most 64 open files are allowed here, and 65 are "
                        "needed; raise the limit with 'ulimit -n 65', or for "
                        "every login in /etc/security/limits.conf");
}

static void a_file_that_grows_too_large_is_an_error_and_no_death(void **state)
{
    char path[] = "/tmp/fa-limits-XXXXXX", bytes[2048] = "";
    int fd = mkstemp(path);

    (void)state;
    assert_true(fd >= 0);
    set(RLIMIT_FSIZE, 1024, RLIM_INFINITY);
    limits_setup();
    assert_int_equal(write(fd, bytes, sizeof(bytes)), 1024);
    assert_int_equal(write(fd, bytes, sizeof(bytes)), -1);
    assert_int_equal(errno, EFBIG);
    set(RLIMIT_FSIZE, RLIM_INFINITY, RLIM_INFINITY);
    close(fd);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_that_grows_too_large_is_an_error_and_no_death),
        cmocka_unit_test(the_hard_limit_is_taken),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
