#!/usr/bin/env python3
"""Write the page of a GPU's comparison with PyTorch from what compare.py measured.

    docs/results/make_tables.py [FOLDER]     docs/results/h200 when left out

Reads headline.json, shapes.json, distributions.json and steps.json of the folder, those that are
there, and writes flash_attention.md beside them.  A test holds the page against its files, so no number on it
is typed by hand.
"""
import json
import os
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
PAGE = "flash_attention.md"
STEPS = "steps.json"
PARTS = (
    ("headline.json", "The headline shape", "32 batches, 8 heads, 512 rows; causal and not."),
    ("shapes.json", "Other shapes", "B=32 and H=8 where a name does not say otherwise."),
    ("distributions.json", "Other inputs", "Q 4 and 12 times as large; rows of K that grow along S. A kernel that bets "
     "on well-behaved maxima loses here."),
)
INTRODUCTION = """\
flash_attention beside PyTorch's `scaled_dot_product_attention`, times in microseconds. All
contestants of a line took turns in one process, in blocks, in an order drawn at random. A ratio
above 1 means that ours is faster; it is the centre of the ratios of the blocks with its 95 %
interval ([statistics](../../statistics.md)), so it can differ from that of the two medians in the
last digit. Of several configurations the one with the lowest median stands, chosen by the same
samples: where they tie, its ratio flatters. Errors are relative L2 against fp64. Each JSON file has
all samples, those of the other configurations too.
"""


def backends_of(entries):
    """In the order they were asked for, those that ran anywhere."""
    return list(dict.fromkeys(name for entry in entries.values() for name in entry["torch"]))


def time_of(result):
    return f"{result['median_s'] * 1e6:.1f}" if "median_s" in result else "-"


def ratio_of(entry, backend):
    if f"speedup_{backend}" not in entry:
        return "-"
    ends = entry["interval" if backend == "flash" else f"interval_{backend}"]
    return f"{entry[f'speedup_{backend}']:.3f}" + (f" [{ends[0]:.3f}, {ends[1]:.3f}]" if ends else "")


def error_of(result):
    return f"{result['relative_l2']:.2e}" if "relative_l2" in result else "-"


def line(cells):
    return "| " + " | ".join(cells) + " |"


def table(entries):
    names = backends_of(entries)
    head = ["shape", "ours", *names, *(f"x {name}" for name in names), "error", *(f"error of {name}" for name in names)]
    lines = [line(head), "|" + "---|" * len(head)]
    for shape, entry in entries.items():
        theirs = [entry["torch"].get(name, {}) for name in names]
        lines.append(line([shape, time_of(entry), *map(time_of, theirs),
                           *(ratio_of(entry, name) for name in names), *map(error_of, [entry, *theirs])]))
    return lines


def config_text(config):
    return " ".join(f"{name}={value}" for name, value in config.items())


def configurations(entries):
    """Which one was fastest where, and what it takes."""
    shapes_of = {}
    for shape, entry in entries.items():
        if "config" in entry:
            taken = (f"`{config_text(entry['config'])}`: {entry['registers']} registers, "
                     f"{entry['smem_bytes']:,} bytes of shared memory, {entry['blocks_per_sm']} blocks an SM")
            shapes_of.setdefault(taken, []).append(shape)
    return [f"- {taken}: {', '.join(names)}" for taken, names in shapes_of.items()]


def flaws(entries):
    """What did not run, and what was wrong."""
    for shape, entry in entries.items():
        for backend, why in entry["missing"].items():
            yield f"- {shape}: {backend} did not run: {why}"
        for wrong in entry["wrong"]:
            yield f"- {shape}: wrong, relative L2 {wrong['relative_l2']}: `{config_text(wrong['config'])}`"


def environment_text(environment):
    before, after = environment["smi_before"], environment["smi_after"]
    cache = "L2 flushed before each launch" if environment["l2"] == "flush" else "L2 warm"
    late = environment["late_turns"]
    return [
        f"{environment['gpu']}, driver {environment['driver']}, PyTorch {environment['torch']}, "
        f"cuDNN {environment['cudnn']}, nvcc {environment['nvcc']}; {environment['samples']} samples of each, {cache}; "
        f"SM clock {before['clocks.sm']} MHz before and {after['clocks.sm']} MHz after, of {before['clocks.max.sm']}; "
        f"{environment['when']}." + (f" {late} turns may hold time that the GPU waited for Python." if late else ""),
        "",
        f"    {environment['command']}",
    ]


def repeats(entries):
    """How often each was launched again before, with the same output to the last bit."""
    least = min((entry.get("repeated", 0) for entry in entries.values() if "config" in entry), default=0)
    wrong = any(entry["wrong"] for entry in entries.values())
    return [f"Before, each configuration was launched {least} times more at each of these: all outputs were the first one's, to "
            "the last bit.", ""] if least and not wrong else []


def section(title, text, report):
    entries = {name: entry for name, entry in report.items() if name != "environment"}
    lines = [f"## {title}", "", text, "", *environment_text(report["environment"]), "", *table(entries), "", *repeats(entries),
             "The fastest of those that were tried:", "", *configurations(entries)]
    found = list(flaws(entries))
    return "\n".join(lines + (["", *found] if found else [])) + "\n"


def config_of(result):
    return " ".join(f"{name}={value}" for name, value in result["config"].items())


def steps(data):
    """How the kernel became faster, the fastest configuration at each step."""
    lines = ["## The kernel, step by step", "",
             f"{data['gpu']}, driver {data['driver']}, {data['toolkit']}, SM clock {data['sm_clock_mhz']} MHz. {data['how']}.",
             "Not interleaved: differences below 0.5 us say nothing.", "",
             line(["step", "s512", "s512_causal"]), "|---|---|---|"]
    for step in data["steps"]:
        lines.append(line([step["step"], *(f"{step[shape]['median_us']:.1f}" for shape in ("s512", "s512_causal"))]))
    last = data["steps"][-1]
    lines += ["", "The last ones:", "", *(f"- {shape}: `{config_of(last[shape])}`" for shape in ("s512", "s512_causal")), ""]
    return "\n".join(lines)


def page(folder):
    """The text of the page, or None where there is no data."""
    sections = []
    for name, title, text in PARTS:
        path = os.path.join(folder, name)
        if os.path.exists(path):
            with open(path, encoding="utf-8") as file:
                sections.append(section(title, text, json.load(file)))
    path = os.path.join(folder, STEPS)
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            sections.append(steps(json.load(file)))
    if not sections:
        return None
    head = "# flash_attention and PyTorch\n\n<!-- written by docs/results/make_tables.py -->\n\n" + INTRODUCTION
    return "\n".join([head, *sections])


def main(arguments):
    folder = arguments[0] if arguments else os.path.join(HERE, "h200")
    text = page(folder)
    if text is None:
        print(f"make_tables.py: {folder} has none of {', '.join(name for name, _, _ in PARTS)}", file=sys.stderr)
        return 2
    with open(os.path.join(folder, PAGE), "w", encoding="utf-8") as file:
        file.write(text)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
