"""Does the simulation find bugs that are planted?  (docs/testing.md)

    planted.py SOURCE_FOLDER BUILD_FOLDER [NAME...]

A seed finds a bug if it has a finding with the bug and none without it.
The exit status is 0 if all bugs are found, otherwise 1.
"""
import os
import subprocess
import sys
import tempfile
import time

from mutants import Builder, Mutant

SEEDS = 1000
STEP = 10  # seeds for each process

# Patterns, because files and functions may be renamed.
PLANTED = [
    Mutant("acknowledge before COMMIT",
           r"^( +rc = [\w.>-]*disk\.commit\([^;]*;\n    if \(rc < 0\)\n        return rc;\n)"
           r"((?:    .*\n)+?)(    return 0;\n\})",
           r"\2\1\3"),
    Mutant("no deduplication: count every build",
           r"counted \|\| (build->evidence)",
           r"\1"),
    Mutant("no deduplication: insert a result twice",
           r"FACT\((store_facts_result)\)",
           r"ROW(\1)"),
    Mutant("leases by the wall clock",
           r"clock\.boot_ns\(([\w.>-]+)\)",
           r"clock.utc_ns(\1)"),
    Mutant("forget to requeue what was lost",
           r"^    (settled_or_queued\(s, job, lease\.host\);)",
           r"    if (event != JOB_EV_LOST || s->jobs.list[job].state != JOB_WAITING)\n        \1"),
    Mutant("forget to requeue what was refused",
           r"^    (settled_or_queued\(s, job, lease\.host\);)",
           r"    if (event != JOB_EV_REFUSED || s->jobs.list[job].state != JOB_WAITING)\n        \1"),
    # Only I7, which is checked while the sweep runs, finds these two.
    Mutant("forget to tell what was dropped",
           r"^    int_queue_push\(&s->orders\.dropped, [^;]*;\n", ""),
    Mutant("forget to queue the build for an order",
           r"^    if \(build->state == JOB_WAITING && !s->units\.held\[unit\]\)\n"
           r" +int_queue_push_front\(&s->units\.builds, unit\);\n", ""),
    Mutant("forget to reset a FETCH",
           r"(\w+->summed) == (\w+->total)",
           r"\1 > \2"),
    Mutant("adopt what was not leased",
           r"if \((!\w+_was_given\()",
           r"if (false && \1"),
    Mutant("a repetition that crashes uses up no try",
           r"^    job->tries_left -= crashed \|\| lost;\n", ""),
    Mutant("no deadline",
           r"(if \()(now > \w+_deadline\(sweep, lease\)\))",
           r"\1now < 0 && \2"),
    Mutant("a connection counts without HELLO",
           r"(bool knows = here) && msg->connection == presence->connection;",
           r"\1;", flags=("--dial",)),
]


# The same for rented machines (simulate_rental).
PLANTED_RENTAL = [
    Mutant("start= before its row",
           r'^    rc = put\(store, machine, "starting", err\);', r"    rc = 0;"),
    Mutant("no stop= after a start= that failed",
           r"(    machine->tries\+\+;\n    machine->state = )RENTAL_STOPPING", r"\1RENTAL_FREE"),
    Mutant("released, whatever stop= says",
           r"^(    pause_for\(machine, now\);\n    if \()rc < 0\) \{\n( +snprintf\(machine->row\.why)",
           r"\1rc < -1000) {\n\2"),
    Mutant("a stop= that fails is not run again",
           r"return is_time \? stop\(machine, store, now_ns, event, err\) : 0;",
           r"return machine->row.stop_tries == 0\n"
           r"                   ? stop(machine, store, now_ns, event, err)\n"
           r'                   : put(store, machine, "released", err);'),
    Mutant("release: stop= while start= still runs",
           r"^    if \(!rental_rows_starts\(row\)\)\n        return true;", "    return true;"),
    Mutant("release: released, whatever stop= says",
           r"^    if \(rc < 0\) \{\n( +failed\(release, machine, now)", r"    if (rc < -1000) {\n\1"),
    Mutant("release: what was starting is left out",
           r"WHERE state<>'released'", "WHERE state NOT IN ('released', 'starting')"),
    Mutant("a machine is paid for from the end of its start=",
           r"^    machine->row\.acquired_utc = [^;]*;",
           r"    machine->row.started_utc = machine->row.acquired_utc = clock_utc_ns();"),
]


def seeds_with_findings(program, first, last, flags):
    """{seed: its line} of the seeds with findings."""
    out = subprocess.run([program, "--seeds", f"{first}..{last}", *flags], check=False,
                         capture_output=True, text=True)
    if out.returncode not in (0, 1):  # it crashed: that is a finding, too
        return {first: f"exit status {out.returncode}"}
    return {int(line.split()[1]): line for line in out.stdout.splitlines()
            if line.startswith("seed ")}


class Honest:
    """The findings of the program without a bug; each seed runs once."""

    def __init__(self, program):
        self.program, self.known = program, {}

    def ask(self, first, last, flags):
        if (first, flags) not in self.known:
            self.known[first, flags] = seeds_with_findings(self.program, first, last, flags)
        return self.known[first, flags]


def first_seed(program, honest, flags):
    for first in range(1, SEEDS + 1, STEP):
        found = seeds_with_findings(program, first, first + STEP - 1, flags)
        before = honest.ask(first, first + STEP - 1, flags) if found else {}
        for seed in sorted(set(found) - set(before)):
            return seed, found[seed]
    return None, "not found"


def main():
    source, build = map(os.path.abspath, sys.argv[1:3])
    wanted = sys.argv[3:]
    missed = 0
    with tempfile.TemporaryDirectory() as folder:
        for program, planted in ("simulate", PLANTED), ("simulate_rental", PLANTED_RENTAL):
            builder = Builder(source, build, program, folder)
            honest = Honest(os.path.join(build, "bin", program))
            for mutant in planted:
                if wanted and mutant.name not in wanted:
                    continue
                start = time.monotonic()
                seed, line = first_seed(builder.plant(mutant), honest, mutant.flags)
                missed += seed is None
                print(f"{mutant.name}: {line} ({time.monotonic() - start:.1f} s)", flush=True)
    return missed > 0


if __name__ == "__main__":
    sys.exit(main())
