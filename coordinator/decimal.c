#include "coordinator/decimal.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHORT = 9, /* digits: a float reads back from them */
    LONG = 17, /* any double does */
    /* Decimal exponents that the fast way takes, one off included: 5^k for the
     * k digits behind the point fits into 64 bits, 10^k of SHORT is exact. */
    EXPONENT_MIN = -10,
    EXPONENT_MAX = 7,
    BITS = 53,
};

__extension__ typedef unsigned __int128 wide;

static const double tens[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,
                               1e7,  1e8,  1e9,  1e10, 1e11, 1e12, 1e13,
                               1e14, 1e15, 1e16, 1e17, 1e18 };

static uint64_t five_to(int k)
{
    uint64_t power = 1;

    while (k-- > 0)
        power *= 5;
    return power;
}

/* The exponent of the first digit, or one off where a power of ten is not a
 * double; out of range for what the fast way does not take. */
static int exponent_of(double real)
{
    static const double small[] = { 1e-10, 1e-9, 1e-8, 1e-7, 1e-6,
                                    1e-5,  1e-4, 1e-3, 1e-2, 1e-1 };
    int exponent = EXPONENT_MIN - 1;

    if (real >= tens[EXPONENT_MAX + 1])
        return EXPONENT_MAX + 1;
    if (real >= 1)
        for (exponent = 0; real >= tens[exponent + 1];)
            exponent++;
    else
        while (exponent < -1 && real >= small[exponent + 1 - EXPONENT_MIN])
            exponent++;
    return exponent;
}

/* The nine digits that read back, or 0: quotients of exact numbers are rounded
 * as strtod() rounds. */
static uint64_t short_digits(double real, int *exponent)
{
    int places = SHORT - 1 - *exponent;
    double whole = floor(real * tens[places] + 0.5);

    if (whole / tens[places] != real)
        return 0;
    if (whole < tens[SHORT])
        return (uint64_t)whole;
    ++*exponent;
    return (uint64_t)(whole / 10);
}

/* real * 10^places, to the nearest whole number, ties to even. */
static uint64_t scaled(double real, int places)
{
    int two;
    uint64_t bits = (uint64_t)ldexp(frexp(real, &two), BITS);
    wide product = (wide)bits * five_to(places);
    int shift = BITS - two - places; /* of 2^(two - BITS + places); > 0 */
    uint64_t whole = (uint64_t)(product >> shift);
    wide rest = product - ((wide)whole << shift), half = (wide)1 << (shift - 1);

    return whole + (rest > half || (rest == half && (whole & 1)));
}

static uint64_t long_digits(double real, int *exponent)
{
    const uint64_t least = UINT64_C(10000000000000000); /* 17 digits */
    uint64_t digits = scaled(real, LONG - 1 - *exponent);

    if (digits < least) {
        --*exponent;
        return scaled(real, LONG - 1 - *exponent);
    }
    if (digits < 10 * least)
        return digits;
    ++*exponent;
    return digits / 10;
}

/* As %g lays out so many digits, which 'digits' has. */
static size_t lay_out(uint64_t digits, int precision, int exponent, char *out)
{
    char text[LONG] = { 0 };
    char *at = out;
    int n = precision, whole = exponent + 1;

    while (digits % 10 == 0) {
        digits /= 10;
        n--;
    }
    for (int i = n; i-- > 0; digits /= 10)
        text[i] = (char)('0' + digits % 10);
    if (exponent < -4 || exponent >= precision) {
        *at++ = text[0];
        if (n > 1)
            *at++ = '.';
        memcpy(at, text + 1, (size_t)n - 1);
        at += n - 1;
        *at++ = 'e'; /* below zero: the others are too small for it */
        *at++ = '-';
        *at++ = (char)('0' - exponent / 10);
        *at++ = (char)('0' - exponent % 10);
        *at = '\0';
        return (size_t)(at - out);
    }
    if (whole <= 0) {
        *at++ = '0';
        *at++ = '.';
    }
    for (int i = whole; i < 0; i++)
        *at++ = '0';
    for (int i = 0; i < n || i < whole; i++) {
        if (i == whole && i > 0)
            *at++ = '.';
        *at++ = i < n ? text[i] : '0';
    }
    *at = '\0';
    return (size_t)(at - out);
}

static size_t print(double real, char out[DECIMAL_BYTES])
{
    int n = snprintf(out, DECIMAL_BYTES, "%.*g", SHORT, real);

    if (strtod(out, NULL) != real)
        n = snprintf(out, DECIMAL_BYTES, "%.*g", LONG, real);
    return (size_t)n;
}

size_t decimal_text(double real, char out[DECIMAL_BYTES])
{
    int exponent = exponent_of(fabs(real));
    bool minus = real < 0;
    uint64_t digits;

    if (exponent < EXPONENT_MIN || exponent > EXPONENT_MAX)
        return print(real, out);
    if (minus)
        *out = '-';
    real = fabs(real);
    digits = short_digits(real, &exponent);
    if (digits)
        return minus + lay_out(digits, SHORT, exponent, out + minus);
    digits = long_digits(real, &exponent);
    return minus + lay_out(digits, LONG, exponent, out + minus);
}
