#include "worker/build/slots.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "common/mem.h"

/* A job from its lease to its result, in order of arrival. */
struct slot {
    struct slot *next;
    int64_t lease;
    struct build_job job;
    struct build *build; /* NULL while it waits */
    bool told;           /* its start was reported */
    bool cancelled, ended;
};

struct slots {
    struct build_tools tools;
    size_t n;
    struct slot *first;
};

struct slots *slots_new(const struct build_tools *tools, size_t n)
{
    struct slots *slots = mem_new(1, sizeof(*slots));

    slots->tools = *tools;
    slots->n = n;
    return slots;
}

static struct texts copy_texts(const struct texts *texts)
{
    const char **items = mem_new(texts->n + 1, sizeof(*items));

    for (size_t i = 0; i < texts->n; i++)
        items[i] = mem_strdup(texts->items[i]);
    return (struct texts){ items, texts->n };
}

static void free_texts(struct texts *texts)
{
    for (size_t i = 0; i < texts->n; i++)
        free((char *)texts->items[i]);
    free((void *)texts->items);
}

static struct blobs copy_blobs(const struct blobs *blobs)
{
    struct bytes *items = mem_new(blobs->n + 1, sizeof(*items));

    for (size_t i = 0; i < blobs->n; i++) {
        items[i].data = mem_dup(blobs->items[i].data, blobs->items[i].len);
        items[i].len = blobs->items[i].len;
    }
    return (struct blobs){ items, blobs->n };
}

static void free_blobs(struct blobs *blobs)
{
    for (size_t i = 0; i < blobs->n; i++)
        free((void *)blobs->items[i].data);
    free((void *)blobs->items);
}

static struct build_job copy_job(const struct build_job *job)
{
    return (struct build_job){
        .key = mem_strdup(job->key),
        .names = copy_texts(&job->names),
        .contents = copy_blobs(&job->contents),
        .source = mem_strdup(job->source),
        .header = mem_strdup(job->header),
        .entry = mem_strdup(job->entry),
        .standard = mem_strdup(job->standard),
        .flags = copy_texts(&job->flags),
        .arch = mem_strdup(job->arch),
        .arguments = copy_texts(&job->arguments),
        .limit_ns = job->limit_ns,
    };
}

static void free_job(struct build_job *job)
{
    free((char *)job->key);
    free_texts(&job->names);
    free_blobs(&job->contents);
    free((char *)job->source);
    free((char *)job->header);
    free((char *)job->entry);
    free((char *)job->standard);
    free_texts(&job->flags);
    free((char *)job->arch);
    free_texts(&job->arguments);
}

/* Unlink and free what 'link' points to. */
static void drop(struct slot **link)
{
    struct slot *slot = *link;

    *link = slot->next;
    build_free(slot->build);
    free_job(&slot->job);
    free(slot);
}

void slots_free(struct slots *slots)
{
    if (!slots)
        return;
    while (slots->first)
        drop(&slots->first);
    free(slots);
}

size_t slots_busy(const struct slots *slots)
{
    size_t n = 0;

    for (const struct slot *slot = slots->first; slot; slot = slot->next)
        n += !slot->cancelled;
    return n;
}

int slots_add(struct slots *slots, int64_t lease, const struct build_job *job,
              struct err *err)
{
    struct slot **link = &slots->first, *slot;

    if (slots_busy(slots) > slots->n)
        return err_set(err, ERR_INPUT,
                       "lease %" PRId64 " is over the credit of %zu builds",
                       lease, slots->n + 1);
    slot = mem_new(1, sizeof(*slot));
    slot->lease = lease;
    slot->job = copy_job(job);
    while (*link)
        link = &(*link)->next;
    *link = slot;
    return 0;
}

void slots_cancel(struct slots *slots, int64_t lease)
{
    for (struct slot *slot = slots->first; slot; slot = slot->next)
        if (slot->lease == lease)
            slot->cancelled = true;
}

size_t slots_poll(const struct slots *slots, struct pollfd *fds, size_t max)
{
    size_t n = 0;

    for (const struct slot *slot = slots->first; slot; slot = slot->next)
        if (slot->build)
            n += build_poll(slot->build, fds + n, max - n);
    return n;
}

int64_t slots_deadline_ns(const struct slots *slots)
{
    int64_t at_ns = INT64_MAX;
    size_t running = 0;
    bool waiting = false;

    for (const struct slot *slot = slots->first; slot; slot = slot->next) {
        if (slot->build && build_deadline_ns(slot->build) < at_ns)
            at_ns = build_deadline_ns(slot->build);
        running += slot->build && !slot->ended;
        waiting = waiting || (!slot->build && !slot->cancelled);
    }
    return waiting && running < slots->n ? 0 : at_ns;
}

static void drop_cancelled(struct slots *slots, int64_t now_ns)
{
    for (struct slot **link = &slots->first; *link;) {
        struct slot *slot = *link;

        if (slot->cancelled && slot->build)
            build_kill(slot->build, now_ns);
        if (slot->cancelled && (!slot->build || slot->ended))
            drop(link);
        else
            link = &slot->next;
    }
}

/* A cancelled build keeps its slot until its processes have ended. */
void slots_step(struct slots *slots, int64_t now_ns)
{
    size_t running = 0;

    drop_cancelled(slots, now_ns);
    for (struct slot *slot = slots->first; slot; slot = slot->next) {
        if (slot->build && !slot->ended)
            slot->ended = build_step(slot->build, now_ns);
        running += slot->build && !slot->ended;
    }
    for (struct slot *slot = slots->first; slot && running < slots->n;
         slot = slot->next) {
        if (slot->build || slot->cancelled)
            continue;
        slot->build = build_start(&slots->tools, &slot->job, now_ns);
        slot->ended = build_step(slot->build, now_ns);
        running += !slot->ended;
    }
}

bool slots_next_started(struct slots *slots, int64_t *lease)
{
    for (struct slot *slot = slots->first; slot; slot = slot->next)
        if (slot->build && !slot->told && !slot->cancelled) {
            slot->told = true;
            *lease = slot->lease;
            return true;
        }
    return false;
}

bool slots_next_result(struct slots *slots, int64_t *lease,
                       struct build_result *out)
{
    for (struct slot **link = &slots->first; *link; link = &(*link)->next)
        if ((*link)->ended && !(*link)->cancelled) {
            *lease = (*link)->lease;
            build_take_result((*link)->build, out);
            drop(link);
            return true;
        }
    return false;
}
