"""fa-coord export after a real sweep: the header in a C and a C++ program."""

import glob
import importlib.util
import json
import os
import re
import sqlite3
import subprocess
import unittest

import rig
import sweepfile

PROGRAM = r"""
#include "tuned.h"
#include <stdio.h>
#include <string.h>

_Static_assert(VECTOR_ADD_LAUNCH_GRID_Y(5001) == 1, "constant where the shape is");

int main(void)
{
    static const long long sizes[] = { 1, 127, 128, 129, 5001, 16777213, 16777216, 5000000000 };

    for (unsigned i = 0; i < sizeof(sizes) / sizeof(sizes[0]); i++)
        printf("%lld %lld %lld %lld %lld %lld %lld %lld\n", sizes[i], VECTOR_ADD_LAUNCH_GRID_X(sizes[i]),
               VECTOR_ADD_LAUNCH_GRID_Y(sizes[i]), VECTOR_ADD_LAUNCH_GRID_Z(sizes[i]),
               VECTOR_ADD_LAUNCH_BLOCK_X(sizes[i]), VECTOR_ADD_LAUNCH_BLOCK_Y(sizes[i]),
               VECTOR_ADD_LAUNCH_BLOCK_Z(sizes[i]), VECTOR_ADD_LAUNCH_SMEM(sizes[i]));
    return strcmp(VECTOR_ADD_KERNEL_ENTRY, "vector_add") || strcmp(VECTOR_ADD_MODE, "plain") || !VECTOR_ADD_MODE_PLAIN;
}
"""

KERNEL = r"""
static const int tile = TILE, block_size = BLOCK_SIZE;
static const char mode[] = MODE;
int use(void);
int use(void) { return tile + block_size + (int)sizeof(mode) + MODE_plain + VECTOR_ADD_TILE; }
"""

DISPATCH = r"""
#include "dispatch.h"
#include <stdio.h>

static const char *const keys[VECTOR_ADD_CONFIGS] = VECTOR_ADD_CONFIG_KEYS;
static const char *const flags[VECTOR_ADD_CONFIGS] = VECTOR_ADD_CONFIG_FLAGS;

int main(void)
{
    for (int i = 0; i < VECTOR_ADD_CHOICES; i++) {
        const struct vector_add_choice *at = &vector_add_choices[vector_add_choose(vector_add_choices[i].shape.N)];

        printf("%s|%s|%lld|%lld|%lld|%lld|%lld|%lld|%lld|%lld\n", keys[at->config], flags[at->config], at->shape.N, at->grid[0],
               at->grid[1], at->grid[2], at->block[0], at->block[1], at->block[2], at->smem);
    }
    printf("%d %d %d %d\n", vector_add_choose(5000000000), vector_add_choose(3000), vector_add_choose(1500), vector_add_choose(1));
    return 0;
}
"""

# shape variables with the names of locals and fields
NAMES = r"""
#include "dispatch.h"

int main(void)
{
    for (int i = 0; i < VECTOR_ADD_CHOICES; i++)
        if (vector_add_choose(vector_add_choices[i].shape.i, vector_add_choices[i].shape.config) != i)
            return 1;
    return vector_add_choices[1].config >= VECTOR_ADD_CONFIGS;
}
"""

COMPILERS = [["gcc", "-std=c17", "-pedantic"], ["g++", "-std=c++17", "-D_Static_assert=static_assert"]]


class Export(rig.Rig):

    def sweep(self):
        """A few configurations of vector_add, with a text and a device fact."""
        folder = self.kernel("vector_add")
        path = os.path.join(folder, "sweep.json")
        with open(path) as f:
            spec = json.loads(re.sub(r"//.*", "", f.read()))
        spec["tunables"] = {"BLOCK_SIZE": [64, 128], "ITEMS": [1], "VECTOR": [False], "MODE": ["plain"]}
        spec["baseline"] = {"BLOCK_SIZE": 64, "ITEMS": 1, "VECTOR": False, "MODE": "plain"}
        spec["launch"] = {"grid": ["max((N + TILE - 1) / TILE, sm_count / 1000)"], "block": ["BLOCK_SIZE"],
                          "smem": "CASE MODE WHEN 'fast' THEN 1024 ELSE 16 * (N % 2) END"}
        spec["emulation_shapes"].append({"name": "n1k", "N": 1000})
        with open(path, "w") as f:
            json.dump(spec, f)
        self.run_coord(folder, "sweep", "--device", "cpu")
        return folder, spec

    def compile(self, folder, compiler, source, *args):
        with open(os.path.join(folder, "main.c"), "w") as f:
            f.write(source)
        kind = "c++" if compiler[0] == "g++" else "c"
        return subprocess.run([*compiler, "-Wall", "-Wextra", "-Werror", "-x", kind, "main.c", *args], cwd=folder,
                              env=self.env, check=True, capture_output=True, text=True)

    def sql(self, spec, facts, config, n):
        """The launch as the sweep computed it."""
        names = {**facts, **config, "TILE": config["BLOCK_SIZE"] * config["ITEMS"], "N": n}
        launch = spec["launch"]
        rules = [launch["grid"][0], "1", "1", launch["block"][0], "1", "1", launch["smem"]]
        columns = ", ".join(f"? AS {name}" for name in names)
        with sqlite3.connect(":memory:") as db:
            return list(db.execute(f"SELECT {', '.join(rules)} FROM (SELECT {columns})", list(names.values())).fetchone())

    def test_the_header_gives_the_launch_of_the_sweep(self):
        folder, spec = self.sweep()
        self.run_coord(folder, "export", "--format", "header", "--out", "tuned.h")
        export = json.loads(self.run_coord(folder, "export", "--format", "json").stdout)
        self.assertEqual(export["config"], self.report(folder)["results"][0]["config"])
        for shape in export["shapes"]:
            used = [*shape["grid"], *shape["block"], shape["smem"]]
            self.assertEqual(used, self.sql(spec, export["origin"]["facts"], export["config"], shape["vars"]["N"]))
        for compiler in COMPILERS:
            self.compile(folder, compiler, PROGRAM, "-o", "main")
            out = subprocess.run(["./main"], cwd=folder, check=True, capture_output=True, text=True).stdout
            for line in out.splitlines():
                n, *launch = map(int, line.split())
                self.assertEqual(launch, self.sql(spec, export["origin"]["facts"], export["config"], n), n)
            self.compile(folder, compiler, KERNEL, "-c", "-DFA_EXPORT_KERNEL", "-include", "tuned.h", "-o", "k.o")
            self.compile(folder, compiler, '#include "tuned.h"\n' + KERNEL, "-c", "-DFA_EXPORT_KERNEL", "-include",
                         "tuned.h", "-o", "k.o")
        self.flags(folder)
        self.dispatch(folder, export)
        self.torch(folder)
        self.refusals(folder)
        self.nothing()

    def test_shape_variables_may_have_any_name(self):
        folder = self.few(BLOCK_SIZE=[64])
        text = re.sub(r"\bN\b", "i", json.dumps(sweepfile.read(folder)))
        spec = json.loads(text)
        spec["emulation_shapes"].append({"name": "n1k", "i": 1000})
        for shapes in ("shapes", "emulation_shapes", "fuzz_shapes", "emulation_fuzz_shapes"):
            for shape in spec.get(shapes, []):
                shape["config"] = 1
        sweepfile.write(folder, spec)
        self.run_coord(folder, "sweep", "--device", "cpu")
        self.run_coord(folder, "export", "--format", "dispatch", "--out", "dispatch.h")
        for compiler in COMPILERS:
            self.compile(folder, compiler, NAMES, "-o", "main")
            subprocess.run(["./main"], cwd=folder, check=True)

    def flags(self, folder):
        """The flags are one line for a shell, and define the header's plain macros."""
        flags = self.run_coord(folder, "export", "--format", "flags").stdout
        self.assertEqual(flags.count("\n"), 1)
        with open(os.path.join(folder, "k.c"), "w") as f:
            f.write(KERNEL.replace("VECTOR_ADD_TILE", "ITEMS"))
        subprocess.run(f"gcc -c {flags.strip()} k.c -o k.o", shell=True, cwd=folder, check=True)

    def dispatch(self, folder, export):
        """The table has each shape's winner and its launch, and a new shape gets the nearest one's."""
        self.run_coord(folder, "export", "--format", "dispatch", "--out", "dispatch.h")
        wanted = []
        for shape in export["shapes"]:
            best = json.loads(self.run_coord(folder, "export", "--format", "json", "--shape", shape["name"]).stdout)
            at = next(s for s in best["shapes"] if s["name"] == shape["name"])
            flags = self.run_coord(folder, "export", "--format", "flags", "--shape", shape["name"]).stdout.strip()
            wanted.append([best["key"], flags, str(at["vars"]["N"]), *map(str, [*at["grid"], *at["block"], at["smem"]])])
        for compiler in COMPILERS:
            self.compile(folder, compiler, DISPATCH, "-o", "main")
            out = subprocess.run(["./main"], cwd=folder, check=True, capture_output=True, text=True).stdout.splitlines()
            self.assertEqual([line.split("|") for line in out[:-1]], wanted)
            self.assertEqual(out[-1], "0 0 1 1")

    def torch(self, folder):
        """The file is read without PyTorch; where it and a GPU are, test_export_torch.py runs it."""
        self.run_coord(folder, "export", "--format", "torch", "--out", "vector_add_torch.py")
        spec = importlib.util.spec_from_file_location("vector_add_torch", os.path.join(folder, "vector_add_torch.py"))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        self.assertEqual(module.NAME, "vector_add")
        self.assertEqual(module.SOURCE, "vector_add.cu")
        self.assertEqual(module.ARGUMENTS, ["a", "b", "out", "n", "N"])
        self.assertIn("BLOCK_SIZE", module.MACROS)
        with open(os.path.join(folder, "tuned.h")) as f:
            self.assertEqual(module.HEADER, f.read())
        self.assertIn("static void launch(at::Tensor a_a, at::Tensor a_b, at::Tensor a_out, int64_t a_n, int64_t v_N)", module.GLUE)
        self.assertIn("void *arguments[] = { &p_a, &p_b, &p_out, &p_n };", module.GLUE)
        self.assertIn("dim3 grid((unsigned)VECTOR_ADD_LAUNCH_GRID_X(v_N), ", module.GLUE)

    @unittest.skipUnless(rig.NVCC, "nvcc is not here")
    def test_the_cubin_is_that_of_the_build(self):
        folder = self.kernel("vector_add")
        path = os.path.join(folder, "sweep.json")
        with open(path) as f:
            text = re.sub(r'"BLOCK_SIZE": \[.*?\]', '"BLOCK_SIZE": [256]', f.read())
        with open(path, "w") as f:
            f.write(re.sub(r'"ITEMS": \[.*?\]', '"ITEMS": [1]', text))
        self.run_coord(folder, "space", ".", "--build", "--arch", "sm_90", "--db", "x.db")
        which = ("--db", "x.db", "--config", "BLOCK_SIZE=256,ITEMS=1,VECTOR=false")
        self.run_coord(folder, "export", *which, "--format", "cubin", "--out", "k.cubin")
        artifact = json.loads(self.run_coord(folder, "export", *which, "--format", "json").stdout)["origin"]["artifact"]
        (cached,) = glob.glob(os.path.join(self.env["HOME"], ".cache", "fa-coord", "artifacts", artifact))
        with open(os.path.join(folder, "k.cubin"), "rb") as a, open(cached, "rb") as b:
            cubin = a.read()
            self.assertEqual(cubin, b.read())
        self.assertEqual(cubin[:4], b"\x7fELF")
        kept = os.path.join(self.env["HOME"], ".cache", "fa-coord", "kept")
        os.makedirs(kept, exist_ok=True)
        os.rename(cached, os.path.join(kept, artifact))
        self.run_coord(folder, "export", *which, "--format", "cubin", "--out", "kept.cubin")
        with open(os.path.join(folder, "kept.cubin"), "rb") as a:
            self.assertEqual(a.read(), cubin)
        os.rename(os.path.join(kept, artifact), cached)
        for args, said, change in (
                ((), "--format cubin is not text; name a file with --out", None),
                (("--out", "other"), "is damaged: its hash is ", lambda: os.truncate(cached, 1000)),
                (("--out", "other"), "is not in the cache of this machine's worker", lambda: os.remove(cached))):
            if change:
                change()
            self.assertIn(said, self.run_coord(folder, "export", *which, "--format", "cubin", *args, code=2).stderr)
        self.assertFalse(os.path.exists(os.path.join(folder, "other")))

    def refusals(self, folder):
        """Each flaw has one message, and the file stays as it was."""
        def refused(text, *args, code=2):
            self.assertIn(text, self.run_coord(folder, "export", *args, code=code).stderr)

        header = os.path.join(folder, "tuned.h")
        with open(header) as f:
            before = f.read()
        refused("'tuned.h' exists already; --force overwrites it", "--out", "tuned.h")
        refused("--format=headers: choose header, json or flags", "--format", "headers")
        refused("did you mean 'header'?", "--format", "heder")
        refused("there is no tunable 'BLOCK'", "--config", "BLOCK=1")
        refused("is not a configuration of this sweep", "--config", "BLOCK_SIZE=256,ITEMS=1,VECTOR=false,MODE=plain")
        refused("no configuration of this sweep has a key that begins with 'ffff'", "--config", "ffff")
        refused("is not a cubin: the sweep did not run on an NVIDIA GPU", "--format", "cubin", "--out", "k.cubin")
        refused("not both", "sweep.json", "--db", "vector_add.db")
        refused("none.db", "--db", "none.db", code=7)
        refused("does not give the name of the sweep", "none.json")
        refused("/none/tuned.h': there is no folder '/none'", "--out", "/none/tuned.h")
        with open(header) as f:
            self.assertEqual(f.read(), before)
        self.run_coord(folder, "export", ".", "--config", "BLOCK_SIZE=64,ITEMS=1,VECTOR=false,MODE=plain",
                       "--out", "tuned.h", "--force")
        with open(header) as f:
            self.assertIn("#define VECTOR_ADD_BLOCK_SIZE 64\n", f.read())

    def nothing(self):
        """A sweep without a correct configuration has no winner."""
        folder = self.kernel("vector_add", "broken")
        with open(os.path.join(folder, "vector_add.cu"), "w") as f:
            f.write('extern "C" __global__ void vector_add() { this is no kernel }\n')
        path = os.path.join(folder, "sweep.json")
        with open(path) as f:
            text = re.sub(r'"BLOCK_SIZE": \[.*?\]', '"BLOCK_SIZE": [256]', f.read())
        with open(path, "w") as f:
            f.write(re.sub(r'"ITEMS": \[.*?\]', '"ITEMS": [1]', text))
        self.run_coord(folder, "sweep", "--device", "cpu", code=None)
        result = self.run_coord(folder, "export", "--out", "tuned.h", code=1)
        self.assertIn("the sweep 'vector_add' has no winner", result.stderr)
        self.assertFalse(os.path.exists(os.path.join(folder, "tuned.h")))


if __name__ == "__main__":
    unittest.main()
