#!/usr/bin/env python3
"""How long one configuration of flash_attention takes to build, against the same without headers.

    tests/bench/bench_build.py build/dev/bin [FOLDER [CONFIG]]

The worker builds three sources with the command that it uses for a sweep: the kernel as it is; the kernel
as a single file that includes nothing (the preprocessor has expanded its headers, and tunables are still
macros); and a kernel that does nothing, as the least that the compiler needs.  There are seven rounds of
all three, each with an empty cache.  JSON goes to stdout: the seconds of each build, and their medians.
The ratio of the first two comes last, to stderr.  CONFIG is like BLOCK_M=64,STAGES=2; without it, the
baseline is built.
"""

import json
import os
import shutil
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
import sweepfile  # noqa: E402

ROUNDS = 7
VARIANTS = ("kernel", "single", "empty")
TARGET = 1.2


def single_file(folder, source):
    """The source with its own headers expanded in place, and conditions on macros evaluated."""
    text = subprocess.run(
        ["g++", "-E", "-P", "-fdirectives-only", "-undef", "-nostdinc", "-x", "c++", "-D__CUDACC__",
         "-I", os.path.join(ROOT, "kernels", "include"), os.path.join(folder, source)],
        check=True, capture_output=True, text=True).stdout
    kept = [line for line in text.splitlines()
            if not line.startswith(("#define __", "#define _GNU_SOURCE"))]
    assert not any(line.lstrip().startswith("#include") for line in kept)
    return "\n".join(kept) + "\n"


def choose(sweep, text):
    """The baseline, with the values that the command line names."""
    config = dict(sweep["baseline"])
    for part in filter(None, text.split(",")):
        name, value = part.split("=")
        config[name] = next(v for v in sweep["tunables"][name] if str(v) == value)
    return config


def variants(work, folder, config):
    """One folder for each source, with a sweep file of one configuration."""
    sweep = sweepfile.only(sweepfile.read(folder), [config])
    kernel = sweep["kernel"]
    for name in VARIANTS:
        to = os.path.join(work, name)
        shutil.copytree(folder, to)
        if name == "single":
            text = single_file(folder, kernel["source"])
        elif name == "empty":
            text = f'extern "C" __global__ void {kernel["entry"]}() {{}}\n'
        if name != "kernel":
            with open(os.path.join(to, name + ".cu"), "w") as f:
                f.write(text)
            sweep = {**sweep, "kernel": {**kernel, "source": name + ".cu"}}
        sweepfile.write(to, sweep)


def build_once(coord, work, name, count):
    """The seconds of the compiler as the worker measured them, and the machine code."""
    home = os.path.join(work, f"home{count}")
    os.mkdir(home, 0o700)
    env = {**os.environ, "HOME": home, "XDG_RUNTIME_DIR": home}
    env.pop("XDG_CACHE_HOME", None)
    ran = subprocess.run([coord, "space", "--build", "--json", "--jobs", "1", "--db", f"{count}.db"],
                         cwd=os.path.join(work, name), env=env, capture_output=True, text=True)
    if ran.returncode != 0:
        sys.exit(ran.stderr)
    [build] = json.loads(ran.stdout)["builds"]
    return build["build_s"], build["cubin"]


def main():
    coord = os.path.join(os.path.abspath(sys.argv[1]), "fa-coord")
    folder = sys.argv[2] if len(sys.argv) > 2 else os.path.join(ROOT, "kernels", "flash_attention")
    config = choose(sweepfile.read(folder), sys.argv[3] if len(sys.argv) > 3 else "")
    seconds = {name: [] for name in VARIANTS}
    codes = {name: set() for name in VARIANTS}
    with tempfile.TemporaryDirectory(prefix="fa-bench-", dir="/tmp") as work:
        variants(work, folder, config)
        for count in range(ROUNDS * len(VARIANTS)):
            name = VARIANTS[count % len(VARIANTS)]
            s, code = build_once(coord, work, name, count)
            seconds[name].append(s)
            codes[name].add(code)
    median = {name: statistics.median(seconds[name]) for name in VARIANTS}
    ratio = median["kernel"] / median["single"]
    json.dump({"config": config, "arch": "sm_89", "seconds": seconds, "median_s": median, "ratio": ratio,
               "same_code": codes["kernel"] == codes["single"]}, sys.stdout, indent=1)
    print()
    print(f"kernel {median['kernel']:.3f} s, without headers {median['single']:.3f} s, an empty kernel "
          f"{median['empty']:.3f} s: ratio {ratio:.3f} (target {TARGET})", file=sys.stderr)


if __name__ == "__main__":
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    main()
