#include "worker/main/peer_program.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#define REMOVED " (deleted)" /* proc(5) */

char *peer_program_name(char *link)
{
    size_t len = strlen(link), end = strlen(REMOVED);
    char *slash;

    if (len > end && strcmp(link + len - end, REMOVED) == 0)
        link[len - end] = '\0';
    slash = strrchr(link, '/');
    return slash ? slash + 1 : link;
}

static bool read_link(const char *path, char out[PATH_MAX])
{
    ssize_t n = readlink(path, out, PATH_MAX - 1);

    out[n < 0 ? 0 : n] = '\0';
    return n > 0;
}

bool peer_program_differs(int socket, pid_t *pid)
{
    struct ucred peer;
    socklen_t len = sizeof(peer);
    char path[40], theirs[PATH_MAX], ours[PATH_MAX];

    if (getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &len) < 0 ||
        peer.pid <= 0)
        return false;
    snprintf(path, sizeof(path), "/proc/%d/exe", (int)peer.pid);
    if (!read_link(path, theirs) || !read_link("/proc/self/exe", ours))
        return false;
    *pid = peer.pid;
    return strcmp(peer_program_name(theirs), peer_program_name(ours)) != 0;
}
