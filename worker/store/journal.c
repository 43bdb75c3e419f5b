#include "worker/store/journal.h"

#include <errno.h>
#include <fcntl.h>
#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "common/mem.h"
#include "common/msg.h"
#include "worker/store/refusal.h"

#define HEAD_BYTES JOURNAL_RECORD_HEAD
#define WASTE_MIN (1 << 20) /* a file with less waste is not rewritten */
#define WASTE_RATIO 4
/* While the disk is full, it cannot be rewritten, but it cannot grow either. */
#define FILE_BYTES_MAX ((off_t)JOURNAL_BYTES_MAX * (WASTE_RATIO + 2))

struct journal {
    char *path;
    int fd;
    off_t size;  /* of the file: complete records only */
    size_t live; /* bytes of records that are not acknowledged */
    struct journal_entry *entries;
    size_t n;
    size_t wanted; /* bytes that did not fit on the disk; 0: all fitted */
};

static int sys_err(const struct journal *journal, struct err *err)
{
    return refusal_of(journal->path, err);
}

/* Get the nonce of an encoded result; false if it is not one. */
static bool get_nonce(const void *bytes, size_t len, char out[HASH_HEX])
{
    const struct msg_result *result;
    struct msg msg;
    bool ok;

    if (msg_decode(bytes, len, &msg, NULL) < 0)
        return false;
    result = msg_result(&msg);
    ok = result && hash_is_hex(result->nonce);
    if (ok)
        memcpy(out, result->nonce, HASH_HEX);
    msg_fini(&msg);
    return ok;
}

static bool append(struct journal *journal, const struct journal_record *record)
{
    struct journal_entry entry = { .record = *record };

    if (!get_nonce(record->message, record->len, entry.nonce))
        return false;
    entry.record.message = mem_dup(record->message, record->len);
    journal->entries =
        mem_grow(journal->entries, journal->n + 1, sizeof(journal->entries[0]));
    journal->entries[journal->n++] = entry;
    journal->live += HEAD_BYTES + record->len;
    return true;
}

static void release(struct journal *journal, struct journal_entry *entry)
{
    journal->live -= HEAD_BYTES + entry->record.len;
    free((char *)entry->record.message);
}

static void forget(struct journal *journal, size_t i)
{
    struct journal_entry *entry = &journal->entries[i];

    release(journal, entry);
    memmove(entry, entry + 1, (journal->n - i - 1) * sizeof(*entry));
    journal->n--;
}

static ssize_t read_full(int fd, void *to, size_t len, off_t at)
{
    size_t got = 0;

    while (got < len) {
        ssize_t n = pread(fd, (char *)to + got, len - got, at + (off_t)got);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return -1;
        if (n == 0)
            break;
        got += (size_t)n;
    }
    return (ssize_t)got;
}

/* Sync the folder's entry of a new or renamed file. */
static int sync_folder(const char *path)
{
    char *copy = mem_strdup(path);
    int fd = open(dirname(copy), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    int rc = fd < 0 ? -1 : fsync(fd);

    if (fd >= 0)
        close(fd);
    free(copy);
    return rc;
}

static bool write_full(int fd, const void *bytes, size_t len, off_t at)
{
    size_t done = 0;

    while (done < len) {
        ssize_t n = pwrite(fd, (const char *)bytes + done, len - done,
                           at + (off_t)done);

        if (n < 0 && errno == EINTR)
            continue;
        if (n < 0)
            return false;
        done += (size_t)n;
    }
    return true;
}

static bool write_record(int fd, const struct journal_record *record, off_t at)
{
    unsigned char head[HEAD_BYTES];

    journal_record_head(record, head);
    return write_full(fd, head, sizeof(head), at) &&
           write_full(fd, record->message, record->len, at + HEAD_BYTES);
}

/* Write the live records into a new file, and rename it over the old one.  If
 * that fails, the old file still has all of them. */
static void rewrite(struct journal *journal)
{
    char *path = mem_printf("%s.new", journal->path);
    int fd =
        open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0600);
    off_t at = 0;
    bool ok = fd >= 0;

    for (size_t i = 0; ok && i < journal->n; i++) {
        ok = write_record(fd, &journal->entries[i].record, at);
        at += HEAD_BYTES + (off_t)journal->entries[i].record.len;
    }
    if (ok && fsync(fd) == 0 && rename(path, journal->path) == 0) {
        (void)sync_folder(path); /* either file has every live record */
        close(journal->fd);
        journal->fd = fd;
        journal->size = at;
    } else if (fd >= 0) {
        close(fd);
        unlink(path);
    }
    free(path);
}

/* The whole file.  The caller frees '*out'. */
static int read_all(const struct journal *journal, char **out, size_t *len,
                    struct err *err)
{
    struct stat st;
    ssize_t got;

    if (fstat(journal->fd, &st) < 0)
        return sys_err(journal, err);
    if (st.st_size > FILE_BYTES_MAX)
        return err_set(err, ERR_SYSTEM,
                       "%s: %lld MiB, more than a worker writes; move it away",
                       journal->path, (long long)(st.st_size >> 20));
    *out = mem_new((size_t)st.st_size + 1, 1);
    got = read_full(journal->fd, *out, (size_t)st.st_size, 0);
    if (got < 0) {
        free(*out);
        *out = NULL;
        return sys_err(journal, err);
    }
    *len = (size_t)got;
    return 0;
}

/* Take all intact records.  Returns where the last one ends. */
static size_t take_records(struct journal *journal, const char *bytes,
                           size_t len, struct journal_damage *damage)
{
    struct journal_record record;
    size_t at = 0, end = 0;

    while ((at = journal_record_find(bytes, len, at, damage)) < len) {
        at += journal_record_read(bytes + at, len - at, &record);
        end = at;
        (void)append(journal, &record); /* unless of another version */
    }
    return end;
}

/* A torn end is cut off.  Damage before it is written away; if that fails, it
 * is met again at the next start. */
static int load(struct journal *journal, struct journal_damage *damage,
                struct err *err)
{
    size_t len = 0, end;
    char *bytes = NULL;
    int rc = read_all(journal, &bytes, &len, err);

    if (rc < 0)
        return rc;
    end = take_records(journal, bytes, len, damage);
    free(bytes);
    journal->size = (off_t)end;
    if (end < len &&
        (ftruncate(journal->fd, journal->size) < 0 || fsync(journal->fd) < 0))
        return sys_err(journal, err);
    if (damage->bytes > len - end)
        rewrite(journal);
    return 0;
}

int journal_open(const char *path, struct journal **out,
                 struct journal_damage *damage, struct err *err)
{
    struct journal *journal = mem_new(1, sizeof(*journal));
    int rc = 0;

    *damage = (struct journal_damage){ 0 };
    journal->path = mem_strdup(path);
    journal->fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
    if (journal->fd < 0 || sync_folder(path) < 0)
        rc = sys_err(journal, err);
    else
        rc = load(journal, damage, err);
    if (rc < 0) {
        journal_close(journal);
        return rc;
    }
    *out = journal;
    return 0;
}

void journal_close(struct journal *journal)
{
    if (!journal)
        return;
    if (journal->fd >= 0)
        close(journal->fd);
    for (size_t i = 0; i < journal->n; i++)
        free((char *)journal->entries[i].record.message);
    free(journal->entries);
    free(journal->path);
    free(journal);
}

/* A partial record is overwritten by the next one, or dropped at the next
 * start. */
static void cut_tail(struct journal *journal)
{
    (void)!ftruncate(journal->fd, journal->size);
}

static int save(struct journal *journal, const struct journal_record *record,
                struct err *err)
{
    int rc;

    if (write_record(journal->fd, record, journal->size) &&
        fdatasync(journal->fd) == 0) {
        journal->size += HEAD_BYTES + (off_t)record->len;
        journal->wanted = 0;
        return 0;
    }
    rc = sys_err(journal, err);
    journal->wanted = HEAD_BYTES + record->len;
    cut_tail(journal);
    return rc;
}

int journal_add(struct journal *journal, const struct journal_record *record,
                struct err *err)
{
    int rc;

    if (journal->live + HEAD_BYTES + record->len > JOURNAL_BYTES_MAX)
        return err_set(
            err, ERR_SYSTEM,
            "%s: more than %d MiB of results wait for the coordinator",
            journal->path, JOURNAL_BYTES_MAX >> 20);
    if (!append(journal, record))
        return err_set(err, ERR_INPUT, "%s: not an encoded result",
                       journal->path);
    rc = save(journal, &journal->entries[journal->n - 1].record, err);
    if (rc < 0)
        forget(journal, journal->n - 1);
    return rc;
}

int journal_probe(struct journal *journal, struct err *err)
{
    char *bytes;
    int rc = 0;

    if (journal->wanted == 0)
        return 0;
    bytes = mem_new(journal->wanted, 1);
    if (write_full(journal->fd, bytes, journal->wanted, journal->size) &&
        fdatasync(journal->fd) == 0)
        journal->wanted = 0;
    else
        rc = sys_err(journal, err);
    cut_tail(journal);
    free(bytes);
    return rc;
}

static bool has_room(const struct journal *journal)
{
    return journal->live + HEAD_BYTES + MSG_BYTES_MAX <= JOURNAL_BYTES_MAX;
}

bool journal_is_stuck(const struct journal *journal)
{
    return journal->wanted > 0 || !has_room(journal);
}

static void shrink(struct journal *journal)
{
    if (journal->live == 0 && journal->size > 0) {
        /* if it fails or is lost, the results are only sent again */
        if (ftruncate(journal->fd, 0) == 0)
            journal->size = 0;
    } else if (journal->size > WASTE_MIN &&
               (size_t)journal->size > WASTE_RATIO * journal->live) {
        rewrite(journal);
    }
}

void journal_compact(struct journal *journal)
{
    shrink(journal);
    if ((size_t)journal->size > journal->live)
        rewrite(journal);
}

bool journal_ack(struct journal *journal, const char *nonce)
{
    for (size_t i = 0; i < journal->n; i++) {
        if (strcmp(journal->entries[i].nonce, nonce) != 0)
            continue;
        forget(journal, i);
        shrink(journal);
        return true;
    }
    return false;
}

/* May it go, if 'owner' is served?  A time that is not known is no age. */
static bool is_given_up(const struct journal *journal,
                        const struct journal_entry *entry, const char *owner,
                        int64_t utc_ns)
{
    const struct journal_record *record = &entry->record;
    bool old = utc_ns - record->utc_ns > JOURNAL_KEEP_NS;

    if (strcmp(record->owner, owner) != 0)
        return (old && record->utc_ns > 0) || !has_room(journal);
    return old && entry->sent_ns > 0 && !has_room(journal);
}

size_t journal_age(struct journal *journal, const char *owner, int64_t utc_ns)
{
    size_t kept = 0, n = journal->n;

    for (size_t i = 0; i < n; i++) {
        struct journal_entry *entry = &journal->entries[i];

        if (is_given_up(journal, entry, owner, utc_ns))
            release(journal, entry);
        else
            memmove(&journal->entries[kept++], entry, sizeof(*entry));
    }
    journal->n = kept;
    if (kept < n)
        shrink(journal);
    return n - kept;
}

struct journal_entry *journal_entries(struct journal *journal, size_t *n)
{
    *n = journal->n;
    return journal->entries;
}
