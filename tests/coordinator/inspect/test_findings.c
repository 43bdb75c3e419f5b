#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/inspect/findings.h"
#include "coordinator/text/json_out.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

#define WRONG REPORT_PENDING
#define ROUND(n, tool) (SANITIZER_ROUNDS + (n)*SANITIZER_TOOLS + (tool))

#define OUT_OF_BOUNDS                                      \
    "outcome runtime\n"                                    \
    "========= Invalid __global__ write of size 4 bytes\n" \
    "=========     at vector_add+0x50\n"                   \
    "=========     by thread (3,0,0) in block (1,0,0)\n"
#define ONE_ERROR OUT_OF_BOUNDS "========= ERROR SUMMARY: 1 error\n"
#define NO_ERROR "========= ERROR SUMMARY: 0 errors\n"
#define A_RACE                                                          \
    "========= Warning: Race reported between Write access at f+0x10\n" \
    "=========     and Read access at f+0x20 [8 hazards]\n"             \
    "========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)\n"

static struct store *store;
static struct findings findings;
static int nonces;

static void put(int round, const char *outcome, const char *detail,
                const char *output)
{
    char nonce[16];
    struct store_tool row = { .nonce = nonce,
                              .epoch = REPORT_FIXTURE_EPOCH,
                              .purpose = "profile",
                              .name = "tool",
                              .config = WRONG,
                              .shape = "odd",
                              .round = round,
                              .attempt = 1,
                              .key = "k",
                              .host = "gpu1",
                              .gpu = "GPU-1",
                              .outcome = outcome,
                              .detail = detail,
                              .status = 1,
                              .output = output,
                              .log = "",
                              .seconds = 2,
                              .received_utc = FIXTURE_EPOCH + nonces };
    struct err err;

    snprintf(nonce, sizeof(nonce), "n%d", nonces++);
    if (store_tool_put(store, &row, &err) < 0)
        fail_msg("%s", err.text);
}

static void load(void)
{
    struct err err;

    findings_fini(&findings);
    if (findings_load(store, WRONG, &findings, &err) < 0)
        fail_msg("%s", err.text);
}

static void put_all(void)
{
    put(ROUND(0, SANITIZER_MEMCHECK), "ran", "", ONE_ERROR);
    put(ROUND(0, SANITIZER_RACECHECK), "ran", "", A_RACE);
    put(ROUND(0, SANITIZER_INITCHECK), "timeout",
        "it did not end within 1800 s", OUT_OF_BOUNDS);
    put(ROUND(0, SANITIZER_SYNCCHECK), "ran", "", NO_ERROR);
}

static int set_up(void **state)
{
    if (fixture_setup(state) != 0)
        return -1;
    store = report_fixture(*state);
    return 0;
}

static int tear_down(void **state)
{
    findings_fini(&findings);
    store_close(store);
    return fixture_teardown(state);
}

static void printed(bool json, const char *golden)
{
    struct json_out out;
    char *text;
    size_t len;
    FILE *to = open_memstream(&text, &len);

    json_out_init(&out, to);
    if (json) {
        json_out_open(&out, NULL, '{');
        findings_json(&findings, &out, "sanitizer");
        json_out_close(&out);
    } else {
        findings_print(&findings, to);
    }
    fclose(to);
    golden_check(golden, text);
    free(text);
}

static void a_profile_is_no_finding(void **state)
{
    (void)state;
    put(7, "ran", "", "a table of ncu");
    load();
    assert_int_equal(findings.n, 0);
    assert_int_equal(findings_newest(&findings), 0);
    assert_false(findings_are_whole(&findings));
}

static void each_tool_has_its_verdict(void **state)
{
    (void)state;
    put_all();
    load();
    assert_int_equal(findings.n, SANITIZER_TOOLS);
    assert_false(findings_are_whole(&findings)); /* initcheck */
    assert_string_equal(findings.runs[2].why,
                        "timeout: it did not end within 1800 s");
    assert_int_equal(findings.runs[2].told->n, 1);
    printed(false, "findings.txt");
    printed(true, "findings.json");
}

static void the_newest_run_of_a_tool_counts(void **state)
{
    (void)state;
    put_all();
    put(ROUND(1, SANITIZER_MEMCHECK), "ran", "", NO_ERROR);
    put(ROUND(1, SANITIZER_RACECHECK), "ran", "", NO_ERROR);
    put(ROUND(1, SANITIZER_INITCHECK), "ran", "", NO_ERROR);
    load();
    assert_int_equal(findings.n, SANITIZER_TOOLS);
    assert_int_equal(findings.runs[0].told->errors, 0);
    assert_true(findings.runs[2].ran);
    assert_false(findings_are_whole(&findings)); /* synccheck is older */
    put(ROUND(1, SANITIZER_SYNCCHECK), "ran", "", ONE_ERROR);
    load();
    assert_int_equal(findings_newest(&findings),
                     SANITIZER_ROUNDS / SANITIZER_TOOLS + 1);
    assert_true(findings_are_whole(&findings));
}

static void a_host_without_the_tool_gets_advice(void **state)
{
    (void)state;
    put(ROUND(0, SANITIZER_MEMCHECK), "missing",
        "there is no program 'compute-sanitizer' on this host", "");
    put(ROUND(0, SANITIZER_RACECHECK), "missing",
        "there is no program 'compute-sanitizer' on this host", "");
    load();
    assert_false(findings.runs[0].ran);
    printed(false, "findings_missing.txt");
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(a_profile_is_no_finding),
        TEST(each_tool_has_its_verdict),
        TEST(the_newest_run_of_a_tool_counts),
        TEST(a_host_without_the_tool_gets_advice),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
