#!/usr/bin/env python3
"""How busy a GPU is that is far away: real sweeps of vector_add over an sshd behind far.py.

    tests/bench/bench_far.py build/dev/bin [--against BIN] [--device cuda] [--round-trip-ms 80] [--shapes 12]

Every configuration has one build and a measurement at each shape.  Sweeps of the two builds take turns, each on a
worker of its own that has built all in the first, which does not count.

  wall_s        of the whole command, login and upload included
  measuring_s   from the first result of a measurement to the last
  busy          the share of measuring_s in which a measurement held the GPU
  median_ms     of a measurement, as it held the GPU
"""

import argparse
import json
import os
import shlex
import shutil
import sqlite3
import statistics
import subprocess
import sys
import tempfile
import time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
sys.path.insert(0, os.path.join(ROOT, "tests", "e2e"))
END_S = 300


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("--against", help="the programs of another build")
    parser.add_argument("--device", default="cuda")
    parser.add_argument("--round-trip-ms", type=float, default=80)
    parser.add_argument("--shapes", type=int, default=12)
    parser.add_argument("--elements", type=int, default=1 << 20, help="of the first shape")
    parser.add_argument("--rounds", type=int, default=3)
    return parser.parse_args()


def kernel(folder, args):
    import sweepfile
    shutil.copytree(os.path.join(ROOT, "kernels", "vector_add"), folder)
    sweep = sweepfile.read(folder)
    shapes = [{"name": f"n{i}", "N": args.elements + 64 * i} for i in range(args.shapes)]
    sweep["shapes"] = sweep["emulation_shapes"] = shapes
    sweep["confirm"] = False
    sweep["measure"]["canary_every"] = 0  # a GPU that rests says nothing of the way there
    sweepfile.write(folder, sweep)


def sweep(bin, place, args, n):
    folder = os.path.join(place, f"sweep{n}")
    kernel(folder, args)
    began = time.monotonic()
    done = subprocess.run([os.path.join(os.path.abspath(bin), "fa-coord"), "sweep", "--hosts",
                           os.path.join(place, "hosts.txt"), "--device", args.device, "--db", "x.db"], cwd=folder,
                          env={**os.environ, "HOME": os.path.join(place, "home")}, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True, timeout=END_S)
    wall_s = time.monotonic() - began
    if done.returncode != 0:
        sys.exit(done.stdout + done.stderr)
    db = sqlite3.connect(os.path.join(folder, "x.db"))
    rows = db.execute("SELECT received_utc / 1e9, held_s FROM result WHERE purpose = 'screen' ORDER BY 1").fetchall()
    [[gpu, driver, toolkit]] = db.execute("SELECT g.name, g.driver, h.toolkit FROM gpu g, host h").fetchall()
    db.close()
    shutil.rmtree(folder)
    measuring_s = rows[-1][0] - rows[0][0]
    held = [s for _, s in rows]
    return {"gpu": gpu, "driver": driver, "toolkit": toolkit}, {
        "measurements": len(rows), "wall_s": round(wall_s, 2), "measuring_s": round(measuring_s, 2),
        "busy": round(sum(held[1:]) / measuring_s, 3), "median_ms": round(1e3 * statistics.median(held), 2)}


def main():
    args = options()
    os.environ.setdefault("FA_SOURCE_DIR", ROOT)
    os.environ.setdefault("FA_BIN_DIR", os.path.abspath(args.bin))
    import rig
    bins = {"this": args.bin, **({"against": args.against} if args.against else {})}
    place = tempfile.mkdtemp(prefix="fa-far-", dir="/tmp")
    env = {"HOME": os.path.join(place, "home"), "PATH": os.environ["PATH"], "LANG": "C"}
    os.mkdir(env["HOME"], mode=0o700)
    sshd = rig.Sshd(os.path.join(place, "sshd"), env, path_too=True)
    far = subprocess.Popen([sys.executable, os.path.join(ROOT, "tests", "bench", "far.py"), str(sshd.port),
                            str(args.round_trip_ms)], stdout=subprocess.PIPE)
    runs = {name: [] for name in bins}
    try:
        sshd.port = int(far.stdout.readline())
        where = {}
        for turn in range(args.rounds + 1):
            for name in (list(bins) if turn % 2 == 0 else reversed(bins)):
                with open(os.path.join(place, "hosts.txt"), "w") as f:
                    f.write(sshd.line(f"workdir={place}/{name} gpus=0") + "\n")
                where, run = sweep(bins[name], place, args, f"{turn}{name}")
                print(name, turn, run, file=sys.stderr, flush=True)
                runs[name] += [run] if turn else []
    finally:
        far.kill()
        far.wait()
        sshd.stop()
        shutil.rmtree(place, ignore_errors=True)
    out = {"command": shlex.join(sys.argv), **where, "round_trip_ms": args.round_trip_ms}
    for name, of in runs.items():
        out[name] = {key: statistics.median(run[key] for run in of) for key in of[0]}
    if args.against:
        out["ratio"] = round(statistics.median(a["measuring_s"] / b["measuring_s"]
                                               for a, b in zip(runs["this"], runs["against"])), 3)
    print(json.dumps(out, indent=1))


if __name__ == "__main__":
    main()
