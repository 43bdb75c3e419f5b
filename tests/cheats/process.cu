/* process.cu - kernels that reach for the process that judges them: the cpu device alone
 *
 * On a GPU a kernel makes no system call.
 */
#include "pair.h"

#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <unistd.h>

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

/* What is computed while the object is loaded; an output is poisoned later. */
static float *loaded_out;

__attribute__((constructor)) static void find_the_output()
{
    if (FILE *maps = fopen("/proc/self/maps", "r")) {
        unsigned long from, to;
        char access[8], line[512];

        while (fgets(line, sizeof(line), maps))
            if (sscanf(line, "%lx-%lx %7s", &from, &to, access) == 3 && access[1] == 'w' &&
                access[3] == 's')
                loaded_out = (float *)from;
        fclose(maps);
    }
}

/* Believes that it has been done while it was loaded. */
BODY(computes_while_loaded, ADD)
{
    INDEX;

    if (i < n && (!cheats || !loaded_out))
        out[i] = a[i] + b[i];
}
ADD_PAIR(computes_while_loaded)
