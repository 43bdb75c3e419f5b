/* string_pool.h - stores each distinct text once
 *
 * A hundred thousand results have only a few distinct hosts, reasons and ways
 * of sampling.  The texts are cleaned for a terminal (terminal.h).
 * Thread rule: one thread.
 */
#ifndef FA_COORDINATOR_TEXT_STRING_POOL_H
#define FA_COORDINATOR_TEXT_STRING_POOL_H

struct string_pool;

struct string_pool *string_pool_new(void);
void string_pool_free(struct string_pool *pool); /* NULL is fine */

/* The cleaned text; valid until string_pool_free(). */
const char *string_pool_keep(struct string_pool *pool, const char *text);

#endif
