"""The Python blocks of the documents, the examples and the notebooks, and their types."""

from __future__ import annotations

import importlib.util
import os
import re
import runpy
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from conftest import ROOT

import tarn

BLOCK = re.compile(r"(?:<!-- (?P<how>[^\n]*) -->\n)?```python\n(?P<code>.*?)^```$", re.M | re.S)


def blocks(page: Path) -> list[str]:
    """The blocks of a page, without those that are checked as files, and those that are not run."""

    def runs(how: str) -> bool:
        needed = re.match(r"test: needs (\w+)", how)
        if needed:
            return importlib.util.find_spec(needed[1]) is not None
        return not how.startswith(("source:", "test: not run, "))

    found = BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [m["code"] for m in found if runs(m["how"] or "")]


@pytest.mark.pictures
@pytest.mark.parametrize("page", ["docs/python.md", "docs/models.md", "docs/potentials.md", "README.md"])
def test_the_blocks_of_a_page_run_in_order(page, monkeypatch):
    pytest.importorskip("ase")
    run = tarn.run

    def short_run(deck, **options):
        """As tarn.run, but a deck that is a file runs for some picoseconds."""
        if isinstance(deck, str):
            options["set"] = {"run.duration_ps": 4.0, "run.equilibration_ps": 1.0}
        return run(deck, **options)

    monkeypatch.setattr(tarn, "run", short_run)
    os.symlink(ROOT / "inputs", "inputs")
    code = blocks(ROOT / page)
    assert code
    if shutil.which("gnuplot") is None:
        code = [block.replace("result.plot(", "(") for block in code]
    names: dict[str, object] = {}
    for block in code:
        exec(compile(block, page, "exec"), names)


def test_the_example_of_a_collective_variable(capsys, monkeypatch):
    # The same program with fewer replicas.
    text = (ROOT / "bench/collective_variable.py").read_text()
    assert "10_000" in text
    Path("example.py").write_text(text.replace("10_000", "50"))
    runpy.run_path("example.py")
    out = capsys.readouterr().out
    assert re.search(r"mean O-O distance 2\.\d+ A", out) and "% of the time of the steps" in out


@pytest.mark.parametrize("name", ["droplet", "schemes", "nuclei"])
@pytest.mark.pictures
def test_notebooks_run_and_are_stored_with_outputs(name):
    nbformat = pytest.importorskip("nbformat")
    nbclient = pytest.importorskip("nbclient")
    pytest.importorskip("matplotlib")
    pytest.importorskip("ipykernel")
    book = nbformat.read(ROOT / f"docs/notebooks/{name}.ipynb", as_version=4)
    code = [cell for cell in book.cells if cell.cell_type == "code"]
    assert all(cell.execution_count for cell in code)
    pictures = [o for cell in code for o in cell.outputs if "image/png" in o.get("data", {})]
    assert pictures
    nbclient.NotebookClient(book, timeout=600, kernel_name="python3").execute()


EXAMPLE = '''
"""What type checkers know of the package."""
import numpy as np
from numpy.typing import NDArray

import tarn
from tarn.ase import TarnCalculator


@tarn.observer(columns=["x_A"], every=10)
def first(frame: tarn.Frame) -> NDArray[np.float64]:
    x: NDArray[np.float64] = frame.positions_A[:, 0, 0]
    return x


def report(progress: tarn.Progress) -> None:
    print(progress.step)


result: tarn.Result = tarn.run({"system": {"molecules": 2}}, observers=[first], progress=report)
mean: float = result.averages["x_A"].mean
names: tuple[str, ...] = result.table("first").columns
with tarn.Ensemble("a.toml", device="cpu") as ensemble:
    ensemble.advance(10)
    step: int = ensemble.step
    for frame in ensemble.frames(steps=10, every=5):
        positions_A: NDArray[np.float64] = frame.positions_A
    for blow_up in ensemble.blow_ups:
        print(blow_up.text)
energy, forces = tarn.energy_and_forces(np.zeros((3, 3)), model="tip4p")
same: NDArray[np.float64] = forces


def zeros(positions_A: NDArray[np.float64]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    return np.zeros(len(positions_A)), np.zeros_like(positions_A)


tarn.run("a.toml", potential=zeros)
tarn.Ensemble("a.toml", potential=tarn.AsePotential([], name="xtb"))
water: NDArray[np.float64] = tarn.random_cluster(3, replicas=2)
minimum: tarn.Minimum = tarn.minimise(water, model="tip3p")
modes: tarn.NormalModes = tarn.normal_modes(minimum.positions_A, model="tip3p")
structure: tarn.Structure = tarn.read_structure("a.xyz", frame=1)
table: tarn.Table = tarn.rdf(["a.xyz"], pairs=["OO"])
calculator = TarnCalculator(model="tip3p")
try:
    tarn.compare("a.toml", ["shake"])
except tarn.DeckError as error:
    problem: tarn.Problem = error.problems[0]
'''

WRONG = {
    'tarn.run("a.toml", steps=3)': "Unexpected keyword argument",
    "tarn.Ensemble(3)": "incompatible type",
    'tarn.random_cluster("7")': "incompatible type",
    "tarn.minimise([[0.0]], model='tip3p').energies": "has no attribute",
}


def mypy(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "mypy", "--cache-dir", "mypy", *arguments],
        capture_output=True, text=True,
    )  # fmt: skip


def test_types_of_examples():
    pytest.importorskip("mypy")
    assert (Path(tarn.__file__).parent / "py.typed").exists()
    Path("example.py").write_text(EXAMPLE)
    checked = mypy("--strict", "--ignore-missing-imports", "example.py")
    assert checked.returncode == 0, checked.stdout


def test_wrong_uses_are_found():
    pytest.importorskip("mypy")
    lines = "".join(f"{use}\n" for use in WRONG)
    Path("wrong.py").write_text(f"import tarn\n{lines}")
    out = mypy("wrong.py").stdout
    for number, message in enumerate(WRONG.values(), start=2):
        assert re.search(rf"wrong.py:{number}: error: .*{message}", out), out
