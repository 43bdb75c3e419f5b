#include "worker/runner/emulator/aside.hh"

#include <string.h>

#include <deque>
#include <iterator>
#include <utility>
#include <vector>

#include "worker/runner/emulator/block.hh"
#include "worker/runner/emulator/declared.hh"
#include "worker/runner/emulator/shared.hh"

namespace emulator
{

namespace
{

constexpr size_t BYTES_MAX = (size_t)512 << 20; /* of all blocks together */

struct kept {
    block_state state;
    std::vector<thread> threads;
    std::vector<unsigned char> memory; /* shared memory, then stacks */
};

std::deque<kept> blocks;
size_t bytes;

size_t bytes_of(const kept &k)
{
    return k.memory.size() + k.threads.size() * sizeof(thread) + sizeof(k);
}

bool has_stack(const thread *t)
{
    return t->fiber.bottom && !(t->warp->exited & t->bit);
}

/* Copy each part of memory that the running block uses. */
template <typename Copy>
void copy_parts(Copy copy)
{
    copy(declared_statics());
    copy(declared_dynamic_used());
    copy(shared_cells());
    for (unsigned i = 0; i < block.n_threads; i++)
        if (has_stack(&block.threads[i]))
            copy(fiber_used(&block.threads[i].fiber));
}

} // namespace

bool aside_has_room()
{
    return bytes < BYTES_MAX;
}

void aside_put(bool last)
{
    kept k;

    copy_parts([&k](part used) {
        const unsigned char *p = static_cast<unsigned char *>(used.at);

        k.memory.insert(k.memory.end(), p, p + used.bytes);
    });
    k.state = block;
    k.threads.assign(std::make_move_iterator(block.threads),
                     std::make_move_iterator(block.threads + block.n_threads));
    bytes += bytes_of(k);
    if (last)
        blocks.push_back(std::move(k));
    else
        blocks.push_front(std::move(k));
}

bool aside_take()
{
    if (blocks.empty())
        return false;
    kept k = std::move(blocks.back());
    const unsigned char *p = k.memory.data();

    blocks.pop_back();
    bytes -= bytes_of(k);
    static_cast<block_state &>(block) = k.state;
    std::move(k.threads.begin(), k.threads.end(), block.threads);
    copy_parts([&p](part used) {
        if (used.bytes)
            memcpy(used.at, p, used.bytes);
        p += used.bytes;
    });
    return true;
}

size_t aside_count()
{
    return blocks.size();
}

void aside_clear()
{
    blocks.clear();
    bytes = 0;
}

} // namespace emulator
