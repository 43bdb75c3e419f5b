#include "worker/store/refusal.h"

#include <errno.h>
#include <stddef.h>
#include <string.h>

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

int refusal_of(const char *path, struct err *err)
{
    const char *remedy = refusal_remedy(errno);

    if (!remedy)
        return err_set(err, ERR_SYSTEM, "'%s': %s", path, strerror(errno));
    return err_set(err, ERR_SYSTEM, "'%s': %s; %s", path, strerror(errno),
                   remedy);
}
