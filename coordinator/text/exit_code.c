#include "coordinator/text/exit_code.h"

#include "common/err.h"

const struct exit_meaning *exit_code_meaning(size_t i)
{
    static const struct exit_meaning meanings[] = {
        { "0", "done" },
        { "1", "no valid result, or a failure that no other code names" },
        { "2", "usage, or bad input" },
        { "3", "no usable host" },
        { "4", "a host key or a login was refused" },
        { "5", "partial" },
        { "6", "the cap on dollars or hours is reached" },
        { "7", "the database" },
        { "129, 130, 143", "interrupted by SIGHUP, SIGINT or SIGTERM" },
    };

    return i < sizeof(meanings) / sizeof(meanings[0]) ? &meanings[i] : NULL;
}

int exit_code_of(int rc)
{
    switch (rc) {
    case ERR_INPUT:
        return EXIT_INPUT;
    case ERR_NETWORK:
    case ERR_BUSY:
    case ERR_PROTO: /* a host that breaks the protocol cannot be used */
        return EXIT_NO_HOST;
    case ERR_AUTH:
    case ERR_HOST_KEY:
        return EXIT_REFUSED;
    case ERR_STORE:
        return EXIT_DATABASE;
    default:
        return EXIT_NO_RESULT;
    }
}

int exit_code_of_signal(int signo)
{
    return EXIT_BY_SIGNAL + signo;
}

bool exit_code_is_signal(int code)
{
    return code >= EXIT_BY_SIGNAL;
}

bool exit_code_is_resumable(int code)
{
    return code == EXIT_PARTIAL || code == EXIT_CAP ||
           exit_code_is_signal(code);
}
