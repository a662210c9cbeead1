"""The wheel, in a virtual environment of its own; tools/test-python names it in TARN_WHEEL."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

import tarn

WHEEL = os.environ.get("TARN_WHEEL", "")
pytestmark = pytest.mark.skipif(not WHEEL, reason="TARN_WHEEL names no wheel")


@pytest.fixture(scope="module")
def fresh(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A virtual environment with the wheel and NumPy."""
    folder = tmp_path_factory.mktemp("fresh")
    subprocess.run([sys.executable, "-m", "venv", folder], check=True)
    subprocess.run([folder / "bin/pip", "install", "--quiet", WHEEL], check=True)
    return folder


def test_program_and_module(fresh):
    environment = {"PATH": "/nowhere"}
    out = subprocess.run(
        [fresh / "bin/tarn", "--version"], check=True, capture_output=True, text=True,
        env=environment,
    ).stdout  # fmt: skip
    assert out == f"tarn {tarn.__version__}\n"
    code = """
import time
start = time.process_time()
import numpy
numpy_s = time.process_time() - start
import tarn
print(tarn.__version__, time.process_time() - start - numpy_s)
print(tarn.energy_and_forces(tarn.random_cluster(7), model="tip3p")[1].shape)
"""
    out = subprocess.run(
        [fresh / "bin/python", "-I", "-c", code], check=True, capture_output=True, text=True,
        env=environment,
    ).stdout.split()  # fmt: skip
    assert out[0] == tarn.__version__ and float(out[1]) < 0.3
    assert out[2:] == ["(21,", "3)"]


def test_the_program_comes_with_its_decks(fresh):
    out = subprocess.run(
        [fresh / "bin/tarn", "--help"], check=True, capture_output=True, text=True
    ).stdout
    assert out
    assert (fresh / "share/tarn/inputs/water7.toml").exists()


def test_the_wheel_has_types_and_no_tests():
    names = zipfile.ZipFile(WHEEL).namelist()
    assert {"tarn/_tarn.pyi", "tarn/py.typed", "tarn/ase.py"} <= set(names)
    assert not [n for n in names if n.startswith(("tests", "include", "lib/"))]
