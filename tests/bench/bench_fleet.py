#!/usr/bin/env python3
"""What a sweep costs with different fleets and plans, and what the planner makes of the same machines.

  wall    seconds of the whole command
  paid    dollars, from the machines' own clocks (start= to the end of stop=) and their rates
  busy    GPU seconds of the measurements over the GPU seconds paid
  bound   dollars that no fleet can go below: the builds on full builders, and the measurements on one busy GPU

Coordinator, workers, runners, sshds and start= commands are real processes on this machine; builds and measurements
wait for their recorded times (device replay, speed-up 1).  An L4 has 4 cores and costs $0.68 an hour, a builder has 16
and costs $0.12.  Prints JSON, one object a line.

Usage: bench_fleet.py BIN [--configs N] [--build-s S] [--gpu-ms MS] [--boot S] [--min-bill S] [--only NAME,...]
"""

import argparse
import json
import os
import sys
import time

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


def parse():
    parser = argparse.ArgumentParser()
    parser.add_argument("bin")
    parser.add_argument("--configs", type=int, default=320)
    parser.add_argument("--build-s", type=float, default=2.3)
    parser.add_argument("--gpu-ms", type=float, default=4.7)
    parser.add_argument("--boot", type=int, default=0)
    parser.add_argument("--min-bill", type=int, default=0)
    parser.add_argument("--verbose", action="store_true", help="what the sweep said")
    parser.add_argument("--only", default=",".join(FLEETS))
    return parser.parse_args()


ARGS = parse() if __name__ == "__main__" else None
if ARGS:
    here = os.path.dirname(os.path.abspath(__file__))
    os.environ["FA_BIN_DIR"] = os.path.abspath(ARGS.bin)
    os.environ["FA_SOURCE_DIR"] = os.path.dirname(os.path.dirname(here))
    sys.path.insert(0, os.path.join(os.path.dirname(here), "e2e"))

import rented  # noqa: E402  (it needs the environment)


class Fleet(rented.Rented):
    """One sweep over one fleet."""

    def write_record(self):
        """Configurations that take --build-s and --gpu-ms, and differ by up to 30 % in their time."""
        samples = 10
        cache = {}
        for i in range(ARGS.configs):
            ms = ARGS.gpu_ms / samples / 1.15 * (1 + 0.3 * (i * 7 % ARGS.configs) / ARGS.configs)
            cache[str(i)] = {"X": i, "time": ms, "times": [ms * (1 + (k - 4.5) * 1e-4) for k in range(samples)],
                             "compile_time": 1000 * ARGS.build_s, "verification_time": 0.0,
                             "benchmark_time": ms * samples}
        with open(self.path("record.json"), "w") as f:
            json.dump({"device_name": "L4", "kernel_name": "fleet", "tune_params": {"X": list(range(ARGS.configs))},
                       "cache": cache}, f)

    def lines(self, gpus, builders):
        attributes = f"boot={ARGS.boot}s min_bill={ARGS.min_bill}s" if ARGS.boot or ARGS.min_bill else ""
        for i in range(gpus):
            yield self.machine(f"l4-{i}", f"rate={L4} slots={L4_CORES} {attributes}")
        for i in range(builders):
            yield self.machine(f"build-{i}", f"rate={BUILDER} slots={BUILDER_CORES} role=builder {attributes}")

    def paid_s(self, name):
        starts, stops = self.clock(name, "start"), self.clock(name, "stop")
        return [max(stop - start, ARGS.min_bill) for start, stop in zip(starts, stops)]

    def measure(self, gpus, builders, plan):
        self.build_replay_runner()
        self.write_record()
        lines = list(self.lines(gpus, builders))
        for name in self.of:
            if ARGS.boot:
                self.behave(name, "boot", str(ARGS.boot))
        began = time.monotonic()
        out = self.run_coord(self.folder, "sweep", "--device", "replay=record.json", "--strategy", "exhaustive", "--db",
                       "a.db", "--hosts", self.hosts(*lines), "--plan", plan or "fastest", seconds=1800)
        if ARGS.verbose:
            print(out.stderr, file=sys.stderr)
        wall = time.monotonic() - began
        usd = gpu_s = 0.0
        for name in self.of:
            rate = L4 if name.startswith("l4") else BUILDER
            held = [wall] if not plan else self.paid_s(name)
            usd += sum(held) * rate / 3600
            gpu_s += sum(held) if name.startswith("l4") else 0
        return wall, usd, gpu_s


def main():
    bound = ARGS.configs * (ARGS.build_s / BUILDER_CORES * BUILDER + ARGS.gpu_ms / 1000 * L4) / 3600
    for name in ARGS.only.split(","):
        fleet = Fleet()
        fleet.setUp()
        try:
            wall, usd, gpu_s = fleet.measure(*FLEETS[name])
        finally:
            fleet.tearDown()
        print(json.dumps({"fleet": name, "wall_s": round(wall, 1), "paid_usd": round(usd, 5),
                          "gpu_held_s": round(gpu_s, 1), "busy": round(ARGS.configs * ARGS.gpu_ms / 1000 / gpu_s, 4),
                          "over_bound": round(usd / bound, 2), "bound_usd": round(bound, 5)}), flush=True)


if __name__ == "__main__":
    main()
