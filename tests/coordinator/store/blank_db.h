/* blank_db.h - databases in which no sweep has begun, quickly
 *
 * To bring an empty file through all formats takes as long as a small sweep.
 * So a process does it once, and copies the file from then on.  Tests of the
 * making of databases do not use this.
 */
#ifndef FA_TESTS_COORDINATOR_STORE_BLANK_DB_H
#define FA_TESTS_COORDINATOR_STORE_BLANK_DB_H

struct err;

/* Make 'path' unless it exists: a database in the newest format, closed, mode
 * 0600.  ERR_SYSTEM, ERR_STORE */
int blank_db(const char *path, struct err *err);

#endif
