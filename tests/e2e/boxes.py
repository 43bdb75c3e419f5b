"""Hosts of one sweep that can be broken one by one: each has its own work folder and its own sshd.

A host runs the real fa-worker, or the stand-in (stand_in_worker.c) with one of its behaviours.
"""

import glob
import os
import shutil
import signal
import socket
import sqlite3
import threading
import time

import landscape
import rig
import sweepfile

SLACK_S = 30  # of a lease with the cpu device, over the limit of one launch
WITHIN_S = 40  # a sweep takes 4 s; work that waits for the end of its lease takes 60 s
LOST_S = 30  # over a lease's limit, or after a host's last word: its work goes elsewhere
STAND_IN = os.path.join(os.path.dirname(rig.BIN), "tests", "stand_in_worker")


class Boxes(rig.Rig):
    def setUp(self):
        super().setUp()
        self.of = {}  # name: Sshd
        self.stopped = []
        self.proxies = []
        self.coord = None

    def tearDown(self):
        for pid in self.stopped:
            send(pid, signal.SIGCONT)
        self.end_coordinator()
        for proxy in self.proxies:
            proxy.close()
        super().tearDown()

    # -- hosts

    def box(self, name, attributes=""):
        """A line of hosts.txt: a real worker in the folder NAME."""
        self.with_runner(self.path(name))
        self.of[name] = self.sshd(name=f"sshd-{name}")
        return self.of[name].line(f"workdir={self.path(name)} {attributes}")

    def build_replay_runner(self):
        """The runner that replays, built once for all hosts that come."""
        landscape.make(self.path("one.json"), xs=(16,), ys=(1,), unrolls=(1,), compile_ms=1)
        self.run_coord(self.folder, "sweep", "--device", "replay=one.json", "--db", "one.db")
        self.assertEqual(self.end_workers(), [])
        self.keep_runners()

    def stand_in(self, name, behaviour, attributes="", lines=()):
        """The same for the stand-in; 'lines' are further ones of its file."""
        self.install_stand_in()
        self.stand_in_folder(name, behaviour, lines)
        self.of[name] = self.sshd(name=f"sshd-{name}")
        return self.of[name].line(f"workdir={self.path(name)} {attributes}")

    def install_stand_in(self):
        if self.bin == rig.BIN:
            self.bin = self.path("bin")
            os.mkdir(self.bin)
            shutil.copy(os.path.join(rig.BIN, "fa-coord"), self.bin)
            shutil.copy(STAND_IN, os.path.join(self.bin, "fa-worker"))

    def stand_in_folder(self, name, behaviour, lines=()):
        os.mkdir(self.path(name), mode=0o700)
        with open(self.path(name, "stand-in"), "w") as f:
            f.writelines(line + "\n" for line in (f"behaviour {behaviour}", *lines))

    def heard(self, name, what):
        """How many messages of a type the stand-in received."""
        try:
            with open(self.path(name, "heard")) as f:
                return sum(line.split(" ")[0] == what for line in f)
        except FileNotFoundError:
            return 0

    def address(self, name):
        """The host's name in messages and in the database."""
        return self.of[name].line().split(" ")[0]

    def empty(self, name):
        """Delete the kernels of a host's cache, and the coordinator's copies.  Its runner stays."""
        for copy in glob.glob(self.path("home", ".cache", "fa-coord", "kept", "*")):
            os.unlink(copy)
        folder = self.path(name, "artifacts")
        for artifact in os.listdir(folder):
            path = os.path.join(folder, artifact)
            with open(path, "rb") as f:
                is_runner = b"/ld-linux" in f.read(4096)
            if not is_runner:
                os.unlink(path)

    def by_proxy(self, name, line):
        """The same line through a proxy, and the proxy."""
        proxy = Proxy(self.of[name].port)
        self.proxies.append(proxy)
        return line.replace(f":{self.of[name].port} ", f":{proxy.port} "), proxy

    # -- their processes

    def tree(self, name):
        """Pids of a host: worker, keeper, children, relay, and sshd's sessions."""
        folder, sshd = self.path(name), self.of[name].process.pid
        mine = {pid for pid, command in self.processes()
                if folder in command.split(" ") or f"{folder}/" in command + working_folder(pid)}
        every = [int(pid) for pid in os.listdir("/proc") if pid.isdigit()]
        grown = True
        while grown:
            more = {pid for pid in every if pid not in mine and rig.parent(pid) in mine | {sshd}}
            mine |= more
            grown = bool(more)
        return sorted(mine)

    def freeze(self, name):
        """Stop all processes of the host; its connections stay open."""
        for _ in range(2):  # the second time what was started during the first
            for pid in self.tree(name):
                send(pid, signal.SIGSTOP)
                self.stopped.append(pid)

    def kill(self, name):
        for pid in self.tree(name):
            send(pid, signal.SIGKILL)

    # -- sweeps

    def small(self, to="small", shapes=1, elements=5001, items=(1, 2, 4), **measure):
        """vector_add with 3 configurations for each of ITEMS.

        One measurement of 100,000 elements takes 0.2 s, one build 0.2 s.
        """
        folder = self.kernel("vector_add", to=to)
        sweep = sweepfile.read(folder)
        sweep["tunables"] = {"BLOCK_SIZE": [64, 128, 256], "ITEMS": list(items), "VECTOR": [False]}
        sweep["emulation_shapes"] = [{"name": f"n{n}", "N": elements + n} for n in range(shapes)]
        sweep["measure"]["samples"]["most"] = 5  # emulated times are so noisy that all are taken
        sweep["measure"].update(measure)
        sweepfile.write(folder, sweep)
        return folder

    def sweep(self, folder, *lines, within=WITHIN_S, args=()):
        """Start a sweep that must end within so many seconds."""
        self._start(folder, within, "sweep", "--device", "cpu", "--hosts", self.hosts(*lines), *args)

    def resume(self, within=WITHIN_S):
        self._start(self.folder_of_sweep, within, "resume")

    def _start(self, folder, within, *args):
        self.end_coordinator()
        self.folder_of_sweep = folder
        self.began = time.monotonic()
        self.within = within * rig.PATIENCE
        self.coord = self.start(folder, *args)

    def end_coordinator(self):
        """kill -9 the coordinator if it runs."""
        if self.coord:
            self.coord.kill()
            self.coord.wait()

    def stop(self):
        """End it at once, by two signals: workers are told, too."""
        self.coord.send_signal(signal.SIGTERM)
        rig.until("it has noticed", lambda: "stopping" in self.stderr())
        self.coord.send_signal(signal.SIGTERM)
        self.coord.wait(60)

    def until(self, what, check):
        """Poll until the condition holds; fail if the sweep ends first or its time is up."""
        while not check():
            self.assertIsNone(self.coord.poll(), f"it ended before: {what}\n{self.stderr()}")
            if time.monotonic() > self.began + self.within:
                self.fail(f"not within {self.within} s: {what}; its last line: {self.last_line()}")
            time.sleep(0.01)

    def until_settled(self, n):
        self.until(f"{n} results", lambda: self.settled(self.folder_of_sweep) >= n)

    def until_stuck(self):
        """Wait until there are leases and no result has come for a second.  A measurement takes far less."""
        seen, since = -1, 0.0
        while seen != self.settled(self.folder_of_sweep) or time.monotonic() < since + 1:
            if seen != self.settled(self.folder_of_sweep):
                seen, since = self.settled(self.folder_of_sweep), time.monotonic()
            self.assertIsNone(self.coord.poll(), self.stderr())
            time.sleep(0.02)
        self.assertGreater(self.count("lease", "ended_utc IS NULL AND stage = 'measure'"), 0)

    def finish(self, code=0):
        """Wait for its end, which must come in time. Code 0 means that every configuration is correct."""
        while self.coord.poll() is None:
            if time.monotonic() > self.began + self.within:
                self.fail(f"no end within {self.within} s; its last line: {self.last_line()}")
            time.sleep(0.02)
        rig.figure("the sweep", time.monotonic() - self.began, "s")
        self.assertEqual(self.coord.returncode, code, self.stderr())
        if code != 0:
            return
        self.assert_all_correct(self.report(self.folder_of_sweep))
        self.assert_invariants(self.folder_of_sweep)

    def last_line(self):
        return self.stderr().replace("\r", "\n").strip().rpartition("\n")[2]

    def count(self, table, where, *args):
        """Rows; 0 while there is no database yet."""
        try:
            return self.query(self.folder_of_sweep, f"SELECT count(*) FROM {table} WHERE {where}", *args)[0][0]
        except (ValueError, sqlite3.Error):
            return 0

    def leases(self, name, stage):
        """How many leases a host holds."""
        return self.count("lease", "ended_utc IS NULL AND host = ? AND stage = ?", self.address(name), stage)

    def until_it_builds_ahead(self, shapes):
        """Wait until there are artifacts that the GPU's host, with its 4 leases, has not asked for."""
        self.until("builds ahead of measurements", lambda: self.count("build", "purpose = 'kernel'") >=
                   self.settled(self.folder_of_sweep) / shapes + 4 / shapes + 2)


def send(pid, number):
    try:
        os.kill(pid, number)
    except ProcessLookupError:
        pass


def working_folder(pid):
    try:
        return os.readlink(f"/proc/{pid}/cwd") + "/"
    except OSError:
        return ""


class Proxy:
    """Carries connections to an sshd.

    Frozen ones stay open and carry nothing; new ones work.  'cuts' are numbers of bytes to the sshd: a connection
    that has carried the first of them ends after a call of 'before_cut' with it, and the next one meets the next.
    """

    def __init__(self, port):
        self.to = port
        self.open = []
        self.frozen = set()
        self.far = set()  # the ends at the sshd
        self.cuts = []
        self.before_cut = lambda cut: None
        self.carried = 0  # bytes to the sshd
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.accepted = 0
        threading.Thread(target=self._accept, daemon=True).start()

    def freeze(self):
        self.frozen |= set(self.open)

    def close(self):
        self.listener.close()
        for end in self.open:
            end.close()

    def _accept(self):
        while True:
            try:
                near, _ = self.listener.accept()
                far = socket.create_connection(("127.0.0.1", self.to))
            except OSError:
                return
            self.accepted += 1
            self.open += [near, far]
            self.far.add(far)
            for ends in (near, far), (far, near):
                threading.Thread(target=self._carry, args=ends, daemon=True).start()

    def _carry(self, source, sink):
        carried = 0
        try:
            while data := source.recv(16384):
                if source in self.frozen:
                    return
                sink.sendall(data)
                carried += len(data)
                if sink in self.far:
                    self.carried += len(data)
                    if self.cuts and carried >= self.cuts[0]:
                        self.before_cut(self.cuts.pop(0))
                        for end in source, sink:
                            end.shutdown(socket.SHUT_RDWR)
                        return
            if source not in self.frozen:
                sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass
