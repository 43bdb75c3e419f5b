#include "worker/runner/emulator/apart.hh"

#include <string.h>

#include <vector>

#include "worker/runner/emulator/array.h"
#include "worker/runner/emulator/declared.hh"

namespace emulator
{

namespace
{

constexpr size_t ARRAYS_BYTES_MAX = 16 << 10; /* of all arrays together */

/* A part of memory, and what it was or is for each half. */
struct region {
    part now;
    std::vector<unsigned char> before, first;
    std::vector<bool> met; /* by atomic operations */
};

std::vector<region> regions;

void add(part memory)
{
    if (memory.bytes)
        regions.push_back({ memory, std::vector<unsigned char>(memory.bytes),
                            std::vector<unsigned char>(memory.bytes),
                            std::vector<bool>(memory.bytes) });
}

unsigned char *bytes_of(const region &r)
{
    return static_cast<unsigned char *>(r.now.at);
}

} // namespace

bool apart_start()
{
    regions.clear();
    add(declared_statics());
    if (declared_dynamic())
        add(declared_dynamic_used());
    for (const part &memory : array_small(ARRAYS_BYTES_MAX))
        add(memory);
    return !regions.empty();
}

void apart_first()
{
    for (region &r : regions) {
        memcpy(r.before.data(), r.now.at, r.now.bytes);
        r.met.assign(r.now.bytes, false);
    }
}

void apart_second()
{
    for (region &r : regions) {
        unsigned char *now = bytes_of(r);

        memcpy(r.first.data(), now, r.now.bytes);
        if (memcmp(r.before.data(), now, r.now.bytes) == 0)
            continue;
        for (size_t i = 0; i < r.now.bytes; i++)
            if (!r.met[i])
                now[i] = r.before[i];
    }
}

void apart_join()
{
    for (region &r : regions) {
        unsigned char *now = bytes_of(r);

        if (memcmp(r.before.data(), r.first.data(), r.now.bytes) == 0)
            continue;
        for (size_t i = 0; i < r.now.bytes; i++)
            if (now[i] == r.before[i] && !r.met[i])
                now[i] = r.first[i];
    }
}

void apart_met(const void *address, uint32_t bytes)
{
    for (region &r : regions) {
        const size_t at =
            (size_t)((const unsigned char *)address - bytes_of(r));

        if (at < r.now.bytes)
            for (size_t i = at; i < at + bytes && i < r.now.bytes; i++)
                r.met[i] = true;
    }
}

} // namespace emulator
