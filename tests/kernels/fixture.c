#include "tests/kernels/fixture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define FOLDER FA_BINARY_DIR "/tests/kernels"

static const char includes[] = "-I" FA_SOURCE_DIR "/kernels/include";

int fixture_command(const char *const *argv)
{
    int status;
    const pid_t pid = fork();

    if (pid == 0) {
        execvp(argv[0], (char *const *)argv);
        _exit(127);
    }
    if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

static void write_file(const char *path, const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

static void write_file(const char *path, const char *fmt, ...)
{
    FILE *file;
    va_list ap;

    (void)mkdir(FOLDER, 0755); /* there already, or fopen says so */
    file = fopen(path, "w");
    assert_non_null(file);
    va_start(ap, fmt);
    vfprintf(file, fmt, ap);
    va_end(ap);
    assert_int_equal(fclose(file), 0);
}

bool fixture_builds(const char *name, const char *source, const char *entry,
                    const char *params)
{
    char header[400], unit[400], object[400];

    snprintf(header, sizeof(header), "%s/%s.h", FOLDER, name);
    snprintf(unit, sizeof(unit), "%s/%s.cc", FOLDER, name);
    snprintf(object, sizeof(object), "%s/%s.so", FOLDER, name);
    write_file(header, "%s", params);
    write_file(unit, "#include \"%s/%s\"\nFA_EMULATION_ENTRY(%s)\n",
               FA_SOURCE_DIR, source, entry);
    return fixture_command((const char *[]){
               "c++", "-O1", "-std=c++17", "-shared", "-fPIC", "-x", "c++",
               includes, "-include", "fa/emulation.h", "-include", header, unit,
               "-o", object, NULL }) == 0;
}

struct device_kernel *fixture_load(const char *name, const char *source,
                                   const char *entry, const char *params)
{
    struct device_kernel *kernel = NULL;
    struct device_err err = { .text = "" };
    char object[400];

    assert_true(fixture_builds(name, source, entry, params));
    snprintf(object, sizeof(object), "%s/%s.so", FOLDER, name);
    if (device_load(NULL, object, entry, &kernel, &err) < 0)
        fail_msg("%s", err.text);
    return kernel;
}

bool fixture_builds_for_gpu(const char *name, const char *source,
                            const char *params)
{
#ifdef FA_NVCC_PATH
    char header[400], path[400], object[400];

    snprintf(header, sizeof(header), "%s/%s.gpu.h", FOLDER, name);
    snprintf(path, sizeof(path), "%s/%s", FA_SOURCE_DIR, source);
    snprintf(object, sizeof(object), "%s/%s.cubin", FOLDER, name);
    write_file(header, "%s", params);
    return fixture_command((const char *[]){
               FA_NVCC_PATH, "-cubin", "-arch=sm_89", "-std=c++17", includes,
               "-include", header, path, "-o", object, NULL }) == 0;
#else
    (void)name;
    (void)source;
    (void)params;
    return true;
#endif
}

struct device_buffer *fixture_buffer(const char *name, enum element_type type,
                                     int64_t count)
{
    struct device_buffer *buffer = NULL;
    struct device_err err = { .text = "" };

    if (device_alloc(NULL, name, type, count, &buffer, &err) < 0)
        fail_msg("%s", err.text);
    return buffer;
}
