"""What the package's documentation shows is run."""

import doctest
import importlib

import pytest


@pytest.mark.parametrize("name", ["", ".build", ".lattice", ".model", ".report", ".solver", ".stepper"])
def test_examples(name: str) -> None:
    module = importlib.import_module("trellis_mc" + name)
    done = doctest.testmod(module, optionflags=doctest.ELLIPSIS | doctest.IGNORE_EXCEPTION_DETAIL)
    assert done.failed == 0 and (done.attempted > 0 or name == "")
