"""A space of 2^60 points: counted, planned, searched by a draw, and refused where it must be listed."""

import json
import os
import subprocess
import unittest

import rig
import sweepfile

NAMES = [f"X{i}" for i in range(60)]
PASS = 2**60 - 1 - 60 - 1770 - 34220


class WideSpace(rig.Rig):
    def setUp(self):
        super().setUp()
        self.folder = self.kernel("vector_add")
        sweep = sweepfile.read(self.folder)
        sweep["tunables"].update((name, [0, 1]) for name in NAMES)
        for name, value in sweep["baseline"].items():
            sweep["tunables"][name] = [value]
        sweep["baseline"].update((name, 1) for name in NAMES)
        sweep["gates"] = [{"name": "some", "reject": " + ".join(NAMES) + " <= 3", "why": "too few"}]
        sweepfile.write(self.folder, sweep)

    def coord(self, *args, code=0):
        return self.run_coord(self.folder, *args, code=code)

    def test_it_is_counted_and_planned(self):
        found = json.loads(self.coord("space", "--json").stdout)
        self.assertEqual((found["configurations"], found["passed"]), (2**60, PASS))
        self.assertEqual(found["gates"][0]["rejected_alone"], 36051)
        plan = json.loads(self.coord("sweep", "--device", "cpu", "--evaluations", "5", "--dry-run", "--json").stdout)
        self.assertEqual((plan["passed"], plan["strategy"], plan["evaluations"]), (PASS, "bayes", 5))

    def test_a_list_ends_with_its_reader(self):
        listing = subprocess.Popen([os.path.join(self.bin, "fa-coord"), "space", "--list"], cwd=self.folder, env=self.env,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        with listing:
            self.assertIn(" X59=1\n", listing.stdout.readline())
            listing.stdout.close()
            self.assertEqual(listing.stderr.read(), "")
        self.assertEqual(listing.returncode, 0)

    def test_what_needs_a_list_says_what_works(self):
        for args in (("check", "--no-build"), ("sweep", "--device", "cpu", "--dry-run", "--strategy", "local")):
            self.assertIn("bayes or random with --evaluations, which search 65536 drawn at random",
                          self.coord(*args, code=2).stderr)
        for flags in (("--cover", "--list"), ("--build",)):
            self.assertIn("looks at every configuration", self.coord("space", *flags, code=2).stderr)


if __name__ == "__main__":
    unittest.main()
