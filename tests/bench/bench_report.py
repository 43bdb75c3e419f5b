#!/usr/bin/env python3
"""What 'report' of a large sweep takes: memory and CPU, of databases that bench_crowd makes.

    tests/bench/bench_report.py build/dev/bin [--results 5000 50000 1000000] [--against BIN]

Half of the results are builds, so there are half as many configurations.  Prints JSON: for each database and each form
of the report the most memory, and the CPU.  With --against, also those of another build's fa-coord.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile

WORKERS = 100
FORMS = {"text": [], "all": ["--show", "all"], "json": ["--json"], "csv": ["--csv"]}


def database(bin, folder, results):
    """Make one, and return its path and how many results it has."""
    out = subprocess.run([os.path.join(bin, "bench_crowd"), folder, str(WORKERS), str(results)], check=True,
                         stdout=subprocess.PIPE, text=True).stdout
    return os.path.join(folder, "fleet.db"), json.loads(out)["results"]


def cost(bin, db, flags):
    process = subprocess.Popen([os.path.join(bin, "fa-coord"), "report", db, *flags], stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode != 0:
        sys.exit(f"fa-coord report {' '.join(flags)}: exit code {process.returncode}")
    return {"peak_mib": round(usage.ru_maxrss / 1024, 1), "cpu_s": round(usage.ru_utime + usage.ru_stime, 2)}


def measure(bin, results, forms=tuple(FORMS), against=None):
    with tempfile.TemporaryDirectory(prefix="fa-report-") as folder:
        db, has = database(bin, folder, results)
        costs = {form: cost(bin, db, FORMS[form]) for form in forms}
        if against:
            costs = {"this": costs, "against": {form: cost(against, db, FORMS[form]) for form in forms}}
        return {"results": has, "db_mib": round(os.path.getsize(db) / 2**20, 1), **costs}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("bin")
    parser.add_argument("--results", type=int, nargs="+", default=[5000, 50000, 1000000])
    parser.add_argument("--forms", nargs="+", choices=FORMS, default=list(FORMS))
    parser.add_argument("--against", help="the programs of another build")
    args = parser.parse_args()
    print(json.dumps([measure(args.bin, n, args.forms, args.against) for n in args.results], indent=1))


if __name__ == "__main__":
    main()
