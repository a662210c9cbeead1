"""Finished runs: tarn.open, tarn.report and `tarn report`."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path

import numpy as np
import pytest
from conftest import HEPTAMER, at_temperatures, with_changes

import tarn

pytest.importorskip("matplotlib")
from tarn import reports  # noqa: E402

#: Two rigid molecules, which a wall keeps together.
DIMERS = {
    "system": {"model": "tip3p", "molecules": 2, "replicas": 8, "seed": 3},
    "integrator": {"scheme": "settle", "timestep_fs": 2.0},
    "thermostat": {"kind": "baoab", "temperature_K": 100.0, "friction_per_ps": 5.0},
    "confinement": {"radius_A": 4.0, "stiffness_kcal_per_mol_A2": 10.0},
    "run": {"steps": 4000, "equilibration_ps": 1.0},
    "observe": {"energies": {"every": 10}, "rdf": {"every": 20}},
}
LADDER = at_temperatures(
    {**DIMERS, "exchange": {"every": 20}, "observe": {"energies": {"every": 20}, "cluster": {"every": 100}}},
    [60.0, 90.0, 130.0, 190.0],
)


def written(name: str, averages: dict, deck: str = "", tables: dict | None = None, **record) -> Path:
    """The folder of a run with these averages: (mean, error) by quantity and temperature."""
    folder = Path(name)
    folder.mkdir()
    rows = []
    for (quantity, bath), (mean, error) in averages.items():
        row = {"table": "energies", "quantity": quantity, "mean": mean, "error": error, "converged": True}
        rows.append(row | ({} if bath is None else {"bath_K": bath}))
    whole = {"status": "finished", "tarn_version": "0.2.0", "deck": deck, "molecules": 3, "replicas": 4, "seed": 1,
             "physics": name, "steps_done": 100, "averages": rows, "warnings": []}  # fmt: skip
    (folder / "run.json").write_text(json.dumps(whole | record))
    for table, text in (tables or {}).items():
        (folder / f"{table}.csv").write_text(f"# tarn 0.2.0; x; y\n{text}")
    return folder


def row(report: tarn.Report, quantity: str, run: int, bath: float | None = None) -> np.void:
    table = report.table("report")
    baths = np.isnan(table["bath_K"]) if bath is None else table["bath_K"] == bath
    (found,) = table[(table["quantity"] == quantity) & (table["run"] == run) & baths]
    return found


def test_a_folder_gives_the_result_of_its_run():
    for deck, out in ((DIMERS, "a"), (LADDER, "b")):
        with pytest.warns(tarn.TarnWarning):  # too short
            first = tarn.run(deck, out=out, set={"run.steps": 600}, pictures=False)
        again = tarn.open(out)
        assert again.is_finished and again.record["status"] == "finished"
        assert repr(again) == repr(first)
        for name in vars(first):
            if name != "averages":
                assert getattr(again, name) == getattr(first, name), name
        assert list(again.averages) == list(first.averages)
        for one, other in zip(again.averages.values(), first.averages.values(), strict=True):
            for name in vars(one):
                np.testing.assert_array_equal(getattr(one, name), getattr(other, name), err_msg=name)
        assert np.array_equal(again.table("energies"), first.table("energies"))
    assert again.exchange is not None and len(again.exchange.pairs) == 3
    # So does a resumed run that was complete.
    with pytest.warns(tarn.TarnWarning):
        resumed = tarn.run(LADDER, out="b", set={"run.steps": 600}, resume=True)
    assert resumed.already_finished and resumed.exchange == again.exchange


def test_a_run_that_is_not_finished():
    steps = []

    def look(progress: tarn.Progress) -> None:
        result = tarn.open("a")
        assert not result.is_finished and not len(result.averages)
        steps.append((progress.step, result.steps_done))

    tarn.run(DIMERS, out="a", progress=look, pictures=False, set={"checkpoint.every": 100})
    # Tables are written at checkpoints.
    assert steps and all(0 <= found <= step for step, found in steps)
    assert tarn.open("a").is_finished
    Path("b").mkdir()
    Path("b/run.json").write_text(Path("a/run.json").read_text().replace('"finished"', '"running"'))
    # The last row is not complete.
    Path("b/energies.csv").write_text("# x\nstep,time_ps\n0,0\n500,1\n1000")
    Path("b/rdf.csv").write_text("# x\nr_A,OO_g\n7000,1\n")
    assert tarn.open("b").steps_done == 4000  # of run.json, which is later here
    record = json.loads(Path("b/run.json").read_text())
    Path("b/run.json").write_text(json.dumps(record | {"steps_done": 0}))
    assert tarn.open("b").steps_done == 500
    assert "b  running; 8 replicas" in tarn.report(["a", "b"], pictures=False).text


def test_folders_that_are_not_runs(program):
    with pytest.raises(tarn.MissingFileError, match="cannot read 'nowhere': there is no such folder"):
        tarn.open("nowhere")
    Path("empty").mkdir()
    for function in (tarn.open, tarn.report):
        with pytest.raises(tarn.InputError, match="'empty' is not the folder of a run: run.json is missing"):
            function("empty")
    a, b = written("a", {}), written("b", {})
    with pytest.raises(tarn.InputError, match="'a' is the folder of a run, whose pictures would be replaced"):
        tarn.report([a, b], out="a")
    # The Python of the tests of pictures does not exist here.
    with pytest.raises(subprocess.CalledProcessError) as error:
        program("report", "a")
    assert error.value.returncode == 4 and error.value.stderr.count("\n") == 1
    assert "tarn report needs Python 3 with NumPy and matplotlib" in error.value.stderr


def test_differences_have_the_errors_of_both_runs():
    a = written("a", {("x", None): (1.0, 0.3), ("y", None): (5.0, 0.0), ("z", None): (0.0, 0.0), ("only", None): (1, 1)})
    b = written("b", {("x", None): (2.0, 0.4), ("y", None): (7.0, 0.1), ("z", None): (0.0, 0.0)})
    c = written("c", {("x", None): (-1.0, 0.4), ("y", None): (5.0, None), ("z", None): (3.0, 1.5)})
    report = tarn.report([a, b, c], pictures=False)
    for run, change, sigmas in ((1, 1.0, 2.0), (2, -2.0, 4.0)):
        found = row(report, "x", run)
        assert found["difference"] == change
        assert found["difference_err"] == pytest.approx(0.5, rel=1e-15)  # hypot(0.3, 0.4)
        assert found["sigmas"] == pytest.approx(sigmas, rel=1e-15)
    # An error is unknown, and a mean of 0 without an error is exact.
    assert row(report, "y", 1)["difference"] == 2.0 and np.isnan(row(report, "y", 1)["sigmas"])
    assert np.isnan(row(report, "y", 0)["error"]) and row(report, "z", 2)["sigmas"] == 2.0
    assert np.isnan(row(report, "only", 0)["difference"])
    two = tarn.report([a, b], out="two", pictures=False).text
    assert re.search(r"energies x +1.00 \+- 0.30 +2.00 \+- 0.40 +1.00 \+- 0.50 +2.0\n", two)
    assert re.search(r"energies y +5 \+- \? +7.00 \+- 0.10 +2 \+- \? +\?\n", two)
    assert "?: the error is unknown" in two and "energies z" not in two and "only" not in two
    assert "1 of 3 differences exceed 3 standard errors" in report.text
    assert str(report) == report.text


def test_several_temperatures_are_compared_one_by_one():
    deck = '[thermostat]\nkind = "baoab"\ntemperatures_K = [100.0, 200.0]\n'
    a = written("a", {("x", 100.0): (1.0, 0.3), ("x", 200.0): (2.0, 0.3)}, deck)
    b = written("b", {("x", 100.0): (1.5, 0.4), ("x", 200.0): (4.0, 0.4)}, deck)
    # A run at one of the temperatures.
    c = written("c", {("x", None): (2.0, 0.4)}, '[thermostat]\nkind = "baoab"\ntemperature_K = 200.0\n')
    report = tarn.report([a, b, c], pictures=False)
    assert row(report, "x", 1, 100.0)["sigmas"] == pytest.approx(1.0, rel=1e-15)
    assert row(report, "x", 1, 200.0)["sigmas"] == pytest.approx(4.0, rel=1e-15)
    assert row(report, "x", 2, 200.0)["difference"] == 0.0
    # The largest difference, and the root mean square of 1 and 4.
    assert re.search(r"energies x at 200 K +a +2.00 \+- 0.30\n +b +4.00 \+- 0.40 +2.00 \+- 0.50 +4.0 +2.9 \(2\)\n",
                     report.text)  # fmt: skip


def test_the_first_lines_say_how_the_runs_differ():
    deck = '[system]\nmodel = "{}"\nseed = {}\n\n[thermostat]\nkind = "gla"\ntemperature_K = {}\n\n[observe.rdf]\nbins = {}\n'
    runs = [written("a", {}, deck.format("tip3p", 1, 100.0, 9)),
            written("b", {}, deck.format("tip4p", 2, 100.0, 9), molecules=5),
            written("c", {}, deck.format("tip3p", 1, 200.0, 7), tarn_version="0.3.0")]  # fmt: skip
    text = tarn.report(runs, pictures=False).text
    for line in (r'\[system\] model +"tip3p" +"tip4p" +"tip3p"', r"\[thermostat\] temperature_K +100.0 +100.0 +200.0",
                 "molecules +3 +5 +3", "version of tarn +0.2.0 +0.2.0 +0.3.0", r"and in the keys of \[observe.rdf\]",
                 "Energies are totals, of different numbers of molecules."):  # fmt: skip
        assert re.search(rf"^ *{line}$", text, re.M), line
    assert "seed" not in text
    Path("d").mkdir()
    Path("d/run.json").write_text(Path("a/run.json").read_text())
    text = tarn.report([runs[0], "d"], pictures=False).text
    assert "The runs have the same deck, except for the seed.\na and d have the same deck and seed" in text


def test_peaks_of_two_spectra_are_paired():
    x = np.arange(0.0, 2000.0, 5.0)

    def spectrum(*centres: float) -> str:
        y = sum(np.exp(-(((x - centre) / 40.0) ** 2)) for centre in centres)
        return "wavenumber_per_cm,states_cm,states_cm_err,absorption_km_cm_per_mol,absorption_km_cm_per_mol_err\n" + \
            "".join(f"{k},1,0.1,{v},0.02\n" for k, v in zip(x, y, strict=True))  # fmt: skip

    a = written("a", {}, tables={"spectrum": spectrum(500.0, 1600.0)})
    b = written("b", {}, tables={"spectrum": spectrum(540.0, 1000.0)})
    report = tarn.report([a, b])
    # The top of a Gaussian is flat to the error within 40 sqrt(0.028) = 7 cm^-1, one row.
    assert row(report, "absorption_peak_0_per_cm", 0)["mean"] == 500.0
    assert row(report, "absorption_peak_0_per_cm", 0)["error"] == 5.0
    assert row(report, "absorption_peak_0_per_cm", 1)["difference"] == 40.0
    assert row(report, "absorption_peak_1_per_cm", 1)["mean"] == 1000.0
    assert row(report, "absorption_peak_2_per_cm", 0)["mean"] == 1600.0
    svg = report.plot("spectrum").svg
    assert ">a</text>" in svg and ">b</text>" in svg


def isomers(share: float) -> dict[str, str]:
    head = "above_lowest_kcal_per_mol,samples,of_samples,share,share_err,converged\n"
    rows = "".join(f"{t},{n},{n - 1},1,9,{p},0.05,1\n" for t in (100.0, 200.0) for n, p in ((1, share), (2, 1 - share)))
    return {"isomers": f"isomer,minimum_kcal_per_mol,{head}1,-71.5,0,1,9,0.5,0.05,1\n2,-70.5,1,1,9,0.5,0.05,1\n",
            "isomers_by_bath": f"bath_K,isomer,{head}{rows}"}  # fmt: skip


MELTING = """[system]
model = "tip3p"
files = ["a.xyz", "b.xyz"]

[thermostat]
kind = "baoab"
temperatures_K = [100.0, 200.0]

[confinement]
radius_A = 6.0

[run]
equilibration_ps = 1.0
"""


def test_populations_of_isomers_are_those_of_equal_minima():
    a, b = (written(name, {}, MELTING, isomers(share)) for name, share in (("a", 0.75), ("b", 0.5)))
    report = tarn.report([a, b])
    found = row(report, "minimum_-71.5000_kcal_per_mol", 1, 200.0)
    assert found["difference"] == -0.25 and found["sigmas"] == pytest.approx(0.25 / np.hypot(0.05, 0.05), rel=1e-12)
    assert "minimum of -71.5000 kcal/mol at 100 K" in report.text
    assert "a: -71.50 kcal/mol" in report.plot("isomers").svg


def verdict(name: str, farthest: float = 5.0, **changes) -> str:
    exchange = {"round_trips": 40, "structure_changes_per_walker": 12.0, "structure_change": "changes",
                "pairs": [{"lower_bath_K": 100, "upper_bath_K": 200, "attempts": 50, "accepted": 20, "acceptance": 0.4,
                           "error": 0.1}]}  # fmt: skip
    exchange |= {key: changes.pop(key) for key in list(changes) if key in exchange}
    capacity = "".join(f"{t},{changes.pop('capacity', 0.2)},0.01\n" for t in (100.0, 150.0, 200.0))
    tables = {"cluster": f"step,time_ps,replica,farthest_oxygen_A\n0,0,1,9\n9,2,1,{farthest}\n9,2,0,9\n",
              "heat_capacity": f"temperature_K,heat_capacity_kcal_per_mol_K,heat_capacity_err\n{capacity}"}  # fmt: skip
    folder = written(name, {}, changes.pop("deck", MELTING), tables, exchange=exchange)
    record = json.loads((folder / "run.json").read_text())
    peak = {"table": "heat_capacity", "quantity": "peak_temperature_K", "mean": 190.0, "error": 2.0, "converged": True}
    (folder / "run.json").write_text(json.dumps(record | {"averages": [peak]} | changes))
    found = reports.convergence(reports.Run(folder))
    assert found is not None
    return found


def test_a_melting_curve_is_converged_or_the_reasons_are_given():
    yes = verdict("yes")
    assert yes.startswith("yes (12 changes per walker; 10 round trips per walker; acceptance of at least 40 %")
    assert "different starts agree; molecules touch the wall in 0 % of the samples near the maximum" in yes
    for n, (reason, changes) in enumerate((
        ("9 changes per walker, fewer than about 10", {"structure_changes_per_walker": 9.0}),
        ("0.5 round trips per walker, fewer than one", {"round_trips": 2}),
        ("100 and 200 K exchange in only 1 % of the attempts",
         {"pairs": [{"lower_bath_K": 100, "upper_bath_K": 200, "attempts": 9, "acceptance": 0.01, "error": 0.001}]}),
        ("x rose by 2 (6.0 standard errors) between the two halves of the run",
         {"warnings": ["not equilibrated. x rose by 2 (6.0 standard errors) between the two halves of the run; more"]}),
        ("3 of 9 averages depend on the start by more than 3 standard errors",
         {"warnings": ["3 of 9 averages depend on the start by more than 3 standard errors, most of all x"]}),
        ("2 replicas lost a molecule; add a wall", {"departures": [{"replica": 1}, {"replica": 3}, {"replica": 1}]}),
        ("molecules touch the wall in 1e+02 % of the samples near the maximum", {"farthest": 6.5}),
        ("there is no heat capacity between 100 and 150 K", {"capacity": "nan"}),
        ("the run is not finished", {"status": "interrupted"}),
    )):  # fmt: skip
        assert verdict(f"no{n}", **changes) == f"not yet, because {reason}"
    one_start = MELTING.replace("files", "file").replace("[confinement]\nradius_A = 6.0\n", "")
    assert "different starts" not in verdict("one", deck=one_start)
    assert "without [exchange] and with one start" in verdict("alone", deck=one_start, exchange=None)


@pytest.mark.pictures
def test_two_runs_of_dimers(program):
    cold = tarn.run(DIMERS, out="cold", pictures=False)
    tarn.run(DIMERS, out="warm", set={"thermostat.temperature_K": 200.0}, pictures=False)
    report = tarn.report([cold, "warm"])
    # Equipartition: 12 degrees of freedom, half of the Boltzmann constant each.
    found = row(report, "kinetic_kcal_per_mol", 1)
    assert abs(found["difference"] - 6.0 * 0.0019872 * 100.0) < 4.5 * found["difference_err"]
    assert found["sigmas"] > 10.0
    # The program prints the same.
    printed = program("report", "cold", "warm", "--out", "other").stdout
    assert printed == f"{report.text}\nfiles are in other: report.csv, rdf.svg\n"
    for svg in (Path("other/rdf.svg").read_text(), report.plot("rdf").svg):
        assert "warm, 200 K" in svg
    assert sorted(p.name for p in Path("report").iterdir()) == ["rdf.svg", "report.csv"]


@pytest.mark.pictures
def test_a_run_with_exchange(program):
    with pytest.warns(tarn.TarnWarning):
        result = tarn.run(LADDER, out="a", pictures=False)
        tarn.run(LADDER, out="b", set={"system.seed": 4}, pictures=False)
    printed = program("report", "a").stdout
    assert tarn.report(result).text == printed.rstrip("\n") and not Path("report").exists()
    trips = result.exchange.round_trips_per_state
    assert f"converged: not yet, because {trips:.2g} round trips per walker, fewer than about 10" in printed
    assert all(f"  {t_K} K" in printed for t_K in (60, 90, 130, 190))
    both = tarn.report(["a", "b"])
    assert "heat capacity of b minus a: largest difference at" in both.text
    assert ">b</text>" in both.plot("heat_capacity").svg
