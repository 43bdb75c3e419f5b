#!/usr/bin/env python3
"""How long a sweep takes from the command to its first lease, on a warm host.

    tests/bench/bench_start.py build/dev/bin [--rounds 3] [--only NAME] [--against BIN]

The cases: flash_attention on the cpu device, with the worker of this machine and through a loopback sshd; wide.json
(670,995 points) with a strategy and without one; `resume` of it with 100,000 results, which bench_stored stores; and
the readers of such a database, `status`, `report` and `report --json`.  With --against, each round measures another
build as well, and each case has the ratio of CPU, this build's over the other's.
The worker is running when the clock starts.  JSON goes to stdout: the seconds from the command to the first lease, the
CPU of fa-coord until then (of all its threads) and its peak memory, as medians of the rounds.  The slowest start and
the slowest resume come last, to stderr.  They are wall-clock times, so on a busy machine look at the CPU.
"""

import argparse
import json
import os
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
START_S, RESUME_S = 1.5, 1.0
STORED = 100000
WAIT_S = 120

READS = ("status", "report", "report --json")

# name, sweep file, arguments of 'sweep', through sshd?, results that are stored before
CASES = (
    ("flash", "sweep.json", (), False, 0),
    ("flash over ssh", "sweep.json", (), True, 0),
    ("wide, bayes", "wide.json", ("--strategy", "bayes", "--evaluations", "200"), False, 0),
    ("wide, exhaustive", "wide.json", ("--strategy", "exhaustive"), False, 0),
    ("resume of wide", "wide.json", ("--strategy", "exhaustive"), False, STORED),
    *((read, "wide.json", ("--strategy", "exhaustive"), False, STORED) for read in READS),
)


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", help="the cases with this in their name")
    parser.add_argument("--stored", type=int, default=STORED)
    parser.add_argument("--against", help="the programs of another build")
    return parser.parse_args()


def cpu_s(pid):
    """The CPU seconds of all threads of a process, to the nanosecond."""
    return time.clock_gettime(((~pid) << 3) | 2)


def most_mib(pid):
    with open(f"/proc/{pid}/status") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("VmHWM")) / 1024


class Place:
    """A home with its own worker, and a copy of the kernel."""

    def __init__(self, bin):
        self.folder = tempfile.mkdtemp(prefix="fa-start-", dir="/tmp")
        self.coord = os.path.join(os.path.abspath(bin), "fa-coord")
        self.env = {"HOME": os.path.join(self.folder, "home"), "PATH": os.environ["PATH"], "LANG": "C",
                    "XDG_RUNTIME_DIR": os.path.join(self.folder, "run")}
        for name in ("HOME", "XDG_RUNTIME_DIR"):
            os.mkdir(self.env[name], mode=0o700)
        self.kernel = os.path.join(self.folder, "flash_attention")
        shutil.copytree(os.path.join(ROOT, "kernels", "flash_attention"), self.kernel)
        self.sshd = None

    def hosts(self):
        """A hosts file that names this machine through an sshd of its own."""
        os.environ["FA_SOURCE_DIR"], os.environ["FA_BIN_DIR"] = ROOT, os.path.dirname(self.coord)
        sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
        import rig
        if not self.sshd:
            self.sshd = rig.Sshd(os.path.join(self.folder, "sshd"), self.env)
        path = os.path.join(self.folder, "hosts.txt")
        with open(path, "w") as f:
            f.write(self.sshd.line() + "\n")
        return path

    def start(self, *args):
        began = time.time_ns()
        return began, subprocess.Popen([self.coord, *args], cwd=self.kernel, env=self.env, stdin=subprocess.DEVNULL,
                                       stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)

    def first_lease(self, args, db):
        """Seconds, CPU seconds and MiB up to the first lease; then the sweep is stopped."""
        began, process = self.start(*args)
        try:
            until = time.monotonic() + WAIT_S
            while not (leased := lease_after(db, began)):
                if process.poll() is not None or time.monotonic() > until:
                    raise SystemExit(f"no lease: fa-coord {' '.join(args)}")
                time.sleep(0.005)
            return {"seconds": (leased - began) / 1e9, "cpu_s": cpu_s(process.pid), "mib": most_mib(process.pid)}
        finally:
            for _ in range(2):  # the second one stops it at once
                process.send_signal(signal.SIGINT)
                time.sleep(0.05)
            process.wait(WAIT_S)

    def read(self, args):
        """The same as first_lease(), up to the end of the command."""
        began, process = self.start(*args)
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"exit code {process.returncode}: fa-coord {' '.join(args)}")
        return {"seconds": (time.time_ns() - began) / 1e9, "cpu_s": used.ru_utime + used.ru_stime,
                "mib": used.ru_maxrss / 1024}

    def close(self):
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as f:
                    mine = f"HOME={self.env['HOME']}\0".encode() in f.read()
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    if mine and f.read().startswith(b"fa-worker"):
                        os.kill(int(pid), signal.SIGTERM)
            except OSError:
                continue
        if self.sshd:
            self.sshd.stop()
        time.sleep(1)  # until workers have emptied their folders
        shutil.rmtree(self.folder, ignore_errors=True)


def lease_after(path, began):
    """When the run that began then gave its first lease, once that is committed."""
    if not os.path.exists(path):
        return None
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return db.execute("SELECT min(leased_utc) FROM lease WHERE epoch > ?", (began,)).fetchone()[0]
    except sqlite3.Error:  # it does not exist yet
        return None
    finally:
        db.close()


def begin(place, ask, case):
    """One round of the case in this place, as a function."""
    _, file, args, ssh, stored = case
    db = os.path.join(place.folder, "x.db")
    sweep = ["sweep", file, "--device", "cpu", "--db", db, "--linger", "300", "--quiet", *args]
    if ssh:
        sweep += ["--hosts", place.hosts()]
    place.first_lease(sweep, db)  # so that the worker runs, and the files are in memory
    if not stored:
        return lambda: (remove(db), place.first_lease(sweep, db))[1]
    fill = os.path.join(os.path.abspath(ask.bin), "bench_stored")
    subprocess.run([fill, os.path.join(place.kernel, file), db, str(ask.stored)], check=True,
                   stdout=subprocess.DEVNULL)
    if case[0] in READS:
        return lambda: place.read([*case[0].split(), db])
    return lambda: place.first_lease(["resume", db, "--quiet"], db)


def medians(rounds):
    return {key: statistics.median(r[key] for r in rounds) for key in rounds[0]}


def measure(places, ask, case):
    """The figures of the first place, and their ratio to the second."""
    once = [begin(place, ask, case) for place in places]
    rounds = [[] for _ in places]
    for _ in range(ask.rounds):
        for run, found in zip(once, rounds):
            found.append(run())
    found = {"case": case[0], **medians(rounds[0])}
    if len(places) > 1:
        found["against"] = medians(rounds[1])
        found["cpu_ratio"] = found["cpu_s"] / found["against"]["cpu_s"]
    return found


def remove(db):
    for end in ("", "-wal", "-shm", ".lock"):
        if os.path.exists(db + end):
            os.remove(db + end)


def say(word, found, target):
    if found:
        slowest = max(found, key=lambda case: case["seconds"])
        print(f"{word}: {slowest['seconds']:.2f} s to the first lease, {slowest['cpu_s']:.2f} s of CPU "
              f"({slowest['case']}); target {target:g} s", file=sys.stderr)


def main():
    ask = options()
    found = []
    for case in CASES:
        if ask.only and ask.only not in case[0]:
            continue
        places = [Place(bin) for bin in (ask.bin, ask.against) if bin]
        try:
            found.append(measure(places, ask, case))
        finally:
            for place in places:
                place.close()
    json.dump(found, sys.stdout, indent=1)
    print()
    starts = [case for case in found if case["case"] not in READS]
    say("start", [case for case in starts if "resume" not in case["case"]], START_S)
    say("resume", [case for case in found if "resume" in case["case"]], RESUME_S)


if __name__ == "__main__":
    main()
