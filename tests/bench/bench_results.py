#!/usr/bin/env python3
"""What a durable result costs the coordinator: a real sweep over local sshds, of a recorded space.

    tests/bench/bench_results.py build/dev/bin [--hosts 4] [--few 500] [--many 5000] [--against BIN]

The workers are stand-ins over the real relay, link and messages.  They answer a BUILD at once and a MEASURE after
--measure-us, with 10 samples.
With --real they are real ones, which replay the record with --speed-up: the machine's two cores then end at some 140
results a second, and each of them wakes the coordinator.

Every configuration is one build and one measurement, so two durable results.  A sweep of few and one of many
configurations take turns; the figures are the differences of the two, so that logins and uploads do not count:

  cpu_us        CPU of all threads of fa-coord, a durable result (rusage, so the load of the machine matters little)
  reactor_us    the share of the reactor's thread
  waits         how often a thread of fa-coord went to sleep
  turns         turns of the reactor's loop
  written_bytes what was written to files and sockets, /proc/PID/io
  peak_mib      of the larger sweep, whole
  busy          the share of the time in which a GPU measured

With --round-trip-ms, the hosts are so far away (far.py).

With --against, sweeps of another build take turns with these, and "ratio" is this build's CPU over its: the median of
the rounds, because the load of the machine changes from one to the next.
"""

import argparse
import json
import os
import re
import shlex
import shutil
import signal
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
END_S = 600


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("--hosts", type=int, default=4)
    parser.add_argument("--real", action="store_true", help="real workers")
    parser.add_argument("--gpus", type=int, default=2, help="of each host with a real worker")
    parser.add_argument("--slots", type=int, default=8, help="of each host")
    parser.add_argument("--few", type=int, default=500, help="configurations of the small sweep")
    parser.add_argument("--many", type=int, default=5000, help="of the large one")
    parser.add_argument("--measure-us", type=int, default=0, help="what a measurement takes at a stand-in")
    parser.add_argument("--credit", type=int, default=32, help="measurements that a stand-in takes ahead, at most")
    parser.add_argument("--against-credit", type=int, help="the same with --against")
    parser.add_argument("--round-trip-ms", type=float, default=0, help="how far away the hosts are")
    parser.add_argument("--samples", type=int, default=10)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--speed-up", type=float, default=1000)
    parser.add_argument("--against", help="the programs of another build")
    return parser.parse_args()


def landscape(path, configurations, samples):
    """A record: a bowl over two tunables, in Kernel Tuner's format."""
    width = 50
    cache = {}
    for n in range(configurations):
        x, y = n % width, n // width
        base = 1 + 0.01 * abs(x - 25) + 0.003 * abs(y - 7)
        times = [base * (1 + (i * 7 % 32 - 16) * 2.5e-4) for i in range(samples)]
        cache[f"{x},{y}"] = {"X": x, "Y": y, "time": sum(times) / samples, "times": times, "compile_time": 400.0,
                             "verification_time": 2.0, "benchmark_time": sum(times)}
    axes = {"X": list(range(width)), "Y": list(range((configurations + width - 1) // width))}
    with open(path, "w") as f:
        json.dump({"device_name": "GPU", "kernel_name": "bowl", "tune_params": axes, "cache": cache}, f)


class Place:
    """A home, sshds whose hosts have work folders of their own, and what runs there."""

    def __init__(self, bin, args, credit):
        os.environ.setdefault("FA_SOURCE_DIR", ROOT)
        os.environ.setdefault("FA_BIN_DIR", os.path.abspath(bin))
        sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
        import rig
        self.folder = tempfile.mkdtemp(prefix="fa-results-", dir="/tmp")
        self.env = {"HOME": self.path("home"), "PATH": os.environ["PATH"], "LANG": "C",
                    "XDG_RUNTIME_DIR": self.path("run")}
        for name in ("HOME", "XDG_RUNTIME_DIR"):
            os.mkdir(self.env[name], mode=0o700)
        self.sshds = [rig.Sshd(self.path(f"sshd{i}"), self.env) for i in range(args.hosts)]
        self.far = []
        for sshd in self.sshds if args.round_trip_ms else []:
            self.far.append(subprocess.Popen([sys.executable, os.path.join(ROOT, "tests", "bench", "far.py"),
                                              str(sshd.port), str(args.round_trip_ms)], stdout=subprocess.PIPE))
            sshd.port = int(self.far[-1].stdout.readline())
        self.coord = os.path.join(os.path.abspath(bin), "fa-coord")
        if args.real:
            gpus = ",".join(map(str, range(args.gpus)))
            self.attributes = f"gpus={gpus} slots={args.slots}"
        else:
            self.attributes = ""
            self.stand_ins(args, credit)

    def stand_ins(self, args, credit):
        """A copy of fa-coord, with the stand-in as the fa-worker beside it."""
        os.mkdir(self.path("bin"))
        self.coord = shutil.copy(self.coord, self.path("bin"))
        stand_in = os.path.join(os.path.dirname(os.path.abspath(args.bin)), "tests", "stand_in_worker")
        shutil.copy(stand_in, self.path("bin/fa-worker"))
        for i in range(args.hosts):
            os.mkdir(self.path(f"box{i}"), mode=0o700)
            with open(self.path(f"box{i}/stand-in"), "w") as f:
                f.write(f"behaviour succeeds\nslots {args.slots}\nseconds {END_S}\n"
                        f"measure_us {args.measure_us}\ncredit {credit}\n")

    def path(self, name):
        return os.path.join(self.folder, name)

    def lines(self):
        return "".join(sshd.line(f"workdir={self.path(f'box{i}')} {self.attributes}") + "\n"
                       for i, sshd in enumerate(self.sshds))

    def close(self):
        end_workers(self.folder)
        for far in self.far:
            far.kill()
            far.wait()
        for sshd in self.sshds:
            sshd.stop()
        shutil.rmtree(self.folder, ignore_errors=True)


def workers(folder):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if f"--workdir {folder}/".encode() in f.read().replace(b"\0", b" "):
                    found.append(int(pid))
        except OSError:
            continue
    return found


def end_workers(folder):
    deadline = time.monotonic() + 20
    while (left := workers(folder)) and time.monotonic() < deadline:
        for pid in left:
            try:
                os.kill(pid, signal.SIGTERM)
            except ProcessLookupError:
                pass
        time.sleep(0.1)


def written(pid):
    with open(f"/proc/{pid}/io") as f:
        return next(int(line.split()[1]) for line in f if line.startswith("wchar:"))


def end_of(process):
    """Wait for it: its rusage, and what it had written when it was last seen."""
    deadline, bytes_ = time.monotonic() + END_S, 0
    while True:
        try:
            bytes_ = written(process.pid)
        except OSError:
            pass
        pid, status, usage = os.wait4(process.pid, os.WNOHANG)
        if pid:
            process.returncode = os.waitstatus_to_exitcode(status)
            return usage, bytes_
        if time.monotonic() > deadline:
            process.kill()
            sys.exit(f"not over within {END_S} s")
        time.sleep(0.02)


def sweep(args, place, configurations):
    record = place.path(f"{configurations}.json")
    if not os.path.exists(record):
        landscape(record, configurations, args.samples)
    with open(place.path("hosts.txt"), "w") as f:
        f.write(place.lines())
    folder = tempfile.mkdtemp(dir=place.folder)
    coord = place.coord
    how = {"cwd": folder, "env": place.env, "stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL}
    subprocess.run([coord, "import", record, "--sweep", "sweep.json"], check=True, stderr=subprocess.DEVNULL, **how)
    with open(os.path.join(folder, "sweep.json")) as f:
        text = f.read()
    with open(os.path.join(folder, "sweep.json"), "w") as f:
        f.write(text.replace('"measure":', '"confirm": false,\n"measure":', 1))
    began = time.monotonic()
    with open(os.path.join(folder, "stderr"), "w") as err:
        process = subprocess.Popen([coord, "sweep", "sweep.json", "--hosts", place.path("hosts.txt"), "--device",
                                    f"replay={record}", "--speed-up", str(args.speed_up), "--strategy", "exhaustive",
                                    "--db", "x.db", "--log", "log"], stderr=err, **how)
        usage, bytes_ = end_of(process)
    wall = time.monotonic() - began
    if process.returncode != 0:
        with open(os.path.join(folder, "stderr")) as f:
            sys.exit(f.read())
    with open(os.path.join(folder, "log")) as f:
        turns, cpu_ms = re.search(r" TURNS n=(\d+) cpu_ms=(\d+)", f.read()).groups()
    db = sqlite3.connect(os.path.join(folder, "x.db"))
    [results] = db.execute("SELECT (SELECT count(*) FROM result) + (SELECT count(*) FROM build)").fetchone()
    db.close()
    shutil.rmtree(folder)
    return {"results": results, "cpu_us": (usage.ru_utime + usage.ru_stime) * 1e6, "reactor_us": int(cpu_ms) * 1e3,
            "waits": usage.ru_nvcsw, "turns": int(turns), "written_bytes": bytes_, "wall_us": wall * 1e6,
            "peak_mib": usage.ru_maxrss / 1024}


def marginal(args, few, many):
    n = many["results"] - few["results"]
    out = {key: round((many[key] - few[key]) / n, 2) for key in many if key not in ("results", "peak_mib")}
    busy = args.measure_us / args.hosts / (2 * out["wall_us"])  # every other result is a measurement
    return {**out, "peak_mib": round(many["peak_mib"], 1), "busy": round(busy, 3)}


def median(runs):
    return {key: statistics.median(run[key] for run in runs) for key in runs[0]}


def main():
    args = options()
    bins = {"this": args.bin, **({"against": args.against} if args.against else {})}
    places, runs = {}, {name: [] for name in bins}
    try:
        for name, bin in bins.items():
            credit = args.against_credit if name == "against" else None
            places[name] = Place(bin, args, credit or args.credit)
            sweep(args, places[name], args.few)  # builds runners, uploads workers
        for turn in range(args.rounds):
            for name in (list(bins) if turn % 2 == 0 else reversed(bins)):
                runs[name].append(marginal(args, sweep(args, places[name], args.few),
                                           sweep(args, places[name], args.many)))
                print(name, runs[name][-1], file=sys.stderr, flush=True)
    finally:
        for place in places.values():
            place.close()
    out = {"command": shlex.join(sys.argv), "hosts": args.hosts, "configurations": args.many, "samples": args.samples,
           **{name: median(of) for name, of in runs.items()}}
    if args.against:
        out["ratio"] = round(statistics.median(this["cpu_us"] / other["cpu_us"]
                                               for this, other in zip(runs["this"], runs["against"])), 3)
    print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
