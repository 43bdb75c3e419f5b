"""Help, manual pages, completions and defaults of flags."""
import json
import os
import re
import shutil
import subprocess

import landscape
from rig import Rig


class Usage(Rig):
    def commands(self):
        text = self.run_coord(self.folder, "help").stdout
        return re.findall(r"^  ([a-z]+) ", text, re.MULTILINE)

    def flags(self, command):
        return re.findall(r"^  --([a-z-]+)", self.run_coord(self.folder, command, "--help").stdout, re.MULTILINE)

    def shell(self, name, *args, text):
        path = shutil.which(name)
        if not path:
            self.skipTest(f"there is no {name} here")
        ran = subprocess.run([path, *args], input=text, capture_output=True, text=True, timeout=60,
                             env={**self.env, "PATH": self.bin + ":" + self.env["PATH"]})
        self.assertEqual(ran.stderr, "")
        return ran.stdout

    def test_each_command_explains_itself_in_three_ways(self):
        commands = self.commands()
        self.assertGreater(len(commands), 15)
        self.env["COLUMNS"] = "80"
        for command in commands:
            with self.subTest(command):
                text = self.run_coord(self.folder, command, "--help").stdout
                self.assertEqual(text, self.run_coord(self.folder, command, "-h").stdout)
                self.assertEqual(text, self.run_coord(self.folder, "help", command).stdout)
                self.assertIn(f"usage: fa-coord {command} ", text)
                examples = text.split("\nexamples:\n")[1].splitlines()
                self.assertTrue(any(f"fa-coord {command}" in line for line in examples))
                self.assertLessEqual(max(map(len, text.splitlines())), 80)
        self.assertIn("did you mean 'sweep'?", self.run_coord(self.folder, "help", "swep", code=2).stderr)

    def test_examples_use_flags_that_exist(self):
        for command in self.commands():
            text = self.run_coord(self.folder, command, "--help").stdout.split("\nexamples:\n")[1]
            for line in text.splitlines():
                used = re.search(r"fa-coord ([a-z]+)([^#|]*)", line)
                flags = self.flags(used[1])
                for flag in re.findall(r" --([a-z-]+)", used[2]):
                    self.assertIn(flag, flags, line)

    def test_manual_pages_are_well_formed(self):
        pages = {"": self.run_coord(self.folder, "help", "--man").stdout}
        for command in self.commands():
            pages[command] = self.run_coord(self.folder, "help", command, "--man").stdout
        for command, page in pages.items():
            with self.subTest(command):
                lint = self.shell("mandoc", "-T", "lint", "-W", "warning,stop", text=page)
                self.assertEqual(lint, "")
                shown = re.sub(r".\x08", "", self.shell("mandoc", "-T", "ascii", text=page))
                for section in ("NAME", "SYNOPSIS", "DESCRIPTION"):
                    self.assertIn(section, shown)
        self.assertIn("--budget", re.sub(r".\x08", "", self.shell("mandoc", "-T", "ascii", text=pages["sweep"])))

    def test_bash_completes_commands_flags_and_values(self):
        script = self.run_coord(self.folder, "completion", "bash").stdout
        with open(self.path("hosts.txt"), "w"):
            pass

        def completions(*words):
            quoted = " ".join(f"'{word}'" for word in words)
            return self.shell("bash", text=f"cd {self.folder}\n{script}\nCOMP_WORDS=({quoted})\n"
                              f"COMP_CWORD={len(words) - 1}\n_fa_coord\nprintf '%s\\n' \"${{COMPREPLY[@]}}\"\n").split()

        self.assertEqual(completions("fa-coord", "swe"), ["sweep"])
        self.assertEqual(completions("fa-coord", "sweep", "--bud"), ["--budget"])
        self.assertCountEqual(completions("fa-coord", "sweep", "--hosts", "ho"), ["home", "hosts.txt"])
        self.assertEqual(completions("fa-coord", "export", "--format", "h"), ["header"])
        self.assertEqual(completions("fa-coord", "export", "--format", "=", "h"), ["header"])  # as --format=h is read
        self.assertCountEqual(completions("fa-coord", "init", "--template", "="), ["reduction", "stencil", "matmul"])
        self.assertCountEqual(completions("fa-coord", "sweep", "--hosts", "=", "ho"), ["home", "hosts.txt"])
        self.assertCountEqual(completions("fa-coord", "sweep", "--device", "replay", "=", "ho"), ["home", "hosts.txt"])
        self.assertEqual(completions("fa-coord", "completion", "z"), ["zsh"])
        self.assertEqual(completions("fa-coord", "help", "expl"), ["explain"])

    def test_fish_completes_commands_flags_and_values(self):
        script = self.run_coord(self.folder, "completion", "fish").stdout

        def completions(line):
            shown = self.shell("fish", "--no-config", text=f"{script}\ncomplete -C '{line}'\n")
            return [entry.split("\t")[0] for entry in shown.splitlines()]

        self.assertEqual(completions("fa-coord swe"), ["sweep"])
        self.assertEqual(completions("fa-coord sweep --bud"), ["--budget"])
        self.assertEqual(completions("fa-coord export --format h"), ["header"])

    def test_zsh_reads_its_completion(self):
        self.shell("zsh", "-f", "-n", text=self.run_coord(self.folder, "completion", "zsh").stdout)
        script = self.path("_fa-coord")
        with open(script, "w") as f:
            f.write(self.run_coord(self.folder, "completion", "zsh").stdout)
        loaded = self.shell("zsh", "-f", text=f"fpath=({self.folder} $fpath)\nautoload -Uz compinit\n"
                            f"compinit -u -d {self.path('dump')}\nprint ${{_comps[fa-coord]}}\n")
        self.assertEqual(loaded, "_fa-coord\n")
        self.assertIn("there is no completion for 'ksh'; choose bash, zsh or fish", self.run_coord(self.folder, "completion", "ksh", code=2).stderr)

    def test_output_that_is_lost_is_an_error(self):
        for redirection in (">&-", ">/dev/full"):
            with self.subTest(redirection):
                program = os.path.join(os.environ["FA_BIN_DIR"], "fa-coord")
                done = subprocess.run(f"'{program}' --help {redirection}", shell=True, stderr=subprocess.PIPE, text=True)
                self.assertEqual(done.returncode, 1)
                self.assertRegex(done.stderr, "^fa-coord: output: [A-Z][a-z ]+\n$")

    def test_a_database_is_named_by_a_flag_too(self):
        landscape.make(self.path("bowl.json"), xs=(32, 64), ys=(4,), unrolls=(1, 2))
        plan = json.loads(self.run_coord(self.folder, "sweep", "--device", "replay=bowl.json", "--db", "x.db",
                                         "--dry-run", "--json").stdout)
        self.assertEqual((plan["database"], plan["passed"], plan["shapes"]), ("x.db", 4, 1))
        verdict = json.loads(self.run_coord(self.folder, "sweep", "--device", "replay=bowl.json", "--speed-up",
                                            "100000", "--db", "x.db", "--json").stdout)
        self.assertEqual(verdict["database"], "x.db")
        self.assertEqual(verdict["verdict"], self.report(self.folder, "x.db")["verdict"])
        best = self.query(self.folder, "SELECT key FROM config ORDER BY key")[0][0]
        for args in (["status"], ["report"], ["verify"], ["explain", best], ["export", "--format", "t4"]):
            with self.subTest(args):
                flag = self.run_coord(self.folder, *args, "--db", "x.db")
                self.env["FA_COORD_DB"] = "other.db"
                there = [*args[:1], "x.db", *args[1:]]
                self.assertEqual(flag.stdout, self.run_coord(self.folder, *there).stdout)
                del self.env["FA_COORD_DB"]
                self.assertIn("not both", self.run_coord(self.folder, *there, "--db", "x.db", code=2).stderr)

    def test_doctor_knows_the_device(self):
        landscape.make(self.path("bowl.json"), xs=(32,), ys=(4,), unrolls=(1, 2))
        said = json.loads(self.run_coord(self.folder, "doctor", "--device", "replay=bowl.json", "--json").stdout)
        found = {finding["what"]: finding["verdict"] for finding in said["findings"]}
        self.assertEqual(found["record"], "ok")
        self.assertNotIn("driver", found)
        self.assertIn("missing.json", self.run_coord(self.folder, "doctor", "--device", "replay=missing.json", code=1).stdout)
        self.assertIn("choose cuda, cpu", self.run_coord(self.folder, "doctor", "--device", "gpu", code=2).stderr)

    def test_defaults_come_from_the_file_and_the_environment(self):
        config = os.path.join(self.env["HOME"], ".config", "fa-coord", "config")
        os.makedirs(os.path.dirname(config))
        with open(config, "w") as f:
            f.write("hosts = ~/nowhere.txt\nsweep.budget = 5\n")
        shown = self.run_coord(self.folder, "config", "--show-origin").stdout
        self.assertEqual(shown, f"{config}:1\thosts={self.env['HOME']}/nowhere.txt\n{config}:2\tsweep.budget=5\n")
        self.assertIn("nowhere.txt", self.run_coord(self.folder, "doctor", code=2).stderr)
        self.env["FA_COORD_HOSTS"] = "elsewhere.txt"
        self.assertIn("elsewhere.txt", self.run_coord(self.folder, "doctor", code=2).stderr)
        self.assertIn("FA_COORD_HOSTS\thosts=elsewhere.txt", self.run_coord(self.folder, "config", "--show-origin").stdout)
        self.assertIn("third.txt", self.run_coord(self.folder, "doctor", "--hosts", "third.txt", code=2).stderr)
        self.env["FA_COORD_HOTS"] = "x"
        self.assertIn("did you mean '--hosts'?", self.run_coord(self.folder, "doctor", code=2).stderr)
