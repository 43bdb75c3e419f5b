#include "coordinator/text/suggest.h"

#include <ctype.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define WORD_MAX 64 /* longer words have no near name */

static size_t least(size_t a, size_t b, size_t c)
{
    size_t m = a < b ? a : b;

    return m < c ? m : c;
}

/* Optimal string alignment distance, three rows at a time. */
static size_t distance(const char *a, size_t na, const char *b, size_t nb)
{
    size_t rows[3][WORD_MAX + 1];

    for (size_t j = 0; j <= nb; j++)
        rows[0][j] = j;
    for (size_t i = 1; i <= na; i++) {
        size_t *row = rows[i % 3], *up = rows[(i + 2) % 3];

        row[0] = i;
        for (size_t j = 1; j <= nb; j++) {
            int x = tolower((unsigned char)a[i - 1]);
            int y = tolower((unsigned char)b[j - 1]);

            row[j] = least(up[j] + 1, row[j - 1] + 1, up[j - 1] + (x != y));
            if (i > 1 && j > 1 && x == tolower((unsigned char)b[j - 2]) &&
                y == tolower((unsigned char)a[i - 2]))
                row[j] = least(row[j], row[j], rows[(i + 1) % 3][j - 2] + 1);
        }
    }
    return rows[na % 3][nb];
}

const char *suggest_name(const char *word, size_t len, const char *const *names,
                         size_t n)
{
    const char *best = NULL;
    size_t best_edits = SIZE_MAX;

    if (len > WORD_MAX)
        return NULL;
    for (size_t i = 0; i < n; i++) {
        size_t size = strlen(names[i]);
        size_t longer = size > len ? size : len, edits;

        if (size > WORD_MAX || (longer == 1 && names[i][0] != word[0]))
            continue; /* one letter is like any other */
        edits = distance(word, len, names[i], size);
        if (edits < best_edits && edits <= (longer + 2) / 3) {
            best = names[i];
            best_edits = edits;
        }
    }
    return best;
}

const char *suggest_ending(const char *word, size_t len,
                           const char *const *names, size_t n, char *out)
{
    const char *near = suggest_name(word, len, names, n);

    *out = '\0';
    if (near)
        snprintf(out, SUGGEST_BYTES, "; did you mean '%s'?", near);
    return out;
}
