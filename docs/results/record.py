#!/usr/bin/env python3
"""Make the same sweep several times on this machine, measure its winners again, and write how far they can be trusted.

    docs/results/record.py SWEEP.json --fa-coord build/release/bin/fa-coord --out record
    docs/results/record.py --out record --fa-coord ... -- --device replay=FILE --speed-up 1000

Each sweep has a fresh database, OUT/run_N.db. What is there is kept: killed, or out of time, the same command goes on. After
each step OUT/record.json and OUT/record.md are written anew. What to keep are these, OUT/steps.json, OUT/remeasured.json and
OUT/run_*.db.gz: from them the same command makes the figures again, without a GPU. Exit code 0: all done, 1: not all, the same command goes on, 2: wrong arguments. Python's
standard library is all it needs. What follows '--' goes to 'fa-coord sweep'.
"""
import argparse
import contextlib
import datetime
import gzip
import json
import os
import platform
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, HERE)

import record_figures as figures  # noqa: E402
import record_page  # noqa: E402
from record_pack import pack  # noqa: E402

STEPS, BENCH = "steps.json", "remeasured.json"
NAMED_MOST = 60  # --config of one fa-coord bench, which takes 64
SAY_EVERY_S = 15
END_S = 25  # from the interrupt to the end of a coordinator, which waits for what is being measured
ENOUGH_S = 20  # to begin another step with
GPU_FACTS = ("name", "uuid", "driver_version", "memory.total", "clocks.max.sm", "clocks.max.mem", "clocks.sm",
             "power.limit", "temperature.gpu")


class Stopped(Exception):
    """By a signal."""


def say(text):
    print(f"record: {text}", flush=True)


def read_json(path, otherwise):
    if not os.path.exists(path):
        return otherwise
    with open(path, encoding="utf-8") as file:
        return json.load(file)


def write_json(path, data):
    """Whole or not at all."""
    with open(path + ".new", "w", encoding="utf-8") as file:
        json.dump(data, file, indent=1, sort_keys=True)
        file.write("\n")
    os.replace(path + ".new", path)


# ---- this machine

def ask(*command):
    try:
        return subprocess.run(command, capture_output=True, text=True, check=True, timeout=30).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def gpu_facts():
    """Of the first GPU, None without one."""
    row = ask("nvidia-smi", f"--query-gpu={','.join(GPU_FACTS)}", "--format=csv,noheader").splitlines()
    return dict(zip(GPU_FACTS, row[0].split(", "))) if row else None


def nvcc_build():
    """As 'nvcc --version' calls itself; '' without one."""
    nvcc = shutil.which("nvcc") or os.path.join(os.environ.get("CUDA_HOME", "/usr/local/cuda"), "bin", "nvcc")
    return (ask(nvcc, "--version").splitlines() or [""])[-1]


def environment(settings):
    return {"when": datetime.datetime.now(datetime.timezone.utc).isoformat(), "gpu": gpu_facts(), "nvcc": nvcc_build(),
            "cores": len(os.sched_getaffinity(0)), "kernel": platform.release(), "python": platform.python_version(),
            "fa_coord": ask(settings.fa_coord, "--version"),
            "command": " ".join(sweep_command(settings, "run_N.db", "fa-coord"))}


# ---- children

def last_line(path):
    with open(path, "rb") as file:
        file.seek(max(0, os.path.getsize(path) - 400))
        return (file.read().decode(errors="replace").splitlines() or [""])[-1].strip()


def end(child):
    """As Ctrl-C would; one that does not hear it is killed."""
    if child.poll() is None:
        child.send_signal(signal.SIGINT)
        try:
            child.wait(END_S)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()


def run_child(command, out, err, seconds, still):
    """Run one for so long at most, calling still(seconds) now and then; returns exit code, seconds, how it ended."""
    began, ended = time.monotonic(), "by itself"
    with open(out, "wb") as to, open(err, "ab") as errors:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=to, stderr=errors)
    try:
        while child.poll() is None:
            left = seconds - (time.monotonic() - began)
            if left <= 0:
                ended = "out of time"
                break
            try:
                child.wait(min(left, SAY_EVERY_S))
            except subprocess.TimeoutExpired:
                still(time.monotonic() - began)
    finally:
        end(child)
    return child.returncode, time.monotonic() - began, ended


class Steps:
    """What was run, kept on disk so that it survives this program."""

    def __init__(self, folder, deadline):
        self.folder, self.deadline = folder, deadline
        self.all = read_json(self.path(STEPS), [])

    def path(self, name):
        return os.path.join(self.folder, name)

    def left(self):
        return self.deadline - time.monotonic()

    def of(self, name):
        return [step for step in self.all if step["name"] == name]

    def done(self, name):
        return any(step["exit"] == 0 for step in self.of(name))

    def run(self, name, command, seconds, out=None):
        """True when it came to its end."""
        limit = min(seconds, self.left() - END_S)
        if limit < ENOUGH_S:
            say(f"{name}: no time left")
            return False
        say(f"{name}: {limit:.0f} s at most")
        shown = ["fa-coord", *(part.replace(self.folder + "/", "") for part in command[1:])]  # without paths of this machine
        step, err, began = {"name": name, "command": " ".join(shown)}, self.path(f"{name}.err"), time.monotonic()
        self.all.append(step)
        self.note(step, None, 0, "killed")  # as it stays when this program is

        def still(took):
            self.note(step, None, took, "killed")
            say(f"{name}: {took:.0f} s: {last_line(err)}")

        try:
            code, took, ended = run_child(command, out or self.path(f"{name}.out"), err, limit, still)
        except Stopped:
            self.note(step, None, time.monotonic() - began, "stopped")
            raise
        self.note(step, code, took, ended)
        say(f"{name}: exit {code} after {took:.0f} s, ended {ended}")
        return code == 0

    def note(self, step, code, took, ended):
        step.update(exit=code, seconds=round(took, 3), ended=ended)
        write_json(self.path(STEPS), self.all)


# ---- what is run

def config_text(config):
    return " ".join(f"{name}={value}" for name, value in config.items())


def sweep_command(settings, db, program=None):
    return [program or settings.fa_coord, "sweep", *([settings.sweep] if settings.sweep else []),
            *(["--hosts", settings.hosts] if settings.hosts else []), "--db", db, *settings.more]


def names(settings):
    return [f"run_{i + 1}" for i in range(settings.runs)]


def report_of(settings, path):
    ran = subprocess.run([settings.fa_coord, "report", path, "--json"], capture_output=True, text=True, check=True, timeout=300)
    return json.loads(ran.stdout)


@contextlib.contextmanager
def database(path):
    """The path of a database, or of a copy where only the packed one was kept."""
    if os.path.exists(path):
        yield path
        return
    with tempfile.TemporaryDirectory(prefix="fa-record-") as folder:
        copy = os.path.join(folder, os.path.basename(path))
        with gzip.open(path + ".gz") as packed, open(copy, "wb") as plain:
            shutil.copyfileobj(packed, plain)
        yield copy


class Record:
    """All that is known so far."""

    def __init__(self, settings, steps):
        self.settings, self.steps = settings, steps
        self.old = read_json(steps.path(record_page.DATA), None)
        self.environment = self.old["environment"] if self.old else environment(settings)
        self.runs, self.times, self.configs, self.baseline, self.name = [], [], {}, None, ""

    def costs(self, name):
        """Where only the packed database was kept, what was known when the others were there."""
        db, fuzz = self.steps.path(f"{name}.db"), self.steps.path(f"{name}.fuzz.db")
        if os.path.exists(db):
            return figures.costs(db, fuzz)
        return next(run["costs"] for run in self.old["runs"] if run["name"] == name)

    def take(self, name):
        """A sweep that is done."""
        with database(self.steps.path(f"{name}.db")) as db:
            report, steps = report_of(self.settings, db), self.steps.of(name)
        run = {"name": name, "wall_s": sum(step["seconds"] for step in steps), "parts": len(steps),
               "shapes": figures.facts(report), "costs": self.costs(name), "state": report["verdict"]["state"],
               "configurations": report["configurations"], "passed": report["passed"], "counts": report["counts"],
               "possible": report["verdict"]["possible"]}
        run["busy"] = figures.busy(run)
        self.runs.append(run)
        self.times.append(figures.times(report))
        self.name = report["name"]
        self.configs.update({result["key"]: config_text(result["config"]) for result in report["results"]})
        self.baseline = next((result["key"] for result in report["results"] if result["baseline"]), None)

    def remeasurement(self):
        """What the bench says, once it is done; the shapes are empty before."""
        bench = read_json(self.steps.path(BENCH), None)
        if not bench:
            return {"shapes": {}}
        keys = [configuration["key"] for configuration in bench["configurations"]]
        with database(self.steps.path("run_1.db")) as db:
            blocks = figures.blocks(db, bench["pass"], [shape["shape"] for shape in bench["shapes"]], keys)
        return {"shapes": figures.remeasured(bench, blocks), "blocks": bench["blocks"],
                "samples_a_block": bench["samples_a_block"], "configurations": len(keys) - 1,
                "rejected": bench["rejected"], "left_out": figures.candidates(self.runs, self.baseline, NAMED_MOST)[1],
                "wall_s": self.steps.of("remeasure")[-1]["seconds"]}

    def write(self):
        again = self.remeasurement()
        found = figures.figures(self.runs, self.times, again["shapes"])
        used = {key for run in self.runs for shape in run["shapes"].values()
                for key in [*shape["winners"].values(), *shape["one_sample_each"], *shape["finalists"]] if key}
        used |= {key for shape in again["shapes"].values() for key in shape["times"]} | {self.baseline}
        data = {"name": self.name, "environment": self.environment, "runs": self.runs, "baseline": self.baseline,
                "configurations": {key: self.configs[key] for key in used if key in self.configs},
                "remeasured": again, "figures": found}
        write_json(self.steps.path(record_page.DATA), data)
        record_page.write(self.steps.folder)


def remeasure(settings, steps, record):
    """All who won, in the first sweep's database; again when a later sweep has other winners."""
    keys, left_out = figures.candidates(record.runs, record.baseline, NAMED_MOST)
    keys = [key for key in keys if all(key in seconds for seconds in record.times[0].values())]
    if figures.covers(read_json(steps.path(BENCH), None), keys):
        return True
    say(f"remeasure: {len(keys)} configurations, {left_out} more finalists left out")
    out = steps.path(f"{BENCH}.new")
    command = [settings.fa_coord, "bench", steps.path("run_1.db"), "--shape", "all", "--json",
               *(["--hosts", settings.hosts] if settings.hosts else []), *(part for key in keys for part in ("--config", key))]
    if not steps.run("remeasure", command, settings.seconds, out):
        return False
    os.replace(out, steps.path(BENCH))
    pack(steps.path("run_1.db"))
    return True


def make(settings, steps):
    """Step by step, with what is known written after each; True when all is done."""
    record = Record(settings, steps)
    for name in names(settings):
        kept = settings.remeasure_seconds if record.runs and not os.path.exists(steps.path(BENCH)) else 0
        left = min(settings.sweep_seconds, steps.left() - kept)
        if not steps.done(name) and not steps.run(name, sweep_command(settings, steps.path(f"{name}.db")), left):
            break
        record.take(name)
        record.write()
        if not os.path.exists(steps.path(f"{name}.db.gz")):
            pack(steps.path(f"{name}.db"))
    if not record.runs:
        return False
    again = remeasure(settings, steps, record)
    record.write()
    return again and len(record.runs) == settings.runs


# ---- arguments

def at_least(least):
    def read(text):
        value = int(text)
        if value < least:
            raise argparse.ArgumentTypeError(f"{value}: at least {least}")
        return value
    return read


def read_arguments(arguments):
    cut = arguments.index("--") if "--" in arguments else len(arguments)
    parser = argparse.ArgumentParser(prog="record.py", description=__doc__.split("\n\n", 1)[0])
    parser.add_argument("sweep", nargs="?", help="the sweep file")
    parser.add_argument("--fa-coord", required=True, help="the program, with fa-worker beside it")
    parser.add_argument("--out", required=True, help="the folder to write to")
    parser.add_argument("--hosts", help="a hosts file; without it, this machine")
    parser.add_argument("--runs", type=at_least(1), default=3, help="sweeps (3)")
    parser.add_argument("--seconds", type=at_least(1), default=570, help="for all that is done now (570)")
    parser.add_argument("--sweep-seconds", type=at_least(1), default=540, help="for one sweep (540)")
    parser.add_argument("--remeasure-seconds", type=at_least(0), default=60,
                        help="of them kept for the first re-measurement once there is a sweep (60)")
    settings = parser.parse_args(arguments[:cut])
    settings.more = arguments[cut + 1:]
    if not os.access(settings.fa_coord, os.X_OK):
        parser.error(f"--fa-coord {settings.fa_coord}: there is no such program")
    settings.fa_coord = os.path.abspath(settings.fa_coord)
    settings.out = os.path.abspath(settings.out)
    return settings


def stop(number, _frame):
    raise Stopped(signal.Signals(number).name)


def main(arguments):
    settings = read_arguments(arguments)
    deadline = time.monotonic() + settings.seconds
    os.makedirs(settings.out, exist_ok=True)
    for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(number, stop)
    try:
        done = make(settings, Steps(settings.out, deadline))
    except Stopped as signal_name:
        say(f"stopped by {signal_name}")
        done = False
    say(f"all done: {settings.out}/{record_page.PAGE}" if done else "not all is done; to go on, the same command again")
    return 0 if done else 1


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
