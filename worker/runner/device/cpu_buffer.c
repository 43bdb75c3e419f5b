#include "worker/runner/device/cpu_buffer.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "common/mem.h"
#include "worker/runner/device/device_host.h"
#include "worker/runner/emulator/array.h"
#include "worker/runner/secret.h"

static struct device_buffer *buffers;

const struct device_buffer *cpu_buffer_first(void)
{
    return buffers;
}

int device_alloc(struct device *device, const char *name,
                 enum element_type type, int64_t count,
                 struct device_buffer **out, struct device_err *err)
{
    struct device_buffer *buffer = mem_new(1, sizeof(*buffer));
    const size_t bytes = (size_t)count * element_bytes(type);

    (void)device;
    buffer->array = array_new(name, bytes);
    if (!buffer->array) {
        free(buffer);
        return device_host_fail(err, DEVICE_BROKEN, "%zu bytes for '%s': %s",
                                bytes, name, strerror(errno));
    }
    buffer->type = type;
    buffer->count = count;
    buffer->name = mem_strdup(name);
    buffer->writable = true;
    buffer->next = buffers;
    buffers = buffer;
    *out = buffer;
    return 0;
}

void device_free(struct device *device, struct device_buffer *buffer)
{
    (void)device;
    struct device_buffer **at = &buffers;

    if (!buffer)
        return;
    while (*at != buffer)
        at = &(*at)->next;
    *at = buffer->next;
    array_free(buffer->array);
    free(buffer->name);
    free(buffer);
}

void *device_address(const struct device_buffer *buffer)
{
    return array_base(buffer->array);
}

int device_guard(struct device *device, struct device_buffer *buffer,
                 enum device_access access, struct device_err *err)
{
    (void)device;
    buffer->writable = access == DEVICE_WRITE;
    buffer->opened = buffer->opened || access != DEVICE_HIDDEN;
    if (!array_guard(buffer->array, access != DEVICE_WRITE,
                     access == DEVICE_HIDDEN))
        return device_host_fail(err, DEVICE_BROKEN, "mprotect, madvise: %s",
                                strerror(errno));
    return 0;
}

int device_fill(struct device *device, struct device_buffer *buffer,
                const struct fill *fill, uint64_t key, struct device_err *err)
{
    void *base = array_base(buffer->array);

    (void)device;
    (void)err;
    for (int64_t i = 0; i < buffer->count; i++)
        element_store(base, buffer->type, i, fill_value(fill, key, i));
    return 0;
}

bool cpu_buffer_is_compared(const struct device_buffer *buffer)
{
    for (const struct device_buffer *b = buffers; b; b = b->next)
        if (b != buffer && !b->opened && b->count == buffer->count &&
            (b->type == ELEMENT_FP64 || buffer->type == ELEMENT_FP64) &&
            strcmp(b->name, buffer->name) == 0)
            return true;
    return false;
}

size_t cpu_buffer_bytes(const struct device_buffer *buffer)
{
    return (size_t)buffer->count * element_bytes(buffer->type);
}

int device_poison(struct device *device, struct device_buffer *buffer,
                  const struct poison *poison, struct device_err *err)
{
    unsigned char *base = array_base(buffer->array);
    size_t bytes = cpu_buffer_bytes(buffer);

    (void)device;
    (void)err;
    for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
        uint64_t word =
            poison_word(poison, buffer->type, (int64_t)(at / sizeof(word)));
        size_t left = bytes - at;

        memcpy(base + at, &word, left < sizeof(word) ? left : sizeof(word));
    }
    return 0;
}

int device_copy(struct device *device, struct device_buffer *to,
                const struct device_buffer *from, struct device_err *err)
{
    void *base = array_base(to->array);
    const void *values = array_base(from->array);

    (void)device;
    (void)err;
    if (to->type == from->type)
        memcpy(base, values, cpu_buffer_bytes(to));
    for (int64_t i = 0; to->type != from->type && i < to->count; i++)
        element_store(base, to->type, i, element_load(values, from->type, i));
    return 0;
}

int device_write(struct device *device, struct device_buffer *buffer,
                 const void *bytes, struct device_err *err)
{
    (void)device;
    (void)err;
    memcpy(array_base(buffer->array), bytes, cpu_buffer_bytes(buffer));
    return 0;
}

/* Of the sums, which are compared only with each other.  Who knows it can write
 * another output that has the sum of a right one, and sums may lie about on the
 * stack. */
static uint64_t checksum_key(void)
{
    static uint64_t *key;

    if (!key) {
        key = secret_need(sizeof(*key));
        if (getrandom(key, sizeof(*key), 0) != sizeof(*key))
            abort(); /* of 8 bytes, Linux gives all */
    }
    return *key;
}

static uint64_t checksum_of(const struct device_buffer *buffer)
{
    const unsigned char *base = array_base(buffer->array);
    const size_t bytes = cpu_buffer_bytes(buffer);
    const uint64_t key = checksum_key();
    uint64_t sum = 0;

    for (size_t at = 0; at < bytes; at += sizeof(uint64_t)) {
        uint64_t word = 0;
        size_t left = bytes - at;

        memcpy(&word, base + at, left < sizeof(word) ? left : sizeof(word));
        sum += fill_mix((word ^ key) + at * 0x9e3779b97f4a7c15u);
    }
    return sum;
}

int device_scan(struct device *device, struct device_scan *scans, size_t n,
                struct device_err *err)
{
    (void)device;
    (void)err;
    for (size_t i = 0; i < n; i++) {
        scans[i].sum = scans[i].sums ? checksum_of(scans[i].buffer) : 0;
        scans[i].overrun = array_overrun(scans[i].buffer->array);
    }
    return 0;
}

static struct check_norm norm_of(const double *ref, int64_t count,
                                 const struct check_how *how)
{
    struct check_norm norm = { .most = 0 };

    for (int64_t i = 0; i < count; i++) {
        norm.most = check_most(how, norm.most, ref[i]);
        norm.left_out += check_is_left_out(how, ref[i]);
    }
    norm.scale = check_scale(norm.most);
    for (int64_t i = 0; i < count; i++)
        norm.square_sum += check_square(how, norm.scale, ref[i]);
    norm.rms = check_rms(&norm, count);
    return norm;
}

int device_check(struct device *device, const struct device_buffer *out,
                 struct device_buffer *ref, const struct check_how *how,
                 struct check *check, uint64_t *sum, struct device_err *err)
{
    const void *values = array_base(out->array);
    const double *want = array_base(ref->array);
    const struct check_norm norm = norm_of(want, out->count, how);
    const struct check_lost lost = check_lost(out->type);
    double error_sum = 0, worst = -1;

    (void)device;
    (void)err;
    if (sum)
        *sum = checksum_of(out);
    for (int64_t i = 0; i < out->count; i++)
        error_sum +=
            check_square_error(how, norm.scale, &lost,
                               element_load(values, out->type, i), want[i]);
    *check = (struct check){
        .relative_l2 = check_relative_l2(error_sum, norm.square_sum),
        .left_out = (int64_t)norm.left_out,
    };
    for (int64_t i = 0; i < out->count; i++) {
        const double got = element_load(values, out->type, i);
        const struct check_minor minor =
            check_minor(how, out->type, norm.rms, check->max_error);
        struct check_element element;

        if (i > 0 && check_is_minor(&minor, got, want[i]))
            continue;
        element = check_element(how, values, out->type, i, want[i], norm.rms);
        if (element.relative > check->max_error)
            check->max_error = element.relative;
        if (check_rank(how, &element) <= worst)
            continue;
        worst = check_rank(how, &element);
        check->max_at = i;
        check->got = got;
        check->want = want[i];
        check->rule = element.rule;
        check->error = element.error;
    }
    return 0;
}
