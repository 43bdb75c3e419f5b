#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <pwd.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/mem.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/remote/remote.h"
#include "coordinator/doctor/doctor.h"

static char folder[64];

static int enter(void **state)
{
    (void)state;
    snprintf(folder, sizeof(folder), "/tmp/fa_doctor_XXXXXX");
    return mkdtemp(folder) ? 0 : -1;
}

static int leave(void **state)
{
    (void)state;
    return rmdir(folder);
}

static const struct doctor_finding *find(const struct doctor *doctor,
                                         const char *what)
{
    for (size_t i = 0; i < doctor->n; i++)
        if (strcmp(doctor->findings[i].what, what) == 0)
            return &doctor->findings[i];
    fail_msg("nothing was found out about '%s'", what);
    return NULL;
}

static void examine(const char *workdir, struct doctor *doctor)
{
    struct remote_options options = { .home = folder };
    struct hosts hosts;

    hosts_local(&hosts);
    snprintf(hosts.list[0].workdir, sizeof(hosts.list[0].workdir), "%s",
             workdir);
    *doctor = (struct doctor){ 0 };
    doctor_host(doctor, &hosts.list[0], &options);
    hosts_fini(&hosts);
}

static void a_good_work_folder_is_left_as_it_was(void **state)
{
    struct doctor doctor;
    struct doctor_finding finding;
    char *expected =
        mem_printf("%s is writable and programs in it run", folder);

    (void)state;
    examine(folder, &doctor);
    finding = *find(&doctor, "workdir");
    assert_int_equal(finding.verdict, DOCTOR_OK);
    assert_string_equal(finding.text, expected);
    assert_int_equal(doctor.usable, 1);
    doctor_fini(&doctor);
    free(expected); /* and leave() can remove the folder: it is empty */
}

static void a_work_folder_that_cannot_be_made_names_the_remedy(void **state)
{
    struct doctor doctor;
    struct doctor_finding finding;

    (void)state;
    examine("/proc/no'thing", &doctor);
    finding = *find(&doctor, "workdir");
    assert_int_equal(finding.verdict, DOCTOR_FAILED);
    assert_string_equal(finding.text,
                        "the work folder cannot be created or written");
    assert_string_equal(finding.remedy,
                        "set workdir= in the hosts file to another folder");
    assert_int_equal(doctor.usable, 0);
    doctor_fini(&doctor);
}

/* As a sweep does. */
static void a_work_folder_that_a_shell_would_change_is_refused(void **state)
{
    struct doctor doctor;
    struct doctor_finding finding;
    char *path = mem_printf("%s/two words", folder);
    char *expected =
        mem_printf("the path %s has characters that a shell changes", path);

    (void)state;
    examine(path, &doctor);
    finding = *find(&doctor, "workdir");
    assert_int_equal(finding.verdict, DOCTOR_FAILED);
    assert_string_equal(finding.text, expected);
    assert_int_equal(doctor.usable, 0);
    doctor_fini(&doctor);
    assert_int_equal(rmdir(path), 0);
    free(expected);
    free(path);
}

static void a_home_folder_that_is_missing_is_not_made(void **state)
{
    struct doctor doctor;
    struct doctor_finding finding;
    char *was = mem_strdup(getenv("HOME") ? getenv("HOME") : "/");

    (void)state;
    assert_int_equal(setenv("HOME", "/nonexistent/fa", 1), 0);
    examine("~/work", &doctor);
    finding = *find(&doctor, "workdir");
    assert_int_equal(finding.verdict, DOCTOR_FAILED);
    assert_string_equal(finding.text,
                        "HOME is '/nonexistent/fa', which is no folder");
    assert_int_equal(access("/nonexistent", F_OK), -1);
    doctor_fini(&doctor);
    assert_int_equal(setenv("HOME", was, 1), 0);
    free(was);
}

/* nvcc of 'told', with this allow=. */
static void assert_nvcc(const char *told, const char *allow,
                        enum doctor_verdict verdict, const char *text)
{
    struct remote_options options = { .home = folder };
    struct doctor doctor = { 0 };
    struct hosts hosts;

    hosts_local(&hosts);
    snprintf(hosts.list[0].workdir, sizeof(hosts.list[0].workdir), "%s",
             folder);
    snprintf(hosts.list[0].nvcc, sizeof(hosts.list[0].nvcc), "%s", told);
    snprintf(hosts.list[0].allow, sizeof(hosts.list[0].allow), "%s", allow);
    doctor_host(&doctor, &hosts.list[0], &options);
    assert_int_equal(find(&doctor, "nvcc")->verdict, verdict);
    assert_non_null(strstr(find(&doctor, "nvcc")->text, text));
    doctor_fini(&doctor);
    hosts_fini(&hosts);
}

static void an_nvcc_of_the_home_folder_needs_allow(void **state)
{
    char *cuda = mem_printf("%s/cuda", folder);
    char *nvcc = mem_printf("%s/nvcc", cuda);
    char *home = mem_strdup(getenv("HOME"));
    FILE *file;

    (void)state;
    assert_int_equal(mkdir(cuda, 0700), 0);
    file = fopen(nvcc, "w");
    fputs("#!/bin/sh\necho Cuda compilation tools, release 12.4, V12.4.1\n",
          file);
    fclose(file);
    assert_int_equal(chmod(nvcc, 0700), 0);
    assert_nvcc(nvcc, "", DOCTOR_OK, "12.4");
    setenv("HOME", folder, 1);
    assert_nvcc(nvcc, "", DOCTOR_WARNING, "which builds do not see");
    assert_nvcc(nvcc, "~/other", DOCTOR_WARNING, "which builds do not see");
    assert_nvcc(nvcc, "~/other:~/cuda", DOCTOR_OK, "12.4");
    assert_nvcc(nvcc, cuda, DOCTOR_OK, "12.4");
    setenv("HOME", "/nonexistent/fa", 1);
    assert_nvcc(nvcc, "", DOCTOR_OK, "12.4");
    setenv("HOME", home, 1);
    assert_int_equal(unlink(nvcc) | rmdir(cuda), 0);
    free(home);
    free(nvcc);
    free(cuda);
}

static bool is_found(const struct doctor *doctor, const char *what)
{
    for (size_t i = 0; i < doctor->n; i++)
        if (strcmp(doctor->findings[i].what, what) == 0)
            return true;
    return false;
}

static void examine_for(const char *device, struct doctor *doctor)
{
    struct remote_options options = { .home = folder };
    struct hosts hosts;

    hosts_local(&hosts);
    snprintf(hosts.list[0].workdir, sizeof(hosts.list[0].workdir), "%s",
             folder);
    *doctor = (struct doctor){ .device = device };
    doctor_host(doctor, &hosts.list[0], &options);
    hosts_fini(&hosts);
}

static void only_what_the_device_needs_is_looked_for(void **state)
{
    static const struct {
        const char *device;
        bool nvcc, compiler, driver;
    } rows[] = {
        { NULL, true, true, true },
        { "cuda", true, true, true },
        { "cpu", false, true, false },
        { "replay", false, false, false },
    };
    struct doctor doctor;

    (void)state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        examine_for(rows[i].device, &doctor);
        assert_true(is_found(&doctor, "workdir"));
        assert_int_equal(is_found(&doctor, "nvcc"), rows[i].nvcc);
        assert_int_equal(is_found(&doctor, "compiler"), rows[i].compiler);
        assert_int_equal(is_found(&doctor, "driver"), rows[i].driver);
        doctor_fini(&doctor);
    }
}

/* Whether or not this machine has one. */
static void what_the_device_lacks_is_a_failure(void **state)
{
    struct doctor any, cuda;

    (void)state;
    examine_for(NULL, &any);
    examine_for("cuda", &cuda);
    assert_int_equal(find(&any, "driver")->verdict == DOCTOR_OK,
                     find(&cuda, "driver")->verdict == DOCTOR_OK);
    if (find(&any, "driver")->verdict != DOCTOR_OK) {
        assert_int_equal(find(&any, "driver")->verdict, DOCTOR_NOTE);
        assert_int_equal(find(&cuda, "driver")->verdict, DOCTOR_FAILED);
        assert_string_equal(find(&cuda, "driver")->remedy,
                            "name a machine with a GPU by --hosts");
        assert_int_equal(cuda.usable, 0);
    }
    doctor_fini(&any);
    doctor_fini(&cuda);
}

static void a_record_is_read(void **state)
{
    char *path = mem_printf("%s/one.json", folder);
    struct doctor doctor = { .device = "replay" };
    FILE *file;

    (void)state;
    doctor_record(&doctor, path);
    assert_int_equal(doctor.findings[0].verdict, DOCTOR_FAILED);
    assert_non_null(strstr(doctor.findings[0].text, "one.json"));
    doctor_fini(&doctor);
    file = fopen(path, "w");
    fputs("{\"device_name\": \"Test GPU\", \"kernel_name\": \"one\", "
          "\"tune_params\": {\"X\": [1]}, \"cache\": {\"1\": {\"X\": 1, "
          "\"time\": 1.0, \"times\": [1.0]}}}",
          file);
    fclose(file);
    doctor_record(&doctor, path);
    assert_int_equal(doctor.findings[0].verdict, DOCTOR_OK);
    assert_non_null(strstr(doctor.findings[0].text, "recorded on Test GPU"));
    doctor_fini(&doctor);
    assert_int_equal(unlink(path), 0);
    free(path);
}

static void two_home_folders_are_noted(void **state)
{
    const struct passwd *account = getpwuid(geteuid());
    struct remote_options options = { .home = folder };
    struct doctor doctor = { 0 };

    (void)state;
    if (!account || access(account->pw_dir, F_OK) < 0)
        skip();
    doctor_here(&doctor, &options);
    assert_int_equal(find(&doctor, "home")->verdict, DOCTOR_NOTE);
    assert_non_null(strstr(find(&doctor, "home")->text, folder));
    assert_non_null(strstr(find(&doctor, "home")->text, account->pw_dir));
    doctor_fini(&doctor);
    options.home = account->pw_dir;
    doctor = (struct doctor){ 0 };
    doctor_here(&doctor, &options);
    assert_false(is_found(&doctor, "home"));
    doctor_fini(&doctor);
}

static void a_key_that_others_may_read_is_a_warning(void **state)
{
    struct remote_options options = { .home = folder };
    struct doctor doctor = { 0 };
    char *ssh = mem_printf("%s/.ssh", folder);
    char *key = mem_printf("%s/id_ed25519", ssh);
    char *remedy = mem_printf("chmod 600 %s", key);
    FILE *file;

    (void)state;
    assert_int_equal(mkdir(ssh, 0700), 0);
    file = fopen(key, "w");
    fclose(file);
    assert_int_equal(chmod(key, 0644), 0);
    doctor_here(&doctor, &options);
    assert_int_equal(find(&doctor, "key")->verdict, DOCTOR_WARNING);
    assert_string_equal(find(&doctor, "key")->remedy, remedy);
    assert_int_equal(find(&doctor, "agent")->verdict, DOCTOR_NOTE);
    doctor_fini(&doctor);
    assert_int_equal(unlink(key) | rmdir(ssh), 0);
    free(remedy);
    free(key);
    free(ssh);
}

int main(void)
{
#define TEST(f) cmocka_unit_test_setup_teardown(f, enter, leave)
    const struct CMUnitTest tests[] = {
        TEST(a_good_work_folder_is_left_as_it_was),
        TEST(a_work_folder_that_cannot_be_made_names_the_remedy),
        TEST(a_work_folder_that_a_shell_would_change_is_refused),
        TEST(a_home_folder_that_is_missing_is_not_made),
        TEST(an_nvcc_of_the_home_folder_needs_allow),
        TEST(only_what_the_device_needs_is_looked_for),
        TEST(what_the_device_lacks_is_a_failure),
        TEST(a_record_is_read),
        TEST(two_home_folders_are_noted),
        TEST(a_key_that_others_may_read_is_a_warning),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
