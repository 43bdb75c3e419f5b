#include "coordinator/model/domain.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

#define SLOTS_FIRST 64

struct domain {
    struct domain_tunable tunables[DOMAIN_TUNABLES_MAX];
    int n; /* tunables */
    int size, cap;
    unsigned char *twos[DOMAIN_TUNABLES_MAX]; /* [levels] or NULL */
    uint16_t *levels;                         /* [size][n] */
    int *slots;       /* open addressing: the number of a point, or -1 */
    uint32_t slots_n; /* a power of two, at least half again the size */
};

#define TWOS_MAX 20 /* of a value; 0 itself has the most */

static int twos_of(double value)
{
    int twos = 0;

    while (twos < TWOS_MAX && fmod(value, exp2(twos + 1)) == 0)
        twos++;
    return twos;
}

/* How often each value is divisible by two; NULL if all whole numbers are
 * powers of two. */
static unsigned char *list_twos(const struct domain_tunable *tunable)
{
    unsigned char *twos = mem_new((size_t)tunable->levels, 1);
    bool tells = false;

    for (int i = 0; tunable->values && i < tunable->levels; i++) {
        double value = tunable->values[i];

        if (value != floor(value) || value < 0) {
            tells = false;
            break;
        }
        twos[i] = (unsigned char)twos_of(value);
        tells = tells || (value > 0 && value != exp2(twos[i]));
    }
    if (!tells) {
        free(twos);
        twos = NULL;
    }
    return twos;
}

struct domain *domain_new(const struct domain_tunable *tunables, int n)
{
    struct domain *domain = mem_new(1, sizeof(*domain));

    assert(n >= 1 && n <= DOMAIN_TUNABLES_MAX);
    domain->n = n;
    memcpy(domain->tunables, tunables, (size_t)n * sizeof(*tunables));
    for (int t = 0; t < n; t++) {
        assert(tunables[t].levels >= 1 &&
               tunables[t].levels <= DOMAIN_LEVELS_MAX);
        domain->twos[t] = list_twos(&tunables[t]);
        domain->tunables[t].values = NULL;
    }
    return domain;
}

void domain_free(struct domain *domain)
{
    if (!domain)
        return;
    for (int t = 0; t < domain->n; t++)
        free(domain->twos[t]);
    free(domain->levels);
    free(domain->slots);
    free(domain);
}

static uint32_t hash_levels(const struct domain *domain, const uint16_t *levels)
{
    uint64_t hash = 0;

    for (int t = 0; t < domain->n; t++) {
        hash = (hash ^ levels[t]) * UINT64_C(0x9e3779b97f4a7c15);
        hash ^= hash >> 29;
    }
    return (uint32_t)(hash >> 16);
}

/* The slot that holds the point, or the empty slot where it belongs. */
static uint32_t slot_of(const struct domain *domain, const uint16_t *levels)
{
    uint32_t slot = hash_levels(domain, levels) & (domain->slots_n - 1);
    size_t bytes = (size_t)domain->n * sizeof(*levels);

    while (domain->slots[slot] >= 0 &&
           memcmp(domain_point(domain, domain->slots[slot]), levels, bytes) !=
               0)
        slot = (slot + 1) & (domain->slots_n - 1);
    return slot;
}

static void set_room(struct domain *domain, int points)
{
    domain->cap = points;
    domain->levels = mem_grow(domain->levels, (size_t)domain->cap,
                              (size_t)domain->n * sizeof(uint16_t));
    domain->slots_n = SLOTS_FIRST;
    while (domain->slots_n < (uint32_t)domain->cap + (uint32_t)domain->cap / 2)
        domain->slots_n *= 2;
    domain->slots =
        mem_grow(domain->slots, domain->slots_n, sizeof(*domain->slots));
    for (uint32_t i = 0; i < domain->slots_n; i++)
        domain->slots[i] = -1;
    for (int i = 0; i < domain->size; i++)
        domain->slots[slot_of(domain, domain_point(domain, i))] = i;
}

void domain_reserve(struct domain *domain, int points)
{
    if (points > domain->cap)
        set_room(domain, points);
}

int domain_add(struct domain *domain, const uint16_t *levels)
{
    uint32_t slot;

    assert(domain->size < DOMAIN_POINTS_MAX);
    for (int t = 0; t < domain->n; t++)
        assert(levels[t] < domain->tunables[t].levels);
    if (domain->size == domain->cap)
        set_room(domain, domain->cap ? 2 * domain->cap : SLOTS_FIRST / 2);
    slot = slot_of(domain, levels);
    if (domain->slots[slot] >= 0)
        return -1;
    memcpy(domain->levels + (size_t)domain->size * (size_t)domain->n, levels,
           (size_t)domain->n * sizeof(*levels));
    domain->slots[slot] = domain->size;
    return domain->size++;
}

int domain_size(const struct domain *domain)
{
    return domain->size;
}

int domain_tunables(const struct domain *domain)
{
    return domain->n;
}

const struct domain_tunable *domain_tunable(const struct domain *domain, int t)
{
    return &domain->tunables[t];
}

int domain_twos(const struct domain *domain, int t, int level)
{
    return domain->twos[t] ? domain->twos[t][level] : 0;
}

const uint16_t *domain_point(const struct domain *domain, int point)
{
    return domain->levels + (size_t)point * (size_t)domain->n;
}

int domain_find(const struct domain *domain, const uint16_t *levels)
{
    return domain->size ? domain->slots[slot_of(domain, levels)] : -1;
}

/* Points that differ from 'point' in tunable t, levels [from, to]. */
static int collect(const struct domain *domain, int point, int t, int from,
                   int to, int *out)
{
    uint16_t levels[DOMAIN_TUNABLES_MAX];
    int own = domain_point(domain, point)[t], n = 0;

    memcpy(levels, domain_point(domain, point),
           (size_t)domain->n * sizeof(*levels));
    for (int level = from; level <= to; level++) {
        int found;

        levels[t] = (uint16_t)level;
        found = level == own ? -1 : domain_find(domain, levels);
        if (found >= 0)
            out[n++] = found;
    }
    return n;
}

int domain_line(const struct domain *domain, int point, int t, int *out)
{
    return collect(domain, point, t, 0, domain->tunables[t].levels - 1, out);
}

int domain_neighbours(const struct domain *domain, int point, bool adjacent,
                      int *out)
{
    int n = 0;

    for (int t = 0; t < domain->n; t++) {
        int last = domain->tunables[t].levels - 1, from = 0, to = last;

        if (adjacent && domain->tunables[t].ordered) {
            int own = domain_point(domain, point)[t];

            from = own > 0 ? own - 1 : 0;
            to = own < last ? own + 1 : last;
        }
        n += collect(domain, point, t, from, to, out + n);
    }
    return n;
}

int domain_hood_max(const struct domain *domain)
{
    int n = 0;

    for (int t = 0; t < domain->n; t++)
        n += domain->tunables[t].levels - 1;
    return n > 0 ? n : 1;
}

double domain_distance(const struct domain *domain, const uint16_t *a,
                       const uint16_t *b)
{
    double sum = 0;

    for (int t = 0; t < domain->n; t++) {
        const struct domain_tunable *tunable = &domain->tunables[t];

        if (a[t] != b[t])
            sum += tunable->ordered
                       ? abs(a[t] - b[t]) / (double)(tunable->levels - 1)
                       : 1;
    }
    return sum;
}
