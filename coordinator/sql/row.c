#include "coordinator/sql/row.h"

#include <assert.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/msg.h"
#include "coordinator/text/decimal.h"

#define INSERT_BYTES_MAX 8192

static bool is_written(const struct row_column *column)
{
    return column->type < ROW_READ_INT;
}

/* ---- writing */

char *row_insert_text(const struct row_shape *shape, const char *verb,
                      const char *tail)
{
    struct buf names, marks;
    char *text;

    buf_init(&names, INSERT_BYTES_MAX);
    buf_init(&marks, INSERT_BYTES_MAX);
    for (size_t i = 0; i < shape->n; i++) {
        if (!is_written(&shape->columns[i]))
            continue;
        buf_printf(&names, "%s%s", names.len ? "," : "",
                   shape->columns[i].name);
        buf_printf(&marks, "%s?", marks.len ? "," : "");
    }
    text = mem_printf("%s INTO %s(%s) VALUES(%s)%s", verb, shape->table,
                      buf_text(&names), buf_text(&marks), tail);
    buf_fini(&names);
    buf_fini(&marks);
    return text;
}

static void add_real(struct buf *json, double real)
{
    char text[DECIMAL_BYTES];

    if (isfinite(real))
        buf_add(json, text, decimal_text(real, text));
    else
        buf_add(json, "null", 4);
}

static const char *json_array(struct buf *json, const struct reals *reals)
{
    buf_clear(json);
    buf_add(json, "[", 1);
    for (size_t i = 0; i < reals->n; i++) {
        if (i)
            buf_add(json, ",", 1);
        add_real(json, reals->items[i]);
    }
    buf_add(json, "]", 1);
    assert(!json->truncated); /* MSG_SAMPLES_MAX numbers fit */
    return buf_text(json);
}

static struct sql_value text_value(const char *text)
{
    return (struct sql_value){ .type = 't', .text = text, .len = strlen(text) };
}

static struct sql_value integer_value(int64_t integer)
{
    return (struct sql_value){ .type = 'I', .integer = integer };
}

static struct sql_value null_value(void)
{
    return (struct sql_value){ .type = 'n' };
}

static struct sql_value integer_or_null(int64_t integer, int64_t null)
{
    return integer == null ? null_value() : integer_value(integer);
}

static struct sql_value real_value(double real)
{
    if (isnan(real))
        return null_value();
    return (struct sql_value){ .type = 'd', .real = real };
}

static struct sql_value value_of(enum row_type type, const void *member)
{
    const char *text;

    switch (type) {
    case ROW_TEXT:
        text = *(const char *const *)member;
        return text_value(text ? text : "");
    case ROW_NULLABLE:
        text = *(const char *const *)member;
        return text ? text_value(text) : null_value();
    case ROW_CHARS:
        return text_value(member);
    case ROW_INT:
        return integer_value(*(const int64_t *)member);
    case ROW_COUNT:
        return integer_or_null(*(const int64_t *)member, -1);
    case ROW_LINK:
        return integer_or_null(*(const int64_t *)member, 0);
    case ROW_REAL:
        return real_value(*(const double *)member);
    case ROW_BOOL:
        return integer_value(*(const bool *)member);
    case ROW_NOT:
        return integer_value(!*(const bool *)member);
    case ROW_ONE:
        return integer_value(1);
    default:
        assert(type == ROW_LATER);
        return null_value();
    }
}

size_t row_values(const struct row_shape *shape, const void *row,
                  struct buf *json, struct sql_value out[SQL_VALUES_MAX])
{
    size_t n = 0;

    for (size_t i = 0; i < shape->n; i++) {
        const struct row_column *column = &shape->columns[i];
        const void *member = (const char *)row + column->offset;

        if (column->type == ROW_REALS)
            out[n++] = text_value(json_array(json++, member));
        else if (is_written(column))
            out[n++] = value_of(column->type, member);
    }
    return n;
}

size_t row_place(const struct row_shape *shape, const char *column)
{
    size_t at = shape->n - 1, place = 0;

    while (strcmp(shape->columns[at].name, column) != 0)
        at--;
    for (size_t i = 0; i < at; i++)
        place += is_written(&shape->columns[i]);
    return place;
}

/* ---- reading */

static int find(const struct row_shape *shape, const char *name)
{
    for (size_t i = 0; i < shape->n; i++)
        if (strcmp(shape->columns[i].name, name) == 0)
            return (int)i;
    return -1;
}

static int find_columns(struct row_query *query, struct err *err)
{
    const char *name;

    for (size_t i = 0; i < query->shape->n; i++)
        query->at[i] = -1;
    for (int i = 0; (name = sql_column_name(query->stmt, i)); i++) {
        int member = find(query->shape, name);

        if (member < 0)
            return err_set(err, ERR_INPUT, "no member for the column '%s'",
                           name);
        query->at[member] = i;
    }
    return 0;
}

int row_prepare(struct sqlite3 *db, const char *text,
                const struct row_shape *shape, struct row_query *out,
                struct err *err)
{
    int rc;

    assert(shape->n <= SQL_VALUES_MAX);
    *out = (struct row_query){ .shape = shape };
    rc = sql_prepare(db, text, &out->stmt, err);
    if (rc == 0)
        rc = find_columns(out, err);
    if (rc < 0)
        row_close(out);
    return rc;
}

static int start(struct row_query *query, struct err *err, const char *types,
                 va_list ap)
{
    struct sql_value values[SQL_VALUES_MAX];
    size_t n = sql_values_va(values, types, ap);

    sql_reset(query->stmt);
    return sql_bind(query->stmt, values, n, err);
}

int row_start(struct row_query *query, struct err *err, const char *types, ...)
{
    va_list ap;
    int rc;

    va_start(ap, types);
    rc = start(query, err, types, ap);
    va_end(ap);
    return rc;
}

int row_open(struct sqlite3 *db, const char *text,
             const struct row_shape *shape, struct row_query *out,
             struct err *err, const char *types, ...)
{
    va_list ap;
    int rc = row_prepare(db, text, shape, out, err);

    va_start(ap, types);
    if (rc == 0)
        rc = start(out, err, types, ap);
    va_end(ap);
    return rc;
}

static void read_chars(const char *text, char *member, size_t bytes)
{
    size_t len = strnlen(text, bytes - 1);

    memcpy(member, text, len);
    member[len] = '\0';
}

/* A member that the query has no column for. */
static void clear_member(const struct row_column *column, void *member)
{
    switch (column->type) {
    case ROW_TEXT:
    case ROW_NULLABLE:
    case ROW_READ_TEXT:
        *(const char **)member = "";
        break;
    case ROW_CHARS:
        *(char *)member = '\0';
        break;
    case ROW_INT:
    case ROW_LINK:
    case ROW_READ_INT:
        *(int64_t *)member = 0;
        break;
    case ROW_COUNT:
        *(int64_t *)member = -1;
        break;
    case ROW_REAL:
        *(double *)member = (double)NAN;
        break;
    case ROW_BOOL:
    case ROW_NOT:
    case ROW_READ_SET:
        *(bool *)member = false;
        break;
    case ROW_REALS:
    case ROW_ONE:
    case ROW_LATER:
        break;
    }
}

static void read_member(struct sqlite3_stmt *stmt, int at,
                        const struct row_column *column, void *member)
{
    switch (column->type) {
    case ROW_TEXT:
    case ROW_NULLABLE:
    case ROW_READ_TEXT:
        *(const char **)member = sql_text(stmt, at);
        break;
    case ROW_CHARS:
        read_chars(sql_text(stmt, at), member, column->bytes);
        break;
    case ROW_INT:
    case ROW_LINK:
    case ROW_READ_INT:
        *(int64_t *)member = sql_int(stmt, at);
        break;
    case ROW_COUNT:
        *(int64_t *)member = sql_is_null(stmt, at) ? -1 : sql_int(stmt, at);
        break;
    case ROW_REAL:
        *(double *)member = sql_real(stmt, at);
        break;
    case ROW_BOOL:
        *(bool *)member = sql_int(stmt, at) != 0;
        break;
    case ROW_NOT:
        *(bool *)member = !sql_is_null(stmt, at) && sql_int(stmt, at) == 0;
        break;
    case ROW_READ_SET:
        *(bool *)member = !sql_is_null(stmt, at);
        break;
    case ROW_REALS:
    case ROW_ONE:
    case ROW_LATER:
        break;
    }
}

int row_next(struct row_query *query, void *row, struct err *err)
{
    int rc = sql_step(query->stmt, err);

    for (size_t i = 0; rc == 1 && i < query->shape->n; i++) {
        const struct row_column *column = &query->shape->columns[i];
        void *member = (char *)row + column->offset;

        if (query->at[i] < 0)
            clear_member(column, member);
        else
            read_member(query->stmt, query->at[i], column, member);
    }
    return rc;
}

void row_close(struct row_query *query)
{
    sql_free(query->stmt);
    query->stmt = NULL;
}

int row_first(struct sqlite3 *db, const char *text,
              const struct row_shape *shape, void *row, struct err *err,
              const char *types, ...)
{
    struct row_query query;
    va_list ap;
    int rc = row_prepare(db, text, shape, &query, err);

    for (size_t i = 0; i < shape->n; i++)
        assert(shape->columns[i].type != ROW_TEXT &&
               shape->columns[i].type != ROW_NULLABLE &&
               shape->columns[i].type != ROW_READ_TEXT);
    va_start(ap, types);
    if (rc == 0)
        rc = start(&query, err, types, ap);
    va_end(ap);
    if (rc == 0)
        rc = row_next(&query, row, err);
    row_close(&query);
    return rc;
}
