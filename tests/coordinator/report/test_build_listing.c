/* What a database says that the points of vector_add were compiled to.  Its
 * units are the points that pass, the baseline among them as unit 0. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/report/build_listing_sum.h"
#include "tests/coordinator/store/store_fixture.h"

#define FOLDER FA_SOURCE_DIR "/kernels/vector_add"
#define LOG                                                                 \
    "ptxas info    : Compiling entry function 'vector_add' for 'sm_89'\n"   \
    "    16 bytes stack frame, 8 bytes spill stores, 4 bytes spill loads\n" \
    "ptxas info    : Used 40 registers, used 0 barriers, 2048 bytes smem\n"

static struct spec *spec;
static struct space *space;
static struct build_listing *listing;
static int64_t nonce;

static void load(const char *db)
{
    struct err err;

    build_listing_free(listing);
    listing = NULL;
    if (build_listing_load(spec, space, gpu_arch_find("sm_89"), "sm_89", db,
                           &listing, &err) < 0)
        fail_msg("%s", err.text);
}

static int set_up(void **state)
{
    struct err err;
    int rc = fixture_setup(state);

    if (rc == 0)
        rc = spec_load(FOLDER "/sweep.json", &spec, &err);
    if (rc == 0)
        rc = space_open(spec, gpu_arch_find("sm_89"), "cuda", NULL, &space,
                        &err);
    if (rc == 0)
        load(*state);
    return rc;
}

static int tear_down(void **state)
{
    build_listing_free(listing);
    listing = NULL;
    space_close(space);
    spec_free(spec);
    return fixture_teardown(state);
}

/* A row for unit 'unit', later than those before it. */
static void put(struct store *store, size_t unit, const char *outcome,
                const char *detail, const char *artifact)
{
    char text[16] = "";
    struct store_build row = fixture_build(text, listing->rows[unit].unit->key);
    struct err err;

    snprintf(text, sizeof(text), "n%lld", (long long)nonce++);
    row.source_key = listing->rows[unit].unit->source_key;
    row.outcome = outcome;
    row.detail = detail;
    row.artifact = artifact;
    row.log = LOG;
    row.received_utc = nonce;
    assert_int_not_equal(store_build_put(store, &row, &err), 0);
}

static struct store *begin(void **state)
{
    struct store *store = fixture_open(*state, STORE_CREATE);

    fixture_run(store, FIXTURE_EPOCH);
    return store;
}

static void end(void **state, struct store *store)
{
    struct err err;

    assert_int_equal(store_commit(store, &err), 0);
    store_close(store);
    load(*state);
}

static void without_a_database_nothing_is_known(void **state)
{
    (void)state;
    assert_int_equal(listing->n, 30);
    assert_false(listing->rows[0].known);
    assert_int_equal(build_listing_failed(listing), 0);
    assert_int_equal(listing->dead[0], DEAD_TUNABLES_UNKNOWN);
}

static void a_build_tells_what_its_cubin_uses(void **state)
{
    struct store *store = begin(state);
    const struct build_row *row = &listing->rows[0];

    assert_true(row->unit->baseline);
    put(store, 0, "built", "", "a1");
    end(state, store);
    row = &listing->rows[0];
    assert_true(row->built);
    assert_int_equal(row->use.registers, 40);
    assert_int_equal(row->use.stack_bytes, 16);
    assert_int_equal(row->use.static_smem, 2048);
    assert_int_equal(row->threads, 256);
    assert_int_equal(row->occupancy.blocks_per_sm, 6);
    assert_int_equal(row->hits, 1u << BUILD_LISTING_SPILLS);
    assert_true(row->seconds == 2.5);
    assert_true(build_listing_figure(row, FIGURE_SPILL_BYTES) == 12);
}

static void the_newest_build_from_these_sources_counts(void **state)
{
    struct store *store = begin(state);
    struct store_build other =
        fixture_build("other", listing->rows[0].unit->key);
    struct err err;

    put(store, 0, "compile", "k.cu(1): error: no", "");
    put(store, 0, "built", "", "a1");
    put(store, 0, "crash", "killed", "");
    other.artifact = "of other sources";
    other.received_utc = nonce + 1;
    assert_int_equal(store_build_put(store, &other, &err), 1);
    end(state, store);
    assert_true(listing->rows[0].built);
    assert_string_equal(listing->rows[0].artifact, "a1");
}

static void failures_are_told_by_reason(void **state)
{
    struct store *store = begin(state);
    struct build_listing_failure *failures;
    size_t n;

    put(store, 4, "compile", "k.cu(1): error: no", "");
    put(store, 2, "compile", "k.cu(1): error: no", "");
    put(store, 3, "timeout", "after 300 s", "");
    put(store, 5, "built", "", "a1");
    put(store, 6, "built", "", "a1");
    end(state, store);
    failures = build_listing_failures(listing, &n);
    assert_int_equal(build_listing_failed(listing), 3);
    assert_int_equal(n, 2);
    assert_int_equal(failures[0].n, 2);
    assert_ptr_equal(failures[0].first, &listing->rows[2]);
    assert_string_equal(failures[1].first->outcome, "timeout");
    assert_int_equal(build_listing_distinct(listing), 1);
    free(failures);
}

static void a_tunable_that_changes_no_code_is_dead(void **state)
{
    struct store *store = begin(state);

    for (size_t i = 0; i < listing->n; i++) {
        struct value values[SPEC_AXES_MAX];
        char code[32];

        plan_values(listing->plan, (int)i, values);
        snprintf(code, sizeof(code), "%lld %lld", (long long)values[0].integer,
                 (long long)values[2].integer);
        put(store, i, "built", "", code);
    }
    end(state, store);
    assert_int_equal(listing->dead[0], DEAD_TUNABLES_NO);
    assert_int_equal(listing->dead[1], DEAD_TUNABLES_YES);
    assert_int_equal(listing->dead[2], DEAD_TUNABLES_NO);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(without_a_database_nothing_is_known,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(a_build_tells_what_its_cubin_uses,
                                        set_up, tear_down),
        cmocka_unit_test_setup_teardown(
            the_newest_build_from_these_sources_counts, set_up, tear_down),
        cmocka_unit_test_setup_teardown(failures_are_told_by_reason, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(a_tunable_that_changes_no_code_is_dead,
                                        set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
