"""fa-coord profile with a stand-in for ncu: orders, results, and what happens when ncu is missing.

The stand-in is found by PATH and runs the real fa-runner with the request it was given; its table
is written from ncu's documentation, not recorded."""

import json
import os
import sys
import unittest

import rig
import sweepfile

NCU = r'''#!{python}
import subprocess, sys
def option(name): return sys.argv[sys.argv.index(name) + 1]
assert option("--kernel-name") == "vector_add" and option("--page") == "raw" and option("--cache-control") == "all"
run = subprocess.run(sys.argv[-1:], capture_output=True, text=True)
sys.stdout.write(run.stdout)
if run.returncode or "outcome correct" not in run.stdout or "sample" in run.stdout.replace("sampling", ""):
    sys.exit("the runner was not right: " + run.stdout + run.stderr)
print("==PROF== Connected to process 1 (fa-runner)")
print('"ID","Kernel Name","gpu__time_duration.sum","sm__inst_executed_pipe_xu.avg.pct_of_peak_sustained_elapsed",'
      '"gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed",'
      '"smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio"')
print('"","","nsecond","%","%","inst"')
print('"0","vector_add","12,345","1.5","91.25","7.5"')
'''
FORBIDDEN = r'''#!{python}
import sys
print("==ERROR== ERR_NVGPUCTRPERM - The user does not have permission to access NVIDIA GPU Performance Counters")
sys.exit(1)
'''


def stand_in(name, text):
    """A program of that name in ncu's place."""
    with open(name, "w") as f:
        f.write(text.replace("{python}", sys.executable))
    os.chmod(name, 0o755)


class Profile(rig.Rig):
    def setUp(self):
        super().setUp()
        # Hide this machine's ncu: the folder of its toolkit may be in PATH.
        here = [p for p in self.env["PATH"].split(":") if not os.path.exists(os.path.join(p, "ncu"))]
        self.env["PATH"] = ":".join([self.path("bin"), *here])
        os.mkdir(self.path("bin"))

    def profile(self, folder, *args, code=0):
        return self.run_coord(folder, "profile", *args, code=code)

    def test_profiles_are_stored_and_shown(self):
        folder = self.kernel("vector_add")
        sweep = sweepfile.read(folder)
        sweep["tunables"] = {"BLOCK_SIZE": [64], "ITEMS": [2], "VECTOR": [False]}
        sweepfile.write(folder, sweep)
        self.run_coord(folder, "sweep", "--device", "cpu")
        with self.subTest("without ncu"):
            missing = self.profile(folder, code=1)
            self.assertIn("missing: there is no program 'ncu' on this host", missing.stdout)
        with self.subTest("without the right to read counters"):
            stand_in(self.path("bin", "ncu"), FORBIDDEN)
            refused = self.profile(folder, code=1)
            self.assertIn("NVreg_RestrictProfilingToAdminUsers=0", refused.stdout)
        with self.subTest("winner and baseline"):
            stand_in(self.path("bin", "ncu"), NCU)
            shown = self.profile(folder).stdout
            self.assertIn("DRAM %", shown)
            self.assertIn("91.2", shown)
            self.assertIn("long_scoreboard 7.50", shown)
            profiles = self.report(folder)["profiles"]
            self.assertEqual({p["shape"] for p in profiles}, {"n5k"})
            for profile in profiles:
                self.assertAlmostEqual(profile["figures"]["duration_s"], 12.345e-6)
                self.assertEqual(profile["figures"]["xu_pct"], 1.5)
                self.assertIsNone(profile["figures"]["tensor_pct"])
            self.assertEqual(len(profiles), len({p["key"] for p in profiles}))
            self.assertIn("DRAM %", self.run_coord(folder, "report", "--show", "profiles").stdout)
        with self.subTest("a named one"):
            told = json.loads(self.profile(folder, "BLOCK_SIZE=64,ITEMS=2,VECTOR=false", "--json").stdout)
            self.assertIn({"BLOCK_SIZE": 64, "ITEMS": 2, "VECTOR": False}, [p["config"] for p in told["profiles"]])
        with self.subTest("compute-sanitizer needs a GPU"):
            config = "BLOCK_SIZE=64,ITEMS=2,VECTOR=false"
            before = self.run_coord(folder, "explain", config).stdout
            refused = self.run_coord(folder, "explain", config, "--sanitize", code=2)
            self.assertIn("--sanitize needs a GPU", refused.stderr)
            self.assertNotIn("\n", refused.stderr.strip())
            for flag in "--shape=n5k", "--limit=1800", "--ssh=openssh", "--linger=9", "--max-hours=0":
                alone = self.run_coord(folder, "explain", config, flag, code=2)
                self.assertIn(f"{flag.split('=')[0]} works only with --sanitize", alone.stderr)
            self.assertEqual(self.run_coord(folder, "explain", config).stdout, before)
        with self.subTest("no result was made of it"):
            self.assertEqual(self.query(folder, "SELECT DISTINCT purpose FROM result WHERE purpose='profile'"), [])
        self.assert_invariants(folder)


if __name__ == "__main__":
    unittest.main()
