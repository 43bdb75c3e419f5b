#include "coordinator/text/decimal.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHORT = 9, /* digits that identify a float */
    LONG = 17, /* digits that identify any double */
    /* Decimal exponents of the fast path, with a margin of one: 5^k for the k
     * digits after the point fits into 64 bits, and 10^k of SHORT is exact. */
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

/* The exponent of the first digit, or off by one where a power of ten is not a
 * double.  Out of range for values that the fast path does not handle. */
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

/* The nine digits that read back as the same number, or 0. Quotients of exact
 * numbers are rounded as strtod() rounds. */
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

/* Lay out the digits in 'digits' as %g does. */
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
        *at++ = 'e'; /* always negative: the fast path has no large ones */
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

/* ---- writing as Python does */

enum {
    SURE = 15,        /* a text of so many digits is always read back */
    PLAIN_LEAST = -4, /* powers of ten that repr() writes without 'e' */
    PLAIN_MOST = 15,
};

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

/* What 15 digits give is never given by fewer but by these without zeros at the
 * end. */
int decimal_shortest(double real, char out[DECIMAL_BYTES])
{
    for (int digits = SURE; digits <= LONG; digits++) {
        snprintf(out, DECIMAL_BYTES, "%.*e", digits - 1, real);
        if (strtod(out, NULL) == real)
            break;
    }
    return trim(out, strcspn(out, "e"));
}

void decimal_repr(double real, char out[DECIMAL_BYTES])
{
    int digits = decimal_shortest(real, out);
    long power = strtol(strchr(out, 'e') + 1, NULL, 10);
    long after = digits - 1 - power;

    if (power >= PLAIN_LEAST && power <= PLAIN_MOST)
        snprintf(out, DECIMAL_BYTES, "%.*f", after > 1 ? (int)after : 1, real);
}

/* ---- reading */

#define DIGITS_MAX 19 /* that fit into 64 bits */
#define EXACT_TENS 22 /* so many tens are a double */

/* For 5^k, k from 1: 5^k shifted so that its highest bit is bit 63, 'shift',
 * and 2^127 over that, rounded down. */
static const struct {
    uint64_t inverse;
    int shift;
} fives[] = {
    { UINT64_C(0xcccccccccccccccc), 61 }, { UINT64_C(0xa3d70a3d70a3d70a), 59 },
    { UINT64_C(0x83126e978d4fdf3b), 57 }, { UINT64_C(0xd1b71758e219652b), 54 },
    { UINT64_C(0xa7c5ac471b478423), 52 }, { UINT64_C(0x8637bd05af6c69b5), 50 },
    { UINT64_C(0xd6bf94d5e57a42bc), 47 }, { UINT64_C(0xabcc77118461cefc), 45 },
    { UINT64_C(0x89705f4136b4a597), 43 }, { UINT64_C(0xdbe6fecebdedd5be), 40 },
    { UINT64_C(0xafebff0bcb24aafe), 38 }, { UINT64_C(0x8cbccc096f5088cb), 36 },
    { UINT64_C(0xe12e13424bb40e13), 33 }, { UINT64_C(0xb424dc35095cd80f), 31 },
    { UINT64_C(0x901d7cf73ab0acd9), 29 }, { UINT64_C(0xe69594bec44de15b), 26 },
    { UINT64_C(0xb877aa3236a4b449), 24 }, { UINT64_C(0x9392ee8e921d5d07), 22 },
    { UINT64_C(0xec1e4a7db69561a5), 19 }, { UINT64_C(0xbce5086492111aea), 17 },
    { UINT64_C(0x971da05074da7bee), 15 }, { UINT64_C(0xf1c90080baf72cb1), 12 },
    { UINT64_C(0xc16d9a0095928a27), 10 }, { UINT64_C(0x9abe14cd44753b52), 8 },
    { UINT64_C(0xf79687aed3eec551), 5 },  { UINT64_C(0xc612062576589dda), 3 },
    { UINT64_C(0x9e74d1b791e07e48), 1 },
};
enum {
    FIVES = sizeof(fives) / sizeof(fives[0])
};

/* digits / 10^k, rounded as strtod() rounds, or 0 if it is too close to a tie.
 * The product with the rounded inverse is too small by less than one in its
 * upper half. */
static double quotient(uint64_t digits, int k)
{
    int up = __builtin_clzll(digits), down = fives[k - 1].shift;
    uint64_t high =
        (uint64_t)((wide)(digits << up) * fives[k - 1].inverse >> 64);
    int extra = 64 - BITS - (high >> 63 ? 0 : 1);
    uint64_t half = UINT64_C(1) << (extra - 1), low = high & (2 * half - 1);

    if (low == half || low == half - 1)
        return 0;
    high = (high >> extra) + (low > half);
    return ldexp((double)high, extra - 63 + down - up - k);
}

/* The number digits * 10^exponent; 0 if the fast path does not handle it. */
static double put_together(uint64_t digits, int exponent)
{
    static const double exact[EXACT_TENS + 1] = {
        1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
        1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22
    };

    if (digits >> BITS == 0 && exponent >= 0 && exponent <= EXACT_TENS)
        return (double)digits * exact[exponent];
    if (digits >> BITS == 0 && exponent < 0 && exponent >= -EXACT_TENS)
        return (double)digits / exact[-exponent];
    if (digits > 0 && exponent < 0 && exponent >= -FIVES)
        return quotient(digits, -exponent);
    return 0;
}

/* Parse "-12.5e-3" into digits and an exponent; NULL if it has another form or
 * is too long. */
static const char *take_apart(const char *text, uint64_t *digits, int *exponent)
{
    int n = 0, power = 0;
    bool down, point = false;

    *digits = 0;
    *exponent = 0;
    for (; (*text >= '0' && *text <= '9') || (*text == '.' && !point); text++) {
        if (*text == '.') {
            point = true;
            continue;
        }
        if (*digits > 0 && ++n == DIGITS_MAX)
            return NULL;
        *digits = 10 * *digits + (uint64_t)(*text - '0');
        *exponent -= point;
    }
    if (*text != 'e' && *text != 'E')
        return *text == 'x' || *text == 'X' ? NULL : text;
    text++;
    down = *text == '-';
    text += *text == '-' || *text == '+';
    if (*text < '0' || *text > '9')
        return NULL;
    for (; *text >= '0' && *text <= '9'; text++)
        power = power < 1000 ? 10 * power + *text - '0' : power;
    *exponent += down ? -power : power;
    return text;
}

double decimal_real(const char *text, const char **end)
{
    const char *from = text + (*text == '-');
    uint64_t digits;
    int exponent;

    if (*from >= '0' && *from <= '9') {
        const char *to = take_apart(from, &digits, &exponent);
        double real = to ? put_together(digits, exponent) : 0;

        if (real != 0) {
            *end = to;
            return from > text ? -real : real;
        }
    }
    return strtod(text, (char **)end);
}
