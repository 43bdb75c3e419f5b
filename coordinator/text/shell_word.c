#include "coordinator/text/shell_word.h"

#include <string.h>

#include "common/mem.h"

#define HARMLESS                                                     \
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" \
    "%+,-./:=@_"

char *shell_word(const char *text)
{
    char *word, *to;

    if (*text && strspn(text, HARMLESS) == strlen(text))
        return mem_strdup(text);
    word = to = mem_new(4 * strlen(text) + 3, 1);
    *to++ = '\'';
    for (; *text; text++) {
        if (*text == '\'')
            to = stpcpy(to, "'\\''");
        else
            *to++ = *text;
    }
    *to++ = '\'';
    *to = '\0';
    return word;
}
