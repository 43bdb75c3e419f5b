/* The forms of the lines are those of NVIDIA's Compute Sanitizer User Manual.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "coordinator/plan/sanitizer.h"

static struct sanitizer_report report;

static const struct sanitizer_finding *finding(size_t i)
{
    assert_true(i < report.n);
    return &report.findings[i];
}

static void read_right(const char *output)
{
    struct err err = { "" };

    if (sanitizer_read(output, "", &report, &err) < 0)
        fail_msg("%s", err.text);
}

static void refused(const char *output, const char *log, const char *why)
{
    struct err err = { "" };

    assert_int_equal(sanitizer_read(output, log, &report, &err), ERR_INPUT);
    assert_string_equal(err.text, why);
}

static bool has(const struct sanitizer_command *command, const char *word)
{
    for (size_t i = 0; i < command->n; i++)
        if (strcmp(command->arguments[i], word) == 0)
            return true;
    return false;
}

static void every_tool_has_its_command(void **state)
{
    struct sanitizer_command command;

    (void)state;
    for (int t = 0; t < SANITIZER_TOOLS; t++) {
        sanitizer_command((enum sanitizer_tool)t, "vector_add", &command);
        assert_true(command.n <= SANITIZER_ARGUMENTS_MAX);
        assert_string_equal(command.arguments[0], "compute-sanitizer");
        assert_string_equal(command.arguments[1], "--tool");
        assert_string_equal(command.arguments[2],
                            sanitizer_name((enum sanitizer_tool)t));
        assert_string_equal(command.arguments[command.n - 1], "{runner}");
        assert_int_equal(has(&command, "kns=vector_add"),
                         t != SANITIZER_INITCHECK);
        assert_int_equal(has(&command, "--report-api-errors"),
                         t == SANITIZER_MEMCHECK);
    }
}

static void rounds_tell_the_tools_apart(void **state)
{
    enum sanitizer_tool tool;

    (void)state;
    assert_false(sanitizer_of_round(0, &tool));
    assert_false(sanitizer_of_round(SANITIZER_ROUNDS - 1, &tool));
    assert_true(sanitizer_of_round(SANITIZER_ROUNDS, &tool));
    assert_int_equal(tool, SANITIZER_MEMCHECK);
    assert_true(sanitizer_of_round(SANITIZER_ROUNDS + 7, &tool));
    assert_int_equal(tool, SANITIZER_SYNCCHECK);
}

static void a_wild_access_is_found_once_with_its_first_thread(void **state)
{
    (void)state;
    read_right("ok\nfact arch 90\n\n"
               "========= COMPUTE-SANITIZER\n"
               "progress check\n"
               "========= Invalid __global__ write of size 4 bytes\n"
               "=========     at kernel(float *)+0x50\n"
               "=========     by thread (0,0,0) in block (1,0,0)\n"
               "=========     Access at 0x7f241b0001e0 is out of bounds\n"
               "=========     and is 33 bytes after the nearest allocation\n"
               "========= \n"
               "========= Invalid __global__ write of size 4 bytes\n"
               "=========     at kernel(float *)+0x50\n"
               "=========     by thread (1,0,0) in block (1,0,0)\n"
               "========= Invalid __global__ read of size 2 bytes\n"
               "=========     at kernel(float *)+0x60\n"
               "=========     by thread (2,0,0) in block (1,0,0)\n"
               "=========\n"
               "outcome runtime\n\n"
               "========= ERROR SUMMARY: 157 errors\n"
               "========= ERROR SUMMARY: 57 errors were not printed. Use "
               "--print-limit option to adjust the number of printed errors\n");
    assert_int_equal(report.n, 2);
    assert_string_equal(finding(0)->kind,
                        "Invalid __global__ write of size 4 bytes");
    assert_string_equal(finding(0)->where, "kernel(float *)+0x50");
    assert_string_equal(finding(0)->thread, "(0,0,0)");
    assert_string_equal(finding(0)->block, "(1,0,0)");
    assert_int_equal(finding(0)->count, 2);
    assert_false(finding(0)->warning);
    assert_string_equal(finding(1)->where, "kernel(float *)+0x60");
    assert_int_equal(finding(1)->count, 1);
    assert_int_equal(report.errors, 157);
    assert_int_equal(report.warnings, 0);
    assert_int_equal(report.left_out, 0);
}

static void each_pair_of_a_race_is_a_finding(void **state)
{
    (void)state;
    read_right(
        "========= COMPUTE-SANITIZER\n"
        "========= Error: Race reported between Write access at "
        "reduce(int *, int *)+0xf0 in k.cu:12\n"
        "=========     and Read access at reduce(int *, int *)+0xd0 in k.cu:14 "
        "[32 hazards]\n"
        "=========     and Write access at reduce(int *, int *)+0xf0 in "
        "k.cu:12 [4 hazards]\n"
        "========= \n"
        "========= Warning: Race reported between Read access at f+0x10\n"
        "=========     and Write access at f+0x20 [1 hazard]\n"
        "=========\n"
        "========= RACECHECK SUMMARY: 2 hazards displayed (1 error, 1 "
        "warning)\n");
    assert_int_equal(report.n, 3);
    assert_string_equal(finding(0)->kind,
                        "Race reported between Write and Read access");
    assert_string_equal(finding(0)->where,
                        "reduce(int *, int *)+0xf0 in k.cu:12 and "
                        "reduce(int *, int *)+0xd0 in k.cu:14");
    assert_int_equal(finding(0)->count, 32);
    assert_string_equal(finding(0)->thread, "");
    assert_string_equal(finding(1)->kind,
                        "Race reported between Write and Write access");
    assert_int_equal(finding(1)->count, 4);
    assert_true(finding(2)->warning);
    assert_string_equal(finding(2)->where, "f+0x10 and f+0x20");
    assert_int_equal(report.errors, 1);
    assert_int_equal(report.warnings, 1);
}

static void reads_of_unwritten_memory_and_barriers_are_found(void **state)
{
    (void)state;
    read_right("========= Uninitialized __global__ memory read of size 4 "
               "bytes\n"
               "=========     at vectorAdd(int *)+0x70\n"
               "=========     by thread (31,0,0) in block (1,0,0)\n"
               "=========     Address 0x7f3c7ec000fc\n"
               "========= ERROR SUMMARY: 1 error\n");
    assert_string_equal(finding(0)->kind,
                        "Uninitialized __global__ memory read of size 4 bytes");
    assert_string_equal(finding(0)->thread, "(31,0,0)");
    assert_int_equal(report.errors, 1);
    read_right("========= Barrier error detected. Invalid arguments.\n"
               "=========     at __syncwarp(unsigned int)+0x30\n"
               "=========     by thread (0,0,0) in block (0,0,0)\n"
               "=========         Device Frame: kernel(int *)+0x3c0 in k.cu:9\n"
               "========= ERROR SUMMARY: 1 error\n");
    assert_string_equal(finding(0)->kind,
                        "Barrier error detected. Invalid arguments.");
    assert_string_equal(finding(0)->where,
                        "__syncwarp(unsigned int)+0x30, called by "
                        "kernel(int *)+0x3c0 in k.cu:9");
}

static void nothing_found_is_a_result_too(void **state)
{
    (void)state;
    read_right("========= COMPUTE-SANITIZER\n"
               "========= ERROR SUMMARY: 0 errors\n");
    assert_int_equal(report.n, 0);
    assert_int_equal(report.errors, 0);
    read_right("========= COMPUTE-SANITIZER\n========= RACECHECK SUMMARY: 0 "
               "hazards displayed (0 errors, 0 warnings)\n");
    assert_int_equal(report.errors, 0);
    assert_int_equal(report.warnings, 0);
}

static void what_was_found_before_it_was_killed_is_kept(void **state)
{
    (void)state;
    refused("========= COMPUTE-SANITIZER\n"
            "========= Misaligned Shared or Local Address\n"
            "=========     at kernel+0x50\n",
            "", "compute-sanitizer printed no summary");
    assert_int_equal(report.n, 1);
    assert_int_equal(report.errors, -1);
    assert_string_equal(report.trouble, "");
}

static void more_than_the_table_holds_are_counted(void **state)
{
    char output[16384];
    size_t n = 0;

    (void)state;
    for (int i = 0; i < SANITIZER_FINDINGS_MAX + 5; i++)
        n += (size_t)snprintf(output + n, sizeof(output) - n,
                              "========= Invalid __shared__ read of size %d\n"
                              "=========     at k+0x10\n",
                              i);
    snprintf(output + n, sizeof(output) - n,
             "========= ERROR SUMMARY: 37 errors\n");
    read_right(output);
    assert_int_equal(report.n, SANITIZER_FINDINGS_MAX);
    assert_int_equal(report.left_out, 5);
}

static void trouble_of_its_own_is_one_message(void **state)
{
    (void)state;
    refused("========= COMPUTE-SANITIZER\n"
            "error no CUDA device is here\n\n"
            "========= Error: Target application terminated before first "
            "instrumented API call\n"
            "========= Tracking kernels launched by child processes requires "
            "the --target-processes all option.\n",
            "",
            "the runner ended before it used the GPU: no CUDA device is here");
    refused("",
            "========= Unable to find injection library "
            "libsanitizer-collection.so\n",
            "compute-sanitizer does not find its libraries beside it: install "
            "all of it, the package cuda-sanitizer of the CUDA toolkit");
    refused("========= COMPUTE-SANITIZER\n========= Error: Device not "
            "supported. Please refer to the documentation\n",
            "",
            "compute-sanitizer does not support this GPU with its driver, or "
            "this virtual machine (Device not supported. Please refer to the "
            "documentation)");
    refused("========= Program hit something\n========= Internal Sanitizer "
            "Error: it is lost\n",
            "", "compute-sanitizer said: Internal Sanitizer Error: it is lost");
    refused("", "", "compute-sanitizer printed no summary");
}

static void a_summary_that_is_cut_off_is_none(void **state)
{
    (void)state;
    refused("========= RACECHECK SUMMARY: 2 hazards displ", "",
            "compute-sanitizer printed no summary");
    refused("========= ERROR SUMMARY:", "",
            "compute-sanitizer printed no summary");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_tool_has_its_command),
        cmocka_unit_test(rounds_tell_the_tools_apart),
        cmocka_unit_test(a_wild_access_is_found_once_with_its_first_thread),
        cmocka_unit_test(each_pair_of_a_race_is_a_finding),
        cmocka_unit_test(reads_of_unwritten_memory_and_barriers_are_found),
        cmocka_unit_test(nothing_found_is_a_result_too),
        cmocka_unit_test(what_was_found_before_it_was_killed_is_kept),
        cmocka_unit_test(more_than_the_table_holds_are_counted),
        cmocka_unit_test(trouble_of_its_own_is_one_message),
        cmocka_unit_test(a_summary_that_is_cut_off_is_none),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
