#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "common/err.h"
#include "coordinator/remote/deploy.h"

static void a_program_is_read_with_its_sums(void **state)
{
    char path[] = "/tmp/fa-test-worker-binary-XXXXXX";
    const char bytes[] = "123456789";
    const size_t len = sizeof(bytes) - 1;
    struct worker_binary program;
    struct err err;
    int fd = mkstemp(path);

    (void)state;
    assert_int_equal(write(fd, bytes, len), len);
    assert_int_equal(worker_binary_load(path, &program, &err), 0);
    assert_int_equal(program.len, len);
    assert_memory_equal(program.bytes, bytes, len);
    assert_int_equal(program.cksum, 930766865);
    assert_string_equal(program.sha256, "15e2b0d3c33891ebb0f1ef609ec41942"
                                        "0c20e320ce94c65fbc8c3312448eb225");
    worker_binary_fini(&program);

    assert_int_equal(ftruncate(fd, 0), 0);
    assert_int_equal(worker_binary_load(path, &program, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "its size is not 1 byte to 64 MiB"));
    assert_int_equal(close(fd), 0);
    assert_int_equal(unlink(path), 0);
    assert_int_equal(worker_binary_load(path, &program, &err), ERR_INPUT);
    assert_non_null(strstr(err.text, "No such file"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_program_is_read_with_its_sums),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
