#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <dlfcn.h>
#include <gnu/libc-version.h>
#include <signal.h>
#include <string.h>

uint32_t arc4random(void);

/* The program has older_glibc.c in it, so the next ones are glibc's. */
static void *of_glibc(const char *name)
{
    void *found = dlsym(RTLD_NEXT, name);

    if (!found) {
        print_message("glibc %s has no %s\n", gnu_get_libc_version(), name);
        skip();
    }
    return found;
}

static void signals_have_the_names_of_glibc(void **state)
{
    const char *(*real)(int);
    void *found = of_glibc("sigabbrev_np");

    (void)state;
    memcpy(&real, &found, sizeof(real));
    assert_ptr_not_equal(real, sigabbrev_np);
    for (int i = -1; i < 200; i++) {
        const char *name = sigabbrev_np(i), *expected = real(i);

        assert_int_equal(!name, !expected);
        if (name)
            assert_string_equal(name, expected);
    }
}

static void code_is_found_in_the_object_that_has_it(void **state)
{
    int (*real)(void *, struct dl_find_object *);
    void *found = of_glibc("_dl_find_object"), *code[3];
    struct dl_find_object ours, expected;
    void *(*own)(const char *) = of_glibc;
    int on_stack;

    (void)state;
    memcpy(&real, &found, sizeof(real));
    code[0] = found;
    code[1] = dlsym(RTLD_DEFAULT, "_cmocka_run_group_tests");
    memcpy(&code[2], &own, sizeof(own));
    for (size_t i = 0; i < sizeof(code) / sizeof(code[0]); i++) {
        assert_int_equal(_dl_find_object(code[i], &ours), 0);
        assert_int_equal(real(code[i], &expected), 0);
        assert_ptr_equal(ours.dlfo_eh_frame, expected.dlfo_eh_frame);
        assert_true((char *)ours.dlfo_map_start <= (char *)code[i]);
        assert_true((char *)ours.dlfo_map_end > (char *)code[i]);
    }
    assert_int_equal(_dl_find_object(&on_stack, &ours), -1);
}

static void random_numbers_differ(void **state)
{
    uint32_t all = 0, same = UINT32_MAX;

    (void)state;
    for (int i = 0; i < 64; i++) {
        uint32_t value = arc4random();

        all |= value;
        same &= value;
    }
    assert_int_equal(all, UINT32_MAX);
    assert_int_equal(same, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_have_the_names_of_glibc),
        cmocka_unit_test(code_is_found_in_the_object_that_has_it),
        cmocka_unit_test(random_numbers_differ),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
