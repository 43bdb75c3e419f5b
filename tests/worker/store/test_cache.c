#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/mem.h"
#include "worker/store/build_dir.h"
#include "worker/store/cache.h"
#include "worker/store/part.h"

#define KEY "00112233445566778899aabbccddeeff"

static char dir[] = "/tmp/fa-test-cache-XXXXXX";

static int set_up(void **state)
{
    (void)state;
    assert_int_equal(hash_setup(NULL), 0);
    memset(dir + strlen(dir) - 6, 'X', 6);
    assert_non_null(mkdtemp(dir));
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    assert_true(build_dir_remove_tree(dir));
    return 0;
}

static struct cache *open_cache(int64_t ceiling)
{
    struct cache *cache;
    struct err err;

    if (cache_open(dir, dir, ceiling, &cache, &err) < 0)
        fail_msg("%s", err.text);
    return cache;
}

static int put_bytes(struct cache *cache, const char *hash, const void *bytes,
                     size_t len, struct err *err)
{
    char path[PATH_MAX];

    assert_int_equal(part_add(dir, hash, 0, (struct bytes){ bytes, len }, NULL),
                     0);
    assert_int_equal(part_path(dir, hash, path, NULL), 0);
    return cache_put(cache, hash, path, err);
}

/* Store 'len' bytes 'c'. */
static void put(struct cache *cache, char c, size_t len, char hash[HASH_HEX])
{
    char bytes[4096];

    memset(bytes, c, len);
    hash_of(bytes, len, hash);
    assert_int_equal(put_bytes(cache, hash, bytes, len, NULL), 0);
}

static void stored_bytes_are_read_in_pieces(void **state)
{
    struct cache *cache = open_cache(CACHE_BYTES);
    char hash[HASH_HEX], bytes[8] = "";
    int64_t total = 0;

    (void)state;
    assert_int_equal(hash_setup(NULL), 0);
    hash_of("0123456789", 10, hash);
    assert_int_equal(put_bytes(cache, hash, "0123456789", 10, NULL), 0);
    assert_int_equal(cache_read(cache, hash, 6, bytes, 7, &total, NULL), 4);
    assert_string_equal(bytes, "6789");
    assert_int_equal(total, 10);
    assert_int_equal(cache_read(cache, hash, 10, bytes, 7, &total, NULL), 0);
    cache_close(cache);
}

static void wrong_bytes_are_not_stored(void **state)
{
    struct cache *cache = open_cache(CACHE_BYTES);
    char path[PATH_MAX];
    struct err err;

    (void)state;
    assert_int_equal(put_bytes(cache, KEY, "x", 1, &err), ERR_PROTO);
    assert_non_null(strstr(err.text, "artifact '" KEY "' arrived damaged"));
    assert_false(cache_has(cache, KEY));
    assert_int_equal(part_path(dir, KEY, path, NULL), 0);
    assert_int_equal(access(path, F_OK), -1);
    cache_close(cache);
}

static void names_that_are_no_hash_are_not_paths(void **state)
{
    struct cache *cache = open_cache(CACHE_BYTES);
    struct cache_build build = { .artifact = KEY };
    char path[PATH_MAX];
    int64_t total;

    (void)state;
    assert_false(cache_has(cache, "../lock"));
    assert_false(cache_path(cache, "/etc/passwd", path));
    assert_int_equal(cache_read(cache, "..", 0, path, 1, &total, NULL),
                     ERR_INPUT);
    assert_int_equal(cache_remember(cache, "../../x", "g++", &build, "", NULL),
                     ERR_INPUT);
    cache_close(cache);
}

/* Change the middle byte of an artifact behind the cache's back. */
static void damage(const char *hash)
{
    char *path = mem_printf("%s/artifacts/%s", dir, hash);
    FILE *f = fopen(path, "r+e");
    int c;

    assert_non_null(f);
    assert_int_equal(fseek(f, 2, SEEK_SET), 0);
    c = getc(f);
    assert_int_equal(fseek(f, 2, SEEK_SET), 0);
    assert_true(putc(c ^ 1, f) != EOF);
    assert_int_equal(fclose(f), 0);
    free(path);
}

/* A disk turned a bit: the file must not run, nor be taken for a build. */
static void what_changed_on_the_disk_is_missing(void **state)
{
    struct cache *cache = open_cache(CACHE_BYTES);
    struct cache_build build = { .bytes = 5 }, found;
    char path[PATH_MAX], bytes[8];
    int64_t total;
    struct buf log;

    (void)state;
    buf_init(&log, 1024);
    put(cache, 'x', 5, build.artifact);
    assert_int_equal(cache_remember(cache, KEY, "nvcc", &build, "", NULL), 0);
    damage(build.artifact);
    assert_false(cache_path(cache, build.artifact, path));
    assert_false(cache_has(cache, build.artifact));
    assert_false(cache_lookup(cache, KEY, "nvcc", &found, &log));
    put(cache, 'x', 5, build.artifact);
    damage(build.artifact);
    put(cache, 'x', 5, build.artifact); /* over the damaged one */
    assert_int_equal(
        cache_read(cache, build.artifact, 0, bytes, 8, &total, NULL), 5);
    assert_memory_equal(bytes, "xxxxx", 5);
    buf_fini(&log);
    cache_close(cache);
}

static void least_recently_used_goes_first(void **state)
{
    struct cache *cache = open_cache(10000);
    char a[HASH_HEX], b[HASH_HEX], c[HASH_HEX], path[PATH_MAX];
    struct timespec old[2] = { { .tv_sec = 1000 }, { .tv_sec = 1000 } };

    (void)state;
    put(cache, 'a', 4000, a);
    put(cache, 'b', 4000, b);
    assert_true(cache_path(cache, b, path));
    utimensat(AT_FDCWD, path, old, 0);
    assert_true(cache_path(cache, a, path));
    put(cache, 'c', 4000, c);
    assert_true(cache_has(cache, a));
    assert_false(cache_has(cache, b));
    assert_true(cache_has(cache, c));
    cache_close(cache);
}

static void build_is_remembered_with_its_artifact_alone(void **state)
{
    struct cache *cache = open_cache(CACHE_BYTES);
    struct cache_build build = { .bytes = 5, .registers = 40 }, found;
    char path[PATH_MAX];
    struct buf log;

    (void)state;
    buf_init(&log, 1024);
    put(cache, 'x', 5, build.artifact);
    assert_int_equal(cache_remember(cache, KEY, "nvcc 13.0.88", &build,
                                    "warning: one\n\ntwo\n", NULL),
                     0);
    assert_true(cache_lookup(cache, KEY, "nvcc 13.0.88", &found, &log));
    assert_int_equal(found.registers, 40);
    assert_string_equal(buf_text(&log), "warning: one\n\ntwo\n");
    assert_string_equal(found.artifact, build.artifact);
    assert_false(cache_lookup(cache, KEY, "nvcc 12.4.99", &found, &log));
    assert_true(cache_path(cache, build.artifact, path));
    assert_int_equal(unlink(path), 0);
    assert_false(cache_lookup(cache, KEY, "nvcc 13.0.88", &found, &log));
    buf_fini(&log);
    cache_close(cache);
}

static void what_a_killed_worker_left_is_removed(void **state)
{
    struct cache *cache = open_cache(CACHE_BYTES);
    struct build_dir build_dir;
    char *link = NULL;

    (void)state;
    assert_int_equal(build_dir_open(dir, &build_dir, NULL), 0);
    assert_int_equal(
        build_dir_write(&build_dir, "src", "a/b/c.cu", "x", 1, NULL), 0);
    assert_true(asprintf(&link, "%s/tmp/root", build_dir.path) > 0);
    assert_int_equal(symlink("/usr", link), 0);
    free(link);
    cache_close(cache);
    cache = open_cache(CACHE_BYTES);
    assert_int_equal(access(build_dir.path, F_OK), -1);
    assert_int_equal(access("/usr/bin", F_OK), 0);
    cache_close(cache);
}

static void files_are_the_owners_alone(void **state)
{
    struct cache *cache = open_cache(CACHE_BYTES);
    char hash[HASH_HEX], path[PATH_MAX];
    struct stat stat;

    (void)state;
    put(cache, 'x', 5, hash);
    assert_true(cache_path(cache, hash, path));
    assert_int_equal(lstat(path, &stat), 0);
    assert_int_equal(stat.st_mode & 0777, 0600);
    *strrchr(path, '/') = '\0';
    assert_int_equal(lstat(path, &stat), 0);
    assert_int_equal(stat.st_mode & 0777, 0700);
    cache_close(cache);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(stored_bytes_are_read_in_pieces),
        TEST(wrong_bytes_are_not_stored),
        TEST(names_that_are_no_hash_are_not_paths),
        TEST(what_changed_on_the_disk_is_missing),
        TEST(least_recently_used_goes_first),
        TEST(build_is_remembered_with_its_artifact_alone),
        TEST(what_a_killed_worker_left_is_removed),
        TEST(files_are_the_owners_alone),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
