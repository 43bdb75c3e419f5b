/* exit_code.h - the exit codes
 *
 * A test compares docs/exit-codes.md with these texts.
 */
#ifndef FA_COORDINATOR_TEXT_EXIT_CODE_H
#define FA_COORDINATOR_TEXT_EXIT_CODE_H

#include <stdbool.h>
#include <stddef.h>

enum exit_code {
    EXIT_DONE = 0,
    EXIT_NO_RESULT = 1, /* no valid result, or an error without its own code */
    EXIT_INPUT = 2,
    EXIT_NO_HOST = 3,
    EXIT_REFUSED = 4,
    EXIT_PARTIAL = 5,
    EXIT_CAP = 6,
    EXIT_DATABASE = 7,
    EXIT_BY_SIGNAL = 128, /* plus the number of the signal */
};

/* Other names for the same codes, for commands that answer a question. */
enum exit_answer {
    EXIT_ANSWER_GOOD = EXIT_DONE,
    EXIT_ANSWER_BAD = EXIT_NO_RESULT,
    EXIT_ANSWER_UNKNOWN = EXIT_INPUT,
};

/* All codes with their meanings, in order: entry 'i', or NULL past the last. */
struct exit_meaning {
    const char *codes; /* "7", "129, 130, 143" */
    const char *text;
};
const struct exit_meaning *exit_code_meaning(size_t i);

/* The exit code for an ERR_* code. */
int exit_code_of(int rc);

int exit_code_of_signal(int signo);
bool exit_code_is_signal(int code);

/* Did it stop before everything was settled, with nothing lost?  Then the same
 * command continues. */
bool exit_code_is_resumable(int code);

#endif
