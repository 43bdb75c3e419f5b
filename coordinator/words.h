/* words.h - texts that many rows share, kept once
 *
 * Hosts, reasons and ways of sampling of a hundred thousand results are a
 * handful of texts.  They are kept clean for a terminal (terminal.h).
 * Thread rule: one thread.
 */
#ifndef FA_COORDINATOR_WORDS_H
#define FA_COORDINATOR_WORDS_H

struct words;

struct words *words_new(void);
void words_free(struct words *words); /* NULL is fine */

/* The text, cleaned; as long as 'words' lives. */
const char *words_keep(struct words *words, const char *text);

#endif
