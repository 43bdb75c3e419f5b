#include "common/remedy.h"

#include <errno.h>
#include <stddef.h>

const char *remedy_of(int number)
{
    switch (number) {
    case ENOSPC:
    case EDQUOT:
        return "make room, and run the same command again";
    case EFBIG:
        return "the file may not grow so large; raise 'ulimit -f', and run the "
               "same command again";
    case EMFILE:
    case ENFILE:
        return "raise 'ulimit -n', and run the same command again";
    case ENOMEM:
        return "free some memory, and run the same command again";
    case EIO:
        return "see the kernel's log (dmesg); when the disk is sound, run the "
               "same command again";
    default:
        return NULL;
    }
}
