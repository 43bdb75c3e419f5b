"""A notebook as its tests read it: the code cells and what they said."""

import json
import os
import re

SOURCE = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
NOTEBOOK = os.path.join(SOURCE, "docs", "notebook.ipynb")
ABSOLUTE = re.compile(r"""(?:^|[\s'"(=:])/[A-Za-z][\w.-]*/""")  # a path of a machine


def read(path):
    """The code cells of a notebook: (source, outputs)."""
    with open(path) as f:
        cells = [cell for cell in json.load(f)["cells"] if cell["cell_type"] == "code"]
    return [("".join(cell["source"]), cell["outputs"]) for cell in cells]


def text(output):
    """What an output says, without pictures."""
    said = ["".join(output.get("text", [])), *output.get("traceback", [])]
    return "\n".join(said + ["".join(value) for kind, value in output.get("data", {}).items() if "image" not in kind])


def kinds(outputs):
    """The kinds of outputs: texts, tables, pictures."""
    return [kind for output in outputs for kind in [output["output_type"], *sorted(output.get("data", {}))]]
