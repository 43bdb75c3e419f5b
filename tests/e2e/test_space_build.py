"""fa-coord space --build: compile every configuration that passes the gates, and keep the builds."""

import json
import os
import signal
import unittest

import rig
import sweepfile


@unittest.skipUnless(rig.NVCC, "no nvcc on this machine")
class SpaceBuild(rig.Rig):
    def build(self, folder, *args, code=0):
        ran = self.run_coord(folder, "space", "--build", "--json", *args, code=code)
        return json.loads(ran.stdout), ran.stderr

    # Of one test, because what is built once is then in the worker's cache.
    def test_what_was_built_is_told_and_not_built_again(self):
        folder = self.fixture("dead_tunable")
        self.assertIn("known after builds", self.run_coord(folder, "space").stdout)
        told, said = self.build(folder, "--jobs", "2")
        self.assertIn("4/4 built", said)
        self.assertEqual((told["built"], told["failed"], told["distinct_codes"]), (4, 0, 2))
        self.assertEqual(told["dead_tunables"], ["UNUSED"])
        self.assertEqual(told["toolkit"].split()[0], "nvcc")
        for build in told["builds"]:
            self.assertGreater(build["registers"], 0)
            self.assertEqual((build["spill_bytes"], build["stack_bytes"]), (0, 0))
            self.assertEqual((build["smem_bytes"], build["threads"]), (1024, 128))
            self.assertEqual((build["blocks_per_sm"], build["limiter"]), (12, "threads"))
            self.assertEqual((build["occupancy"], build["grid_blocks"]), (1.0, {"n1k": 8}))
            self.assertGreater(build["build_s"], 0)
            self.assertIsNone(build["error"])
        again, _ = self.build(folder)
        self.assertEqual(again, told)
        self.assertEqual(self.query(folder, "SELECT count(*) FROM build"), [(4,)])
        self.run_coord(folder, "verify", "dead_tunable.sm_89.db")
        with self.subTest("the gate table knows the dead tunable from then on"):
            text = self.run_coord(folder, "space", "--build").stdout
            self.assertIn("4 built, 0 failed; 2 distinct machine codes", text)
            self.assertIn("dead tunables: UNUSED", text)
            self.assertIn("dead tunables: UNUSED", self.run_coord(folder, "space").stdout)
            self.assertIn("known after builds", self.run_coord(folder, "space", "--arch", "sm_90").stdout)
        with self.subTest("builds do not take the place of another sweep"):
            self.build(folder, "--db", "a.db")
            said = self.run_coord(folder, "space", "--build", "--arch", "sm_90", "--db", "a.db", code=2).stderr
            self.assertIn("a.db holds a sweep for sm_89; name another database with --db", said)

    def test_what_passes_the_gates_and_does_not_build_is_named(self):
        folder = self.fixture("dead_tunable")
        sweepfile.write(folder, {**sweepfile.read(folder), "gates": []})
        told, said = self.build(folder, code=1)
        self.assertEqual((told["built"], told["failed"]), (4, 2))
        self.assertEqual([(f["outcome"], f["count"]) for f in told["failed_by_reason"]], [("compile", 2)])
        self.assertIn("three is not supported", told["failed_by_reason"][0]["reason"])
        errors = [b["error"] for b in told["builds"] if b["params"]["FACTOR"] == 3]
        self.assertEqual(["three is not supported" in e for e in errors], [True, True])
        self.assertIn("2 of 6 configurations that pass the gates do not build; the first, FACTOR=3 UNUSED=0: "
                      "scale.cu(5)", said)

    def test_a_cover_is_enough_to_meet_every_pair_of_values(self):
        folder = self.fixture("dead_tunable")
        sweep = sweepfile.read(folder)
        sweep["tunables"]["THIRD"] = [0, 1]
        sweep["baseline"]["THIRD"] = 0
        sweepfile.write(folder, sweep)
        told, said = self.build(folder, "--cover")
        built = [b["params"] for b in told["builds"] if b["cubin"]]
        passes = [b["params"] for b in told["builds"]]
        self.assertEqual(told["built"], len(built))
        self.assertIn(f"{len(built)}/{len(built)} built", said)
        self.assertLess(len(built), len(passes))
        for a in passes[0]:
            for b in passes[0]:
                self.assertEqual({(p[a], p[b]) for p in built}, {(p[a], p[b]) for p in passes})
        self.assertEqual({b["error"] for b in told["builds"]}, {None, "not built yet"})

    def test_a_cover_takes_what_a_gate_warns_of_along(self):
        folder = self.fixture("dead_tunable")
        sweep = sweepfile.read(folder)
        sweep["gates"] = [{"name": "low", "warn": "FACTOR <= 2"}]
        sweep["tunables"] = {"FACTOR": [1, 2, 4, 5], "UNUSED": [0, 1]}
        sweepfile.write(folder, sweep)
        listed = json.loads(self.run_coord(folder, "space", "--list", "--cover", "--json").stdout)["points"]
        told, _ = self.build(folder, "--cover")
        built = [b["params"] for b in told["builds"] if b["cubin"]]
        for point in listed:
            self.assertIn(point["params"], built)

    def test_a_list_with_a_gap_is_not_a_success(self):
        folder = self.fixture("dead_tunable")
        started = self.slow_compiler(folder, "FACTOR 2")
        running = self.start(folder, "space", "--build", "--jobs", "1")
        for time in range(1, 4):  # so often is a build tried whose worker dies
            rig.until("it compiles", lambda: os.path.exists(started) or running.poll() is not None)
            for pid, _ in self.workers():
                os.kill(pid, signal.SIGKILL)
            os.remove(started)
        self.assertEqual(running.wait(120), 1, self.stderr())
        self.assertRegex(self.stderr(), "[12] of 4 builds are missing, the first is FACTOR=2")

    def slow_compiler(self, folder, when):
        """An nvcc that hangs on a header with 'when'; returns a file that exists once it was called with one."""
        os.mkdir(self.path("bin"))
        started = self.path("started")
        with open(self.path("bin", "nvcc"), "w") as f:
            f.write(f"""#!/bin/sh
for a; do case "$a" in *.h) if grep -q '{when}' "$a"; then touch '{started}'; exec sleep 600; fi;; esac; done
exec '{rig.NVCC}' "$@"
""")
        os.chmod(self.path("bin", "nvcc"), 0o755)
        self.env["CUDA_HOME"] = self.folder
        return started

    def test_contradictions_are_refused(self):
        folder = self.fixture("dead_tunable")
        for args in (["--build", "--device", "cpu"], ["--jobs", "2"], ["--build", "--jobs", "999"]):
            self.run_coord(folder, "space", *args, code=2)
        self.assertEqual([n for n in os.listdir(folder) if ".db" in n], [])


if __name__ == "__main__":
    unittest.main()
