#include "worker/runner/device/order_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"
#include "worker/runner/secret.h"

struct order_check {
    struct order_check_array *arrays;
    bool *left_out; /* [n] */
    size_t n;
    size_t bytes;                 /* of both: */
    unsigned char *before, *left; /* the arrays one after the other, where the
                                   * next launch does not find them */
    unsigned char *half;          /* NULL before order_check_halve() */
};

static size_t bytes_of(const struct order_check_array *array)
{
    return (size_t)array->count * element_bytes(array->type);
}

/* Copy the arrays to 'kept', or back. */
static void copy(const struct order_check *check, unsigned char *kept,
                 bool back)
{
    for (size_t i = 0; i < check->n; i++) {
        size_t bytes = bytes_of(&check->arrays[i]);
        void *base = check->arrays[i].base;

        memcpy(back ? base : kept, back ? kept : base, bytes);
        kept += bytes;
    }
}

struct order_check *order_check_new(const struct order_check_array *arrays,
                                    size_t n)
{
    struct order_check *check;
    size_t bytes = 1;

    for (size_t i = 0; i < n; i++)
        bytes += bytes_of(&arrays[i]);
    if (bytes > ORDER_CHECK_BYTES_MAX)
        return NULL;
    check = mem_new(1, sizeof(*check));
    check->n = n;
    check->arrays = mem_new(n + 1, sizeof(*arrays));
    check->left_out = mem_new(n + 1, sizeof(*check->left_out));
    check->bytes = bytes;
    check->before = secret_new(bytes);
    check->left = secret_new(bytes);
    if (!check->before || !check->left) {
        order_check_free(check);
        return NULL;
    }
    for (size_t i = 0; i < n; i++)
        check->arrays[i] = arrays[i];
    copy(check, check->before, false);
    return check;
}

void order_check_free(struct order_check *check)
{
    if (!check)
        return;
    free(check->arrays);
    free(check->left_out);
    secret_free(check->before, check->bytes);
    secret_free(check->left, check->bytes);
    secret_free(check->half, check->bytes);
    free(check);
}

void order_check_leave_out(struct order_check *check, const void *base)
{
    for (size_t i = 0; i < check->n; i++)
        if (check->arrays[i].base == base)
            check->left_out[i] = true;
}

void order_check_keep(struct order_check *check)
{
    copy(check, check->left, false);
}

void order_check_restore(const struct order_check *check)
{
    copy(check, check->before, true);
}

void order_check_finish(const struct order_check *check)
{
    copy(check, check->left, true);
}

static bool is_met(const struct order_check_array *array, size_t at)
{
    return array->met && array->met[at / 4];
}

bool order_check_halve(struct order_check *check)
{
    const unsigned char *before = check->before;

    if (!check->half)
        check->half = secret_new(check->bytes);
    if (!check->half)
        return false;
    copy(check, check->half, false);
    for (size_t i = 0; i < check->n; i++) {
        const size_t bytes = bytes_of(&check->arrays[i]);
        unsigned char *now = check->arrays[i].base;

        for (size_t at = 0; at < bytes; at++)
            if (!is_met(&check->arrays[i], at))
                now[at] = before[at];
        before += bytes;
    }
    return true;
}

void order_check_join(const struct order_check *check, bool first_wins)
{
    const unsigned char *before = check->before, *half = check->half;

    for (size_t i = 0; i < check->n; i++) {
        const size_t bytes = bytes_of(&check->arrays[i]);
        unsigned char *now = check->arrays[i].base;

        for (size_t at = 0; at < bytes; at++)
            if (half[at] != before[at] &&
                (first_wins || now[at] == before[at]) &&
                !is_met(&check->arrays[i], at))
                now[at] = half[at];
        before += bytes;
        half += bytes;
    }
}

/* The first element whose bits differ. */
static int64_t first_difference(const struct order_check_array *array,
                                const unsigned char *left)
{
    const unsigned char *now = array->base;
    const size_t size = element_bytes(array->type);
    int64_t i = 0;

    while (memcmp(now + (size_t)i * size, left + (size_t)i * size, size) == 0)
        i++;
    return i;
}

bool order_check_same(const struct order_check *check, char *text, size_t size)
{
    const unsigned char *left = check->left;

    for (size_t i = 0; i < check->n; i++) {
        const struct order_check_array *array = &check->arrays[i];
        const size_t bytes = bytes_of(array);

        if (!check->left_out[i] && memcmp(array->base, left, bytes) != 0) {
            const int64_t at = first_difference(array, left);
            const int digits = array->type == ELEMENT_FP64 ? 17 : 9;

            snprintf(text, size,
                     "'%s'[%lld] is %.*g in one order, and %.*g in another",
                     array->name, (long long)at, digits,
                     element_load(left, array->type, at), digits,
                     element_load(array->base, array->type, at));
            return false;
        }
        left += bytes;
    }
    return true;
}
