#!/usr/bin/env python3
"""How long 'sweep --effort quick' takes on this machine's GPU, and how far its answer is from that of the whole space.

    tests/bench/bench_effort.py build/dev/bin --work FOLDER [--seeds 10] [--until-s 560] [--own-baseline]
        [-- FLAGS of sweep] > FILE

It sweeps all configurations of flash_attention once (--strategy exhaustive), then once for each seed with --effort
quick, each from an empty folder and with an empty cache, and at last measures all winners in the same blocks with
'fa-coord bench'.  The baseline is a plain configuration, so that there is something to find: that of the sweep file
is among the fastest.  --own-baseline keeps that one, and the answer of a sweep that finds nothing faster is then the
baseline.  Runs that FOLDER holds already are kept, and no seed begins after --until-s, so that the same
command goes on.  JSON goes to stdout: wall seconds of each whole command, what it tried, and for each shape the
time of its winner over that of the whole space's winner, minus 1, with the blocks' 95 % interval of both.
The target is an answer within 1 % in 20 s.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
import sweepfile  # noqa: E402

PLAIN = {"BLOCK_M": 64, "BLOCK_N": 64, "BLOCK_K": 32, "NUM_WARPS": 4, "STAGES": 2, "UNROLL": 1, "CP_ASYNC": 0,
         "SWIZZLE": 0, "HALF2": 0}


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("--work", required=True, help="where the sweeps are and stay")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--until-s", type=float, default=1e9)
    parser.add_argument("--own-baseline", action="store_true")
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    ask = parser.parse_args(words[:end])
    ask.flags = words[end + 1:]  # for fa-coord sweep
    return ask


def call(ask, folder, *words):
    """(wall seconds, exit code, stdout) of fa-coord WORDS in this folder, which is its home too."""
    began = time.monotonic()
    done = subprocess.run([os.path.join(os.path.abspath(ask.bin), "fa-coord"), *words], cwd=folder, check=False,
                          stdin=subprocess.DEVNULL, capture_output=True, text=True, env=dict(os.environ, HOME=folder))
    if done.returncode not in (0, 1):
        sys.exit(f"bench_effort.py: {' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    return time.monotonic() - began, done.returncode, done.stdout


def sweep(ask, name, *flags):
    """What a sweep took and found; made only if FOLDER/NAME does not hold it."""
    folder = os.path.join(os.path.abspath(ask.work), name)
    kept = os.path.join(folder, "took.json")
    if os.path.exists(kept):
        with open(kept) as f:
            return json.load(f)
    shutil.rmtree(folder, ignore_errors=True)
    shutil.copytree(os.path.join(ROOT, "kernels", "flash_attention"), folder)
    written = sweepfile.read(folder)
    if not ask.own_baseline:
        written["baseline"] = PLAIN
    sweepfile.write(folder, written)
    wall, code, _ = call(ask, folder, "sweep", "--db", "run.db", "--quiet", "--linger", "1", *flags, *ask.flags)
    report = json.loads(call(ask, folder, "report", "run.db", "--json")[2])
    verdict = report["verdict"]
    took = {"name": name, "flags": flags, "wall_s": wall, "exit_code": code, "tried": report["search"]["tried"],
            "sentence": verdict["sentence"], "checked": verdict["checked_sentence"], "best": verdict["best_config"], "key": verdict["best_key"],
            "speedup": verdict["speedup"], "speedup_ci_95": verdict["speedup_ci_95"],
            "finalists": len(verdict["finalists"]), "spending": report["spending"]}
    with open(kept, "w") as f:
        json.dump(took, f)
    print(f"{name:10} {wall:7.1f} s  {took['tried']:5} tried  {took['sentence']}", file=sys.stderr)
    return took


def answer(run):
    """The key of what the sweep says to use; None for the baseline."""
    return None if run["sentence"].startswith("nothing beats the baseline") else run["key"]


def remeasure(ask, whole, quick):
    """By shape, for each quick sweep: seconds and interval of its answer, beside those of the whole space's."""
    folder = os.path.join(os.path.abspath(ask.work), whole["name"])
    keys = sorted({answer(run) for run in [*quick, whole]} - {None})
    if not keys:
        return {}  # all answers are the baseline
    bench = json.loads(call(ask, folder, "bench", "--db", "run.db", "--shape", "all", "--json",
                            *(word for key in keys for word in ("--config", key)))[2])
    baseline = next(row["key"] for row in bench["configurations"] if row["baseline"])
    shapes = {}
    for shape in bench["shapes"]:
        of = {row["key"]: row for row in shape["measured"]}
        of[None] = of[baseline]
        best = of[answer(whole)]
        shapes[shape["shape"]] = [
            {"name": run["name"], "median_s": of[answer(run)]["median_s"], "ci_95": of[answer(run)]["ci_95"],
             "whole_median_s": best["median_s"], "whole_ci_95": best["ci_95"],
             "regret": of[answer(run)]["median_s"] / best["median_s"] - 1} for run in quick]
    return shapes


def main():
    ask = options()
    began = time.monotonic()
    os.makedirs(ask.work, exist_ok=True)
    whole = sweep(ask, "whole", "--strategy", "exhaustive")
    quick = []
    for seed in range(1, ask.seeds + 1):
        if time.monotonic() - began > ask.until_s:
            sys.exit(f"bench_effort.py: out of time before seed {seed}: the same command goes on")
        quick.append(sweep(ask, f"quick_{seed}", "--effort", "quick", "--seed", str(seed)))
    shapes = remeasure(ask, whole, quick)
    json.dump({"whole": whole, "quick": quick, "median_wall_s": statistics.median(run["wall_s"] for run in quick),
               "same_answer": sum(answer(run) == answer(whole) for run in quick),
               "regret": {shape: {"median": statistics.median(row["regret"] for row in rows),
                                  "worst": max(row["regret"] for row in rows), "of": rows}
                          for shape, rows in shapes.items()}}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
