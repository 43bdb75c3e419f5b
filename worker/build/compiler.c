#include "worker/build/compiler.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/device_kind.h"
#include "common/mem.h"
#include "worker/runner/sources.h"
#include "worker/store/build_dir.h"

static int add(struct compiler_line *line, const char *arg, struct err *err)
{
    if (line->n == COMPILER_ARGS_MAX)
        return err_set(err, ERR_INPUT, "more than %d arguments for a compiler",
                       COMPILER_ARGS_MAX);
    line->args[line->n++] = arg;
    return 0;
}

static int add_all(struct compiler_line *line, const char *const *args,
                   struct err *err)
{
    int rc = 0;

    for (; rc == 0 && *args; args++)
        rc = add(line, *args, err);
    return rc;
}

static char *own(struct compiler_line *line, char *text)
{
    line->owned[line->n_owned++] = text;
    return text;
}

static bool is_of(const char *text, const char *punctuation)
{
    for (const char *at = text; *at; at++)
        if (!isalnum((unsigned char)*at) && !strchr(punctuation, *at))
            return false;
    return text[0] != '\0';
}

static bool is_name(const char *text)
{
    return is_of(text, "_") && !isdigit((unsigned char)text[0]);
}

/* The oldest architecture that a release of nvcc builds for. */
static const struct {
    int release, arch;
} oldest[] = { { 13, 75 }, { 12, 50 } };

/* Otherwise nvcc says the same of each configuration, after a while and in
 * many lines. */
static int check_arch(const struct compiler_task *task, struct err *err)
{
    int release, arch;

    if (!is_of(task->arch, "_"))
        return err_set(err, ERR_INPUT, "arch '%s' is not like sm_89",
                       task->arch);
    if (sscanf(task->toolkit, "nvcc %d", &release) != 1 ||
        sscanf(task->arch, "sm_%d", &arch) != 1)
        return 0;
    for (size_t i = 0; i < sizeof(oldest) / sizeof(oldest[0]); i++)
        if (release >= oldest[i].release)
            return arch >= oldest[i].arch
                       ? 0
                       : err_set(err, ERR_INPUT,
                                 "%s cannot build for %s, only for sm_%d and "
                                 "later: install an older CUDA toolkit beside "
                                 "it, and name its nvcc by nvcc= in the hosts "
                                 "file",
                                 task->toolkit, task->arch, oldest[i].arch);
    return 0;
}

static int check(const struct compiler_task *task, struct err *err)
{
    if (!build_dir_is_name(task->source))
        return err_set(err, ERR_INPUT, "source '%s' is not a plain file name",
                       task->source);
    if (!is_name(task->entry))
        return err_set(err, ERR_INPUT, "entry '%s' is not a C identifier",
                       task->entry);
    if (!is_of(task->standard, "+"))
        return err_set(err, ERR_INPUT, "standard '%s' is not like c++17",
                       task->standard);
    if (check_arch(task, err) < 0)
        return ERR_INPUT;
    for (size_t i = 0; i < task->flags.n; i++)
        if (task->flags.items[i][0] != '-' ||
            !is_of(task->flags.items[i], "-_=+.,:/"))
            return err_set(err, ERR_INPUT,
                           "flag '%s' does not begin with '-', or has a "
                           "character that a shell might read",
                           task->flags.items[i]);
    return 0;
}

static int cubin(const struct compiler_task *task, struct compiler_line *line,
                 struct err *err)
{
    const char *const head[] = {
        task->compiler, "-cubin", own(line, mem_printf("-arch=%s", task->arch)),
        own(line, mem_printf("-std=%s", task->standard)), NULL
    };
    const char *const tail[] = { "-Xptxas",  "-v",
                                 "-include", "../gen/" COMPILER_PARAMS,
                                 "-I.",      task->source,
                                 "-o",       "../out/" COMPILER_OUTPUT,
                                 NULL };
    int rc = add_all(line, head, err);

    for (size_t i = 0; rc == 0 && i < task->flags.n; i++)
        rc = add(line, task->flags.items[i], err);
    return rc < 0 ? rc : add_all(line, tail, err);
}

/* Fill local variables with a pattern, so that none is zero by chance?  Where
 * the compiler can: g++ from 12 on, clang++ from 8 on. */
static bool fills_locals(const char *toolkit)
{
    int major;

    return (sscanf(toolkit, "g++ %d", &major) == 1 && major >= 12) ||
           (sscanf(toolkit, "clang++ %d", &major) == 1 && major >= 8);
}

/* g++ takes an extern array of shared memory in a template for one that needs a
 * constructor, and calls a function that nobody defines.  clang++ asks first
 * whether there is one, and does not know the flag. */
static const char *shared_flag(const char *toolkit)
{
    return strncmp(toolkit, "g++ ", 4) == 0 ? "-fno-extern-tls-init" : NULL;
}

/* A float that an integer cannot hold is converted as on a GPU: fa/casts.h. */
static const char *checks_flag(const char *toolkit)
{
    return fills_locals(toolkit) && strncmp(toolkit, "g++ ", 4) == 0
               ? "-fsanitize=alignment,bounds,object-size,float-cast-overflow"
               : "-fsanitize=alignment,bounds,object-size";
}

static const char *casts_flag(const char *toolkit)
{
    return fills_locals(toolkit) && strncmp(toolkit, "clang++ ", 8) == 0
               ? "-fno-strict-float-cast-overflow"
               : NULL;
}

/* Flags that decide how the text of a kernel is read, and so whether a compiled
 * header fits. */
static int add_dialect(struct compiler_line *line, const char *toolkit,
                       const char *standard, struct err *err)
{
    const char *const all[] = { "-O1",
                                own(line, mem_printf("-std=%s", standard)),
                                "-fPIC",
                                checks_flag(toolkit),
                                "-I.",
                                "-Ifa_cuda",
                                "-fno-omit-frame-pointer",
                                NULL };
    const char *const by_compiler[] = {
        fills_locals(toolkit) ? "-ftrivial-auto-var-init=pattern" : NULL,
        shared_flag(toolkit), casts_flag(toolkit)
    };
    int rc = add_all(line, all, err);

    for (size_t i = 0; rc == 0 && i < 3; i++)
        if (by_compiler[i])
            rc = add(line, by_compiler[i], err);
    return rc;
}

/* Of the flags, a host compiler understands only definitions as nvcc does. What
 * its checks call is in fa/checks.h, and not in a library. */
static int emulated(const struct compiler_task *task,
                    struct compiler_line *line, struct err *err)
{
    const char *const tail[] = { "-shared",
                                 "-nodefaultlibs",
                                 "-include",
                                 "fa/emulation.h",
                                 "-include",
                                 "../gen/" COMPILER_PARAMS,
                                 "-include",
                                 task->source,
                                 "../gen/" COMPILER_ENTRY,
                                 "-o",
                                 "../out/" COMPILER_OUTPUT,
                                 NULL };
    const char *const libraries[] = { "-lm", "-lgcc", "-lc", NULL };
    int rc = add(line, task->compiler, err);

    if (rc == 0)
        rc = add_dialect(line, task->toolkit, task->standard, err);
    for (size_t i = 0; rc == 0 && i < task->flags.n; i++)
        if (strncmp(task->flags.items[i], "-D", 2) == 0)
            rc = add(line, task->flags.items[i], err);
    if (rc == 0)
        rc = add_all(line, tail, err);
    return rc < 0 ? rc : add_all(line, libraries, err);
}

/* Nothing is compiled.  This program waits for the recorded time and returns
 * the record (record_build.h). The first flag is the speed-up. */
static int recorded(const struct compiler_task *task,
                    struct compiler_line *line, struct err *err)
{
    const char *const args[] = { "/proc/self/exe",
                                 "--record",
                                 "../gen/" COMPILER_PARAMS,
                                 "--artifact",
                                 "../out/" COMPILER_OUTPUT,
                                 "--speed-up",
                                 task->flags.n == 1 ? task->flags.items[0] : "",
                                 NULL };

    return add_all(line, args, err);
}

int compiler_kernel(const struct compiler_task *task,
                    struct compiler_line *line, struct err *err)
{
    int rc;

    memset(line, 0, sizeof(*line));
    if (device_kind_is(task->arch, DEVICE_KIND_REPLAY))
        return recorded(task, line, err);
    rc = check(task, err);
    if (rc < 0)
        return rc;
    return device_kind_is(task->arch, DEVICE_KIND_CPU)
               ? emulated(task, line, err)
               : cubin(task, line, err);
}

static bool ends_in(const char *text, const char *end)
{
    size_t len = strlen(text), n = strlen(end);

    return len >= n && strcmp(text + len - n, end) == 0;
}

/* g++ compiles a .c file as C++ unless a flag in front of each one prevents
 * it. */
static int add_units(struct compiler_line *line, unsigned device,
                     const char *end, struct err *err)
{
    bool nvcc = device & (RUNNER_CUDA | RUNNER_FACTS);
    bool tell = !nvcc && strcmp(end, ".c") == 0;
    int rc = 0;

    for (const struct runner_source *source = runner_sources;
         rc == 0 && source->path; source++) {
        if (!(source->devices & device) || !ends_in(source->path, end))
            continue;
        if (tell)
            rc = add_all(line, (const char *[]){ "-x", "c", NULL }, err);
        if (rc == 0)
            rc = add(line, source->path, err);
    }
    return rc;
}

static const char *const output[] = { "-o", "../out/" COMPILER_OUTPUT, NULL };

bool compiler_has_header(const char *toolkit)
{
    return strncmp(toolkit, "g++ ", 4) == 0;
}

/* Of the standard that most sweep files ask for; others read the text. "./" is
 * how the compiler will name the header, whose name checks can have in them. */
int compiler_header(const char *compiler, const char *toolkit,
                    struct compiler_line *line, struct err *err)
{
    int rc;

    memset(line, 0, sizeof(*line));
    rc = add(line, compiler, err);
    if (rc == 0)
        rc = add_dialect(line, toolkit, "c++17", err);
    if (rc == 0)
        rc = add_all(
            line,
            (const char *[]){ "-x", "c++-header", "./fa/emulation.h", NULL },
            err);
    return rc < 0 ? rc : add_all(line, output, err);
}

int compiler_facts(const char *compiler, struct compiler_line *line,
                   struct err *err)
{
    int rc;

    memset(line, 0, sizeof(*line));
    rc = add_all(line,
                 (const char *[]){ compiler, "-I.", "-D_GNU_SOURCE",
                                   "--threads=0", NULL },
                 err);
    if (rc == 0)
        rc = add_units(line, RUNNER_FACTS, ".c", err);
    if (rc == 0)
        rc = add(line, "-ldl", err);
    return rc < 0 ? rc : add_all(line, output, err);
}

int compiler_runner(const char *compiler, const char *device,
                    struct compiler_line *line, struct err *err)
{
    /* All cores compile fa-runner, a file each: hosts wait for it. */
    static const char *const cuda_flags[] = { "-arch=native", "--threads=0",
                                              NULL };
    static const char *const emulator[] = { "-Ikernels/include", "-rdynamic",
                                            NULL };
    unsigned which = sources_device(device);
    bool cuda = which == RUNNER_CUDA;
    int rc;

    memset(line, 0, sizeof(*line));
    add(line, compiler, err);
    add(line, "-O2", err);
    add(line, "-I.", err);
    add(line, "-D_GNU_SOURCE", err);
    if (cuda)
        rc = add_all(line, cuda_flags, err);
    else
        rc = add_all(line, emulator, err);
    if (rc == 0)
        rc = add_units(line, which, ".c", err);
    if (rc == 0 && !cuda)
        rc = add_all(line, (const char *[]){ "-x", "none", NULL }, err);
    if (rc == 0)
        rc = add_units(line, which, cuda ? ".cu" : ".cc", err);
    if (rc == 0 && !cuda)
        rc = add_all(line, (const char *[]){ "-lm", "-lpthread", NULL }, err);
    if (rc == 0)
        rc = add(line, "-ldl", err);
    return rc < 0 ? rc : add_all(line, output, err);
}

void compiler_fini(struct compiler_line *line)
{
    for (size_t i = 0; i < line->n_owned; i++)
        free(line->owned[i]);
}

/* A fixed environment, not the worker's: NVCC_PREPEND_FLAGS, CPATH and others
 * change a build.  The worker's PATH comes last, for a host compiler in an
 * unusual place. */
void compiler_env(const char *compiler, struct compiler_env *env)
{
    const char *base = strrchr(compiler, '/'), *path = getenv("PATH");
    size_t n = 0;

    env->path = mem_printf("PATH=%.*s:/usr/local/bin:/usr/bin:/bin%s%s",
                           (int)(base - compiler), compiler, path ? ":" : "",
                           path ? path : "");
    env->items[n++] = env->path;
    env->items[n++] = "LANG=C";
    env->items[n++] = "LC_ALL=C";
    env->items[n++] = "HOME=../tmp";
    env->items[n++] = "TMPDIR=../tmp";
    env->items[n] = NULL;
}

void compiler_env_fini(struct compiler_env *env)
{
    free(env->path);
}
