#include "worker/store/refusal.h"

#include <errno.h>
#include <limits.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>

#include "common/err.h"

const char *refusal_remedy(int number)
{
    switch (number) {
    case ENOSPC:
    case EDQUOT:
        return "make room there, or name another folder with workdir=";
    case EIO:
        return "see the kernel's log (dmesg) there, or name another folder "
               "with workdir=";
    case EACCES:
    case EPERM:
    case EROFS:
        return "name another folder with workdir=";
    case EFBIG:
        return "raise 'ulimit -f' there";
    case EMFILE:
    case ENFILE:
        return "raise 'ulimit -n' there";
    case ENOMEM:
        return "free some memory there";
    default:
        return NULL;
    }
}

/* Of the file system that has 'path', or would have it. */
static bool room_of(const char *path, struct statvfs *out)
{
    char above[PATH_MAX];
    char *slash;

    if (snprintf(above, sizeof(above), "%s", path) >= PATH_MAX)
        return false;
    while (statvfs(above, out) < 0) {
        slash = strrchr(above, '/');
        if (!slash || slash == above)
            return false;
        *slash = '\0';
    }
    return true;
}

/* " (0.1 of 6.0 GiB free)"; "" if it is not known. */
static void say_room(const char *path, char *out, size_t size)
{
    static const char *const units[] = { "KiB", "MiB", "GiB", "TiB" };
    struct statvfs is;
    double unit = 1024;
    size_t i = 0;

    out[0] = '\0';
    if (!room_of(path, &is) || is.f_blocks == 0)
        return;
    if (is.f_files > 0 && is.f_favail == 0) {
        snprintf(out, size, " (no more files)");
        return;
    }
    while (i < 3 && (double)is.f_blocks * (double)is.f_frsize >= 1024 * unit) {
        unit *= 1024;
        i++;
    }
    snprintf(out, size, " (%.1f of %.1f %s free)",
             (double)is.f_bavail * (double)is.f_frsize / unit,
             (double)is.f_blocks * (double)is.f_frsize / unit, units[i]);
}

int refusal_of(const char *path, struct err *err)
{
    int number = errno;
    const char *remedy = refusal_remedy(number);
    char room[80] = "";

    if (!remedy)
        return err_set(err, ERR_SYSTEM, "'%s': %s", path, strerror(number));
    if (number == ENOSPC || number == EDQUOT)
        say_room(path, room, sizeof(room));
    return err_set(err, ERR_SYSTEM, "'%s': %s%s; %s", path, strerror(number),
                   room, remedy);
}

bool refusal_is_full(const char *dir, const char *text, struct err *err)
{
    static const int numbers[] = { ENOSPC, EDQUOT };

    for (size_t i = 0; i < sizeof(numbers) / sizeof(numbers[0]); i++)
        if (strstr(text, strerror(numbers[i]))) {
            errno = numbers[i];
            (void)refusal_of(dir, err); /* its text is of interest */
            return true;
        }
    return false;
}
