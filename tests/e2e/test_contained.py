"""What a sweep brings along reaches for the worker and the user's secrets: a build, a kernel, a command."""

import json
import os
import sys
import unittest

import rig
import sweepfile

# As a command: whatever it reaches goes to a file outside of the home folder.
COMMAND = """
import json, os, socket, sys
paths, work, loot = json.loads(sys.argv[1]), sys.argv[2], sys.argv[3]
reached = []

def reach(what, deed):
    try:
        if deed():
            reached.append(what)
    except OSError:
        pass

def write(path):
    with open(path, "r+") as f:
        f.write("x")
    return open(path).read(1) == "x"

def offer():
    with socket.socket(socket.AF_UNIX) as to:
        to.settimeout(10)
        to.connect(work + "/control.sock")
        return True

def signal_others():
    for pid in filter(str.isdigit, os.listdir("/proc")):
        with open(f"/proc/{pid}/cmdline") as f:
            line = f.read()
        if "--started" in line and int(pid) != 1 or "fa-coord" in line and "sweep" in line:
            os.kill(int(pid), 0)
            return True

for path in paths:
    reach(path, lambda: open(path).read(1))
    reach("write " + path, lambda: write(path))
reach("names in the work folder", lambda: set(os.listdir(work)) & {"journal", "lock", "worker.log", "control.sock"})
reach("other artifacts", lambda: os.listdir(work + "/artifacts")[1:])
reach("the control socket", offer)
reach("processes", signal_others)
with open(loot, "a") as f:
    print(json.dumps(reached), file=f)
print('{"samples": [1e-3, 2e-3]}')
"""

# As a kernel: while its object is loaded, before any launch.
KERNEL = """
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
static bool reached;
__attribute__((constructor)) static void reach()
{
    static const char *const paths[] = { PATHS };
    struct sockaddr_un at = { AF_UNIX, { 0 } };
    int to = socket(AF_UNIX, SOCK_STREAM, 0);

    for (const char *path : paths) {
        char byte;
        int fd = open(path, O_RDONLY);
        reached = reached || (fd >= 0 && read(fd, &byte, 1) == 1);
    }
    snprintf(at.sun_path, sizeof(at.sun_path), "%s", SOCKET);
    reached = reached || (to >= 0 && connect(to, (struct sockaddr *)&at, sizeof(at)) == 0);
}
"""

# As a build: a macro hides the name from the coordinator, which refuses others.
BUILD = """
#define SECRET {path}
#if __has_include(SECRET)
#include SECRET
#endif
#ifdef REACHED
#error the build reached a secret
#endif
#undef SECRET
"""


class Contained(rig.Rig):
    def put(self, *names):
        path = os.path.join(*names)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        with open(path, "w") as f:
            f.write("#define REACHED 1\n")
        return path

    def secrets(self, folder):
        home = self.env["HOME"]
        return [self.put(home, ".ssh", "id_ed25519"), self.put(home, "notes"),
                self.put(self.workdir, "artifacts", "0" * 32), os.path.join(self.workdir, "journal"),
                os.path.join(self.workdir, "lock"), os.path.join(folder, "vector_add.db")]

    def sweep_that_reaches(self, loot):
        folder = self.few(confirm=True, BLOCK_SIZE=[64], ITEMS=[1, 2])
        secrets = self.secrets(folder)
        source = os.path.join(folder, "vector_add.cu")
        with open(source) as f:
            text = f.read()
        strings = ", ".join(map(json.dumps, secrets))
        kernel = KERNEL.replace("PATHS", strings).replace("SOCKET", json.dumps(self.workdir + "/control.sock"))
        build = "".join(BUILD.format(path=json.dumps(path)) for path in secrets[:3])
        text = text.replace("using namespace fa;", build + kernel + "using namespace fa;")
        text = text.replace("out[k] = a[k] + b[k]", "out[k] = reached ? 0 : a[k] + b[k]")
        self.assertIn("reached ?", text)
        with open(source, "w") as f:
            f.write(text)
        with open(os.path.join(folder, "reach.py"), "w") as f:
            f.write(COMMAND)
        sweep = sweepfile.read(folder)
        sweep["confirm"] = {"fuzz": False}
        sweep["external_baseline"] = {
            "name": "reach", "files": ["reach.py"], "blocks": 1, "samples": 2, "timeout_s": 30,
            "command": [sys.executable, "reach.py", json.dumps(secrets), self.workdir, loot]}
        sweepfile.write(folder, sweep)
        return folder

    def sweep(self, folder, *args):
        """Where names of hidden files are seen, the compiler stumbles over them: test_sandbox.c is for that."""
        ran = self.run_coord(folder, "sweep", "--device", "cpu", *args, code=None)
        if "allows no namespaces" in ran.stderr or "neither namespaces nor" in ran.stderr:
            self.skipTest("this machine allows no namespaces")
        self.assertEqual(ran.returncode, 0, ran.stderr)

    def reached(self, loot):
        with open(loot) as f:
            return sorted({what for line in f for what in json.loads(line)})

    def test_nothing_of_the_user_or_the_worker_is_reached(self):
        loot = self.path("loot")
        folder = self.sweep_that_reaches(loot)
        self.sweep(folder)
        self.assertEqual(self.reached(loot), [])
        self.assert_all_correct(self.report(folder))
        with open(os.path.join(self.workdir, "worker.log")) as f:
            self.assertNotIn("INVITATION", f.read().replace("INVITED", ""))

    def test_what_is_allowed_is_seen(self):
        """A Python of the home folder, as a command.  Keys cannot be allowed."""
        python = self.path("home", "venv", "bin", "python3")
        os.makedirs(os.path.dirname(python))
        with open(python, "w") as f:
            f.write(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n')
        os.chmod(python, 0o755)
        loot = self.path("loot")
        folder = self.sweep_that_reaches(loot)
        sweep = sweepfile.read(folder)
        sweep["external_baseline"]["command"][0] = python
        sweepfile.write(folder, sweep)
        hosts = self.hosts("localhost rate=0 allow=~/venv")
        self.sweep(folder, "--hosts", hosts)
        self.assertEqual(self.query(folder, "SELECT DISTINCT outcome, detail FROM tool"), [("ran", "")])
        self.end_workers()
        refused = self.run_coord(self.kernel("vector_add", "other"), "sweep", "--device", "cpu", "--hosts",
                                 self.hosts("localhost rate=0 allow=~/.ssh"), code=3)
        self.assertIn("allow=", refused.stderr)
        self.assertIn("keys, tokens and the work folder are never shown", refused.stderr)


if __name__ == "__main__":
    unittest.main()
