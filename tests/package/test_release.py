"""deploy/release.sh in a scratch repository: what it refuses, and the tag that it makes."""

import os
import shutil
import subprocess
import tempfile
import unittest

SOURCE = os.environ["FA_SOURCE_DIR"]
CMAKE = "project(fa-coord VERSION {} LANGUAGES C CXX)\nset(FA_VERSION_DATE 2026-11-23) # of this version\n"
CHANGELOG = "# Changelog\n\n## Unreleased\n\n- Not yet.\n\n## 1.2.0\n\n- New.\n  # more\n\n## 1.1.0\n\n- Old.\n"


class Release(unittest.TestCase):

    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="fa-release-")
        self.addCleanup(shutil.rmtree, self.folder)
        os.mkdir(os.path.join(self.folder, "deploy"))
        shutil.copy(os.path.join(SOURCE, "deploy", "release.sh"), os.path.join(self.folder, "deploy"))
        self.git("init", "-q")
        self.write(CMAKE.format("1.2.0"), CHANGELOG)

    def git(self, *args):
        ran = subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@a.example", *args], cwd=self.folder,
                             capture_output=True, text=True, check=True)
        return ran.stdout

    def write(self, cmake, changelog):
        for name, text in (("CMakeLists.txt", cmake), ("CHANGELOG.md", changelog)):
            with open(os.path.join(self.folder, name), "w") as f:
                f.write(text)
        self.git("add", "-A")
        self.git("commit", "-q", "--allow-empty", "-m", "change")

    def release(self, *args, code=0):
        env = {**os.environ, **{f"GIT_{who}_{what}": "a@a.example" for who in ("AUTHOR", "COMMITTER")
                                for what in ("NAME", "EMAIL")}}
        ran = subprocess.run([os.path.join(self.folder, "deploy", "release.sh"), *args], env=env,
                             capture_output=True, text=True)
        self.assertEqual(ran.returncode, code, ran.stdout + ran.stderr)
        return ran.stdout + ran.stderr

    def test_a_tag_has_its_section_of_the_changelog(self):
        self.assertIn("1.2.0 can be tagged", self.release("--check", "1.2.0"))
        self.assertEqual(self.git("tag"), "")
        self.release("1.2.0")
        self.assertEqual(self.git("tag", "-l", "--format=%(contents)", "v1.2.0").rstrip(),
                         "fa-coord 1.2.0 (2026-11-23)\n\n- New.\n  # more")
        self.assertIn("the tag v1.2.0 exists already", self.release("1.2.0", code=1))

    def test_what_does_not_agree_is_refused(self):
        self.assertIn("CMakeLists.txt has version 1.2.0, not 1.1.0", self.release("1.1.0", code=1))
        self.assertIn("'1.2' is not a version", self.release("1.2", code=2))
        self.assertIn("usage: deploy/release.sh", self.release(code=2))
        with open(os.path.join(self.folder, "CHANGELOG.md"), "a") as f:
            f.write("- More.\n")
        self.assertIn("changes that are not committed", self.release("1.2.0", code=1))
        self.write(CMAKE.format("1.3.0"), CHANGELOG)
        self.assertIn("no section '## 1.3.0'", self.release("1.3.0", code=1))
        self.write(CMAKE.format("1.3.0"), CHANGELOG.replace("## 1.2.0", "## 1.3.0\n\n## 1.2.0"))
        self.assertIn("or nothing in it", self.release("1.3.0", code=1))
        self.write(CMAKE.format("1.2.0").replace("2026-11-23", "soon"), CHANGELOG)
        self.assertIn("is no date", self.release("1.2.0", code=1))
        self.assertEqual(self.git("tag"), "")


if __name__ == "__main__":
    unittest.main()
