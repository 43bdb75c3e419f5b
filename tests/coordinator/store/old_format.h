/* old_format.h - databases of older formats, for tests */
#ifndef FA_TESTS_COORDINATOR_STORE_OLD_FORMAT_H
#define FA_TESTS_COORDINATOR_STORE_OLD_FORMAT_H

#include <stdint.h>

#define OLD_FORMAT_NEWEST 12

/* Make the database of tests/fixtures/databases/format_N.sql. */
void old_format_make(const char *path, int format);
/* The format that the file says. */
int64_t old_format_of(const char *path);
/* The number of the first page of a table; 1 is the first of the file. */
int64_t old_format_page(const char *path, const char *table);
/* Run SQL behind the back of the store. */
void old_format_change(const char *path, const char *sql);

#endif
