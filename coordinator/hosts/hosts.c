#include "coordinator/hosts/hosts.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "common/buf.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/hosts/host_line.h"
#include "coordinator/hosts/host_models.h"

#define TABLE_SLOTS (2 * HOSTS_MAX)   /* a power of two; at most half full */
#define MENTIONS_MAX (16 * HOSTS_MAX) /* a host may be repeated once a slot */

enum section {
    SECTION_HOSTS,
    SECTION_CHILDREN /* [group:children]: names of groups */
};

struct reader {
    struct hosts *hosts;
    struct host_line line;
    enum section section;
    struct host node; /* of Slurm, without its name and task */
    size_t mentions;
    int16_t table[TABLE_SLOTS]; /* by name: index in the list, plus one */
};

static int16_t *table_slot(struct reader *r, const char *name)
{
    uint32_t h = 2166136261u; /* FNV-1a */

    for (const char *p = name; *p; p++)
        h = (h ^ (unsigned char)*p) * 16777619u;
    for (;; h++) {
        int16_t *slot = &r->table[h % TABLE_SLOTS];

        if (*slot == 0 || strcmp(r->hosts->list[*slot - 1].name, name) == 0)
            return slot;
    }
}

/* A host without attributes may be repeated: MPI counts slots that way, and
 * groups of Ansible overlap. */
static int known_before(const struct reader *r, const struct host *old,
                        struct err *err)
{
    if (r->line.bare && old->line != r->line.where.number)
        return 0;
    return caret_err(err, &r->line.where, r->line.who.at,
                     "name each host once, with all its attributes",
                     "host '%s' is already on line %d", old->name, old->line);
}

static void merge(struct host *host, const struct host_line *line)
{
    const struct host *attrs = &line->attrs;
    struct host own = *host;

    *host = *attrs;
    memcpy(host->name, own.name, sizeof(own.name));
    if (!*attrs->address)
        memcpy(host->address, own.address, sizeof(own.address));
    if (*own.user)
        memcpy(host->user, own.user, sizeof(own.user));
    if (own.port)
        host->port = own.port;
    host->local = own.local || attrs->local;
    host->line = line->where.number;
    if (!*host->gpus)
        snprintf(host->gpus, sizeof(host->gpus), "%s",
                 host->role == HOST_BUILDER ? "none" : "all");
}

/* 'task' is 0, or that of a node of Slurm, which is like 'r->node'. */
static int add_named(struct reader *r, const char *name, int task,
                     struct err *err)
{
    int16_t *slot = table_slot(r, name);
    struct host host = { 0 };
    size_t n = r->hosts->n;
    int rc;

    if (++r->mentions > MENTIONS_MAX ||
        (*slot == 0 && r->hosts->n == HOSTS_MAX))
        return caret_err(err, &r->line.where, r->line.who.at, "split the file",
                         "more than %d hosts", HOSTS_MAX);
    if (*slot)
        return known_before(r, &r->hosts->list[*slot - 1], err);
    snprintf(host.name, sizeof(host.name), "%s", name);
    if (task > 0) {
        host = r->node;
        host.dial.slurm.task = task;
        snprintf(host.name, sizeof(host.name), "%s", name);
        rc = 0;
    } else {
        rc = host_endpoint_read(&r->line, r->line.who.at, name, &host, err);
    }
    if (rc < 0)
        return rc;
    host.local = strcmp(name, "localhost") == 0;
    if (task == 0)
        merge(&host, &r->line);
    rc = host_agree_attrs(&r->line, &host, err);
    if (rc < 0)
        return rc;
    if ((n & (n - 1)) == 0) /* full: the list grows at powers of two */
        r->hosts->list =
            mem_grow(r->hosts->list, n > 0 ? 2 * n : 1, sizeof(struct host));
    r->hosts->list[r->hosts->n++] = host;
    *slot = (int16_t)r->hosts->n;
    return 0;
}

static int add_host(void *arg, const char *name, struct err *err)
{
    struct reader *r = arg;
    char node[sizeof(r->node.name)];
    int rc = 0;

    if (!host_slurm_named(name))
        return add_named(r, name, 0, err);
    r->node = (struct host){ 0 };
    merge(&r->node, &r->line);
    rc = host_slurm_read(&r->line, name, &r->node, err);
    for (int i = 1; rc == 0 && i <= r->node.dial.slurm.most; i++) {
        snprintf(node, sizeof(node), "%.200s-%d", name, i);
        rc = add_named(r, node, i, err);
    }
    return rc;
}

/* "[group]" of an Ansible inventory.  The hosts of every group are used. */
static int read_section(struct reader *r, struct err *err)
{
    const struct caret_line *where = &r->line.where;
    const char *close = memchr(where->text, ']', where->len);
    const char *colon = memchr(where->text, ':', where->len);

    r->section = SECTION_HOSTS;
    if (!colon || colon > close)
        return 0;
    if (close - colon == 9 && memcmp(colon, ":children", 9) == 0) {
        r->section = SECTION_CHILDREN;
        return 0;
    }
    return caret_err(err, where, colon,
                     "group variables are not supported; write them on the "
                     "line of each host",
                     "section '%.*s'", (int)(close - where->text + 1),
                     where->text);
}

static bool is_section(const struct caret_line *line)
{
    const char *close;

    if (line->len == 0 || line->text[0] != '[')
        return false;
    close = memchr(line->text, ']', line->len);
    if (!close)
        return false;
    for (const char *p = close + 1; p < line->text + line->len; p++) {
        if (*p == '#' || *p == ';')
            break;
        if (*p != ' ' && *p != '\t')
            return false;
    }
    for (const char *p = line->text + 1; p < close; p++)
        if (*p >= 'g' && *p <= 'z') /* no letter of an IPv6 address */
            return true;
    return !memchr(line->text, ':', line->len);
}

/* The machines of a pool: NAME-1 to NAME-MAX. */
static int add_pool(struct reader *r, struct err *err)
{
    char name[sizeof(((struct host *)0)->name)];
    int rc = 0;

    for (int i = 1; rc == 0 && i <= r->line.max; i++) {
        int n = snprintf(name, sizeof(name), "%.*s-%d", (int)r->line.who.len,
                         r->line.who.at, i);

        if (n < 0 || (size_t)n >= sizeof(name))
            return caret_err(err, &r->line.where, r->line.who.at,
                             "make it shorter", "the name is too long");
        rc = add_host(r, name, err);
    }
    return rc;
}

static int read_line(struct reader *r, struct err *err)
{
    int rc;

    if (r->line.where.len > HOSTS_LINE_MAX)
        return caret_err(err, &r->line.where, r->line.where.text,
                         "is this a hosts file? It has one host per line",
                         "the line is longer than %d bytes", HOSTS_LINE_MAX);
    if (is_section(&r->line.where))
        return read_section(r, err);
    if (r->section == SECTION_CHILDREN)
        return 0;
    rc = host_line_read(&r->line, err);
    if (rc < 0 || r->line.who.len == 0)
        return rc;
    if (r->line.pool)
        return add_pool(r, err);
    return host_range_expand(&r->line.where, r->line.who, add_host, r, err);
}

static int read_lines(struct reader *r, const char *file, const char *text,
                      size_t len, struct err *err)
{
    const char *p = text, *end = text + len;
    int rc = 0;

    if (len >= 3 && memcmp(p, "\xef\xbb\xbf", 3) == 0)
        p += 3;
    for (int number = 1; p < end && rc == 0; number++) {
        const char *newline = memchr(p, '\n', (size_t)(end - p));
        const char *stop = newline ? newline : end;
        size_t size = (size_t)(stop - p);

        if (size && p[size - 1] == '\r')
            size--;
        r->line = (struct host_line){ .where = { file, number, p, size } };
        rc = read_line(r, err);
        p = stop + 1;
    }
    return rc;
}

int hosts_parse(const char *file, const char *text, size_t len,
                struct hosts *out, struct err *err)
{
    struct reader *r = mem_new(1, sizeof(*r));
    int rc;

    *out = (struct hosts){ 0 };
    r->hosts = out;
    rc = read_lines(r, file, text, len, err);
    free(r);
    if (rc == 0 && out->n == 0)
        rc = err_set(err, ERR_INPUT,
                     "%s: the file names no host; write one per line, such as "
                     "user@gpu7:22 rate=0.68",
                     file);
    if (rc < 0)
        hosts_fini(out);
    return rc;
}

static int read_file(const char *path, struct buf *text, struct err *err)
{
    FILE *file = fopen(path, "re");
    struct stat st;
    char chunk[8192];
    size_t n;
    int failed;

    if (!file)
        return err_set(err, ERR_INPUT,
                       "%s: %s; write a file with one host per line, or leave "
                       "out --hosts to use this machine",
                       path, strerror(errno));
    if (fstat(fileno(file), &st) == 0 && !S_ISREG(st.st_mode)) {
        fclose(file);
        if (S_ISDIR(st.st_mode))
            return err_set(err, ERR_INPUT, "%s is a folder; name a file", path);
        return err_set(err, ERR_INPUT,
                       "%s is no file that can be read again, as 'resume' "
                       "will; write the hosts to a file",
                       path);
    }
    while ((n = fread(chunk, 1, sizeof(chunk), file)) > 0)
        if (!buf_add(text, chunk, n))
            break;
    failed = ferror(file) ? errno : 0;
    fclose(file);
    if (failed)
        return err_set(err, ERR_INPUT, "%s: %s", path, strerror(failed));
    if (text->truncated)
        return err_set(err, ERR_INPUT,
                       "%s is longer than 4 MiB; is this a hosts file?", path);
    return 0;
}

static int load_file(const char *path, struct hosts *out, struct err *err)
{
    struct buf text;
    int rc;

    *out = (struct hosts){ 0 };
    buf_init(&text, HOSTS_BYTES_MAX);
    rc = read_file(path, &text, err);
    if (rc == 0)
        rc = hosts_parse(path, buf_text(&text), text.len, out, err);
    buf_fini(&text);
    return rc;
}

int hosts_load(const char *path, struct hosts *out, struct err *err)
{
    const char *model = host_models_of_path(path);
    char *file = model ? mem_dup(path, (size_t)(model - 1 - path)) : NULL;
    int rc = load_file(file ? file : path, out, err);

    if (rc == 0 && model)
        rc = host_models_take(file, out, model, err);
    if (rc < 0)
        hosts_fini(out);
    free(file);
    return rc;
}

void hosts_fini(struct hosts *hosts)
{
    free(hosts->list);
    *hosts = (struct hosts){ 0 };
}

const char *host_gpus(const struct host *host)
{
    if (host->role == HOST_BUILDER)
        return "none";
    return host->gpus[0] ? host->gpus : "all";
}

bool host_measures(const struct host *host)
{
    return strcmp(host_gpus(host), "none") != 0;
}

bool host_is_rented(const struct host *host)
{
    return host->rental.start[0] != '\0';
}

int hosts_can_sweep(const char *file, const struct hosts *hosts,
                    struct err *err)
{
    bool measures = false, builds = false;

    for (size_t i = 0; i < hosts->n; i++) {
        measures = measures || host_measures(&hosts->list[i]);
        builds = builds || hosts->list[i].role != HOST_GPU;
    }
    if (!measures)
        return err_set(err, ERR_INPUT,
                       "%s: no host can measure: each has role=builder or "
                       "gpus=none; a sweep needs a host with a GPU",
                       file);
    if (!builds)
        return err_set(err, ERR_INPUT,
                       "%s: no host can build: each has role=gpu; leave out "
                       "role= for one of them, or add a host with role=builder",
                       file);
    return 0;
}

void hosts_local(struct hosts *out)
{
    *out = (struct hosts){ .list = mem_new(1, sizeof(struct host)), .n = 1 };
    *out->list = (struct host){ .name = "localhost",
                                .address = "localhost",
                                .local = true,
                                .gpus = "all" };
}

bool hosts_are_local(const struct hosts *hosts)
{
    for (size_t i = 0; i < hosts->n; i++)
        if (!hosts->list[i].local)
            return false;
    return true;
}
