#!/usr/bin/env python3
"""What a sweep costs with different fleets and plans, and what the planner makes of the same machines.

  wall_s       seconds of the whole command
  paid_usd     dollars, from the machines' own clocks (start= to the end of stop=) and their rates
  gpu_held_s   seconds that GPU boxes were paid for
  busy         GPU seconds of the measurements over those paid
  bound_usd    dollars that no fleet can go below: the builds on full builders, and the measurements on one busy GPU
  over_bound   paid_usd over bound_usd; for the landscape of --gpu-bound, gpu_held_s over the seconds for which the
               screening held a GPU: bad configurations end before all their recorded samples
  build_took   mean seconds from a build's lease to its result over the recorded ones, and
  cpu_busy     the share of this machine's cores that were busy with anything: both say how much of the figures is
               this machine's

Coordinator, workers, runners, sshds and start= commands are real processes on this machine; builds and measurements
wait for their recorded times (device replay, speed-up 1).  An L4 has 4 cores and costs $0.68 an hour, a builder has 16
and costs $0.12.  Several fleets run at once, as processes mostly wait.

With --out, tables of all fleets without and with boot and a minimum bill are written into FOLDER, a JSON object a
line: fleets.jsonl, boot_90_min_bill_60.jsonl and, with --gpu-bound, gpu_bound.jsonl; and printed in Markdown, as they
stand in docs/fleet.md.  Otherwise one table is printed, a JSON object a line.
In "missed" is what is worse than the project asks of it; then the exit status is 1.

Usage: bench_fleet.py BIN [--out FOLDER [--gpu-bound LANDSCAPE]] [--configs N] [--build-s S] [--gpu-ms MS] [--boot S]
                          [--min-bill S] [--only NAME,...] [--jobs N]
"""

import argparse
import concurrent.futures
import contextlib
import json
import os
import sqlite3
import subprocess
import sys
import time

import bench_replay

L4, BUILDER = 0.68, 0.12
L4_CORES, BUILDER_CORES = 4, 16

# name: L4s that are there from the start to the end, builders likewise, or the plan of a fleet that is rented
FLEETS = {
    "1 L4": (1, 0, None),
    "4 L4": (4, 0, None),
    "1 L4 and a builder": (1, 1, None),
    "4 L4 and a builder": (4, 1, None),
    "cheapest": (4, 1, "cheapest"),
    "balanced": (4, 1, "balanced"),
    "fastest": (4, 1, "fastest"),
}
PLANS = [name for name, fleet in FLEETS.items() if fleet[2]]
FASTEST_S = 36  # of 4 L4 and a builder that are there from the start


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin")
    parser.add_argument("--out")
    parser.add_argument("--gpu-bound", help="a landscape of which the measurements take longer than the builds")
    parser.add_argument("--points", type=int, default=240, help="configurations of it, spread over the file")
    parser.add_argument("--configs", type=int, default=320)
    parser.add_argument("--build-s", type=float, default=2.3)
    parser.add_argument("--gpu-ms", type=float, default=4.7)
    parser.add_argument("--boot", type=int, default=0)
    parser.add_argument("--min-bill", type=int, default=0)
    parser.add_argument("--verbose", action="store_true", help="what the sweep said")
    parser.add_argument("--only", default=",".join(FLEETS))
    parser.add_argument("--jobs", type=int, default=3, help="fleets at a time")
    return parser.parse_args()


ARGS = parse() if __name__ == "__main__" else None
if ARGS:
    here = os.path.dirname(os.path.abspath(__file__))
    os.environ["FA_BIN_DIR"] = os.path.abspath(ARGS.bin)
    os.environ["FA_SOURCE_DIR"] = os.path.dirname(os.path.dirname(here))
    sys.path.insert(0, os.path.join(os.path.dirname(here), "e2e"))

import rented  # noqa: E402  (it needs the environment)


def light_kernel():
    """Configurations that take --build-s and --gpu-ms, and differ by up to 30 % in their time."""
    samples = 10
    cache = {}
    for i in range(ARGS.configs):
        ms = ARGS.gpu_ms / samples / 1.15 * (1 + 0.3 * (i * 7 % ARGS.configs) / ARGS.configs)
        cache[str(i)] = {"X": i, "time": ms, "times": [ms * (1 + (k - 4.5) * 1e-4) for k in range(samples)],
                         "compile_time": 1000 * ARGS.build_s, "verification_time": 0.0, "benchmark_time": ms * samples}
    return {"device_name": "L4", "kernel_name": "fleet", "tune_params": {"X": list(range(ARGS.configs))},
            "cache": cache}


def build_seconds(landscape):
    return sum(entry.get("compile_time") or 0 for entry in landscape["cache"].values()) / 1000


def cpu_times():
    """Busy and all jiffies of this machine."""
    with open("/proc/stat") as f:
        times = [int(word) for word in f.readline().split()[1:9]]
    return sum(times) - times[3] - times[4], sum(times)


class Fleet(rented.Rented):
    """One sweep over one fleet."""

    def set_up(self, landscape, boot, min_bill):
        self.setUp()
        self.boot, self.min_bill = boot, min_bill
        with open(self.path("record.json"), "w") as f:
            json.dump(landscape, f)

    def lines(self, gpus, builders):
        attributes = f"boot={self.boot}s min_bill={self.min_bill}s" if self.boot or self.min_bill else ""
        for i in range(gpus):
            yield self.machine(f"l4-{i}", f"rate={L4} slots={L4_CORES} {attributes}")
        for i in range(builders):
            yield self.machine(f"build-{i}", f"rate={BUILDER} slots={BUILDER_CORES} role=builder {attributes}")

    def paid_s(self, name):
        starts, stops = self.clock(name, "start"), self.clock(name, "stop")
        return [max(stop - start, self.min_bill) for start, stop in zip(starts, stops)]

    def seconds(self):
        """Of a build, from its lease to its result; and for which screening held a GPU."""
        with contextlib.closing(sqlite3.connect(f"file:{self.path('a.db')}?mode=ro", uri=True)) as db:
            return db.execute("SELECT (SELECT avg(ended_utc - leased_utc) / 1e9 FROM lease WHERE stage = 'build'"
                              " AND purpose = 'kernel' AND ending = 'done'), (SELECT sum(held_s) FROM result"
                              " WHERE counted = 1 AND purpose = 'screen')").fetchone()

    def measure(self, gpus, builders, plan):
        self.build_replay_runner()
        lines = list(self.lines(gpus, builders))
        for name in self.of:
            if self.boot:
                self.behave(name, "boot", str(self.boot))
        began, (busy, every) = time.monotonic(), cpu_times()
        out = self.run_coord(self.folder, "sweep", "--device", "replay=record.json", "--strategy", "exhaustive", "--db",
                       "a.db", "--hosts", self.hosts(*lines), "--plan", plan or "fastest", seconds=1800)
        if ARGS.verbose:
            print(out.stderr, file=sys.stderr)
        wall, (busy_now, every_now) = time.monotonic() - began, cpu_times()
        usd = gpu_s = 0.0
        for name in self.of:
            rate = L4 if name.startswith("l4") else BUILDER
            held = [wall] if not plan else self.paid_s(name)
            usd += sum(held) * rate / 3600
            gpu_s += sum(held) if name.startswith("l4") else 0
        return wall, usd, gpu_s, *self.seconds(), (busy_now - busy) / (every_now - every)


def missed(row):
    """What is worse than asked: without boot and minimum bill, as the bound has neither."""
    alone_s = row["builds_alone_s"]
    if row["fleet"] == "cheapest":
        limits = {"over_bound": 2, "gpu_held_s": 12, "wall_s": 1.15 * alone_s}
    else:
        limits = {"wall_s": 1.1 * FASTEST_S} if row["fleet"] == "fastest" else {}
    return [key for key, limit in limits.items() if row[key] > limit]


def run(name, landscape, boot, min_bill, gpu_bound=False):
    build_s = build_seconds(landscape)
    fleet = Fleet()
    fleet.set_up(landscape, boot, min_bill)
    try:
        wall, usd, held, built, screened_s, cpu = fleet.measure(*FLEETS[name])
    finally:
        fleet.tearDown()
        fleet.doCleanups()
    gpu_s = screened_s if gpu_bound else ARGS.configs * ARGS.gpu_ms / 1000
    bound = (build_s / BUILDER_CORES * BUILDER + gpu_s * L4) / 3600
    over = held / gpu_s if gpu_bound else usd / bound
    row = {"fleet": name, "wall_s": round(wall, 1), "paid_usd": round(usd, 5), "gpu_held_s": round(held, 1),
           "busy": round(gpu_s / held, 4), "over_bound": round(over, 2), "bound_usd": round(bound, 5),
           "builds_alone_s": round(build_s / BUILDER_CORES, 1),
           "build_took": round(built / (build_s / len(landscape["cache"])), 3), "cpu_busy": round(cpu, 2)}
    row["missed"] = ["over_bound"] * (over > 1.25) if gpu_bound else [] if boot or min_bill else missed(row)
    return row


def child(name, *args):
    """A fleet in a process of its own, because each has its own environment."""
    command = [sys.executable, os.path.abspath(__file__), ARGS.bin, "--only", name, "--configs", str(ARGS.configs),
               "--build-s", str(ARGS.build_s), "--gpu-ms", str(ARGS.gpu_ms), "--points", str(ARGS.points), *args]
    out = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=False)
    if not out.stdout:
        raise RuntimeError(f"{name} {' '.join(args)}: no figures, exit status {out.returncode}")
    return json.loads(out.stdout)


def write_tables():
    tables = {"fleets": [(name,) for name in FLEETS],
              "boot_90_min_bill_60": [(name, "--boot", "90", "--min-bill", "60") for name in PLANS]}
    if ARGS.gpu_bound:
        tables["gpu_bound"] = [("cheapest", "--gpu-bound", ARGS.gpu_bound)]
    # the longest first: one L4, slow boots, and what a GPU is busy with
    order = sorted((len(row) == 1 and row[0] != "1 L4", file, row) for file, rows in tables.items() for row in rows)
    with concurrent.futures.ThreadPoolExecutor(ARGS.jobs) as pool:
        done = {(file, row): pool.submit(child, *row) for _, file, row in order}
        rows = {file: [done[file, row].result() for row in rows] for file, rows in tables.items()}
    os.makedirs(ARGS.out, exist_ok=True)
    for file, lines in rows.items():
        print_table(file, lines)
        with open(os.path.join(ARGS.out, f"{file}.jsonl"), "w") as f:
            f.writelines(json.dumps(line) + "\n" for line in lines)
    return [line for lines in rows.values() for line in lines]


def print_table(name, rows):
    print(f"{name}\n\n| fleet | wall s | paid $ | GPU boxes held s | GPU busy | over the bound | a build took |\n"
          "|---|---|---|---|---|---|---|")
    for row in rows:
        print(f"| {row['fleet']} | {row['wall_s']:.0f} | {row['paid_usd']:.4f} | {row['gpu_held_s']:.1f}"
              f" | {100 * row['busy']:.1f} % | {row['over_bound']} | {row['build_took']:.2f}x |")
    print()


def main():
    if ARGS.out:
        rows = write_tables()
    elif ARGS.gpu_bound:
        landscape = bench_replay.every_nth(bench_replay.read(ARGS.gpu_bound), ARGS.points)
        rows = [run(name, landscape, ARGS.boot, ARGS.min_bill, True) for name in ARGS.only.split(",")]
    else:
        rows = [run(name, light_kernel(), ARGS.boot, ARGS.min_bill) for name in ARGS.only.split(",")]
    for row in rows if not ARGS.out else [row for row in rows if row["missed"]]:
        print(json.dumps(row), flush=True)
    sys.exit(any(row["missed"] for row in rows))


if __name__ == "__main__":
    main()
