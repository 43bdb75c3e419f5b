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

enum {
    PATH_BYTES = 400
};

/* as the worker builds */
#ifdef __clang__
#define SHARED_FLAG
#define CASTS_FLAG "-fno-strict-float-cast-overflow",
#else
#define SHARED_FLAG "-fno-extern-tls-init",
#define CASTS_FLAG "-fsanitize=float-cast-overflow",
#endif

static const char includes[] = "-I" FA_SOURCE_DIR "/kernels/include";
static const char cuda[] = "-I" FA_SOURCE_DIR "/kernels/include/fa_cuda";

/* The child of fork(), its stderr to 'said' unless that is -1. */
static void run(const char *const *argv, int said)
{
    if (said >= 0)
        dup2(said, STDERR_FILENO);
    execvp(argv[0], (char *const *)argv);
    _exit(127);
}

static int exit_status(pid_t pid)
{
    int status;

    if (pid < 0 || waitpid(pid, &status, 0) < 0 || !WIFEXITED(status))
        return -1;
    return WEXITSTATUS(status);
}

int fixture_command(const char *const *argv)
{
    const pid_t pid = fork();

    if (pid == 0)
        run(argv, -1);
    return exit_status(pid);
}

int fixture_said(const char *const *argv, char *text, size_t size)
{
    size_t len = 0;
    ssize_t n = 1;
    int ends[2];
    pid_t pid;

    assert_int_equal(pipe(ends), 0);
    pid = fork();
    if (pid == 0)
        run(argv, ends[1]);
    close(ends[1]);
    while (n > 0) { /* what does not fit is read all the same */
        char part[4096];
        size_t kept;

        n = read(ends[0], part, sizeof(part));
        kept = n > 0 ? (size_t)n : 0;
        if (kept > size - 1 - len)
            kept = size - 1 - len;
        memcpy(text + len, part, kept);
        len += kept;
    }
    text[len] = '\0';
    close(ends[0]);
    return exit_status(pid);
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

static void absolute(const char *source, char path[PATH_BYTES])
{
    snprintf(path, PATH_BYTES, "%s%s%s", source[0] == '/' ? "" : FA_SOURCE_DIR,
             source[0] == '/' ? "" : "/", source);
}

bool fixture_builds(const char *name, const char *source, const char *entry,
                    const char *params)
{
    char header[PATH_BYTES], unit[PATH_BYTES], object[PATH_BYTES];
    char path[PATH_BYTES];

    snprintf(header, sizeof(header), "%s/%s.h", FOLDER, name);
    snprintf(unit, sizeof(unit), "%s/%s.cc", FOLDER, name);
    snprintf(object, sizeof(object), "%s/%s.so", FOLDER, name);
    write_file(header, "%s", params);
    absolute(source, path);
    write_file(unit, "#include \"%s\"\nFA_EMULATION_ENTRY(%s)\n", path, entry);
    return fixture_command((const char *[]){ "c++",
                                             "-O1",
                                             "-std=c++17",
                                             "-shared",
                                             "-fPIC",
                                             "-x",
                                             "c++",
                                             "-fno-omit-frame-pointer",
                                             includes,
                                             cuda,
                                             SHARED_FLAG CASTS_FLAG
                                             "-nodefaultlibs",
                                             "-include",
                                             "fa/emulation.h",
                                             "-include",
                                             header,
                                             unit,
                                             "-o",
                                             object,
                                             "-lm",
                                             "-lgcc",
                                             "-lc",
                                             NULL }) == 0;
}

struct device_kernel *fixture_load(const char *name, const char *source,
                                   const char *entry, const char *params)
{
    assert_true(fixture_builds(name, source, entry, params));
    return fixture_load_again(name);
}

struct device_kernel *fixture_load_again(const char *name)
{
    struct device_kernel *kernel = NULL;
    struct device_err err = { .text = "" };
    char object[PATH_BYTES];

    snprintf(object, sizeof(object), "%s/%s.so", FOLDER, name);
    if (device_load(NULL, object, "", &kernel, &err) < 0)
        fail_msg("%s", err.text);
    return kernel;
}

void fixture_remove(const char *name)
{
    char object[PATH_BYTES];

    snprintf(object, sizeof(object), "%s/%s.so", FOLDER, name);
    assert_int_equal(remove(object), 0);
}

bool fixture_builds_for_gpu(const char *name, const char *source,
                            const char *params)
{
#ifdef FA_NVCC_PATH
    char header[PATH_BYTES], path[PATH_BYTES], object[PATH_BYTES];

    snprintf(header, sizeof(header), "%s/%s.gpu.h", FOLDER, name);
    absolute(source, path);
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
