/* exit_code.h - what the program says to the script that called it
 *
 * docs/exit-codes.md is checked against these words.
 */
#ifndef FA_COORDINATOR_TEXT_EXIT_CODE_H
#define FA_COORDINATOR_TEXT_EXIT_CODE_H

#include <stdbool.h>
#include <stddef.h>

enum exit_code {
    EXIT_DONE = 0,
    EXIT_NO_RESULT = 1, /* nothing valid, or what no other code names */
    EXIT_INPUT = 2,
    EXIT_NO_HOST = 3,
    EXIT_REFUSED = 4,
    EXIT_PARTIAL = 5,
    EXIT_CAP = 6,
    EXIT_DATABASE = 7,
    EXIT_BY_SIGNAL = 128, /* and more: plus the signal's number */
};

/* The same numbers where a command answers a question of the user. */
enum exit_answer {
    EXIT_ANSWER_GOOD = EXIT_DONE,
    EXIT_ANSWER_BAD = EXIT_NO_RESULT,
    EXIT_ANSWER_UNKNOWN = EXIT_INPUT,
};

/* Every code with its meaning, in order: entry 'i', or NULL past the last. */
struct exit_meaning {
    const char *codes; /* "7", "129, 130, 143" */
    const char *text;
};
const struct exit_meaning *exit_code_meaning(size_t i);

/* Of an ERR_* code. */
int exit_code_of(int rc);

int exit_code_of_signal(int signo);
bool exit_code_is_signal(int code);

/* Did it end before all was settled, with nothing lost?  The same command
 * goes on. */
bool exit_code_is_resumable(int code);

#endif
