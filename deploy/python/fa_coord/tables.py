"""The JSON of fa-coord as tables: a list of rows, each a dict.

Pure functions of what 'fa-coord report --json' and 'fa-coord export --format
trace' print (docs/report.md, docs/exchange.md).  Times are seconds, unknown
values None.  A row has a column for each tunable; a tunable with the name of
another column gets a '_' appended.
"""

from __future__ import annotations

from typing import Any, Dict, List, Optional, Tuple

Row = Dict[str, Any]

FIGURES = ("median_s", "normalised_s", "spread_s", "n_samples", "sampling", "power_capped", "of_floor", "relative_l2",
           "max_error", "registers", "spill_bytes", "attempts", "host", "gpu", "gpu_name")
COLUMNS = {
    "results": ("key", "rank", "baseline", "shape", "outcome", "reason", *FIGURES),
    "samples": ("key", "baseline", "shape", "host", "gpu", "gpu_name", "sample", "seconds"),
    "builds": ("key", "host", "outcome", "seconds"),
    "cost": ("host", "category", "hours", "usd"),
    "hosts": ("host", "rate_usd_per_h", "hours", "usd", "gpu", "gpu_name", "measured", "canaries", "quarantined"),
    "verdict": ("shape", "key", "role", "median_s", "low_s", "high_s", "speedup", "speedup_low", "speedup_high",
                "verdict", "p_holm", "tied"),
    "convergence": ("evaluation", "seconds", "key", "outcome", "median_s", "best_s"),
}


def with_tunables(row: Row, more: Row) -> Row:
    """'row' and further columns that users named."""
    for name, value in more.items():
        while name in row:
            name += "_"
        row[name] = value
    return row


def results(report: Row) -> List[Row]:
    """A row is a configuration at a shape, ranked ones first."""
    rows = []
    for result in report["results"]:
        for at in result["shapes"]:
            row = {name: result[name] for name in ("key", "rank", "baseline")}
            row.update((name, at.get(name)) for name in ("shape", "outcome", "reason", *FIGURES))
            rows.append(with_tunables(with_tunables(row, result["config"]), at.get("metrics") or {}))
    return rows


def samples(report: Row) -> List[Row]:
    """A row is a sample of the result that settled a configuration at a shape;
    'sample' counts from 0."""
    rows = []
    for result in report["results"]:
        for at in result["shapes"]:
            for i, seconds in enumerate(at.get("samples") or []):
                row = {"key": result["key"], "baseline": result["baseline"]}
                row.update((name, at.get(name)) for name in ("shape", "host", "gpu", "gpu_name"))
                rows.append(with_tunables({**row, "sample": i, "seconds": seconds}, result["config"]))
    return rows


def cost(report: Row) -> List[Row]:
    """A row is a host and what it was held for, with the proof of the
    finalists if there was one; they add up to the host's hours and dollars.
    'usd' is None for a host without a price."""
    rows = []
    for host in report["cost"]["hosts"]:
        # Runs may have had other rates than the newest one.
        rate = None if host["usd"] is None else host["usd"] / host["hours"] if host["hours"] else 0.0
        held = dict(host["categories"])
        if host.get("proof_hours"):
            held["proof"] = host["proof_hours"]
        for category, hours in held.items():
            rows.append({"host": host["host"], "category": category, "hours": hours,
                         "usd": None if rate is None else hours * rate})
    return rows


def hosts(report: Row) -> List[Row]:
    """A row is a GPU of a host; a host that measured nothing has one row
    without a GPU.  Hours and dollars are those of the whole host."""
    rows = []
    for host in report["cost"]["hosts"]:
        row = {name: host[name] for name in ("host", "rate_usd_per_h", "hours", "usd")}
        for gpu in [gpu for gpu in report["gpus"] if gpu["host"] == host["host"]] or [{}]:
            rows.append({**row, **{name: gpu.get(name) for name in COLUMNS["hosts"][4:]}})
    return rows


def verdict(report: Row) -> List[Row]:
    """A row is the baseline or a finalist of the confirmation at a shape, with
    the intervals of its time and of its speedup over the baseline.  Empty
    without a confirmation."""
    rows = []
    for at in (report.get("verdict") or {}).get("shapes") or []:
        for role, of in [("baseline", at.get("baseline")), *(("finalist", f) for f in at.get("finalists") or [])]:
            if not of:
                continue
            low, high = of.get("ci_95") or (None, None)
            slow, fast = of.get("speedup_ci_95") or (None, None)
            row = {"shape": at["shape"], "key": of["key"], "role": role, "median_s": of.get("median_s"), "low_s": low,
                   "high_s": high, "speedup": of.get("speedup"), "speedup_low": slow, "speedup_high": fast}
            row.update((name, of.get(name)) for name in ("verdict", "p_holm", "tied"))
            rows.append(with_tunables(row, of["config"]))
    return rows


def spans(trace: Row, category: str) -> List[Row]:
    """The spans of one category ('build', 'measure'): rows of 'key shape name
    host seconds end_s', where 'end_s' counts from the start of the first run."""
    events = trace["traceEvents"]
    host = {e["pid"]: e["args"]["name"] for e in events if e["ph"] == "M" and e["name"] == "process_name"}
    return [{"key": e["args"].get("config"), "shape": e["args"].get("detail"), "name": e["name"],
             "host": host.get(e["pid"]), "seconds": e["dur"] / 1e6, "end_s": (e["ts"] + e["dur"]) / 1e6}
            for e in events if e["ph"] == "X" and e.get("cat") == category]


def builds(trace: Row) -> List[Row]:
    """A row is a build of a configuration that ran a compiler."""
    return [{"key": span["key"], "host": span["host"], "outcome": span["name"].split()[1], "seconds": span["seconds"]}
            for span in spans(trace, "build") if span["name"].startswith("kernel ")]


def convergence(report: Row, trace: Row, shape: str) -> List[Row]:
    """A row is a configuration in the order in which they were settled, with
    the best median until then.  'seconds' counts from the start of the first
    run.  What has no time of its own in the trace is left out."""
    settled: Dict[str, float] = {}
    for span in spans(trace, "build"):
        settled[span["key"]] = span["end_s"]
    measured: Dict[str, float] = {}
    for span in spans(trace, "measure"):
        if span["name"].startswith("screen ") and span["shape"] == shape:
            measured.setdefault(span["key"], span["end_s"])
    settled.update(measured)
    done = [row for row in results(report)
            if row["shape"] == shape and row["key"] in settled and row["outcome"] != "pending"]
    config = {result["key"]: result["config"] for result in report["results"]}
    best: Optional[float] = None
    rows = []
    for i, row in enumerate(sorted(done, key=lambda row: settled[row["key"]])):
        median = row["median_s"] if row["outcome"] == "correct" else None
        if median is not None and (best is None or median < best):
            best = median
        rows.append(with_tunables({"evaluation": i + 1, "seconds": settled[row["key"]], "key": row["key"],
                                   "outcome": row["outcome"], "median_s": median, "best_s": best}, config[row["key"]]))
    return rows


def label(config: Row, baseline: Optional[Row]) -> str:
    """A configuration by what it changes in the baseline."""
    if baseline is not None:
        config = {name: value for name, value in config.items() if baseline.get(name) != value}
    return " ".join(f"{name}={value}" for name, value in config.items()) or "baseline"


def intervals(report: Row, shape: str, top: int) -> Tuple[str, List[Row]]:
    """What an interval plot shows: its kind, and rows of 'label low_s mid_s
    high_s', the fastest first.

    'confidence'  of the baseline and the finalists, once they are confirmed
    'spread'      before: median and spread of the 'top' fastest, and of the
                  baseline.  These are of one process each, and prove nothing
    """
    config = {result["key"]: result["config"] for result in report["results"]}
    baseline = next((result["config"] for result in report["results"] if result["baseline"]), None)
    kind = "confidence"
    rows = [(row["key"], row["low_s"], row["median_s"], row["high_s"]) for row in verdict(report)
            if row["shape"] == shape and row["low_s"] is not None]
    if not rows:
        kind = "spread"
        timed = [row for row in results(report) if row["shape"] == shape and row["median_s"] is not None]
        timed.sort(key=lambda row: row["median_s"])
        shown = timed[:top] + [row for row in timed[top:] if row["baseline"]]
        rows = [(row["key"], row["median_s"] - (row["spread_s"] or 0), row["median_s"],
                 row["median_s"] + (row["spread_s"] or 0)) for row in shown]
    rows.sort(key=lambda row: row[2])
    return kind, [{"label": label(config.get(key, {}), baseline), "low_s": low, "mid_s": mid, "high_s": high}
                  for key, low, mid, high in rows]


def cells(rows: List[Row], x: str, y: str) -> Tuple[List[Any], List[Any], List[List[Optional[float]]]]:
    """The best median of each pair of values: values of 'x', values of 'y', and
    for each of the latter a list over the former, None where nothing is
    correct.  Raises ValueError for a name that is no column."""
    for name in (x, y):
        if rows and name not in rows[0]:
            raise ValueError(f"there is no column '{name}'; there are {', '.join(rows[0])}")
    best: Dict[Tuple[Any, Any], float] = {}
    for row in rows:
        if row["outcome"] == "correct" and row["median_s"] is not None:
            at = (row[x], row[y])
            best[at] = min(best.get(at, row["median_s"]), row["median_s"])
    xs = sorted({row[x] for row in rows}, key=_order)
    ys = sorted({row[y] for row in rows}, key=_order)
    return xs, ys, [[best.get((a, b)) for a in xs] for b in ys]


def _order(value: Any) -> Tuple[bool, Any]:
    """Numbers before texts, so that a tunable may have both."""
    return isinstance(value, str), value
