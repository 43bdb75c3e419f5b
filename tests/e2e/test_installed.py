"""What 'cmake --install' installs: all of it, and enough to sweep with it alone."""

import json
import os
import re
import subprocess
import unittest

import rig
import sweepfile

BUILD = os.path.dirname(rig.BIN)


class Installed(rig.Rig):

    def install(self, prefix):
        """Install this build into 'prefix'; returns the files there, and the names in CMake's manifest."""
        ran = subprocess.run(["cmake", "--install", BUILD, "--prefix", prefix], capture_output=True, text=True,
                             env={**self.env, "HOME": self.path("builder")}, timeout=240)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        with open(os.path.join(BUILD, "install_manifest.txt")) as f:
            manifest = sorted(os.path.relpath(line, prefix) for line in f.read().splitlines())
        files = sorted(os.path.relpath(os.path.join(at, name), prefix)
                       for at, _, names in os.walk(prefix) for name in names)
        return files, manifest

    def test_all_is_installed_and_sweeps_from_there(self):
        prefix = self.path("prefix")
        files, manifest = self.install(prefix)
        self.bin = os.path.join(prefix, "bin")
        with self.subTest("programs, kernels, manual pages, completions"):
            self.assertLessEqual({
                "bin/fa-coord", "libexec/fa-coord/fa-worker", "share/fa-coord/kernels/vector_add/sweep.json",
                "share/fa-coord/kernels/flash_attention/sweep.json", "share/fa-coord/regression.sh",
                "share/bash-completion/completions/fa-coord", "share/zsh/site-functions/_fa-coord",
                "share/fish/vendor_completions.d/fa-coord.fish", "share/doc/fa-coord/LICENSE",
                "share/doc/fa-coord/docs/install.md"}, set(files))
            commands = re.findall(r"^  ([a-z]+) ", self.run_coord(self.folder, "help").stdout, re.MULTILINE)
            self.assertGreater(len(commands), 15)
            for command in commands:
                self.assertIn(f"share/man/man1/fa-coord-{command}.1", files)
        with self.subTest("measured results stay with the source"):
            self.assertEqual([name for name in files if "/docs/results/" in name], [])
        with self.subTest("the manifest, by which it is removed again, names all"):
            self.assertEqual(manifest, files)
        with self.subTest("everybody may read it"):
            closed = [name for name in files if not os.stat(os.path.join(prefix, name)).st_mode & 0o004]
            self.assertEqual(closed, [])
        with self.subTest("it sweeps, also after it was moved"):
            moved = self.path("moved")
            os.rename(prefix, moved)
            self.bin = os.path.join(moved, "bin")
            folder = self._copy(os.path.join(moved, "share/fa-coord/kernels/vector_add"), self.path("mine"), False)
            sweep = sweepfile.read(folder)
            sweep["tunables"] = {"BLOCK_SIZE": [64, 256], "ITEMS": [1], "VECTOR": [False]}
            sweepfile.write(folder, sweep)
            self.run_coord(folder, "sweep", "--device", "cpu")
            report = self.report(folder)
            self.assert_all_correct(report)
            self.assertEqual(len(report["results"]), 2)
        with self.subTest("the recipes for CI tune and compare with it"):
            base = os.path.join(folder, "base.db")
            os.rename(os.path.join(folder, "vector_add.db"), base)
            for recipe in "ci-example.yml", "ci-example.gitlab.yml":
                self.recipe(recipe, folder, os.path.join(moved, "share"))
                os.remove(os.path.join(folder, "new.db"))

    def recipe(self, name, folder, share):
        """Run a recipe's command as CI does, but on the cpu device and with what is installed in 'share'."""
        with open(os.path.join(rig.SOURCE, "deploy", name)) as f:
            text = f.read()
        [command] = re.findall(r"(?:run:|-) (/usr/share/fa-coord/regression.sh .*)", text)
        variables = dict(re.findall(r"(?m)^ +([A-Z_]+): (\S+)$", text))
        self.assertEqual(sorted(variables), ["COMPARE_JSON", "THRESHOLD"])
        ran = subprocess.run(["sh", "-c", command.replace("/usr/share", share) + " --device cpu"], cwd=folder,
                             env={**self.env, **variables, "PATH": self.bin + ":" + self.env["PATH"]},
                             capture_output=True, text=True, timeout=240)
        self.assertIn(ran.returncode, (0, 1, 2), ran.stderr)  # emulated times say nothing
        with open(os.path.join(folder, variables["COMPARE_JSON"])) as f:
            self.assertEqual(json.load(f)["exit_code"], ran.returncode)
        os.remove(os.path.join(folder, variables["COMPARE_JSON"]))


if __name__ == "__main__":
    unittest.main()
