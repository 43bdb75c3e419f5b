"""--on-event: a command gets a JSON object for each thing that happens to a sweep."""

import json
import os
import signal
import unittest

import landscape
import rig

HOOK = """#!/bin/sh
read -r line && echo "$line" >>"$1"
"""


class OnEvent(rig.Rig):
    def setUp(self):
        super().setUp()
        with open(self.path("hook"), "w") as f:
            f.write(HOOK)
        os.chmod(self.path("hook"), 0o700)
        landscape.make(self.path("bowl.json"), xs=(32, 64, 1024), ys=(1, 4), unrolls=(1, 2))

    def sweep(self, speed_up, *args):
        return ("sweep", "--device", "replay=bowl.json", "--db", "x.db", "--speed-up", str(speed_up), "--on-event",
                f"{self.path('hook')} {self.path('told')}", *args)

    def told(self):
        if not os.path.exists(self.path("told")):
            return []
        with open(self.path("told")) as f:
            return [json.loads(line) for line in f if line.endswith("\n")]

    def test_a_sweep_tells_its_start_its_best_and_its_end(self):
        ran = self.run_coord(self.folder, *self.sweep(100000, "--json"))
        told = self.told()
        names = [event["event"] for event in told]
        self.assertEqual((names[0], names[-1]), ("started", "finished"))
        self.assertEqual(set(names[1:-1]), {"best_improved"})
        for event in told:
            self.assertEqual((event["dropped"], event["database"]), (0, "x.db"))
            self.assertRegex(event["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d")
        bests = [event["best_s"] for event in told[1:-1]]
        self.assertEqual(bests, sorted(bests, reverse=True))
        self.assertEqual(len(set(bests)), len(bests))
        report = self.report(self.folder, "x.db")
        self.assertIn(told[-2]["config"], [row["key"] for row in report["results"]])
        self.assertEqual((told[-1]["exit_code"], told[-1]["best_s"]), (0, bests[-1]))
        self.assertEqual(told[-1]["tried"], told[-1]["total"])
        json.loads(ran.stdout)  # the command prints nothing into it
        self.assertNotIn("warning: --on-event", ran.stderr)

    def test_a_cap_an_interrupt_and_a_command_that_fails(self):
        self.run_coord(self.folder, *self.sweep(100000, "--max-hours", "1e-6"), code=6)
        self.assertEqual([e["event"] for e in self.told()], ["started", "budget_reached"])
        os.unlink(self.path("told"))
        running = self.start(self.folder, *self.sweep(0.001))
        rig.until("it has started", self.told)
        running.send_signal(signal.SIGINT)
        running.wait()
        self.assertEqual([(e["event"], e.get("exit_code")) for e in self.told()][-1], ("interrupted", 130))
        with open(self.path("hook"), "w") as f:
            f.write("#!/bin/sh\necho no network >&2\nexit 3\n")
        ran = self.run_coord(self.folder, *self.sweep(100000))
        self.assertRegex(ran.stderr, r"--on-event: the command failed for \d+ of \d+ events, last: exit code 3: no network")
        self.assertIn("--on-event: name a command",
                      self.run_coord(self.folder, "resume", "x.db", "--on-event", " ", code=2).stderr)


if __name__ == "__main__":
    unittest.main()
