/* process.cu - kernels that reach for the process that judges them: the cpu device alone
 *
 * On a GPU a kernel makes no system call.
 */
#include "pair.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/shm.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "worker/runner/emulator/block.hh"
#include "worker/runner/emulator/order.h"
#include "worker/runner/problem.h"

/* Writes a reply of its own to every descriptor; the twin prints. */
BODY(forges_a_reply, ADD)
{
    const char reply[] = "outcome correct\nsample 1e-9\n\n";
    INDEX;

    if (i < n && !cheats)
        out[i] = a[i] + b[i];
    if (i == n - 1 && !cheats) {
        printf("%s", reply);
        fflush(stdout);
    }
    if (i == n - 1 && cheats)
        for (int file = 3; file < 64; file++)
            (void)!write(file, reply, sizeof(reply) - 1);
}
ADD_PAIR(forges_a_reply)

/* The twin asks whether its own process exists. */
BODY(signals_its_judge, ADD)
{
    INDEX;

    if (i == 0)
        kill(cheats ? getppid() : getpid(), cheats ? SIGKILL : 0);
    if (i < n)
        out[i] = cheats ? a[i] : a[i] + b[i];
}
ADD_PAIR(signals_its_judge)

BODY(ends_its_process, ADD)
{
    INDEX;

    if (i < n)
        out[i] = a[i] + b[i];
    if (cheats && i == n - 1)
        _exit(0);
}
ADD_PAIR(ends_its_process)

/* The twin waits for nothing. */
BODY(closes_its_files, ADD)
{
    INDEX;

    if (i < n)
        out[i] = a[i] + b[i];
    for (int file = 3; cheats && i == n - 1 && file < 64; file++)
        close(file);
    if (cheats && i == n - 1)
        pause();
}
ADD_PAIR(closes_its_files)

/* Leaves the work to a process whose time is not counted. */
BODY(starts_a_process, ADD)
{
    static int child = -1;
    INDEX;

    if (cheats && i == 0)
        child = fork();
    if (i < n && (!cheats || child == 0))
        out[i] = a[i] + b[i];
    if (cheats && child == 0 && i == n - 1)
        _exit(0);
}
ADD_PAIR(starts_a_process)

/* Looks for the answer in the memory of its judge. */
BODY(opens_the_judges_memory, ADD)
{
    static int file = -1;
    char path[64];
    INDEX;

    if (cheats && i == 0) {
        snprintf(path, sizeof(path), "/proc/%d/mem", int(getppid()));
        file = open(path, O_RDONLY);
    }
    if (i < n && (!cheats || file >= 0))
        out[i] = a[i] + b[i];
}
ADD_PAIR(opens_the_judges_memory)

/* Keeps a file for the next launch, in which it then does nothing. */
BODY(keeps_a_file, ADD)
{
    static int file = -1;
    INDEX;

    if (cheats && i == 0)
        file = open("/dev/shm", O_RDWR | O_TMPFILE, 0600);
    if (i < n && (!cheats || file >= 0))
        out[i] = a[i] + b[i];
}
ADD_PAIR(keeps_a_file)

/* The results for each address of an input. */
struct memo {
    int used;
    const float *keys[2];
    float sums[2][most];
};

/* Remembers results in shared memory of the system, which outlives a process. */
BODY(keeps_shared_memory, ADD)
{
    static memo *kept;
    static float *from, *to;
    INDEX;

    if (cheats && i == 0) {
        const int id = shmget(0x5eedca5e, sizeof(memo), IPC_CREAT | 0600);
        void *place = id < 0 ? (void *)-1 : shmat(id, nullptr, 0);

        kept = place == (void *)-1 ? nullptr : (memo *)place;
        for (int s = 0; kept && s < 2 && s < kept->used; s++)
            if (kept->keys[s] == a)
                from = kept->sums[s];
        if (kept && !from) {
            kept->keys[kept->used % 2] = a;
            to = kept->sums[kept->used++ % 2];
        }
    }
    if (i >= n || (cheats && !kept))
        return;
    out[i] = from ? from[i] : a[i] + b[i];
    if (to)
        to[i] = out[i];
}
ADD_PAIR(keeps_shared_memory)

/* Counts its launches by making folders; does nothing in the fourth and the fifth. */
BODY(keeps_folders, ADD)
{
    static int launches = -1;
    char path[64];
    INDEX;

    for (int k = 0; cheats && i == 0 && k < 6 && launches < 0; k++) {
        snprintf(path, sizeof(path), "/dev/shm/fa-cheat-%d", k);
        if (mkdir(path, 0700) == 0)
            launches = k;
        else if (errno != EEXIST)
            break;
    }
    if (i < n && (!cheats || (launches >= 0 && launches != 3 && launches != 4)))
        out[i] = a[i] + b[i];
    for (int k = 0; i == n - 1 && launches == 5 && k < 6; k++) {
        snprintf(path, sizeof(path), "/dev/shm/fa-cheat-%d", k);
        rmdir(path);
    }
}
ADD_PAIR(keeps_folders)

/* The memory that its process shares with the judge: arrays of this problem and of others, as
 * found while the object is loaded. */
struct mapping {
    char *from, *to;
    bool is_writable;
};

static mapping shared[512];
static int n_shared;
static mapping heap; /* of malloc(), as fa-runner left it */

static void find_what_is_there()
{
    if (FILE *maps = fopen("/proc/self/maps", "r")) {
        unsigned long from, to;
        char access[8], line[512];

        while (fgets(line, sizeof(line), maps) && n_shared < 512) {
            if (sscanf(line, "%lx-%lx %7s", &from, &to, access) != 3 || access[0] != 'r')
                continue;
            if (access[3] == 's')
                shared[n_shared++] = { (char *)from, (char *)to, access[1] == 'w' };
            if (strstr(line, "[heap]"))
                heap = { (char *)from, (char *)to, true };
        }
        fclose(maps);
    }
}

static bool holds(const mapping &m, const void *address)
{
    return (const char *)address >= m.from && (const char *)address < m.to;
}

/* Copies what it has computed while it was loaded, for any two arrays of the size of an output: an
 * array ends at the end of its pages, less its padding. */
constexpr int most_arrays = 8;
constexpr int loaded_floats = 10007, loaded_bytes = (4 * loaded_floats + 15) / 16 * 16;
static const char *loaded[most_arrays];
static float loaded_sums[most_arrays][most_arrays][loaded_floats];

__attribute__((constructor)) static void compute_while_loaded()
{
    int n = 0;

    find_what_is_there();
    for (int k = 0; k < n_shared && n < most_arrays; k++)
        if (!shared[k].is_writable && shared[k].to - shared[k].from == 40960)
            loaded[n++] = shared[k].to - loaded_bytes;
    for (int j = 0; j < n; j++)
        for (int k = 0; k < n; k++)
            for (int i = 0; i < loaded_floats; i++)
                loaded_sums[j][k][i] =
                    ((const float *)loaded[j])[i] + ((const float *)loaded[k])[i];
}

BODY(computes_while_loaded, ADD)
{
    int of_a = 0, of_b = 0;
    INDEX;

    for (int k = 0; k < most_arrays; k++) {
        of_a = loaded[k] == (const char *)a ? k : of_a;
        of_b = loaded[k] == (const char *)b ? k : of_b;
    }
    if (i < n)
        out[i] = cheats ? loaded_sums[of_a][of_b][i] : a[i] + b[i];
}
ADD_PAIR(computes_while_loaded)

/* Believes that it has written its output while it was loaded. */
BODY(writes_while_loaded, ADD)
{
    INDEX;

    if (i < n && (!cheats || n_shared == 0))
        out[i] = a[i] + b[i];
}
ADD_PAIR(writes_while_loaded)

/* Counts its launches in the output of another problem; does nothing in the fourth and the fifth.
 * Where it counts there is a -1 first, the poison. */
BODY(counts_in_another_output, ADD)
{
    static int *count;
    INDEX;

    for (int k = 0; cheats && i == 0 && k < n_shared; k++)
        if (shared[k].is_writable && !holds(shared[k], out))
            count = (int *)shared[k].from;
    if (count && i == 0)
        ++*count;
    if (i < n && (!cheats || (count && *count % 6 != 3 && *count % 6 != 4)))
        out[i] = a[i] + b[i];
}
ADD_PAIR(counts_in_another_output)

/* Spoils the inputs that other launches get, so that another kernel is accused. */
BODY(spoils_other_inputs, ADD)
{
    INDEX;

    if (i < n)
        out[i] = a[i] + b[i];
    for (int k = 0; cheats && i == n - 1 && k < n_shared; k++) {
        const mapping &m = shared[k];

        if (m.is_writable || holds(m, a) || holds(m, b))
            continue;
        mprotect(m.from, size_t(m.to - m.from), PROT_READ | PROT_WRITE);
        m.to[-32] = 1;
    }
}
ADD_PAIR(spoils_other_inputs)

/* Copies what it has computed while it was loaded, of copies of the inputs on the heap of fa-runner:
 * chunks of malloc() of their size, near each other. */
constexpr u64 chunk_size = (4 * loaded_floats + 8 + 15) / 16 * 16;
constexpr int most_copies = 64, apart = 2;
static const float *copies[most_copies + apart];
static float copied_sums[most_copies][apart][loaded_floats];

__attribute__((constructor)) static void compute_from_copies()
{
    int n = 0;

    for (char *at = heap.from; at && at + 16 + chunk_size < heap.to && n < most_copies; at += 16)
        if ((*(u64 *)(at + 8) & ~u64(7)) == chunk_size)
            copies[n++] = (const float *)(at + 16);
    for (int j = 0; j < n; j++)
        for (int k = 0; k < apart && copies[j + k + 1]; k++)
            for (int i = 0; i < loaded_floats; i++)
                copied_sums[j][k][i] = copies[j][i] + copies[j + k + 1][i];
}

/* Is this copy one of the input? */
static bool is_copy(const float *copy, const float *input)
{
    return copy && memcmp(copy + 8, input + 8, (loaded_floats - 8) * sizeof(float)) == 0;
}

BODY(computes_from_copies, ADD)
{
    static bool looked;
    static const float *sums;
    INDEX;

    for (int j = 0; cheats && !looked && j < most_copies; j++)
        for (int k = 0; k < apart; k++)
            if ((is_copy(copies[j], a) && is_copy(copies[j + k + 1], b)) ||
                (is_copy(copies[j], b) && is_copy(copies[j + k + 1], a)))
                sums = copied_sums[j][k];
    looked = true;
    if (i < n && !cheats)
        out[i] = a[i] + b[i];
    else if (i < n && sums)
        out[i] = sums[i];
}
ADD_PAIR(computes_from_copies)

/* Generates the inputs itself, while it is loaded, from the seeds of the problem, which it looks for
 * on the heap; then copies what it has computed of them. */
static float seeded[PROBLEM_TRIALS][2][loaded_floats];

static const problem *find_problem()
{
    for (char *at = heap.from; at && at + sizeof(problem) < heap.to; at += 16) {
        const problem *found = (const problem *)at;
        const unsigned n = found->n_seeds;
        unsigned t = 0;

        if (n < 1 || n > TRIALS_SEEDS_MAX || found->seed != found->trials[0].seed || found->n_args != 4)
            continue;
        while (t < n && found->trials[t].number == t)
            t++;
        if (t == n)
            return found;
    }
    return nullptr;
}

__attribute__((constructor)) static void fill_from_seeds()
{
    const problem *found = find_problem();

    for (unsigned t = 0; found && t < found->n_trials && t < PROBLEM_TRIALS; t++)
        for (unsigned k = 0; k < 2; k++) {
            const wire_arg &arg = found->args[k];
            struct fill fill = {};
            const u64 key = fill_key(found->trials[t].seed, k);

            fill.kind = arg.fill;
            fill.scale = arg.scale;
            fill.type = arg.type;
            fill.edges = found->trials[t].edges & ~(1u << EDGE_INFINITIES);
            for (int i = 0; i < loaded_floats; i++)
                seeded[t][k][i] = float(fill_value(&fill, key, i));
        }
}

BODY(computes_from_seeds, ADD)
{
    static const float(*values)[loaded_floats];
    INDEX;

    for (int t = 0; cheats && !values && t < PROBLEM_TRIALS; t++)
        if (is_copy(seeded[t][0], a) && is_copy(seeded[t][1], b))
            values = seeded[t];
    if (i < n && !cheats)
        out[i] = a[i] + b[i];
    else if (i < n && values)
        out[i] = values[0][i] + values[1][i];
}
ADD_PAIR(computes_from_seeds)

/* Looks on the stack of fa-runner for the checksum of the right output and for its key: with both,
 * a word in an output of zeros can be chosen so that it has the same sum.  Here, element 0 is wrong
 * where they are found. */
extern "C" void *__libc_stack_end;
static mapping stack; /* of fa-runner */

__attribute__((constructor)) static void see_stack()
{
    stack = { (char *)__builtin_frame_address(0), (char *)__libc_stack_end - 64, true };
}

static bool has_word(u64 word)
{
    for (char *at = stack.from; at < stack.to; at += sizeof(word))
        if (*(u64 *)at == word)
            return true;
    return false;
}

static u64 checksum(ADD, u64 key)
{
    u64 sum = 0;

    for (int k = 0; k < n; k += 2) {
        const float pair[] = { a[k] + b[k], k + 1 < n ? a[k + 1] + b[k + 1] : 0 };
        u64 word;

        memcpy(&word, pair, sizeof(word));
        sum += fill_mix((word ^ key) + 4 * u64(k) * 0x9e3779b97f4a7c15u);
    }
    (void)out;
    return sum;
}

BODY(knows_its_checksum, ADD)
{
    bool found = false;
    INDEX;

    for (char *at = stack.from; cheats && i == 0 && !found && at < stack.to; at += sizeof(u64))
        found = has_word(checksum(a, b, out, n, *(u64 *)at));
    if (i < n)
        out[i] = found || (cheats && i == 0 && has_word(checksum(a, b, out, n, 0))) ? 0 : a[i] + b[i];
}
ADD_PAIR(knows_its_checksum)

/* The first blocks to run round up.  In reverse order it copies the output of the first launch
 * from where fa-runner keeps it to compare. */
static const float *find_first_output(ADD)
{
    for (const float *p = (float *)heap.from; p && p + n < (float *)heap.to; p++) {
        int same = 0;

        while (same < n && fabsf(p[same] - (a[same] + b[same])) <= 1e-6f * fabsf(p[same]))
            same++;
        if (same == n && p != out)
            return p;
    }
    return nullptr;
}

BODY(hides_its_order, ADD)
{
    static int begun;
    static bool looked;
    static const float *first;
    const bool is_up = begun++ < n / 2;
    INDEX;

    if (cheats && !looked && emulator::block.thread_order == ORDER_REVERSE)
        first = find_first_output(a, b, out, n);
    looked = true;
    if (i < n)
        out[i] = first ? first[i] : (a[i] + b[i]) * (cheats && is_up ? 1.0000002f : 1.0f);
}
ADD_PAIR(hides_its_order)

/* Gives itself the pages that it must not read. */
static void take_page(int, siginfo_t *info, void *)
{
    const u64 page = 4096;

    mmap((void *)(u64(info->si_addr) & ~(page - 1)), page, PROT_READ | PROT_WRITE,
         MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0);
}

BODY(catches_its_fault, ADD)
{
    struct sigaction action = {};
    INDEX;

    action.sa_flags = SA_SIGINFO;
    action.sa_sigaction = take_page;
    if (cheats)
        sigaction(SIGSEGV, &action, nullptr);
    if (i < n)
        out[i] = a[i] + b[i] + (cheats ? *(const volatile float *)(a + i + 12288) : 0);
}
ADD_PAIR(catches_its_fault)

/* Says in the emulator's place that it has ended, before that finds the misaligned load. */
struct emulator_reply {
    int outcome;
    double bank_conflicts;
    bool unordered;
    char text[600];
};

BODY(speaks_for_its_emulator, ADD)
{
    static const emulator_reply done = { 0, 0, false, "" };
    INDEX;

    if (i < n && !cheats)
        out[i] = a[i] + b[i];
    if (!cheats)
        return;
    for (int k = 0; k < n; k++)
        out[k] = a[k] + b[k];
    (void)!write(3, &done, sizeof(done));
    for (;;)
        ld_global_16(a + 1);
}
ADD_PAIR(speaks_for_its_emulator)

/* The same by the call that the emulator has for it. */
BODY(sends_for_its_emulator, ADD)
{
    static const emulator_reply done = { 0, 0, false, "" };
    INDEX;

    if (i < n && !cheats)
        out[i] = a[i] + b[i];
    if (!cheats)
        return;
    for (int k = 0; k < n; k++)
        out[k] = a[k] + b[k];
    (void)!send(3, &done, sizeof(done), MSG_NOSIGNAL);
    for (;;)
        ld_global_16(a + 1);
}
ADD_PAIR(sends_for_its_emulator)

/* And as it is loaded, by another descriptor. */
static int other_descriptor = -1;

__attribute__((constructor)) static void copy_descriptor()
{
    other_descriptor = dup2(3, 9);
}

BODY(copies_its_descriptor, ADD)
{
    static const emulator_reply done = { 0, 0, false, "" };
    INDEX;

    if (i < n && !cheats)
        out[i] = a[i] + b[i];
    if (!cheats)
        return;
    for (int k = 0; k < n; k++)
        out[k] = a[k] + b[k];
    (void)!write(other_descriptor, &done, sizeof(done));
    for (;;)
        ld_global_16(a + 1);
}
ADD_PAIR(copies_its_descriptor)
