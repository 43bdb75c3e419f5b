#!/usr/bin/env python3
"""How long a configuration holds the GPU while it is screened.

    tests/bench/bench_hold.py build/dev/bin [FOLDER] [--device cuda] [--n 100] [--l2 flush] [--samples 15]

The bench sweeps N configurations that a seed draws from the folder's sweep file (flash_attention's), on the
first shape, without a confirmation.  JSON goes to stdout: the seconds from a request to its answer (load,
check, time, check again; docs/measuring.md), over all configurations and by the way their sampling ended; the
number of samples; and whether the launches were held at the gate.  The median comes last, to stderr.  The
target is 10 ms for flash_attention's s512 on an H200.  On the cpu device the figure only shows that the bench
runs.
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
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
import sweepfile  # noqa: E402

TARGET_S = 0.010
QUERY = """SELECT held_s, sampling, json_array_length(samples), json_array_length(rejected), l2, blocked
           FROM result WHERE counted = 1 AND purpose = 'screen' AND outcome = 'correct'"""


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("folder", nargs="?", default=os.path.join(ROOT, "kernels", "flash_attention"))
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--n", type=int, default=100)
    parser.add_argument("--l2", default="flush", choices=("flush", "warm", "rotate"))
    parser.add_argument("--samples", type=int, help="that many of each; without it, as the sweep file says")
    return parser.parse_args()


def prepare(ask, folder):
    """The sweep file with one shape, for a screening alone."""
    sweep = sweepfile.read(folder)
    for shapes in ("shapes", "emulation_shapes"):
        if shapes in sweep:
            sweep[shapes] = sweep[shapes][:1]
    sweep["confirm"] = False
    sweep["measure"]["l2"] = ask.l2
    if ask.samples:
        sweep["measure"]["samples"] = ask.samples
    sweepfile.write(folder, sweep)
    return sweep["name"]


def run(ask, work):
    folder = os.path.join(work, "sweep")
    shutil.copytree(ask.folder, folder)
    name = prepare(ask, folder)
    subprocess.run([os.path.join(os.path.abspath(ask.bin), "fa-coord"), "sweep", "--device", ask.device,
                    "--strategy", f"random:{ask.n}", "--seed", "1", "--linger", "1"],
                   cwd=folder, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
    db = sqlite3.connect(f"file:{os.path.join(folder, name)}.db?mode=ro", uri=True)
    try:
        return db.execute(QUERY).fetchall()
    finally:
        db.close()


def figures(rows):
    held = sorted(row[0] for row in rows)
    return {"n": len(held), "median_s": statistics.median(held), "p90_s": held[min(len(held) - 1, len(held) * 9 // 10)],
            "max_s": held[-1], "samples": statistics.median(row[2] for row in rows)}


def main():
    ask = options()
    with tempfile.TemporaryDirectory(prefix="fa-hold-", dir="/tmp") as work:
        rows = run(ask, work)
    if not rows:
        sys.exit("no configuration was correct")
    all_of = figures(rows)
    out = {"device": ask.device, "l2": sorted({row[4] for row in rows}), "held": all_of,
           "by_sampling": {word: figures([row for row in rows if row[1] == word])
                           for word in sorted({row[1] for row in rows})},
           "rejected": sum(row[3] for row in rows), "blocked": sum(row[5] for row in rows),
           "target_s": TARGET_S}
    json.dump(out, sys.stdout, indent=2)
    print()
    print(f"held a configuration: {1e3 * all_of['median_s']:.3f} ms (median of {all_of['n']}), "
          f"target {1e3 * TARGET_S:g} ms", file=sys.stderr)


if __name__ == "__main__":
    main()
