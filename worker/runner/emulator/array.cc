#include "worker/runner/emulator/array.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <new>
#include <vector>

#include "common/mem.h"
#include "kernels/include/fa/emulator.h"
#include "worker/runner/emulator/block.hh"
#include "worker/runner/emulator/fault.hh"
#include "worker/runner/secret.h"

namespace
{

constexpr size_t ALIGNMENT = 16;

/* A whole number of pages, and as much as the guards of a GPU's buffers. */
constexpr size_t GUARD_BYTES = 64 * 1024;

/* The thread that stored a pair of bytes last. */
struct store_mark {
    uint64_t thread; /* block::serial; a serial of an earlier launch means
                      * nobody */
    uint64_t tick;
};

} // namespace

struct array {
    char name[64];
    char *map; /* the lower guard */
    size_t map_bytes;
    char *pages; /* the accessible part: map without its guards */
    size_t pages_bytes;
    char *base;
    size_t bytes;
    bool sealed, hidden;
    unsigned char slack; /* what it is filled with */
    char *withheld;      /* its contents, while they are not there */
    store_mark *marks;   /* one for each pair of bytes; NULL until used */
    unsigned char *met;  /* array_met(); processes share it */
};

static std::vector<array *> arrays;

/* Byte i is of arrays[i]: what a launch says of it.  Its process shares them.
 */
static unsigned char *unordered;
constexpr size_t UNORDERED_MAX = 4096;

/* Without memory it is not the kernel that is at fault, so nothing is thrown:
 * that would abort, like a kernel that does. */
[[maybe_unused]] static const std::new_handler thrower =
    std::set_new_handler(mem_exhausted);

static size_t round_up(size_t n, size_t to)
{
    return (n + to - 1) / to * to;
}

static bool have_unordered()
{
    void *bytes = unordered;

    if (!bytes)
        bytes = mmap(nullptr, UNORDERED_MAX, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (bytes == MAP_FAILED)
        return false;
    unordered = (unsigned char *)bytes;
    return true;
}

static size_t met_bytes(size_t bytes)
{
    return (bytes + 3) / 4;
}

struct array *array_new(const char *name, size_t bytes)
{
    if (!have_unordered())
        return nullptr;
    const size_t page = (size_t)sysconf(_SC_PAGESIZE);
    const size_t room = round_up(bytes, ALIGNMENT);
    const size_t pages_bytes = round_up(room, page);
    const size_t map_bytes = pages_bytes + 2 * GUARD_BYTES;
    void *map =
        mmap(nullptr, map_bytes, PROT_NONE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (map == MAP_FAILED)
        return nullptr;
    char *pages = (char *)map + GUARD_BYTES;
    void *met = mmap(nullptr, met_bytes(bytes), PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (met == MAP_FAILED ||
        mprotect(pages, pages_bytes, PROT_READ | PROT_WRITE) < 0) {
        munmap(map, map_bytes);
        if (met != MAP_FAILED)
            munmap(met, met_bytes(bytes));
        return nullptr;
    }
    array *a = new array();
    snprintf(a->name, sizeof(a->name), "%s", name);
    a->map = (char *)map;
    a->map_bytes = map_bytes;
    a->pages = pages;
    a->pages_bytes = pages_bytes;
    a->base = pages + pages_bytes - room;
    a->bytes = bytes;
    a->met = (unsigned char *)met;
    arrays.push_back(a);
    array_poison(a);
    return a;
}

void array_free(struct array *array)
{
    if (!array)
        return;
    for (size_t i = 0; i < arrays.size(); i++)
        if (arrays[i] == array)
            arrays.erase(arrays.begin() + (ptrdiff_t)i);
    munmap(array->map, array->map_bytes);
    munmap(array->met, met_bytes(array->bytes));
    free(array->marks);
    delete array;
}

void *array_base(const struct array *array)
{
    return array->base;
}

bool array_guard(struct array *array, bool sealed, bool hidden)
{
    const int access = sealed ? PROT_READ : PROT_READ | PROT_WRITE;
    const int inherited = hidden ? MADV_DONTFORK : MADV_DOFORK;

    if (mprotect(array->pages, array->pages_bytes, access) < 0 ||
        madvise(array->map, array->map_bytes, inherited) < 0)
        return false;
    array->sealed = sealed;
    array->hidden = hidden;
    return true;
}

/* For the parent alone: a process that exists has its own rights. */
static bool unseal(const array *a, bool unsealed)
{
    return mprotect(a->pages, a->pages_bytes,
                    unsealed ? PROT_READ | PROT_WRITE : PROT_READ) == 0;
}

static void fill_slack(array *a, unsigned char slack)
{
    char *const end = a->base + a->bytes;

    a->slack = slack;
    memset(a->pages, slack, (size_t)(a->base - a->pages));
    memset(end, slack, (size_t)(a->pages + a->pages_bytes - end));
}

static bool withhold(array *a, unsigned char slack)
{
    a->withheld = (char *)secret_new(a->bytes);
    if (!a->withheld)
        abort();
    memcpy(a->withheld, a->base, a->bytes);
    if (!unseal(a, true))
        return false;
    memset(a->base, 0xff, a->bytes);
    fill_slack(a, slack);
    return unseal(a, false);
}

bool array_withhold_sealed(unsigned char slack)
{
    bool done = true;

    for (array *a : arrays) {
        if (a->hidden)
            continue;
        if (a->sealed)
            done = withhold(a, slack) && done;
        else
            fill_slack(a, slack);
    }
    return done;
}

bool array_return_sealed(void)
{
    bool done = true;

    for (array *a : arrays) {
        if (!a->withheld)
            continue;
        done = unseal(a, true) && done;
        if (done)
            memcpy(a->base, a->withheld, a->bytes);
        done = unseal(a, false) && done;
        secret_free(a->withheld, a->bytes);
        a->withheld = nullptr;
    }
    return done;
}

bool array_is_unordered(const struct array *array)
{
    for (size_t i = 0; i < arrays.size() && i < UNORDERED_MAX; i++)
        if (arrays[i] == array)
            return unordered[i] != 0;
    return false;
}

/* All of it: nothing that a launch leaves there is for the next one. */
void array_forget_unordered(void)
{
    if (unordered)
        memset(unordered, 0, UNORDERED_MAX);
}

const unsigned char *array_met(const struct array *array)
{
    return array->met;
}

/* Its pages are zeros again. */
void array_forget_met(void)
{
    for (const array *a : arrays)
        if (madvise(a->met, met_bytes(a->bytes), MADV_REMOVE) < 0)
            memset(a->met, 0, met_bytes(a->bytes));
}

void array_poison(struct array *array)
{
    memset(array->pages, 0xff, array->pages_bytes);
    array->slack = 0xff;
}

int64_t array_overrun(const struct array *array)
{
    const unsigned char *base = (const unsigned char *)array->base;
    const int64_t before = array->base - array->pages;
    const int64_t end = array->pages + array->pages_bytes - array->base;
    const int64_t bytes = (int64_t)array->bytes;

    for (int64_t i = 1; i <= before; i++)
        if (base[-i] != array->slack)
            return -i;
    for (int64_t i = bytes; i < end; i++)
        if (base[i] != array->slack)
            return i - bytes + 1;
    return 0;
}

namespace emulator
{

/* The number of the array whose mapping, guards included, holds 'address', or
 * that of no array.  A hidden one is not there for a kernel. */
static size_t number_around(const void *address)
{
    static size_t last; /* most accesses are to the same array as the previous
                         * one */
    const uintptr_t p = (uintptr_t)address;

    for (size_t i = 0; i < arrays.size(); i++) {
        const size_t j = (last + i) % arrays.size();

        if (!arrays[j]->hidden &&
            p - (uintptr_t)arrays[j]->map < arrays[j]->map_bytes) {
            last = j;
            return j;
        }
    }
    return arrays.size();
}

static array *around(const void *address)
{
    const size_t i = number_around(address);

    return i < arrays.size() ? arrays[i] : nullptr;
}

bool array_mark_unordered(const void *address)
{
    const size_t i = number_around(address);

    if (i >= arrays.size() || i >= UNORDERED_MAX)
        return false;
    unordered[i] = 1;
    return true;
}

bool array_any_unordered()
{
    return unordered && memchr(unordered, 1, UNORDERED_MAX);
}

bool array_mark_met(const void *address, uint32_t bytes)
{
    const array *a = around(address);
    const size_t at = a ? (size_t)((const char *)address - a->base) : 0;

    if (a && at < a->bytes)
        memset(a->met + at / 4, 1,
               met_bytes(at + bytes < a->bytes ? at + bytes : a->bytes) -
                   at / 4);
    return a != nullptr;
}

std::vector<part> array_small(size_t bytes_max)
{
    std::vector<part> found;
    size_t sum = 0;

    for (const array *a : arrays) {
        if (a->sealed || a->hidden)
            continue;
        found.push_back({ a->base, a->bytes });
        sum += a->bytes;
    }
    return sum <= bytes_max ? found : std::vector<part>();
}

array_place array_find(const void *address)
{
    const array *a = around(address);

    if (!a)
        return { nullptr, 0, 0 };
    return { a->name, (const char *)address - a->base, a->bytes };
}

/* The array that holds all of [address, address + bytes). */
static array *locate(const void *address, uint32_t alignment, uint32_t bytes,
                     const char *what, fa_site at)
{
    array *a = around(address);

    if ((uintptr_t)address % alignment != 0)
        fault_global("misaligned address", address, bytes, what, at);
    if (!a)
        fault_global("wild address", address, bytes, what, at);
    const int64_t offset = (const char *)address - a->base;
    if (offset < 0 || offset + bytes > (int64_t)a->bytes)
        fault_global("out of bounds", address, bytes, what, at);
    return a;
}

void array_check_read(const void *address, uint32_t alignment, uint32_t bytes,
                      const char *what, fa_site at)
{
    locate(address, alignment, bytes, what, at);
}

/* Two threads store to one place, and no barrier orders them: which value
 * remains is chance. */
static void mark_store(array *a, const void *address, uint32_t bytes,
                       fa_site at)
{
    const size_t first = (size_t)((const char *)address - a->base) / 2;
    const thread *self = thread_self();

    if (!a->marks) /* pages that nothing is stored to are never touched */
        a->marks = (store_mark *)calloc((a->bytes + 1) / 2, sizeof(*a->marks));
    if (!a->marks)
        abort();
    for (size_t i = first; i < first + bytes / 2; i++) {
        store_mark *mark = &a->marks[i];
        const bool this_launch = mark->thread >= block.launch_serial;
        const bool this_block = mark->thread - block.serial < block.n_threads;

        if (this_launch && mark->thread != self->serial &&
            !(this_block && mark->tick < block.barrier_tick))
            fault_double_store(address, bytes, mark->thread, at);
        *mark = { self->serial, self->warp->tick };
    }
}

} // namespace emulator

using namespace emulator;

void fa_emu_global_load(void *out, const void *address, uint32_t bytes,
                        fa_site at)
{
    fault_if_late();
    locate(address, bytes, bytes, "read", at);
    memcpy(out, address, bytes);
}

void fa_emu_global_store(void *address, const void *value, uint32_t bytes,
                         fa_site at)
{
    fault_if_late();
    array *a = locate(address, bytes, bytes, "write", at);
    if (a->sealed)
        fault_global("store to an input", address, bytes, "write", at);
    mark_store(a, address, bytes, at);
    memcpy(address, value, bytes);
}
