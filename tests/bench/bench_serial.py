#!/usr/bin/env python3
"""198 configurations of vector_add: fa-coord, whole commands, beside a loop that does one after another.

    tests/bench/bench_serial.py build/dev/bin [--rounds 3] [--rate 3.00] [--only 198] > FILE

It needs a GPU, nvcc and numpy, and runs on this machine, in turn and each from an empty folder:

    sweep        fa-coord sweep: build, check, time, proof at the fuzz shapes, confirmation in blocks
    screening    the same with "confirm": false: build, check, time
    loop         for each configuration: nvcc, one launch that is checked against numpy's sum, seven that are
                 timed, and the mean counts: what a serial tuner does by default

JSON goes to stdout: wall seconds and dollars of each command, what it found fastest, and the ratios of the
medians; progress to stderr.
"""

import argparse
import ctypes
import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
import sweepfile  # noqa: E402

BLOCKS = range(64, 64 + 22 * 32, 32)
ITEMS = range(1, 10)
N = 16777216
TIMED = 7
COMMANDS = ("sweep", "screening", "loop")


def space(only):
    return [(block, items) for block in BLOCKS for items in ITEMS][:only]


class Gpu:
    """The driver's calls that the loop needs; any of them that fails ends the program."""

    def __init__(self):
        self.cuda = ctypes.CDLL("libcuda.so.1")
        device, context = ctypes.c_int(), ctypes.c_void_p()
        self.call("cuInit", 0)
        self.call("cuDeviceGet", ctypes.byref(device), 0)
        self.call("cuDevicePrimaryCtxRetain", ctypes.byref(context), device)
        self.call("cuCtxSetCurrent", context)
        self.events = [ctypes.c_void_p(), ctypes.c_void_p()]
        for event in self.events:
            self.call("cuEventCreate", ctypes.byref(event), 0)

    def call(self, name, *arguments):
        code = getattr(self.cuda, name)(*arguments)
        if code:
            sys.exit(f"bench_serial.py: {name}() failed with {code}")

    def buffer(self, size):
        pointer = ctypes.c_uint64()
        self.call("cuMemAlloc_v2", ctypes.byref(pointer), ctypes.c_size_t(size))
        return pointer

    def load(self, cubin, entry):
        module, function = ctypes.c_void_p(), ctypes.c_void_p()
        self.call("cuModuleLoad", ctypes.byref(module), cubin.encode())
        self.call("cuModuleGetFunction", ctypes.byref(function), module, entry)
        return module, function

    def launch(self, function, grid, block, arguments):
        pointers = (ctypes.c_void_p * len(arguments))(*(ctypes.addressof(a) for a in arguments))
        self.call("cuEventRecord", self.events[0], None)
        self.call("cuLaunchKernel", function, grid, 1, 1, block, 1, 1, 0, None, pointers, None)
        self.call("cuEventRecord", self.events[1], None)
        self.call("cuEventSynchronize", self.events[1])
        milliseconds = ctypes.c_float()
        self.call("cuEventElapsedTime", ctypes.byref(milliseconds), *self.events)
        return milliseconds.value / 1000


def loop(ask):
    import numpy  # only the loop needs it
    gpu = Gpu()
    draw = numpy.random.default_rng(1)
    host = [draw.standard_normal(N, dtype=numpy.float32) for _ in range(2)]
    expected = host[0] + host[1]
    found = numpy.empty_like(expected)
    a, b, out = (gpu.buffer(expected.nbytes) for _ in range(3))
    for buffer, values in ((a, host[0]), (b, host[1])):
        gpu.call("cuMemcpyHtoD_v2", buffer, values.ctypes.data_as(ctypes.c_void_p), ctypes.c_size_t(values.nbytes))
    arguments = (a, b, out, ctypes.c_int(N))
    times = {}
    for block, items in space(ask.only):
        tile = block * items
        macros = {"BLOCK_SIZE": block, "ITEMS": items, "VECTOR": "false", "TILE": tile}
        subprocess.run([ask.nvcc, "-cubin", "-arch=native", "-O3", "-std=c++17", f"-I{ROOT}/kernels/include",
                        *(f"-D{name}={value}" for name, value in macros.items()),
                        os.path.join(ROOT, "kernels", "vector_add", "vector_add.cu"), "-o", "one.cubin"], check=True)
        module, function = gpu.load("one.cubin", b"vector_add")
        grid = (N + tile - 1) // tile
        gpu.call("cuMemsetD32_v2", out, 0, ctypes.c_size_t(N))
        gpu.launch(function, grid, block, arguments)
        gpu.call("cuMemcpyDtoH_v2", found.ctypes.data_as(ctypes.c_void_p), out, ctypes.c_size_t(found.nbytes))
        if not numpy.allclose(found, expected):
            sys.exit(f"bench_serial.py: BLOCK_SIZE={block} ITEMS={items} is wrong")
        times[block, items] = statistics.mean(gpu.launch(function, grid, block, arguments) for _ in range(TIMED))
        gpu.call("cuModuleUnload", module)
    block, items = min(times, key=times.get)
    print(json.dumps({"BLOCK_SIZE": block, "ITEMS": items, "VECTOR": False}))


def write_sweep(ask, folder, confirm):
    shutil.copytree(os.path.join(ROOT, "kernels", "vector_add"), folder)
    sweep = sweepfile.read(folder)
    sweep["shapes"] = [{"name": "n16m", "N": N}]
    pairs = space(ask.only)
    sweep["tunables"] = {"BLOCK_SIZE": sorted({block for block, _ in pairs}),
                         "ITEMS": sorted({items for _, items in pairs}), "VECTOR": [False]}
    sweep["gates"] = []
    sweep["baseline"] = {"BLOCK_SIZE": pairs[0][0], "ITEMS": 1, "VECTOR": False}
    if not confirm:
        sweep["confirm"] = False
    sweepfile.write(folder, sweep)


def run(ask, command, work):
    home = os.path.join(work, "home")
    os.makedirs(home)
    environment = dict(os.environ, HOME=home)
    folder = os.path.join(work, "sweep")
    coordinator = os.path.join(os.path.abspath(ask.bin), "fa-coord")
    if command == "loop":
        os.makedirs(folder)
        words = [sys.executable, os.path.abspath(__file__), ask.bin, "--loop", "--nvcc", ask.nvcc,
                 "--only", str(ask.only)]
    else:
        write_sweep(ask, folder, command == "sweep")
        words = [coordinator, "sweep", "--quiet"]
    began = time.monotonic()
    done = subprocess.run(words, cwd=folder, env=environment, capture_output=True, text=True, check=False)
    wall = time.monotonic() - began
    if done.returncode not in (0, 1):
        sys.exit(f"bench_serial.py: {command}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    if command == "loop":
        best = json.loads(done.stdout)
    else:
        report = json.loads(subprocess.run([coordinator, "report", "--json"], cwd=folder, env=environment,
                                           capture_output=True, text=True, check=True).stdout)
        best = next(row["config"] for row in report["results"] if row["rank"] == 1)
    print(f"{command:10} {wall:7.1f} s  {best}", file=sys.stderr)
    return {"wall_s": wall, "usd": wall / 3600 * ask.rate, "best": best}


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--rate", type=float, default=3.00, help="US dollars an hour of the machine")
    parser.add_argument("--only", type=int, default=len(BLOCKS) * len(ITEMS), help="the first N configurations")
    parser.add_argument("--nvcc", default=shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc")
    parser.add_argument("--loop", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


def main():
    ask = options()
    if ask.loop:
        loop(ask)
        return
    runs = {command: [] for command in COMMANDS}
    for _ in range(ask.rounds):
        for command in COMMANDS:
            with tempfile.TemporaryDirectory(prefix="fa-serial-") as work:
                runs[command].append(run(ask, command, work))
    median = {command: statistics.median(r["wall_s"] for r in made) for command, made in runs.items()}
    json.dump({"configurations": ask.only, "rate": ask.rate, "runs": runs, "median_wall_s": median,
               "loop_over_sweep": median["loop"] / median["sweep"],
               "loop_over_screening": median["loop"] / median["screening"]}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
