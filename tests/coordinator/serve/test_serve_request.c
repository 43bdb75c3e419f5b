#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "coordinator/serve/serve_request.h"

#define TOKEN "00112233445566778899aabbccddeeff"

static const struct serve_request_site site = { TOKEN, 4711, 12 };

static struct serve_request_answer get(const char *path)
{
    return serve_request_answer(
        &site, &(struct serve_request){ "GET", path, "127.0.0.1:4711", false });
}

static void paths_of_a_list_a_page_and_a_version(void **state)
{
    static const struct {
        const char *path;
        struct serve_request_answer answer;
    } rows[] = {
        { "/" TOKEN "/", { 200, SERVE_REQUEST_LIST, 0 } },
        { "/" TOKEN "/1/", { 200, SERVE_REQUEST_PAGE, 0 } },
        { "/" TOKEN "/12/", { 200, SERVE_REQUEST_PAGE, 11 } },
        { "/" TOKEN "/3/version", { 200, SERVE_REQUEST_VERSION, 2 } },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct serve_request_answer answer = get(rows[i].path);

        assert_int_equal(answer.status, rows[i].answer.status);
        assert_int_equal(answer.page, rows[i].answer.page);
        assert_int_equal(answer.database, rows[i].answer.database);
    }
}

static void other_paths_are_not_found(void **state)
{
    static const char *const rests[] = {
        "0/",
        "13/",
        "01/",
        "+1/",
        "1",
        "1//",
        "/1/",
        "1/version/",
        "1/data",
        "../",
        "1/..",
        "%31/",
        "99999999999999999999999/",
        "sweep.db",
        "1/../../etc/passwd",
        "-1/",
        " 1/",
        "version",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rests) / sizeof(rests[0]); i++) {
        char path[128] = "/" TOKEN "/";
        struct serve_request_answer answer;

        for (size_t n = 0; rests[i][n]; n++)
            path[SERVE_REQUEST_TOKEN_DIGITS + 2 + n] = rests[i][n];
        answer = get(path);
        assert_int_equal(answer.status, 404);
        assert_int_equal(answer.page, SERVE_REQUEST_NONE);
    }
}

static void without_the_token_nothing_is_said(void **state)
{
    static const char *const paths[] = {
        "",
        "/",
        "/1/",
        "/" TOKEN,
        TOKEN "/",
        "/00112233445566778899aabbccddeefe/",
        "/00112233445566778899AABBCCDDEEFF/",
        "/00112233445566778899aabbccddee/",
        "/" TOKEN "0/",
        "//" TOKEN "/",
    };

    (void)state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++)
        assert_int_equal(get(paths[i]).status, 403);
}

static void methods_and_bodies_are_told_only_to_one_with_the_token(void **state)
{
    struct serve_request request = { "POST", "/" TOKEN "/", "localhost:4711",
                                     true };

    (void)state;
    assert_int_equal(serve_request_answer(&site, &request).status, 405);
    request.method = "HEAD";
    assert_int_equal(serve_request_answer(&site, &request).status, 413);
    request.has_body = false;
    assert_int_equal(serve_request_answer(&site, &request).status, 200);
    request.method = "get";
    assert_int_equal(serve_request_answer(&site, &request).status, 405);
    request.path = "/";
    assert_int_equal(serve_request_answer(&site, &request).status, 403);
}

static void a_single_database_needs_no_list(void **state)
{
    const struct serve_request_site one = { TOKEN, 4711, 1 };
    const struct serve_request request = { "GET", "/" TOKEN "/", "[::1]:4711",
                                           false };

    (void)state;
    assert_int_equal(serve_request_answer(&one, &request).status, 302);
}

static void only_names_of_this_server_are_its_host(void **state)
{
    static const char *const others[] = {
        "",
        "127.0.0.1",
        "127.0.0.1:4712",
        "127.0.0.1:04711",
        "localhost",
        "[::1]",
        "::1:4711",
        "evil.example:4711",
        "127.0.0.2:4711",
        "localhost.:4711",
        "localhost:4711@evil.example",
        "evil.example@localhost:4711",
        " localhost:4711",
    };
    struct serve_request request = { "GET", "/" TOKEN "/", NULL, false };

    (void)state;
    for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
        assert_false(serve_request_is_ours(others[i], 4711));
    assert_true(serve_request_is_ours("LocalHost:4711", 4711));
    assert_true(serve_request_is_ours("[::1]:4711", 4711));
    assert_true(serve_request_is_ours("127.0.0.1", 80));
    assert_int_equal(serve_request_answer(&site, &request).status, 403);
    request.host = "evil.example:4711";
    assert_int_equal(serve_request_answer(&site, &request).status, 403);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(paths_of_a_list_a_page_and_a_version),
        cmocka_unit_test(other_paths_are_not_found),
        cmocka_unit_test(without_the_token_nothing_is_said),
        cmocka_unit_test(
            methods_and_bodies_are_told_only_to_one_with_the_token),
        cmocka_unit_test(a_single_database_needs_no_list),
        cmocka_unit_test(only_names_of_this_server_are_its_host),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
