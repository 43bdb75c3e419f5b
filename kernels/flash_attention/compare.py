#!/usr/bin/env python3
"""Compare configurations of this kernel with PyTorch's scaled_dot_product_attention.

Run it on a machine with a GPU, PyTorch and nvcc:

    compare.py                                      the sweep's baseline at the headline shape
    compare.py --config BLOCK_M=64,NUM_WARPS=4      tunables not named are the baseline's
    compare.py --header tuned.h --table             what 'fa-coord export' wrote, at all shapes
    compare.py --baseline-only --shape 32,8,512,0   PyTorch alone, its samples as JSON lines;
                                                    of one --backend it is what fa-coord reads

A number from another day, another GPU or another clock says little about a kernel, so all
contestants take turns in one process: in blocks, each in an order drawn at random, the L2 cache
flushed before each launch.  Ratios and their 95 % intervals are made block by block, as
docs/statistics.md says.  Every output is compared with an fp64 reference before it is timed.  Of
several configurations, the one with the lowest median is reported.  The same samples chose it, so
when configurations tie, measure it once more alone.

Needs PyTorch and Python's own library, nothing else.  Exit code 1: an output is wrong; 2: bad
arguments, or no GPU, PyTorch or nvcc.
"""
import argparse
import concurrent.futures
import datetime
import gc
import hashlib
import json
import math
import os
import re
import shlex
import shutil
import statistics
import subprocess
import sys
import tempfile

from comparison import configuration, intervals, shapes
from comparison.fault import Fault

HERE = os.path.dirname(os.path.abspath(__file__))
BACKENDS = ("flash", "cudnn", "efficient")
SAMPLES_MAX = 1000
REPEATS_MAX = 100000
OURS = "ours"


def backend_list(text):
    names = text.split(",")
    for name in names:
        if name not in BACKENDS:
            raise argparse.ArgumentTypeError(f"no backend '{name}': there are {', '.join(BACKENDS)}")
    return list(dict.fromkeys(names))


def distribution_list(text):
    if text == "all":
        return list(shapes.DISTRIBUTIONS)
    names = text.split(",")
    for name in names:
        if name not in shapes.DISTRIBUTIONS:
            raise argparse.ArgumentTypeError(f"no distribution '{name}': there are {', '.join(shapes.DISTRIBUTIONS)}, "
                                             "and all")
    return list(dict.fromkeys(names))


def sample_count(text):
    if not text.isdigit() or not 1 <= int(text) <= SAMPLES_MAX:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 1 to {SAMPLES_MAX}")
    return int(text)


def repeat_count(text):
    if not text.isdigit() or int(text) > REPEATS_MAX:
        raise argparse.ArgumentTypeError(f"'{text}' is not a number from 0 to {REPEATS_MAX}")
    return int(text)


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Fault(f"{message}; see --help")


def parse_arguments(arguments):
    parser = Parser(
        prog="compare.py", formatter_class=argparse.RawDescriptionHelpFormatter,
        description=__doc__, allow_abbrev=False)
    add = parser.add_argument
    add("--config", action="append", default=[], metavar="NAME=V,...", help="a contestant; may be repeated")
    add("--header", action="append", default=[], metavar="FILE", help="one from 'fa-coord export'; may be repeated")
    add("--sweep", default="sweep.json", metavar="FILE", help="whose tunables these are: sweep.json (default) or "
        "wide.json beside this script, or any file")
    add("--shape", action="append", default=[], metavar="B,H,S,causal[,HKV]", help="may be repeated; "
        "32,8,512,0 and 32,8,512,1 by default")
    add("--table", action="store_true", help="22 shapes: the headline with one dimension varied at a time")
    add("--samples", type=sample_count, default=100, metavar="N", help="of each contestant (100), five a block")
    add("--distribution", type=distribution_list, default=["normal"], metavar="NAME,...",
        help="of the inputs: " + ", ".join(shapes.DISTRIBUTIONS) + ", or all")
    add("--backend", type=backend_list, default=["flash", "cudnn"], metavar="NAME,...",
        help="of PyTorch: " + ", ".join(BACKENDS) + " (flash,cudnn)")
    add("--repeat", type=repeat_count, default=0, metavar="N", help="launch each configuration N more times before: "
        "all bits of all outputs must be those of the first")
    add("--warm", action="store_true", help="do not flush the L2 cache")
    add("--baseline-only", action="store_true", help="only PyTorch: a line of JSON for each shape and backend")
    add("--serve", action="store_true", help="with --baseline-only: read a JSON list of arguments a line, and measure; "
        "PyTorch starts once")
    add("--json", metavar="FILE", help="write everything that was measured")
    add("--nvcc", metavar="PATH", help="nvcc, where it is not the one in PATH")
    options = parser.parse_args(arguments)
    if options.baseline_only and (options.config or options.header or options.json):
        parser.error("--baseline-only has no configuration and prints its JSON: "
                     "leave --config, --header and --json out")
    if options.serve and not options.baseline_only:
        parser.error("--serve works only with --baseline-only")
    return options


def find_sweep(name):
    """The file as named, else beside this script."""
    return name if os.path.exists(name) else os.path.join(HERE, name)


def find_nvcc(named):
    found = shutil.which(named or "nvcc")
    if not found:
        raise Fault(f"{named} is no program" if named else "nvcc is not in PATH; name it with --nvcc")
    return found


def load_measuring():
    """The part that imports torch, and torch itself with a context on the GPU."""
    try:
        import torch
    except ImportError as error:
        raise Fault(f"PyTorch is needed, and this python3 has none ({sys.executable})") from error
    if not torch.cuda.is_available():
        raise Fault("PyTorch sees no GPU")
    try:
        torch.zeros(1, device="cuda")
    except RuntimeError as error:
        raise Fault(f"the GPU cannot be used: {str(error).splitlines()[0]}") from error
    from comparison import measuring
    return measuring, torch


def given_configurations(options, spec):
    given = [configuration.parse_config(text) for text in options.config]
    for path in options.header:
        try:
            with open(path, encoding="utf-8") as header:
                given.append(configuration.parse_header(header.read(), spec, path))
        except OSError as error:
            raise Fault(f"{path}: {error.strerror}") from error
    return given or [{}]


def asked_shapes(options):
    asked = [shapes.parse_shape(text) for text in options.shape]
    if options.table:
        asked += shapes.table()
    return list(dict.fromkeys(asked or shapes.headline()))


def config_text(values):
    return " ".join(f"{name}={value}" for name, value in values.items())


def check_gates(spec, config, values, facts, wanted):
    for shape in wanted:
        gate = configuration.rejection(spec, values, facts, shape.variables(spec))
        if gate:
            raise Fault(f"{config_text(config)}: gate '{gate['name']}' rejects it at {shape.name}: {gate['why']}")


class Candidate:
    """A configuration that was built and loaded."""

    def __init__(self, config, kernel, artifact):
        self.config, self.kernel, self.artifact = config, kernel, artifact


def told(spec, given, values, facts):
    """What a reader needs to build the configuration again: its tunables, and derived values that
    were given explicitly and differ from the computed ones."""
    tunables = {name: values[name] for name in spec["tunables"]}
    made = configuration.all_values(spec, tunables, facts)
    return {**tunables, **{name: value for name, value in given.items() if value != made[name]}}


def sha256(path):
    with open(path, "rb") as file:
        return hashlib.sha256(file.read()).hexdigest()


def build_all(options, spec, configs, values, facts, folder):
    """A cubin for each, in parallel; the paths of the cubins."""
    from comparison.driver import build
    nvcc, sweep = find_nvcc(options.nvcc), find_sweep(options.sweep)

    def build_one(number):
        try:
            return build(nvcc, sweep, spec, values[number], facts, os.path.join(folder, str(number)))
        except Fault as fault:
            raise Fault(f"{config_text(configs[number])}: {fault}") from fault

    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        return list(pool.map(build_one, range(len(values))))


def build_candidates(options, spec, wanted, driver, facts):
    from comparison.driver import Kernel
    given = given_configurations(options, spec)
    values = [configuration.all_values(spec, one, facts) for one in given]
    configs = [told(spec, one, all_of_it, facts) for one, all_of_it in zip(given, values)]
    for config, all_of_it in zip(configs, values):
        check_gates(spec, config, all_of_it, facts, wanted)
    with tempfile.TemporaryDirectory(prefix="fa-compare-") as folder:
        cubins = build_all(options, spec, configs, values, facts, folder)
        return [Candidate(config, Kernel(driver, spec, all_of_it, facts, cubin), sha256(cubin))
                for config, all_of_it, cubin in zip(configs, values, cubins)]


def nvcc_version(options):
    said = subprocess.run([find_nvcc(options.nvcc), "--version"], capture_output=True, text=True, check=False).stdout
    found = re.search(r"release \S+ V(\S+)", said)
    return found[1] if found else None


class Session:
    """One GPU, its clock and everything that stays the same from shape to shape."""

    def __init__(self, options):
        from comparison.driver import Driver
        self.options = options
        self.spec = configuration.read(find_sweep(options.sweep))
        self.wanted = asked_shapes(options)
        self.measuring, self.torch = load_measuring()
        self.driver = Driver(self.torch.cuda.current_device())
        self.facts = self.driver.facts()
        self.candidates = []
        if not options.baseline_only:
            self.candidates = build_candidates(options, self.spec, self.wanted, self.driver, self.facts)
        self.clock = self.measuring.Clock(self.facts["l2_bytes"], options.warm)
        self.smi_before = self.measuring.nvidia_smi(self.driver.bus_id(), self.clock)

    def environment(self, arguments):
        before = self.smi_before
        after = self.measuring.nvidia_smi(self.driver.bus_id(), self.clock)
        torch = self.torch
        source = os.path.join(os.path.dirname(find_sweep(self.options.sweep)), self.spec["kernel"]["source"])
        return {
            "when": datetime.datetime.now(datetime.timezone.utc).isoformat(timespec="seconds"),
            "command": shlex.join(["kernels/flash_attention/compare.py", *arguments]),
            "sweep": self.spec["name"], "source_sha256": sha256(source),
            "gpu": torch.cuda.get_device_name(), "driver": before["driver_version"],
            "torch": torch.__version__, "cuda": torch.version.cuda, "cudnn": torch.backends.cudnn.version(),
            "nvcc": nvcc_version(self.options), "python": sys.version.split()[0],
            "l2": "warm" if self.options.warm else "flush", "samples": self.options.samples,
            "late_turns": self.clock.late, "smi_before": before, "smi_after": after,
        }

    def contestants(self, tensors, causal, expected):
        """PyTorch's backends that can run the shape, their errors, and why the others cannot."""
        able, errors, missing = [], {}, {}
        for name in self.options.backend:
            contestant = self.measuring.sdpa(name, *tensors, causal)
            result, why = self.measuring.run_once(contestant)
            if why:
                missing[name] = why
                continue
            able.append(contestant)
            errors[name] = self.measuring.relative_l2(result, expected) if expected is not None else None
        return able, errors, missing

    def tensors(self, shape, distribution):
        head_dim = shape.variables(self.spec)["D"]
        return self.measuring.inputs(shape, distribution, head_dim)

    def try_candidate(self, number, shape, tensors, expected):
        """Launch it once.  Returns it as a contestant, its error, and how many of --repeat launches
        had another output."""
        q, k, v = tensors
        out = self.torch.full_like(q, math.nan)
        buffers = {"Q": q.data_ptr(), "K": k.data_ptr(), "V": v.data_ptr(), "out": out.data_ptr()}
        candidate = self.candidates[number]
        launch = candidate.kernel.prepare(buffers, shape.variables(self.spec),
                                          self.torch.cuda.current_stream().cuda_stream)
        contestant = self.measuring.Contestant(f"{OURS} {number}", lambda _alive=out: launch())
        _, why = self.measuring.run_once(contestant)
        if why:
            raise Fault(f"{config_text(candidate.config)} at {shape.name}: {why}")
        error = self.measuring.relative_l2(out, expected)
        return contestant, error, self.measuring.differing(launch, out, self.options.repeat)

    def measure(self, shape, distribution):
        """The entry of the JSON for one shape."""
        tensors = self.tensors(shape, distribution)
        expected = self.measuring.reference(*tensors, shape.causal)
        able, errors, missing = self.contestants(tensors, shape.causal, expected)
        tolerance = self.spec["tolerance"]["relative_l2"]
        right, wrong = {}, []
        for number, candidate in enumerate(self.candidates):
            contestant, error, differing = self.try_candidate(number, shape, tensors, expected)
            if error <= tolerance and not differing:  # false for NaN as well
                right[number] = error
                able.append(contestant)
            else:
                wrong.append({"config": candidate.config, "relative_l2": error if math.isfinite(error) else None,
                              "differing": differing})
        blocks = self.clock.blocks(able, self.options.samples)
        ranked = [self.result(number, error, blocks, shape) for number, error in right.items()]
        ranked.sort(key=lambda result: result["median_s"])
        theirs = {name: {"median_s": median(blocks[name]), "relative_l2": error, "blocks_s": blocks[name]}
                  for name, error in errors.items()}
        return {**(ranked[0] if ranked else {}), "distribution": distribution, "shape": shape.sizes(),
                "torch": theirs, "others": ranked[1:], "wrong": wrong, "missing": missing}

    def result(self, number, error, blocks, shape):
        """One configuration against each backend."""
        candidate, mine = self.candidates[number], blocks[f"{OURS} {number}"]
        ratios = {}
        for name in filter(blocks.get, self.options.backend):
            value, low, high = intervals.speedup(mine, blocks[name])
            ends = [low, high] if math.isfinite(high) else None
            ratios.update({f"speedup_{name}": value, "interval" if name == "flash" else f"interval_{name}": ends})
        return {**ratios, "config": candidate.config, "median_s": median(mine), "relative_l2": error,
                "repeated": self.options.repeat,
                **candidate.kernel.resources(shape.variables(self.spec)), "artifact_sha256": candidate.artifact,
                "blocks_s": mine}


def median(blocks):
    return statistics.median(second for block in blocks for second in block)


def cells(name, entry, backends):
    """A line of the table, as texts."""
    def time_of(result):
        return f"{result['median_s'] * 1e6:.2f}" if "median_s" in result else "-"

    def ratio_of(backend):
        if f"speedup_{backend}" not in entry:
            return "-"
        ends = entry["interval" if backend == "flash" else f"interval_{backend}"]
        tail = f" [{ends[0]:.3f}, {ends[1]:.3f}]" if ends else ""
        return f"{entry[f'speedup_{backend}']:.3f}{tail}"

    def error_of(result):
        return f"{result['relative_l2']:.2e}" if "relative_l2" in result else "-"

    theirs = [entry["torch"].get(backend, {}) for backend in backends]
    return [name, time_of(entry), *map(time_of, theirs), *map(ratio_of, backends),
            error_of(entry), error_of(theirs[0])]


def head_of_table(backends):
    return ["shape", "us", *(f"{name} us" for name in backends), *(f"x {name} [95 %]" for name in backends),
            "error", f"{backends[0]} error"]


def print_table(rows):
    widths = [max(map(len, column)) for column in zip(*rows)]
    for row in rows:
        print("  ".join(cell.ljust(width) for cell, width in zip(row, widths)).rstrip(), flush=True)


def dump(report):
    """JSON with one block of samples a line."""
    text = json.dumps(report, indent=1, allow_nan=False)
    return re.sub(r"\[\n\s*([^\[\]{}\n]+(?:\n[^\[\]{}\n]+)*?)\n\s*\]",
                  lambda found: "[" + re.sub(r"\n\s*", " ", found[1]) + "]", text) + "\n"


def entries(session):
    """Name and entry of each shape and distribution, one after the other."""
    for shape in session.wanted:
        for distribution in session.options.distribution:
            yield shapes.entry_name(shape, distribution), session.measure(shape, distribution)
            gc.collect()
            session.torch.cuda.empty_cache()


def notes(name, entry):
    """Notes below the table, one a line."""
    for backend, why in entry["missing"].items():
        yield f"{name}: {backend} does not run: {why}"
    for wrong in entry["wrong"]:
        yield (f"{name}: WRONG, relative L2 {wrong['relative_l2']}, {wrong['differing']} outputs that differ from the "
               f"first: {config_text(wrong['config'])}")
    if entry["others"]:
        yield f"{name}: fastest of {len(entry['others']) + 1}: {config_text(entry['config'])}"


def compare(session, arguments):
    """Measure everything, print the table, write the JSON; returns the exit code."""
    backends = session.options.backend
    report, rows = {}, [head_of_table(backends)]
    for name, entry in entries(session):
        report[name] = entry
        rows.append(cells(name, entry, backends))
        print(f"measured {name}", file=sys.stderr, flush=True)
    report["environment"] = session.environment(arguments)
    print_table(rows)
    for name, entry in report.items():
        if name != "environment":
            for line in notes(name, entry):
                print(line)
    if session.clock.late:
        print(f"{session.clock.late} turns may hold time that the GPU waited for Python")
    if session.options.json:
        with open(session.options.json, "w", encoding="utf-8") as file:
            file.write(dump(report))
    wrong = any(entry["wrong"] for name, entry in report.items() if name != "environment")
    return 1 if wrong else 0


def print_baselines(session):
    """A line of JSON for each shape and backend: what others compare their own times with."""
    for shape in session.wanted:
        for distribution in session.options.distribution:
            able, _, missing = session.contestants(session.tensors(shape, distribution), shape.causal, None)
            if missing:
                raise Fault("; ".join(f"{name} does not run at {shape.name}: {why}" for name, why in missing.items()))
            for name, blocks in session.clock.blocks(able, session.options.samples).items():
                print(json.dumps({
                    "name": f"torch {name}", "shape": shapes.entry_name(shape, distribution),
                    "sizes": shape.sizes(), "distribution": distribution,
                    "gpu": session.torch.cuda.get_device_name(), "torch": session.torch.__version__,
                    "l2": "warm" if session.options.warm else "flush",
                    "median_s": median(blocks), "samples": [second for block in blocks for second in block],
                }), flush=True)
    return 0


def serve(session, arguments):
    """A run for each line on stdin, until it ends.  Between two runs the GPU's memory is free."""
    for line in sys.stdin:
        session.options = parse_arguments([*arguments, *json.loads(line)])
        session.wanted = asked_shapes(session.options)
        print_baselines(session)
        gc.collect()
        session.torch.cuda.empty_cache()
    return 0


def main(arguments):
    options = parse_arguments(arguments)
    if options.json and not os.path.isdir(os.path.dirname(os.path.abspath(options.json))):
        raise Fault(f"--json {options.json}: there is no such folder")
    session = Session(options)
    try:
        with session.torch.no_grad():
            if options.serve:
                return serve(session, arguments)
            return print_baselines(session) if options.baseline_only else compare(session, arguments)
    except session.torch.cuda.OutOfMemoryError as error:
        raise Fault(f"the GPU has too little memory: {str(error).splitlines()[0]}") from error


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except Fault as fault:
        print(f"compare.py: {fault}", file=sys.stderr)
        sys.exit(2)
