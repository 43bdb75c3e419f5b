#include "common/limits.h"

#include <signal.h>
#include <sys/resource.h>

#define FILES_MAX 65536 /* some programs close all that they may have */

void limits_setup(void)
{
    struct rlimit files;

    signal(SIGXFSZ, SIG_IGN);
    if (getrlimit(RLIMIT_NOFILE, &files) < 0 || files.rlim_cur >= FILES_MAX)
        return;
    files.rlim_cur = files.rlim_max < FILES_MAX ? files.rlim_max : FILES_MAX;
    (void)setrlimit(RLIMIT_NOFILE, &files); /* below the hard limit */
}

int limits_check_files(int files, struct err *err)
{
    struct rlimit limit;

    if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= (rlim_t)files)
        return 0;
    return err_set(err, ERR_SYSTEM,
                   "at most %d open files are allowed here, and %d are needed; "
                   "raise the limit with 'ulimit -n %d', or for every login "
                   "in /etc/security/limits.conf",
                   (int)limit.rlim_cur, files, files);
}
