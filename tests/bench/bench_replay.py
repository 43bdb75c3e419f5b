#!/usr/bin/env python3
"""How near the whole system comes, on a recorded landscape, to the bound that no scheduler can beat.

  sweep wall-clock over the bound max(N m / GPUs, N c / slots)
  GPU busy while work is left, of all GPUs, canaries included

N is the number of configurations; c and m are the recorded means of a build and of a measurement.  Coordinator,
worker, runner and database are the real programs on this machine.  Recorded time passes SPEED_UP times faster, so
the time of the programs themselves counts SPEED_UP times as much, and the figures are upper bounds.  The wall-clock
goes from the first lease to the last result of the screening, with canaries; nothing is confirmed.  Prints JSON.

Usage: bench_replay.py BIN LANDSCAPE [--points N] [--gpus N] [--slots N] [--speed-up N] [--repeat N]
"""

import argparse
import gzip
import json
import os
import shutil
import signal
import sqlite3
import statistics
import subprocess
import tempfile
import time


def read(path):
    with (gzip.open(path, "rt") if path.endswith(".gz") else open(path)) as f:
        text = f.read()
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return json.loads(text.rstrip().rstrip(",") + "}}")


def every_nth(landscape, points):
    """'points' configurations, spread over the whole file."""
    keys = list(landscape["cache"])
    step = max(len(keys) / points, 1)
    kept = [keys[int(i * step)] for i in range(min(points, len(keys)))]
    return {**landscape, "cache": {key: landscape["cache"][key] for key in kept}}


def workers(folder):
    found = []
    for pid in filter(str.isdigit, os.listdir("/proc")):
        try:
            with open(f"/proc/{pid}/cmdline", "rb") as f:
                if f"--workdir {folder}/".encode() in f.read().replace(b"\0", b" "):
                    found.append(int(pid))
        except OSError:
            continue
    return found


def end_workers(folder):
    deadline = time.monotonic() + 20
    while (left := workers(folder)) and time.monotonic() < deadline:
        for pid in left:
            try:
                os.kill(pid, signal.SIGTERM)
            except ProcessLookupError:
                pass
        time.sleep(0.1)


def do_not_confirm(path):
    with open(path) as f:
        text = f.read()
    with open(path, "w") as f:
        f.write(text.replace('"measure":', '"confirm": false,\n"measure":', 1))


def measure(args, landscape):
    folder = tempfile.mkdtemp(prefix="fa-bench-", dir="/tmp")
    try:
        path = os.path.join(folder, "landscape.json")
        with open(path, "w") as f:
            json.dump(landscape, f)
        with open(os.path.join(folder, "hosts.txt"), "w") as f:
            f.write(f"localhost gpus={','.join(map(str, range(args.gpus)))} slots={args.slots}\n")
        os.makedirs(os.path.join(folder, "run"), mode=0o700)
        env = {**os.environ, "HOME": folder, "XDG_RUNTIME_DIR": os.path.join(folder, "run")}
        coord = os.path.join(args.bin, "fa-coord")
        how = {"cwd": folder, "env": env, "check": True, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}
        subprocess.run([coord, "import", path, "--sweep", "sweep.json"], **how)
        do_not_confirm(os.path.join(folder, "sweep.json"))
        subprocess.run([coord, "sweep", "sweep.json", "--quiet", "--hosts", "hosts.txt", "--device", f"replay={path}",
                        "--speed-up", str(args.speed_up), "--db", "x.db", "--strategy", "exhaustive"], **how)
        return figures(args, os.path.join(folder, "x.db"))
    finally:
        end_workers(folder)
        shutil.rmtree(folder, ignore_errors=True)


def figures(args, path):
    db = sqlite3.connect(f"file:{path}?mode=ro", uri=True)

    def one(sql):
        return db.execute(sql).fetchone()

    builds, build_s = one("SELECT count(*), sum(seconds) FROM build WHERE counted = 1 AND purpose = 'kernel'")
    measured, gpu_s = one("SELECT count(*), sum(held_s) FROM result WHERE counted = 1 AND purpose = 'screen'")
    [busy_s] = one("SELECT sum(held_s) FROM result")
    first, last = one("SELECT min(leased_utc), max(ended_utc) FROM lease")
    begun, ended = one("SELECT min(leased_utc), max(ended_utc) FROM lease WHERE stage = 'measure'")
    wall_s = (last - first) / 1e9 * args.speed_up
    bound_s = max(gpu_s / args.gpus, build_s / args.slots)
    busy = busy_s / args.gpus / ((ended - begun) / 1e9 * args.speed_up)
    db.close()
    return {"configurations": measured, "builds": builds, "build_s": build_s / builds, "measure_s": gpu_s / measured,
            "wall_s": wall_s, "bound_s": bound_s, "over_bound": wall_s / bound_s, "gpu_busy": busy}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin", help="folder of fa-coord and fa-worker")
    parser.add_argument("landscape")
    parser.add_argument("--points", type=int, default=400)
    parser.add_argument("--gpus", type=int, default=1)
    parser.add_argument("--slots", type=int, default=4)
    parser.add_argument("--speed-up", type=float, default=10)
    parser.add_argument("--repeat", type=int, default=3)
    args = parser.parse_args()
    args.bin = os.path.abspath(args.bin)
    landscape = every_nth(read(args.landscape), args.points)
    runs = [measure(args, landscape) for _ in range(args.repeat)]
    print(json.dumps({"landscape": os.path.basename(args.landscape), "gpus": args.gpus, "slots": args.slots,
                      "speed_up": args.speed_up, "runs": runs,
                      "over_bound": statistics.median(r["over_bound"] for r in runs),
                      "gpu_busy": statistics.median(r["gpu_busy"] for r in runs)}, indent=1))


if __name__ == "__main__":
    main()
