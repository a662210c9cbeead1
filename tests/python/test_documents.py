"""The Python blocks of the documents, the examples and the notebooks, and their types."""

from __future__ import annotations

import importlib.util
import json
import os
import re
import runpy
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT

import tarn

BLOCK = re.compile(r"(?:<!-- (?P<how>[^\n]*) -->\n)?```python\n(?P<code>.*?)^```$", re.M | re.S)

def blocks(page: Path) -> list[str]:
    """The blocks of a page that are run, with those that are also files."""

    def runs(how: str) -> bool:
        needed = re.match(r"test: needs (\w+)", how)
        if needed:
            return importlib.util.find_spec(needed[1]) is not None
        return not how.startswith("test: not run, ")

    found = BLOCK.finditer(page.read_text(encoding="utf-8"))
    return [m["code"] for m in found if runs(m["how"] or "")]

@pytest.mark.pictures
@pytest.mark.parametrize(
    "page",
    [
        "docs/python.md",
        "docs/models.md",
        "docs/potentials.md",
        "docs/measuring.md",
        "docs/running.md",
        "README.md",
    ],
)
def test_the_blocks_of_a_page_run_in_order(page, monkeypatch):
    """Each page is one program, from top to bottom: no block may break a later one."""
    pytest.importorskip("ase")
    pytest.importorskip("pandas")
    run = tarn.run

    def short_run(deck, **options):
        """As tarn.run, but a deck that is a file runs for some picoseconds."""
        if isinstance(deck, str):
            options["set"] = {"run.duration_ps": 4.0, "run.equilibration_ps": 1.0}
        return run(deck, **options)

    monkeypatch.setattr(tarn, "run", short_run)
    os.symlink(ROOT / "inputs", "inputs")
    if page == "docs/measuring.md":
        short_run("inputs/water7.toml", out="out/water7")
        short = {"run.duration_ps": 4.0, "run.equilibration_ps": 1.0}
        short["observe.spectrum.resolution_per_cm"] = 100.0
        run("inputs/spectrum7.toml", out="out/spectrum7", set=short)
    code = [block.replace("10_000", "50") for block in blocks(ROOT / page)]
    assert code
    if importlib.util.find_spec("matplotlib") is None:
        code = [block.replace("result.plot(", "(") for block in code]
    names: dict[str, object] = {}
    for block in code:
        exec(compile(block, page, "exec"), names)

def test_the_peaks_of_a_spectrum_are_those_above_the_noise(monkeypatch):
    """Two lines with noise of a known size have two peaks."""
    code = next(b for b in blocks(ROOT / "docs/measuring.md") if "peaks = [" in b)
    x = np.arange(0.0, 2000.0, 3.4)
    rng = np.random.default_rng(1)
    lines = 5.0 * np.exp(-(((x - 500.0) / 40.0) ** 2)) + 2.0 * np.exp(-(((x - 900.0) / 60.0) ** 2))
    table = np.zeros(len(x), dtype=[(n, float) for n in
                                    ("wavenumber_per_cm", "absorption_km_cm_per_mol", "absorption_km_cm_per_mol_err")])
    table["wavenumber_per_cm"] = x
    table["absorption_km_cm_per_mol"] = lines + 0.05 * rng.standard_normal(len(x))
    table["absorption_km_cm_per_mol_err"] = 0.05
    names = {"np": np}
    monkeypatch.setattr(np, "genfromtxt", lambda *_, **__: table)
    exec(code, names)
    found = [wavenumber for wavenumber, _, _ in names["peaks"]]
    assert len(found) == 2 and abs(found[0] - 500.0) < 25.0 and abs(found[1] - 900.0) < 40.0


def test_the_two_pages_with_speeds_of_a_gpu_agree():
    """The table of speed.md has the numbers of gpu-bench.json, as gpu.md has."""
    folder = ROOT / "docs/results"
    bench = json.loads((folder / "gpu-bench.json").read_text())["benchmarks"]
    measured = {b["name"]: b.get("cluster_steps_per_s") for b in bench}
    text = (folder / "speed.md").read_text()
    scale = {" billion": 1e9, " million": 1e6, "": 1.0}
    for start, case in {
        "7 molecules, 200 000 replicas": "N:7/replicas:200000",
        "100 molecules, 1000 replicas": "N:100/replicas:1000",
        "1000 molecules: steps": "N:1000/replicas:1",
    }.items():
        row = re.search(rf"^\| {start}[^|]*\|([^|]*)\|([^|]*)\|([^|]*)\|$", text, re.M)
        assert row, start
        precisions = ("double", "mixed", "single")
        for precision, cell in zip(precisions, row.groups(), strict=True):
            number = re.fullmatch(r" ([\d. ]+?)( billion| million|) ", cell)
            assert number, cell
            value = float(number[1].replace(" ", "")) * scale[number[2]]
            rate = measured[f"zss_gla/{precision}/{case}/manual_time"]
            assert value == pytest.approx(rate, rel=0.04), (start, precision)  # two digits

def test_the_estimates_for_gpus_have_measured_rates():
    """Those of `tarn check --device cuda`, and the times of decks in clusters.md."""
    folder = ROOT / "docs/results"
    bench = json.loads((folder / "gpu-bench.json").read_text())["benchmarks"]
    measured = {b["name"]: b.get("cluster_steps_per_s") for b in bench}
    code = (ROOT / "src/run/step_cost.cpp").read_text()
    compared = 0
    for precision in ("mixed", "double"):
        table = re.search(rf"k{precision.title()}Rates\[\] = (.*?);", code, re.S)
        assert table
        for row in re.findall(r"\{([\d']+), ([\d.e]+), ([\d.e]+)\}", table[1]):
            case = f"zss_gla/{precision}/N:{row[0].replace(chr(39), '')}/replicas:"
            sizes = [int(k[len(case) :].split("/")[0]) for k in measured if k.startswith(case)]
            for rate, replicas in zip(row[1:], (1, max(sizes, default=0)), strict=True):
                found = measured.get(f"{case}{replicas}/manual_time")
                if found is not None:
                    assert float(rate) == pytest.approx(found, rel=0.05), case
                    compared += 1
    assert compared >= 30
    runs = (folder / "gpu-runs.csv").read_text()
    page = (ROOT / "docs/clusters.md").read_text()
    rows = re.findall(r"^\| (`\w+`) \| ([\d ]+) \| ([\d.e]+) \|", page, re.M)
    assert len(rows) == 5
    for deck, replicas, rate in rows:
        row = rf'"{deck}",{replicas.replace(" ", "")},[^,]*,{re.escape(rate)},'
        assert re.search(row, runs), deck


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
