"""What several sweeps of one kernel say of each other: winners, their regret, agreement, ties.

Pure, but for the two that read a database.  'report' is what 'fa-coord report --json' prints of a sweep,
'bench' what 'fa-coord bench --json' prints of the re-measurement; times are in seconds.
"""
import itertools
import json
import math
import os
import sqlite3
import statistics

METHODS = ("confirmed", "finalist", "screened", "one_sample")
ALONE_MOST = 5  # samples of a configuration that are each asked alone: the least that a screening takes
ALPHA = 0.05
ROUNDS = 10000  # of a pass: docs/confirm.md
NS_PER_HOUR = 3.6e12


# ---- one sweep

def ranked(report):
    return [result for result in report["results"] if result["rank"] is not None]


def times(report):
    """The screened median of what is correct everywhere, normalised where there are canaries: {shape: {key: s}}."""
    found = {}
    for result in ranked(report):
        for cell in result["shapes"]:
            found.setdefault(cell["shape"], {})[result["key"]] = cell["normalised_s"] or cell["median_s"]
    return found


def samples(report):
    found = {}
    for result in ranked(report):
        for cell in result["shapes"]:
            found.setdefault(cell["shape"], {})[result["key"]] = cell["samples"]
    return found


def fastest(seconds):
    return min(seconds, key=lambda key: (seconds[key], key)) if seconds else None


def alone(taken):
    """The winner by the first sample of each, by the second of each, ...: keys."""
    deep = min([ALONE_MOST, *map(len, taken.values())]) if taken else 0
    return [fastest({key: values[i] for key, values in taken.items()}) for i in range(deep)]


def confirmed(shape):
    """What a confirmation tells to take: its best where that beats the baseline, else the baseline."""
    return shape["best_key"] if shape["verdict"] == "FAST" else shape["baseline"]["key"]


def facts(report):
    """Of one sweep, by shape: who won by which method, who was in the final, who ties."""
    by_time, by_sample, found = times(report), samples(report), {}
    verdicts = {shape["shape"]: shape for shape in report["verdict"]["shapes"]}
    for name, seconds in by_time.items():
        singles, verdict = alone(by_sample[name]), verdicts.get(name)
        found[name] = {
            "winners": {"confirmed": verdict and confirmed(verdict), "finalist": verdict and verdict["best_key"],
                        "screened": fastest(seconds), "one_sample": singles[0] if singles else None},
            "one_sample_each": singles,
            "finalists": [f["key"] for f in sorted(verdict["finalists"], key=lambda f: f["median_s"])] if verdict else [],
            "tied": sorted(tie["key"] for tie in verdict["tie_set"]) if verdict else [],
            "sentence": verdict and verdict["sentence"],
        }
    return found


def open_readonly(path):
    db = sqlite3.connect(f"file:{os.path.abspath(path)}?mode=ro", uri=True, timeout=10)
    db.row_factory = sqlite3.Row
    return db


OURS = "epoch IN (SELECT epoch FROM run WHERE command NOT IN ('bench', 'profile'))"  # not what came after the sweep


def held(path):
    """Hours and dollars of the hosts of a database (None: unpriced), and seconds of its GPUs by purpose."""
    db = open_readonly(path)
    hours = usd = 0
    for row in db.execute(f"SELECT sum(end_ns - start_ns) AS ns, rate_usd_per_h AS rate FROM interval JOIN host "
                          f"ON host.name = interval.host WHERE {OURS} GROUP BY host.name"):
        hours += row["ns"] / NS_PER_HOUR
        usd = None if usd is None or row["rate"] is None else usd + row["ns"] / NS_PER_HOUR * row["rate"]
    gpu = {row[0]: row[1] for row in db.execute(f"SELECT purpose, sum(held_s) FROM result WHERE {OURS} GROUP BY 1")}
    db.close()
    return hours, usd, gpu


def costs(path, fuzz_path):
    """What a sweep took, the proof of its finalists included, from its databases."""
    hours, usd, gpu_s = held(path)
    if os.path.exists(fuzz_path):
        more_hours, more_usd, proof = held(fuzz_path)
        hours += more_hours
        usd = None if usd is None or more_usd is None else usd + more_usd
        gpu_s["proof"] = sum(proof.values())
    db = open_readonly(path)
    builds = dict(zip(("builds", "builds_cached", "compiler_s"), db.execute(
        f"SELECT count(*), coalesce(sum(cached), 0), coalesce(sum(seconds), 0.0) FROM build "
        f"WHERE purpose = 'kernel' AND {OURS}").fetchone()))
    gpus = db.execute("SELECT count(DISTINCT gpu) FROM result").fetchone()[0]
    screening_s = db.execute("SELECT coalesce(sum(ended_utc - epoch), 0) / 1e9 FROM run "
                             "WHERE command IN ('sweep', 'sweep --fresh', 'resume')").fetchone()[0]
    db.close()
    screened_s = gpu_s.get("screen", 0) + gpu_s.get("canary", 0)
    return {**builds, "hours": hours, "cost_usd": usd, "gpus": gpus, "gpu_s": gpu_s, "screening_s": screening_s,
            "busy_screening": screened_s / (screening_s * gpus) if screening_s and gpus else None}


def busy(run):
    """The share of a sweep's wall-clock in which its GPUs were held."""
    whole = run["wall_s"] * run["costs"]["gpus"]
    return sum(run["costs"]["gpu_s"].values()) / whole if whole else None


# ---- sweeps beside each other

def changes(keys):
    """Of the winners of several sweeps: how many different ones, and in how many pairs of sweeps they differ."""
    pairs = list(itertools.combinations(keys, 2))
    return {"picks": len(keys), "different": len(set(keys)), "pairs": len(pairs),
            "pairs_that_differ": sum(a != b for a, b in pairs)}


def p90(values):
    return statistics.quantiles(values, n=10, method="inclusive")[8] if len(values) > 1 else values[0]


def agreement(runs):
    """|ratio - 1| of the times of a configuration in two sweeps, all pairs of sweeps together: 'runs' is [{key: s}]."""
    pairs = [[b[key] / a[key] for key in a if key in b] for a, b in itertools.combinations(runs, 2)]
    off = [abs(ratio - 1) for pair in pairs for ratio in pair]
    if not off:
        return None
    return {"configurations": min(map(len, pairs)), "median": statistics.median(off), "p90": p90(off),
            "worst": max(off), "levels": [statistics.median(pair) for pair in pairs if pair]}


def overlap(sets):
    sets = [set(members) for members in sets]
    return {"sizes": [len(members) for members in sets], "in_all": len(set.intersection(*sets)),
            "in_any": len(set.union(*sets))}


# ---- the re-measurement

def candidates(runs, baseline, most):
    """Whom to measure again: winners first, then finalists by their place: (keys, how many are left out)."""
    by_shape = [shape for run in runs for shape in run["shapes"].values()]
    wanted = [key for shape in by_shape for key in [*shape["winners"].values(), *shape["one_sample_each"]]]
    finals = itertools.zip_longest(*(shape["finalists"] for shape in by_shape))
    wanted += [key for row in finals for key in row]
    keys = [key for key in dict.fromkeys(wanted) if key and key != baseline]
    return keys[:most], len(keys[most:])


def covers(bench, keys):
    """Were all of these measured again, or found wrong by it?"""
    return bool(bench) and set(keys) <= {c["key"] for c in [*bench["configurations"], *bench["rejected"]]}


def blocks(path, number, shapes, keys):
    """The medians of each complete block of a pass: {shape: {block: {key: s}}}."""
    db = open_readonly(path)
    rows = db.execute("SELECT round % ? AS block, shape, config, samples FROM result WHERE purpose = 'confirm' "
                      "AND counted = 1 AND outcome = 'correct' AND round / ? = ?", (ROUNDS, ROUNDS, number)).fetchall()
    db.close()
    found = {name: {} for name in shapes}
    for row in rows:
        if row["config"] in keys and row["shape"] in found:
            values = json.loads(row["samples"])
            found[row["shape"]].setdefault(row["block"], {})[row["config"]] = statistics.median(values)
    whole = [number for number in {n for of in found.values() for n in of}
             if all(set(of.get(number, ())) == set(keys) for of in found.values())]
    return {name: {number: of[number] for number in sorted(whole)} for name, of in found.items()}


def depth(n):
    """How many of n values from each end an interval of the median leaves out; None when n are too few."""
    below, tail = None, 0.0
    for k in range(n // 2):
        tail += math.comb(n, k) * 0.5 ** n
        if 2 * tail > ALPHA:
            break
        below = k
    return below


def regret(of_blocks, key, best):
    """How much slower than the best, from what both took in the same blocks, with the median's interval."""
    ratios = sorted(block[key] / block[best] - 1 for block in of_blocks.values())
    if not ratios:
        return None
    below = depth(len(ratios))
    return {"regret": statistics.median(ratios),
            "interval": None if below is None else [ratios[below], ratios[-1 - below]]}


def remeasured(bench, of_blocks):
    """By shape, who is the best by the re-measurement, and how far all the others are behind."""
    found = {}
    for shape in bench["shapes"]:
        seconds = {measured["key"]: measured["median_s"] for measured in shape["measured"]}
        best = fastest(seconds)
        found[shape["shape"]] = {
            "best": best,
            "times": {key: {"median_s": s, **(regret(of_blocks[shape["shape"]], key, best) or {})}
                      for key, s in seconds.items()}}
    return found


# ---- all of it

def regrets(keys, again):
    """Of picks: the mean and the worst regret of those that were measured again."""
    known = [again["times"][key]["regret"] for key in keys if "regret" in again["times"].get(key, {})]
    if not known:
        return None
    return {"each": [again["times"].get(key, {}).get("regret") for key in keys], "mean": statistics.mean(known),
            "worst": max(known), "measured": len(known)}


def picks(runs, name, method):
    found = [run["shapes"][name]["winners"][method] for run in runs if name in run["shapes"]]
    return [key for key in found if key]


def of_shape(runs, run_times, name, again):
    mine = [run["shapes"][name] for run in runs if name in run["shapes"]]
    chosen = {method: picks(runs, name, method) for method in METHODS}
    chosen["one_sample_each"] = [key for shape in mine for key in shape["one_sample_each"]]
    methods = {method: {**changes(keys), "regret": again and regrets(keys, again)} for method, keys in chosen.items() if keys}
    return {"methods": methods, "agreement": agreement([t[name] for t in run_times if name in t]),
            "finalists": overlap([shape["finalists"] for shape in mine]),
            "tie_sets": overlap([shape["tied"] for shape in mine])}


def figures(runs, run_times, again):
    """runs: each with 'shapes' as facts() has it; run_times: times() of each; again: remeasured() or None."""
    names = list(dict.fromkeys(name for run in runs for name in run["shapes"]))
    return {name: of_shape(runs, run_times, name, (again or {}).get(name)) for name in names}
