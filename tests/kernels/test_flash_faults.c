/* kernels/flash_attention without one of its waits or barriers: the emulator
 * names what is missing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <glob.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "tests/kernels/fixture.h"
#include "tests/kernels/flash.h"

#define FOLDER FA_SOURCE_DIR "/kernels/flash_attention/"
#define COPY FA_BINARY_DIR "/tests/kernels/flash/"

enum {
    SOURCE_BYTES_MAX = 100000
};

/* More steps than the rings hold, and more items than the persistent grid has
 * blocks */
static struct flash_problem problem = {
    .seq = 401, .causal = 0, .head_dim = 64, .gain = 1
};

static void read_source(const char *path, char *text)
{
    FILE *file = fopen(path, "r");
    size_t n;

    assert_non_null(file);
    n = fread(text, 1, SOURCE_BYTES_MAX - 1, file);
    text[n] = '\0';
    fclose(file);
}

static void write_copy(const char *name, const char *text)
{
    char path[400];
    FILE *file;

    snprintf(path, sizeof(path), "%s%s", COPY, name);
    file = fopen(path, "w");
    assert_non_null(file);
    assert_true(fputs(text, file) >= 0);
    assert_int_equal(fclose(file), 0);
}

/* Remove this line wherever it occurs; returns how often it did. */
static int take_out(char *text, const char *line)
{
    char whole[200];
    const size_t n = (size_t)snprintf(whole, sizeof(whole), "\n%s\n", line) - 1;
    int found = 0;
    char *at;

    while ((at = strstr(text, whole)) != NULL) {
        memmove(at, at + n, strlen(at + n) + 1);
        found++;
    }
    return found;
}

/* Copy all files of the kernel, except for this one line. */
static void copy_without(const char *line)
{
    static char text[SOURCE_BYTES_MAX];
    glob_t files;
    int found = 0;

    assert_int_equal(glob(FOLDER "*.[ch]*", 0, NULL, &files), 0);
    for (size_t i = 0; i < files.gl_pathc; i++) {
        read_source(files.gl_pathv[i], text);
        if (line)
            found += take_out(text, line);
        write_copy(strrchr(files.gl_pathv[i], '/') + 1, text);
    }
    globfree(&files);
    if (line && found != 1)
        fail_msg("%d lines of the kernel are '%s', not 1", found, line);
}

/* The emulator's error for a configuration without this line; "" if it finds
 * none, and then the result is not checked either. */
static const char *said(const struct flash_config *config, const char *line)
{
    static struct device_err err;
    const int64_t n = 4 * (int64_t)problem.seq * problem.head_dim;
    struct device_buffer *out = fixture_buffer("out", ELEMENT_FP16, n);
    struct device_kernel *kernel;
    char params[FLASH_TEXT_MAX];

    copy_without(line);
    flash_params(config, params);
    kernel = fixture_load("flash_fault", COPY "flash_attention.cu",
                          "flash_attention", params);
    err.text[0] = '\0';
    (void)flash_launch(config, kernel, &problem, 3, out, &err); /* err says */
    device_unload(NULL, kernel);
    device_free(NULL, out);
    return err.text;
}

static void is_missed(const char *what, const struct flash_config *config,
                      const char *line)
{
    const char *text = said(config, line);

    if (strncmp(text, what, strlen(what)) != 0)
        fail_msg("without '%s': '%s', not %s", line, text, what);
}

static void without_a_fault_nothing_is_said(void **state)
{
    (void)state;
    assert_string_equal(said(&flash_plain, NULL), "");
}

static void the_wait_of_a_step_is_missed(void **state)
{
    (void)state;
    is_missed("missing cp_async_wait: ", &flash_plain,
              "        wait_copies(groups);");
}

static void the_barrier_of_a_step_is_missed(void **state)
{
    (void)state;
    is_missed("missing barrier: ", &flash_plain, "    barrier();");
}

/* Rings of one tile are refilled in place. */
static void the_barrier_after_a_step_is_missed(void **state)
{
    struct flash_config single = flash_plain;

    (void)state;
    single.values[K_STAGES] = single.values[V_STAGES] = 1;
    single.values[SLICE_N] = 32;
    is_missed("missing barrier: ", &single,
              "        barrier(); /* all are past the tiles */");
}

static void the_barrier_between_q_and_the_rings_is_missed(void **state)
{
    struct flash_config through = flash_plain;

    (void)state;
    through.values[Q_HOME] = 2;
    is_missed("missing barrier: ", &through,
              "            barrier(); /* the rings overwrite Q */");
}

static void the_barrier_between_the_rings_and_the_output_is_missed(void **state)
{
    struct flash_config registers = flash_plain;

    (void)state;
    registers.values[Q_HOME] = 1;
    is_missed("missing barrier: ", &registers,
              "        barrier(); /* no warp reads the rings any more */");
}

static void the_order_of_lanes_is_missed(void **state)
{
    struct flash_config persistent = flash_plain;

    (void)state;
    is_missed("missing barrier: ", &flash_plain,
              "    syncwarp(); /* lanes exchange rows, warps do not */");
    persistent.values[PERSISTENT] = 1;
    is_missed("missing barrier: ", &persistent,
              "            syncwarp(); /* all lanes have read Q */");
}

static int set_up(void **state)
{
    struct device_kernel *reference =
        fixture_load("flash_fault_reference", FOLDER "reference.cu",
                     "flash_attention_reference", "");

    (void)state;
    (void)fixture_command((const char *[]){ "mkdir", "-p", COPY, NULL });
    flash_problem_init(&problem, reference);
    device_unload(NULL, reference);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    flash_problem_fini(&problem);
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(without_a_fault_nothing_is_said),
        cmocka_unit_test(the_wait_of_a_step_is_missed),
        cmocka_unit_test(the_barrier_of_a_step_is_missed),
        cmocka_unit_test(the_barrier_after_a_step_is_missed),
        cmocka_unit_test(the_barrier_between_q_and_the_rings_is_missed),
        cmocka_unit_test(
            the_barrier_between_the_rings_and_the_output_is_missed),
        cmocka_unit_test(the_order_of_lanes_is_missed),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
