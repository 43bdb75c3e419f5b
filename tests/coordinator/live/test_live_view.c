#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "coordinator/live/live_frame.h"
#include "coordinator/live/live_view.h"
#include "coordinator/live/progress_facts.h"

#define ROWS 24

static const struct progress_lane lanes[] = {
    { .host = "me@gpu-box-with-a-long-name.example.org:2222",
      .gpu = 0,
      .state = PROGRESS_LANE_MEASURES,
      .building = 3,
      .key = "3fa2b1c8d0",
      .text = "BLOCK_M=128 BLOCK_N=64",
      .measured_s = 2 },
    { .host = "me@gpu-box-with-a-long-name.example.org:2222",
      .gpu = 1,
      .state = PROGRESS_LANE_IDLE,
      .key = "",
      .text = "" },
    { .host = "gpu2",
      .gpu = 0,
      .state = PROGRESS_LANE_LOST,
      .key = "",
      .text = "" },
    { .host = "gpu3",
      .gpu = -1,
      .state = PROGRESS_LANE_WAITS,
      .key = "",
      .text = "its worker is ada's" },
    { .host = "cpu1",
      .gpu = -1,
      .state = PROGRESS_LANE_IDLE,
      .building = 4,
      .key = "",
      .text = "" },
};

static const struct progress_facts some = {
    .name = "flash_attention",
    .total = 480,
    .settled = 120,
    .correct = 118,
    .building = 7,
    .measuring = 1,
    .hosts_ready = 2,
    .hosts = 4,
    .elapsed_s = 725,
    .left_s = { 2175, 2175, 2175 },
    .best = { .s = 676.1234e-6,
              .baseline_s = 845.15425e-6,
              .text = "BLOCK_M=64 BLOCK_N=64" },
    .money = { .usd = 0.0125, .usd_per_h = 0.36, .unpriced = 1 },
    .lanes = lanes,
    .n_lanes = sizeof(lanes) / sizeof(lanes[0]),
};

/* The frame as text. */
static const char *view(const struct progress_facts *facts, size_t columns,
                        size_t rows)
{
    static char text[8192];
    struct live_frame frame;
    size_t at = 0;

    live_frame_init(&frame, columns, false);
    live_view_frame(facts, rows, &frame);
    assert_true(frame.n < rows);
    for (size_t i = 0; i < frame.n; i++) {
        assert_true(frame.lines[i].columns < columns);
        at += (size_t)snprintf(text + at, sizeof(text) - at, "%s\n",
                               buf_text(&frame.lines[i].text));
    }
    live_frame_fini(&frame);
    return text;
}

static void at_80_columns(void **state)
{
    (void)state;
    assert_string_equal(
        view(&some, 80, ROWS),
        "flash_attention  [#####---------------]  120 of 480 tried, 25 %\n"
        "118 correct, 2 failed, 7 building, 1 measuring, 2 of 4 hosts ready\n"
        "best 676.123 us, 1.250x baseline: BLOCK_M=64 BLOCK_N=64\n"
        "12 min 05 s, about 36 min 15 s to go; $0.0125 spent, about $0.2175 to "
        "come\n"
        "  1 host unpriced\n"
        "  me@gpu-box-with-a-long-n..  GPU 0   measuring 3fa2b1c8 for 2 s, "
        "building 3:..\n"
        "  me@gpu-box-with-a-long-n..  GPU 1   idle\n"
        "  gpu2                        GPU 0   lost\n"
        "  gpu3                        -       waiting: its worker is ada's\n"
        "  cpu1                        -       building 4\n");
}

static void at_40_columns(void **state)
{
    (void)state;
    assert_string_equal(view(&some, 40, ROWS),
                        "flash_attention  [##--------]\n"
                        "  120 of 480 tried, 25 %\n"
                        "118 correct, 2 failed, 7 building\n"
                        "  1 measuring, 2 of 4 hosts ready\n"
                        "best 676.123 us, 1.250x baseline\n"
                        "  BLOCK_M=64 BLOCK_N=64\n"
                        "12 min 05 s, about 36 min 15 s to go\n"
                        "  $0.0125 spent, about $0.2175 to come\n"
                        "  1 host unpriced\n"
                        "  me@gpu-box-..  GPU 0   measuring 3f..\n"
                        "  me@gpu-box-..  GPU 1   idle\n"
                        "  gpu2           GPU 0   lost\n"
                        "  gpu3           -       waiting: its..\n"
                        "  cpu1           -       building 4\n");
}

/* As wide as it gets. */
static void a_range_has_room_at_80_and_at_40_columns(void **state)
{
    struct progress_facts facts = some;

    (void)state;
    facts.left_s = (struct estimate_range){ 1870, 2175, 2500 };
    facts.n_lanes = 0;
    assert_string_equal(
        view(&facts, 80, ROWS),
        "flash_attention  [#####---------------]  120 of 480 tried, 25 %\n"
        "118 correct, 2 failed, 7 building, 1 measuring, 2 of 4 hosts ready\n"
        "best 676.123 us, 1.250x baseline: BLOCK_M=64 BLOCK_N=64\n"
        "12 min 05 s, 31-42 min to go; $0.0125 spent, $0.187-0.250 to come\n"
        "  1 host unpriced\n");
    assert_string_equal(view(&facts, 40, ROWS),
                        "flash_attention  [##--------]\n"
                        "  120 of 480 tried, 25 %\n"
                        "118 correct, 2 failed, 7 building\n"
                        "  1 measuring, 2 of 4 hosts ready\n"
                        "best 676.123 us, 1.250x baseline\n"
                        "  BLOCK_M=64 BLOCK_N=64\n"
                        "12 min 05 s, 31-42 min to go\n"
                        "  $0.0125 spent, $0.187-0.250 to come\n"
                        "  1 host unpriced\n");
    facts.left_s.low = 3500;
    facts.left_s.high = 719000;
    facts.elapsed_s = 86399;
    assert_non_null(strstr(view(&facts, 40, ROWS),
                           "\n23 h 59 min, 58 min to 200 h to go\n"
                           "  $0.0125 spent, $0.35-71.90 to come\n"));
    assert_non_null(
        strstr(view(&facts, 80, ROWS),
               "\n23 h 59 min, 58 min to 200 h to go; $0.0125 spent, "
               "$0.35-71.90 to come\n"));
}

static void at_200_columns(void **state)
{
    (void)state;
    assert_string_equal(
        view(&some, 200, ROWS),
        "flash_attention  [##########------------------------------]  120 of "
        "480 tried, 25 %\n"
        "118 correct, 2 failed, 7 building, 1 measuring, 2 of 4 hosts ready\n"
        "best 676.123 us, 1.250x baseline: BLOCK_M=64 BLOCK_N=64\n"
        "12 min 05 s, about 36 min 15 s to go; $0.0125 spent, about $0.2175 to "
        "come, 1 host unpriced\n"
        "  me@gpu-box-with-a-long-name.example.org:2222  GPU 0   measuring "
        "3fa2b1c8 for 2 s, building 3: BLOCK_M=128 BLOCK_N=64\n"
        "  me@gpu-box-with-a-long-name.example.org:2222  GPU 1   idle\n"
        "  gpu2                                          GPU 0   lost\n"
        "  gpu3                                          -       waiting: its "
        "worker is ada's\n"
        "  cpu1                                          -       building 4\n");
}

static void lanes_without_room_are_summed(void **state)
{
    (void)state;
    assert_string_equal(
        view(&some, 80, 8),
        "flash_attention  [#####---------------]  120 of 480 tried, 25 %\n"
        "118 correct, 2 failed, 7 building, 1 measuring, 2 of 4 hosts ready\n"
        "best 676.123 us, 1.250x baseline: BLOCK_M=64 BLOCK_N=64\n"
        "12 min 05 s, about 36 min 15 s to go; $0.0125 spent, about $0.2175 to "
        "come\n"
        "  1 host unpriced\n"
        "  me@gpu-box-with-a-long-n..  GPU 0   measuring 3fa2b1c8 for 2 s, "
        "building 3:..\n"
        "  and 4 more on 4 hosts: 1 waiting, 2 idle, 1 lost, building 4\n");
}

/* A bar, and nothing else. */
static void a_screen_of_two_rows_has_one_line(void **state)
{
    (void)state;
    assert_string_equal(
        view(&some, 80, 2),
        "flash_attention  [#####---------------]  120 of 480 tried, 25 %\n");
}

static void nothing_is_known_at_the_beginning(void **state)
{
    const struct progress_facts none = {
        .name = "x",
        .total = 4,
        .hosts = 1,
        .left_s = { NAN, NAN, NAN },
        .best = { .s = NAN, .baseline_s = NAN, .text = "" },
        .money = { .usd = NAN, .unpriced = 1 },
    };

    (void)state;
    assert_string_equal(
        view(&none, 80, ROWS),
        "x  [--------------------]  0 of 4 tried, 0 %\n"
        "0 correct, 0 failed, 0 building, 0 measuring, 0 of 1 host ready\n"
        "no time yet\n"
        "0 s; unpriced\n");
}

static void builds_alone_are_counted_as_builds(void **state)
{
    struct progress_facts facts = some;

    (void)state;
    facts.kind = PROGRESS_BUILT;
    facts.n_lanes = 0;
    assert_string_equal(
        view(&facts, 80, ROWS),
        "flash_attention  [####----------------]  118 of 480 built, 24 %\n"
        "2 failed, 7 building, 2 of 4 hosts ready\n"
        "12 min 05 s, about 36 min 15 s to go; $0.0125 spent, about $0.2175 to "
        "come\n"
        "  1 host unpriced\n");
}

static void blocks_are_counted_as_measurements(void **state)
{
    struct progress_facts facts = some;

    (void)state;
    facts.kind = PROGRESS_MEASURED;
    facts.settled = facts.correct = facts.total;
    facts.n_lanes = 0;
    assert_string_equal(
        view(&facts, 80, ROWS),
        "flash_attention  [####################]  480 of 480 measured, 100 %\n"
        "7 building, 1 measuring, 2 of 4 hosts ready\n"
        "best 676.123 us, 1.250x baseline: BLOCK_M=64 BLOCK_N=64\n"
        "12 min 05 s, about 36 min 15 s to go; $0.0125 spent, about $0.2175 to "
        "come\n"
        "  1 host unpriced\n");
}

static const char *line(const struct progress_facts *facts)
{
    static char text[512];

    live_view_line(facts, text, sizeof(text));
    return text;
}

static void a_line_says_what_is_done_and_what_is_left(void **state)
{
    (void)state;
    assert_string_equal(line(&some),
                        "120/480 tried  118 correct  2 failed  7 building  1 "
                        "measuring  2/4 hosts  best 676.123 us (1.250x "
                        "baseline)  $0.0125  12 min 05 s, about 36 min 15 s "
                        "and $0.2175 left");
}

static void a_line_says_a_range(void **state)
{
    struct progress_facts facts = some;

    (void)state;
    facts.left_s = (struct estimate_range){ 1870, 2175, 2500 };
    assert_non_null(
        strstr(line(&facts),
               "  $0.0125  12 min 05 s, 31-42 min and $0.187-0.250 left"));
}

/* A proof has shapes of its own, whose times say nothing of the sweep. */
static void a_check_counts_what_is_correct(void **state)
{
    struct progress_facts facts = some;

    (void)state;
    facts.kind = PROGRESS_CHECKED;
    facts.best.s = (double)NAN;
    facts.n_lanes = 0;
    facts.money.unpriced = 0;
    assert_string_equal(
        view(&facts, 80, ROWS),
        "flash_attention  [#####---------------]  120 of 480 checked, 25 %\n"
        "118 correct, 2 failed, 7 building, 1 measuring, 2 of 4 hosts ready\n"
        "12 min 05 s, about 36 min 15 s to go; $0.0125 spent, about $0.2175 to "
        "come\n");
    assert_string_equal(line(&facts),
                        "120/480 checked  118 correct  2 failed  7 building  1 "
                        "measuring  2/4 hosts  $0.0125  12 min 05 s, about 36 "
                        "min 15 s and $0.2175 left");
}

static void a_line_has_only_what_is_known(void **state)
{
    struct progress_facts facts = some;

    (void)state;
    facts.money.usd = facts.left_s.likely = facts.best.s = (double)NAN;
    assert_string_equal(line(&facts),
                        "120/480 tried  118 correct  2 failed  7 building  1 "
                        "measuring  2/4 hosts  12 min 05 s");
    facts.hosts = 0;
    assert_string_equal(line(&facts),
                        "120/480 tried  118 correct  2 failed  12 min 05 s");
    facts.hosts = some.hosts;
    facts.kind = PROGRESS_BUILT;
    assert_string_equal(line(&facts),
                        "118/480 built  2 failed  7 building  12 min 05 s");
    facts.kind = PROGRESS_MEASURED;
    assert_string_equal(line(&facts), "120/480 measured  7 building  1 "
                                      "measuring  2/4 hosts  12 min 05 s");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(at_80_columns),
        cmocka_unit_test(at_40_columns),
        cmocka_unit_test(a_range_has_room_at_80_and_at_40_columns),
        cmocka_unit_test(at_200_columns),
        cmocka_unit_test(lanes_without_room_are_summed),
        cmocka_unit_test(a_screen_of_two_rows_has_one_line),
        cmocka_unit_test(nothing_is_known_at_the_beginning),
        cmocka_unit_test(builds_alone_are_counted_as_builds),
        cmocka_unit_test(blocks_are_counted_as_measurements),
        cmocka_unit_test(a_line_says_what_is_done_and_what_is_left),
        cmocka_unit_test(a_line_says_a_range),
        cmocka_unit_test(a_check_counts_what_is_correct),
        cmocka_unit_test(a_line_has_only_what_is_known),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
