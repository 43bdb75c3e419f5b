#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <dlfcn.h>
#include <unistd.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/export/c_expression.h"

/* TILE is 128, BIG more than an int holds, MODE the text 'fast'; N and M vary.
 */
static const struct {
    const char *name;
    enum c_expression_kind kind;
    const char *c, *sql;
} names[] = {
    { "TILE", C_EXPRESSION_NUMBER, "P_TILE", "128" },
    { "WARPS", C_EXPRESSION_NUMBER, "P_WARPS", "7" },
    { "DOWN", C_EXPRESSION_NUMBER, "P_DOWN", "-5" },
    { "BIG", C_EXPRESSION_NUMBER, "P_BIG", "3000000000" },
    { "MODE", C_EXPRESSION_TEXT, "fast", "'fast'" },
    { "HALF", C_EXPRESSION_REAL, "", "0.5" },
    { "N", C_EXPRESSION_VARIABLE, "N", "?1" },
    { "M", C_EXPRESSION_VARIABLE, "M", "?2" },
};
#define N_NAMES (sizeof(names) / sizeof(names[0]))
#define MACROS                                                     \
    "#define P_TILE 128\n#define P_WARPS 7\n#define P_DOWN (-5)\n" \
    "#define P_BIG 3000000000\n"

static bool lookup(void *arg, const char *name, size_t len,
                   struct c_expression_name *out)
{
    (void)arg;
    for (size_t i = 0; i < N_NAMES; i++) {
        if (strlen(names[i].name) != len ||
            strncasecmp(names[i].name, name, len) != 0)
            continue;
        out->kind = names[i].kind;
        snprintf(out->c, sizeof(out->c), "%s", names[i].c);
        return true;
    }
    return false;
}

static void is(const char *sql, const char *c)
{
    struct buf out;
    struct c_expression_flaw flaw;

    buf_init(&out, C_EXPRESSION_BYTES_MAX);
    if (c_expression_translate(sql, lookup, NULL, &out, &flaw) < 0)
        fail_msg("%s: %s", sql, flaw.what);
    assert_string_equal(buf_text(&out), c);
    buf_fini(&out);
}

static void refused(const char *sql, size_t at, const char *what)
{
    struct buf out;
    struct c_expression_flaw flaw;

    buf_init(&out, C_EXPRESSION_BYTES_MAX);
    assert_int_equal(c_expression_translate(sql, lookup, NULL, &out, &flaw),
                     ERR_INPUT);
    assert_string_equal(flaw.what, what);
    assert_int_equal(flaw.at, at);
    assert_string_equal(buf_text(&out), "");
    buf_fini(&out);
}

static void precedence_of_operators_is_kept(void **state)
{
    (void)state;
    is("(N + TILE - 1) / TILE * M",
       "(((long long)(N) + P_TILE - 1) / P_TILE * (long long)(M))");
    is("256", "256LL");
    is("TILE", "((long long)P_TILE)");
    is("n - (m - 1)", "((long long)(N) - ((long long)(M) - 1))");
}

static void constants_alone_are_computed_in_long_long(void **state)
{
    (void)state;
    is("2 * WARPS * TILE", "(2LL * P_WARPS * P_TILE)");
    is("TILE + 1 < N", "((long long)((long long)P_TILE + 1 < (long long)(N)))");
}

static void numbers_are_written_in_decimal(void **state)
{
    (void)state;
    is("N * 010", "((long long)(N) * 10)");
    is("N & 0xff", "((long long)(N) & 255)");
    is("5000000000", "5000000000LL");
}

static void known_texts_are_compared_at_once(void **state)
{
    (void)state;
    is("CASE WHEN MODE = 'fast' THEN N ELSE M END",
       "(1 ? (long long)(N) : (long long)(M))");
    is("MODE IN ('slow', 'plain')", "((long long)(0 || 0))");
}

static void operands_must_be_integers_or_texts(void **state)
{
    (void)state;
    refused("ceil(1.5 * N)", 5, "'1.5' is not a whole number below 2^63");
    refused("N * HALF", 4, "'HALF' is not a whole number");
    refused("N + MODE", 2, "'fast' is a text");
    refused("CAST(N AS REAL)", 10, "'REAL' cannot be exported to C");
    refused("9223372036854775808", 0,
            "'9223372036854775808' is not a whole number below 2^63");
}

static void expressions_that_may_be_null_are_refused(void **state)
{
    (void)state;
    refused("CASE WHEN N THEN 1 END", 19, "'END' cannot be exported to C");
    refused("N IS NULL", 5, "'NULL' cannot be exported to C");
    refused("N IS (TRUE)", 2, "IS TRUE and IS FALSE cannot be exported to C");
    refused("N ISNULL", 2, "'ISNULL' cannot be exported to C");
    refused("nullif(N, 0)", 0, "'nullif' cannot be exported to C");
}

static void unknown_names_and_incomplete_rules_are_refused(void **state)
{
    (void)state;
    refused("sqrt(N)", 0, "'sqrt' cannot be exported to C");
    refused("N << M", 2, "a shift by anything but a number up to 62");
    refused("N +", 3, "it ends too early");
    refused("N IN (1) + M", 9, "'+' cannot be exported to C");
    refused("max(N)", 5, "')' cannot be exported to C");
    refused("", 0, "it ends too early");
}

static void nesting_and_length_are_limited(void **state)
{
    char deep[600] = "";
    struct buf wide;

    (void)state;
    memset(deep, '(', 500);
    refused(deep, 100, "it is nested too deep");
    buf_init(&wide, 1000);
    for (int i = 0; i < 30; i++)
        buf_printf(&wide, "max(N,");
    buf_printf(&wide, "M");
    for (int i = 0; i < 30; i++)
        buf_printf(&wide, ")");
    refused(buf_text(&wide), 0,
            "the expression is longer than 65536 bytes in C");
    buf_fini(&wide);
}

/* ---- the C compiler and SQLite come to the same numbers */

#define RANDOM_EXPRESSIONS 300
#define EXPRESSION_BYTES 4000

static const int64_t values[] = { 1,   2,   3,        64, 127, 128,
                                  129, 401, 16777213, -7, 0 };
#define N_VALUES (sizeof(values) / sizeof(values[0]))

static const char *const fixed[] = {
    "(N + TILE - 1) / TILE * M",
    "N % TILE + -N / 7 - - 3",
    "N < M",
    "NOT N = M AND M > 2 OR N <> 5",
    "1 + NOT N = M",
    "N < M < M",
    "N = M = 1",
    "N BETWEEN 2 AND 128",
    "N NOT BETWEEN M AND M + 10",
    "N IN (1, 64, M)",
    "N NOT IN (1, 2) = 1",
    "CASE N WHEN 1 THEN 10 WHEN M THEN 20 ELSE 30 END + 1",
    "CASE WHEN N > M THEN N * TILE WHEN N THEN -1 ELSE BIG END",
    "CASE MODE WHEN 'slow' THEN 1 WHEN 'fast' THEN 2 ELSE 3 END",
    "iif(N & 1 = 0, N / 2, 3 * N + 1)",
    "MAX(N, M, 17) - Min(N, M)",
    "min(max(N, M), TILE) * abs(N - M) + abs(DOWN)",
    "ceil(N / 3) + floor(M) + trunc(N - 1) + CEILING(2)",
    "CAST(N / 2 AS INTEGER)",
    "~N + (N & M | 12) - (M << 3) - (N >> 2)",
    "DOWN << 2",
    "BIG * WARPS + 2000000000 * 4",
    "TILE * 20000000 * 20000000",
    "010 + 0x10 + N",
    "true + FALSE + (N IS M) + (N IS NOT M)",
    "- - N + + M",
    "N == M AND N <= 3 AND M >= -8",
    "(N % 7) % -3",
};
#define N_FIXED (sizeof(fixed) / sizeof(fixed[0]))

static uint64_t seed;

static unsigned any(unsigned n)
{
    seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
    return (unsigned)((seed >> 33) % n);
}

/* Shallow enough that nothing goes beyond 2^63; divisors are never 0. */
static void put_random(struct buf *out, int depth)
{
    static const char *const leaves[] = { "N",     "M",    "TILE", "WARPS",
                                          "DOWN",  "3",    "17",   "0",
                                          "1",     "-2",   "64",   "(M > 2)",
                                          "N - M", "M * 3" };
    static const char *const operators[] = {
        "+", "-", "*", "<", "<=", ">",   ">=", "=",  "<>",     "&",
        "|", "=", "+", "-", "*",  "AND", "OR", "IS", "IS NOT", "!="
    };
    static const char *const forms[] = {
        "(%)",
        "- %",
        "NOT %",
        "~%",
        "min(%, %)",
        "max(%, %, %)",
        "abs(%)",
        "iif(%, %, %)",
        "% / 7",
        "% % 5",
        "% / (1 + abs(M))",
        "CASE WHEN % THEN % ELSE % END",
        "CASE % WHEN % THEN % WHEN 2 THEN % ELSE % END",
        "(%) BETWEEN (%) AND (%)",
        "((%) NOT IN (%, %))",
        "(% << 2)",
        "(% >> 1)",
    };
    const char *form = "% @ %";

    if (depth == 0) {
        buf_printf(out, "%s", leaves[any(14)]);
        return;
    }
    if (any(3) == 0)
        form = forms[any(17)];
    for (; *form; form++) {
        if (*form == '@')
            buf_printf(out, "%s", operators[any(20)]);
        else if (*form == '%' && (form[1] != ' ' || form[2] != '5'))
            put_random(out, (int)any((unsigned)depth));
        else
            buf_add(out, form, 1);
    }
}

/* A shared object with f0, f1, ... as C computes them. */
static void *compile(char *const *expressions, size_t n, const char *flags)
{
    char *base = mem_printf("/tmp/fa_cexpr_%ld", (long)getpid());
    char *source = mem_printf("%s.c", base),
         *object = mem_printf("%s.so", base);
    char *command = mem_printf(FA_C_COMPILER " -std=c17 -shared "
                                             "-fPIC -O0 %s -o %s %s",
                               flags, object, source);
    FILE *file = fopen(source, "w");
    struct c_expression_flaw flaw;
    void *handle;

    assert_non_null(file);
    fputs(MACROS, file);
    for (size_t i = 0; i < n; i++) {
        struct buf out;

        buf_init(&out, C_EXPRESSION_BYTES_MAX);
        if (c_expression_translate(expressions[i], lookup, NULL, &out, &flaw) <
            0)
            fail_msg("%s: %s", expressions[i], flaw.what);
        fprintf(file,
                "#define F%zu(N, M) %s\nlong long f%zu(int n, int m);\n"
                "long long f%zu(int n, int m)\n{\n    (void)n;\n    (void)m;\n"
                "    return F%zu(n, m);\n}\n",
                i, buf_text(&out), i, i, i);
        buf_fini(&out);
    }
    fclose(file);
    assert_int_equal(system(command), 0);
    handle = dlopen(object, RTLD_NOW);
    assert_non_null(handle);
    unlink(source);
    unlink(object);
    free(base);
    free(source);
    free(object);
    free(command);
    return handle;
}

/* SQL with the names replaced. */
static void put_sql(const char *text, struct buf *out)
{
    while (*text) {
        size_t len = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
                                  "abcdefghijklmnopqrstuvwxyz"),
               i = 0;

        while (i < N_NAMES && (strlen(names[i].name) != len ||
                               strncmp(names[i].name, text, len) != 0))
            i++;
        if (i < N_NAMES) {
            buf_printf(out, "(%s)", names[i].sql);
        } else {
            len = len ? len : 1;
            buf_add(out, text, len);
        }
        text += len;
    }
}

static void agrees(sqlite3 *db, void *handle, size_t f, const char *expression)
{
    char symbol[32];
    long long (*function)(int, int);
    sqlite3_stmt *stmt = NULL;
    struct buf sql;

    snprintf(symbol, sizeof(symbol), "f%zu", f);
    *(void **)&function = dlsym(handle, symbol);
    assert_non_null(function);
    buf_init(&sql, EXPRESSION_BYTES);
    buf_printf(&sql, "SELECT ");
    put_sql(expression, &sql);
    if (sqlite3_prepare_v2(db, buf_text(&sql), -1, &stmt, NULL) != SQLITE_OK)
        fail_msg("%s: %s", buf_text(&sql), sqlite3_errmsg(db));
    for (size_t i = 0; i < N_VALUES * N_VALUES; i++) {
        int64_t n = values[i / N_VALUES], m = values[i % N_VALUES];

        sqlite3_bind_int64(stmt, 1, n);
        sqlite3_bind_int64(stmt, 2, m);
        assert_int_equal(sqlite3_step(stmt), SQLITE_ROW);
        assert_int_equal(sqlite3_column_type(stmt, 0), SQLITE_INTEGER);
        if (sqlite3_column_int64(stmt, 0) != function((int)n, (int)m))
            fail_msg("%s is %lld in SQL and %lld in C for N=%" PRId64
                     ", M=%" PRId64,
                     expression, sqlite3_column_int64(stmt, 0),
                     function((int)n, (int)m), n, m);
        sqlite3_reset(stmt);
    }
    sqlite3_finalize(stmt);
    buf_fini(&sql);
}

static void c_and_sqlite_come_to_the_same(char *const *expressions, size_t n,
                                          const char *flags)
{
    void *handle = compile(expressions, n, flags);
    sqlite3 *db;

    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    for (size_t i = 0; i < n; i++)
        agrees(db, handle, i, expressions[i]);
    sqlite3_close(db);
    dlclose(handle);
}

static void every_construct_agrees_with_sqlite(void **state)
{
    char *copies[N_FIXED];

    (void)state;
    for (size_t i = 0; i < N_FIXED; i++)
        copies[i] = mem_strdup(fixed[i]);
    c_and_sqlite_come_to_the_same(copies, N_FIXED, "-Wall -Wextra -Werror");
    for (size_t i = 0; i < N_FIXED; i++)
        free(copies[i]);
}

static void random_expressions_agree_with_sqlite(void **state)
{
    char *texts[RANDOM_EXPRESSIONS];

    (void)state;
    seed = 1;
    for (size_t i = 0; i < RANDOM_EXPRESSIONS; i++) {
        struct buf out;

        buf_init(&out, EXPRESSION_BYTES);
        put_random(&out, 4);
        texts[i] = mem_strdup(buf_text(&out));
        buf_fini(&out);
    }
    /* They are full of 3 < 17 and the like: nothing to warn of. */
    c_and_sqlite_come_to_the_same(texts, RANDOM_EXPRESSIONS, "-w");
    for (size_t i = 0; i < RANDOM_EXPRESSIONS; i++)
        free(texts[i]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(precedence_of_operators_is_kept),
        cmocka_unit_test(constants_alone_are_computed_in_long_long),
        cmocka_unit_test(numbers_are_written_in_decimal),
        cmocka_unit_test(known_texts_are_compared_at_once),
        cmocka_unit_test(operands_must_be_integers_or_texts),
        cmocka_unit_test(expressions_that_may_be_null_are_refused),
        cmocka_unit_test(unknown_names_and_incomplete_rules_are_refused),
        cmocka_unit_test(nesting_and_length_are_limited),
        cmocka_unit_test(every_construct_agrees_with_sqlite),
        cmocka_unit_test(random_expressions_agree_with_sqlite),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
