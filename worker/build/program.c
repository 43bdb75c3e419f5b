#include "worker/build/program.h"

#include <string.h>
#include <unistd.h>

#include "worker/build/compiler.h"
#include "worker/build/runner_files.h"
#include "worker/runner/sources.h"
#include "worker/store/build_dir.h"

static bool is_for(const char *path, unsigned which)
{
    for (const struct runner_source *source = runner_sources; source->path;
         source++)
        if (strcmp(source->path, path) == 0)
            return source->devices & which;
    return false;
}

/* The host is part of it: "native" depends on its GPUs, and hosts may share a
 * work folder. */
void program_key(const struct program *program, const char *toolkit,
                 char key[HASH_HEX])
{
    char host[256] = "";
    struct hash hash;

    (void)gethostname(host, sizeof(host) - 1); /* if it fails: one build more */
    hash_init(&hash);
    hash_text(&hash, program->name);
    hash_text(&hash, toolkit);
    for (size_t i = 1; i < program->line->n; i++)
        hash_text(&hash, program->line->args[i]);
    hash_text(&hash, host);
    for (const struct embed *file = runner_files; file->name; file++)
        if (is_for(file->name, program->which)) {
            hash_text(&hash, file->name);
            hash_field(&hash, file->bytes, file->len);
        }
    hash_end(&hash, key);
}

int program_write(const struct program *program,
                  const struct build_dir *build_dir, struct err *err)
{
    int rc = 0;

    for (const struct embed *file = runner_files; rc == 0 && file->name; file++)
        if (is_for(file->name, program->which))
            rc = build_dir_write(build_dir, "src",
                                 file->name + strlen(program->root),
                                 file->bytes, file->len, err);
    return rc;
}

static const struct bytes *file_of(const struct texts *names,
                                   const struct blobs *contents,
                                   const char *name)
{
    for (size_t i = 0; i < names->n; i++)
        if (strcmp(names->items[i], name) == 0)
            return &contents->items[i];
    return NULL;
}

bool program_header_comes_with(const struct texts *names,
                               const struct blobs *contents)
{
    for (const struct embed *file = runner_files; file->name; file++) {
        const struct bytes *its;

        if (!is_for(file->name, RUNNER_HEADER))
            continue;
        its =
            file_of(names, contents, file->name + strlen(SOURCES_HEADER_ROOT));
        if (!its || its->len != file->len ||
            memcmp(its->data, file->bytes, file->len) != 0)
            return false;
    }
    return true;
}
