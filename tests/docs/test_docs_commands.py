"""Each command in README.md and docs/ is run, and ends as the page says.

commands.txt says which ones cannot be run here, and which end otherwise than
with 0.  A page's commands are run in order, in a folder of their own: a copy of
one that has a finished small sweep of flash_attention on the cpu device.
/tmp/ in a command means a folder in that folder.
"""

import gzip
import json
import os
import re
import shutil
import signal
import subprocess
import tempfile
import time
import unittest

import doc_pages

BIN = os.environ["FA_BIN_DIR"]
HERE = os.path.dirname(os.path.abspath(__file__))
SMALL = {"BLOCK_M": "64", "BLOCK_N": "64, 128", "BLOCK_K": "64", "NUM_WARPS": "4", "STAGES": "2", "UNROLL": "1",
         "CP_ASYNC": "1", "SWIZZLE": "1", "HALF2": "1"}
SHAPE = '{ "name": "s65", "B": 1, "H": 2, "HKV": 1, "S": 65, "D": 64, "CAUSAL": 0, "LOGITS": 1 }'
PATIENCE_S = 600
# Pages whose flash_attention.db is the one in docs/results, because they name a configuration of it.
PAGES_OF_THE_RECORD = ("docs/measuring.md", "docs/sanitize.md")
# What such a command makes is not there before, on a page that has it.
MADE_BY = {"convolution_A100.db": "fa-coord import convolution_A100.json.gz   "}
RECORD = os.path.join(doc_pages.SOURCE, "docs", "results", "h200", "record", "run_1.db.gz")
REFERENCE_T1 = '''extern "C" __global__ void reference(float *x)
{
    x[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}
'''


def table():
    rows = []
    for line in doc_pages.read("tests/docs/commands.txt").splitlines():
        if line.strip() and not line.startswith("#"):
            page, pattern, what, why = re.split(r"\s{2,}", line, maxsplit=3)
            rows.append((page, re.compile(pattern), what, why))
    return rows


def what_of(rows, page, command):
    """What commands.txt says of a command; one that it does not know must end with 0."""
    for at, (on, pattern, what, _) in enumerate(rows):
        if on in ("*", page) and pattern.match(command):
            return at, what
    return None, "exit 0"


def small(sweep):
    """flash_attention's sweep file with few configurations and shapes, so that a sweep takes seconds."""
    for name, values in SMALL.items():
        sweep, n = re.subn(rf'("{name}": )\[[^]]*\]', rf"\1[{values}]", sweep, count=1)
        assert n == 1, name
    for name in ("emulation_shapes", "emulation_fuzz_shapes"):
        sweep, n = re.subn(rf'("{name}": )\[.*?\n  \]', rf"\1[ {SHAPE} ]", sweep, flags=re.DOTALL)
        assert n == 1, name
    sweep, n = re.subn(r'\n  "external_baseline": \[.*?\n  \],', "", sweep, flags=re.DOTALL)
    assert n == 1
    return sweep


def shorten(path):
    """vector_add's sweep file with fewer sizes of blocks."""
    with open(path, encoding="utf-8") as f:
        text, n = re.subn(r'("BLOCK_SIZE": )\[[^]]*\]', r"\1[64, 256]", f.read(), count=1)
    assert n == 1
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


T1 = {
    "General": {"BenchmarkName": "convolution", "OutputFormat": "JSON"},
    "ConfigurationSpace": {
        "TuningParameters": [
            {"Name": "block_size_x", "Type": "int", "Values": "[16, 32, 64]", "Default": 16},
            {"Name": "tile_size_x", "Type": "int", "Values": "[1, 2, 4]", "Default": 1}],
        "Conditions": [{"Expression": "block_size_x * tile_size_x <= 128",
                        "Parameters": ["block_size_x", "tile_size_x"]}]},
    "KernelSpecification": {
        "Language": "CUDA", "KernelName": "convolution", "KernelFile": "convolution.cu",
        "LocalSize": {"X": "block_size_x"}, "GlobalSizeType": "CUDA", "GlobalSize": {"X": "1024 // block_size_x"},
        "Arguments": [{"Name": "x", "Type": "float", "MemoryType": "Vector", "Size": 1024, "FillType": "Random",
                       "AccessType": "ReadWrite"}]},
}


def files_of(page):
    """Files that a page tells its reader to have, by name."""
    if page == "docs/exchange.md":
        return {"reference.cu": REFERENCE_T1}
    if page == "docs/own-kernel.md":
        blocks = [("\n".join(lines), language) for _, language, lines in doc_pages.blocks(doc_pages.read(page))]
        kernel, reference = [text for text, language in blocks if language == "cpp"]
        sweep, = [text for text, language in blocks if language == "jsonc"]
        return {"mine.cu": kernel, "reference.cu": reference, "sweep.json": sweep}
    return {}


class Commands(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.mkdtemp(prefix="fa-docs-", dir="/tmp")
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.addClassCleanup(cls.end_workers)
        cls.rows, cls.used = table(), set()
        cls.env = {name: value for name, value in os.environ.items() if not name.startswith(("FA_", "XDG_"))}
        cls.env |= {"HOME": os.path.join(cls.folder, "home"), "PATH": BIN + ":" + os.environ["PATH"],
                    "FA_COORD_DEVICE": "cpu", "COLUMNS": "80"}
        os.makedirs(cls.env["HOME"])
        cls.prepare(os.path.join(cls.folder, "ready"))

    @classmethod
    def end_workers(cls):
        """Workers end when a sweep does; one that is left by a failure is ended by its pid."""
        for folder, _, names in os.walk(cls.folder):
            if "all.lock" in names:
                with open(os.path.join(folder, "all.lock"), encoding="ascii") as f:
                    pid = f.read().strip()
                program = f"/proc/{pid}/exe"
                if pid and os.path.exists(program) and os.readlink(program).startswith(cls.folder):
                    os.kill(int(pid), signal.SIGKILL)

    @classmethod
    def coord(cls, folder, *arguments):
        ran = subprocess.run([os.path.join(BIN, "fa-coord"), *arguments], cwd=folder, env=cls.env, capture_output=True,
                             text=True, timeout=PATIENCE_S)
        assert ran.returncode == 0, (arguments, ran.stdout, ran.stderr)

    @classmethod
    def prepare(cls, ready):
        """What a page's commands find: a copy of the kernels, links to the sources, and the files that pages name."""
        os.makedirs(os.path.join(ready, "build"))
        os.symlink(os.path.dirname(BIN), os.path.join(ready, "build", "dev"))
        for name in ("CMakePresets.json", "deploy", "docs", "tests"):
            os.symlink(os.path.join(doc_pages.SOURCE, name), os.path.join(ready, name))
        shutil.copytree(os.path.join(doc_pages.SOURCE, "kernels"), os.path.join(ready, "kernels"))
        flash = os.path.join(ready, "kernels", "flash_attention")
        with open(os.path.join(flash, "sweep.json"), encoding="utf-8") as f:
            sweep = small(f.read())
        with open(os.path.join(flash, "sweep.json"), "w", encoding="utf-8") as f:
            f.write(sweep)
        shorten(os.path.join(ready, "kernels", "vector_add", "sweep.json"))
        for name in ("flash_attention", "vector_add"):
            with open(os.path.join(ready, "kernels", name, "hosts.txt"), "w", encoding="utf-8") as f:
                f.write("localhost  rate=0.5\n")
        with open(os.path.join(flash, "convolution_milo.json"), "w", encoding="utf-8") as f:
            json.dump(T1, f)
        with open(os.path.join(flash, "convolution.cu"), "w", encoding="utf-8") as f:
            f.write(REFERENCE_T1.replace("reference", "convolution"))
        cls.coord(flash, "sweep", "--hosts", "hosts.txt")
        for name in ("base.db", "gemm.db", "my.db"):
            shutil.copy(os.path.join(flash, "flash_attention.db"), os.path.join(flash, name))
        cls.coord(flash, "export", "--db", "gemm.db", "--format", "kernel-tuner", "--out", "gemm.json")
        with open(os.path.join(flash, "gemm.json"), "rb") as f, \
                gzip.open(os.path.join(flash, "convolution_A100.json.gz"), "wb") as packed:
            packed.write(f.read())
        os.remove(os.path.join(flash, "gemm.json"))
        for name in ("convolution_A100.db", "convolution_A4000.db", "replayed.db"):
            cls.coord(flash, "import", "convolution_A100.json.gz", "--out", name)
        # The folder itself is one in which a user has swept flash_attention, too.
        for name in os.listdir(flash):
            path = os.path.join(flash, name)
            (shutil.copytree if os.path.isdir(path) else shutil.copy)(path, os.path.join(ready, name))

    def run_one(self, folder, state, command, what):
        """Run a command where the one before it left off; returns what is wrong, or None."""
        if what == "list":
            command = command.replace("ctest ", "ctest -N ", 1)
        end = os.path.join(folder, ".end")
        script = f"(exit {state['status']})\n{command.replace('/tmp/', folder + '/tmp/')}\n" \
                 f"status=$?\npwd > '{end}'\nexit $status\n"
        began = time.monotonic()
        ran = subprocess.run(["bash", "-c", script], cwd=doc_pages.SOURCE if what == "nothing" else state["at"],
                             env=self.env, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=PATIENCE_S)
        print(f"{time.monotonic() - began:6.1f} s  {ran.returncode}  {command.splitlines()[0]}", flush=True)
        if os.path.exists(end) and what != "nothing":
            with open(end, encoding="utf-8") as f:
                state["at"] = f.read().strip()
        if not os.path.realpath(state["at"]).startswith(os.path.realpath(folder)):
            state["at"] = folder
            return "leaves the folder of the test"
        state["status"] = ran.returncode
        said = (ran.stdout[-1500:] + ran.stderr[-1500:]).strip()
        if what == "list" and re.search(r"Total Tests: 0\b", ran.stdout):
            return "names no test"
        if what == "nothing" and (ran.stdout or ran.stderr):
            return f"printed: {said}"
        expected = what.removeprefix("exit ").split("|") if what.startswith("exit ") else ["0"]
        if str(ran.returncode) not in expected:
            return f"ended with {ran.returncode}, not {' or '.join(expected)}: {said}"
        return None

    def run_page(self, page):
        folder = os.path.join(self.folder, re.sub(r"\W", "_", page))
        shutil.copytree(os.path.join(self.folder, "ready"), folder, symlinks=True)
        os.makedirs(os.path.join(folder, "tmp"))
        for name, text in files_of(page).items():
            with open(os.path.join(folder, name), "w", encoding="utf-8") as f:
                f.write(text)
        if page in PAGES_OF_THE_RECORD:
            with gzip.open(RECORD) as packed, open(os.path.join(folder, "flash_attention.db"), "wb") as f:
                shutil.copyfileobj(packed, f)
        commands = doc_pages.commands(doc_pages.read(page))
        for name, maker in MADE_BY.items():
            if any(command.startswith(maker) for _, command in commands):
                os.remove(os.path.join(folder, name))
        wrong, state = [], {"at": folder, "status": 0}
        for line, command in commands:
            row, what = what_of(self.rows, page, command)
            self.used.add(row)
            if what == "cannot" or doc_pages.is_synopsis(command):
                continue
            if what.startswith("needs ") and not shutil.which(what.split()[1]):
                continue
            flaw = self.run_one(folder, state, command, what)
            if flaw:
                wrong.append(f"{page}:{line}: {command}\n{flaw}")
        shutil.rmtree(folder)
        return wrong

    def test_commands_end_as_the_pages_say(self):
        only = os.environ.get("FA_PAGES", "").split()
        wrong = []
        for page in only or doc_pages.paths():
            wrong += self.run_page(page)
        self.assertEqual(wrong, [], "\n\n".join(["", *wrong]))
        if not only:
            idle = [row[1].pattern for at, row in enumerate(self.rows) if at not in self.used]
            self.assertEqual(idle, [], "rows of commands.txt that match no command")


if __name__ == "__main__":
    unittest.main()
