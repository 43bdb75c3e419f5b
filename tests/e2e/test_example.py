"""kernels/flash_attention/example: its header is that of the database, and it builds and runs."""

import json
import os
import re
import shutil
import subprocess
import unittest

import rig

EXAMPLE = os.path.join(rig.KERNELS, "flash_attention", "example")
HEADER = "flash_attention_tuned.h"
AGAIN = "make -C kernels/flash_attention/example header [DB=FILE] writes it again"


class Example(rig.Rig):

    def make(self, folder, *args):
        return subprocess.run(["make", "-C", folder, *args], env=self.env, check=True, capture_output=True, text=True,
                              timeout=120)

    def test_the_header_is_what_the_database_gives(self):
        folder = shutil.copytree(EXAMPLE, self.path("example"), ignore=shutil.ignore_patterns("build"))
        with open(os.path.join(EXAMPLE, HEADER)) as f:
            kept = f.read()
        self.make(folder, "header", f"FA_COORD={os.path.join(rig.BIN, 'fa-coord')}",
                  f"RECORD={os.path.join(rig.SOURCE, 'docs/results/h200/record/run_1.db.gz')}")
        with open(os.path.join(folder, HEADER)) as f:
            self.assertEqual(f.read(), kept, AGAIN)

    def test_the_header_is_that_of_this_kernel(self):
        with open(os.path.join(rig.KERNELS, "flash_attention", "sweep.json")) as f:
            spec = json.loads(re.sub(r"^\s*//.*$|//[^\"\n]*$", "", f.read(), flags=re.M))
        with open(os.path.join(EXAMPLE, HEADER)) as f:
            header = f.read()
        for name in [*spec["tunables"], *spec.get("derived", {})]:
            self.assertRegex(header, rf"(?m)^#define {name} ", f"{HEADER} knows no {name}; {AGAIN}")

    @unittest.skipUnless(os.environ.get("FA_NVCC"), "no nvcc here")
    def test_it_builds_and_runs(self):
        shutil.copytree(rig.KERNELS, self.path("kernels"), ignore=shutil.ignore_patterns("build"))
        folder = self.path("kernels", "flash_attention", "example")
        self.make(folder, f"NVCC={os.environ['FA_NVCC']}")
        result = subprocess.run([os.path.join(folder, "build", "example"), "2", "2", "401", "1"], env=self.env,
                                capture_output=True, text=True, timeout=60)
        self.assertEqual(result.stdout.count("\n"), 1, result.stdout + result.stderr)
        if result.stdout.startswith("skipped, no GPU here"):
            self.assertEqual(result.returncode, 77)
        else:
            self.assertEqual(result.returncode, 0, result.stdout + result.stderr)


if __name__ == "__main__":
    unittest.main()
