/* wire.h - the text on the pipe between fa-worker and fa-runner
 *
 * Lines "key value...\n"; a request or a reply ends with an empty line.  The
 * worker writes requests to the runner's stdin and reads replies from its
 * stdout, one reply a request:
 *
 *   open     ->  ok, facts        or  error
 *   measure  ->  progress lines, then an outcome with its evidence, or
 *                'reference' when that is of no use, or  error
 *   check    ->  as measure, but nothing is timed: for a profiler to watch
 *   quit     ->  (the runner exits, as it does at end of file)
 *
 * Fields may come in any order.  Only arg, fact, sample and rejected may be
 * repeated.  Unknown fields are errors.  Paths are written with every byte that
 * is not printable ASCII, and '%', as %XX. Depends on libc only; used by both
 * programs.
 */
#ifndef FA_WORKER_RUNNER_WIRE_WIRE_H
#define FA_WORKER_RUNNER_WIRE_WIRE_H

enum {
    WIRE_LINE_MAX = 16384, /* bytes of a line, newline and NUL included */
    WIRE_PATH_MAX = 4096,
    WIRE_NAME_MAX = 64,
    WIRE_ARGS_MAX = 64,
    WIRE_FACTS_MAX = 32,
    WIRE_SAMPLES_MAX = 1000,
    WIRE_WARMUPS_MAX = 1000,
    WIRE_REPEATS_MAX = 100000,
    WIRE_REJECTED_MAX = 256,
    WIRE_STATES_MAX = 4, /* readings around the samples */
    WIRE_TEXT_MAX = 1024,
};

/* Reading a request or a reply, a line at a time.
 *
 * Begin with a zeroed struct.  'line' is without its newline and may be cut
 * up by the call.  WIRE_BAD leaves a reason in 'why'; the pipe is then out of
 * step and must be closed. */
enum wire_step {
    WIRE_BAD = -1,
    WIRE_MORE,
    WIRE_PROGRESS,
    WIRE_DONE
};

enum {
    WIRE_WHY_MAX = 256
};

#endif
