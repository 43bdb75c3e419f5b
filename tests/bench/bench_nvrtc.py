#!/usr/bin/env python3
"""How long a build takes with NVRTC in a process that can be killed, against nvcc, and whether both make the same code.

    tests/bench/bench_nvrtc.py build/dev/bin [--arch sm_89] [--configs 24] [FOLDER...]

Of each folder (by default flash_attention and the template of a matrix product) so many configurations are
drawn from all that pass the gates, and each is built three times, one after the other, in an order drawn
anew for each configuration:

    nvcc     as fa-worker runs it: one cubin, no other product
    nvrtc    NVRTC in a new process that loads the library
    forked   NVRTC in the child of a process that has loaded it, which is the least that a killable build costs

JSON goes to stdout: the seconds and core-seconds of each build, the ratios of their medians and sums, and how many configurations have the
same machine code (the bytes of every .text section of the two cubins).  A line for each folder goes to stderr.
Only ratios of one run mean anything.
"""

import argparse
import contextlib
import ctypes
import glob
import json
import os
import random
import re
import shutil
import signal
import sqlite3
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
import sweepfile  # noqa: E402

SEED = 1
LIMIT_S = 120  # one build
# NVRTC refuses functions that are not marked as of the device, and has no builtins of gcc.  Its cache would answer
# the second of two builds of a configuration.
HELP = ["-default-device", "-D__builtin_huge_valf()=__int_as_float(0x7f800000)", "--no-cache"]
WAYS = ("nvcc", "nvrtc", "forked")


def toolkit(nvcc):
    """The folder of the CUDA toolkit that 'nvcc' belongs to."""
    return os.path.dirname(os.path.dirname(os.path.realpath(nvcc)))


def load_nvrtc(home):
    found = [path for pattern in ("lib64", "lib", "targets/*/lib")
             for path in glob.glob(os.path.join(home, pattern, "libnvrtc.so*"))]
    if not found:
        sys.exit(f"{home} has no libnvrtc.so")
    return ctypes.CDLL(min(found, key=len))


def compile_by_nvrtc(library, source, options, out):
    """Write the cubin to 'out'; what is wrong with the source goes to stderr, and the process ends."""
    program = ctypes.c_void_p()
    with open(source, "rb") as f:
        text = f.read()

    def must(rc, what):
        if rc != 0:
            size = ctypes.c_size_t()
            library.nvrtcGetProgramLogSize(program, ctypes.byref(size))
            log = ctypes.create_string_buffer(size.value + 1)
            library.nvrtcGetProgramLog(program, log)
            sys.stderr.write(f"{what}: {rc}\n{log.value.decode()}\n")
            os._exit(1)

    must(library.nvrtcCreateProgram(ctypes.byref(program), text, os.path.basename(source).encode(), 0, None, None),
         "nvrtcCreateProgram")
    given = (ctypes.c_char_p * len(options))(*(option.encode() for option in options))
    must(library.nvrtcCompileProgram(program, len(options), given), "nvrtcCompileProgram")
    size = ctypes.c_size_t()
    must(library.nvrtcGetCUBINSize(program, ctypes.byref(size)), "nvrtcGetCUBINSize")
    code = ctypes.create_string_buffer(size.value)
    must(library.nvrtcGetCUBIN(program, code), "nvrtcGetCUBIN")
    with open(out, "wb") as f:
        f.write(code.raw)


def in_child(work):
    """Run work() in a child that is killed after LIMIT_S; the seconds and core-seconds that it took."""
    begin = time.monotonic()
    pid = os.fork()
    if pid == 0:
        signal.alarm(LIMIT_S)
        work()
        os._exit(0)
    _, status, used = os.wait4(pid, 0)
    if status != 0:
        sys.exit(f"a build failed: status {status}")
    return time.monotonic() - begin, used.ru_utime + used.ru_stime


def nvcc_ends(command, work):
    with open(os.path.join(work, "log"), "wb") as log:
        code = subprocess.run(command, stdout=log, stderr=log).returncode
    os._exit(code)


class Server:
    """A process that has loaded NVRTC, and builds each source in a child."""

    def __init__(self, home):
        to_server, self.asked = os.pipe()
        self.answers, answers = os.pipe()
        if os.fork() == 0:
            os.close(self.asked)
            library = load_nvrtc(home)
            for line in os.fdopen(to_server):
                source, options, out = json.loads(line)
                took = in_child(lambda: compile_by_nvrtc(library, source, options, out))
                os.write(answers, struct.pack("dd", *took))
            os._exit(0)
        os.close(to_server)
        os.close(answers)

    def build(self, source, options, out):
        os.write(self.asked, json.dumps([source, options, out]).encode() + b"\n")
        answer = os.read(self.answers, 16)
        return struct.unpack("dd", answer) if len(answer) == 16 else sys.exit("a build failed")


def machine_code(path):
    """The bytes of each .text section of a cubin, by its name."""
    with open(path, "rb") as f:
        elf = f.read()
    table, = struct.unpack_from("<Q", elf, 0x28)
    size, n, names = struct.unpack_from("<HHH", elf, 0x3A)

    def section(i):
        name, _, _, _, at, length = struct.unpack_from("<IIQQQQ", elf, table + i * size)
        return name, at, length

    _, strings, _ = section(names)
    found = {}
    for i in range(n):
        name, at, length = section(i)
        text = elf[strings + name:elf.index(b"\0", strings + name)].decode()
        if text.startswith(".text."):
            found[text] = elf[at:at + length]
    return found


def drawn(coord, folder, arch, n):
    """Configurations that pass the gates, as {tunable: value}."""
    ran = subprocess.run([coord, "space", "--arch", arch, "--list", "--json"], cwd=folder, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(ran.stderr)
    every = [point["params"] for point in json.loads(ran.stdout)["points"]]
    return random.Random(SEED).sample(every, min(n, len(every)))


def macros(sweep, config):
    """The lines that define tunables and what is derived from them."""
    values = {name: int(value) if isinstance(value, bool) else value for name, value in config.items()}
    with contextlib.closing(sqlite3.connect(":memory:")) as db:
        for name, rule in sweep.get("derived", {}).items():
            columns = ", ".join(f"{sweepfile.literal(value)} AS {known}" for known, value in values.items())
            values[name], = db.execute(f"SELECT {rule} FROM (SELECT {columns})").fetchone()
    return "".join(f"#define {name} {value}\n" for name, value in values.items())


def build_all(args, nvcc, server, folder, work):
    """The seconds of each build of each way, and which configurations have one machine code."""
    sweep = sweepfile.read(folder)
    kernel = sweep["kernel"]
    source = os.path.join(folder, kernel["source"])
    home = toolkit(nvcc)
    standard = kernel.get("standard", "c++17")
    flags = kernel.get("flags", [])
    seconds, cores = {way: [] for way in WAYS}, {way: [] for way in WAYS}
    same = 0
    order = random.Random(SEED)
    configs = drawn(args.coord, folder, args.arch, args.configs)
    for config in configs:
        params = os.path.join(work, "params.h")
        with open(params, "w") as f:
            f.write(macros(sweep, config))
        includes = [f"-I{folder}", f"-I{os.path.join(ROOT, 'kernels', 'include')}"]
        options = [f"--gpu-architecture={args.arch}", f"--std={standard}", *flags, *includes,
                   f"-I{home}/include", f"--pre-include={params}", *HELP]
        options = [option for option in options if not re.fullmatch("-O[0-3]", option)]  # NVRTC knows no level
        command = [nvcc, "-cubin", f"-arch={args.arch}", f"-std={standard}", *flags, "-Xptxas", "-v",
                   "-include", params, *includes, source]
        for way in order.sample(WAYS, len(WAYS)):
            out = os.path.join(work, way)
            if way == "nvcc":
                took = in_child(lambda: nvcc_ends(command + ["-o", out], work))
            elif way == "nvrtc":
                took = in_child(lambda: compile_by_nvrtc(load_nvrtc(home), source, options, out))
            else:
                took = server.build(source, options, out)
            seconds[way].append(took[0])
            cores[way].append(took[1])
        codes = [machine_code(os.path.join(work, way)) for way in WAYS]
        same += codes[0] == codes[1] == codes[2]
    return seconds, cores, same


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("folders", nargs="*", metavar="FOLDER")
    parser.add_argument("--arch", default="sm_89")
    parser.add_argument("--configs", type=int, default=24)
    args = parser.parse_args()
    args.coord = os.path.join(os.path.abspath(args.bin), "fa-coord")
    nvcc = shutil.which("nvcc") or "/usr/local/cuda/bin/nvcc"
    kernels = os.path.join(ROOT, "kernels")
    folders = args.folders or [os.path.join(kernels, "flash_attention"), os.path.join(kernels, "templates", "matmul")]
    release = re.search(r"V[0-9.]+", subprocess.run([nvcc, "--version"], check=True, capture_output=True,
                                                    text=True).stdout).group()
    server = Server(toolkit(nvcc))
    spaces = []
    for folder in map(os.path.abspath, folders):
        with tempfile.TemporaryDirectory(prefix="fa-bench-", dir="/tmp") as work:
            seconds, cores, same = build_all(args, nvcc, server, folder, work)
        median = {way: [statistics.median(seconds[way]), statistics.median(cores[way])] for way in WAYS}
        n = len(seconds["nvcc"])
        spaces.append({"kernel": os.path.relpath(folder, ROOT), "configurations": n, "same_code": same,
                       "median_s": {way: median[way][0] for way in WAYS},
                       "median_core_s": {way: median[way][1] for way in WAYS},
                       "nvcc_over": {way: median["nvcc"][0] / median[way][0] for way in WAYS[1:]},
                       "core_s": {way: sum(cores[way]) for way in WAYS},
                       "nvcc_over_in_core_s": {way: sum(cores["nvcc"]) / sum(cores[way]) for way in WAYS},
                       "seconds": seconds, "core_seconds": cores})
        print(f"{os.path.relpath(folder, ROOT)}: " + ", ".join(
            f"{way} {sum(cores[way]):.1f} core-s ({sum(cores['nvcc']) / sum(cores[way]):.2f}x)" for way in WAYS)
            + f"; {same} of {n} with the same machine code", file=sys.stderr)
    json.dump({"toolkit": release, "arch": args.arch, "cores": os.cpu_count(),
               "command": " ".join(["tests/bench/bench_nvrtc.py", *sys.argv[1:]]), "spaces": spaces},
              sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
