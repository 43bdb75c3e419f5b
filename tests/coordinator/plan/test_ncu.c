/* tests/fixtures/ncu/h200.txt is what ncu 2025.3 printed of a launch on an
 * H200, without the columns that nothing reads; the other tables are made up.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <math.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/plan/ncu.h"

#define STALL(x) \
    "\"smsp__average_warps_issue_stalled_" x "_per_issue_active.ratio\""

static const char table[] =
    "ok\nfact arch 90\n\n"
    "==PROF== Connected to process 4711 (/w/fa-runner)\n"
    "==PROF== Profiling \"flash_attention\": 0%....100% - 31 passes\n"
    "\"ID\",\"Process ID\",\"Kernel Name\",\"gpu__time_duration.sum\","
    "\"sm__inst_executed_pipe_tensor.avg.pct_of_peak_sustained_active\","
    "\"sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed\","
    "\"dram__bytes.sum\","
    "\"l1tex__data_bank_conflicts_pipe_lsu_mem_shared.sum\","
    "\"launch__registers_per_thread\"," STALL("barrier") "," STALL(
        "long_scoreboard") "," STALL("wait_not_issued") "\n"
                                                        "\"\",\"\",\"\","
                                                        "\"usecond\",\"%\",\"%"
                                                        "\",\"Mbyte\",\"\","
                                                        "\"register/"
                                                        "thread\",\"inst\","
                                                        "\"inst\",\"inst\"\n"
                                                        "\"0\",\"4711\",\"void "
                                                        "f<1, "
                                                        "2>(\"\"x\"\")\",\"51."
                                                        "30\",\"61\",\"58.5\","
                                                        "\"67.2\",\"1,234\","
                                                        "\"128\",\"0.25\",\"1."
                                                        "5\",\"9\"\n"
                                                        "==PROF== Disconnected "
                                                        "from process 4711\n";

static void figures_are_read_from_the_table(void **state)
{
    struct ncu_profile profile;
    struct err err = { "" };

    (void)state;
    assert_int_equal(ncu_read(table, "", &profile, &err), 0);
    assert_true(fabs(profile.figures[NCU_DURATION] - 51.3e-6) < 1e-12);
    assert_true(profile.figures[NCU_TENSOR] == 58.5); /* the better name */
    assert_true(fabs(profile.figures[NCU_DRAM_BYTES] - 67.2e6) < 1);
    assert_true(profile.figures[NCU_BANK_CONFLICTS] == 1234);
    assert_true(profile.figures[NCU_REGISTERS] == 128);
    assert_true(isnan(profile.figures[NCU_L2]));
    assert_int_equal(profile.n_stalls, 2);
    assert_string_equal(profile.stalls[0].reason, "long_scoreboard");
    assert_true(profile.stalls[0].warps == 1.5);
    assert_string_equal(profile.stalls[1].reason, "barrier");
}

static void a_recorded_table_is_read(void **state)
{
    struct ncu_profile profile;
    struct err err = { "" };
    char text[8192];
    FILE *file = fopen(FA_SOURCE_DIR "/tests/fixtures/ncu/h200.txt", "r");

    (void)state;
    assert_non_null(file);
    text[fread(text, 1, sizeof(text) - 1, file)] = '\0';
    fclose(file);
    assert_int_equal(ncu_read(text, "", &profile, &err), 0);
    assert_true(fabs(profile.figures[NCU_DURATION] - 70.496e-6) < 1e-12);
    assert_true(profile.figures[NCU_TENSOR] == 52.246191);
    assert_true(profile.figures[NCU_SHARED] == 40.212534);
    assert_true(profile.figures[NCU_SHARED_WAVEFRONTS] == 4842370);
    assert_true(profile.figures[NCU_REGISTERS] == 242);
    assert_string_equal(profile.stalls[0].reason, "wait");
}

static void bytes_of_dram_are_those_read_and_written(void **state)
{
    static const char text[] =
        "\"ID\",\"gpu__time_duration.sum\",\"dram__bytes_read.sum\","
        "\"dram__bytes_write.sum\"\n\"\",\"us\",\"Mbyte\",\"Kbyte\"\n"
        "\"0\",\"51.3\",\"50.5\",\"250\"";
    struct ncu_profile profile;
    struct err err = { "" };

    (void)state;
    assert_int_equal(ncu_read(text, "", &profile, &err), 0);
    assert_true(fabs(profile.figures[NCU_DRAM_BYTES] - 50.75e6) < 1);
}

static void unavailable_metrics_are_unknown(void **state)
{
    static const char text[] =
        "\"ID\",\"gpu__time_duration.sum\",\"lts__throughput.avg.pct_of_peak_"
        "sustained_elapsed\"\n\"\",\"nsecond\",\"%\"\n\"0\",\"51,300\",\"n/a\"";
    struct ncu_profile profile;
    struct err err = { "" };

    (void)state;
    assert_int_equal(ncu_read(text, "", &profile, &err), 0);
    assert_true(fabs(profile.figures[NCU_DURATION] - 51.3e-6) < 1e-12);
    assert_true(isnan(profile.figures[NCU_L2]));
}

static void a_missing_profile_has_a_reason_and_a_remedy(void **state)
{
    static const struct {
        const char *output, *log, *why;
    } rows[] = {
        { "==ERROR== ERR_NVGPUCTRPERM - The user does not", "",
          "NVreg_RestrictProfilingToAdminUsers=0" },
        { "", "==ERROR== ERR_NVGPUCTRPERM", "CAP_SYS_ADMIN" },
        { "==WARNING== No kernels were profiled.", "",
          "correct at this shape" },
        { "ok\n", "", "ncu printed no table of metrics" },
        { "\"ID\",\"a\"\n\"\",\"\"\n", "", "ncu printed no table of metrics" },
        { "\"ID\",\"a\"\n\"\",\"\"\n\"0\",\"1\"\n", "",
          "has no column gpu__time_duration.sum" },
        { "\"ID\",\"a\"\n\"\"\n\"0\",\"1\",\"2\"\n", "", "no table" },
        { "\"ID\",\"", "", "no table" },
    };

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct ncu_profile profile;
        struct err err = { "" };

        assert_int_equal(ncu_read(rows[i].output, rows[i].log, &profile, &err),
                         ERR_INPUT);
        assert_non_null(strstr(err.text, rows[i].why));
    }
}

static void the_command_names_the_kernel_and_ends_in_the_runner(void **state)
{
    const char *command[NCU_ARGUMENTS_MAX];
    size_t n = ncu_command("flash_attention", true, command);
    bool named = false, flushed = false;

    (void)state;
    assert_true(n < NCU_ARGUMENTS_MAX);
    assert_string_equal(command[0], "ncu");
    assert_string_equal(command[n - 1], "{runner}");
    for (size_t i = 1; i < n; i++) {
        named |= strcmp(command[i - 1], "--kernel-name") == 0 &&
                 strcmp(command[i], "flash_attention") == 0;
        flushed |= strcmp(command[i - 1], "--cache-control") == 0 &&
                   strcmp(command[i], "all") == 0;
    }
    assert_true(named && flushed);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(figures_are_read_from_the_table),
        cmocka_unit_test(a_recorded_table_is_read),
        cmocka_unit_test(bytes_of_dram_are_those_read_and_written),
        cmocka_unit_test(unavailable_metrics_are_unknown),
        cmocka_unit_test(a_missing_profile_has_a_reason_and_a_remedy),
        cmocka_unit_test(the_command_names_the_kernel_and_ends_in_the_runner),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
