#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/remote/remote.h"

static void the_words_of_ssh_are_read(void **state)
{
    enum remote_ssh ssh = REMOTE_SSH_OPENSSH;
    struct err err;

    (void)state;
    assert_int_equal(remote_ssh_read("auto", &ssh, &err), 0);
    assert_int_equal(ssh, REMOTE_SSH_AUTO);
    assert_int_equal(remote_ssh_read("libssh2", &ssh, &err), 0);
    assert_int_equal(ssh, REMOTE_SSH_LIBSSH2);
    assert_int_equal(remote_ssh_read("openssh", &ssh, &err), 0);
    assert_int_equal(ssh, REMOTE_SSH_OPENSSH);
    assert_int_equal(remote_ssh_read("", &ssh, &err), ERR_INPUT);
    assert_string_equal(err.text, "--ssh=: choose auto, libssh2 or openssh");
    assert_int_equal(ssh, REMOTE_SSH_OPENSSH);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_words_of_ssh_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
