#!/usr/bin/env python3
"""Have fa-runner measure each cheat and its honest twin, and compare the outcomes with cheats.txt.

    tests/cheats/judge.py --runner build/dev/bin/fa-runner --kernels build/dev/tests/cheats
    tests/cheats/judge.py --device cuda --runner fa-runner --kernels cubins [--nvcc nvcc] [--arch native]
    tests/cheats/judge.py --device cuda --kernels cubins --nvcc nvcc --arch sm_90

KERNELS has the kernels: on the cpu device an object each, NAME.so; on cuda a cubin a source file, FILE.cubin,
which --nvcc compiles there first.  Nothing else of a build is needed; without --runner that is all.  A line for each
kernel goes to stdout, and to --out as JSON.  'labelled': as cheats.txt says, or wrong where it cannot act;
'cannot': it cannot act here, and was correct; 'open': nothing stops it yet; 'MISSED', 'ACCUSED': a cheat without
its label, a twin that is not correct.
Exit status 1 after one of these, 77 for cuda without an NVIDIA device.
"""

import argparse
import json
import os
import select
import subprocess
import sys
import time

import table

ELEMENTS = 10007  # 78 blocks of 128 threads, and a part
THREADS = 128
COLUMNS = 128
ROWS = 80
SMEM = 1024
TRIALS = "2 zeros ties large tiny extreme negative offset"  # the edges of the proof
SEED = 36  # its inputs reach 5.04, and values.cu knows the first of them
REPLY_S = 120  # far more than the slowest reply
SAMPLES = 5
ENDLESS_S = 0.1  # the time limit of what never ends
SKIPPED = 77  # SKIP_RETURN_CODE of the test

BLOCKS = (ELEMENTS + THREADS) // THREADS


def output(kind, count, relative_l2, max_error):
    return f"arg out {kind} buffer {count} poison 1 out relative_l2 {relative_l2} max_error {max_error}"


def pair(kind, relative_l2, max_error):
    return [f"arg a {kind} buffer {ELEMENTS} normal 1 in", f"arg b {kind} buffer {ELEMENTS} normal 1 in",
            output(kind, ELEMENTS, relative_l2, max_error), f"arg n int32 scalar {ELEMENTS}"]


def with_flags(arguments):
    return [*arguments[:-1], f"arg flags int32 buffer {ELEMENTS} poison 1 workspace", arguments[-1]]


# name: arguments, blocks, blocks of the reference
PROBLEMS = {
    "add": (pair("fp32", 1e-6, 1e-5), BLOCKS, BLOCKS),
    "scratch": (with_flags(pair("fp32", 1e-6, 1e-5)), BLOCKS, BLOCKS),
    "wide": ([f"arg a fp64 buffer {ELEMENTS} normal 1 in", output("fp64", ELEMENTS, 1e-6, 1e-5),
              f"arg n int32 scalar {ELEMENTS}"], BLOCKS, BLOCKS),
    "narrow": ([f"arg a fp64 buffer {ELEMENTS} normal 1 in", output("fp32", ELEMENTS, 1e-6, 1e-5),
                f"arg n int32 scalar {ELEMENTS}"], BLOCKS, BLOCKS),
    "whole": ([f"arg k int32 buffer {ELEMENTS} range -1000000000 1000000000 1 in",
               f"arg out int32 buffer {ELEMENTS} poison 1 out exact", f"arg n int32 scalar {ELEMENTS}"], BLOCKS, BLOCKS),
    "bins": ([f"arg k int32 buffer {ELEMENTS} range 0 15 1 in", "arg out int32 buffer 16 zeros 1 out exact",
              f"arg n int32 scalar {ELEMENTS}"], BLOCKS, 1),
    "product": (pair("fp16", 1e-3, 2e-3), BLOCKS, BLOCKS),
    "rows": ([f"arg a fp32 buffer {ROWS * COLUMNS} normal 1 in", output("fp32", ROWS, 1e-6, 1e-5),
              f"arg rows int32 scalar {ROWS}"], ROWS, 1),
    "peaks": ([f"arg a fp32 buffer {ROWS * COLUMNS} normal 1 in", output("fp32", ROWS, 1e-6, 1e-5),
               f"arg rows int32 scalar {ROWS}"], ROWS, 1),
    "norms": ([f"arg a fp32 buffer {ROWS * COLUMNS} normal 1 in", output("fp32", ROWS * COLUMNS, 1e-6, 1e-5),
               f"arg rows int32 scalar {ROWS}"], ROWS, 1),
    "shares": ([f"arg a fp32 buffer {ROWS * COLUMNS} normal 1 in", output("fp32", ROWS * COLUMNS, 1e-5, 1e-4),
                f"arg rows int32 scalar {ROWS}"], ROWS, 1),
    "order": ([f"arg p int32 buffer {ELEMENTS} permutation 1 in", f"arg a fp32 buffer {ELEMENTS} normal 1 in",
               output("fp32", ELEMENTS, 1e-6, 1e-5), f"arg n int32 scalar {ELEMENTS}"], BLOCKS, BLOCKS),
}


class Runner:
    """A fa-runner at the end of its pipe; it is replaced when it ends."""

    def __init__(self, ask):
        self.ask = ask
        self.process = None

    def start(self):
        try:
            self.process = subprocess.Popen([self.ask.runner], stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                            stderr=subprocess.DEVNULL)
        except OSError as error:
            sys.exit(f"judge.py: --runner {self.ask.runner}: {error.strerror}")
        self.left = b""
        reply = self.send(["open", f"device {self.ask.device}", f"gpu {self.ask.gpu}"])
        if not reply or "ok" not in reply:
            sys.exit(f"judge.py: {self.ask.runner} does not open '{self.ask.device}': "
                     f"{(reply or {}).get('error', 'it ended')}")

    def stop(self):
        if self.process:
            self.process.stdin.close()
            self.process.stdout.close()
            self.process.wait()
        self.process = None

    def line(self, deadline):
        """None at the end of the pipe."""
        while b"\n" not in self.left:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                self.process.kill()
                sys.exit(f"judge.py: no reply within {REPLY_S} s")
            read = os.read(self.process.stdout.fileno(), 65536)
            if not read:
                return None
            self.left += read
        line, self.left = self.left.split(b"\n", 1)
        return line.decode()

    def send(self, lines):
        """The fields of the reply, the last of each name; None if the process ended without one."""
        deadline = time.monotonic() + REPLY_S
        reply = {}
        try:
            self.process.stdin.write(("\n".join(lines) + "\n\n").encode())
            self.process.stdin.flush()
        except BrokenPipeError:
            return None
        while True:
            line = self.line(deadline)
            if line is None:
                return None
            if line == "":
                return reply
            key, _, value = line.partition(" ")
            reply[key] = value

    def measure(self, lines):
        """The outcome, its detail, the seconds held and the launches that were checked."""
        if not self.process:
            self.start()
        reply = self.send(lines)
        if reply is None or reply.get("poisoned") == "1":
            self.stop()
        if reply is None:
            return {"outcome": "crash", "detail": "the pipe ended", "held_s": 0.0, "checked": 0}
        if "outcome" not in reply:
            return {"outcome": "error", "detail": reply.get("reference") or reply.get("error"), "held_s": 0.0,
                    "checked": 0}
        return {"outcome": reply["outcome"], "detail": reply["detail"], "held_s": float(reply["held_s"]),
                "checked": int(reply["checked"].split()[0])}


def request(ask, cheat, kernel, endless):
    """The lines of a measurement of 'kernel', which is the cheat, its twin or what comes before."""
    args, blocks, reference_blocks = PROBLEMS[cheat.problem]
    blocks = cheat.options.get("blocks", blocks)
    samples = cheat.options.get("samples", SAMPLES)
    repeats = 0 if ask.device == "cpu" else cheat.options.get("repeats", 0)
    reference = f"{cheat.problem}_reference"

    def artifact(entry, file):
        return os.path.join(ask.kernels, f"{entry}.so" if ask.device == "cpu" else f"{file}.cubin")

    return ["measure", f"artifact {artifact(kernel, cheat.file)}", f"entry {kernel}", f"grid {blocks} 1 1",
            f"block {THREADS} 1 1", f"smem {SMEM}", *args,
            f"reference {artifact(reference, 'reference')} {reference} {reference_blocks} 1 1 {THREADS} 1 1 0",
            f"seed {SEED}", f"trials {TRIALS}", "warmups 1", f"samples {samples} {samples}",
            f"repeats {repeats}", "noise 0.01", "margin 1.1", "incumbent_s 0", "l2 flush",
            f"timeout_s {ENDLESS_S if endless else 60}"]


def verdict(expected, outcome):
    if expected == "open":
        return "open" if outcome == "correct" else "labelled" if outcome in table.OUTCOMES else "MISSED"
    if expected.startswith("no "):  # what it finds instead may be wrong
        return "cannot" if outcome == "correct" else "labelled" if outcome == "correctness" else "MISSED"
    return "labelled" if outcome == expected else "MISSED"


def measured(ask, runner, cheat, kernel, expected):
    """The row of a kernel; one that is to be correct is honest."""
    result = runner.measure(request(ask, cheat, kernel, expected == "timeout"))
    outcome = result["outcome"]
    if expected == "correct":
        said = "honest" if outcome == "correct" else "ACCUSED"
    else:
        said = verdict(expected, outcome)
    return {"kernel": kernel, "device": ask.device, "verdict": said, "expected": expected, **result}


def judge(ask, runner, cheat):
    """The rows of a cheat and its twin; of what is measured before each, only those that are accused."""
    for kernel, expected in ((cheat.name, getattr(cheat, ask.device)), (f"{cheat.name}_honest", "correct")):
        if "after" in cheat.options:
            before = cheat.options["after"]
            of = next((c for c in table.read() if before == f"{c.name}_honest"), cheat)
            row = measured(ask, runner, of, before, "correct")
            if row["verdict"] == "ACCUSED":
                yield row
        yield measured(ask, runner, cheat, kernel, expected)


def compile_all(ask):
    include = os.path.join(os.path.dirname(os.path.dirname(table.FOLDER)), "kernels", "include")
    os.makedirs(ask.kernels, exist_ok=True)
    for file in ("kept", "heap", "values", "memory", "shared", "reference"):
        subprocess.run([ask.nvcc, "-cubin", f"-arch={ask.arch}", "-std=c++17", f"-I{include}",
                        os.path.join(table.FOLDER, f"{file}.cu"), "-o", os.path.join(ask.kernels, f"{file}.cubin")],
                       check=True)


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--device", default="cpu", choices=("cpu", "cuda"))
    parser.add_argument("--runner")
    parser.add_argument("--kernels", required=True)
    parser.add_argument("--gpu", default="0")
    parser.add_argument("--nvcc")
    parser.add_argument("--arch", default="native")
    parser.add_argument("--out")
    parser.add_argument("--only", nargs="+", metavar="NAME")
    parser.add_argument("--skip", nargs="+", metavar="NAME", default=[])
    ask = parser.parse_args()
    if not ask.runner and not ask.nvcc:
        parser.error("nothing to do without --runner and without --nvcc")
    ask.kernels = os.path.abspath(ask.kernels)
    return ask


def main():
    ask = options()
    if ask.runner and ask.device == "cuda" and not os.path.exists("/dev/nvidiactl"):
        print("skipped: no NVIDIA device on this machine")
        return SKIPPED
    if ask.nvcc:
        compile_all(ask)
    if not ask.runner:
        return 0
    cheats = [c for c in table.read() if getattr(c, ask.device) != "no host" and c.name not in ask.skip
              and (not ask.only or c.name in ask.only)]
    if not cheats:
        sys.exit("judge.py: no cheat of that name")
    counts = {}
    runner = Runner(ask)
    begin = time.monotonic()
    with open(ask.out or os.devnull, "w") as out:
        for cheat in cheats:
            for row in judge(ask, runner, cheat):
                counts[row["verdict"]] = counts.get(row["verdict"], 0) + 1
                print(json.dumps(row), file=out, flush=True)
                print(f"{row['verdict']:9} {row['kernel']:32} {row['outcome']:12} {1e3 * row['held_s']:8.1f} ms  "
                      f"{row['detail'][:90]}", flush=True)
    runner.stop()
    print(f"{len(cheats)} cheats and their twins on {ask.device}: "
          + ", ".join(f"{n} {word}" for word, n in sorted(counts.items())) + f"; {time.monotonic() - begin:.1f} s")
    return 1 if counts.keys() & {"MISSED", "ACCUSED"} else 0


if __name__ == "__main__":
    sys.exit(main())
