#include "coordinator/replay/numeral.h"

#include <float.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "coordinator/text/decimal.h"

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
        decimal_repr((double)(float)near, out);
        if (gives(out, exponent, real))
            return;
    }
    decimal_shortest(real, moved);
    len = mantissa(moved, &power);
    snprintf(out, NUMERAL_BYTES, "%.*se%+03d", (int)len, moved,
             power + exponent);
    near = strtod(out, NULL);
    if (!isfinite(near))
        return;
    decimal_repr(near, moved);
    if (gives(moved, exponent, real))
        memcpy(out, moved, sizeof(moved));
}
