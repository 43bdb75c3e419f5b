#include "coordinator/link/self.h"

#include <limits.h>
#include <pwd.h>
#include <stdlib.h>
#include <unistd.h>

#include "common/clock.h"
#include "coordinator/store/store.h"

int self_owner(struct store *store, struct owner *out, struct err *err)
{
    const struct passwd *user = getpwuid(geteuid());
    char machine[HOST_NAME_MAX + 1] = "unknown", path[PATH_MAX];
    const char *database = realpath(store_path(store), path);

    (void)gethostname(machine, sizeof(machine) - 1); /* stays "unknown" */
    *out = (struct owner){ .pid = getpid(), .since_utc = clock_utc_ns() };
    owner_set(out->user, sizeof(out->user), user ? user->pw_name : "unknown");
    owner_set(out->machine, sizeof(out->machine), machine);
    owner_set(out->database, sizeof(out->database),
              database ? database : store_path(store));
    owner_draw(out->command);
    return store_owner(store, out->id, err);
}
