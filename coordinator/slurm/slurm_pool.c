#include "coordinator/slurm/slurm_pool.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/int64.h"
#include "common/mem.h"

#define PAUSE_FIRST_NS (5 * NS_PER_S)
#define PAUSE_MAX_NS (300 * NS_PER_S)
#define QUICK_MS 500
#define QUICK_ANSWERS 40
#define SLOW_MS 10000

void slurm_pool_init(struct slurm_pool *pool, int least, int most)
{
    *pool = (struct slurm_pool){
        .tasks = mem_new((size_t)most, sizeof(struct slurm_task)),
        .least = least,
        .most = most,
    };
}

void slurm_pool_fini(struct slurm_pool *pool)
{
    free(pool->tasks);
    pool->tasks = NULL;
}

/* Reasons that only a person can remove: an administrator, or who wrote the
 * hosts file. */
static bool is_for_ever(const char *reason)
{
    static const char *const words[] = { "PartitionDown",
                                         "PartitionInactive",
                                         "PartitionNodeLimit",
                                         "PartitionTimeLimit",
                                         "BadConstraints",
                                         "JobHeldUser",
                                         "JobHeldAdmin",
                                         "InvalidAccount",
                                         "InvalidQOS",
                                         "AccountNotAllowed",
                                         "QOSNotAllowed",
                                         "launch_failed_requeued_held",
                                         "launch failed requeued held" };

    for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
        if (strcmp(reason, words[i]) == 0)
            return true;
    return false;
}

static void give_up(struct slurm_task *task, const char *why)
{
    task->given_up = true;
    task->change = SLURM_NEVER;
    snprintf(task->text, sizeof(task->text), "%s", why);
}

/* Its job is over. */
static void leave(struct slurm_task *task, int number, const char *word,
                  int64_t ended_s)
{
    char why[SLURM_TEXT_BYTES];

    task->change = SLURM_LEFT;
    snprintf(task->text, sizeof(task->text), "its job %lld_%d has ended: %s",
             (long long)task->array, number, word);
    task->ended_s = ended_s;
    task->array = 0;
    task->state = SLURM_ABSENT;
    task->reason[0] = '\0';
    if (++task->wasted < SLURM_WASTED)
        return;
    snprintf(why, sizeof(why),
             "%d jobs ended before their worker dialled back, the last one: "
             "%.24s",
             task->wasted, word);
    give_up(task, why);
}

static void queue(struct slurm_task *task, const struct slurm_job *job)
{
    char why[SLURM_TEXT_BYTES];

    task->nevers = is_for_ever(job->reason) ? task->nevers + 1 : 0;
    if (task->nevers == SLURM_NEVERS) {
        snprintf(why, sizeof(why), "its job %lld_%d cannot start: %s",
                 (long long)job->array, job->task, job->reason);
        give_up(task, why);
        return;
    }
    if (task->state == SLURM_WAITS && strcmp(task->reason, job->reason) == 0)
        return;
    task->change = task->state == SLURM_RUNS ? SLURM_LEFT : SLURM_QUEUED;
    task->ended_s = 0; /* its record is of the next run already */
    snprintf(task->text, sizeof(task->text), "its job %lld_%d %s of Slurm%s%s",
             (long long)job->array, job->task,
             task->change == SLURM_LEFT ? "is back in the queue"
                                        : "waits in the queue",
             strcmp(job->reason, "None") == 0 ? "" : ": ",
             strcmp(job->reason, "None") == 0 ? "" : job->reason);
    snprintf(task->reason, sizeof(task->reason), "%s", job->reason);
}

static void take_job(struct slurm_task *task, const struct slurm_job *job)
{
    task->misses = 0;
    if (job->state == SLURM_ENDED) {
        leave(task, job->task, job->word, job->end_s);
        return;
    }
    task->array = job->array;
    if (job->state == SLURM_WAITS) {
        queue(task, job);
    } else if (task->state != SLURM_RUNS) {
        task->change = SLURM_STARTED;
        task->runs_s = job->runs_s;
        task->text[0] = '\0';
    }
    task->state = job->state;
}

/* The newest job of a task: those before it have ended. */
static const struct slurm_job *find(const struct slurm_job *jobs, size_t n,
                                    int number)
{
    const struct slurm_job *found = NULL;

    for (size_t i = 0; i < n; i++)
        if (jobs[i].task == number && (!found || jobs[i].array > found->array))
            found = &jobs[i];
    return found;
}

void slurm_pool_take(struct slurm_pool *pool, const struct slurm_job *jobs,
                     size_t n)
{
    for (int i = 0; i < pool->most; i++) {
        struct slurm_task *task = &pool->tasks[i];
        const struct slurm_job *job = find(jobs, n, i + 1);

        task->change = SLURM_SAME;
        if (task->given_up)
            continue;
        /* one that ended before this run began says nothing */
        if (job && job->array >= task->array &&
            (task->array > 0 || job->state != SLURM_ENDED))
            take_job(task, job);
        else if (task->array > 0 && ++task->misses == SLURM_MISSES)
            leave(task, i + 1, "Slurm does not know it any more", 0);
    }
}

void slurm_pool_came(struct slurm_pool *pool, int task)
{
    pool->tasks[task - 1].wasted = -1; /* its own end is none either */
}

void slurm_pool_wanted(const struct slurm_pool *pool, int64_t now_ns, char *out,
                       size_t size)
{
    int alive = 0, waits = 0, room;
    size_t len = 0;

    out[0] = '\0';
    if (now_ns < pool->next_ns)
        return;
    for (int i = 0; i < pool->most; i++) {
        alive += pool->tasks[i].array > 0;
        waits += pool->tasks[i].array > 0 && pool->tasks[i].state != SLURM_RUNS;
    }
    room = pool->least - alive;
    if (room <= 0)
        room = pool->may_grow && waits == 0 && alive < pool->most;
    for (int i = 0; i < pool->most && room > 0; i++) {
        const struct slurm_task *task = &pool->tasks[i];

        if (task->array > 0 || task->given_up)
            continue;
        if (size - len < 8)
            return;
        len += (size_t)snprintf(out + len, size - len, "%s%d", len ? "," : "",
                                i + 1);
        room--;
    }
}

void slurm_pool_submitted(struct slurm_pool *pool, const char *wanted,
                          int64_t array)
{
    pool->failures = 0;
    pool->has_worked = true;
    while (*wanted) {
        char *end;
        long number = strtol(wanted, &end, 10);

        pool->tasks[number - 1].array = array;
        pool->tasks[number - 1].state = SLURM_ABSENT;
        pool->tasks[number - 1].misses = 0;
        wanted = *end ? end + 1 : end;
    }
}

bool slurm_pool_failed(struct slurm_pool *pool, int64_t now_ns)
{
    int64_t pause_ns = PAUSE_FIRST_NS << int64_min(pool->failures, 6);

    pool->failures++;
    pool->next_ns = now_ns + int64_min(pause_ns, PAUSE_MAX_NS);
    for (int i = 0; !pool->has_worked && i < pool->most; i++)
        pool->tasks[i].given_up = true;
    return !pool->has_worked;
}

void slurm_pool_dismiss(struct slurm_pool *pool, int task)
{
    pool->tasks[task - 1].given_up = true;
}

int64_t slurm_pool_pause_ms(int answers)
{
    return answers < QUICK_ANSWERS ? QUICK_MS : SLOW_MS;
}
