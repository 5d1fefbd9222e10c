"""The tests run from a checkout, against the package that is installed."""

import pathlib

import pytest


@pytest.fixture
def models() -> pathlib.Path:
    return pathlib.Path(__file__).resolve().parents[3] / "models"
