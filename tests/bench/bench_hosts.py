#!/usr/bin/env python3
"""What a whole sweep takes and costs with other hosts, for example with a builder beside the GPU and without.

    tests/bench/bench_hosts.py build/dev/bin --sweep kernels/flash_attention --hosts alone.txt builder.txt [--keep FOLDER]
        [-- FLAGS] > FILE

Each hosts file is swept once, from a copy of the sweep's folder, with an empty database and an empty cache on this
machine; 'workdir=' in a line of a hosts file keeps what other hosts have apart.  FLAGS go to fa-coord sweep.  JSON
goes to stdout: the hosts, wall seconds of the whole command, what was counted, the verdict's sentence, and what
'report --cost' says.  With --keep the databases stay, as FOLDER/NAME.db of the hosts file NAME.txt.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("--sweep", required=True, help="a folder that holds a sweep.json")
    parser.add_argument("--hosts", nargs="+", required=True, metavar="FILE")
    parser.add_argument("--keep", metavar="FOLDER")
    words = sys.argv[1:]
    end = words.index("--") if "--" in words else len(words)
    ask = parser.parse_args(words[:end])
    ask.flags = words[end + 1:]  # for fa-coord sweep
    return ask


def name_of(hosts):
    return os.path.splitext(os.path.basename(hosts))[0]


def run(ask, hosts, work):
    folder = os.path.join(work, "sweep")
    shutil.copytree(ask.sweep, folder)
    shutil.copy(hosts, os.path.join(folder, "hosts.txt"))
    environment = dict(os.environ, HOME=work)
    coordinator = os.path.join(os.path.abspath(ask.bin), "fa-coord")
    words = ["sweep", "--hosts", "hosts.txt", "--db", "run.db", "--quiet", *ask.flags]
    began = time.monotonic()
    done = subprocess.run([coordinator, *words], cwd=folder, env=environment, check=False, stdin=subprocess.DEVNULL,
                          capture_output=True, text=True)
    wall = time.monotonic() - began
    if done.returncode not in (0, 1):
        sys.exit(f"bench_hosts.py: {hosts}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    report = json.loads(subprocess.run([coordinator, "report", "run.db", "--json"], cwd=folder, env=environment,
                                       check=True, capture_output=True, text=True).stdout)
    if ask.keep:
        shutil.copy(os.path.join(folder, "run.db"), os.path.join(ask.keep, f"{name_of(hosts)}.db"))
    with open(hosts) as f:
        lines = [line.strip() for line in f if line.strip() and not line.startswith("#")]
    print(f"{name_of(hosts):16} {wall:7.1f} s  {report['cost']['total_usd']:.4f} $", file=sys.stderr)
    return {"hosts": lines, "command": " ".join(["fa-coord", *words]), "wall_s": wall, "exit_code": done.returncode,
            "counts": report["counts"], "verdict": report["verdict"] and report["verdict"]["sentence"],
            "cost": report["cost"], "spending": report["spending"]}


def main():
    ask = options()
    runs = {}
    for hosts in ask.hosts:
        with tempfile.TemporaryDirectory(prefix="fa-bench-hosts-") as work:
            runs[name_of(hosts)] = run(ask, hosts, work)
    json.dump({"runs": runs}, sys.stdout, indent=1)
    print()


if __name__ == "__main__":
    main()
