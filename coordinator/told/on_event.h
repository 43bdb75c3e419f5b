/* on_event.h - --on-event CMD: a command is told what happens to a sweep
 *
 * notifier.h runs it; docs/live-view.md has the events and their fields.
 * Thread rule: one thread; start it before any other one.
 */
#ifndef FA_COORDINATOR_TOLD_ON_EVENT_H
#define FA_COORDINATOR_TOLD_ON_EVENT_H

struct err;
struct on_event;
struct sweep_notice;

/* Start, and tell that the command has started.  'command' is split at blanks,
 * without quoting.  'db' and 'sweep', its name, are borrowed.  ERR_INPUT if
 * there is no word in it, ERR_SYSTEM */
int on_event_start(const char *command, const char *db, const char *sweep,
                   struct on_event **out, struct err *err);

/* A sweep_notify; 'arg' is the struct on_event. */
void on_event_tell(void *arg, const struct sweep_notice *notice);

/* Tell how it ended, an exit code of the program, and wait until the command
 * has got it (notifier_stop()).  NULL is fine. */
void on_event_stop(struct on_event *on_event, int exit_code);

#endif
