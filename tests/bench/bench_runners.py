#!/usr/bin/env python3
"""Two builds of fa-runner on one GPU, in turn: what does a configuration hold the GPU, and what is its median?

    tests/bench/bench_runners.py BEFORE AFTER [--nvcc nvcc] [--rounds 30] [--gpu 0]
    tests/bench/bench_runners.py BEFORE AFTER --request FILE [--request FILE ...] [--device cuda|cpu]

BEFORE and AFTER are fa-runners for the device.  Kernels of some 10 us and of some 1 ms, one that streams memory and
one that computes, are measured by both in each round, in random order, with each L2 mode, with the 5 samples of a
screening and with 50.  With --request, these are the configurations whose requests bench_request has written:

    build/dev/bin/bench_request kernels/flash_attention sm_90 $(which nvcc) FOLDER BLOCK_M=128,BLOCK_N=128

JSON goes to stdout, a row a case: the median of what each held, in ms, their difference and ratio; the median over
the rounds of the ratio of medians, after to before, with the interval of its order statistics that covers it with
at least 95 %.
"""

import argparse
import json
import math
import os
import random
import statistics
import subprocess
import sys
import tempfile
import urllib.parse

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
SOURCE = """
extern "C" __global__ void bench(const float *a, const float *b, float *out, int n, int steps)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        float x = a[i];
        for (int k = 0; k < steps; k++)
            x = x * 0.999f + b[i];
        out[i] = x;
    }
}
extern "C" __global__ void reference(const float *a, const float *b, double *out, int n, int steps)
{
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        double x = a[i];
        for (int k = 0; k < steps; k++)
            x = x * 0.999 + b[i];
        out[i] = x;
    }
}
"""
# name: elements, steps
CASES = {"10 us, streams": (1 << 21, 1), "10 us, computes": (1 << 17, 700),
         "1 ms, streams": (1 << 27, 1), "1 ms, computes": (1 << 21, 14000)}
SAMPLES = (5, 50)


def older(lines):
    """The same for a runner that has one tolerance for all outputs, and one set of inputs."""
    kept, tolerances = [], set()
    for line in lines:
        words = line.split(" ")
        if line.startswith("arg ") and "out" in words[5:]:
            at = words.index("out", 5)
            rules = dict(zip(words[at + 1::2], words[at + 2::2]))
            if set(rules) != {"relative_l2", "max_error"}:
                sys.exit(f"bench_runners.py: an older runner has no '{line}'")
            tolerances.add(f"tolerance {rules['relative_l2']} {rules['max_error']}")
            kept.append(" ".join([*words[:5], "zeros", "1", "out"]))
        elif words[0] == "files" or words[-1] in ("workspace", "infinities"):
            sys.exit(f"bench_runners.py: an older runner has no '{line}'")
        elif words[0] not in ("trials", "repeats"):
            kept.append(line)
    if len(tolerances) != 1:
        sys.exit("bench_runners.py: an older runner has one tolerance for all outputs")
    return [*kept, *tolerances]


def read_request(path):
    """Its lines; what they name is in the folder of the file."""
    folder = urllib.parse.quote(os.path.dirname(os.path.abspath(path)))
    try:
        with open(path) as file:
            lines = file.read().split("\n")
    except (OSError, UnicodeDecodeError) as error:
        sys.exit(f"bench_runners.py: --request {path}: {error}")
    if lines[0] != "measure":
        sys.exit(f"bench_runners.py: --request {path}: not a request that bench_request wrote")
    named = ("artifact", "reference", "files")
    return [f"{key} {folder}/{rest}" if key in named else line
            for line in lines if line for key, _, rest in [line.partition(" ")]]


def with_samples(lines, samples):
    return [f"samples {samples} {samples}" if line.startswith("samples ") else line for line in lines]


class Runner:
    def __init__(self, program, device, gpu):
        self.is_older, self.program, self.device, self.gpu = False, program, device, gpu
        self.start()

    def start(self):
        self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.ask(["open", f"device {self.device}", f"gpu {self.gpu}"])

    def stop(self):
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()

    def ask(self, lines):
        """{name: all values of that field}"""
        self.process.stdin.write("\n".join(lines) + "\n\n")
        self.process.stdin.flush()
        reply = {}
        for line in self.process.stdout:
            line = line.rstrip("\n")
            if not line:
                return reply
            key, _, value = line.partition(" ")
            reply.setdefault(key, []).append(value)
        sys.exit("bench_runners.py: a runner ended")

    def measure(self, lines):
        """seconds held, and the median sample"""
        reply = self.ask(older(lines) if self.is_older else lines)
        if "error" in reply and not self.is_older:  # and it has ended
            self.is_older = True
            self.stop()
            self.start()
            reply = self.ask(older(lines))
        if reply.get("outcome") != ["correct"]:
            sys.exit(f"bench_runners.py: {reply}")
        return float(reply["held_s"][0]), statistics.median(map(float, reply["sample"]))


def request(cubin, n, steps, l2, samples):
    blocks = min(1056, n // 256)
    return ["measure", f"artifact {cubin}", "entry bench", f"grid {blocks} 1 1", "block 256 1 1", "smem 0",
            f"arg a fp32 buffer {n} normal 1 in", f"arg b fp32 buffer {n} normal 1 in",
            f"arg out fp32 buffer {n} poison 1 out relative_l2 1e-3 max_error 1e-2",
            f"arg n int32 scalar {n}", f"arg steps int32 scalar {steps}",
            f"reference {cubin} reference {blocks} 1 1 256 1 1 0", "seed 1", "trials 2",
            "warmups 3", f"samples {samples} {samples}", "noise 0.01", "margin 1.1", "incumbent_s 0", f"l2 {l2}", "timeout_s 60"]


def interval(values):
    """The order statistics around the median that cover it with at least 95 %."""
    values, n = sorted(values), len(values)
    low, outside = 0, 0.0
    while outside + 2 * math.comb(n, low) / 2 ** n <= 0.05:
        outside += 2 * math.comb(n, low) / 2 ** n
        low += 1
    low = max(low - 1, 0)
    return values[low], values[n - 1 - low]


def compare(runners, lines, rounds):
    held, ratios = {"before": [], "after": []}, []
    for runner in runners.values():
        runner.measure(lines)  # makes the problem
    for _ in range(rounds):
        medians = {}
        for name in random.sample(sorted(runners), 2):
            held_s, medians[name] = runners[name].measure(lines)
            held[name].append(held_s)
        ratios.append(medians["after"] / medians["before"])
    before, after = (1e3 * statistics.median(held[name]) for name in ("before", "after"))
    return {"us": 1e6 * medians["after"], "held_before_ms": before, "held_after_ms": after,
            "held_more_ms": after - before, "held_ratio": after / before,
            "median_ratio": statistics.median(ratios), "median_ratio_95": interval(ratios)}


def compare_sources(runners, ask):
    """A row for each kernel of CASES."""
    rows = []
    with tempfile.TemporaryDirectory(prefix="fa-runners-", dir="/tmp") as work:
        source, cubin = os.path.join(work, "bench.cu"), os.path.join(work, "bench.cubin")
        with open(source, "w") as file:
            file.write(SOURCE)
        subprocess.run([ask.nvcc, "-cubin", "-O3", "-arch=native", source, "-o", cubin], check=True)
        for case, (n, steps) in CASES.items():
            for l2 in ("flush", "warm", "rotate"):
                for samples in SAMPLES:
                    row = compare(runners, request(cubin, n, steps, l2, samples), ask.rounds)
                    rows.append({"case": case, "l2": l2, "samples": samples, **row})
    return rows


def compare_requests(runners, ask):
    rows = []
    for path in ask.request:
        lines = read_request(path)
        l2 = next(line.split(" ")[1] for line in lines if line.startswith("l2 "))
        for samples in SAMPLES:
            row = compare(runners, with_samples(lines, samples), ask.rounds)
            rows.append({"case": os.path.basename(path), "l2": l2, "samples": samples, **row})
    return rows


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("before")
    parser.add_argument("after")
    parser.add_argument("--nvcc", default="nvcc")
    parser.add_argument("--gpu", default="0")
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--request", action="append", default=[])
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    ask = parser.parse_args()
    if ask.device == "cpu" and not ask.request:
        parser.error("--device cpu needs a --request")
    runners = {name: Runner(getattr(ask, name), ask.device, ask.gpu) for name in ("before", "after")}
    rows = (compare_requests if ask.request else compare_sources)(runners, ask)
    for runner in runners.values():
        runner.stop()
    json.dump(rows, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
