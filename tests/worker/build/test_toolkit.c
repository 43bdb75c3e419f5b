#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/mem.h"
#include "worker/build/toolkit.h"
#include "worker/process/sandbox.h"
#include "worker/process/child.h"
#include "worker/store/build_dir.h"

static char root[] = "/tmp/fa-test-toolkit-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    assert_non_null(mkdtemp(root));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_true(build_dir_remove_tree(root));
    return 0;
}

/* A program 'name' below the root, which prints 'text' for its version. */
static char *put(const char *name, const char *text)
{
    char *path = mem_printf("%s/%s", root, name);
    FILE *file;

    for (char *at = strchr(path + strlen(root) + 1, '/'); at;
         at = strchr(at + 1, '/')) {
        *at = '\0';
        (void)mkdir(path, 0700); /* there already, or fopen says so */
        *at = '/';
    }
    file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "#!/bin/sh\necho '%s'\n", text);
    assert_int_equal(fclose(file), 0);
    assert_int_equal(chmod(path, 0700), 0);
    return path;
}

static void newest_of_two_toolkits_is_taken(void **state)
{
    struct toolkit_places places = { .root = root, .path = "/nowhere" };
    char *nine = put("usr/local/cuda-9.2/bin/nvcc", "");
    char *twelve = put("usr/local/cuda-12.4/bin/nvcc", "");
    char path[PATH_MAX];

    (void)state;
    assert_int_equal(toolkit_find("cuda", "", &places, path, NULL), 0);
    assert_string_equal(path, twelve);
    free(nine);
    free(twelve);
}

static void CUDA_HOME_comes_before_the_usual_places(void **state)
{
    char *home = mem_printf("%s/mine", root);
    struct toolkit_places places = { .root = root, .cuda_home = home };
    char *mine = put("mine/bin/nvcc", "");
    char *usual = put("usr/local/cuda-12.4/bin/nvcc", "");
    char path[PATH_MAX];

    (void)state;
    assert_int_equal(toolkit_find("cuda", "", &places, path, NULL), 0);
    assert_string_equal(path, mine);
    free(mine);
    free(usual);
    free(home);
}

static void missing_nvcc_says_where_was_looked_and_what_to_do(void **state)
{
    struct toolkit_places places = { .root = "/no", .path = "/nw/a:rel:/nw/b" };
    char path[PATH_MAX];
    struct err err;

    (void)state;
    assert_int_equal(toolkit_find("cuda", "", &places, path, &err), ERR_INPUT);
    assert_string_equal(
        err.text,
        "there is no nvcc in /no/usr/local/cuda/bin, /no/opt/cuda/bin, "
        "/no/usr/lib/nvidia-cuda-toolkit/bin, /nw/a, /nw/b; install the CUDA "
        "toolkit (deploy/setup.sh does it), or set nvcc=PATH in hosts.txt");
    assert_int_equal(toolkit_find("cpu", "", &places, path, &err), ERR_INPUT);
    assert_string_equal(err.text,
                        "there is no C++ compiler (c++, g++, clang++) in "
                        "/nw/a, /nw/b; install g++ (deploy/setup.sh does it)");
}

static void wrong_nvcc_of_the_user_is_not_replaced(void **state)
{
    struct toolkit_places places = toolkit_places(NULL);
    char path[PATH_MAX];
    struct err err;

    (void)state;
    assert_int_equal(toolkit_find("cuda", "/no/nvcc", &places, path, &err),
                     ERR_INPUT);
    assert_string_equal(
        err.text, "nvcc '/no/nvcc' is not a program on this host; correct "
                  "nvcc= in hosts.txt, or leave it out to search for nvcc");
    assert_int_equal(toolkit_find("cuda", "nvcc", &places, path, &err),
                     ERR_INPUT);
}

static void one_that_builds_do_not_see_is_passed_over(void **state)
{
    struct sandbox *sandbox = sandbox_new(SANDBOX_MOUNTS);
    char *home = mem_printf("%s/home/cuda", root);
    char *hidden = put("home/cuda/bin/nvcc", "");
    struct toolkit_places places = { .root = "/no",
                                     .cuda_home = home,
                                     .sandbox = sandbox };
    char path[PATH_MAX], *usual, *said;
    struct err err;

    (void)state;
    assert_true(sandbox_set(sandbox, home, SANDBOX_HIDDEN));
    said = mem_printf("%s is in the home folder, which builds do not see; name "
                      "its toolkit's folder by allow= in hosts.txt",
                      hidden);
    assert_int_equal(toolkit_find("cuda", "", &places, path, &err), ERR_INPUT);
    assert_string_equal(err.text, said);
    assert_int_equal(toolkit_find("cuda", hidden, &places, path, &err),
                     ERR_INPUT);
    assert_string_equal(err.text, said);
    usual = put("usr/local/cuda-12.4/bin/nvcc", "");
    places.root = root;
    assert_int_equal(toolkit_find("cuda", "", &places, path, NULL), 0);
    assert_string_not_equal(path, hidden);
    assert_true(sandbox_set(sandbox, home, SANDBOX_READ));
    assert_int_equal(toolkit_find("cuda", "", &places, path, NULL), 0);
    assert_string_equal(path, hidden);
    free(said);
    free(usual);
    free(hidden);
    free(home);
    sandbox_free(sandbox);
}

static void versions_are_read(void **state)
{
    static const struct {
        const char *output, *text;
    } rows[] = {
        { "nvcc: NVIDIA (R) Cuda compiler driver\n"
          "Cuda compilation tools, release 13.0, V13.0.88\nBuild x",
          "nvcc 13.0.88" },
        { "c++ (Debian 12.2.0-14+deb12u1) 12.2.0\nCopyright (C) 2022 Free "
          "Software Foundation, Inc.\n",
          "g++ 12.2.0" },
        { "g++ (GCC) 8.5.0 20210514 (Red Hat 8.5.0-4)\nCopyright (C) 2018 Free "
          "Software Foundation, Inc.\n",
          "g++ 8.5.0" },
        { "Debian clang version 14.0.6\nTarget: x", "clang++ 14.0.6" },
    };
    char text[TOOLKIT_TEXT_BYTES];

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        assert_true(toolkit_version(rows[i].output, text));
        assert_string_equal(text, rows[i].text);
    }
    assert_false(toolkit_version("", text));
    assert_false(toolkit_version("Cuda compilation tools, V", text));
}

static int ask(const char *device, const char *told, struct toolkit **out,
               struct err *err)
{
    int64_t now_ns = clock_boot_ns(), until_ns = now_ns + 20 * NS_PER_S;
    int rc = toolkit_open(device, told, NULL, now_ns, out, err);

    if (rc < 0)
        return rc;
    while ((rc = toolkit_step(*out, now_ns, err)) == 0) {
        struct pollfd fds[CHILD_FDS_MAX];

        assert_true(now_ns < until_ns);
        poll(fds, (nfds_t)toolkit_poll(*out, fds, CHILD_FDS_MAX), 10);
        now_ns = clock_boot_ns();
    }
    return rc;
}

static void compiler_of_this_box_tells_its_version(void **state)
{
    struct toolkit *toolkit = NULL;
    struct err err;

    (void)state;
    if (ask("cpu", "", &toolkit, &err) < 0)
        fail_msg("%s", err.text);
    assert_non_null(strstr(toolkit_text(toolkit), "++ "));
    assert_string_equal(toolkit_device(toolkit), "cpu");
    toolkit_close(toolkit);
}

static void program_that_is_no_nvcc_is_refused(void **state)
{
    char *path = put("fake/nvcc", "hello");
    struct toolkit *toolkit = NULL;
    struct err err;

    (void)state;
    assert_int_equal(ask("cuda", path, &toolkit, &err), ERR_SYSTEM);
    assert_non_null(
        strstr(err.text, "does not tell its version (exit status 0): hello"));
    toolkit_close(toolkit);
    free(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(newest_of_two_toolkits_is_taken),
        cmocka_unit_test(CUDA_HOME_comes_before_the_usual_places),
        cmocka_unit_test(missing_nvcc_says_where_was_looked_and_what_to_do),
        cmocka_unit_test(wrong_nvcc_of_the_user_is_not_replaced),
        cmocka_unit_test(one_that_builds_do_not_see_is_passed_over),
        cmocka_unit_test(versions_are_read),
        cmocka_unit_test(compiler_of_this_box_tells_its_version),
        cmocka_unit_test(program_that_is_no_nvcc_is_refused),
    };

    return cmocka_run_group_tests(tests, set_up, tear_down);
}
