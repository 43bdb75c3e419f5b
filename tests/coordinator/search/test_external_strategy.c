#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/err.h"
#include "coordinator/process/poll_until.h"
#include "coordinator/model/domain.h"
#include "coordinator/search/external_strategy.h"
#include "coordinator/search/strategy.h"

#define DESCEND FA_SOURCE_DIR "/tests/fixtures/strategy/descend.py"
#define OPTUNA FA_SOURCE_DIR "/docs/examples/optuna_strategy.py"

static const char *const sizes[] = { "16", "32", "64" };
static const char *const modes[] = { "\"a\"", "\"b\"" };

/* 3 x 2 points, less (1, 0). */
static struct domain *five(void)
{
    const struct domain_tunable tunables[] = { { .levels = 3, .ordered = true },
                                               { .levels = 2 } };
    struct domain *domain = domain_new(tunables, 2);

    for (uint16_t i = 0; i < 6; i++)
        if (i != 2)
            domain_add(domain, (uint16_t[]){ i / 2, i % 2 });
    return domain;
}

static const char *const shapes[] = { "short", "long" };

static struct external_strategy *start(const struct domain *domain,
                                       const char *python, const char *script,
                                       const char *manner)
{
    const struct external_strategy_tunable tunables[] = { { "BLOCK", sizes },
                                                          { "MODE", modes } };
    const char *const argv[] = { python, script, manner, NULL };
    const struct external_strategy_options options = { .argv = argv,
                                                       .domain = domain,
                                                       .tunables = tunables,
                                                       .shapes = shapes,
                                                       .n_shapes = 2,
                                                       .objective = "geomean",
                                                       .seed = 1,
                                                       .answer_ns =
                                                           20 * NS_PER_S };
    struct external_strategy *external;
    struct err err;

    if (external_strategy_start(&options, &external, &err) < 0)
        skip(); /* no python3 on this machine */
    return external;
}

/* Ask until the answer is not wait, or an error. */
static int next(struct external_strategy *external,
                enum strategy_answer *answer, int *point, struct err *err)
{
    int rc = 0;

    while ((*answer = external_strategy_ask(external, point)) ==
               STRATEGY_WAIT &&
           rc == 0) {
        struct pollfd fds[EXTERNAL_STRATEGY_FDS];

        external_strategy_poll(external, fds);
        (void)poll_until(fds, EXTERNAL_STRATEGY_FDS,
                         external_strategy_deadline(external));
        rc = external_strategy_work(external, clock_boot_ns(), err);
    }
    return rc;
}

static void every_legal_point_is_asked_once(void **state)
{
    struct domain *domain = five();
    struct external_strategy *external =
        start(domain, "python3", DESCEND, NULL);
    enum strategy_answer answer;
    struct err err;
    int point;

    (void)state;
    for (int i = 0; i < 5; i++) {
        assert_int_equal(next(external, &answer, &point, &err), 0);
        assert_int_equal(answer, STRATEGY_POINT);
        assert_int_equal(point, i);
        external_strategy_tell(external, point, STRATEGY_TIMED, 1e-3, NULL);
    }
    assert_string_equal(external_strategy_name(external), "descend");
    assert_int_equal(next(external, &answer, &point, &err), 0);
    assert_int_equal(answer, STRATEGY_DONE);
    external_strategy_stop(external);
    domain_free(domain);
}

static void a_program_may_wait_for_a_result(void **state)
{
    struct domain *domain = five();
    struct external_strategy *external =
        start(domain, "python3", DESCEND, "patient");
    enum strategy_answer answer;
    struct err err;
    int first, point;

    (void)state;
    assert_int_equal(next(external, &answer, &first, &err), 0);
    assert_int_equal(external_strategy_ask(external, &point), STRATEGY_WAIT);
    while (external_strategy_deadline(external) != INT64_MAX) {
        struct pollfd fds[EXTERNAL_STRATEGY_FDS];

        external_strategy_poll(external, fds);
        (void)poll_until(fds, EXTERNAL_STRATEGY_FDS,
                         external_strategy_deadline(external));
        assert_int_equal(
            external_strategy_work(external, clock_boot_ns(), &err), 0);
    }
    external_strategy_tell(external, first, STRATEGY_FAILED, 0, NULL);
    assert_int_equal(next(external, &answer, &point, &err), 0);
    assert_int_equal(answer, STRATEGY_POINT);
    external_strategy_stop(external);
    domain_free(domain);
}

static void each_protocol_error_is_one_message(void **state)
{
    static const struct row {
        const char *manner;
        int code;
        const char *message;
    } rows[] = {
        { "dies", ERR_NETWORK, "ended (status 1): no license found" },
        { "prose", ERR_PROTO,
          "line 2: 'let me think' where {\"point\": [...]}" },
        { "short", ERR_PROTO, "line 2: \"point\" is a list of 2 numbers" },
        { "beyond", ERR_PROTO,
          "the index of 'MODE' is a whole number from 0 "
          "to 1" },
        { "same", ERR_PROTO, "points in a row do not pass the gates" },
    };
    struct domain *domain = five();

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct external_strategy *external =
            start(domain, "python3", DESCEND, rows[i].manner);
        enum strategy_answer answer = STRATEGY_POINT;
        struct err err;
        int point, rc = 0;

        for (int k = 0; k < 3 && rc == 0; k++)
            rc = next(external, &answer, &point, &err);
        assert_int_equal(rc, rows[i].code);
        if (!strstr(err.text, rows[i].message))
            fail_msg("\"%s\" lacks \"%s\"", err.text, rows[i].message);
        external_strategy_stop(external);
    }
    domain_free(domain);
}

static void silence_has_a_deadline(void **state)
{
    struct domain *domain = five();
    struct external_strategy *external =
        start(domain, "python3", DESCEND, "silent");
    int64_t deadline = external_strategy_deadline(external);
    struct err err;

    (void)state;
    assert_int_equal(external_strategy_work(external, deadline - 1, &err), 0);
    assert_int_equal(external_strategy_work(external, deadline, &err),
                     ERR_NETWORK);
    assert_non_null(strstr(err.text, "did not answer within 20 s"));
    external_strategy_stop(external);
    domain_free(domain);
}

static void a_missing_program_is_named(void **state)
{
    const char *const argv[] = { "no-such-strategy", NULL };
    struct domain *domain = five();
    const struct external_strategy_tunable tunables[] = { { "BLOCK", sizes },
                                                          { "MODE", modes } };
    const struct external_strategy_options options = { .argv = argv,
                                                       .domain = domain,
                                                       .tunables = tunables };
    struct external_strategy *external;
    struct err err;

    (void)state;
    assert_int_equal(external_strategy_start(&options, &external, &err),
                     ERR_SYSTEM);
    assert_non_null(strstr(err.text, "'no-such-strategy'"));
    domain_free(domain);
}

/* It ends with what it was told.  Last comes (0, 0) for the second time,
 * because it asked for that again. */
static void it_is_told_the_times_of_all_shapes(void **state)
{
    struct domain *domain = five();
    struct external_strategy *external =
        start(domain, "python3", DESCEND, "recites");
    enum strategy_answer answer = STRATEGY_POINT;
    struct err err;
    int point;

    (void)state;
    assert_int_equal(next(external, &answer, &point, &err), 0);
    external_strategy_tell(external, point, STRATEGY_TIMED, 4,
                           (const double[]){ 2, 8 });
    external_strategy_tell(external, 3, STRATEGY_TIMED, 1,
                           (const double[]){ 1, (double)NAN });
    external_strategy_tell(external, 4, STRATEGY_TIMED, 7, NULL);
    assert_int_equal(next(external, &answer, &point, &err), ERR_NETWORK);
    assert_non_null(strstr(
        err.text, "short long geomean 4 [2, 8] 1 [1, None] 7 None 4 [2, 8]"));
    external_strategy_stop(external);
    domain_free(domain);
}

/* Debian's python3-optuna, which its own python3 finds. */
static void optuna_searches_the_whole_space(void **state)
{
    struct domain *domain = five();
    struct external_strategy *external =
        start(domain, "/usr/bin/python3", OPTUNA, NULL);
    enum strategy_answer answer = STRATEGY_POINT;
    struct err err;
    int point, n = 0, rc;

    (void)state;
    while ((rc = next(external, &answer, &point, &err)) == 0 &&
           answer == STRATEGY_POINT) {
        n++;
        external_strategy_tell(external, point, STRATEGY_TIMED, 1 + point,
                               NULL);
        if (n == 2) /* it was in doubt, and is slower now */
            external_strategy_tell(external, point, STRATEGY_TIMED, 9, NULL);
        if (n == 3)
            external_strategy_tell(external, point, STRATEGY_FAILED, 0, NULL);
    }
    external_strategy_stop(external);
    domain_free(domain);
    if (rc < 0 && strstr(err.text, "No module named 'optuna'"))
        skip(); /* deploy/setup.sh --tests installs it where it is packaged */
    if (rc < 0)
        fail_msg("%s", err.text);
    assert_int_equal(n, 5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_legal_point_is_asked_once),
        cmocka_unit_test(a_program_may_wait_for_a_result),
        cmocka_unit_test(each_protocol_error_is_one_message),
        cmocka_unit_test(silence_has_a_deadline),
        cmocka_unit_test(a_missing_program_is_named),
        cmocka_unit_test(it_is_told_the_times_of_all_shapes),
        cmocka_unit_test(optuna_searches_the_whole_space),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
