/* The machine code of the winner, from what the coordinator kept or from the
 * cache of this machine's worker: what was measured, byte for byte, and not a
 * new build. */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "common/elf_file.h"
#include "common/err.h"
#include "common/hash.h"
#include "common/mem.h"
#include "coordinator/cache/artifact_cache.h"
#include "coordinator/export/export.h"
#include "coordinator/result/report.h"

#define CUBIN_BYTES_MAX (256u << 20)
#define MACHINE_CUDA 190 /* e_machine; glibc 2.31 has no name for it */

static int read_file(const char *path, const char *hash, struct buf *out,
                     struct err *err)
{
    FILE *file = fopen(path, "rbe");
    char chunk[65536];
    size_t n;
    int rc = 0;

    if (!file)
        return err_set(err, ERR_INPUT,
                       "the machine code %s is not in the cache of this "
                       "machine's worker (%s: %s); copy it from the host that "
                       "built it",
                       hash, path, strerror(errno));
    while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0 && !out->truncated)
        buf_add(out, chunk, n);
    if (ferror(file) || out->truncated)
        rc = err_set(err, ERR_SYSTEM, "%s: cannot be read", path);
    fclose(file);
    return rc;
}

static int check(const struct buf *cubin, const char *path, const char *hash,
                 struct err *err)
{
    struct elf_file elf;
    char found[HASH_HEX];

    hash_of(cubin->bytes ? cubin->bytes : "", cubin->len, found);
    if (strcmp(found, hash) != 0)
        return err_set(err, ERR_INPUT,
                       "%s is damaged: its hash is %s; remove it, and sweep or "
                       "build again",
                       path, found);
    if (!elf_file_open(cubin->bytes, cubin->len, &elf) ||
        elf.header.e_machine != MACHINE_CUDA)
        return err_set(err, ERR_INPUT,
                       "the artifact %s is not a cubin: the sweep did not run "
                       "on an NVIDIA GPU",
                       hash);
    return 0;
}

/* The caller frees it. */
static char *place_of(const char *hash)
{
    const char *home = getenv("HOME");
    char *kept = artifact_cache_folder();
    char *path = mem_printf("%s/%s", kept ? kept : "", hash);

    if (!kept || access(path, R_OK) < 0) {
        free(path);
        path = mem_printf("%s/.cache/fa-coord/artifacts/%s", home ? home : "",
                          hash);
    }
    free(kept);
    return path;
}

int export_cubin(struct export *export, FILE *to, struct err *err)
{
    const char *hash = export->origin.artifact;
    struct buf cubin;
    char *path;
    int rc;

    if (!hash_is_hex(hash))
        return err_set(
            err, ERR_INPUT,
            "the database has no machine code of this configuration%s",
            export->report->sweep.recorded_on
                ? ": its results are those of a record"
                : "");
    path = place_of(hash);
    buf_init(&cubin, CUBIN_BYTES_MAX);
    rc = read_file(path, hash, &cubin, err);
    if (rc == 0)
        rc = check(&cubin, path, hash, err);
    if (rc == 0)
        fwrite(cubin.bytes, 1, cubin.len, to);
    buf_fini(&cubin);
    free(path);
    return rc;
}
