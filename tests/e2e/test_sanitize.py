"""fa-coord explain --sanitize through sshd, where a worker with a GPU answers what compute-sanitizer prints.

The worker is the stand-in (stand_in_worker.c): each kernel faults on its GPU.  The texts have the form of NVIDIA's
Compute Sanitizer User Manual.
"""

import json
import unittest

import boxes
import rig
import sweepfile

CONFIG = "BLOCK_SIZE=64,ITEMS=2,VECTOR=false"
PRINTED = {
    "memcheck": """ok
========= COMPUTE-SANITIZER
========= Invalid __global__ write of size 4 bytes
=========     at vector_add(const float *, const float *, float *, int)+0x50 in vector_add.cu:21
=========     by thread (3,0,0) in block (1,0,0)
=========     Access at 0x7f241b0001e0 is out of bounds
=========
outcome runtime

========= ERROR SUMMARY: 1 error
""",
    "racecheck": """========= COMPUTE-SANITIZER
========= Warning: Race reported between Read access at vector_add+0x10 in vector_add.cu:18
=========     and Write access at vector_add+0x20 in vector_add.cu:19 [8 hazards]
=========
========= RACECHECK SUMMARY: 1 hazard displayed (0 errors, 1 warning)
""",
    "initcheck": "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n",
    "synccheck": "========= COMPUTE-SANITIZER\n========= ERROR SUMMARY: 0 errors\n",
}
VERDICTS = {"memcheck": "1 error", "racecheck": "0 errors, 1 warning", "initcheck": "nothing found",
            "synccheck": "nothing found"}


@unittest.skipUnless(rig.find_sshd(), "no sshd on this machine")
class Sanitize(boxes.Boxes):
    def prints(self, **texts):
        for tool, text in texts.items():
            with open(self.path("gpu", f"{tool}.out"), "w") as f:
                f.write(text)

    def explain(self, folder, *args, code=0):
        return self.run_coord(folder, "explain", CONFIG, *args, code=code)

    def shown(self, text):
        """The verdict of each tool in its table."""
        rows = [line for line in text.splitlines() if self.address("gpu") in line]
        return {tool: row.partition(self.address("gpu"))[2].strip()
                for row in rows for tool in PRINTED if row.split()[1] == tool}

    def test_findings_are_shown_kept_and_shown_again(self):
        folder = self.kernel("vector_add")
        sweep = sweepfile.read(folder)
        sweep["tunables"] = {"BLOCK_SIZE": [64], "ITEMS": [2], "VECTOR": [False]}
        sweepfile.write(folder, sweep)
        hosts = self.hosts(self.stand_in("gpu", "faults"))
        self.run_coord(folder, "sweep", "--device", "cuda", "--hosts", hosts, code=1)
        before = self.explain(folder).stdout
        self.assertIn("an illegal memory access", before)
        self.assertNotIn("memcheck", before)

        with self.subTest("a tool that printed no summary has no verdict"):
            self.prints(**{**PRINTED, "initcheck": "========= COMPUTE-SANITIZER\n"})
            checked = self.explain(folder, "--sanitize", code=1)
            self.assertIn("printed no summary", self.shown(checked.stdout)["initcheck"])
            self.assertEqual(self.shown(checked.stdout)["memcheck"], VERDICTS["memcheck"])
            self.assertEqual(self.heard("gpu", "TOOL"), len(PRINTED))

        with self.subTest("shown"):
            self.prints(**PRINTED)
            checked = self.explain(folder, "--sanitize").stdout
            self.assertEqual(self.shown(checked), VERDICTS)
            self.assertRegex(checked, r"memcheck +1 +Invalid __global__ write of size 4 bytes +\(3,0,0\) +\(1,0,0\) "
                                      r"+vector_add\(.*\)\+0x50 in vector_add.cu:21")
            self.assertRegex(checked, r"racecheck +8 +Race reported between Read and Write access \(warning\)")

        with self.subTest("shown again, from the database"):
            again = self.explain(folder).stdout
            self.assertEqual(self.shown(again), VERDICTS)
            self.assertIn("vector_add.cu:21", again)
            self.assertEqual(self.heard("gpu", "TOOL"), 2 * len(PRINTED), "without the flag nothing runs")

        with self.subTest("as JSON"):
            told = json.loads(self.explain(folder, "--json").stdout)
            self.assertEqual({run["tool"]: (run["errors"], run["warnings"]) for run in told["sanitizer"]},
                             {"memcheck": (1, 0), "racecheck": (0, 1), "initcheck": (0, 0), "synccheck": (0, 0)})
            self.assertEqual([f["kind"] for run in told["sanitizer"] for f in run["findings"]],
                             ["Invalid __global__ write of size 4 bytes",
                              "Race reported between Read and Write access"])
            self.assertEqual(told["outcome"], "runtime", "findings change no outcome")


if __name__ == "__main__":
    unittest.main()
