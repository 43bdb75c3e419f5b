#!/usr/bin/env python3
"""Is a configuration measured as fast after a kernel that crashes, hangs, fills memory or prints?

    tests/bench/bench_neighbours.py build/dev/bin [--device cuda] [--seeds 3]

The bench sweeps tests/fixtures/neighbours: 24 right configurations with the same machine code but for one
number, and 21 with faults, in an order that a seed draws; once a seed.  JSON goes to stdout: for each fault the medians of
the right configurations that came next on the same GPU, as ratios to the median of those that came after a
right one.  The target is 1 % for each on an H200.  On the cpu device the figures only show that the bench runs.
"""

import argparse
import json
import os
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
TARGET = 0.01
QUERY = """SELECT r.gpu, json_extract(c.params, '$.FAULT'), r.outcome, r.samples
           FROM result r JOIN config c ON c.key = r.config
           WHERE r.counted = 1 AND r.purpose = 'screen' ORDER BY r.gpu, r.received_utc, r.rowid"""


def sweep(ask, seed):
    with tempfile.TemporaryDirectory(prefix="fa-neighbours-", dir="/tmp") as work:
        folder = os.path.join(work, "sweep")
        shutil.copytree(os.path.join(ROOT, "tests", "fixtures", "neighbours"), folder)
        subprocess.run([os.path.join(os.path.abspath(ask.bin), "fa-coord"), "sweep", "--device", ask.device,
                        "--strategy", "random:45", "--seed", str(seed), "--linger", "1"], cwd=folder, check=True, stdin=subprocess.DEVNULL,
                       stdout=subprocess.DEVNULL)
        db = sqlite3.connect(f"file:{os.path.join(folder, 'neighbours.db')}?mode=ro", uri=True)
        try:
            return db.execute(QUERY).fetchall()
        finally:
            db.close()


def after(rows, found):
    """Add the median seconds of the right configurations to those found, by what came before them on their GPU."""
    for (gpu, fault, _, _), (next_gpu, next_fault, outcome, samples) in zip(rows, rows[1:]):
        if gpu == next_gpu and next_fault == "none" and outcome == "correct":
            found.setdefault(fault, []).append(statistics.median(json.loads(samples)))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--seeds", type=int, default=3)
    ask = parser.parse_args()
    found, rows = {}, []
    for seed in range(1, ask.seeds + 1):
        rows.append(sweep(ask, seed))
        after(rows[-1], found)
    if "none" not in found:
        sys.exit("no right configuration came after another")
    alone = statistics.median(found["none"])
    ratios = {fault: sorted(seconds / alone for seconds in found[fault]) for fault in sorted(found)}
    outcomes = {}
    for _, fault, outcome, _ in sum(rows, []):
        counts = outcomes.setdefault(fault, {})
        counts[outcome] = counts.get(outcome, 0) + 1
    worst = max((abs(ratio - 1) for fault, all_of in ratios.items() if fault != "none" for ratio in all_of), default=0)
    json.dump({"device": ask.device, "seeds": ask.seeds, "outcomes": outcomes, "alone_s": alone, "ratio_after": ratios,
               "worst": worst, "target": TARGET}, sys.stdout, indent=2)
    print()
    print(f"furthest from its time after a right one: {100 * worst:.2f} %, target {100 * TARGET:g} %", file=sys.stderr)


if __name__ == "__main__":
    main()
