#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "common/clock.h"
#include "common/mem.h"
#include "coordinator/live/said.h"
#include "coordinator/notes/host_words.h"
#include "coordinator/reactor/host_events.h"
#include "coordinator/reactor/inbox.h"
#include "coordinator/schedule/ledger.h"
#include "coordinator/sql/sql.h"
#include "coordinator/state/outbox.h"
#include "coordinator/state/records.h"
#include "coordinator/store/store.h"
#include "tests/coordinator/reactor/reactor_fixture.h"

static struct rig rig;
static struct err err;

static int set_up(void **state)
{
    (void)state;
    rig_open_held(&rig, 2);
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    rig_close(&rig);
    return 0;
}

static struct host_state *host(size_t i)
{
    return &rig.sweep.fleet.hosts[i];
}

static void news(enum host_threads_event event, int code, const char *text)
{
    rig_news(&rig, event, code, text);
}

static void a_host_is_welcomed_and_is_ready(void **state)
{
    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    assert_int_equal(rig_count(&rig, MSG_WELCOME), 1);
    assert_int_equal(host(0)->state, HOST_STATE_READY);
    assert_int_equal(host(0)->n_gpus, 1);
    assert_string_equal(host(0)->worker.machine, "machine");
    assert_int_equal(
        rig_rows(&rig, "host WHERE name = 'a' AND slots = 1 AND toolkit = 'g++ "
                       "12.2.0' AND boot_id = 'b007'"),
        1);
    assert_int_equal(rig_rows(&rig, "gpu WHERE uuid = 'GPU-0' AND host = 'a'"),
                     1);
    assert_int_equal(
        rig_rows(&rig, "event WHERE name = 'HOST-READY' AND text = 'a'"), 1);
    assert_non_null(strstr(rig_heard(&rig),
                           "a: ready: g++ 12.2.0, 1 build slot, 1 GPU, "
                           "NVIDIA L4"));
    assert_int_equal(rig_dispatch(&rig), 2);
}

static int count(const char *text, const char *word)
{
    int n = 0;

    while ((text = strstr(text, word))) {
        text += strlen(word);
        n++;
    }
    return n;
}

/* The proof and the confirmation of a sweep are runs, too. */
static void the_next_run_of_a_command_says_nothing_twice(void **state)
{
    struct said *said = said_new();
    struct msg ready = rig_is_ready();

    (void)state;
    rig.options.watch.said = said;
    ready.ready.warning = "little memory";
    for (int run = 0; run < 3; run++) {
        host(0)->state = HOST_STATE_AWAY;
        host(0)->warned = false;
        rig_come(&rig, 0, 7, NULL, 0);
        news(HOST_THREADS_REMARK, 0, "its login prints text");
        assert_int_equal(rig_take(&rig, 0, ready), 0);
    }
    assert_int_equal(count(rig_heard(&rig), "a: ready: "), 1);
    assert_int_equal(count(rig_heard(&rig), "a: warning: little memory"), 1);
    assert_int_equal(count(rig_heard(&rig), "a: its login prints text"), 1);
    rig_listen(&rig);
    news(HOST_THREADS_BROKEN, ERR_NETWORK, "its worker was killed");
    rig_come(&rig, 0, 8, NULL, 0);
    assert_int_equal(count(rig_heard(&rig), "a: ready: "), 1);
    said_free(said);
}

/* The worker that it has then is news. */
static void who_was_waited_for_is_told_again(void **state)
{
    struct said *said = said_new();

    (void)state;
    rig.options.watch.said = said;
    rig_come(&rig, 0, 7, NULL, 0);
    news(HOST_THREADS_WAITING, 0, "another sweep uses it");
    rig_come(&rig, 0, 8, NULL, 0);
    assert_int_equal(count(rig_heard(&rig), "a: ready: "), 2);
    said_free(said);
}

static void a_host_that_is_long_not_ready_says_once_why(void **state)
{
    const int64_t now = rig.now_ns;

    (void)state;
    host(0)->state = HOST_STATE_GREETED;
    host(0)->conn.attached = true;
    host(0)->conn.linked_ns = now;
    rig_listen(&rig);
    host_words_turn(&rig.sweep, now + 4 * NS_PER_S);
    assert_int_equal(count(rig_heard(&rig), "not ready yet"), 0);
    rig_listen(&rig);
    for (int turn = 6; turn < 9; turn++)
        host_words_turn(&rig.sweep, now + turn * NS_PER_S);
    assert_int_equal(count(rig_heard(&rig), "a: not ready yet: "), 1);
    host(0)->state = HOST_STATE_READY;
    host(0)->is_slow = false;
    rig_listen(&rig);
    host_words_turn(&rig.sweep, now + 9 * NS_PER_S);
    assert_int_equal(count(rig_heard(&rig), "not ready yet"), 0);
}

static void a_remark_on_its_login_is_shown_and_is_no_failure(void **state)
{
    (void)state;
    news(HOST_THREADS_REMARK, 0, "libssh2 cannot do it");
    assert_non_null(strstr(rig_heard(&rig), "a: libssh2 cannot do it"));
    assert_int_equal(host(0)->conn.tries, 0);
}

static void
an_upload_that_breaks_off_is_told_once_and_is_no_failure(void **state)
{
    const char *heard;

    (void)state;
    for (int i = 0; i < 3; i++)
        news(HOST_THREADS_CUT, ERR_NETWORK, "reset");
    heard = rig_heard(&rig);
    assert_non_null(strstr(heard, "UPLOAD-CUT host=a why=reset"));
    heard = strstr(heard, "a: reset; the upload continues where it stopped");
    assert_non_null(heard);
    assert_null(strstr(heard + 1, "a: reset; the upload"));
    assert_int_equal(host(0)->conn.tries, 0);
}

static void progress_of_an_upload_puts_the_end_off(void **state)
{
    (void)state;
    news(HOST_THREADS_BROKEN, ERR_NETWORK, "reset");
    assert_int_equal(host(0)->conn.tries, 1);
    rig.now_ns += 100 * NS_PER_S;
    news(HOST_THREADS_PROGRESS, 0, "");
    assert_int_equal(host(0)->conn.tries, 0);
    assert_int_equal(rig.sweep.fleet.usable_ns, rig.now_ns);
}

static void results_damaged_on_its_disk_are_said_once(void **state)
{
    struct msg hello = rig_hello(7);
    const char *heard;

    (void)state;
    assert_int_equal(rig_take(&rig, 0, hello), 0); /* nothing was */
    hello.hello.lost = 2;
    for (int i = 0; i < 2; i++, hello.hello.pid++)
        assert_int_equal(rig_take(&rig, 0, hello), 0);
    heard = strstr(rig_heard(&rig), "a: its disk damaged 2 results in");
    assert_non_null(heard);
    assert_null(strstr(heard + 1, "a: its disk damaged"));
}

static void another_protocol_is_refused(void **state)
{
    struct msg hello = rig_hello(7);

    (void)state;
    hello.hello.protocol = 2;
    assert_int_equal(host_events_hello(&rig.sweep, 0, &hello, &err), ERR_PROTO);
    assert_int_equal(host(0)->state, HOST_STATE_AWAY);
}

static void a_gpu_out_of_turn_is_refused(void **state)
{
    struct msg gpu = rig_gpu("GPU-0");

    (void)state;
    assert_int_equal(host_events_gpu(&rig.sweep, 0, &gpu, &err), ERR_PROTO);
    assert_string_equal(err.text, "GPU out of turn");
    assert_int_equal(rig_take(&rig, 0, gpu), ERR_PROTO); /* nor HELLO before */
}

/* Its row would have a name that no query can ask for. */
static void a_gpu_with_a_fact_without_a_name_is_refused(void **state)
{
    static const char *const lines[] = { "arch 89", " 5" };
    struct msg gpu = rig_gpu("GPU-0");

    (void)state;
    gpu.gpu.facts = (struct texts){ lines, 2 };
    assert_int_equal(rig_take(&rig, 0, rig_hello(7)), 0);
    assert_int_equal(host_events_gpu(&rig.sweep, 0, &gpu, &err), ERR_PROTO);
    assert_string_equal(err.text,
                        "fact ' 5' has no name; a fact is 'NAME VALUE'");
    assert_int_equal(host(0)->n_gpus, 0);
    assert_int_equal(rig_rows(&rig, "gpu"), 0);
}

static void sixty_four_gpus_are_the_most(void **state)
{
    struct msg gpu;
    char uuid[16];

    (void)state;
    assert_int_equal(rig_take(&rig, 0, rig_hello(7)), 0);
    for (int i = 0; i < HOST_STATE_GPUS_MAX; i++) {
        snprintf(uuid, sizeof(uuid), "GPU-%d", i);
        gpu = rig_gpu(uuid);
        assert_in_range(host_events_gpu(&rig.sweep, 0, &gpu, &err), 0, 2);
    }
    assert_int_equal(host_events_gpu(&rig.sweep, 0, &gpu, &err), ERR_PROTO);
    host(0)->worker.slots = 1;
    host_events_up(&rig.sweep, 0);
    assert_int_equal(host(0)->n_known, HOST_STATE_GPUS_MAX);
    assert_string_equal(host(0)->known[HOST_STATE_GPUS_MAX - 1], "GPU-63");
    assert_string_equal(host(0)->acks[0], ""); /* which is behind them */
}

/* One box under two names: the first holds its GPU until its lease ends, also
 * while its connection is broken. */
static void a_gpu_that_is_leased_is_not_that_of_another_name(void **state)
{
    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    rig_lease(&rig, 0, JOB_MEASURE, 0);
    host(0)->state = HOST_STATE_AWAY;
    assert_int_equal(rig_take(&rig, 1, rig_hello(8)), 0);
    assert_int_equal(rig_take(&rig, 1, rig_gpu("GPU-0")), 0);
    assert_int_equal(host(1)->n_gpus, 0);
    assert_non_null(strstr(rig_heard(&rig), "under another name; used once"));
}

static void ready_before_hello_is_refused(void **state)
{
    struct msg ready = { .type = MSG_READY, .ready.toolkit = "" };

    (void)state;
    assert_int_equal(host_events_ready(&rig.sweep, 0, &ready, &err), ERR_PROTO);
    assert_string_equal(err.text, "READY before HELLO");
}

/* The link ended before they were read. */
static void what_a_lost_worker_said_before_counts_for_nothing(void **state)
{
    (void)state;
    assert_int_equal(rig_take(&rig, 0, rig_hello(7)), 0);
    news(HOST_THREADS_BROKEN, ERR_NETWORK, "the worker ended");
    assert_int_equal(rig_take(&rig, 0, rig_gpu("GPU-0")), 0);
    assert_int_equal(rig_take(&rig, 0, rig_is_ready()), 0);
    assert_int_equal(host(0)->state, HOST_STATE_AWAY);
    assert_int_equal(host(0)->n_gpus, 0);
    assert_int_equal(rig_take(&rig, 0, rig_hello(8)), 0);
    assert_int_equal(host(0)->state, HOST_STATE_GREETED);
}

static void a_gpu_under_two_names_is_used_once(void **state)
{
    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    assert_int_equal(rig_take(&rig, 1, rig_hello(8)), 0);
    assert_int_equal(rig_take(&rig, 1, rig_gpu("GPU-0")), 0);
    assert_int_equal(host(1)->n_gpus, 0);
    host(0)->state = HOST_STATE_AWAY; /* what is in use */
    assert_int_equal(rig_take(&rig, 1, rig_gpu("GPU-0")), 0);
    assert_int_equal(host(1)->n_gpus, 1);
    assert_non_null(strstr(rig_heard(&rig), "b: its GPU GPU-0 is the one of a "
                                            "under another name; used once"));
}

static void a_worker_under_two_names_is_one_host(void **state)
{
    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    rig_come(&rig, 1, 7, NULL, 0);
    assert_int_equal(host(0)->state, HOST_STATE_FAILED);
    assert_int_equal(host(0)->conn.code, ERR_INPUT);
    assert_string_equal(host(0)->conn.why,
                        "it is the worker of b under another name; give one "
                        "of them another workdir=");
    assert_int_equal(rig.dismissed[0], 1);
    assert_int_equal(rig_count(&rig, MSG_STOP), 0); /* it is b's */
    assert_int_equal(host(1)->state, HOST_STATE_READY);
    assert_non_null(strstr(rig_heard(&rig), "a: not used: it is the worker"));
}

/* It sends nothing for them to its new name; and no worker has more. */
static void the_newest_1024_leases_of_its_other_name_are_cancelled(void **state)
{
    struct work *work = &rig.sweep.work;

    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    work->issued = mem_grow(work->issued, 1027, sizeof(*work->issued));
    for (work->n_issued = 0; work->n_issued < 1027; work->n_issued++)
        work->issued[work->n_issued] = (struct issued_lease){ .host = 0 };
    work->issued[1025].host = 1;
    rig_come(&rig, 1, 7, NULL, 0);
    assert_int_equal(rig_count(&rig, MSG_CANCEL), 1024);
    assert_int_equal(rig_first(&rig, MSG_CANCEL)->lease, 1027);
    assert_int_equal(rig_first(&rig, MSG_CANCEL)->host, 1);
    assert_int_equal(rig_last(&rig, MSG_CANCEL)->lease, 3);
}

static void another_machine_with_the_same_pid_is_another_worker(void **state)
{
    struct msg hello = rig_hello(7);

    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    hello.hello.boot_id = "c007";
    assert_int_equal(rig_take(&rig, 1, hello), 0);
    assert_int_equal(host(0)->state, HOST_STATE_READY);
}

static void what_is_greeted_again_gets_nothing_until_it_is_ready(void **state)
{
    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    assert_int_equal(rig_take(&rig, 0, rig_hello(7)), 0);
    assert_int_equal(rig_dispatch(&rig), 0);
    assert_int_equal(rig_take(&rig, 0, rig_gpu("GPU-0")), 0);
    assert_int_equal(rig_take(&rig, 0, rig_is_ready()), 0);
    assert_int_equal(rig_dispatch(&rig), 2);
}

static void a_host_is_told_which_gpus_are_meant(void **state)
{
    (void)state;
    assert_int_equal(rig_take(&rig, 0, rig_hello(7)), 0);
    assert_string_equal(rig_last(&rig, MSG_WELCOME)->what, "all");
    snprintf(rig.list[0].gpus, sizeof(rig.list[0].gpus), "0,2");
    assert_int_equal(rig_take(&rig, 0, rig_hello(7)), 0);
    assert_string_equal(rig_last(&rig, MSG_WELCOME)->what, "0,2");
    rig.list[0].role = HOST_BUILDER;
    assert_int_equal(rig_take(&rig, 0, rig_hello(7)), 0);
    assert_string_equal(rig_last(&rig, MSG_WELCOME)->what, "none");
}

/* It comes back without it. */
static void a_gpu_that_a_host_had_once_is_free_for_another(void **state)
{
    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    assert_int_equal(rig_take(&rig, 0, rig_hello(7)), 0);
    assert_int_equal(rig_take(&rig, 1, rig_hello(8)), 0);
    assert_int_equal(rig_take(&rig, 1, rig_gpu("GPU-0")), 0);
    assert_int_equal(host(1)->n_gpus, 1);
}

static void a_gpu_of_another_model_does_not_measure(void **state)
{
    const char *heard;

    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    host(0)->gpus[1] = host(0)->gpus[0];
    snprintf(host(0)->gpus[1].uuid, sizeof(host(0)->gpus[1].uuid), "GPU-1");
    host(0)->gpus[0].facts = *gpu_arch_find("sm_90");
    snprintf(host(0)->gpus[0].name, sizeof(host(0)->gpus[0].name), "H100");
    host(0)->n_gpus = 2;
    rig.options.device = "cuda";
    host_events_up(&rig.sweep, 0);
    rig.options.device = "cpu";
    assert_int_equal(host(0)->n_gpus, 1);
    assert_string_equal(host(0)->gpus[0].uuid, "GPU-1");
    heard = strstr(rig_heard(&rig), "a: H100 is another model than");
    assert_non_null(heard);
    assert_null(strstr(heard + 30, "is another model than"));
}

/* The second host has a GPU of this name, with the facts of that row. */
static void come_second(const char *name, const char *arch)
{
    rig_come(&rig, 0, 7, NULL, 0);
    snprintf(rig.list[1].model, sizeof(rig.list[1].model), "l4");
    assert_int_equal(rig_take(&rig, 1, rig_hello(8)), 0);
    assert_int_equal(rig_take(&rig, 1, rig_gpu("GPU-9")), 0);
    host(1)->gpus[0].facts = *gpu_arch_find(arch);
    snprintf(host(1)->gpus[0].name, sizeof(host(1)->gpus[0].name), "%s", name);
    rig.options.device = "cuda";
    assert_int_equal(rig_take(&rig, 1, rig_is_ready()), 0);
    rig.options.device = "cpu";
}

static void a_label_has_one_model(void **state)
{
    (void)state;
    come_second("NVIDIA H100", "sm_90");
    assert_int_equal(host(1)->state, HOST_STATE_FAILED);
    assert_int_equal(host(0)->state, HOST_STATE_READY);
    assert_non_null(strstr(
        rig_heard(&rig), "b: not used: model=l4: it has NVIDIA H100 (sm_90, "));
    assert_non_null(strstr(rig_heard(&rig), ", and a has NVIDIA L4 (sm_89, "));
}

static void so_it_has_if_only_the_name_is_another(void **state)
{
    (void)state;
    come_second("NVIDIA L4 PCIe", "sm_89");
    assert_int_equal(host(1)->state, HOST_STATE_FAILED);
    assert_non_null(strstr(rig_heard(&rig), "it has NVIDIA L4 PCIe (sm_89"));
}

static void an_older_driver_has_the_same_model(void **state)
{
    (void)state;
    come_second("L4", "sm_89");
    assert_int_equal(host(1)->state, HOST_STATE_READY);
}

static void another_gpu_by_the_same_number_has_no_orders(void **state)
{
    struct sched_lease dropped;
    const char *why;

    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    assert_true(sched_order(rig.sweep.work.sched,
                            &(struct sched_order){ .purpose = SCHED_CANARY }) >
                0);
    rig_come(&rig, 0, 7, NULL, 0); /* the same */
    assert_false(sched_order_dropped(rig.sweep.work.sched, &dropped, &why));
    assert_int_equal(rig_take(&rig, 0, rig_hello(7)), 0);
    assert_int_equal(rig_take(&rig, 0, rig_gpu("GPU-9")), 0);
    host(0)->worker.slots = 1;
    host_events_up(&rig.sweep, 0);
    assert_true(sched_order_dropped(rig.sweep.work.sched, &dropped, &why));
    assert_string_equal(why, "its GPU is gone");
}

/* Also what a host was before it came back as something else. */
static void what_a_host_was_when_it_became_ready_is_kept(void **state)
{
    int64_t rows = 0;

    (void)state;
    rig_come(&rig, 0, 7, NULL, 0);
    rig.now_ns += NS_PER_S;
    rig_come(&rig, 0, 8, NULL, 0);
    assert_int_equal(sql_number(store_db(rig.sweep.mail.store),
                                "SELECT count(*) FROM ready WHERE host='a' AND"
                                " toolkit<>'' AND gpu IN ('', 'GPU-0')",
                                &rows, &err, ""),
                     0);
    assert_int_equal(rows, 4);
}

static void who_only_measures_builds_nothing(void **state)
{
    (void)state;
    rig.list[0].role = HOST_GPU;
    rig_come(&rig, 0, 7, NULL, 0);
    assert_int_equal(rig_dispatch(&rig), 0);
}

#define CASE(test) cmocka_unit_test_setup_teardown(test, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(a_host_is_welcomed_and_is_ready),
        CASE(the_next_run_of_a_command_says_nothing_twice),
        CASE(who_was_waited_for_is_told_again),
        CASE(a_host_that_is_long_not_ready_says_once_why),
        CASE(a_remark_on_its_login_is_shown_and_is_no_failure),
        CASE(an_upload_that_breaks_off_is_told_once_and_is_no_failure),
        CASE(progress_of_an_upload_puts_the_end_off),
        CASE(results_damaged_on_its_disk_are_said_once),
        CASE(another_protocol_is_refused),
        CASE(a_gpu_out_of_turn_is_refused),
        CASE(a_gpu_with_a_fact_without_a_name_is_refused),
        CASE(sixty_four_gpus_are_the_most),
        CASE(ready_before_hello_is_refused),
        CASE(what_a_lost_worker_said_before_counts_for_nothing),
        CASE(a_gpu_under_two_names_is_used_once),
        CASE(a_worker_under_two_names_is_one_host),
        CASE(the_newest_1024_leases_of_its_other_name_are_cancelled),
        CASE(another_machine_with_the_same_pid_is_another_worker),
        CASE(what_is_greeted_again_gets_nothing_until_it_is_ready),
        CASE(a_host_is_told_which_gpus_are_meant),
        CASE(a_gpu_that_a_host_had_once_is_free_for_another),
        CASE(a_gpu_of_another_model_does_not_measure),
        CASE(a_label_has_one_model),
        CASE(so_it_has_if_only_the_name_is_another),
        CASE(an_older_driver_has_the_same_model),
        CASE(another_gpu_by_the_same_number_has_no_orders),
        CASE(a_gpu_that_is_leased_is_not_that_of_another_name),
        CASE(what_a_host_was_when_it_became_ready_is_kept),
        CASE(who_only_measures_builds_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
