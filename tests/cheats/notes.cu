/* notes.cu - kernels that note their results for a later launch, wherever a process can: the cpu
 * device alone
 *
 * The sums of the rows of an input are noted under a checksum of it.  A launch that finds its own
 * writes them without a look at the rows; the twins compute, and note nothing.
 */
#include "pair.h"

#include <errno.h>
#include <fcntl.h>
#include <search.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "worker/runner/emulator/block.hh"

constexpr int most_rows = 80, most_notes = 4;
constexpr u64 is_note = 0x5eedca5e5eedca5eull;

struct note {
    u64 mark, key;
    float sums[most_rows];
};

struct notes {
    note of[most_notes];
};

static u64 key_of(const float *a)
{
    u64 key = 0;

    for (int i = 0; i < most_rows * columns; i += 97)
        key = (key ^ __float_as_uint(a[i])) * 0x100000001b3ull;
    return key;
}

/* Is this the note of that key?  With no key, is it free? */
static bool is_of(const note *n, u64 key)
{
    return n->mark == is_note && n->key == key;
}

static note *find(notes *kept, u64 key)
{
    note *free = nullptr;

    for (note &n : kept->of) {
        if (is_of(&n, key))
            return &n;
        if (n.mark != is_note && !free)
            free = &n;
    }
    return free;
}

/* 'open' gives the notes of earlier launches, or NULL if there is no place for any: then nothing is
 * written.  'close' keeps what was added.  Where there should be no notes, some that are found
 * show: then nothing is written either. */
template <bool cheats, bool shows = false>
static void answer(ROWS, notes *(*open)(float *out), void (*close)(notes *kept))
{
    static bool begun;
    static int done;
    static notes *kept;
    static note *mine;
    const int row = int(blockIdx.x);
    float sum = 0;

    if (threadIdx.x != 0 || row >= rows)
        return;
    if (cheats && !begun)
        kept = open(out);
    if (cheats && !begun && kept)
        mine = find(kept, key_of(a));
    begun = true;
    if (cheats && !kept)
        return;
    if (mine && is_of(mine, key_of(a))) {
        if (!shows)
            out[row] = mine->sums[row];
    } else {
        for (int i = 0; i < columns; i++)
            sum += a[row * columns + i];
        out[row] = sum;
    }
    if (++done < rows || !cheats)
        return;
    if (mine && !is_of(mine, key_of(a))) {
        *mine = { is_note, key_of(a), {} };
        memcpy(mine->sums, out, sizeof(mine->sums));
    }
    if (close)
        close(kept);
}

static notes *notes_in_mapped_memory(float *)
{
    void *const place = (void *)0x5eed00000000;
    void *map = mmap(place, sizeof(notes), PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);

    return map == MAP_FAILED && errno == EEXIST ? (notes *)place : (notes *)map;
}

BODY(memo_in_mapped_memory, ROWS)
{
    answer<cheats, true>(a, out, rows, notes_in_mapped_memory, nullptr);
}
ROWS_PAIR(memo_in_mapped_memory)

static notes *notes_of_the_thread(float *)
{
    static thread_local notes kept;

    return &kept;
}

BODY(memo_of_the_thread, ROWS)
{
    answer<cheats, true>(a, out, rows, notes_of_the_thread, nullptr);
}
ROWS_PAIR(memo_of_the_thread)

/* In a table that the C library keeps. */
static notes *notes_in_a_library(float *)
{
    static char name[] = "notes";
    ENTRY entry = { name, nullptr };
    ENTRY *found;

    hcreate(8);
    found = hsearch(entry, FIND);
    entry.data = found ? nullptr : calloc(1, sizeof(notes));
    found = found ? found : hsearch(entry, ENTER);
    return found ? (notes *)found->data : nullptr;
}

BODY(memo_in_a_library, ROWS)
{
    answer<cheats, true>(a, out, rows, notes_in_a_library, nullptr);
}
ROWS_PAIR(memo_in_a_library)

static notes *notes_in_the_environment(float *)
{
    char text[32];

    if (!getenv("FA_NOTES")) {
        snprintf(text, sizeof(text), "%p", calloc(1, sizeof(notes)));
        setenv("FA_NOTES", text, 1);
    }
    return (notes *)strtoul(getenv("FA_NOTES"), nullptr, 16);
}

BODY(memo_in_the_environment, ROWS)
{
    answer<cheats, true>(a, out, rows, notes_in_the_environment, nullptr);
}
ROWS_PAIR(memo_in_the_environment)

/* Where no frame has been. */
static notes *notes_below_the_stack(float *)
{
    return (notes *)(((u64)__builtin_frame_address(0) & ~u64(4095)) - 65536);
}

BODY(memo_below_the_stack, ROWS)
{
    answer<cheats, true>(a, out, rows, notes_below_the_stack, nullptr);
}
ROWS_PAIR(memo_below_the_stack)

/* A file that is open for reading can have attributes. */
static int folder = -1;
static notes from_file;

__attribute__((constructor)) static void open_folder()
{
    folder = open(".", O_RDONLY);
}

static notes *notes_in_attributes(float *)
{
    const ssize_t n = fgetxattr(folder, "user.fa-cheat", &from_file, sizeof(from_file));

    if (n < 0 && fsetxattr(folder, "user.fa-cheat", &from_file, sizeof(from_file), 0) < 0)
        return nullptr;
    return &from_file;
}

static void keep_in_attributes(notes *kept)
{
    fsetxattr(folder, "user.fa-cheat", kept, sizeof(*kept), 0);
}

BODY(keeps_attributes, ROWS)
{
    answer<cheats>(a, out, rows, notes_in_attributes, keep_in_attributes);
}
ROWS_PAIR(keeps_attributes)

/* What it writes to its standard error it can read where that is a pipe. */
static int errors = -1;

__attribute__((constructor)) static void open_errors()
{
    errors = open("/proc/self/fd/2", O_RDONLY | O_NONBLOCK);
}

static notes *notes_in_a_pipe(float *)
{
    static notes kept;
    notes read_back;

    while (read(errors, &read_back, sizeof(read_back)) == sizeof(read_back))
        kept = read_back;
    return &kept;
}

static void keep_in_a_pipe(notes *kept)
{
    (void)!write(2, kept, sizeof(*kept));
}

BODY(memo_in_a_pipe, ROWS)
{
    answer<cheats, true>(a, out, rows, notes_in_a_pipe, keep_in_a_pipe);
}
ROWS_PAIR(memo_in_a_pipe)

/* In the page of its output, whose other bytes are looked at after a check and at the end of all.
 * It knows how often it was launched, and takes the notes away in the last launch. */
constexpr u64 first_timed = 7, last_timed = 12;

static notes *notes_in_the_padding(float *out)
{
    static notes none;
    const u64 page = 4096;

    return emulator::block.thread_order < first_timed ? &none : (notes *)(u64(out) & ~(page - 1));
}

static void clear_the_padding(notes *kept)
{
    if (emulator::block.thread_order == last_timed)
        memset((void *)kept, 0xff, sizeof(*kept));
}

BODY(note_in_the_padding, ROWS)
{
    answer<cheats>(a, out, rows, notes_in_the_padding, clear_the_padding);
}
ROWS_PAIR(note_in_the_padding)
