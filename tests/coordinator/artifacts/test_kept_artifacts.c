#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/hash.h"
#include "coordinator/cache/artifact_cache.h"
#include "coordinator/reactor/results.h"
#include "coordinator/artifacts/artifacts.h"
#include "coordinator/artifacts/kept_artifacts.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

#define AGAIN_NS (10 * NS_PER_S) /* a host is asked again without a chunk */
#define HERE 3                   /* the coordinator, in sched */

static struct rig rig;
static char folder[64];
static char hash[HASH_HEX]; /* of unit 0's artifact, "cubin" */

/* Host a has built the reference and unit 0, hosts b and c have a GPU. */
static int set_up(void **state)
{
    struct err err;

    (void)state;
    rig_open_bare(&rig, 3);
    snprintf(folder, sizeof(folder), "%s/artifacts", rig.folder);
    assert_int_equal(
        artifact_cache_open(folder, 1 << 20, &rig.options.cache, &err), 0);
    rig_begin(&rig);
    rig_ready(&rig, 0, 1, 0);
    rig_build_two(&rig);
    rig_ready(&rig, 1, 0, 1);
    rig_ready(&rig, 2, 0, 1);
    for (size_t i = 1; i < 3; i++)
        rig_lease(&rig, i, JOB_MEASURE, 5 + (int)i);
    hash_of("cubin", 5, hash);
    memcpy(rig.sweep.work.artifacts[0], hash, HASH_HEX);
    return 0;
}

static void drop_copy(void)
{
    char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder, hash);
    (void)unlink(path); /* not every test makes it */
}

static int tear_down(void **state)
{
    struct artifact_cache *cache = rig.options.cache;

    (void)state;
    drop_copy();
    assert_int_equal(rmdir(folder), 0);
    rig_close(&rig);
    artifact_cache_close(cache);
    return 0;
}

static void have_copy(void)
{
    kept_artifacts_put(&rig.sweep, hash, "cubin", 5);
}

static void damage_copy(void)
{
    char path[128];
    FILE *f;

    snprintf(path, sizeof(path), "%s/%s", folder, hash);
    f = fopen(path, "w");
    assert_non_null(f);
    fputs("cubit", f);
    assert_int_equal(fclose(f), 0);
}

static void want(size_t from)
{
    assert_int_equal(rig_take(&rig, from,
                              (struct msg){ .type = MSG_WANT,
                                            .want = { .what = MSG_WANT_ARTIFACT,
                                                      .hash = hash } }),
                     0);
}

static void chunk(int64_t offset, const char *text)
{
    assert_int_equal(
        rig_take(
            &rig, 0,
            (struct msg){ .type = MSG_ARTIFACT,
                          .artifact = { .hash = hash,
                                        .offset = offset,
                                        .total = 5,
                                        .chunk = { text, strlen(text) } } }),
        0);
}

/* rig_build_two() had its artifacts queued, and the first of them fetched. */
static size_t fetches(void)
{
    size_t n = 0;

    for (size_t i = 0; i < rig.n_sent; i++)
        n += rig.sent[i].type == MSG_FETCH &&
             strcmp(rig.sent[i].hash, hash) == 0;
    return n;
}

/* That of the reference, which does not come. */
static void end_first_fetch(void)
{
    const char *first = rig_first(&rig, MSG_FETCH)->hash;

    assert_int_equal(rig_count(&rig, MSG_FETCH), 1);
    assert_int_equal(
        rig_take(&rig, 0,
                 (struct msg){ .type = MSG_MISSING, .missing.hash = first }),
        0);
    artifacts_turn(&rig.sweep, RIG_START_NS);
}

static void what_was_built_is_fetched_one_by_one(void **state)
{
    (void)state;
    assert_int_equal(fetches(), 0);
    end_first_fetch();
    assert_int_equal(fetches(), 1);
    assert_int_equal(rig_last(&rig, MSG_FETCH)->host, 0);
    chunk(0, "cub");
    assert_false(kept_artifacts_has(&rig.sweep, hash));
    chunk(3, "in");
    assert_true(kept_artifacts_has(&rig.sweep, hash));
    assert_int_equal(rig_count(&rig, MSG_ARTIFACT), 0); /* nobody wants it */
    assert_int_equal(rig.sweep.work.n_fetches, 0);
}

static void what_is_kept_is_not_fetched_again(void **state)
{
    (void)state;
    have_copy();
    end_first_fetch();
    assert_int_equal(fetches(), 0);
    want(1);
    want(2);
    assert_int_equal(fetches(), 0);
    assert_int_equal(rig_count(&rig, MSG_ARTIFACT), 2);
    assert_int_equal(rig_first(&rig, MSG_ARTIFACT)->host, 1);
    assert_int_equal(rig_last(&rig, MSG_ARTIFACT)->host, 2);
}

static void who_comes_late_gets_all_of_it_at_the_end(void **state)
{
    (void)state;
    want(1);
    assert_int_equal(fetches(), 1);
    chunk(0, "cub");
    want(2);
    assert_int_equal(rig_count(&rig, MSG_ARTIFACT), 1);
    chunk(3, "in");
    assert_int_equal(rig_count(&rig, MSG_ARTIFACT), 3);
    assert_int_equal(rig_last(&rig, MSG_ARTIFACT)->host, 2);
    assert_int_equal(fetches(), 1);
}

static void a_damaged_copy_is_fetched_again(void **state)
{
    (void)state;
    have_copy();
    damage_copy();
    want(1);
    assert_int_equal(rig_count(&rig, MSG_ARTIFACT), 0);
    assert_int_equal(fetches(), 1);
}

static void what_a_lost_host_built_is_had_from_the_copy(void **state)
{
    (void)state;
    have_copy();
    results_host_lost(&rig.sweep, 0, "gone");
    assert_int_equal(sched_home(rig.sweep.work.sched, 0), HERE);
    assert_int_equal(sched_job(rig.sweep.work.sched, JOB_BUILD, 0, 0)->state,
                     JOB_DONE);
    want(1);
    assert_int_equal(rig_last(&rig, MSG_ARTIFACT)->host, 1);
}

static void without_a_copy_it_is_built_again(void **state)
{
    (void)state;
    results_host_lost(&rig.sweep, 0, "gone");
    assert_int_equal(sched_home(rig.sweep.work.sched, 0), -1);
    assert_int_equal(sched_job(rig.sweep.work.sched, JOB_BUILD, 0, 0)->state,
                     JOB_WAITING);
}

static void a_copy_that_is_gone_is_built_again(void **state)
{
    (void)state;
    have_copy();
    results_host_lost(&rig.sweep, 0, "gone");
    drop_copy();
    want(1);
    assert_string_equal(rig_last(&rig, MSG_MISSING)->hash, hash);
    assert_int_equal(sched_home(rig.sweep.work.sched, 0), -1);
    for (size_t i = 0; i < 3; i++) /* nobody is to blame */
        assert_false(rig.sweep.fleet.hosts[i].conduct.condemned);
}

static void what_its_host_lost_is_had_from_the_copy(void **state)
{
    (void)state;
    have_copy();
    artifacts_missing(&rig.sweep, 0, hash);
    assert_int_equal(sched_home(rig.sweep.work.sched, 0), HERE);
    assert_int_equal(rig.sweep.work.vanished[0], 0);
}

/* Nobody waits for it. */
static void a_host_that_does_not_send_it_is_not_condemned(void **state)
{
    (void)state;
    end_first_fetch();
    for (int i = 1; i < 5; i++)
        artifacts_turn(&rig.sweep, RIG_START_NS + i * AGAIN_NS);
    assert_int_equal(fetches(), 3);
    assert_false(rig.sweep.fleet.hosts[0].conduct.condemned);
    assert_int_equal(rig.sweep.work.n_fetches, 0);
}

static void a_host_that_is_silent_is_not_asked(void **state)
{
    (void)state;
    rig.sweep.fleet.hosts[0].suspect = true;
    end_first_fetch();
    assert_int_equal(fetches(), 1); /* it spoke, so it is no suspect */
    rig.sweep.fleet.hosts[0].suspect = true;
    artifacts_built(&rig.sweep, 0, 0);
    artifacts_turn(&rig.sweep, RIG_START_NS + AGAIN_NS);
    assert_int_equal(fetches(), 1);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(what_was_built_is_fetched_one_by_one),
        CASE(what_is_kept_is_not_fetched_again),
        CASE(who_comes_late_gets_all_of_it_at_the_end),
        CASE(a_damaged_copy_is_fetched_again),
        CASE(what_a_lost_host_built_is_had_from_the_copy),
        CASE(without_a_copy_it_is_built_again),
        CASE(a_copy_that_is_gone_is_built_again),
        CASE(what_its_host_lost_is_had_from_the_copy),
        CASE(a_host_that_does_not_send_it_is_not_condemned),
        CASE(a_host_that_is_silent_is_not_asked),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
