"""The .deb of deploy/package.sh: what is in it, whether it is reproducible, and whether it works."""

import glob
import gzip
import io
import os
import re
import shutil
import subprocess
import tarfile
import tempfile
import unittest

SOURCE = os.environ["FA_SOURCE_DIR"]
SCRIPT = os.path.join(SOURCE, "deploy", "package.sh")


def script(*args):
    return subprocess.run([SCRIPT, *args], stdin=subprocess.DEVNULL, capture_output=True, text=True)


def needs(test, *programs):
    for program in programs:
        if not shutil.which(program):
            test.skipTest(f"{program} is not installed (deploy/setup.sh --package)")


class Package(unittest.TestCase):

    @classmethod
    def setUpClass(cls):
        needs(cls("test_what_is_in_it"), "lintian", "dpkg-deb")
        cls.ran = script()
        if cls.ran.returncode != 0:
            raise AssertionError(cls.ran.stdout + cls.ran.stderr)
        [cls.deb] = glob.glob(os.path.join(SOURCE, "build", "package", "fa-coord_*.deb"))
        data = subprocess.run(["dpkg-deb", "--fsys-tarfile", cls.deb], capture_output=True, check=True).stdout
        with tarfile.open(fileobj=io.BytesIO(data)) as tar:
            cls.members = {member.name.removeprefix("./"): member for member in tar.getmembers()}
            cls.bytes = {name: tar.extractfile(member).read() for name, member in cls.members.items()
                         if member.isfile()}

    def field(self, name):
        return subprocess.run(["dpkg-deb", "-f", self.deb, name], capture_output=True, text=True,
                              check=True).stdout.strip()

    def test_lintian_finds_no_error(self):
        self.assertIn("lintian without errors", self.ran.stdout)
        self.assertNotRegex(self.ran.stdout, r"(?m)^E: ")

    def test_what_is_in_it(self):
        doc = "usr/share/doc/fa-coord/"
        self.assertLessEqual({
            "usr/bin/fa-coord", "usr/libexec/fa-coord/fa-worker", "usr/share/man/man1/fa-coord-sweep.1.gz",
            "usr/share/zsh/vendor-completions/_fa-coord", "usr/share/fa-coord/kernels/vector_add/sweep.json",
            doc + "copyright", doc + "changelog.gz", doc + "changelog.Debian.gz"}, set(self.bytes))
        self.assertEqual([name for name in self.members if "/docs/results" in name], [])
        for name, member in self.members.items():
            self.assertEqual((member.uname, member.gname), ("root", "root"), name)
            self.assertEqual(member.mode, 0o755 if member.isdir() or name in (
                "usr/bin/fa-coord", "usr/libexec/fa-coord/fa-worker", "usr/share/fa-coord/regression.sh") else 0o644,
                name)

    def test_no_time_and_no_folder_of_the_build_is_in_it(self):
        self.assertEqual(len({member.mtime for member in self.members.values()}), 1)
        for name, text in self.bytes.items():
            if name.endswith(".gz"):
                self.assertEqual(text[4:8], bytes(4), name)  # gzip's time
                text = gzip.decompress(text)
            self.assertNotIn(SOURCE.encode(), text, name)

    def test_version_and_changelog_agree_and_libraries_are_named(self):
        with open(os.path.join(SOURCE, "CMakeLists.txt")) as f:
            version = re.search(r"project\(fa-coord VERSION ([0-9.]+)", f.read())[1]
        self.assertEqual(self.field("Version"), version + "-1")
        changelog = gzip.decompress(self.bytes["usr/share/doc/fa-coord/changelog.Debian.gz"]).decode()
        self.assertTrue(changelog.startswith(f"fa-coord ({version}-1) "))
        self.assertRegex(self.field("Depends"), r"libc6 \(>= .*libsqlite3-0.*libzmq5")
        self.assertIn("g++", self.field("Recommends"))


class Twice(unittest.TestCase):

    def test_two_builds_are_the_same_bytes(self):
        needs(self, "dpkg-deb")
        ran = script("--twice")
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertRegex(ran.stdout, r"twice the same bytes: [0-9a-f]{64} fa-coord_")


class Try(unittest.TestCase):

    def test_it_sweeps_where_only_it_is_installed(self):
        needs(self, "debootstrap", "lintian", "unshare")
        if os.geteuid() != 0:
            self.skipTest("root is needed, and is not installed here")
        root = tempfile.mkdtemp(prefix="fa-root-")
        self.addCleanup(shutil.rmtree, root)
        ran = script("--try", root)
        self.assertEqual(ran.returncode, 0, ran.stdout + ran.stderr)
        self.assertIn("package_try.sh: it sweeps", ran.stdout)


if __name__ == "__main__":
    unittest.main()
