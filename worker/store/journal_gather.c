#include "worker/store/journal_gather.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

struct gathering {
    const struct instance *mine;
    struct journal *journal;
    const char *owner;
    struct journal_gathered out;
};

/* In the new one first: a crash in between leaves two, which count once. */
static bool move_one(struct gathering *to, struct journal *from)
{
    size_t n;
    struct journal_entry *entries = journal_entries(from, &n);
    struct err full; /* then it stays */

    for (size_t i = 0; i < n; i++) {
        char nonce[HASH_HEX];

        if (strcmp(entries[i].record.owner, to->owner) != 0)
            continue;
        if (journal_add(to->journal, &entries[i].record, &full) < 0)
            return false;
        memcpy(nonce, entries[i].nonce, sizeof(nonce));
        (void)journal_ack(from, nonce);
        to->out.moved++;
        return true;
    }
    return false;
}

static void move_all(struct gathering *to, const char *path)
{
    struct journal_damage damage;
    size_t before = to->out.moved;
    struct journal *from;
    struct err err; /* its own worker will say it */

    if (journal_open(path, &from, &damage, &err) < 0)
        return;
    to->out.damage.records += damage.records;
    to->out.damage.bytes += damage.bytes;
    while (move_one(to, from))
        continue;
    if (to->out.moved > before)
        journal_compact(from);
    journal_close(from);
}

static void look_at(void *data, const struct instance *other)
{
    struct gathering *to = data;
    struct instance_lock lock;
    char path[PATH_MAX + 16];
    struct err busy;

    snprintf(path, sizeof(path), "%s/journal", other->dir);
    if (strcmp(other->name, to->mine->name) == 0 || access(path, R_OK) < 0 ||
        instance_lock(other, &lock, &busy) != 0)
        return;
    move_all(to, path);
    instance_unlock(&lock);
}

struct journal_gathered journal_gather(const struct instance *mine,
                                       struct journal *journal,
                                       const char owner[HASH_HEX])
{
    struct gathering to = { .mine = mine, .journal = journal, .owner = owner };

    instance_each(mine->home, look_at, &to);
    return to.out;
}
