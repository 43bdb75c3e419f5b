"""The package is installed by pip, without a network, and imported from elsewhere."""

import os
import shutil
import subprocess
import sys
import tempfile
import unittest

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))

try:
    import ensurepip
    import setuptools
    import wheel
except ImportError:
    setuptools = None


@unittest.skipIf(setuptools is None, "setuptools is not installed")
class Install(unittest.TestCase):
    def test_pip_installs_it_without_a_network(self):
        with tempfile.TemporaryDirectory() as folder:
            source = os.path.join(folder, "python")  # pip writes beside the sources
            shutil.copytree(os.path.join(SOURCE, "deploy", "python"), source)
            environment = {"PATH": os.environ["PATH"], "HOME": folder}
            target = os.path.join(folder, "venv")

            def run(*command):
                return subprocess.run(command, cwd=folder, env=environment, stdin=subprocess.DEVNULL, check=True,
                                      capture_output=True, text=True).stdout

            run(sys.executable, "-m", "venv", "--system-site-packages", target)
            python = os.path.join(target, "bin", "python")
            run(python, "-m", "pip", "install", "--no-index", "--no-build-isolation", source)
            found = run(python, "-c", "import fa_coord, os; print(fa_coord.__file__); "
                        "print(os.listdir(os.path.dirname(fa_coord.__file__))); "
                        "print([m for m in ('pandas', 'matplotlib') if m in __import__('sys').modules])").splitlines()
            self.assertTrue(found[0].startswith(os.path.realpath(target)) or found[0].startswith(target), found[0])
            for name in ("database.py", "plots.py", "program.py", "py.typed", "run.py", "sweep.py", "tables.py", "views.py"):
                self.assertIn(f"'{name}'", found[1])
            self.assertEqual(found[2], "[]")  # neither is needed to import it


if __name__ == "__main__":
    unittest.main()
