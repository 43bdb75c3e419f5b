/* test_files.c - F10: a damaged database file, and a damaged log beside it
 *
 *     test_damage_files [COUNT [SEED]]
 *
 * A reader answers as from the sound database, or refuses in one line; 'verify'
 * and 'recover' end, too.  SQLite reads its log up to the damage, as after a
 * power loss, so there the answer may be that of an earlier commit.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/mem.h"
#include "coordinator/inspect/recover.h"
#include "coordinator/stats/prng.h"
#include "coordinator/store/store.h"
#include "tests/coordinator/result/confirmation_fixture.h"
#include "tests/coordinator/store/store_fixture.h"
#include "tests/damage/answers.h"

#define PAGE 4096
#define COMMITS 3
#define RECOVER_EVERY 8

static int count = 160;
static uint64_t seed = 1;

/* A file of 'len' bytes, and room for one page more. */
struct file {
    char *at;
    size_t len;
};

static void scribble(struct prng *prng, char *at, size_t n)
{
    for (size_t i = 0; i < n; i++)
        at[i] = (char)prng_next(prng);
}

/* Do one kind of damage to the bytes; its name. */
static const char *damage(struct prng *prng, struct file *file)
{
    size_t pages = file->len / PAGE;
    size_t at = prng_below(prng, file->len);
    size_t n = 1 + prng_below(prng, 512);
    char *page = file->at + prng_below(prng, pages) * PAGE;

    switch (prng_below(prng, 7)) {
    case 0:
        file->len = at;
        return "truncated";
    case 1:
        file->len = at / PAGE * PAGE;
        return "truncated at a page";
    case 2:
        memset(page, 0, PAGE);
        return "a page of zeros";
    case 3:
        scribble(prng, page, PAGE);
        return "a page of garbage";
    case 4:
        scribble(prng, file->at + file->len, PAGE);
        file->len += PAGE;
        return "garbage behind the end";
    case 5:
        file->at[at] = (char)(file->at[at] ^ 1 << prng_below(prng, 8));
        return "a flipped bit";
    default:
        scribble(prng, file->at + at, n < file->len - at ? n : file->len - at);
        return "garbage inside";
    }
}

static struct file copy_of(const struct file *bytes)
{
    struct file copy = { mem_new(bytes->len + PAGE, 1), bytes->len };

    memcpy(copy.at, bytes->at, bytes->len);
    return copy;
}

static struct file read_bytes(const char *path)
{
    struct file bytes;

    bytes.at = answers_read(path, &bytes.len);
    return bytes;
}

/* The copy is sound, or it was not made. */
static void recover_it(const char *path)
{
    char *to = mem_printf("%s.copy", path);
    struct store *from, *copy;
    struct recover recover;
    struct err err = { "" };

    if (store_open(path, STORE_DAMAGED, &from, &err) == 0) {
        copy = fixture_open(to, STORE_CREATE);
        if (recover_run(from, copy, &recover, &err) < 0)
            fail_msg("%s", err.text);
        store_close(from);
        store_close(copy);
        assert_int_equal(answers_found(to), 0);
    }
    answers_remove(to);
    free(to);
}

/* 1: refused.  Otherwise the answers are among those. */
static int look(const char *path, char *const *sound, size_t n, int trial,
                const char *what)
{
    struct err err = { "" };
    char *answers = answers_of(path, &err);
    bool known = !answers;

    for (size_t i = 0; answers && i < n; i++)
        known = known || strcmp(answers, sound[i]) == 0;
    if (!known)
        fail_msg("%s (%d): another answer in silence", what, trial);
    if (!answers && (err.text[0] == '\0' || strchr(err.text, '\n')))
        fail_msg("%s (%d): '%s' is no message", what, trial, err.text);
    free(answers);
    return !answers;
}

static void a_damaged_file_gives_no_other_answer(void **state)
{
    struct file sound;
    struct prng prng;
    struct err err = { "" };
    char *answers;
    int refused = 0;

    answers_make(*state);
    sound = read_bytes(*state);
    answers = answers_of(*state, &err);
    assert_non_null(answers);
    prng_init(&prng, seed);
    for (int i = 0; i < count; i++) {
        struct file hurt = copy_of(&sound);
        const char *what = damage(&prng, &hurt);

        answers_remove(*state);
        answers_write(*state, hurt.at, hurt.len);
        free(hurt.at);
        refused += look(*state, &answers, 1, i, what);
        (void)answers_found(*state);
        if (i % RECOVER_EVERY == 0)
            recover_it(*state);
    }
    assert_in_range(refused, count / 4, count - count / 20);
    free(answers);
    free(sound.at);
}

/* ---- the log */

struct moment {
    struct file db, log;
};

static struct moment moment_of(const char *path)
{
    char *wal = mem_printf("%s-wal", path);
    struct moment moment = { read_bytes(path), read_bytes(wal) };

    free(wal);
    return moment;
}

/* A sweep at work: its files after each of its commits. */
static void run_sweep(const char *path, struct moment moments[COMMITS])
{
    struct scene s = { .n_gpus = 2, .times = { 1, 0.763, 0.9 } };
    struct err err = { "" };

    scene_begin(&s, path, 2);
    moments[0] = moment_of(path);
    scene_put_blocks(&s, SCENE_BLOCKS / 2);
    assert_int_equal(store_commit(s.store, &err), 0);
    moments[1] = moment_of(path);
    for (int block = SCENE_BLOCKS / 2 + 1; block <= SCENE_BLOCKS; block++)
        for (size_t i = 0; i < 3; i++)
            scene_put(&s, block, i, "correct");
    scene_end(&s, true);
    moments[2] = moment_of(path);
    scene_close(&s);
}

static void place(const char *path, const struct file *file,
                  const struct file *log)
{
    char *wal = mem_printf("%s-wal", path);

    answers_remove(path);
    answers_write(path, file->at, file->len);
    answers_write(wal, log->at, log->len);
    free(wal);
}

static void a_damaged_log_gives_no_answer_that_never_was(void **state)
{
    struct moment moments[COMMITS];
    char *answers[COMMITS];
    struct prng prng;
    struct err err = { "" };

    run_sweep(*state, moments);
    for (int i = 0; i < COMMITS; i++) {
        place(*state, &moments[i].db, &moments[i].log);
        answers[i] = answers_of(*state, &err);
        if (!answers[i])
            fail_msg("%s", err.text);
        assert_true(i == 0 || strcmp(answers[i], answers[i - 1]) != 0);
    }
    prng_init(&prng, seed + 1);
    for (int i = 0; i < count / 2; i++) {
        struct file hurt = copy_of(&moments[COMMITS - 1].log);
        const char *what = damage(&prng, &hurt);

        place(*state, &moments[COMMITS - 1].db, &hurt);
        free(hurt.at);
        look(*state, answers, COMMITS, i, what);
        (void)answers_found(*state);
    }
    for (int i = 0; i < COMMITS; i++) {
        free(moments[i].db.at);
        free(moments[i].log.at);
        free(answers[i]);
    }
}

int main(int argc, char *argv[])
{
#define TEST(f) \
    cmocka_unit_test_setup_teardown(f, answers_setup, answers_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_damaged_file_gives_no_other_answer),
        TEST(a_damaged_log_gives_no_answer_that_never_was),
    };

    if (argc > 1)
        count = atoi(argv[1]);
    if (argc > 2)
        seed = strtoull(argv[2], NULL, 10);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
