/* Random rules over random small spaces: what is understood agrees with SQLite
 * at every point. */
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <sqlite3.h>

#include "coordinator/points/int_expr.h"
#include "coordinator/points/int_expr_parse.h"
#include "coordinator/points/point_diagram.h"
#include "coordinator/stats/prng.h"

#define SPACES 2000
#define AXES 4
#define LEVELS 4
#define TEXT_MAX 2000
#define ROOM 100000

enum axis_kind {
    WHOLE,
    REAL,
    TEXT,
    KINDS
};

struct axis {
    enum axis_kind kind;
    size_t n;
    int64_t whole[LEVELS];
    double real[LEVELS];
    const char *text[LEVELS];
};

struct random_space {
    struct prng prng;
    struct axis axes[AXES];
    size_t n_axes;
    char rule[TEXT_MAX];
    sqlite3 *db;
    sqlite3_stmt *stmt;
};

static const int64_t numbers[] = { 0,
                                   1,
                                   2,
                                   3,
                                   4,
                                   5,
                                   7,
                                   8,
                                   -1,
                                   -2,
                                   -3,
                                   -7,
                                   16,
                                   32,
                                   64,
                                   100,
                                   1000,
                                   1024,
                                   INT64_C(1) << 31,
                                   INT64_C(1) << 40,
                                   INT64_C(1) << 62 };

static size_t below(struct random_space *space, size_t n)
{
    return (size_t)prng_below(&space->prng, n);
}

/* ---- random rules */

static void put(struct random_space *space, const char *text)
{
    size_t len = strlen(space->rule);

    snprintf(space->rule + len, sizeof(space->rule) - len, "%s", text);
}

static void put_leaf(struct random_space *space)
{
    char text[32];
    size_t axis = below(space, space->n_axes);

    switch (below(space, 12)) {
    case 0:
    case 1:
    case 2:
        snprintf(text, sizeof(text), "%lld",
                 (long long)llabs(numbers[below(space, 18)]));
        break;
    case 3:
        snprintf(text, sizeof(text), "%s",
                 below(space, 3)   ? "TRUE"
                 : below(space, 2) ? "0.5"
                                   : "NULL");
        break;
    case 4:
        if (space->axes[axis].kind == TEXT) {
            snprintf(text, sizeof(text), "(?%zu = 'b')", axis + 1);
            break;
        } /* fall through */
    default:
        snprintf(text, sizeof(text), "?%zu", axis + 1);
    }
    put(space, text);
}

static void put_rule(struct random_space *space, int depth);

static void put_call(struct random_space *space, int depth)
{
    static const char *const names[] = { "min",  "max",  "iif",   "abs",
                                         "sign", "ceil", "ifnull" };
    static const int arguments[] = { 2, 3, 3, 1, 1, 1, 2 };
    size_t which = below(space, 7);

    put(space, names[which]);
    put(space, "(");
    for (int i = 0; i < arguments[which]; i++) {
        put(space, i ? ", " : "");
        put_rule(space, depth - 1);
    }
    put(space, ")");
}

/* Parts, with a rule in between. */
static void put_form(struct random_space *space, int depth,
                     const char *const *parts, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        put(space, parts[i]);
        if (i + 1 < n)
            put_rule(space, depth - 1);
    }
}

static void put_rule(struct random_space *space, int depth)
{
    static const char *const operators[] = { " + ",   " - ",  " * ",   " * ",
                                             " + ",   " / ",  " % ",   " < ",
                                             " <= ",  " > ",  " >= ",  " = ",
                                             " <> ",  " IS ", " AND ", " OR ",
                                             " AND ", " & " };
    static const char *const choice[] = { "CASE WHEN ", " THEN ", " ELSE ",
                                          " END" };
    static const char *const match[] = { "CASE ", " WHEN ", " THEN ", " ELSE ",
                                         " END" };
    static const char *const range[] = { "(", " BETWEEN ", " AND ", ")" };
    static const char *const list[] = { "(", " NOT IN (", ", ", "))" };
    static const char *const brackets[] = { "(", ")" };
    static const char *const minus[] = { "- (", ")" };
    static const char *const negation[] = { "(NOT ", ")" };

    if (depth <= 0 || strlen(space->rule) > TEXT_MAX / 2) {
        put_leaf(space);
        return;
    }
    switch (below(space, 14)) {
    case 0:
        put_call(space, depth);
        break;
    case 1:
        put_form(space, depth, choice, 4);
        break;
    case 2:
        put_form(space, depth, below(space, 2) ? range : list, 4);
        break;
    case 3:
        put_form(space, depth, minus, 2);
        break;
    case 4:
        put_form(space, depth, negation, 2);
        break;
    case 5:
        put_form(space, depth, match, 5);
        break;
    case 6:
    case 7:
    case 8:
        put_form(space, depth, brackets, 2);
        break;
    default:
        put_rule(space, depth - 1);
        put(space, operators[below(space, 18)]);
        put_rule(space, depth - 1);
    }
}

static void draw_axis(struct random_space *space, struct axis *axis)
{
    static const char *const texts[] = { "a", "b", "12", "c" };
    size_t from = below(space, 21);

    axis->kind = below(space, 5) ? WHOLE : below(space, 2) ? REAL : TEXT;
    axis->n = 1 + below(space, LEVELS);
    for (size_t i = 0; i < axis->n; i++) {
        axis->whole[i] = numbers[(from + i) % (below(space, 4) ? 17 : 21)];
        axis->real[i] = (double)axis->whole[i] / 2;
        axis->text[i] = texts[i];
    }
}

/* ---- what SQLite says */

static void bind_level(const struct random_space *space, sqlite3_stmt *stmt,
                       size_t a, size_t level)
{
    const struct axis *axis = &space->axes[a];

    if ((int)a + 1 > sqlite3_bind_parameter_count(stmt))
        return;
    if (axis->kind == WHOLE)
        sqlite3_bind_int64(stmt, (int)a + 1, axis->whole[level]);
    else if (axis->kind == REAL)
        sqlite3_bind_double(stmt, (int)a + 1, axis->real[level]);
    else
        sqlite3_bind_text(stmt, (int)a + 1, axis->text[level], -1,
                          SQLITE_STATIC);
}

static sqlite3_stmt *prepare(const struct random_space *space, const char *text,
                             size_t len)
{
    char sql[TEXT_MAX + 20];
    sqlite3_stmt *stmt;

    snprintf(sql, sizeof(sql), "SELECT (%.*s)", (int)len, text);
    return sqlite3_prepare_v2(space->db, sql, -1, &stmt, NULL) == SQLITE_OK
               ? stmt
               : NULL;
}

/* Is it a whole number there? */
static bool ask(const struct random_space *space, sqlite3_stmt *stmt,
                const size_t *levels, int64_t *value)
{
    bool whole;

    for (size_t a = 0; a < space->n_axes; a++)
        bind_level(space, stmt, a, levels[a]);
    if (sqlite3_step(stmt) != SQLITE_ROW) { /* an overflow in abs() */
        sqlite3_reset(stmt);
        return false;
    }
    whole = sqlite3_column_type(stmt, 0) == SQLITE_INTEGER;
    *value = sqlite3_column_int64(stmt, 0);
    sqlite3_reset(stmt);
    return whole;
}

static void levels_of(const struct random_space *space, uint64_t axes,
                      size_t number, size_t *levels)
{
    for (size_t a = space->n_axes; a-- > 0;) {
        levels[a] = 0;
        if (!(axes >> a & 1))
            continue;
        levels[a] = number % space->axes[a].n;
        number /= space->axes[a].n;
    }
}

/* A rule that SQLite accepts; it refuses NOT behind an operator, for one. */
static void draw(struct random_space *space, uint64_t seed)
{
    prng_init(&space->prng, seed);
    space->n_axes = 1 + below(space, AXES);
    for (size_t a = 0; a < space->n_axes; a++)
        draw_axis(space, &space->axes[a]);
    do {
        space->rule[0] = '\0';
        put_rule(space, 1 + (int)below(space, 5));
        space->stmt = prepare(space, space->rule, strlen(space->rule));
    } while (!space->stmt);
}

static bool evaluate(void *arg, const char *text, size_t len, uint64_t axes,
                     int64_t *values, size_t n)
{
    const struct random_space *space = arg;
    sqlite3_stmt *stmt = prepare(space, text, len);
    bool whole = true;

    assert_non_null(stmt);
    for (size_t i = 0; i < n && whole; i++) {
        size_t levels[AXES];

        levels_of(space, axes, i, levels);
        whole = ask(space, stmt, levels, &values[i]);
    }
    sqlite3_finalize(stmt);
    return whole;
}

/* Without help: what the parser knows by itself. */
static bool refuse(void *arg, const char *text, size_t len, uint64_t axes,
                   int64_t *values, size_t n)
{
    (void)arg;
    (void)text;
    (void)len;
    (void)axes;
    (void)values;
    (void)n;
    return false;
}

/* ---- comparing */

static size_t size_of(const struct random_space *space)
{
    size_t n = 1;

    for (size_t a = 0; a < space->n_axes; a++)
        n *= space->axes[a].n;
    return n;
}

static int parse(struct random_space *space, struct int_expr *expr, bool help)
{
    int nodes[AXES];
    struct int_expr_parse_use use = { nodes, help ? evaluate : refuse, space };

    for (size_t a = 0; a < space->n_axes; a++)
        nodes[a] =
            space->axes[a].kind == WHOLE
                ? int_expr_table(expr, UINT64_C(1) << a, space->axes[a].whole)
                : INT_EXPR_NONE;
    return int_expr_parse(expr, space->rule, (UINT64_C(1) << space->n_axes) - 1,
                          &use);
}

static void compare_values(struct random_space *space, struct int_expr *expr,
                           int node)
{
    for (size_t i = 0; i < size_of(space); i++) {
        size_t levels[AXES];
        int64_t value = 0, low, high;
        int at = node;

        levels_of(space, UINT64_MAX, i, levels);
        for (size_t a = 0; a < space->n_axes; a++)
            at = int_expr_assign(expr, at, a, levels[a]);
        assert_true(at >= 0);
        int_expr_bounds(expr, at, &low, &high);
        if (!ask(space, space->stmt, levels, &value) && value != low)
            fail_msg("%s: point %zu is no whole number", space->rule, i);
        if (low != high || value != low)
            fail_msg("%s: point %zu is %lld, not %lld", space->rule, i,
                     (long long)value, (long long)low);
    }
}

static void compare_points(struct random_space *space, struct int_expr *expr,
                           int node)
{
    struct point_diagram *diagram = point_diagram_new(expr, node);
    int64_t rank = 0;

    assert_non_null(diagram);
    for (size_t i = 0; i < size_of(space); i++) {
        size_t levels[AXES];
        int64_t value = 0;

        levels_of(space, UINT64_MAX, i, levels);
        ask(space, space->stmt, levels, &value);
        if (value)
            assert_int_equal(point_diagram_at(diagram, rank++), i);
    }
    assert_int_equal(point_diagram_count(diagram), rank);
    point_diagram_free(diagram);
}

/* Is the rule of a random space understood? */
static bool compare_space(uint64_t seed, sqlite3 *db, bool help)
{
    struct random_space space = { .db = db };
    size_t sizes[AXES];
    struct int_expr *expr;
    int64_t low = -1, high = -1;
    int node;

    draw(&space, seed);
    for (size_t a = 0; a < space.n_axes; a++)
        sizes[a] = space.axes[a].n;
    expr = int_expr_new(sizes, space.n_axes, ROOM);
    node = parse(&space, expr, help);
    if (node >= 0) {
        int_expr_bounds(expr, node, &low, &high);
        if (high < INT64_C(1) << 61) /* "or more" is a real in SQLite */
            compare_values(&space, expr, node);
    }
    if (low >= 0 && high <= 1)
        compare_points(&space, expr, node);
    sqlite3_finalize(space.stmt);
    int_expr_free(expr);
    return node >= 0;
}

static int understood(bool help)
{
    sqlite3 *db;
    int n = 0;

    assert_int_equal(sqlite3_open(":memory:", &db), SQLITE_OK);
    for (uint64_t seed = 1; seed <= SPACES; seed++)
        n += compare_space(seed, db, help);
    sqlite3_close(db);
    return n;
}

static void random_rules_agree_with_sqlite(void **state)
{
    (void)state;
    assert_true(understood(false) > SPACES / 3);
}

static void parts_that_sqlite_evaluates_agree_too(void **state)
{
    (void)state;
    assert_true(understood(true) > SPACES / 2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(random_rules_agree_with_sqlite),
        cmocka_unit_test(parts_that_sqlite_evaluates_agree_too),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}
