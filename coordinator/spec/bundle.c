#include "coordinator/spec/bundle.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "common/sources.h"
#include "coordinator/spec/embedded_headers.h"
#include "coordinator/source/identifier.h"
#include "coordinator/source/include.h"
#include "coordinator/spec/spec.h"
#include "coordinator/text/caret.h"
#include "coordinator/text/suggest.h"

#define PATH_BYTES 512
#define PRIMITIVES_MAX 256

/* Where a file is asked for: the sweep file, or a line of another file. */
struct asker {
    const struct spec *spec;
    size_t at;               /* offset in the sweep file */
    bool input;              /* it is no source */
    struct bundle_file file; /* without a name: the sweep file */
    const char *place;       /* position in the file */
    struct err *err;
};

static int flaw(const struct asker *asker, const char *why, const char *fmt,
                ...) __attribute__((format(printf, 3, 4)));

static int flaw(const struct asker *asker, const char *why, const char *fmt,
                ...)
{
    const struct spec *spec = asker->spec;
    struct caret_text text = { spec->file.path, spec->file.text,
                               spec->file.len };
    size_t at = asker->at;
    char *path = NULL;
    va_list ap;
    int rc;

    if (asker->file.name) {
        const char *slash = strrchr(spec->file.path, '/');
        int folder = slash ? (int)(slash + 1 - spec->file.path) : 0;

        path = mem_printf("%.*s%s", folder, spec->file.path, asker->file.name);
        text = (struct caret_text){ path, asker->file.bytes, asker->file.len };
        at = (size_t)(asker->place - asker->file.bytes);
    }
    va_start(ap, fmt);
    rc = caret_text_verr(asker->err, &text, at, why, fmt, ap);
    va_end(ap);
    free(path);
    return rc;
}

static const struct embed *find_primitive(const char *name)
{
    for (const struct embed *p = embedded_headers; p->name; p++)
        if (strcmp(p->name, name) == 0)
            return p;
    return NULL;
}

static int no_primitive(const struct asker *asker, const char *name)
{
    const char *names[PRIMITIVES_MAX], *near;
    char why[160];
    size_t n = 0;

    for (; n < PRIMITIVES_MAX && embedded_headers[n].name; n++)
        names[n] = embedded_headers[n].name;
    near = suggest_name(name, strlen(name), names, n);
    snprintf(why, sizeof(why), "the primitives are in kernels/include/fa%s%s%s",
             near ? "; did you mean <" : "", near ? near : "",
             near ? ">?" : "");
    return flaw(asker, why, "there is no primitive <%s>", name);
}

static bool has_file(const struct bundle *bundle, const char *name)
{
    for (size_t i = 0; i < bundle->n; i++)
        if (strcmp(bundle->files[i].name, name) == 0)
            return true;
    return false;
}

static int add_file(const struct asker *asker, struct bundle *bundle,
                    const char *name, const void *bytes, size_t len)
{
    size_t total = len;

    for (size_t i = 0; i < bundle->n; i++)
        total += bundle->files[i].len;
    if (bundle->n == BUNDLE_FILES_MAX)
        return flaw(asker, "at most 256", "too many files are included");
    if (total > BUNDLE_BYTES_MAX)
        return flaw(asker,
                    "all files of a build together may have at most 1.5 MiB",
                    "with '%s' the files have %zu bytes", name, total);
    bundle->files =
        mem_grow(bundle->files, bundle->n + 1, sizeof(*bundle->files));
    bundle->files[bundle->n++] =
        (struct bundle_file){ mem_strdup(name), mem_dup(bytes, len), len };
    return 0;
}

/* Open a file below the folder without following a symbolic link; -1 with
 * errno. */
static int open_below(const char *folder, const char *name)
{
    char path[PATH_BYTES], *rest = path, *part;
    int fd = open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC), next;

    snprintf(path, sizeof(path), "%s",
             name); /* identifier_path_flaw() has checked it */
    while (fd >= 0 && (part = strsep(&rest, "/"))) {
        int flags = rest ? O_PATH : O_RDONLY | O_NONBLOCK;
        int saved;

        next = openat(fd, part, flags | O_NOFOLLOW | O_CLOEXEC);
        saved = errno;
        close(fd);
        errno = saved;
        fd = next;
    }
    return fd;
}

static int read_bytes(const struct asker *asker, const char *name, int fd,
                      struct buf *out)
{
    char chunk[16384];
    struct stat st;
    ssize_t n;

    if (fstat(fd, &st) < 0 || !S_ISREG(st.st_mode))
        return flaw(asker, "it must be a plain file", "'%s' is not a file",
                    name);
    while ((n = read(fd, chunk, sizeof(chunk))) > 0 && !out->truncated)
        buf_add(out, chunk, (size_t)n);
    if (n < 0)
        return flaw(asker, strerror(errno), "'%s' cannot be read", name);
    return 0;
}

static int check_text(const struct asker *asker, const char *name,
                      const struct buf *out)
{
    if (out->truncated)
        return flaw(asker, "a source may have at most 1 MiB", "'%s' is too big",
                    name);
    if (memchr(buf_text(out), '\0', out->len))
        return flaw(asker, "a source must be a text file",
                    "'%s' contains a NUL byte", name);
    return 0;
}

static int cannot_open(const struct asker *asker, const char *name)
{
    if (errno == ENOENT)
        return flaw(asker, "paths are relative to the folder of the sweep file",
                    "there is no file '%s'", name);
    if (errno == ELOOP || errno == ENOTDIR)
        return flaw(
            asker,
            asker->input
                ? "keep all inputs in the folder of the sweep file, without "
                  "links"
                : "keep all sources in the folder of the sweep file, without "
                  "links",
            "'%s' is a symbolic link, or a part of its path is a link or not a "
            "folder",
            name);
    return flaw(asker, strerror(errno), "'%s' cannot be read", name);
}

static int add_own(const struct asker *asker, struct bundle *bundle,
                   const char *name)
{
    int fd = open_below(asker->spec->file.folder, name), rc;
    struct buf text;

    if (fd < 0)
        return cannot_open(asker, name);
    buf_init(&text, BUNDLE_FILE_MAX);
    rc = read_bytes(asker, name, fd, &text);
    if (rc == 0)
        rc = check_text(asker, name, &text);
    if (rc == 0)
        rc = add_file(asker, bundle, name, buf_text(&text), text.len);
    buf_fini(&text);
    close(fd);
    return rc;
}

static bool exists(const struct spec *spec, const char *name)
{
    int fd = open_below(spec->file.folder, name);

    if (fd >= 0)
        close(fd);
    return fd >= 0 || errno != ENOENT;
}

/* A system's header is not sent.  What is named by its place on this machine is
 * no such header: it would be missing in the bundle and in its hash. */
static bool is_of_system(const struct include *include, const char *name)
{
    return !include->quoted && name[0] != '/' && !strstr(name, "../");
}

/* Resolve an include line as the compiler does: a quoted name is looked for
 * beside the including file first, then from the root; device primitives
 * too. */
static int add_include(const struct asker *asker, struct bundle *bundle,
                       const struct include *include)
{
    const char *slash = strrchr(asker->file.name, '/');
    char name[PATH_BYTES], beside[PATH_BYTES];
    const char *why;
    const struct embed *primitive;

    if (include->len >= PATH_BYTES / 2)
        return flaw(asker, "at most 200 bytes", "this path is too long");
    snprintf(name, sizeof(name), "%.*s", (int)include->len, include->name);
    primitive = find_primitive(name);
    if (!primitive && is_of_system(include, name))
        return strncmp(name, "fa/", 3) == 0 ? no_primitive(asker, name) : 0;
    if (primitive)
        return has_file(bundle, name)
                   ? 0
                   : add_file(asker, bundle, name, primitive->bytes,
                              primitive->len);
    why = identifier_path_flaw(name);
    if (why)
        return flaw(asker, why, "'%.64s' cannot be included", name);
    snprintf(beside, sizeof(beside), "%.*s%s",
             slash ? (int)(slash + 1 - asker->file.name) : 0, asker->file.name,
             name);
    if (!slash || strlen(beside) > 200 || !exists(asker->spec, beside))
        snprintf(beside, sizeof(beside), "%s", name);
    return has_file(bundle, beside) ? 0 : add_own(asker, bundle, beside);
}

/* Scanning a file appends the files that it includes. */
static int add_includes(struct asker *asker, struct bundle *bundle)
{
    for (size_t i = 0; i < bundle->n; i++) {
        struct include include;
        size_t at = 0;

        asker->file = bundle->files[i]; /* the list may move */
        while (
            include_next(asker->file.bytes, asker->file.len, &at, &include)) {
            asker->place = include.name;
            if (add_include(asker, bundle, &include) < 0)
                return ERR_INPUT;
        }
    }
    return 0;
}

static void set_hash(struct bundle *bundle)
{
    const char **names = mem_new(bundle->n, sizeof(*names));
    struct bytes *contents = mem_new(bundle->n, sizeof(*contents));

    for (size_t i = 0; i < bundle->n; i++) {
        names[i] = bundle->files[i].name;
        contents[i] =
            (struct bytes){ bundle->files[i].bytes, bundle->files[i].len };
    }
    sources_hash(&(struct texts){ names, bundle->n },
                 &(struct blobs){ contents, bundle->n }, bundle->hash);
    free(names);
    free(contents);
}

int bundle_load(const struct spec *spec, const char *source, size_t at,
                bool emulation, struct bundle *out, struct err *err)
{
    static const char first[] = "fa/emulation.h";
    struct asker asker = { .spec = spec, .at = at, .err = err };
    const struct embed *primitive = find_primitive(first);
    int rc;

    *out = (struct bundle){ 0 };
    rc = add_own(&asker, out, source);
    if (rc == 0 && emulation && primitive)
        rc = add_file(&asker, out, first, primitive->bytes, primitive->len);
    if (rc == 0)
        rc = add_includes(&asker, out);
    if (rc < 0)
        bundle_fini(out);
    else
        set_hash(out);
    return rc;
}

int bundle_files(const struct spec *spec, char *const *names, const size_t *at,
                 size_t n, struct bundle *out, struct err *err)
{
    struct asker asker = { .spec = spec, .err = err };

    *out = (struct bundle){ 0 };
    for (size_t i = 0; i < n; i++) {
        asker.at = at[i];
        if (add_own(&asker, out, names[i]) < 0) {
            bundle_fini(out);
            return ERR_INPUT;
        }
    }
    set_hash(out);
    return 0;
}

int bundle_bytes(const struct spec *spec, const char *name, size_t at,
                 struct buf *out, struct err *err)
{
    const struct asker asker = {
        .spec = spec, .at = at, .input = true, .err = err
    };
    int fd = open_below(spec->file.folder, name), rc;

    if (fd < 0)
        return cannot_open(&asker, name);
    rc = read_bytes(&asker, name, fd, out);
    close(fd);
    return rc;
}

void bundle_of_record(const char *name, struct bundle *out)
{
    *out = (struct bundle){ .files = mem_new(1, sizeof(*out->files)), .n = 1 };
    out->files[0] = (struct bundle_file){ .name = mem_strdup(name),
                                          .bytes = mem_strdup("") };
    set_hash(out);
}

void bundle_fini(struct bundle *bundle)
{
    for (size_t i = 0; i < bundle->n; i++) {
        free(bundle->files[i].name);
        free(bundle->files[i].bytes);
    }
    free(bundle->files);
    *bundle = (struct bundle){ 0 };
}
