#include "coordinator/prune/prune_cache.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/hash.h"
#include "common/mem.h"
#include "coordinator/cache/artifact_cache.h"
#include "coordinator/prune/prune_list.h"

/* What a file of the cache is, or NULL. */
static const char *kind_of(const char *name)
{
    if (hash_is_hex(name))
        return "artifact";
    return strncmp(name, ARTIFACT_CACHE_PUT, strlen(ARTIFACT_CACHE_PUT)) == 0
               ? "temporary"
               : NULL;
}

static void take(int dir, const char *name, struct prune_entry *entry,
                 int64_t now_s, struct prune_list *list)
{
    struct stat stat;

    if (fstatat(dir, name, &stat, AT_SYMLINK_NOFOLLOW) < 0 ||
        !S_ISREG(stat.st_mode))
        return;
    entry->bytes = stat.st_size;
    entry->age_s = now_s - stat.st_mtim.tv_sec;
    if (entry->age_s < list->older_s)
        return;
    if (!list->dry_run && unlinkat(dir, name, 0) < 0)
        entry->why = strerror(errno);
    prune_list_add(list, entry);
}

void prune_cache(const char *folder, int64_t now_s, struct prune_list *list)
{
    DIR *dir = opendir(folder);

    for (struct dirent *file; dir && (file = readdir(dir));) {
        char *path = mem_printf("%s/%s", folder, file->d_name);
        struct prune_entry entry = {
            .where = (char *)(uintptr_t) "here",
            .kind = (char *)(uintptr_t)kind_of(file->d_name),
            .path = path,
        };

        if (entry.kind)
            take(dirfd(dir), file->d_name, &entry, now_s, list);
        free(path);
    }
    if (dir)
        closedir(dir);
}
