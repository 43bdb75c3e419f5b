#include "worker/build/build.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/clock.h"
#include "common/device_kind.h"
#include "common/mem.h"
#include "common/outcome.h"
#include "common/ptxas.h"
#include "worker/build/compiler.h"
#include "worker/build/compiler_output.h"
#include "worker/build/kernel_check.h"
#include "worker/build/kernel_names.h"
#include "worker/build/program.h"
#include "worker/process/child.h"
#include "worker/process/sandbox_policy.h"
#include "worker/runner/sources.h"
#include "worker/store/build_dir.h"

#define END_NS (5 * NS_PER_S) /* to kill it before its folder goes */

enum {
    DETAIL_MAX = 1024,
    NOT_EXECUTED = 127 /* child_start() */
};

struct build {
    struct build_tools tools;
    char key[HASH_HEX];
    char *entry, *source; /* NULL for fa-runner */
    struct signature_arguments arguments;
    bool cubin, recorded, emulated;
    int64_t started_ns, limit_ns;
    struct build_dir stage;
    struct child *child; /* NULL once ended */
    struct build_result result;
};

void build_result_fini(struct build_result *result)
{
    free(result->detail);
    free(result->log);
    memset(result, 0, sizeof(*result));
}

static void settle(struct build *build, enum outcome outcome,
                   const char *detail)
{
    free(build->result.detail);
    build->result.outcome = outcome;
    build->result.detail = mem_strdup(detail);
    if (!build->result.log)
        build->result.log = mem_strdup("");
}

/* Stops a runaway template before the machine runs out of memory. */
static uint64_t memory_limit(void)
{
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE) /
           4 * 3;
}

/* A source can include any file that the compiler sees. */
static int run(struct build *build, const struct compiler_line *line,
               int64_t now_ns, struct err *err)
{
    struct sandbox *sandbox;
    struct compiler_env env;
    char folder[PATH_MAX];
    int rc = build_dir_path(&build->stage, "src", folder, err);

    if (rc < 0)
        return rc;
    sandbox = sandbox_policy_copy(build->tools.sandbox);
    if (sandbox)
        (void)sandbox_set(sandbox, build->stage.path, SANDBOX_WRITE);
    compiler_env(build->tools.compiler, &env);
    rc = child_start(
        &(struct child_spec){
            .argv = line->args,
            .env = env.items,
            .folder = folder,
            .sandbox = sandbox,
            .limit_ns = build->limit_ns,
            /* This program itself replays a record; there is no compiler. */
            .memory_bytes = build->recorded ? 0 : memory_limit(),
        },
        now_ns, &build->child, err);
    compiler_env_fini(&env);
    sandbox_free(sandbox);
    return rc;
}

static bool found_in_cache(struct build *build)
{
    struct buf log;

    buf_init(&log, BUILD_LOG_MAX);
    build->result.cached =
        cache_lookup(build->tools.cache, build->key, build->tools.toolkit,
                     &build->result.made, &log);
    if (build->result.cached) {
        build->result.log = mem_strdup(buf_text(&log));
        settle(build, OUTCOME_BUILT, "");
    }
    buf_fini(&log);
    return build->result.cached;
}

static struct build *build_new(const struct build_tools *tools, const char *key,
                               int64_t limit_ns, int64_t now_ns)
{
    struct build *build = mem_new(1, sizeof(*build));

    build->tools = *tools;
    memcpy(build->key, key, strlen(key) + 1);
    build->started_ns = now_ns;
    build->limit_ns = limit_ns > 0 ? limit_ns : BUILD_LIMIT_NS;
    build->result.made = (struct cache_build){ .registers = -1,
                                               .spill_bytes = -1,
                                               .static_smem = -1 };
    return build;
}

static int write_job(const struct build_dir *build_dir,
                     const struct build_job *job, struct err *err)
{
    char *entry = mem_printf("FA_EMULATION_ENTRY(%s)\n", job->entry);
    int rc = build_dir_write(build_dir, "gen", COMPILER_PARAMS, job->header,
                             strlen(job->header), err);

    if (rc == 0 && device_kind_is(job->arch, DEVICE_KIND_CPU))
        rc = build_dir_write(build_dir, "gen", COMPILER_ENTRY, entry,
                             strlen(entry), err);
    free(entry);
    for (size_t i = 0; rc == 0 && i < job->names.n; i++)
        rc = build_dir_write(build_dir, "src", job->names.items[i],
                             job->contents.items[i].data,
                             job->contents.items[i].len, err);
    return rc;
}

/* Without it, the build takes longer. */
static void place_header(const struct build *build, const struct build_job *job)
{
    const char *header = build->tools.header;
    char from[PATH_MAX], to[PATH_MAX];

    if (header && header[0] && device_kind_is(job->arch, DEVICE_KIND_CPU) &&
        program_header_comes_with(&job->names, &job->contents) &&
        cache_path(build->tools.cache, header, from) &&
        build_dir_path(&build->stage, "src/" COMPILER_HEADER, to, NULL) == 0)
        (void)!link(from, to);
}

static int start_job(struct build *build, const struct build_job *job,
                     int64_t now_ns, struct err *err)
{
    struct compiler_task task = {
        .compiler = build->tools.compiler,
        .toolkit = build->tools.toolkit,
        .source = job->source,
        .entry = job->entry,
        .standard = job->standard,
        .arch = job->arch,
        .flags = job->flags,
    };
    struct compiler_line line;
    int rc = compiler_kernel(&task, &line, err);

    if (rc == 0)
        rc = build_dir_open(cache_dir(build->tools.cache), &build->stage, err);
    if (rc == 0)
        rc = write_job(&build->stage, job, err);
    if (rc == 0) {
        place_header(build, job);
        rc = run(build, &line, now_ns, err);
    }
    compiler_fini(&line);
    return rc;
}

struct build *build_start(const struct build_tools *tools,
                          const struct build_job *job, int64_t now_ns)
{
    bool fine = hash_is_hex(job->key) && job->names.n == job->contents.n;
    struct build *build =
        build_new(tools, fine ? job->key : "", job->limit_ns, now_ns);
    bool read = signature_read(&job->arguments, &build->arguments);
    struct err err;
    int rc;

    build->cubin = strncmp(job->arch, "sm_", 3) == 0;
    build->recorded = device_kind_is(job->arch, DEVICE_KIND_REPLAY);
    build->emulated = device_kind_is(job->arch, DEVICE_KIND_CPU);
    build->entry = mem_strdup(job->entry);
    build->source = mem_strdup(job->source);
    if (!fine || !read) {
        settle(build, OUTCOME_COMPILE,
               "the build request has a build key that is not a hash, a file "
               "without contents, or an argument that is not 'NAME BYTES'");
        return build;
    }
    if (found_in_cache(build))
        return build;
    rc = start_job(build, job, now_ns, &err);
    if (rc < 0)
        settle(build, rc == ERR_INPUT ? OUTCOME_COMPILE : OUTCOME_CRASH,
               err.text);
    return build;
}

static int compile_program(struct build *build, const struct program *program,
                           int64_t now_ns, struct err *err)
{
    int rc = build_dir_open(cache_dir(build->tools.cache), &build->stage, err);

    if (rc == 0)
        rc = program_write(program, &build->stage, err);
    return rc < 0 ? rc : run(build, program->line, now_ns, err);
}

/* 'rc' and 'err' are of the command line. */
static struct build *start_program(const struct build_tools *tools,
                                   const struct program *program, int rc,
                                   struct err *err, int64_t now_ns)
{
    struct build *build;
    char key[HASH_HEX];

    program_key(program, tools->toolkit, key);
    build = build_new(tools, key, 0, now_ns);
    if (rc < 0 || (!found_in_cache(build) &&
                   compile_program(build, program, now_ns, err) < 0))
        settle(build, OUTCOME_CRASH, err->text);
    return build;
}

struct build *build_start_runner(const struct build_tools *tools,
                                 const char *device, int64_t now_ns)
{
    struct compiler_line line;
    struct err err;
    int rc = compiler_runner(tools->compiler, device, &line, &err);
    struct build *build = start_program(
        tools,
        &(struct program){ "fa-runner", "", sources_device(device), &line }, rc,
        &err, now_ns);

    compiler_fini(&line);
    return build;
}

struct build *build_start_facts(const struct build_tools *tools, int64_t now_ns)
{
    struct compiler_line line;
    struct err err;
    int rc = compiler_facts(tools->compiler, &line, &err);
    struct build *build = start_program(
        tools, &(struct program){ "fa-facts", "", RUNNER_FACTS, &line }, rc,
        &err, now_ns);

    compiler_fini(&line);
    return build;
}

struct build *build_start_header(const struct build_tools *tools,
                                 int64_t now_ns)
{
    struct compiler_line line;
    struct err err;
    int rc = compiler_header(tools->compiler, tools->toolkit, &line, &err);
    struct build *build =
        start_program(tools,
                      &(struct program){ "header", SOURCES_HEADER_ROOT,
                                         RUNNER_HEADER, &line },
                      rc, &err, now_ns);

    compiler_fini(&line);
    return build;
}

void build_free(struct build *build)
{
    if (!build)
        return;
    if (build->child)
        child_finish(build->child, END_NS);
    build_dir_close(&build->stage);
    build_result_fini(&build->result);
    free(build->entry);
    free(build->source);
    free(build);
}

size_t build_poll(const struct build *build, struct pollfd *fds, size_t max)
{
    return build->child ? child_poll(build->child, fds, max) : 0;
}

int64_t build_deadline_ns(const struct build *build)
{
    return build->child ? child_deadline_ns(build->child) : INT64_MAX;
}

/* A staged file in memory; NULL if it cannot be read. */
static void *map_file(const struct build *build, const char *folder,
                      const char *name, size_t *len)
{
    char *below = mem_printf("%s/%s", folder, name), path[PATH_MAX];
    void *bytes = MAP_FAILED;
    struct stat stat;
    int fd = -1;

    if (build_dir_path(&build->stage, below, path, NULL) == 0)
        fd = open(path, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);
    if (fd >= 0 && fstat(fd, &stat) == 0 && stat.st_size > 0) {
        *len = (size_t)stat.st_size;
        bytes = mmap(NULL, *len, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (fd >= 0)
        close(fd);
    free(below);
    return bytes == MAP_FAILED ? NULL : bytes;
}

/* Not for its values: the sweep file has another kernel, or other arguments. */
static void settle_unfit(struct build *build, const char *why)
{
    settle(build, OUTCOME_COMPILE, why);
    build->result.unfit = true;
}

static void settle_missing_entry(struct build *build)
{
    struct buf names, why;
    size_t len;
    void *source = map_file(build, "src", build->source, &len);

    buf_init(&names, DETAIL_MAX / 2);
    buf_init(&why, DETAIL_MAX);
    if (source) {
        kernel_names_of_source(source, len, &names);
        munmap(source, len);
    }
    kernel_check_say_missing(build->entry, build->source, buf_text(&names),
                             &why);
    settle_unfit(build, buf_text(&why));
    buf_fini(&why);
    buf_fini(&names);
}

/* Somebody has removed the work folder: what the compiler misses is not missing
 * from the source. */
static bool lost_its_folder(struct build *build)
{
    char path[PATH_MAX];
    struct err err;

    if (build_dir_path(&build->stage, "src", path, &err) < 0 ||
        access(path, F_OK) == 0)
        return false;
    err_set(&err, ERR_SYSTEM, "'%s': %s", cache_dir(build->tools.cache),
            strerror(errno));
    settle(build, OUTCOME_CRASH, err.text);
    return true;
}

/* The tunables were written to a file, which ends with a line. */
static bool settle_collision(struct build *build, const char *first)
{
    size_t len;
    void *bytes = map_file(build, "gen", COMPILER_PARAMS, &len);
    char *header;
    struct buf why;
    bool collides;

    if (!bytes)
        return false;
    header = mem_printf("%.*s", (int)len, (const char *)bytes);
    munmap(bytes, len);
    buf_init(&why, DETAIL_MAX);
    collides = compiler_output_collides(first, header, &why);
    if (collides)
        settle(build, OUTCOME_COMPILE, buf_text(&why));
    buf_fini(&why);
    free(header);
    return collides;
}

static bool settle_what_needs_nvcc(struct build *build, const char *first)
{
    struct buf why;
    bool needs_nvcc;

    buf_init(&why, DETAIL_MAX);
    needs_nvcc = build->emulated && compiler_output_needs_nvcc(first, &why);
    if (needs_nvcc)
        settle(build, OUTCOME_COMPILE, buf_text(&why));
    buf_fini(&why);
    return needs_nvcc;
}

static void settle_failed(struct build *build, const char *first)
{
    char end[CHILD_END_BYTES];

    if (lost_its_folder(build) || settle_collision(build, first) ||
        settle_what_needs_nvcc(build, first))
        return;
    if (strncmp(first, "../gen/" COMPILER_ENTRY,
                strlen("../gen/" COMPILER_ENTRY)) == 0) {
        settle_missing_entry(build);
    } else if (child_end(build->child)->status == NOT_EXECUTED) {
        settle(build, OUTCOME_CRASH, build->result.log);
    } else {
        child_end_text(child_end(build->child), end);
        settle(build, OUTCOME_COMPILE,
               first[0]          ? first
               : build->recorded ? build->result.log
                                 : end);
    }
}

static void keep_artifact(struct build *build)
{
    struct cache_build *made = &build->result.made;
    bool executable = !build->entry;
    char path[PATH_MAX];
    struct err err;
    int rc = build_dir_path(&build->stage, "out/" COMPILER_OUTPUT, path, &err);

    if (rc == 0)
        rc = cache_take(build->tools.cache, path, executable, made->artifact,
                        &made->bytes, &err);
    if (rc == 0)
        rc =
            cache_remember(build->tools.cache, build->key, build->tools.toolkit,
                           made, build->result.log, &err);
    settle(build, rc == 0 ? OUTCOME_BUILT : OUTCOME_CRASH,
           rc == 0 ? "" : err.text);
}

/* Is the artifact the kernel that was asked for?  Without an artifact the next
 * step says what is missing. */
static bool check_kernel(struct build *build)
{
    const struct kernel_check want = {
        .entry = build->entry,
        .source = build->source,
        .kind = build->cubin ? KERNEL_NAMES_CUBIN : KERNEL_NAMES_EMULATED,
        .arguments = &build->arguments,
    };
    enum kernel_check_answer answer = KERNEL_CHECK_FITS;
    size_t len;
    void *bytes = map_file(build, "out", COMPILER_OUTPUT, &len);
    struct buf why;

    buf_init(&why, DETAIL_MAX);
    if (bytes) {
        answer = kernel_check(&want, bytes, len, &why);
        munmap(bytes, len);
    }
    if (answer == KERNEL_CHECK_WRONG) {
        settle_unfit(build, buf_text(&why));
    } else if (answer == KERNEL_CHECK_UNKNOWN) {
        char *log = mem_printf("%s\n%s", buf_text(&why), build->result.log);

        free(build->result.log);
        build->result.log = log;
    }
    buf_fini(&why);
    return answer != KERNEL_CHECK_WRONG;
}

static void settle_done(struct build *build, const char *output)
{
    bool kernel = build->entry && !build->recorded;

    if (kernel && build->cubin) {
        struct ptxas_use use = ptxas_use(output, build->entry);

        if (use.registers > 0) { /* else nothing is said of the entry */
            build->result.made.registers = use.registers;
            build->result.made.spill_bytes = use.spill_stores + use.spill_loads;
            build->result.made.static_smem = use.static_smem;
        }
    }
    if (!kernel || check_kernel(build))
        keep_artifact(build);
}

static void settle_limit(struct build *build)
{
    char *detail =
        mem_printf("the compiler was still running after %" PRId64 " s",
                   build->limit_ns / NS_PER_S);

    settle(build, OUTCOME_TIMEOUT, detail);
    free(detail);
}

/* The compiler has ended: read its output and its files. */
static void judge(struct build *build)
{
    const struct child_end *end = child_end(build->child);
    struct buf output, log, first;
    char text[CHILD_END_BYTES];

    buf_init(&output, 2 * (CAPTURE_HEAD + CAPTURE_TAIL + 64));
    buf_init(&log, BUILD_LOG_MAX);
    buf_init(&first, DETAIL_MAX);
    capture_text(child_stderr(build->child), &output);
    capture_text(child_stdout(build->child), &output);
    compiler_output_text(buf_text(&output), &log, &first);
    build->result.log = mem_strdup(buf_text(&log));
    if (end->timed_out) {
        settle_limit(build);
    } else if (!end->exited || compiler_output_was_killed(buf_text(&output))) {
        child_end_text(end, text);
        settle(build, OUTCOME_CRASH, first.len > 0 ? first.bytes : text);
    } else if (end->status != 0) {
        settle_failed(build, buf_text(&first));
    } else {
        settle_done(build, buf_text(&output));
    }
    buf_fini(&output);
    buf_fini(&log);
    buf_fini(&first);
}

bool build_step(struct build *build, int64_t now_ns)
{
    if (!build->child)
        return true;
    switch (child_step(build->child, now_ns)) {
    case CHILD_RUNNING:
    case CHILD_STOPPING:
        return false;
    case CHILD_STUCK:
        settle(build, OUTCOME_CRASH, "the compiler cannot be killed");
        break;
    case CHILD_ENDED:
        judge(build);
        break;
    }
    build->result.seconds = (double)(now_ns - build->started_ns) / 1e9;
    child_free(build->child);
    build->child = NULL;
    build_dir_close(&build->stage);
    return true;
}

void build_kill(struct build *build, int64_t now_ns)
{
    if (build->child)
        child_kill(build->child, now_ns);
}

void build_take_result(struct build *build, struct build_result *out)
{
    *out = build->result;
    memset(&build->result, 0, sizeof(build->result));
}
