#include "coordinator/source/c_text.h"

#include <ctype.h>
#include <string.h>

#include "common/mem.h"

#define BYTE_ORDER_MARK "\xef\xbb\xbf"

bool c_text_is_word(char c)
{
    return isalnum((unsigned char)c) || c == '_';
}

const char *c_text_skip_blanks(const char *at)
{
    return at + strspn(at, " \t\r\n");
}

const char *c_text_find_word(const char *text, const char *word)
{
    size_t len = strlen(word);

    for (const char *at = text; (at = strstr(at, word)); at += len)
        if ((at == text || !c_text_is_word(at[-1])) && !c_text_is_word(at[len]))
            return at;
    return NULL;
}

const char *c_text_skip_pair(const char *at, char open, char close)
{
    int depth = 0;

    for (; *at; at++) {
        depth += *at == open;
        depth -= *at == close;
        if (depth == 0)
            return at + 1;
    }
    return NULL;
}

static char *blank(char *from, const char *end)
{
    for (; from < end; from++)
        if (*from != '\n')
            *from = ' ';
    return from;
}

/* The end of the comment that begins at 'at'; NULL if none begins there. */
static const char *comment_end(const char *at)
{
    const char *end;

    if (strncmp(at, "//", 2) == 0)
        return at + strcspn(at, "\n");
    if (strncmp(at, "/*", 2) != 0)
        return NULL;
    end = strstr(at + 2, "*/");
    return end ? end + 2 : at + strlen(at);
}

/* The quote that ends the text at 'at', or the end of its line. */
static const char *quote_end(const char *at)
{
    const char *end = at + 1;

    while (*end && *end != '\n' && *end != *at)
        end += end[0] == '\\' && end[1] ? 2 : 1;
    return end;
}

char *c_text_plain(const char *text)
{
    char *plain = mem_strdup(text), *at = plain;

    if (strncmp(at, BYTE_ORDER_MARK, 3) == 0)
        at = blank(at, at + 3);
    while (*at) {
        /* not the ' of 1'000 */
        bool quote = *at == '"' ||
                     (*at == '\'' && (at == plain || !c_text_is_word(at[-1])));
        const char *end = quote ? quote_end(at) : comment_end(at);

        if (quote && strncmp(at, "\"C\"", 3) != 0)
            (void)blank(at + 1, end);
        if (quote)
            at += end - at + (*end == *at);
        else
            at = end ? blank(at, end) : at + 1;
    }
    return plain;
}
