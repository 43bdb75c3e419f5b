#include "coordinator/slurm/slurm_thread.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <zmq.h>

#include "common/buf.h"
#include "common/clock.h"
#include "common/err.h"
#include "common/int64.h"
#include "common/log.h"
#include "common/mem.h"
#include "coordinator/hosts/hosts.h"
#include "coordinator/slurm/slurm_ask.h"
#include "coordinator/slurm/slurm_files.h"

#define WANTED_BYTES 4096
#define LONG_MINUTES 10 /* a job of so long is told before its end */

enum order {
    STOP,
    CAME,
    DISMISS,
    GROWS,
    RESTS
};

struct slurm_order {
    enum order what;
    int task;
};

struct slurm_thread {
    pthread_t thread;
    void *pipe; /* the starter's end */
    size_t first;

    /* the thread's, after the start */
    void *orders; /* its end */
    const struct host *host;
    char job_name[SLURM_NAME_BYTES];
    char *folder;
    struct slurm_pool pool;
    int answers; /* since something changed */
    bool was_deaf;
};

/* ---- the thread ---- */

static void tell(struct slurm_thread *self, int task, enum slurm_change change,
                 const char *text)
{
    struct slurm_news news = {
        .host = self->first + (size_t)task - 1,
        .change = change,
        .runs_s = self->pool.tasks[task - 1].runs_s,
    };
    int64_t ended_s = self->pool.tasks[task - 1].ended_s;

    if (change == SLURM_LEFT && ended_s > 0)
        news.ended_s = int64_max(clock_utc_ns() / NS_PER_S - ended_s, 0);

    snprintf(news.text, sizeof(news.text), "%s", text);
    if (zmq_send(self->orders, &news, sizeof(news), 0) < 0 &&
        zmq_errno() == ENOMEM)
        mem_exhausted();
}

static void tell_changes(struct slurm_thread *self)
{
    for (int i = 0; i < self->pool.most; i++) {
        const struct slurm_task *task = &self->pool.tasks[i];

        if (task->change == SLURM_SAME)
            continue;
        self->answers = 0;
        log_line(LOG_I, "SLURM-JOB", "name=%s job=%lld_%d state=%s why=%s",
                 self->job_name, (long long)task->array, i + 1,
                 task->change == SLURM_QUEUED    ? "queued"
                 : task->change == SLURM_STARTED ? "started"
                 : task->change == SLURM_LEFT    ? "ended"
                                                 : "given-up",
                 task->text);
        tell(self, i + 1, task->change, task->text);
    }
}

/* Once, until it answers again. */
static void tell_deaf(struct slurm_thread *self, const char *why)
{
    if (self->was_deaf)
        return;
    self->was_deaf = true;
    log_line(LOG_W, "SLURM-SILENT", "name=%s why=%s", self->job_name, why);
    for (int i = 0; i < self->pool.most; i++)
        if (self->pool.tasks[i].state != SLURM_RUNS)
            tell(self, i + 1, SLURM_QUEUED, why);
}

/* False if Slurm does not answer: then nothing is known. */
static bool look(struct slurm_thread *self)
{
    char why[SLURM_TEXT_BYTES];
    struct slurm_job *jobs;
    size_t n;

    if (slurm_ask_jobs(self->job_name, &jobs, &n, why) < 0) {
        tell_deaf(self, why);
        return false;
    }
    self->was_deaf = false;
    self->answers++;
    slurm_pool_take(&self->pool, jobs, n);
    free(jobs);
    tell_changes(self);
    return true;
}

static void failed(struct slurm_thread *self, const char *why)
{
    bool hopeless = slurm_pool_failed(&self->pool, clock_boot_ns());

    log_line(LOG_W, "SLURM-SUBMIT", "name=%s why=%s", self->job_name, why);
    for (int i = 0; i < self->pool.most; i++)
        if (self->pool.tasks[i].array == 0)
            tell(self, i + 1, hopeless ? SLURM_NEVER : SLURM_QUEUED, why);
}

#define FLAG_BYTES 512

/* Ask for the tasks 'wanted'. */
static void submit(struct slurm_thread *self, const char *wanted)
{
    const struct host *host = self->host;
    const struct host_slurm *slurm = &host->dial.slurm;
    char array[WANTED_BYTES + 16], name[FLAG_BYTES], partition[FLAG_BYTES],
        output[FLAG_BYTES], folder[FLAG_BYTES], cpus[64], gres[64], limit[64],
        script[FLAG_BYTES], why[SLURM_TEXT_BYTES];
    const char *argv[20] = { "sbatch",    "--parsable", "--requeue",
                             "--nodes=1", "--ntasks=1", "--open-mode=append",
                             array,       name,         partition,
                             output,      folder,       cpus };
    int n = 12;
    struct buf out;
    int64_t id = 0;

    snprintf(array, sizeof(array), "--array=%s", wanted);
    snprintf(name, sizeof(name), "--job-name=%s", self->job_name);
    snprintf(partition, sizeof(partition), "--partition=%s", slurm->partition);
    snprintf(output, sizeof(output), "--output=%s/log-%%a", self->folder);
    snprintf(folder, sizeof(folder), "--chdir=%s", self->folder);
    snprintf(cpus, sizeof(cpus), "--exclusive");
    if (host->slots > 0)
        snprintf(cpus, sizeof(cpus), "--cpus-per-task=%d", host->slots);
    snprintf(gres, sizeof(gres), "--gres=gpu:%d", slurm->gpus);
    snprintf(limit, sizeof(limit), "--time=%d", slurm->minutes);
    snprintf(script, sizeof(script), "%s/job.sh", self->folder);
    if (slurm->gpus > 0)
        argv[n++] = gres;
    if (slurm->minutes > 0)
        argv[n++] = limit;
    if (slurm->minutes >= LONG_MINUTES)
        argv[n++] = "--signal=B:TERM@60";
    argv[n] = script;
    buf_init(&out, SLURM_ASK_ANSWER_MAX);
    if (slurm_ask(argv, &out, why) == 0 &&
        (id = strtoll(buf_text(&out), NULL, 10)) < 1)
        snprintf(why, sizeof(why), "sbatch answers '%.60s'", buf_text(&out));
    buf_fini(&out);
    if (id < 1) {
        failed(self, why);
        return;
    }
    self->answers = 0;
    slurm_pool_submitted(&self->pool, wanted, id);
    log_line(LOG_I, "SLURM-SUBMIT", "name=%s job=%lld tasks=%s", self->job_name,
             (long long)id, wanted);
}

/* Wait for so long, or until an order has come.  True: STOP. */
static bool take_orders(struct slurm_thread *self, long wait_ms)
{
    zmq_pollitem_t item = { .socket = self->orders, .events = ZMQ_POLLIN };
    struct slurm_order order;

    zmq_poll(&item, 1, wait_ms);
    while (zmq_recv(self->orders, &order, sizeof(order), ZMQ_DONTWAIT) ==
           (int)sizeof(order)) {
        if (order.what == STOP)
            return true;
        if (order.what == GROWS || order.what == RESTS)
            self->pool.may_grow = order.what == GROWS;
        else if (order.what == CAME)
            slurm_pool_came(&self->pool, order.task);
        else
            slurm_pool_dismiss(&self->pool, order.task);
    }
    return false;
}

static void *slurm_thread_main(void *arg)
{
    struct slurm_thread *self = arg;
    char wanted[WANTED_BYTES];

    for (;;) {
        bool is_known = look(self);

        if (take_orders(self, 0))
            return NULL;
        slurm_pool_wanted(&self->pool, clock_boot_ns(), wanted, sizeof(wanted));
        if (is_known && wanted[0])
            submit(self, wanted);
        if (take_orders(self, (long)slurm_pool_pause_ms(self->answers)))
            return NULL;
    }
}

/* ---- the starter ---- */

static void slurm_thread_free(struct slurm_thread *thread)
{
    int no_linger = 0;

    for (int i = 0; i < 2; i++) {
        void *socket = i ? thread->orders : thread->pipe;

        if (!socket)
            continue;
        zmq_setsockopt(socket, ZMQ_LINGER, &no_linger, sizeof(no_linger));
        zmq_close(socket);
    }
    slurm_pool_fini(&thread->pool);
    free(thread->folder);
    free(thread);
}

int slurm_thread_start(void *zctx, size_t first, const struct host *host,
                       const char *public_key, struct slurm_thread **out,
                       struct err *err)
{
    struct slurm_thread *self = mem_new(1, sizeof(*self));
    char name[40];
    int why;

    self->first = first;
    self->host = host;
    self->folder = slurm_files_folder(host, public_key);
    slurm_files_name(host, public_key, self->job_name);
    slurm_pool_init(&self->pool, host->dial.slurm.least, host->dial.slurm.most);
    snprintf(name, sizeof(name), "inproc://slurm-%zu", first);
    self->pipe = zmq_socket(zctx, ZMQ_PAIR);
    self->orders = zmq_socket(zctx, ZMQ_PAIR);
    if (!self->pipe || !self->orders || zmq_bind(self->pipe, name) < 0 ||
        zmq_connect(self->orders, name) < 0) {
        (void)err_set(err, ERR_SYSTEM, "%s: %s", name,
                      zmq_strerror(zmq_errno()));
        slurm_thread_free(self);
        return ERR_SYSTEM;
    }
    why = pthread_create(&self->thread, NULL, slurm_thread_main, self);
    if (why != 0) {
        slurm_thread_free(self);
        return err_set(err, ERR_SYSTEM, "thread: %s", strerror(why));
    }
    *out = self;
    return 0;
}

void *slurm_thread_socket(struct slurm_thread *thread)
{
    return thread->pipe;
}

int slurm_thread_recv(struct slurm_thread *thread, struct slurm_news *out)
{
    return zmq_recv(thread->pipe, out, sizeof(*out), ZMQ_DONTWAIT) ==
           (int)sizeof(*out);
}

static void order(struct slurm_thread *thread, enum order what, size_t host)
{
    struct slurm_order order = { what, (int)(host - thread->first) + 1 };

    zmq_send(thread->pipe, &order, sizeof(order), ZMQ_DONTWAIT);
}

void slurm_thread_came(struct slurm_thread *thread, size_t host)
{
    order(thread, CAME, host);
}

void slurm_thread_dismiss(struct slurm_thread *thread, size_t host)
{
    order(thread, DISMISS, host);
}

void slurm_thread_grows(struct slurm_thread *thread, bool grows)
{
    order(thread, grows ? GROWS : RESTS, thread->first);
}

void slurm_thread_stop(struct slurm_thread *thread)
{
    order(thread, STOP, thread->first);
    pthread_join(thread->thread, NULL);
    slurm_thread_free(thread);
}
