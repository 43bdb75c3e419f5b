#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <fcntl.h>
#include <unistd.h>

#include <cmocka.h>

#include "common/err.h"
#include "common/hash.h"
#include "coordinator/cache/artifact_cache.h"

#define KIB 1024

static char top[32], folder[64];
static struct artifact_cache *cache;
static char kib[KIB];

static int open_with(int64_t ceiling)
{
    struct err err;

    artifact_cache_close(cache);
    cache = NULL;
    return artifact_cache_open(folder, ceiling, &cache, &err);
}

static int set_up(void **state)
{
    struct err err;

    (void)state;
    snprintf(top, sizeof(top), "/tmp/fa_cache_XXXXXX");
    assert_int_equal(hash_setup(&err), 0);
    assert_non_null(mkdtemp(top));
    snprintf(folder, sizeof(folder), "%s/a/b", top);
    return open_with(1 << 20);
}

static int tear_down(void **state)
{
    char command[64];

    (void)state;
    artifact_cache_close(cache);
    cache = NULL;
    snprintf(command, sizeof(command), "%s/a", top);
    rmdir(folder);
    rmdir(command);
    return rmdir(top);
}

static char *path_of(const char *hash)
{
    static char path[128];

    snprintf(path, sizeof(path), "%s/%s", folder, hash);
    return path;
}

static void put(const char *bytes, size_t len, char hash[HASH_HEX])
{
    struct err err;

    hash_of(bytes, len, hash);
    assert_int_equal(artifact_cache_put(cache, hash, bytes, len, &err), 0);
}

/* A KiB that ends in this letter. */
static void put_kib(char letter, char hash[HASH_HEX])
{
    kib[KIB - 1] = letter;
    put(kib, KIB, hash);
}

static void used_before(const char *hash, time_t seconds)
{
    const struct timespec times[2] = { { .tv_sec = time(NULL) - seconds },
                                       { .tv_sec = time(NULL) - seconds } };

    assert_int_equal(utimensat(AT_FDCWD, path_of(hash), times, 0), 0);
}

static void what_was_put_is_had_also_by_the_next_run(void **state)
{
    char hash[HASH_HEX], *bytes;
    struct stat stat_;
    size_t len;

    (void)state;
    put("cubin", 5, hash);
    assert_int_equal(open_with(1 << 20), 0);
    assert_true(artifact_cache_has(cache, hash));
    bytes = artifact_cache_get(cache, hash, &len);
    assert_int_equal(len, 5);
    assert_memory_equal(bytes, "cubin", 5);
    free(bytes);
    assert_int_equal(stat(folder, &stat_), 0);
    assert_int_equal(stat_.st_mode & 0777, 0700);
    assert_int_equal(unlink(path_of(hash)), 0);
    assert_false(artifact_cache_has(cache, hash));
    assert_null(artifact_cache_get(cache, hash, &len));
}

static void what_is_damaged_is_removed(void **state)
{
    char hash[HASH_HEX];
    size_t len;
    FILE *f;

    (void)state;
    put("cubin", 5, hash);
    f = fopen(path_of(hash), "r+");
    assert_non_null(f);
    fputc('d', f);
    assert_int_equal(fclose(f), 0);
    assert_null(artifact_cache_get(cache, hash, &len));
    assert_false(artifact_cache_has(cache, hash));
}

static void a_link_is_not_followed(void **state)
{
    char hash[HASH_HEX], other[80];
    size_t len;

    (void)state;
    put("cubin", 5, hash);
    snprintf(other, sizeof(other), "%s/other", folder);
    assert_int_equal(rename(path_of(hash), other), 0);
    assert_int_equal(symlink("other", path_of(hash)), 0);
    assert_null(artifact_cache_get(cache, hash, &len));
    assert_int_equal(unlink(path_of(hash)), 0);
    assert_int_equal(unlink(other), 0);
}

static void above_the_ceiling_the_oldest_go(void **state)
{
    char a[HASH_HEX], b[HASH_HEX], c[HASH_HEX], *bytes;
    size_t len;

    (void)state;
    assert_int_equal(open_with(2 * KIB + KIB / 2), 0);
    put_kib('a', a);
    put_kib('b', b);
    used_before(a, 200);
    used_before(b, 100);
    bytes = artifact_cache_get(cache, a, &len); /* now it is used */
    assert_non_null(bytes);
    free(bytes);
    put_kib('c', c);
    assert_true(artifact_cache_has(cache, a));
    assert_false(artifact_cache_has(cache, b));
    assert_true(artifact_cache_has(cache, c));
    assert_int_equal(open_with(KIB / 2), 0);
    assert_false(artifact_cache_has(cache, a));
    assert_false(artifact_cache_has(cache, c));
}

static void without_a_cache_nothing_is_there(void **state)
{
    size_t len;

    (void)state;
    assert_false(artifact_cache_has(NULL, "0123456789abcdef0123456789abcdef"));
    assert_null(
        artifact_cache_get(NULL, "0123456789abcdef0123456789abcdef", &len));
    assert_null(artifact_cache_get(cache, "../a", &len));
}

static void a_file_in_the_way_is_named(void **state)
{
    struct artifact_cache *none = NULL;
    char path[128], text[160];
    struct err err;
    FILE *f;

    (void)state;
    snprintf(path, sizeof(path), "%s/file", folder);
    f = fopen(path, "w");
    assert_non_null(f);
    assert_int_equal(fclose(f), 0);
    assert_int_equal(artifact_cache_open(path, 1, &none, &err), ERR_SYSTEM);
    assert_null(none);
    snprintf(text, sizeof(text), "%s: Not a directory", path);
    assert_string_equal(err.text, text);
    assert_int_equal(unlink(path), 0);
}

static void the_folder_is_the_users(void **state)
{
    struct artifact_cache *none = NULL;
    struct err err;
    char *path;

    (void)state;
    assert_int_equal(setenv("HOME", "/home/ann", 1), 0);
    assert_int_equal(setenv("XDG_CACHE_HOME", "relative", 1), 0);
    path = artifact_cache_folder();
    assert_string_equal(path, "/home/ann/.cache/fa-coord/kept");
    free(path);
    assert_int_equal(setenv("XDG_CACHE_HOME", "/big", 1), 0);
    path = artifact_cache_folder();
    assert_string_equal(path, "/big/fa-coord/kept");
    free(path);
    assert_int_equal(
        artifact_cache_open("/nonexistent/ann/.cache/fa/kept", 1, &none, &err),
        ERR_SYSTEM);
    assert_int_equal(access("/nonexistent", F_OK), -1);
    assert_int_equal(unsetenv("XDG_CACHE_HOME"), 0);
    assert_int_equal(unsetenv("HOME"), 0);
    assert_null(artifact_cache_folder());
}

#define OPENED(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        OPENED(what_was_put_is_had_also_by_the_next_run),
        OPENED(what_is_damaged_is_removed),
        OPENED(a_link_is_not_followed),
        OPENED(above_the_ceiling_the_oldest_go),
        OPENED(without_a_cache_nothing_is_there),
        OPENED(a_file_in_the_way_is_named),
        cmocka_unit_test(the_folder_is_the_users),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
