"""The tarball of deploy/package.sh: which C library it needs, and whether it works."""

import glob
import os
import re
import shutil
import subprocess
import tempfile
import unittest

SOURCE = os.environ["FA_SOURCE_DIR"]
SCRIPT = os.path.join(SOURCE, "deploy", "package.sh")
GLIBC = (2, 31)


def glibc(path):
    """The newest version of glibc of which a program uses a symbol; (0, 0) where it uses none."""
    symbols = subprocess.run(["objdump", "-T", path], capture_output=True, text=True).stdout
    return max([tuple(map(int, found.split("."))) for found in re.findall(r"GLIBC_([0-9.]+)", symbols)],
               default=(0, 0))


class Tarball(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        for program in "apt-get", "dpkg-deb", "objdump":
            if not shutil.which(program):
                raise unittest.SkipTest(f"{program} is not installed (deploy/setup.sh --package)")
        args = []
        cls.root = tempfile.mkdtemp(prefix="fa-root-")
        cls.addClassCleanup(shutil.rmtree, cls.root)
        if os.geteuid() == 0 and shutil.which("debootstrap"):
            args = [os.path.join(cls.root, "debian")]
        cls.swept = bool(args)
        cls.ran = subprocess.run([SCRIPT, "--tarball", *args], stdin=subprocess.DEVNULL, capture_output=True,
                                 text=True)
        if cls.ran.returncode != 0:
            raise AssertionError(cls.ran.stdout + cls.ran.stderr)
        [tarball] = glob.glob(os.path.join(SOURCE, "build", "package", "fa-coord-*.tar.gz"))
        subprocess.run(["tar", "-xf", tarball, "-C", cls.root], check=True)
        [cls.prefix] = glob.glob(os.path.join(cls.root, "fa-coord-*"))

    def test_it_needs_no_newer_glibc_and_no_other_library(self):
        program = os.path.join(self.prefix, "bin", "fa-coord")
        [cjson] = glob.glob(os.path.join(self.prefix, "lib", "fa-coord", "*"))
        worker = os.path.join(self.prefix, "libexec", "fa-coord", "fa-worker")
        for path in program, cjson, worker:
            self.assertLessEqual(glibc(path), GLIBC, path)
        self.assertGreater(glibc(program), (2, 0))
        self.assertEqual(glibc(worker), (0, 0))
        needed = re.findall(r"NEEDED +(\S+)", subprocess.run(["objdump", "-p", program], capture_output=True,
                                                              text=True, check=True).stdout)
        self.assertLessEqual(set(needed), {"libcjson.so.1", "libc.so.6", "libm.so.6", "libdl.so.2", "librt.so.1",
                                           "libpthread.so.0", "ld-linux-x86-64.so.2"})

    def test_it_sweeps_on_the_oldest_system(self):
        if not self.swept:
            self.skipTest("debootstrap is not installed, or this is not root")
        self.assertIn("Debian GNU/Linux 11", self.ran.stdout)
        self.assertIn("package_try.sh: it sweeps", self.ran.stdout)


if __name__ == "__main__":
    unittest.main()
