"""The result pages of docs/pages agree with their tables."""

from __future__ import annotations

import math
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("matplotlib")
ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "docs/results"
sys.path.insert(0, str(ROOT / "docs/pages"))
import motions  # noqa: E402
import page as pages  # noqa: E402


def make(*words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, str(ROOT / "docs/pages/make"), *words]
    return subprocess.run(command, capture_output=True, text=True)


def test_pages_are_what_their_tables_give():
    done = make("--check")
    assert done.returncode == 0, done.stderr


def test_check_reports_a_page_that_differs(tmp_path):
    for path in RESULTS.glob("isotopes*"):
        shutil.copy(path, tmp_path)
    text = (tmp_path / "isotopes.md").read_text()
    (tmp_path / "isotopes.md").write_text(text.replace("1.7 kT", "1.6 kT"))
    done = make("--check", "--out", str(tmp_path), "isotopes")
    assert done.returncode == 1
    assert "isotopes.md" in done.stderr and "1.6 kT" in done.stderr


def test_all_pages_are_listed():
    """Each page stands in docs/results/README.md, and each committed page has a template or a maker."""
    contents = (RESULTS / "README.md").read_text()
    for name in pages.names():
        assert f"({name}.md)" in contents, name
    assert "isotopes" in make("--list").stdout
    unknown = make("isotope")
    assert unknown.returncode == 2 and "isotopes" in unknown.stderr


#: Shares of the length of pages that take too long, or too little, with a hundredth of it.
SHARES = {
    "errors": 0.002, "evaporation": 0.002, "exchange": 0.0008, "flexible-steps": 0.005, "ice": 0.0003,
    "isomers": 0.0025, "melting": 0.0002, "multipliers": 1, "quantum-octamer": 0.002, "ring-steps": 0.003, "spectrum": 0.001,
}  # fmt: skip
#: Pages that take longer than ten seconds with any share, and pages without run().
NOT_RUN = {
    "dimer-xtb", "dna", "dynamics", "gpu", "minima", "pendulum-stability", "penalty-limit", "precision",
    "ranks", "slow-manifold", "stiff-from-constraints", "stiff-from-slow-point", "stiff-projected-back", "verdict-298K",
}  # fmt: skip


@pytest.mark.parametrize("name", sorted(set(pages.names()) - NOT_RUN))
def test_short_runs_write_the_columns_of_the_page(name, tmp_path):
    """Runs of a small share of the length: the tables have the columns of the committed ones."""
    if pages.Page(name).deck.startswith("papers/") and not Path(motions.PROGRAM).exists():
        pytest.skip("tarn-papers is not built")
    share = str(SHARES.get(name, 0.01))
    done = make(name, "--share", share, "--threads", "1", "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert (tmp_path / f"{name}.csv").exists()
    for path in tmp_path.glob("*.csv"):
        committed = pages.read_table(RESULTS / path.name)
        made = pages.read_table(path)
        assert list(made.columns) == list(committed.columns)
        assert len(made) > 0


#: Cells of rows that some runs do not meet, by a column and its value.
NOT_MET = {
    ("model", "tip3p"): dict.fromkeys(["peak_K", "peak_K_err", "height", "height_err"], "nan"),
    ("friction_per_ps", "0.02"): dict.fromkeys(["departures", "of_one_molecule", "returns"], "0")
    | dict.fromkeys(["activation", "activation_err", "deviance"], "nan"),
}


@pytest.mark.parametrize("name", ["evaporation", "exchange", "ice", "melting"])
def test_pages_say_what_no_run_met(name, tmp_path):
    """Whether clusters evaporate, or a heat capacity has a significant maximum, depends on the run."""
    for path in {*RESULTS.glob(f"{name}*.csv"), *RESULTS.glob("ice*.csv")}:
        head, columns, *rows = path.read_text().splitlines()
        kept = []
        for row in rows:
            cells = dict(zip(columns.split(","), row.split(","), strict=True))
            for (column, value), unknown in NOT_MET.items():
                if cells.get(column) == value:
                    cells |= {key: cell for key, cell in unknown.items() if key in cells}
            if not cells.get("quantity", "").startswith("peak_"):
                kept.append(",".join(cells.values()))
        (tmp_path / path.name).write_text("\n".join([head, columns, *kept, ""]))
    done = make("--text", name, "--out", str(tmp_path))
    assert done.returncode == 0, done.stderr
    page = (tmp_path / f"{name}.md").read_text()
    assert "–" in page and not re.search(r"\bnan\b", page)


def test_values_are_printed_with_the_digits_of_their_errors():
    assert f"{pages.Value(math.nan):+}" == "–"
    assert pages.weighted_mean([pages.NOT_MET, pages.Value(1.0, 0.1)])[0].mean == 1.0
    assert f"{pages.Value(1.23456, 0.0123)}" == "1.235 ± 0.012"
    assert f"{pages.Value(1234.5, 12.0)}" == "1234 ± 12"
    assert f"{pages.Value(1.5, 0.0)}" == "1.500 ± 0.000"
    total = pages.Value(1.0, 3.0) - 2.0 * pages.Value(1.0, 2.0)
    assert total.mean == -1.0 and total.error == 5.0


def test_readme_agrees_with_the_page_of_growth():
    """Times and memory in README.md are those of docs/results/growth to two digits."""
    readme = re.sub(r"\n *", " ", (ROOT / "README.md").read_text())
    table = pages.read_table(ROOT / "docs/results/growth.csv")

    def two_digits(value: float) -> str:
        return f"{value:.1f}" if value < 9.95 else f"{value:.0f}"

    ns = {int(r.molecules): r.core_ns_per_step for r in table.where(replicas=1, precision="double")}
    times = [two_digits(v) for v in (ns[1000] * 1e-6, ns[5000] * 1e-6, ns[20000] * 1e-9)]
    assert (
        f"from {times[0]} ms for 1000 molecules to {times[1]} ms for 5000 and {times[2]} s for 20 000 "
        "(one core, double precision"
    ) in readme
    page = (ROOT / "docs/results/growth.md").read_text()
    row = page[page.index("| double |", page.index("## Memory")) :].splitlines()[0].split("|")
    of_7, of_100, _, megabytes = (float(cell) for cell in row[2:6])
    assert (
        f"a replica takes {two_digits(of_7 * 1e-3)} kB for seven molecules, "
        f"{two_digits(of_100 * 1e-3)} kB for 100 and {two_digits(megabytes)} MB for 20 000"
    ) in readme
