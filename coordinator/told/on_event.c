#include "coordinator/told/on_event.h"

#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common/clock.h"
#include "common/err.h"
#include "common/mem.h"
#include "coordinator/process/notifier.h"
#include "coordinator/process/program.h"
#include "coordinator/spec/search_settings.h"
#include "coordinator/state/sweep_options.h"
#include "coordinator/text/exit_code.h"
#include "coordinator/text/json_out.h"

#define FLAG "--on-event"
#define TEXT_MAX 512 /* of a reason; the path of the database is longer */

struct on_event {
    const char *db, *sweep;
    char *words; /* of the command */
    const char *argv[SEARCH_SETTINGS_WORDS_MAX + 1];
    struct notifier notifier;

    char **lost; /* names of hosts */
    size_t n_lost;
    struct sweep_notice last; /* for its figures */
};

/* ---- one event as text */

static void put_text(struct json_out *out, const char *name, const char *text)
{
    char cut[TEXT_MAX];

    snprintf(cut, sizeof(cut), "%s", text);
    json_out_text(out, name, cut);
}

static void put_figures(struct json_out *out, const struct sweep_notice *notice)
{
    if (notice->total > 0) {
        json_out_int(out, "tried", notice->tried);
        json_out_int(out, "correct", notice->correct);
        json_out_int(out, "total", notice->total);
    }
    if (notice->best_s > 0)
        json_out_real(out, "best_s", notice->best_s);
    if (notice->baseline_s > 0)
        json_out_real(out, "baseline_s", notice->baseline_s);
    if (notice->usd >= 0)
        json_out_real(out, "usd", notice->usd);
}

/* In one line; a text has no line feed, because JSON escapes it. */
static size_t join_lines(char *text)
{
    char *to = text;

    for (const char *from = text; *from; from++) {
        if (*from == '\n') {
            from += strspn(from, "\n ") - 1;
            *to++ = ' ';
        } else {
            *to++ = *from;
        }
    }
    while (to > text && to[-1] == ' ')
        to--;
    *to = '\0';
    return (size_t)(to - text);
}

/* 'exit_code' below 0: it has not ended. */
static void send(struct on_event *on, const char *event, int exit_code,
                 const struct sweep_notice *notice)
{
    struct json_out out;
    char *text;
    size_t len;
    FILE *to = mem_stream(&text, &len);

    json_out_init(&out, to);
    json_out_open(&out, NULL, '{');
    json_out_text(&out, "event", event);
    json_out_utc(&out, "time", clock_utc_ns());
    json_out_text(&out, "sweep", on->sweep);
    json_out_text(&out, "database", on->db);
    if (notice->host)
        put_text(&out, "host", notice->host);
    if (notice->why)
        put_text(&out, "why", notice->why);
    if (notice->config) {
        put_text(&out, "config", notice->config);
        put_text(&out, "text", notice->text);
    }
    if (exit_code >= 0)
        json_out_int(&out, "exit_code", exit_code);
    put_figures(&out, notice);
    json_out_close(&out);
    mem_stream_close(to, &text);
    notifier_send(&on->notifier, text, join_lines(text));
    free(text);
}

/* ---- hosts that were lost */

/* False if it was lost before. */
static bool add_lost(struct on_event *on, const char *host)
{
    for (size_t i = 0; i < on->n_lost; i++)
        if (strcmp(on->lost[i], host) == 0)
            return false;
    on->lost = mem_grow(on->lost, on->n_lost + 1, sizeof(*on->lost));
    on->lost[on->n_lost++] = mem_strdup(host);
    return true;
}

/* False if it was not lost. */
static bool drop_lost(struct on_event *on, const char *host)
{
    for (size_t i = 0; i < on->n_lost; i++)
        if (strcmp(on->lost[i], host) == 0) {
            free(on->lost[i]);
            on->lost[i] = on->lost[--on->n_lost];
            return true;
        }
    return false;
}

/* ---- */

/* A command has several runs; that which searches has a best. */
static void keep_figures(struct on_event *on, const struct sweep_notice *notice)
{
    if (notice->best_s > 0 || !(on->last.best_s > 0))
        on->last = (struct sweep_notice){ .tried = notice->tried,
                                          .correct = notice->correct,
                                          .total = notice->total,
                                          .best_s = notice->best_s,
                                          .baseline_s = notice->baseline_s };
    on->last.usd = notice->usd;
}

/* Who was told of a start is told of the end: a signal before the reactor
 * takes signals waits for it. */
static void hold_signals(void)
{
    sigset_t set;

    sigemptyset(&set);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGHUP);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

int on_event_start(const char *command, const char *db, const char *sweep,
                   struct on_event **out, struct err *err)
{
    struct on_event *on = mem_new(1, sizeof(*on));
    int rc = 0;

    *on = (struct on_event){ .db = db,
                             .sweep = sweep,
                             .last = { .best_s = (double)NAN,
                                       .baseline_s = (double)NAN,
                                       .usd = (double)NAN } };
    on->words = search_settings_split(command, on->argv);
    if (!on->argv[0])
        rc = err_set(err, ERR_INPUT, FLAG ": name a command");
    else if (!program_is_here(on->argv[0]))
        rc = err_set(
            err, ERR_INPUT, FLAG ": '%.200s' is no program that can be run%s",
            on->argv[0],
            strchr(on->argv[0], '/') ? "" : "; PATH has none of this name");
    if (rc == 0)
        rc = notifier_start(on->argv, FLAG, NOTIFIER_LIMIT_NS, &on->notifier,
                            err);
    if (rc < 0) {
        free(on->words);
        free(on);
        return rc;
    }
    hold_signals();
    send(on, "started", -1, &on->last);
    *out = on;
    return 0;
}

void on_event_tell(void *arg, const struct sweep_notice *notice)
{
    struct on_event *on = arg;

    keep_figures(on, notice);
    if (notice->kind == SWEEP_NOTICE_LOST && add_lost(on, notice->host))
        send(on, "host_lost", -1, notice);
    if (notice->kind == SWEEP_NOTICE_READY && drop_lost(on, notice->host))
        send(on, "host_back", -1, notice);
    if (notice->kind == SWEEP_NOTICE_BEST)
        send(on, "best_improved", -1, notice);
}

static const char *ending(int exit_code)
{
    if (exit_code_is_signal(exit_code))
        return "interrupted";
    if (exit_code == EXIT_CAP)
        return "budget_reached";
    return exit_code == EXIT_DONE || exit_code == EXIT_PARTIAL ? "finished"
                                                               : "failed";
}

void on_event_stop(struct on_event *on, int exit_code)
{
    if (!on)
        return;
    send(on, ending(exit_code), exit_code, &on->last);
    notifier_stop(&on->notifier);
    if (on->notifier.unsent > 0)
        fprintf(stderr,
                "fa-coord: warning: " FLAG ": %" PRId64
                " events could not be told\n",
                on->notifier.unsent);
    for (size_t i = 0; i < on->n_lost; i++)
        free(on->lost[i]);
    free(on->lost);
    free(on->words);
    free(on);
}
