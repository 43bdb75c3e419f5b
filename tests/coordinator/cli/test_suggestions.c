/* Wherever a user names something, a misspelt name is answered with the one
 * that is spelt like it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/buf.h"
#include "tests/coordinator/result/report_fixture.h"
#include "tests/coordinator/store/store_fixture.h"

#define PROGRAM FA_BINARY_DIR "/bin/fa-coord"
#define TEXT_MAX 65536
#define WORDS_MAX 8

#define MEANT(name) "did you mean '" name "'?"

static char *sweep =
    (char *)(uintptr_t)(FA_SOURCE_DIR "/kernels/vector_add/sweep.json");
static char *source =
    (char *)(uintptr_t)(FA_SOURCE_DIR "/kernels/vector_add/vector_add.cu");

/* In 'words', DB is the database of the fixture, SWEEP a sweep file, and SOURCE
 * a kernel. */
static const struct row {
    int code;
    const char *words[WORDS_MAX];
    const char *says;
} rows[] = {
    /* commands, flags, and the defaults of flags */
    { 2, { "swep" }, MEANT("sweep") },
    { 2, { "help", "reprot" }, MEANT("report") },
    { 2, { "check", "--jsno" }, MEANT("--json") },
    /* words of flags */
    { 2, { "check", "--device", "cdua", "SWEEP" }, MEANT("cuda") },
    { 2, { "space", "--device", "cup", "SWEEP" }, MEANT("cpu") },
    { 2, { "doctor", "--device", "reply=x" }, MEANT("replay") },
    { 2, { "sweep", "--device", "cdua", "SWEEP" }, MEANT("cuda") },
    { 2, { "sweep", "--ssh", "opensh", "SWEEP" }, MEANT("openssh") },
    { 2, { "sweep", "--strategy", "bays", "SWEEP" }, MEANT("bayes") },
    { 2, { "completion", "zhs" }, MEANT("zsh") },
    { 2, { "export", "--format", "jsn", "DB" }, MEANT("json") },
    { 2, { "init", "--template", "stensil", "x" }, MEANT("stencil") },
    { 2,
      { "init", "--from", "SOURCE", "--entry", "vectro_add" },
      MEANT("vector_add") },
    /* names of a sweep */
    { 2, { "report", "--show", "rankin", "DB" }, MEANT("ranking") },
    { 2, { "report", "--where", "medain_s < 1", "DB" }, MEANT("median_s") },
    { 2, { "export", "--shape", "n16", "DB" }, MEANT("n16m") },
    { 2, { "explain", "DB", "BLOK_SIZE=64,VECTOR=true" }, MEANT("BLOCK_SIZE") },
    { 2, { "explain", "DB", "thraeds" }, MEANT("threads") },
    { 2,
      { "explain", "DB", "x.db" },
      "is a database; name a configuration too" },
    { 2, { "explain", "DB", "threads" }, "is a name of the sweep file" },
    { 2, { "explain", "DB", "VECTR" }, MEANT("VECTOR") },
    /* values of tunables, and other texts of a sweep */
    { 2, { "explain", "DB", "BLOCK_SIZE=64,VECTOR=ture" }, MEANT("true") },
    { 0,
      { "explain", "DB", "BLOCK_SIZE=65,VECTOR=true" },
      "the sweep has no BLOCK_SIZE=65; it has 64, 128, 256, 512" },
    { 0,
      { "report", "--where", "outcome = 'corect'", "DB" },
      "no configuration has 'corect'; " MEANT("correct") },
};

static char *word_of(const char *word, char *db)
{
    if (strcmp(word, "DB") == 0)
        return db;
    if (strcmp(word, "SWEEP") == 0)
        return sweep;
    if (strcmp(word, "SOURCE") == 0)
        return source;
    return (char *)(uintptr_t)word;
}

/* Returns the exit code; 'out' gets both streams. */
static int run(const struct row *row, char *db, struct buf *out)
{
    char *argv[WORDS_MAX + 2] = { (char *)(uintptr_t) "fa-coord" };
    char chunk[4096];
    int ends[2], status;
    ssize_t n;
    pid_t pid;

    for (size_t i = 0; i < WORDS_MAX && row->words[i]; i++)
        argv[i + 1] = word_of(row->words[i], db);
    assert_int_equal(pipe(ends), 0);
    pid = fork();
    if (pid == 0) {
        dup2(ends[1], 1);
        dup2(ends[1], 2);
        close(ends[0]);
        close(ends[1]);
        execv(PROGRAM, argv);
        _exit(127);
    }
    close(ends[1]);
    while ((n = read(ends[0], chunk, sizeof(chunk))) > 0)
        buf_add(out, chunk, (size_t)n);
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void a_misspelt_name_is_answered_with_the_right_one(void **state)
{
    char *db = *state;

    store_close(report_fixture(db));
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct buf out;
        int code;

        buf_init(&out, TEXT_MAX);
        code = run(&rows[i], db, &out);
        if (code != rows[i].code || !strstr(buf_text(&out), rows[i].says))
            print_error("%s %s: exit %d, without \"%s\":\n%s\n",
                        rows[i].words[0], rows[i].words[1], code, rows[i].says,
                        buf_text(&out));
        assert_int_equal(code, rows[i].code);
        assert_non_null(strstr(buf_text(&out), rows[i].says));
        buf_fini(&out);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(
            a_misspelt_name_is_answered_with_the_right_one, fixture_setup,
            fixture_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
