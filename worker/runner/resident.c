#include "worker/runner/resident.h"

#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

#include "worker/runner/secret.h"

struct resident {
    struct device *device;
    uint64_t secret; /* of the seeds */
    uint64_t draws;
    struct problem *problems[RESIDENT_PROBLEMS]; /* NULL when free */
    struct problem *renewed;                     /* of resident_renew() */
    struct problem *shown; /* it is not hidden from kernels; NULL: none */
    uint64_t clock;        /* counts uses, for eviction */
};

struct resident *resident_new(struct device *device)
{
    struct resident *resident = secret_need(sizeof(*resident));

    resident->device = device;
    if (getrandom(&resident->secret, sizeof(resident->secret), 0) !=
        sizeof(resident->secret))
        abort(); /* of 8 bytes, Linux gives all */
    return resident;
}

uint64_t resident_draw(struct resident *resident)
{
    return fill_mix(resident->secret ^ ++resident->draws);
}

void resident_free(struct resident *resident)
{
    if (!resident)
        return;
    for (int i = 0; i < RESIDENT_PROBLEMS; i++)
        problem_free(resident->device, resident->problems[i]);
    problem_free(resident->device, resident->renewed);
    secret_free(resident, sizeof(*resident));
}

static struct problem *resident_find(struct resident *resident,
                                     const struct wire_measure *want)
{
    for (int i = 0; i < RESIDENT_PROBLEMS; i++)
        if (resident->problems[i] && problem_is(resident->problems[i], want))
            return resident->problems[i];
    return NULL;
}

bool resident_has(struct resident *resident, const struct wire_measure *want)
{
    return resident_find(resident, want) != NULL;
}

/* The least recently used one except 'keep', or NULL. */
static struct problem **resident_oldest(struct resident *resident,
                                        const struct problem *keep)
{
    struct problem **oldest = NULL;

    for (int i = 0; i < RESIDENT_PROBLEMS; i++) {
        struct problem **at = &resident->problems[i];

        if (*at && *at != keep && (!oldest || (*at)->used < (*oldest)->used))
            oldest = at;
    }
    return oldest;
}

static size_t resident_bytes(const struct resident *resident)
{
    size_t bytes = 0;

    for (int i = 0; i < RESIDENT_PROBLEMS; i++)
        if (resident->problems[i])
            bytes += resident->problems[i]->bytes;
    return bytes;
}

static struct problem **resident_empty(struct resident *resident)
{
    for (int i = 0; i < RESIDENT_PROBLEMS; i++)
        if (!resident->problems[i])
            return &resident->problems[i];
    return NULL;
}

static void resident_drop(struct resident *resident, struct problem **place)
{
    if (resident->shown == *place)
        resident->shown = NULL;
    problem_free(resident->device, *place);
    *place = NULL;
}

/* Drop old problems until 'bytes' more fit, or only 'keep' is left. */
static void resident_make_room(struct resident *resident, size_t bytes,
                               const struct problem *keep)
{
    size_t room = device_room_bytes(resident->device);
    struct problem **oldest;

    while ((oldest = resident_oldest(resident, keep)) &&
           (resident_bytes(resident) + bytes > room ||
            !resident_empty(resident))) {
        resident_drop(resident, oldest);
    }
}

static bool resident_clear(struct resident *resident)
{
    bool any = false;

    for (int i = 0; i < RESIDENT_PROBLEMS; i++) {
        any = any || resident->problems[i];
        resident_drop(resident, &resident->problems[i]);
    }
    return any;
}

/* Hide the other problems: a kernel must not find in them what an earlier
 * launch has left, nor spoil them. */
static int resident_show(struct resident *resident, struct problem *problem,
                         struct device_err *err)
{
    int rc = 0;

    if (resident->shown == problem || !device_isolates(resident->device))
        return 0;
    if (resident->shown)
        rc = problem_guard(resident->device, resident->shown, true, err);
    resident->shown = problem;
    return rc < 0 ? rc : problem_guard(resident->device, problem, false, err);
}

static void drop_renewed(struct resident *resident)
{
    problem_free(resident->device, resident->renewed);
    resident->renewed = NULL;
}

int resident_problem(struct resident *resident, const struct wire_measure *want,
                     struct problem **out, struct device_err *err)
{
    struct problem *problem = resident_find(resident, want);
    struct problem **place;
    int rc;

    drop_renewed(resident);
    if (!problem) {
        resident_make_room(
            resident, problem_bytes(device_isolates(resident->device), want),
            NULL);
        place = resident_empty(resident);
        rc = problem_new(resident->device, resident->secret, want, &problem,
                         err);
        /* other problems may hold its memory */
        if (rc == DEVICE_BROKEN && !err->poisoned && resident_clear(resident))
            rc = problem_new(resident->device, resident->secret, want, &problem,
                             err);
        if (!problem)
            return rc;
        *place = problem;
    }
    problem->used = ++resident->clock;
    *out = problem;
    return resident_show(resident, problem, err);
}

int resident_renew(struct resident *resident, const struct wire_measure *want,
                   const struct problem *problem, struct problem **out,
                   struct device_err *err)
{
    struct wire_measure other = *want;
    int rc;

    other.seed = resident_draw(resident);
    other.trials.n_edges = 0; /* they are not timed */
    drop_renewed(resident);
    resident_make_room(resident,
                       problem_bytes(device_isolates(resident->device), &other),
                       problem);
    rc = problem_new(resident->device, resident_draw(resident), &other,
                     &resident->renewed, err);
    *out = resident->renewed;
    secret_wipe(&other, sizeof(other));
    return rc;
}

size_t resident_copies(size_t inputs, size_t cache)
{
    size_t n;

    if (inputs == 0)
        return 0;
    n = cache / inputs + (cache % inputs != 0);
    return n == 0 ? 1 : n <= RESIDENT_COPIES ? n : 0;
}

int resident_rotate(struct resident *resident, struct problem *problem,
                    struct device_err *err)
{
    size_t bytes = problem_input_bytes(problem);
    size_t n = resident_copies(bytes, device_cache_bytes(resident->device));
    int rc;

    if (problem->copied || n == 0)
        return 0;
    problem->copied = true;
    resident_make_room(resident, n * bytes, problem);
    if (resident_bytes(resident) + n * bytes >
        device_room_bytes(resident->device))
        return 0;
    rc = problem_copy(resident->device, problem, n, err);
    if (rc == 0) {
        problem->bytes += n * bytes;
    } else if (!err->poisoned) {
        problem_copies_free(resident->device, problem);
        rc = 0; /* not enough memory: no copies */
    }
    return rc;
}
