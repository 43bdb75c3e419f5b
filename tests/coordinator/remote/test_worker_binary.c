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

enum {
    BYTES = 1000
};

static void fill(unsigned char bytes[BYTES])
{
    for (int i = 0; i < BYTES; i++)
        bytes[i] = (unsigned char)(i * 7 + 3);
}

static void a_program_is_read_with_its_sums(void **state)
{
    char path[] = "/tmp/fa-test-worker-binary-XXXXXX";
    unsigned char bytes[BYTES];
    struct worker_binary program;
    struct err err;
    int fd = mkstemp(path);

    (void)state;
    fill(bytes);
    assert_int_equal(write(fd, bytes, BYTES), BYTES);
    assert_int_equal(worker_binary_load(path, &program, &err), 0);
    assert_int_equal(program.len, BYTES);
    assert_memory_equal(program.bytes, bytes, BYTES);
    assert_int_equal(program.cksum, 3299097258);
    assert_string_equal(program.sha256, "1e9bc38cbf860b9ec31918b065f9b524"
                                        "76c549a782e0e7990bed8ce3868d2371");
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
