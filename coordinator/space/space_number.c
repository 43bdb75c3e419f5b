/* The number of a point, and its values. */
#include <stdio.h>

#include "coordinator/space/space_internal.h"

int space_number_open(struct space *space, struct err *err)
{
    const struct spec *spec = space->spec;

    space->size = 1;
    for (size_t i = spec->space.n_axes; i-- > 0;) {
        int64_t n = (int64_t)spec->space.axes[i].n;

        space->stride[i] = space->size;
        if (n > SPACE_POINTS_MAX / space->size)
            return spec_err(spec, spec->space.axes_at, err,
                            "use fewer tunables or fewer values",
                            "there are more than 2^62 configurations");
        space->size *= n;
    }
    return 0;
}

int64_t space_size(const struct space *space)
{
    return space->size;
}

void space_values(const struct space *space, int64_t number,
                  struct value *values)
{
    for (size_t i = 0; i < space->spec->space.n_axes; i++) {
        const struct spec_axis *axis = &space->spec->space.axes[i];

        values[i] = axis->values[number / space->stride[i] % (int64_t)axis->n];
    }
}

int64_t space_number(const struct space *space, const struct value *values)
{
    int64_t number = 0;

    for (size_t i = 0; i < space->spec->space.n_axes; i++) {
        const struct spec_axis *axis = &space->spec->space.axes[i];
        size_t j = 0;

        while (j < axis->n && !value_equal(&axis->values[j], &values[i]))
            j++;
        if (j == axis->n)
            return -1;
        number += (int64_t)j * space->stride[i];
    }
    return number;
}

int64_t space_product(const struct space *space, uint64_t axes)
{
    int64_t product = 1;

    for (size_t i = 0; i < space->spec->space.n_axes; i++)
        if (axes >> i & 1)
            product *= (int64_t)space->spec->space.axes[i].n;
    return product;
}

/* "2592" -> "2,592" */
void space_number_text(int64_t number, char out[SPACE_NUMBER_BYTES])
{
    char digits[24];
    size_t n =
        (size_t)snprintf(digits, sizeof(digits), "%lld", (long long)number);
    size_t at = 0;

    for (size_t i = 0; i < n; i++) {
        if (i && (n - i) % 3 == 0 && digits[i - 1] != '-')
            out[at++] = ',';
        out[at++] = digits[i];
    }
    out[at] = '\0';
}
