#include "worker/tool/tools.h"

#include <stdlib.h>
#include <string.h>

#include "common/hash.h"
#include "common/mem.h"

struct held {
    struct held *next;
    int64_t lease; /* 0: none, it waits to be asked again */
    int gpu;
    char key[HASH_HEX]; /* of what it was started for; "": it does not stay */
    struct tool *tool;
    enum tool_state state;
    bool cancelled, told;
};

struct tools {
    struct tool_box box;
    struct held *first;
};

struct tools *tools_new(const struct tool_box *box)
{
    struct tools *tools = mem_new(1, sizeof(*tools));

    tools->box = *box;
    return tools;
}

static void drop(struct held **link)
{
    struct held *held = *link;

    *link = held->next;
    tool_free(held->tool);
    free(held);
}

void tools_free(struct tools *tools)
{
    if (!tools)
        return;
    while (tools->first)
        drop(&tools->first);
    free(tools);
}

void tools_use(struct tools *tools, const char *runner)
{
    tools->box.runner = runner;
}

/* What is the same for each question that one process may answer. */
static void make_key(const struct tool_job *job, char out[HASH_HEX])
{
    struct hash hash;

    hash_init(&hash);
    hash_text(&hash, job->gpu);
    for (size_t i = 0; i < job->command.n; i++)
        hash_text(&hash, job->command.items[i]);
    hash_text(&hash, "files");
    for (size_t i = 0; i < job->names.n && i < job->contents.n; i++) {
        hash_text(&hash, job->names.items[i]);
        hash_field(&hash, job->contents.items[i].data,
                   job->contents.items[i].len);
    }
    hash_end(&hash, out);
}

/* Whether one that waits has taken the question; one that cannot is dropped. */
static bool ask_again(struct tools *tools, int64_t lease, int gpu,
                      const struct tool_job *job, const char *key,
                      int64_t now_ns)
{
    for (struct held **link = &tools->first; *link; link = &(*link)->next) {
        struct held *held = *link;

        if (held->state != TOOL_WAITS || !held->told || held->gpu != gpu ||
            strcmp(held->key, key) != 0)
            continue;
        if (!tool_ask(held->tool, job, now_ns)) {
            drop(link);
            return false;
        }
        held->lease = lease;
        held->state = TOOL_RUNS;
        held->told = false;
        return true;
    }
    return false;
}

void tools_add(struct tools *tools, int64_t lease, int gpu,
               const struct tool_job *job, int64_t now_ns)
{
    char key[HASH_HEX] = "";
    struct held *held;

    if (job->ask) {
        make_key(job, key);
        if (ask_again(tools, lease, gpu, job, key, now_ns))
            return;
    }
    held = mem_new(1, sizeof(*held));
    held->lease = lease;
    held->gpu = gpu;
    memcpy(held->key, key, sizeof(key));
    held->tool = tool_start(&tools->box, job, now_ns);
    held->state = tool_step(held->tool, now_ns);
    held->next = tools->first;
    tools->first = held;
}

void tools_cancel(struct tools *tools, int64_t lease)
{
    for (struct held *held = tools->first; held; held = held->next)
        if (held->lease == lease && !held->told)
            held->cancelled = true;
}

bool tools_hold(const struct tools *tools, int gpu)
{
    for (const struct held *held = tools->first; held; held = held->next)
        if (held->gpu == gpu && held->state != TOOL_WAITS)
            return true;
    return false;
}

size_t tools_poll(const struct tools *tools, struct pollfd *fds, size_t max)
{
    size_t n = 0;

    for (const struct held *held = tools->first; held; held = held->next)
        if (held->state != TOOL_WAITS) /* it is asked, or looked at, later */
            n += tool_poll(held->tool, fds + n, max - n);
    return n;
}

int64_t tools_deadline_ns(const struct tools *tools)
{
    int64_t at_ns = INT64_MAX;

    for (const struct held *held = tools->first; held; held = held->next)
        if (tool_deadline_ns(held->tool) < at_ns)
            at_ns = tool_deadline_ns(held->tool);
    return at_ns;
}

void tools_step(struct tools *tools, int64_t now_ns)
{
    for (struct held **link = &tools->first; *link;) {
        struct held *held = *link;

        if (held->cancelled)
            tool_kill(held->tool, now_ns);
        held->state = tool_step(held->tool, now_ns);
        if (held->state == TOOL_ENDED && (held->cancelled || held->told))
            drop(link);
        else
            link = &held->next;
    }
}

bool tools_next_result(struct tools *tools, int64_t *lease, bool *stuck,
                       struct tool_result *out)
{
    for (struct held **link = &tools->first; *link; link = &(*link)->next) {
        struct held *held = *link;

        if (held->state == TOOL_RUNS || held->cancelled || held->told)
            continue;
        *lease = held->lease;
        *stuck = held->state == TOOL_STUCK;
        tool_take_result(held->tool, out);
        held->told = true;
        held->lease = 0;
        if (held->state == TOOL_ENDED)
            drop(link);
        return true;
    }
    return false;
}
