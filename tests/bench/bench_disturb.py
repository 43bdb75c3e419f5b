#!/usr/bin/env python3
"""Do builds disturb measurements on the same host?

    tests/bench/bench_disturb.py build/dev/bin [--device cuda] [--rounds 3] [--against BIN]

The bench sweeps the 24 right configurations of tests/fixtures/neighbours, which have the same machine code but
for one number, three times a round: from nothing, so that compilers run beside the measurements; and twice
with all artifacts in the host's cache, so that none runs.  What was measured after the last build is left out.
JSON goes to stdout: for each configuration the ratio of its medians beside builds and alone, and as the noise
that of the two alone; and the spread of the samples of a configuration (interquartile range over median).
With --against, another build of the programs runs in turns with the first.  The target is that beside builds
and alone differ by no more than 1 % on a GPU in the median.  On the cpu device, the emulator takes the
processors that compilers take as well, so that the figures are the worst case.
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

TARGET = 0.01
QUERY = """SELECT r.config, r.samples, r.received_utc < (SELECT max(received_utc) FROM build WHERE cached = 0)
           FROM result r WHERE r.counted = 1 AND r.purpose = 'screen' AND r.outcome = 'correct'"""


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("--against", metavar="BIN", help="the programs of another build")
    parser.add_argument("--device", default="cuda", choices=("cuda", "cpu"))
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


def prepare(folder):
    """Only the right ones, each with the same number of samples."""
    shutil.copytree(os.path.join(ROOT, "tests", "fixtures", "neighbours"), folder)
    sweep = sweepfile.read(folder)
    sweep["tunables"]["FAULT"] = ["none"]
    sweep["gates"] = []
    sweep["measure"]["canary_every"] = 0
    sweepfile.write(folder, sweep)


def sweep(ask, programs, folder, home):
    """Samples by configuration, of those that were measured while there were builds, and of the others."""
    subprocess.run([os.path.join(os.path.abspath(programs), "fa-coord"), "sweep", "--device", ask.device, "--fresh",
                    "--linger", "1"], cwd=folder, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                   stderr=subprocess.DEVNULL, env=dict(os.environ, HOME=home))
    db = sqlite3.connect(f"file:{os.path.join(folder, 'neighbours.db')}?mode=ro", uri=True)
    try:
        rows = db.execute(QUERY).fetchall()
    finally:
        db.close()
    beside, alone = {}, {}
    for config, samples, while_builds in rows:
        (beside if while_builds else alone)[config] = json.loads(samples)
    return beside, alone


def spread(samples):
    low, _, high = statistics.quantiles(samples, n=4)
    return (high - low) / statistics.median(samples)


def one_round(ask, programs, found):
    with tempfile.TemporaryDirectory(prefix="fa-disturb-", dir="/tmp") as home:
        folder = os.path.join(home, "sweep")
        prepare(folder)
        beside, _ = sweep(ask, programs, folder, home)
        (_, alone), (_, again) = sweep(ask, programs, folder, home), sweep(ask, programs, folder, home)
    for config in beside:
        median = statistics.median(alone[config])
        found["beside_over_alone"].append(statistics.median(beside[config]) / median)
        found["alone_over_alone"].append(statistics.median(again[config]) / median)
        found["spread_beside"].append(spread(beside[config]))
        found["spread_alone"].append(spread(alone[config]))


def figures(values):
    ranked = sorted(values)
    return {"n": len(ranked), "median": statistics.median(ranked), "p90": ranked[len(ranked) * 9 // 10], "max": ranked[-1],
            "min": ranked[0]}


def main():
    ask = options()
    builds = [ask.bin] + ([ask.against] if ask.against else [])
    found = [{key: [] for key in ("beside_over_alone", "alone_over_alone", "spread_beside", "spread_alone")} for _ in builds]
    before = os.getloadavg()[0]
    for _ in range(ask.rounds):
        for programs, lists in zip(builds, found):
            one_round(ask, programs, lists)
    if not found[0]["beside_over_alone"]:
        sys.exit("no measurement ended before the last build")
    out = [{key: figures(values) for key, values in lists.items()} for lists in found]
    json.dump({"device": ask.device, "rounds": ask.rounds, "cores": len(os.sched_getaffinity(0)), "load_before": before,
               **out[0], **({"against": out[1]} if ask.against else {}), "target": TARGET}, sys.stdout, indent=2)
    print()
    ratio, noise = out[0]["beside_over_alone"]["median"], out[0]["alone_over_alone"]["median"]
    print(f"beside builds {100 * (ratio - 1):+.2f} %, without {100 * (noise - 1):+.2f} %, target {100 * TARGET:g} %",
          file=sys.stderr)


if __name__ == "__main__":
    main()
