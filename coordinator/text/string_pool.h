/* string_pool.h - texts that many rows share, kept once
 *
 * Hosts, reasons and ways of sampling of a hundred thousand results are a
 * handful of texts.  They are kept clean for a terminal (terminal.h).
 * Thread rule: one thread.
 */
#ifndef FA_COORDINATOR_TEXT_STRING_POOL_H
#define FA_COORDINATOR_TEXT_STRING_POOL_H

struct string_pool;

struct string_pool *string_pool_new(void);
void string_pool_free(struct string_pool *pool); /* NULL is fine */

/* The text, cleaned; as long as 'pool' lives. */
const char *string_pool_keep(struct string_pool *pool, const char *text);

#endif
