/* Results are written to the disk, then sent until they are acknowledged. */
#include <stdio.h>
#include <string.h>

#include "common/msg.h"
#include "tests/simulation/sim_device.h"
#include "tests/simulation/sim_vice.h"
#include "tests/simulation/sim_worker.h"
#include "tests/simulation/sim_world.h"

static void draw_nonce(struct sim_world *world, char out[HASH_HEX])
{
    snprintf(out, HASH_HEX, "%016llx%016llx",
             (unsigned long long)prng_next(&world->prng),
             (unsigned long long)prng_next(&world->prng));
}

void sim_worker_finish(struct sim_world *world, size_t host,
                       struct lease *lease)
{
    struct sim_worker *worker = world->hosts[host].worker;
    struct sim_answer answer;
    struct msg *result = &answer.msg;
    char nonce[HASH_HEX];
    struct buf bytes;
    struct err err;

    if (lease->msg.type == MSG_BUILD && world->hosts[host].disk_full) {
        sim_worker_refuse(world, host, &lease->msg,
                          "the disk of its work folder is full");
        sim_worker_drop(worker, lease);
        return;
    }
    draw_nonce(world, nonce);
    sim_device_answer(world, host, &lease->msg, &answer);
    result->epoch = lease->msg.epoch;
    *msg_work_of(result) = *msg_work(&lease->msg);
    msg_result_of(result)->nonce = nonce;
    sim_vice_twist(world, host, result);
    buf_init(&bytes, MSG_BYTES_MAX);
    if (msg_encode(result, &bytes, &err) == 0)
        sim_journal_add(world, host, nonce, bytes.bytes, bytes.len);
    else
        sim_world_note(world, SIM_WORKER, (int)host, err.text);
    buf_fini(&bytes);
    sim_worker_drop(worker, lease);
    sim_worker_offer(world, host, false);
}

static void send(struct sim_world *world, size_t host, struct sim_entry *entry)
{
    struct msg msg;
    struct err err;

    if (msg_decode(entry->bytes, entry->len, &msg, &err) == 0) {
        sim_trace_msg(&world->trace, SIM_SAID, world->boot_ns, (int)host, &msg,
                      0);
        msg_fini(&msg);
    }
    sim_line_send(world, host, SIM_TO_COORDINATOR, entry->bytes, entry->len);
    entry->sent_ns = world->boot_ns;
}

void sim_worker_offer(struct sim_world *world, size_t host, bool all)
{
    struct sim_host *is = &world->hosts[host];
    struct sim_worker *worker = is->worker;
    int64_t now = world->boot_ns;

    sim_journal_retry(world, host);
    worker->resend_ns = now + SIM_RESEND_NS;
    if (!worker->epoch || !worker->welcomed)
        return;
    for (size_t i = 0; i < is->n_journal; i++) {
        struct sim_entry *entry = &is->journal[i];

        if (entry->saved_ns <= now && (all || entry->sent_ns == 0 ||
                                       now - entry->sent_ns >= SIM_RESEND_NS))
            send(world, host, entry);
    }
}

int64_t sim_worker_next_saved(const struct sim_world *world, size_t host)
{
    const struct sim_host *is = &world->hosts[host];
    int64_t at_ns = SIM_FOR_EVER;

    for (size_t i = 0; i < is->n_journal; i++)
        if (is->journal[i].sent_ns == 0 && is->journal[i].saved_ns < at_ns)
            at_ns = is->journal[i].saved_ns;
    return at_ns;
}
