/* c_text.h - words in the text of a CUDA source
 *
 * Thread rule: no state; any thread.
 */
#ifndef FA_COORDINATOR_SOURCE_C_TEXT_H
#define FA_COORDINATOR_SOURCE_C_TEXT_H

#include <stdbool.h>

/* A copy of the same length, with blanks in place of a byte order mark, of
 * comments, and of what texts in quotes hold; "C" stays, as in extern "C".
 * The caller frees it. */
char *c_text_plain(const char *text);

bool c_text_is_word(char c); /* a letter, a digit or _ */
const char *c_text_skip_blanks(const char *at);
/* The first place where the word stands, not as a part of another one. */
const char *c_text_find_word(const char *text, const char *word);
/* The end of what begins with 'open' at 'at'; NULL if it does not end. */
const char *c_text_skip_pair(const char *at, char open, char close);

#endif
