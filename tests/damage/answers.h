/* answers.h - all that is said about a database, as one text
 *
 * The report as JSON and as CSV, and the export of the winner: of a damaged
 * copy a reader must get this text of the sound one, or a refusal.
 */
#ifndef FA_TESTS_DAMAGE_ANSWERS_H
#define FA_TESTS_DAMAGE_ANSWERS_H

#include <stddef.h>

struct err;

/* cmocka set-up and tear-down: '*state' is the path of a database that does not
 * exist yet, in a folder of its own.  It is in memory, if possible: there are
 * many files, and other programs may keep the disk busy. */
int answers_setup(void **state);
int answers_teardown(void **state);

/* The text, for the caller to free; NULL, and 'err' says why the database is
 * refused: it is damaged, or holds no sweep yet.  Other errors fail the test.
 */
char *answers_of(const char *path, struct err *err);

/* 0, or how many findings 'verify' has; -1 if the database cannot be opened. */
long long answers_found(const char *path);

/* A finished sweep with a verdict. */
void answers_make(const char *path);

/* The bytes of a file, for the caller to free, and back. */
char *answers_read(const char *path, size_t *len);
void answers_write(const char *path, const char *bytes, size_t len);

/* Remove the database with what is beside it. */
void answers_remove(const char *path);

#endif
