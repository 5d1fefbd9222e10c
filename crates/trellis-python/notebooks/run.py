"""Executes the notebooks beside this file; an exception in a cell is an error."""

import os
import pathlib
import sys

import nbformat
from nbclient import NotebookClient

here = pathlib.Path(__file__).resolve().parent
os.environ.setdefault("TRELLIS_MODELS", str(here.parents[2] / "models"))
for path in sorted(here.glob("*.ipynb")):
    NotebookClient(nbformat.read(path, as_version=4), timeout=300, kernel_name="python3").execute(cwd=str(here))
    print(f"executed: {path.name}", file=sys.stderr)
