#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/rental/rental_answer.h"

/* In pieces of three bytes. */
static int read_all(const char *output, struct rental_answer *out,
                    struct err *err)
{
    struct rental_answer_reader reader = { .len = 0 };
    size_t n = strlen(output);

    for (size_t i = 0; i < n; i += 3)
        rental_answer_add(&reader, output + i, n - i < 3 ? n - i : 3);
    return rental_answer_end(&reader, out, err);
}

static void words_count_after_much_output_and_a_nul(void **state)
{
    static const char words[] = "ready\0host=10.0.0.7 id=i-1";
    struct rental_answer_reader reader = { .len = 0 };
    struct rental_answer answer;
    struct err err;

    (void)state;
    for (int i = 0; i < 70000; i++)
        rental_answer_add(&reader, "#", 1);
    rental_answer_add(&reader, "\n", 1);
    rental_answer_add(&reader, words, sizeof(words) - 1);
    assert_int_equal(rental_answer_end(&reader, &answer, &err), 0);
    assert_string_equal(answer.address, "10.0.0.7");
    assert_string_equal(answer.machine, "i-1");
}

static void words_are_split_at_blanks_and_know_the_host(void **state)
{
    char text[RENTAL_ANSWER_BYTES];
    const char *words[RENTAL_ANSWER_WORDS];
    struct err err;
    size_t n;

    (void)state;
    assert_int_equal(rental_answer_split("  ./rent --name=x-{host} {host}\t-v ",
                                         "l4-1", text, words, &n, &err),
                     0);
    assert_int_equal(n, 4);
    assert_string_equal(words[0], "./rent");
    assert_string_equal(words[1], "--name=x-l4-1");
    assert_string_equal(words[2], "l4-1");
    assert_string_equal(words[3], "-v");
}

static void a_command_of_blanks_is_refused(void **state)
{
    char text[RENTAL_ANSWER_BYTES];
    const char *words[RENTAL_ANSWER_WORDS];
    struct err err;
    size_t n;

    (void)state;
    assert_int_equal(rental_answer_split("  ", "l4-1", text, words, &n, &err),
                     ERR_INPUT);
    assert_string_equal(err.text, "the command is empty");
}

static void an_answer_is_found_among_other_output(void **state)
{
    static const char output[] = "Created [https://x/l4-1].\nSTATUS=RUNNING\n"
                                 "host=10.0.0.7 port=2222\n"
                                 "user=ada id=i-0abc/7\nhost=10.0.0.8\n";
    struct rental_answer answer;
    struct host host = { .address = "l4-1", .user = "me" };
    char text[256];
    struct err err;

    (void)state;
    assert_int_equal(read_all(output, &answer, &err), 0);
    assert_string_equal(answer.machine, "i-0abc/7");
    rental_answer_apply(&answer, &host);
    assert_string_equal(host.address, "10.0.0.8");
    assert_int_equal(host.port, 2222);
    assert_string_equal(host.user, "ada");
    rental_answer_text(&answer, text, sizeof(text));
    assert_string_equal(text, "host=10.0.0.8 port=2222 user=ada");
}

static void an_ipv6_address_may_be_in_brackets(void **state)
{
    struct rental_answer answer;
    struct err err;

    (void)state;
    assert_int_equal(read_all("host=[2001:db8::1] port=22", &answer, &err), 0);
    assert_string_equal(answer.address, "2001:db8::1");
    assert_int_equal(read_all("host=2001:db8::2", &answer, &err), 0);
    assert_string_equal(answer.address, "2001:db8::2");
}

static void no_answer_leaves_the_host_as_it_is(void **state)
{
    struct rental_answer answer;
    struct host host = { .address = "l4-1", .port = 22, .user = "me" };
    struct err err;

    (void)state;
    assert_int_equal(read_all("", &answer, &err), 0);
    rental_answer_apply(&answer, &host);
    assert_string_equal(host.address, "l4-1");
    assert_int_equal(host.port, 22);
}

static void an_answer_that_is_no_address_is_refused(void **state)
{
    static const struct {
        const char *output, *message;
    } bad[] = {
        { "host=-oProxyCommand=x", "it printed 'host=-oProxyCommand=x': this "
                                   "is not a name or an address" },
        { "host=[10.0.0.7]", "it printed 'host=[10.0.0.7]': this is not a name "
                             "or an address" },
        { "host=[-o:]",
          "it printed 'host=[-o:]': this is not a name or an address" },
        { "host=", "it printed 'host=': this is not a name or an address" },
        { "port=99999", "it printed 'port=99999': a port is in 1..65535" },
        { "port=22x", "it printed 'port=22x': a port is in 1..65535" },
        { "user=$(id)", "it printed 'user=$(id)': this is not a name or an "
                        "address" },
    };
    struct rental_answer answer;
    struct err err;

    (void)state;
    for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
        assert_int_equal(read_all(bad[i].output, &answer, &err), ERR_INPUT);
        assert_string_equal(err.text, bad[i].message);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(words_are_split_at_blanks_and_know_the_host),
        cmocka_unit_test(a_command_of_blanks_is_refused),
        cmocka_unit_test(an_answer_is_found_among_other_output),
        cmocka_unit_test(words_count_after_much_output_and_a_nul),
        cmocka_unit_test(an_ipv6_address_may_be_in_brackets),
        cmocka_unit_test(no_answer_leaves_the_host_as_it_is),
        cmocka_unit_test(an_answer_that_is_no_address_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
