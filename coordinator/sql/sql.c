#include "coordinator/sql/sql.h"

#include <assert.h>
#include <errno.h>
#include <math.h>
#include <string.h>

#include <sqlite3.h>

#include "common/err.h"
#include "common/remedy.h"
#include "coordinator/text/terminal.h"

void sql_setup(void)
{
    /* refused only if SQLite was built without threads, or is in use */
    (void)sqlite3_config(SQLITE_CONFIG_MULTITHREAD);
    (void)sqlite3_config(SQLITE_CONFIG_MEMSTATUS, 0);
}

static struct sql_value real_value(double real)
{
    if (isnan(real))
        return (struct sql_value){ .type = 'n' };
    return (struct sql_value){ .type = 'd', .real = real };
}

static struct sql_value text_value(const char *text, size_t len)
{
    if (!text)
        return (struct sql_value){ .type = 'n' };
    return (struct sql_value){ .type = 't', .text = text, .len = len };
}

size_t sql_values_va(struct sql_value out[SQL_VALUES_MAX], const char *types,
                     va_list ap)
{
    size_t n = 0;
    const char *text;

    for (; *types; types++) {
        assert(n < SQL_VALUES_MAX);
        switch (*types) {
        case 'i':
            out[n] = (struct sql_value){ .type = 'I' };
            out[n++].integer = va_arg(ap, int);
            break;
        case 'I':
            out[n] = (struct sql_value){ .type = 'I' };
            out[n++].integer = va_arg(ap, int64_t);
            break;
        case 'd':
            out[n++] = real_value(va_arg(ap, double));
            break;
        case 's':
            text = va_arg(ap, const char *);
            out[n++] = text_value(text, text ? strlen(text) : 0);
            break;
        case 'e':
            text = va_arg(ap, const char *);
            out[n++] = text_value(text ? text : "", text ? strlen(text) : 0);
            break;
        case 't':
            text = va_arg(ap, const char *);
            out[n++] = text_value(text, va_arg(ap, size_t));
            break;
        default:
            assert(*types == 'n');
            out[n++] = (struct sql_value){ .type = 'n' };
        }
    }
    return n;
}

size_t sql_values(struct sql_value out[SQL_VALUES_MAX], const char *types, ...)
{
    va_list ap;
    size_t n;

    va_start(ap, types);
    n = sql_values_va(out, types, ap);
    va_end(ap);
    return n;
}

/* A COMMIT does not set sqlite3_system_errno(). */
int sql_system_error(struct sqlite3 *db)
{
    static const int which[] = { SQLITE_FCNTL_JOURNAL_POINTER,
                                 SQLITE_FCNTL_FILE_POINTER };
    int os = sqlite3_system_errno(db);

    for (size_t i = 0; os == 0 && i < sizeof(which) / sizeof(which[0]); i++) {
        sqlite3_file *file = NULL;

        if (sqlite3_file_control(db, "main", which[i], &file) == SQLITE_OK &&
            file && file->pMethods &&
            file->pMethods->xFileControl) /* a journal in memory has none */
            file->pMethods->xFileControl(file, SQLITE_FCNTL_LAST_ERRNO, &os);
    }
    return os;
}

/* SQLite quotes the schema, which may be damaged. */
static int in_one_line(int code, struct err *err)
{
    if (err)
        terminal_clean(err->text, false);
    return code;
}

/* What to do when the system refuses with this number. */
static const char *remedy(int os)
{
    const char *text = remedy_of(os);

    if (os == EACCES || os == EPERM || os == EROFS)
        return "the file and its folder must be writable";
    return text ? text : remedy_of(EIO);
}

int sql_system_refused(int os, struct err *err)
{
    return err_set(err, ERR_STORE, "%s: %s", strerror(os), remedy(os));
}

/* Table-valued pragmas call it a plain error. */
static bool found_no_memory(struct sqlite3 *db)
{
    return strcmp(sqlite3_errmsg(db), sqlite3_errstr(SQLITE_NOMEM)) == 0;
}

static int refused(struct sqlite3 *db, struct err *err)
{
    int primary = sqlite3_errcode(db) & 0xff, os = sql_system_error(db);

    switch (primary) {
    case SQLITE_FULL:
        os = os == EDQUOT || os == EFBIG ? os : ENOSPC;
        break;
    case SQLITE_NOMEM:
        os = ENOMEM;
        break;
    case SQLITE_CORRUPT:
        if (os == EIO) /* SQLite says the same of what cannot be read */
            break;
        return err_set(err, ERR_STORE,
                       "%.100s; 'fa-coord recover' copies the rows that can be "
                       "read",
                       sqlite3_errmsg(db));
    case SQLITE_IOERR:
        if (sqlite3_extended_errcode(db) == SQLITE_IOERR_NOMEM)
            os = ENOMEM;
        os = os ? os : EIO;
        break;
    case SQLITE_CANTOPEN:
        os = os == ENOENT || os == EISDIR || os == ENOTDIR ? 0 : os;
        break;
    default:
        os = found_no_memory(db) ? ENOMEM : 0;
        break;
    }
    if (os == 0 && primary == SQLITE_READONLY)
        return err_set(err, ERR_STORE,
                       "%s: make the file and its folder writable, and run the "
                       "same command again",
                       sqlite3_errmsg(db));
    if (os == 0 && primary == SQLITE_CANTOPEN)
        return err_set(err, ERR_STORE,
                       "%s, or one beside it (-wal, -shm): make the folder "
                       "writable, and run the same command again",
                       sqlite3_errmsg(db));
    if (os == 0)
        return err_set(err, ERR_STORE, "%s", sqlite3_errmsg(db));
    return sql_system_refused(os, err);
}

int sql_refused(struct sqlite3 *db, struct err *err)
{
    return in_one_line(refused(db, err), err);
}

static int refuse(struct sqlite3_stmt *stmt, struct err *err)
{
    (void)sql_refused(sqlite3_db_handle(stmt), err);
    sql_reset(stmt);
    return ERR_STORE;
}

int sql_bind(struct sqlite3_stmt *stmt, const struct sql_value *values,
             size_t n, struct err *err)
{
    int rc = SQLITE_OK;

    for (int i = 1; i <= (int)n && rc == SQLITE_OK; i++, values++) {
        switch (values->type) {
        case 'I':
            rc = sqlite3_bind_int64(stmt, i, values->integer);
            break;
        case 'd':
            rc = sqlite3_bind_double(stmt, i, values->real);
            break;
        case 't':
            rc = sqlite3_bind_text64(stmt, i, values->text, values->len,
                                     SQLITE_STATIC, SQLITE_UTF8);
            break;
        default:
            rc = sqlite3_bind_null(stmt, i);
        }
    }
    return rc == SQLITE_OK ? 0 : refuse(stmt, err);
}

int sql_prepare(struct sqlite3 *db, const char *text, struct sqlite3_stmt **out,
                struct err *err)
{
    const char *tail = "";
    int rc =
        sqlite3_prepare_v3(db, text, -1, SQLITE_PREPARE_PERSISTENT, out, &tail);

    if (rc == SQLITE_OK && tail[strspn(tail, "; \n")] == '\0')
        return 0;
    if (rc == SQLITE_OK) {
        sql_free(*out);
        *out = NULL;
        return err_set(err, ERR_INPUT, "more than one statement");
    }
    if ((rc & 0xff) == SQLITE_ERROR && !found_no_memory(db))
        return in_one_line(err_set(err, ERR_INPUT, "%s", sqlite3_errmsg(db)),
                           err);
    return sql_refused(db, err);
}

void sql_free(struct sqlite3_stmt *stmt)
{
    sqlite3_finalize(stmt);
}

int sql_run(struct sqlite3 *db, const char *text, struct err *err)
{
    if (sqlite3_exec(db, text, NULL, NULL, NULL) == SQLITE_OK)
        return 0;
    return sql_refused(db, err);
}

int sql_number(struct sqlite3 *db, const char *text, int64_t *out,
               struct err *err, const char *types, ...)
{
    struct sql_value values[SQL_VALUES_MAX];
    struct sqlite3_stmt *stmt = NULL;
    int rc = sql_prepare(db, text, &stmt, err);
    va_list ap;
    size_t n;

    va_start(ap, types);
    n = sql_values_va(values, types, ap);
    va_end(ap);
    *out = 0;
    if (rc == 0)
        rc = sql_bind(stmt, values, n, err);
    if (rc == 0)
        rc = sql_step(stmt, err);
    if (rc == 1)
        *out = sql_only_int(stmt);
    sql_free(stmt);
    return err_only(rc);
}

int sql_exec_values(struct sqlite3_stmt *stmt, const struct sql_value *values,
                    size_t n, struct err *err)
{
    struct sqlite3 *db = sqlite3_db_handle(stmt);
    int before = sqlite3_total_changes(db);
    int rc = sql_bind(stmt, values, n, err);

    if (rc < 0)
        return rc;
    if (sqlite3_step(stmt) != SQLITE_DONE)
        return refuse(stmt, err);
    sql_reset(stmt);
    return sqlite3_total_changes(db) - before;
}

int sql_exec(struct sqlite3_stmt *stmt, struct err *err, const char *types, ...)
{
    struct sql_value values[SQL_VALUES_MAX];
    va_list ap;
    size_t n;

    va_start(ap, types);
    n = sql_values_va(values, types, ap);
    va_end(ap);
    return sql_exec_values(stmt, values, n, err);
}

int sql_start(struct sqlite3_stmt *stmt, struct err *err, const char *types,
              ...)
{
    struct sql_value values[SQL_VALUES_MAX];
    va_list ap;
    size_t n;

    va_start(ap, types);
    n = sql_values_va(values, types, ap);
    va_end(ap);
    return sql_bind(stmt, values, n, err);
}

int sql_step(struct sqlite3_stmt *stmt, struct err *err)
{
    switch (sqlite3_step(stmt)) {
    case SQLITE_ROW:
        return 1;
    case SQLITE_DONE:
        sql_reset(stmt);
        return 0;
    default:
        return refuse(stmt, err);
    }
}

void sql_reset(struct sqlite3_stmt *stmt)
{
    sqlite3_reset(stmt);
    sqlite3_clear_bindings(stmt);
}

const char *sql_text(struct sqlite3_stmt *stmt, int column)
{
    const unsigned char *text = sqlite3_column_text(stmt, column);

    return text ? (const char *)text : "";
}

int64_t sql_int(struct sqlite3_stmt *stmt, int column)
{
    return sqlite3_column_int64(stmt, column);
}

bool sql_is_null(struct sqlite3_stmt *stmt, int column)
{
    return sqlite3_column_type(stmt, column) == SQLITE_NULL;
}

double sql_real(struct sqlite3_stmt *stmt, int column)
{
    if (sql_is_null(stmt, column))
        return (double)NAN;
    return sqlite3_column_double(stmt, column);
}

const char *sql_column_name(struct sqlite3_stmt *stmt, int column)
{
    return sqlite3_column_name(stmt, column);
}

int64_t sql_only_int(struct sqlite3_stmt *stmt)
{
    assert(sqlite3_column_count(stmt) == 1);
    return sql_int(stmt, 0);
}

static struct sql_value column_value(struct sqlite3_stmt *stmt, int column)
{
    const char *text;

    switch (sqlite3_column_type(stmt, column)) {
    case SQLITE_INTEGER:
        return (struct sql_value){ .type = 'I',
                                   .integer = sql_int(stmt, column) };
    case SQLITE_FLOAT:
        return real_value(sql_real(stmt, column));
    case SQLITE_NULL:
        return (struct sql_value){ .type = 'n' };
    default:
        text = sql_text(stmt, column);
        return text_value(text, (size_t)sqlite3_column_bytes(stmt, column));
    }
}

struct sql_value sql_value_of(struct sqlite3_value *value)
{
    const char *text;

    switch (sqlite3_value_type(value)) {
    case SQLITE_INTEGER:
        return (struct sql_value){ .type = 'I',
                                   .integer = sqlite3_value_int64(value) };
    case SQLITE_FLOAT:
        return real_value(sqlite3_value_double(value));
    case SQLITE_NULL:
        return (struct sql_value){ .type = 'n' };
    default:
        text = (const char *)sqlite3_value_text(value);
        return text_value(text, (size_t)sqlite3_value_bytes(value));
    }
}

size_t sql_row(struct sqlite3_stmt *stmt, struct sql_value out[SQL_VALUES_MAX])
{
    int n = sqlite3_column_count(stmt);

    assert(n <= SQL_VALUES_MAX);
    for (int i = 0; i < n; i++)
        out[i] = column_value(stmt, i);
    return (size_t)n;
}
