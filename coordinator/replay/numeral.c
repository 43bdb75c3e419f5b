#include "coordinator/replay/numeral.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/text/decimal.h"

#define DIGITS_SURE 15   /* a text of so many is always read back */
#define DIGITS_MAX 17    /* enough for every double */
#define PLAIN_LEAST (-4) /* powers of ten that repr() writes without 'e' */
#define PLAIN_MOST 15
#define EXPONENT_MOST 100000 /* far beyond the range of double */

bool numeral_is(const char *text)
{
    const char *at = text + (*text == '-');
    size_t whole = strspn(at, "0123456789"), part;

    if (whole == 0 || (*at == '0' && whole > 1) ||
        strlen(text) >= NUMERAL_BYTES)
        return false;
    at += whole;
    if (*at != '.')
        return !*at;
    part = strspn(at + 1, "0123456789");
    return part > 0 && !at[1 + part];
}

/* The part before 'e', and the number after it. */
static size_t mantissa(const char *text, int *exponent)
{
    size_t len = strcspn(text, "eE");
    long power = text[len] ? strtol(text + len + 1, NULL, 10) : 0;

    *exponent = (int)(power > EXPONENT_MOST    ? EXPONENT_MOST
                      : power < -EXPONENT_MOST ? -EXPONENT_MOST
                                               : power);
    return len;
}

double numeral_real(const char *text, int exponent)
{
    char shifted[512];
    const char *end;
    int power;
    size_t len = mantissa(text, &power);

    /* No measurement has this many digits; it is rounded
     * twice. */
    if (len + 16 > sizeof(shifted))
        return strtod(text, NULL) * pow(10, exponent);
    snprintf(shifted, sizeof(shifted), "%.*se%d", (int)len, text,
             power + exponent);
    return decimal_real(shifted, &end);
}

/* Drop zeros at the end of d.ddd; returns how many digits remain. */
static int trim(char *text, size_t len)
{
    size_t n = len, signs = *text == '-';

    while (text[n - 1] == '0')
        n--;
    if (text[n - 1] == '.')
        n--;
    memmove(text + n, text + len, strlen(text + len) + 1);
    return (int)(n == signs + 1 ? 1 : n - signs - 1);
}

/* The fewest digits that give the number again, as d.ddde+dd; returns how many
 * they are.  What 15 digits give is never given by fewer but by these without
 * zeros at the end. */
static int shortest(double real, char out[NUMERAL_BYTES])
{
    int power;

    for (int digits = DIGITS_SURE; digits <= DIGITS_MAX; digits++) {
        snprintf(out, NUMERAL_BYTES, "%.*e", digits - 1, real);
        if (strtod(out, NULL) == real)
            break;
    }
    return trim(out, mantissa(out, &power));
}

void numeral_repr(double real, char out[NUMERAL_BYTES])
{
    int digits = shortest(real, out), power, after;

    mantissa(out, &power);
    after = digits - 1 - power;
    if (power >= PLAIN_LEAST && power <= PLAIN_MOST)
        snprintf(out, NUMERAL_BYTES, "%.*f", after > 1 ? after : 1, real);
}

static int gives(const char *text, int exponent, double real)
{
    return numeral_real(text, -exponent) == real;
}

void numeral_text(double real, int exponent, char out[NUMERAL_BYTES])
{
    double near = real * pow(10, exponent);
    char moved[NUMERAL_BYTES];
    int power;
    size_t len;

    if (fabs(near) < FLT_MAX) {
        numeral_repr((double)(float)near, out);
        if (gives(out, exponent, real))
            return;
    }
    shortest(real, moved);
    len = mantissa(moved, &power);
    snprintf(out, NUMERAL_BYTES, "%.*se%+03d", (int)len, moved,
             power + exponent);
    near = strtod(out, NULL);
    if (!isfinite(near))
        return;
    numeral_repr(near, moved);
    if (gives(moved, exponent, real))
        memcpy(out, moved, sizeof(moved));
}
