"""docs/notebook.ipynb runs to its end with the real programs, and shows what is committed."""

import os
import shutil
import subprocess
import unittest

import notebook_file
import rig

JUPYTER = shutil.which("jupyter-nbconvert")


@unittest.skipIf(JUPYTER is None, "jupyter is not installed")
class Executed(rig.Rig):
    def test_it_runs_and_shows_what_is_committed(self):
        environment = {**self.env, "PATH": rig.BIN + ":" + self.env["PATH"], "PYTHONDONTWRITEBYTECODE": "1",
                       "PYTHONPATH": os.path.join(rig.SOURCE, "deploy", "python"), "TMPDIR": self.path("run"),
                       "COLUMNS": "80"}
        done = subprocess.run(
            [JUPYTER, "--to", "notebook", "--execute", "--ExecutePreprocessor.startup_timeout=300",
             "--output-dir", self.path("run"), "--output", "again", notebook_file.NOTEBOOK],
            env=environment, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        again = notebook_file.read(self.path("run", "again.ipynb"))
        committed = notebook_file.read(notebook_file.NOTEBOOK)
        self.assertEqual([(source, notebook_file.kinds(outputs)) for source, outputs in again],
                         [(source, notebook_file.kinds(outputs)) for source, outputs in committed])
        said = "\n".join(notebook_file.text(output) for _, outputs in again for output in outputs)
        self.assertIn("12/12 measured  12 correct  0 failed", said)
        self.assertIn("there is no 'BLOK'", said)


if __name__ == "__main__":
    unittest.main()
