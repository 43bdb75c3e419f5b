"""A copy of the tree with builds of its own, in which mutants are made and run."""
import hashlib
import json
import os
import resource
import shlex
import shutil
import signal
import subprocess
import sys
import time

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "simulation"))
from mutants import Builder  # noqa: E402

PRESETS = ["dev", "asan"]
NO_LEAKS = {"ASAN_OPTIONS": "detect_leaks=0"}
FILE_BYTES = 3 << 30  # a mutant may write without end; a test has a hole of 2 GiB
MEMORY_BYTES = 4 << 30  # ... and allocate; of a sanitized program, the resident part


class Unsound(Exception):
    """Nothing can be said of mutants: why."""


class Run:
    """One run of a program: how it ended, and after how long."""

    def __init__(self, words, folder, limit_s, preset, environment=None):
        start = time.monotonic()
        if preset == "dev":
            words = ["prlimit", f"--as={MEMORY_BYTES}", "--"] + words
        options = (environment or {}).get("ASAN_OPTIONS", "detect_leaks=1")
        env = dict(os.environ, ASAN_OPTIONS=f"{options}:hard_rss_limit_mb={MEMORY_BYTES >> 20}")
        with subprocess.Popen(words, cwd=folder, env=env, stdin=subprocess.DEVNULL,
                              stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                              start_new_session=True) as child:
            try:
                self.status = child.wait(limit_s)
            except subprocess.TimeoutExpired:
                self.status = None
            try:
                os.killpg(child.pid, signal.SIGKILL)  # with all that it started
            except ProcessLookupError:
                pass
        self.seconds = time.monotonic() - start

    def failed(self):
        return self.status != 0


class Workshop:
    """FOLDER/tree is the copy; FOLDER/tree/build/PRESET are its builds."""

    def __init__(self, source, folder):
        self.source, self.folder = source, folder
        self.tree = os.path.join(folder, "tree")
        self.builders, self.symbols, self.tests = {}, {}, {}
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_FSIZE, (FILE_BYTES, FILE_BYTES))

    def copy(self):
        """Bring the copy up to date; returns a hash of all that it holds."""
        names = self._output(["git", "ls-files", "-co", "--exclude-standard"], self.source).splitlines()
        names = sorted(name for name in set(names) if os.path.isfile(os.path.join(self.source, name)))
        listed = hashlib.sha256()
        for name in names:
            old, new = os.path.join(self.source, name), os.path.join(self.tree, name)
            with open(old, "rb") as file:
                content = file.read()
            listed.update(name.encode() + b"\0" + hashlib.sha256(content).digest())
            if not os.path.exists(new) or open(new, "rb").read() != content:
                os.makedirs(os.path.dirname(new), exist_ok=True)
                shutil.copy(old, new)
        kept = {os.path.join(self.tree, name) for name in names}
        for folder, folders, files in os.walk(self.tree):
            if folder == self.tree and "build" in folders:
                folders.remove("build")
            for name in files:
                if os.path.join(folder, name) not in kept:
                    os.remove(os.path.join(folder, name))
        return listed.hexdigest()[:16]

    def build(self, folders, jobs):
        """Build the unit tests of these folders of tests/, and the simulation."""
        for preset in PRESETS:
            build = self.path(preset)
            self._output(["cmake", "--preset", preset, "-DFA_JOIN=OFF"], self.tree)
            names = self._unit_tests(build, folders)
            # ctest says the command of a test only when its program is there
            self._output(["cmake", "--build", build, "-j", str(jobs), "--target", "simulate"]
                         + ["test_" + name.replace(".", "_") for name in names], self.tree)
            self.tests[preset] = self._unit_tests(build, folders)
            shutil.rmtree(os.path.join(self.folder, "jobs"), ignore_errors=True)

    def path(self, preset):
        return os.path.join(self.tree, "build", preset)

    def _unit_tests(self, build, folders):
        """{name: command} of those of these folders, such as coordinator.link."""
        listing = json.loads(self._output(["ctest", "--test-dir", build, "--show-only=json-v1"], self.tree))
        found = {}
        for test in listing["tests"]:
            labels = next((p["value"] for p in test["properties"] if p["name"] == "LABELS"), [])
            if test["name"].rpartition(".")[0] in folders and "unit" in labels:
                found[test["name"]] = test.get("command")
        return found

    def job_folder(self, job, preset, program=""):
        folder = os.path.join(self.folder, "jobs", str(job), preset, program)
        os.makedirs(folder, exist_ok=True)
        return folder

    def builder(self, preset, program):
        key = preset, program
        if key not in self.builders:
            self.builders[key] = Builder(self.tree, self.path(preset), program, self.job_folder(0, preset))
        return self.builders[key]

    def names_in(self, file):
        """The functions and variables with external linkage that a program or object defines."""
        if file not in self.symbols:
            lines = self._output(["nm", "--defined-only", "--extern-only", file], self.tree).splitlines()
            self.symbols[file] = {line.split()[-1] for line in lines if line.split()[-2] in "TDBR"}
        return self.symbols[file]

    def holds(self, preset, program, path):
        """Is this source file a part of this program?"""
        entry = self.builder(preset, "simulate").commands[os.path.join(self.tree, path)]
        words = shlex.split(entry["command"])
        compiled = os.path.join(entry["directory"], words[words.index("-o") + 1])
        return self.names_in(compiled) & self.names_in(program)

    @staticmethod
    def _output(words, folder):
        done = subprocess.run(words, cwd=folder, capture_output=True, text=True, check=False)
        if done.returncode:
            raise Unsound(f"{' '.join(words[:4])}: {(done.stdout + done.stderr)[-2000:]}")
        return done.stdout
