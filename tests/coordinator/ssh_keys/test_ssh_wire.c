#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common/buf.h"
#include "coordinator/ssh_keys/ssh_wire.h"

static void what_does_not_fit_is_not_read(void **state)
{
    static const unsigned char bytes[] = { 0, 0, 0, 2,   'a', 'b', 0,
                                           0, 0, 4, 'c', 0,   0 };
    struct ssh_wire wire = { bytes, sizeof(bytes) };
    uint32_t number;
    size_t n;

    (void)state;
    assert_ptr_equal(ssh_wire_string(&wire, &n), bytes + 4);
    assert_int_equal(n, 2);
    assert_null(ssh_wire_string(&wire, &n));
    assert_int_equal(wire.left, 7);
    assert_true(ssh_wire_u32(&wire, &number));
    assert_int_equal(number, 4);
    assert_false(ssh_wire_u32(&wire, &number));
    assert_int_equal(wire.left, 3);
}

static void a_number_never_looks_negative(void **state)
{
    static const char want[] = "\0\0\0\1\177\0\0\0\2\0\200\0\0\0\1x\1\2\3\4";
    struct buf out;

    (void)state;
    buf_init(&out, 64);
    ssh_wire_add_mpint(&out, (const unsigned char *)"\177", 1);
    ssh_wire_add_mpint(&out, (const unsigned char *)"\200", 1);
    ssh_wire_add_string(&out, "x", 1);
    ssh_wire_add_u32(&out, 0x01020304);
    assert_int_equal(out.len, sizeof(want) - 1);
    assert_memory_equal(out.bytes, want, out.len);
    buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_does_not_fit_is_not_read),
        cmocka_unit_test(a_number_never_looks_negative),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
