/* shell_word.h - a text as a word of a shell command
 *
 * For commands that users copy from a message, and for scripts.
 * Thread rule: no state; any thread.
 */
#ifndef FA_COORDINATOR_TEXT_SHELL_WORD_H
#define FA_COORDINATOR_TEXT_SHELL_WORD_H

/* The text as sh, bash, zsh and fish read it back: as it is, or in single
 * quotes where it is empty or has a character that a shell may treat in its own
 * way.  The caller frees it. */
char *shell_word(const char *text);

#endif
