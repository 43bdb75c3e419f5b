/* rental_answer.h - the words of start= and stop=, and what start= printed
 *
 * A command is split at blanks, and no shell reads it.  {host} in a word is
 * the host's name.  start= may print where its machine is, as words anywhere
 * in its output: host= port= user= hostkey= and id=.  The last of each counts;
 * other words are ignored, because tools print a lot.
 *
 * Pure; any thread.
 */
#ifndef FA_COORDINATOR_RENTAL_RENTAL_ANSWER_H
#define FA_COORDINATOR_RENTAL_RENTAL_ANSWER_H

#include <stddef.h>

#include "common/err.h"

struct host;

#define RENTAL_ANSWER_WORDS 64
#define RENTAL_ANSWER_BYTES 4096

/* "" or 0: start= did not print it. */
struct rental_answer {
    char address[256];
    int port;
    char user[64];
    char hostkey[64];
    char machine[128]; /* id= */
};

/* Split into NUL-terminated words in 'text'; '*n' of them.  ERR_INPUT if there
 * is no word, or more than fit. */
int rental_answer_split(const char *command, const char *host,
                        char text[RENTAL_ANSWER_BYTES],
                        const char *words[RENTAL_ANSWER_WORDS], size_t *n,
                        struct err *err);

/* What start= prints, as it comes and however much it is; all zero at first.  A
 * NUL ends a word like a blank. */
struct rental_answer_reader {
    struct rental_answer answer; /* so far */
    char word[512];              /* that is not over; the rest is dropped */
    size_t len;
    int rc; /* of the first word that cannot be used */
    struct err err;
};

void rental_answer_add(struct rental_answer_reader *reader, const char *bytes,
                       size_t n);
/* No more comes.  ERR_INPUT names the first word that cannot be used; 'out' has
 * the others all the same. */
int rental_answer_end(struct rental_answer_reader *reader,
                      struct rental_answer *out, struct err *err);
/* The words again, without id=. */
void rental_answer_text(const struct rental_answer *answer, char *out,
                        size_t size);

/* Put into 'host' what the answer says. */
void rental_answer_apply(const struct rental_answer *answer, struct host *host);

#endif
