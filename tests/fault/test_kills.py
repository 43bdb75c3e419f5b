"""Processes of a sweep are killed at drawn moments, and nothing is lost (F1, F3, F34).

Sweeps of a recorded landscape run on hosts behind real sshds: coordinator, relays, workers, runners, builds, journals
and databases are the real ones.  FA_KILLS says how many processes are killed, in as many sweeps as that takes.
FA_SEED draws the same moments and kinds of victims again.
"""

import collections
import os
import random
import signal
import sqlite3
import time
import unittest

import boxes
import checker
import landscape
import rig

KILLS = int(os.environ.get("FA_KILLS", "8"))
KILLS_A_SWEEP = 40
HOSTS, SLOTS = 3, 2
LINGER_S = 5
END_S = 240  # from the last kill to the end: a hang, whatever the speed of the machine
GONE_S = LINGER_S + 60  # F8
# How often each kind of process is a victim.
KINDS = {"coordinator": 5, "worker": 4, "keeper": 2, "runner": 3, "build": 2, "relay": 2, "session": 2}
LISTEN = "0A"  # a state in /proc/net/tcp
STOPS = 0.15  # the share that is stopped for a while and not killed


class Draw:
    """One blow: when, whom, and how."""

    def __init__(self, chance):
        self.after_s = chance.choice((0.05, 0.6, 1.5)) * chance.random()
        self.kind = chance.choices(list(KINDS), KINDS.values())[0]
        self.which = chance.random()
        self.stop_s = 3 * chance.random() if chance.random() < STOPS else None
        self.resume = chance.random() < 0.5  # a killed coordinator: 'resume', or the same command again


@unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
class Kills(boxes.Boxes):
    def setUp(self):
        super().setUp()
        seed = int(os.environ.get("FA_SEED", str(random.randrange(1 << 30))))
        print(f"FA_SEED={seed} FA_KILLS={KILLS}", flush=True)
        self.chance = random.Random(seed)
        self.killed = collections.Counter()
        self.stops = 0
        self.journalled = set()  # nonces that were in a journal, of all sweeps
        self.stored = set()  # nonces of the databases of finished sweeps
        self.found = {"lost": [], "twice": [], "wrong": [], "unfinished": [], "hung": [], "left": [],
                      "listens": []}
        self.given_up = 0
        self.longest_s = 0.0
        self.frozen = []  # (until, pid)
        self.build_replay_runner()
        self.lines = [self.box(f"b{i}", f"slots={SLOTS}") for i in range(HOSTS)]

    def tearDown(self):
        print(f"repetitions: {self.killed.total()}")
        print(f"killed {dict(self.killed)}, stopped {self.stops} for a while, {len(self.journalled)} results")
        for name, findings in self.found.items():
            rig.figure(name, len(findings), "times")
        rig.figure("given up after three attempts", self.given_up, "configurations")
        rig.figure("from the last kill to the end", self.longest_s, "s")
        super().tearDown()

    # -- what is there

    def listeners(self):
        return {sshd.process.pid for sshd in self.of.values()}

    def sessions(self):
        """Processes that the sshds forked, one or two for each login."""
        every = [int(pid) for pid in os.listdir("/proc") if pid.isdigit()]
        first = {pid for pid in every if rig.parent(pid) in self.listeners()}
        return first | {pid for pid in every if rig.parent(pid) in first and command(pid).startswith("sshd")}

    def victims(self, kind):
        if kind == "coordinator":
            return [self.coord.pid]
        if kind == "session":
            return sorted(self.sessions())
        there = self.processes()
        started = [pid for pid, line in there if line.startswith("fa-worker --started")]
        if kind in ("worker", "keeper"):
            return [pid for pid in started if (rig.parent(pid) in started) == (kind == "keeper")]
        mark = {"runner": "/artifacts/", "build": " --record ", "relay": " --attach "}[kind]
        return [pid for pid, line in there if mark in line]

    def look(self):
        """Read the journals, and let those go on whose stop is over."""
        for name in self.of:
            self.journalled.update(self.journal(name))
        now = time.monotonic()
        for until, pid in self.frozen:
            if now >= until:
                boxes.send(pid, signal.SIGCONT)
        self.frozen = [(until, pid) for until, pid in self.frozen if now < until]

    def journal(self, name):
        try:
            with open(self.path(name, "journal"), "rb") as f:
                return checker.nonces_of_journal(f.read())
        except FileNotFoundError:
            return []

    def note_ports(self):
        """No process of ours may listen on a TCP port (docs/security.md)."""
        listening = set()
        for table in ("/proc/net/tcp", "/proc/net/tcp6"):
            with open(table) as f:
                listening |= {f"socket:[{row[9]}]" for row in map(str.split, f) if row[3] == LISTEN}
        for pid, line in self.processes():
            if listening & sockets(pid):
                self.found["listens"].append(line)

    # -- blows

    def strike(self, draw):
        """Kill or stop one process of the kind, if there is one."""
        self.note_ports()
        there = self.victims(draw.kind)
        if not there:
            return
        pid = there[int(draw.which * len(there))]
        if draw.stop_s is not None:
            boxes.send(pid, signal.SIGSTOP)
            self.stopped.append(pid)
            self.frozen.append((time.monotonic() + draw.stop_s, pid))
            self.stops += 1
            return
        boxes.send(pid, signal.SIGKILL)
        self.killed[draw.kind] += 1
        if draw.kind == "coordinator":
            self.coord.wait()
            self.go_on(draw.resume)

    def go_on(self, resume):
        """What is in the database now has to stay there; then the sweep is started again."""
        try:
            self.acknowledged |= {nonce for nonce, in self.query(self.sweep_folder, "SELECT nonce FROM result")}
        except (ValueError, sqlite3.Error):
            pass  # it was killed before there was a database
        begun = self.acknowledged and resume
        self.start_coordinator("resume" if begun else "sweep")

    def start_coordinator(self, how):
        args = ["resume", "x.db"] if how == "resume" else [
            "sweep", "--device", "replay=bowl.json", "--speed-up", "1", "--db", "x.db", "--hosts", self.path("hosts.txt")]
        self.coord = self.start(self.sweep_folder, *args, "--linger", str(LINGER_S))

    def pause(self, seconds):
        """Watch for so long, or until the sweep ends; True if it still runs."""
        until = time.monotonic() + seconds
        while self.coord.poll() is None and time.monotonic() < until:
            self.look()
            time.sleep(0.01)
        return self.coord.poll() is None

    # -- sweeps

    def begin(self, n_sweep, unrolls, compile_ms):
        self.sweep_folder = self.path(f"sweep{n_sweep}")
        os.mkdir(self.sweep_folder)
        self.hosts(*self.lines)
        cache = landscape.make(os.path.join(self.sweep_folder, "bowl.json"), xs=(16, 32, 64, 128), ys=(1, 2, 4, 8),
                               unrolls=tuple(range(1, unrolls + 1)), compile_ms=compile_ms)
        self.wanted = {(e["BX"], e["BY"], e["UNROLL"], e["MODE"]): next(iter(landscape.words({"": e})))
                       for e in cache.values()}
        self.acknowledged = set()
        self.start_coordinator("sweep")

    def disturb(self, kills):
        """Strike until so many are killed, or the sweep has ended."""
        wanted = self.killed.total() + kills
        while self.killed.total() < wanted:
            draw = Draw(self.chance)
            if not self.pause(draw.after_s):
                return
            self.strike(draw)

    def finish(self):
        """Wait for its end.  What is not given up ends as it was recorded."""
        last = time.monotonic()
        while self.pause(1.0):
            if time.monotonic() > last + END_S:
                self.found["hung"].append(self.last_line())
                self.fail(f"it hangs; its last line: {self.last_line()}")
        self.assertEqual(self.coord.returncode, 0, self.stderr())
        self.longest_s = max(self.longest_s, time.monotonic() - last)
        self.nothing_runs()
        self.check()

    def nothing_runs(self):
        """Workers end by themselves, with all that they started."""
        while self.frozen:
            self.look()
        try:
            rig.until("nothing runs", lambda: not self.processes() and not self.sessions(), GONE_S)
        except AssertionError:
            self.found["left"] += [line for _, line in self.processes()] + [command(pid) for pid in self.sessions()]
            for name in self.of:
                with open(self.path(name, "worker.log")) as log:
                    print(name, *log.readlines()[-8:])
            self.end_workers()

    def check(self):
        self.look()
        waiting = {nonce for name in self.of for nonce in self.journal(name)}
        db = sqlite3.connect(f"file:{self.sweep_folder}/x.db?mode=ro", uri=True)
        wrong, given_up = checker.wrong(db, self.wanted)
        self.given_up += given_up
        for finding in (checker.lost(db, self.acknowledged, self.journalled, waiting | self.stored) +
                        checker.twice(db) + wrong + checker.unfinished(db)):
            self.found[finding.split(":")[0]].append(finding)
        self.stored |= checker.nonces_of_database(db)
        db.close()
        self.assert_invariants(self.sweep_folder)

    def no_files(self):
        """After a sweep that nothing disturbed: no socket, no temporary file, no folder of a coordinator."""
        left = os.listdir(self.env["XDG_RUNTIME_DIR"])
        for name in self.of:
            left += [self.path(name, f) for f in os.listdir(self.path(name)) if f.endswith((".sock", ".new", ".part"))]
            left += [self.path(name, "tmp", f) for f in os.listdir(self.path(name, "tmp"))]
        self.assertEqual(left, [])

    def test_what_is_killed_at_drawn_moments_loses_and_repeats_nothing(self):
        n_sweep = 0
        while self.killed.total() < KILLS:
            kills = min(KILLS - self.killed.total(), KILLS_A_SWEEP)
            self.begin(n_sweep, unrolls=2 + kills // 2, compile_ms=500)
            self.disturb(kills)
            self.finish()
            n_sweep += 1
            print(f"{self.killed.total()} of {KILLS} kills", flush=True)
        self.begin(n_sweep, unrolls=2, compile_ms=500)
        self.finish()
        self.no_files()
        self.assertEqual({name: found for name, found in self.found.items() if found}, {})


def sockets(pid):
    found = set()
    try:
        for fd in os.listdir(f"/proc/{pid}/fd"):
            found.add(os.readlink(f"/proc/{pid}/fd/{fd}"))
    except OSError:
        pass  # it has just ended
    return found


def command(pid):
    try:
        with open(f"/proc/{pid}/cmdline", "rb") as f:
            return f.read().replace(b"\0", b" ").decode(errors="replace")
    except OSError:
        return ""


if __name__ == "__main__":
    unittest.main()
