#!/usr/bin/env python3
"""Write the page of a record from its record.json.

    docs/results/record_page.py [FOLDER]     docs/results/h200/record when left out

A test holds the committed page against its file, so no number on it is typed by hand.
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
DATA, PAGE = "record.json", "record.md"
WORDS = {
    "confirmed": "the confirmation: its best finalist where that beats the baseline, else the baseline",
    "finalist": "the confirmation's best finalist, whether it beats the baseline or not",
    "screened": "the lowest screened median",
    "one_sample": "the first screened sample of each",
    "one_sample_each": "one screened sample of each: the first, the second, ...",
}
INTRODUCTION = """\
The same sweep, made several times on one machine, each with a database of its own: how far does an answer hold?
A **regret** is how much slower a winner is than the best of all that were measured again, all of them and the baseline
in the same blocks ([confirm](../../../confirm.md)), fresh samples in fresh processes: the median over the blocks of the
ratio of the two, minus 1. The best is chosen by the same blocks, which makes regrets a little too large.
"""


def line(cells):
    return "| " + " | ".join(map(str, cells)) + " |"


def table(head, rows):
    return [line(head), "|" + "---|" * len(head), *map(line, rows)]


def percent(share, digits=2):
    return "-" if share is None else f"{100 * share:.{digits}f} %"


def usd(cost):
    return "unpriced" if cost is None else f"${cost:.4f}"


def run_row(run):
    costs = run["costs"]
    return [run["name"], f"{run['wall_s']:.0f}" + (f" in {run['parts']} parts" if run["parts"] > 1 else ""),
            f"{costs['builds']:,}", f"{costs['builds_cached']:,}", f"{costs['compiler_s']:,.0f}",
            f"{sum(costs['gpu_s'].values()):.1f}", percent(run["busy"], 1), percent(costs["busy_screening"], 1),
            usd(costs["cost_usd"]), len(next(iter(run["shapes"].values()))["finalists"])]


def runs_section(record):
    head = ["sweep", "wall-clock s", "builds", "from the cache", "compiler s", "GPU s", "GPU busy", "while screening",
            "cost", "finalists"]
    return ["## The sweeps", "", *table(head, map(run_row, record["runs"])), "",
            "GPU seconds are those for which a GPU was held: by screening, canaries, proof and confirmation."]


def time_text(seconds):
    return f"{1e6 * seconds:.2f}"


def method_row(method, found):
    regret = found["regret"] or {}
    each = ", ".join(percent(r) for r in regret.get("each", [])) if method != "one_sample_each" else "see below"
    return [WORDS[method], f"{found['different']} of {found['picks']}", f"{found['pairs_that_differ']} of {found['pairs']}",
            percent(regret.get("mean")), percent(regret.get("worst")), each or "-"]


def interval_text(entry):
    ends = entry.get("interval")
    return f"[{percent(ends[0])}, {percent(ends[1])}]" if ends else "-"


def winners_of(record, name):
    """Who was taken by which method in which sweep: {key: [words]}."""
    taken = {}
    for run in record["runs"]:
        shape = run["shapes"].get(name, {"winners": {}, "one_sample_each": []})
        for method, key in shape["winners"].items():
            if key and method != "one_sample":
                taken.setdefault(key, {}).setdefault(method, []).append(run["name"].rpartition("_")[2])
        for key in shape["one_sample_each"]:
            taken.setdefault(key, {}).setdefault("one sample", []).append(run["name"].rpartition("_")[2])
    return {key: [f"{method} {', '.join(runs)}" for method, runs in by.items()] for key, by in taken.items()}


def again_rows(record, name, again):
    taken, configs = winners_of(record, name), record["configurations"]
    order = sorted(again["times"], key=lambda key: again["times"][key]["median_s"])
    for key in order:
        if key in taken or key == record["baseline"] or key == again["best"]:
            entry = again["times"][key]
            by = [*(["the baseline"] if key == record["baseline"] else []), *taken.get(key, [])]
            yield [time_text(entry["median_s"]), percent(entry.get("regret")), interval_text(entry), "; ".join(by),
                   f"`{configs[key]}`"]


def sets_text(found):
    sizes = ", ".join(map(str, found["sizes"]))
    return f"{sizes}; {found['in_all']} in all of the sweeps, {found['in_any']} in any"


def shape_section(record, name):
    figures, again = record["figures"][name], record["remeasured"]["shapes"].get(name)
    head = ["chosen by", "different winners", "pairs that differ", "mean regret", "worst", "each"]
    lines = [f"## {name}", "", *table(head, [method_row(m, figures["methods"][m]) for m in WORDS if m in figures["methods"]]), ""]
    if figures["agreement"]:
        agreement = figures["agreement"]
        lines += [f"A configuration's screened times in two sweeps differ by {percent(agreement['median'])} (median), "
                  f"{percent(agreement['p90'])} (p90), {percent(agreement['worst'])} (worst), over at least "
                  f"{agreement['configurations']:,} configurations of each pair of sweeps."]
    lines += [f"Finalists: {sets_text(figures['finalists'])}.", f"Tie sets: {sets_text(figures['tie_sets'])}.", ""]
    lines += [f"- {run['name']}: {run['shapes'][name]['sentence']}" for run in record["runs"]
              if run["shapes"].get(name, {}).get("sentence")]
    if again:
        lines += ["", "Measured again, those that were chosen:", "",
                  *table(["us", "regret", "95 % interval", "chosen by, in sweep", "configuration"],
                         again_rows(record, name, again))]
    return lines


def environment_lines(record):
    is_, gpu = record["environment"], record["environment"]["gpu"] or {}
    device = ", ".join(filter(None, [gpu.get("name", "no NVIDIA GPU"), gpu and f"driver {gpu['driver_version']}", is_["nvcc"],
                                     f"{is_['cores']} cores", gpu and f"SM clock {gpu['clocks.sm']} of {gpu['clocks.max.sm']}"]))
    return [f"{device}; {is_['when']}.", "", f"    {is_['command']}"]


def again_text(record):
    again = record["remeasured"]
    if not again["shapes"]:
        return "Nothing was measured again yet."
    left = f"; finalists left out: {again['left_out']}" if again["left_out"] else ""
    return (f"Measured again: {again['configurations']} beside the baseline, in {again['blocks']} blocks of "
            f"{again['samples_a_block']} samples, {again['wall_s']:.0f} s{left}.")


def page(record):
    lines = [f"# {record['name']}: the same sweep, {len(record['runs'])} times", "",
             "<!-- written by docs/results/record_page.py -->", "", INTRODUCTION, *environment_lines(record), ""]
    lines += [*runs_section(record), "", again_text(record), ""]
    for name in record["figures"]:
        lines += [*shape_section(record, name), ""]
    return "\n".join(lines).rstrip() + "\n"


def write(folder):
    with open(os.path.join(folder, DATA), encoding="utf-8") as file:
        record = json.load(file)
    with open(os.path.join(folder, PAGE), "w", encoding="utf-8") as file:
        file.write(page(record))


def main(arguments):
    folder = arguments[0] if arguments else os.path.join(HERE, "h200", "record")
    if not os.path.exists(os.path.join(folder, DATA)):
        print(f"record_page.py: {folder} has no {DATA}", file=sys.stderr)
        return 2
    write(folder)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
