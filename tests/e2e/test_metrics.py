"""The file of metrics that a running sweep keeps, read by a parser of Prometheus' text format."""

import os
import re
import unittest

import landscape
import rig

NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
LABEL = r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\[\\"n])*)"'
SAMPLE = re.compile(rf"({NAME})(?:\{{({LABEL}(?:,{LABEL})*)\}})? (\S+)")


def parse(text):
    """{(name, ((label, value), ...)): number}; AssertionError where the text is not in the format."""
    types, helps, samples = {}, set(), {}
    assert text.endswith("\n"), "the last line has no end"
    for line in text.splitlines():
        if line.startswith("# HELP "):
            name = line.split(" ", 3)[2]
            assert name not in helps, f"two helps of {name}"
            helps.add(name)
        elif line.startswith("# TYPE "):
            _, _, name, kind = line.split(" ")
            assert name not in types and kind in ("counter", "gauge"), line
            assert (kind == "counter") == name.endswith("_total"), line
            types[name] = kind
        else:
            found = SAMPLE.fullmatch(line)
            assert found, line
            name = found[1]
            assert list(types)[-1:] == [name] and name in helps, f"{name} does not follow its type"
            key = name, tuple(re.findall(LABEL, found[2] or ""))
            assert key not in samples, f"{key} is there twice"
            samples[key] = float(found[found.lastindex])
    return samples


class Metrics(rig.Rig):
    def read(self):
        if not os.path.exists(self.path("m.prom")):
            return {}
        with open(self.path("m.prom")) as f:
            text = f.read()
        return parse(text) if text else {}  # empty until the sweep has a description

    def sweep(self, *args):
        return ("sweep", "--device", "replay=bowl.json", "--db", "x.db", "--metrics", "m.prom", *args)

    def test_the_file_says_what_the_report_says(self):
        landscape.make(self.path("bowl.json"), xs=(32, 64, 1024), ys=(1, 4), unrolls=(1, 2))
        self.run_coord(self.folder, *self.sweep("--speed-up", "100000"))
        got, report = self.read(), self.report(self.folder, "x.db")
        for outcome, n in report["counts"].items():
            if ("fa_coord_configurations", (("outcome", outcome),)) in got:
                self.assertEqual(got["fa_coord_configurations", (("outcome", outcome),)], n)
        self.assertEqual(got["fa_coord_running", ()], 0)
        self.assertEqual(got["fa_coord_measurements_settled", ()], got["fa_coord_measurements", ()])
        self.assertGreater(got["fa_coord_configurations", (("outcome", "correct"),)], 0)
        best = [value for (name, _), value in got.items() if name == "fa_coord_best_seconds"]
        self.assertEqual(len(best), 1)
        self.assertAlmostEqual(best[0], 1e-3, delta=2e-4)
        spent = sum(value for (name, _), value in got.items() if name == "fa_coord_host_seconds_total")
        self.assertGreater(spent, 0)
        self.assertEqual(got["fa_coord_unpriced_hosts", ()], 1)
        self.assertFalse(os.path.exists(self.path("m.prom.fa-part")))
        self.assertIn("--metrics: 'none/m.prom': there is no folder 'none'",
                      self.run_coord(self.folder, "resume", "x.db", "--metrics", "none/m.prom", code=2).stderr)

    def of_a_run(self):
        got = self.read()
        hosts = sum(value for (name, _), value in got.items() if name == "fa_coord_hosts")
        return got if hosts == 1 and got["fa_coord_running", ()] == 1 else None

    @staticmethod
    def watchers(coord):
        """The processes that it started without another program."""
        def command(pid):
            try:
                with open(f"/proc/{pid}/cmdline", "rb") as f:
                    return f.read()
            except OSError:
                return b""
        return [int(pid) for pid in os.listdir("/proc")
                if pid.isdigit() and rig.parent(int(pid)) == coord.pid and command(pid) == command(coord.pid)]

    def test_the_file_is_kept_while_the_sweep_runs_and_ends_with_it(self):
        landscape.make(self.path("bowl.json"), xs=(32, 64), ys=(4,), unrolls=(1, 2), compile_ms=3600000.0)
        coord = self.start(self.folder, *self.sweep("--speed-up", "1"))
        self.addCleanup(coord.wait)
        self.addCleanup(coord.kill)
        got = rig.until("the file shows a run", self.of_a_run)
        self.assertEqual(got["fa_coord_measurements_settled", ()], 0)
        [watcher] = self.watchers(coord)
        coord.kill()
        coord.wait()
        rig.until("the process that writes it ends, too", lambda: rig.parent(watcher) < 0)


if __name__ == "__main__":
    unittest.main()
