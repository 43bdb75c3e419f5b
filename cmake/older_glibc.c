/* older_glibc.c - what glibc has since 2.32 and fa-coord needs, for older ones
 *
 * Only the fa-coord of the tarball has it (FA_OLD_GLIBC, docs/install.md).
 * sigabbrev_np() is called by our code, the others by libstdc++ and libgcc,
 * which that program has in itself.
 */
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>

/* libstdc++ counts references without atomics where this is 1. */
extern char __libc_single_threaded;
char __libc_single_threaded = 0;

uint32_t arc4random(void); /* <stdlib.h> has it since 2.36 */

uint32_t arc4random(void)
{
    uint32_t value;

    if (getrandom(&value, sizeof(value), 0) != sizeof(value))
        abort(); /* a kernel before 3.17 */
    return value;
}

const char *sigabbrev_np(int number)
{
    static const char *const names[] = {
        [SIGABRT] = "ABRT",     [SIGALRM] = "ALRM",     [SIGBUS] = "BUS",
        [SIGCHLD] = "CHLD",     [SIGCONT] = "CONT",     [SIGFPE] = "FPE",
        [SIGHUP] = "HUP",       [SIGILL] = "ILL",       [SIGINT] = "INT",
        [SIGKILL] = "KILL",     [SIGPIPE] = "PIPE",     [SIGPOLL] = "POLL",
        [SIGPROF] = "PROF",     [SIGPWR] = "PWR",       [SIGQUIT] = "QUIT",
        [SIGSEGV] = "SEGV",     [SIGSTKFLT] = "STKFLT", [SIGSTOP] = "STOP",
        [SIGSYS] = "SYS",       [SIGTERM] = "TERM",     [SIGTRAP] = "TRAP",
        [SIGTSTP] = "TSTP",     [SIGTTIN] = "TTIN",     [SIGTTOU] = "TTOU",
        [SIGURG] = "URG",       [SIGUSR1] = "USR1",     [SIGUSR2] = "USR2",
        [SIGVTALRM] = "VTALRM", [SIGWINCH] = "WINCH",   [SIGXCPU] = "XCPU",
        [SIGXFSZ] = "XFSZ",
    };

    if (number < 0 || (size_t)number >= sizeof(names) / sizeof(names[0]))
        return NULL;
    return names[number];
}

struct search {
    uintptr_t address;
    struct dl_find_object *out;
};

/* 1, which ends the walk, if the address is in this object. */
static int look_at(struct dl_phdr_info *object, size_t size, void *arg)
{
    const struct search *search = arg;
    const ElfW(Phdr) *frames = NULL, *code = NULL;

    (void)size;
    for (int i = 0; i < object->dlpi_phnum; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];
        uintptr_t start = object->dlpi_addr + part->p_vaddr;

        if (part->p_type == PT_GNU_EH_FRAME)
            frames = part;
        else if (part->p_type == PT_LOAD && search->address >= start &&
                 search->address - start < part->p_memsz)
            code = part;
    }
    if (!frames || !code)
        return 0;
    memset(search->out, 0, sizeof(*search->out));
    search->out->dlfo_map_start = (void *)(object->dlpi_addr + code->p_vaddr);
    search->out->dlfo_map_end =
        (void *)(object->dlpi_addr + code->p_vaddr + code->p_memsz);
    search->out->dlfo_eh_frame = (void *)(object->dlpi_addr + frames->p_vaddr);
    return 1;
}

/* Where an exception's handlers of the code at 'address' are listed. */
int _dl_find_object(void *address, struct dl_find_object *out)
{
    struct search search = { (uintptr_t)address, out };

    return dl_iterate_phdr(look_at, &search) ? 0 : -1;
}
