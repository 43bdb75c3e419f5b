"""What end-to-end tests share: folders, real programs, a real sshd.

Every test gets a fresh folder with its own HOME, so that workers, caches and
known_hosts of one test are never another's.  Waiting is polling with a
deadline; only processes that a test started are ended, by pid.
"""

import fcntl
import glob
import json
import os
import re
import shutil
import signal
import sqlite3
import subprocess
import tempfile
import time
import unittest

import sweepfile

SOURCE = os.environ["FA_SOURCE_DIR"]
BIN = os.environ["FA_BIN_DIR"]
RUNNERS = os.path.join(os.path.dirname(BIN), "e2e-runners")  # laid out as a worker's cache
NVCC = os.environ.get("FA_NVCC")  # empty where no test may call it
KERNELS = os.path.join(SOURCE, "kernels")
FIXTURES = os.path.join(SOURCE, "tests", "fixtures")
PATIENCE = float(os.environ.get("FA_PATIENCE") or 1)  # more where the machine is slow: all deadlines are as much longer
STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ "  # begins a line of a sweep that has no terminal


def until(what, check, seconds=120.0):
    """Poll 'check' until it is true, and return what it returned."""
    seconds *= PATIENCE
    deadline = time.monotonic() + seconds
    while True:
        value = check()
        if value:
            return value
        if time.monotonic() > deadline:
            raise AssertionError(f"not within {seconds} s: {what}")
        time.sleep(0.04)


def figure(name, value, unit):
    """How near a test came to its limit; the worst one is a figure of docs/reliability.md (tests/fault/figures.py)."""
    print(f"\nfigure: {name}: {value:.3g} {unit}", flush=True)  # unittest's line may not be at its end


class Program(subprocess.Popen):
    def wait(self, timeout=None):
        return super().wait(timeout and timeout * PATIENCE)


def parent(pid):
    try:
        with open(f"/proc/{pid}/stat") as f:
            return int(f.read().rsplit(")", 1)[1].split()[1])
    except OSError:
        return -1


def find_sshd():
    return shutil.which("sshd", path=os.environ.get("PATH", "") + ":/usr/sbin:/sbin")


class Sshd:
    """A real sshd on loopback: own keys, own port, own folder."""

    def __init__(self, folder, env, options=(), path_too=False):
        self.folder = folder
        self.path_too = path_too  # its logins have the PATH of 'env'
        os.makedirs(folder, mode=0o700, exist_ok=True)
        for name in ("host", "user"):
            if not os.path.exists(self.path(name)):
                subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", self.path(name)], check=True)
        shutil.copy(self.path("user.pub"), self.path("authorized_keys"))
        if os.geteuid() == 0:
            os.makedirs("/run/sshd", exist_ok=True)
        self.port = self._start(env, options)

    def path(self, name):
        return os.path.join(self.folder, name)

    def _start(self, env, options):
        import socket
        for _ in range(20):
            with socket.socket() as probe:
                probe.bind(("127.0.0.1", 0))
                port = probe.getsockname()[1]
            config = [
                f"Port {port}", "ListenAddress 127.0.0.1", f"HostKey {self.path('host')}",
                f"AuthorizedKeysFile {self.path('authorized_keys')}", "UsePAM no", "StrictModes no",
                "PasswordAuthentication no", "PermitRootLogin yes", "PidFile none",
                "MaxStartups 100", "Subsystem sftp internal-sftp",
                f"SetEnv HOME={env['HOME']}" + (f" PATH={env['PATH']}" if self.path_too else ""), *options]
            with open(self.path("sshd_config"), "w") as f:
                f.write("\n".join(config) + "\n")
            with open(self.path("sshd.log"), "ab") as log:
                self.process = subprocess.Popen(
                    [find_sshd(), "-D", "-e", "-f", self.path("sshd_config")],
                    stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=log, env=env)
            deadline = time.monotonic() + 10 * PATIENCE
            while time.monotonic() < deadline and self.process.poll() is None:
                with socket.socket() as probe:
                    if probe.connect_ex(("127.0.0.1", port)) == 0:
                        return port
                time.sleep(0.02)
            self.stop()
        raise AssertionError("sshd does not start: " + self.said())

    def fingerprint(self):
        out = subprocess.run(["ssh-keygen", "-lf", self.path("host.pub")], capture_output=True, text=True, check=True)
        return out.stdout.split()[1]

    def line(self, attributes=""):
        """A line of hosts.txt that reaches it."""
        import getpass
        return (f"{getpass.getuser()}@127.0.0.1:{self.port} key={self.path('user')} "
                f"hostkey={self.fingerprint()} {attributes}")

    def said(self):
        with open(self.path("sshd.log"), errors="replace") as log:
            return log.read()

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
            try:
                self.process.wait(10)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()


class Rig(unittest.TestCase):
    """One test: a folder, an environment, and a check that no process is left."""

    maxDiff = None
    bin = BIN

    def setUp(self):
        # Short: a worker's sockets must fit the 107 bytes of a socket's path.
        self.folder = tempfile.mkdtemp(prefix="fa-e2e-", dir="/tmp")
        self.env = {
            "HOME": os.path.join(self.folder, "home"),
            "PATH": os.environ["PATH"], "LANG": "C",
            "COLUMNS": "1000",  # so that a test finds a line whole
            "XDG_RUNTIME_DIR": os.path.join(self.folder, "run"),
            "FA_E2E": self.folder,
        }
        for name in ("CUDA_HOME", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS"):
            if name in os.environ:
                self.env[name] = os.environ[name]
        os.makedirs(self.env["HOME"], mode=0o700)
        os.makedirs(self.env["XDG_RUNTIME_DIR"], mode=0o700)
        self.sshds = []
        self.workdir = os.path.join(self.env["HOME"], ".cache", "fa-coord")
        self.build_runner()
        self.with_runner(self.workdir)

    def build_runner(self):
        """Build the cpu device's runner if no test has; tests that begin together wait for one of them."""
        with open(f"{RUNNERS}.lock", "w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            if os.path.isdir(RUNNERS):
                return
            folder = self.few(BLOCK_SIZE=[256], ITEMS=[1])
            self.run_coord(folder, "sweep", "--device", "cpu", code=None)
            self.end_workers()
            self.keep_runners()
            for path in folder, self.workdir:
                shutil.rmtree(path, ignore_errors=True)

    def with_runner(self, workdir):
        """A work folder that does not exist yet, with the runners that are there already."""
        if os.path.isdir(RUNNERS):
            shutil.copytree(RUNNERS, workdir)
        return workdir

    def tearDown(self):
        for sshd in self.sshds:
            sshd.stop()
        left = self.end_workers()
        if self.env["PATH"] == os.environ["PATH"]:
            self.keep_runners()
        shutil.rmtree(self.folder, ignore_errors=True)
        self.assertEqual(left, [], "processes that outlived the test's deadline")

    def keep_runners(self):
        """Keep the runner that this test built for the next one: building it takes seconds."""
        for path in glob.glob(os.path.join(self.workdir, "builds", "*")):
            with open(path) as f:
                hash = re.search(r"(?m)^artifact (\w+)$", f.read())
            artifact = os.path.join(self.workdir, "artifacts", hash[1]) if hash else ""
            if not os.path.exists(artifact):
                continue
            with open(artifact, "rb") as f:
                head = f.read(4096)
            if b"/ld-linux" not in head and not head.startswith(b"gpch"):  # neither program nor compiled header
                continue
            for source in artifact, path:  # the build last: without its artifact it is nothing
                to = source.replace(self.workdir, RUNNERS)
                if not os.path.exists(to):
                    os.makedirs(os.path.dirname(to), mode=0o700, exist_ok=True)
                    copy = f"{RUNNERS}.{os.getpid()}"
                    shutil.copy2(source, copy)
                    os.rename(copy, to)

    # -- processes

    def processes(self):
        """(pid, command line) of all processes of this test that still run."""
        found = []
        for pid in filter(str.isdigit, os.listdir("/proc")):
            try:
                with open(f"/proc/{pid}/environ", "rb") as f:
                    mine = f"FA_E2E={self.folder}".encode() in f.read().split(b"\0")
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    command = f.read().replace(b"\0", b" ").decode(errors="replace")
                cwd = os.readlink(f"/proc/{pid}/cwd")
            except OSError:
                continue
            if not command or int(pid) == os.getpid():
                continue
            # What sshd starts has a fresh environment: it is known by its folder.
            if mine or self.folder in command or cwd.startswith(self.folder):
                if "sshd" not in command.split(" ")[0]:
                    found.append((int(pid), command))
        return found

    def workers(self):
        """Workers, without the keepers that each of them forks for its children."""
        like = [p for p in self.processes() if p[1].startswith("fa-worker --started")]
        return [p for p in like if parent(p[0]) not in [pid for pid, _ in like]]

    def end_workers(self):
        """SIGTERM the workers; kill and report those that still run after 10 s."""
        for pid, _ in self.workers():
            try:
                os.kill(pid, signal.SIGTERM)
            except ProcessLookupError:
                pass
        try:
            until("all processes ended", lambda: not self.processes(), 10)
            return []
        except AssertionError:
            left = self.processes()
            for pid, _ in left:
                try:
                    os.kill(pid, signal.SIGKILL)
                except ProcessLookupError:
                    pass
            return [command for _, command in left]

    # -- files

    def path(self, *names):
        return os.path.join(self.folder, *names)

    def kernel(self, name, to=None, confirm=False):
        """A private copy of kernels/NAME; returns its folder.  Its sweep ends with the ranking, unless 'confirm'."""
        return self._copy(os.path.join(KERNELS, name), self.path(to or name), confirm)

    def few(self, to=None, confirm=False, **tunables):
        """vector_add with 4 configurations, or these values: for what does not depend on how many there are."""
        folder = self.kernel("vector_add", to=to, confirm=confirm)
        sweep = sweepfile.read(folder)
        sweep["tunables"] = {"BLOCK_SIZE": [64, 256], "ITEMS": [1, 2], "VECTOR": [False], **tunables}
        sweep["measure"]["samples"]["most"] = 5  # emulated times are so noisy that all are taken
        sweepfile.write(folder, sweep)
        return folder

    def fixture(self, name, confirm=False):
        return self._copy(os.path.join(FIXTURES, name), self.path(name), confirm)

    def _copy(self, source, to, confirm):
        shutil.copytree(source, to)
        path = os.path.join(to, "sweep.json")
        if confirm or not os.path.exists(path):
            return to
        with open(path) as f:
            text = f.read()
        text, there = re.subn(r'"confirm": \{[^}]*\}', '"confirm": false', text)
        if not there:
            text = re.sub(r"^\{", '{ "confirm": false,', text, count=1, flags=re.M)
        with open(path, "w") as f:
            f.write(text)
        return to

    def hosts(self, *lines):
        with open(self.path("hosts.txt"), "w") as f:
            f.write("\n".join(lines) + "\n")
        return self.path("hosts.txt")

    def sshd(self, options=(), name="sshd", path_too=False):
        sshd = Sshd(self.path(name), self.env, options, path_too)
        self.sshds.append(sshd)
        return sshd

    # -- fa-coord

    def start(self, folder, *args):
        with open(self.path("stdout"), "wb") as out, open(self.path("stderr"), "wb") as err:
            return Program([os.path.join(self.bin, "fa-coord"), *args], cwd=folder, env=self.env,
                           stdin=subprocess.DEVNULL, stdout=out, stderr=err)

    def run_coord(self, folder, *args, code=0, seconds=240):
        result = subprocess.run([os.path.join(self.bin, "fa-coord"), *args], cwd=folder, env=self.env,
                                stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=seconds * PATIENCE)
        if code is not None:
            self.assertEqual(result.returncode, code, result.stdout + result.stderr)
        return result

    def report(self, folder, *args):
        return json.loads(self.run_coord(folder, "report", "--json", *args).stdout)

    def assert_all_correct(self, report):
        """Every configuration that passed the gates is measured and right."""
        wrong = {k: n for k, n in report["counts"].items() if n and k not in ("correct", "constraints")}
        self.assertEqual(wrong, {})
        self.assertEqual(report["counts"]["correct"], len(report["results"]))

    def stderr(self):
        with open(self.path("stderr"), errors="replace") as f:
            return f.read()

    # -- the database

    def database(self, folder):
        """The database of the sweep, or that of fuzz if there is no other."""
        names = [n for n in os.listdir(folder) if n.endswith(".db")]
        [name] = [n for n in names if not n.endswith(".fuzz.db")] or names
        return name

    def query(self, folder, sql, *args):
        name = self.database(folder)
        db = sqlite3.connect(f"file:{os.path.join(folder, name)}?mode=ro", uri=True, timeout=10)
        try:
            return db.execute(sql, args).fetchall()
        finally:
            db.close()

    def settled(self, folder):
        """How many outcomes there are; 0 while there is no database yet."""
        try:
            return self.query(folder, "SELECT count(*) FROM outcome")[0][0]
        except (ValueError, sqlite3.Error):
            return 0

    def final_table(self, folder):
        """The part of the result that must not depend on how often a sweep was interrupted."""
        return self.query(folder, "SELECT config, shape, outcome FROM outcome ORDER BY 1, 2")

    def assert_invariants(self, folder):
        twice = self.query(folder, """
            SELECT config, shape, count(*) FROM result WHERE counted = 1
            GROUP BY config, shape, purpose, round, source_key, measure_key HAVING count(*) > 1""")
        self.assertEqual(twice, [], "I2: counted twice")
        unsettled = self.query(folder, """
            SELECT r.config, r.shape FROM result r WHERE r.counted = 1 AND NOT EXISTS
            (SELECT 1 FROM outcome o WHERE o.config = r.config AND o.shape = r.shape)""")
        self.assertEqual(unsettled, [], "I3: a counted result without an outcome")
        overlap = self.query(folder, """
            SELECT a.host, a.start_ns, b.start_ns FROM interval a JOIN interval b
            ON a.host = b.host AND a.epoch = b.epoch AND a.start_ns < b.start_ns
            AND a.end_ns > b.start_ns""")
        self.assertEqual(overlap, [], "I5: intervals overlap")
        self.run_coord(folder, "verify", self.database(folder))
