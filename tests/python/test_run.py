"""tarn.run: results, files, restarts, progress."""

from __future__ import annotations

import pickle
import re
from pathlib import Path

import numpy as np
import pytest
from conftest import HEPTAMER, at_temperatures, output_of, with_changes

import tarn


def test_version_is_that_of_the_program(program):
    assert program("--version").stdout == f"tarn {tarn.__version__}\n"


@pytest.mark.pictures
def test_averages_tables_and_pictures():
    result = tarn.run(HEPTAMER, out="a")
    average = result.averages["potential_kcal_per_mol"]
    table = result.table("energies")
    kept = table[table["step"] >= 50]
    # averages.csv leaves out the first 0.1 ps, 50 steps.
    assert average.mean == pytest.approx(kept["potential_kcal_per_mol"].mean(), rel=1e-12)
    assert average.error > 0 and average.correlation_ps > 0
    assert average.samples == len(kept)
    assert table.columns[:3] == ("step", "time_ps", "replica")
    assert table["step"].dtype == np.int64 and table["time_ps"].dtype == np.float64
    assert table.provenance.startswith(f" tarn {tarn.__version__}")
    assert type(table["step"]) is np.ndarray
    assert list(result.table("averages")["quantity"]) == [a.quantity for a in result.averages.values()]
    if result.pictures:
        assert result.plot("rdf")._repr_svg_().lstrip().startswith("<?xml")
    assert result.steps_done == 400 and not result.blow_ups
    assert {"run.json", "checkpoint.bin", "rdf.csv"} <= {p.name for p in result.out.iterdir()}


def test_types_of_columns_do_not_depend_on_values():
    # The bonds of a rigid model have no energy: the file has "0".
    result = tarn.run(HEPTAMER, out="a", set={"run.steps": 0, "run.equilibration_ps": 0})
    table = result.table("energies")
    assert not table["penalty_kcal_per_mol"].any() and not table["time_ps"].any()
    assert result.table("rdf")["OO_count"].dtype == np.int64
    for name in table.columns:
        assert table[name].dtype == (np.int64 if name in ("step", "replica") else np.float64)


def test_missing_tables_and_averages_are_named():
    result = tarn.run(HEPTAMER, out="a")
    with pytest.raises(tarn.FileError, match="no such table; .*/a has averages, energies, .*rdf"):
        result.table("shape")
    with pytest.raises(KeyError, match="potential_kcal_per_mol"):
        result.averages["potential"]
    empty = tarn.run(
        HEPTAMER, out="b", set={"run.steps": 0, "run.equilibration_ps": 0}, unset=["observe"]
    )
    with pytest.raises(KeyError, match="there are no averages"):
        empty.averages["potential"]
    with pytest.raises(tarn.FileError, match="no such table; .*/b has none"):
        empty.table("energies")


def test_long_names_of_averages():
    result = tarn.run(HEPTAMER, out="a")
    long = result.averages["energies.potential_kcal_per_mol"]
    assert long is result.averages["potential_kcal_per_mol"]
    assert len(list(result.averages)) == len(result.averages)
    assert all(name in result.averages for name in result.averages)
    line = next(l for l in repr(result.averages).splitlines() if "potential_kcal_per_mol" in l)
    shown = re.fullmatch(r"  potential_kcal_per_mol: (-\d+\.\d+) ± (\d\.\d+)", line)
    assert shown and abs(float(shown[1]) - long.mean) < 0.1 * long.error
    assert float(shown[2]) == pytest.approx(long.error, rel=0.05)


def test_several_baths_give_arrays():
    deck = at_temperatures(with_changes(HEPTAMER, system={"replicas": 4}), [50, 150])
    average = tarn.run(deck, out="a").averages["temperature_K"]
    again = tarn.run(deck, out="a", resume=True).averages["temperature_K"]
    assert repr(again) == repr(average)
    assert average.bath_K.tolist() == [50, 150]
    assert average.mean.shape == average.error.shape == (2,)
    assert average.mean[0] < average.mean[1]


@pytest.mark.parametrize(
    ("name", "changes"),
    [
        ("water7.toml", {"run.duration_ps": 2.0, "run.equilibration_ps": 0.5}),
        ("pimd7.toml", {"run.duration_ps": 0.05, "run.equilibration_ps": 0.0, "system.replicas": 2}),
    ],
)
def test_the_files_are_those_of_the_program(program, inputs, name, changes):
    """Law: the same deck gives the same bytes; run.json has times."""
    options = [f"--set={key}={value}" for key, value in changes.items()]
    program("run", inputs / name, "--out", "program", "--quiet", *options)
    tarn.run(inputs / name, out="python", set=changes)

    def files(folder: str) -> dict[str, bytes]:
        return {p.name: p.read_bytes() for p in Path(folder).iterdir() if p.name != "run.json"}

    theirs, ours = files("program"), files("python")
    assert len(theirs) >= 3 and theirs.keys() == ours.keys()
    for file, bytes_ in theirs.items():
        assert ours[file] == bytes_, file


def test_a_dictionary_is_the_deck_of_its_keys(inputs):
    import tomllib

    text = (inputs / "water7.toml").read_text()
    deck = tomllib.loads(text)
    deck["system"]["file"] = inputs / deck["system"]["file"]
    changes = {"run.duration_ps": 0.5, "run.equilibration_ps": 0.0}
    tarn.run(deck, out="dictionary", set=changes)
    tarn.run(inputs / "water7.toml", out="file", set=changes)
    # The provenance line has a hash of the deck, whose path of the structure differs.
    rows = [Path(out, "rdf.csv").read_text().splitlines()[1:] for out in ("dictionary", "file")]
    assert rows[0] == rows[1]


def test_numpy_values_in_a_dictionary():
    deck = with_changes(HEPTAMER, run={"steps": np.int64(20), "equilibration_ps": 0.0})
    deck = at_temperatures(deck, np.array([50.0, 60.0, 70.0]))
    assert tarn.run(deck, out="a").steps_done == 20


def test_resuming_gives_the_uninterrupted_files():
    whole = tarn.run(HEPTAMER, out="whole")
    tarn.run(HEPTAMER, out="parts", set={"run.steps": 150})
    parts = tarn.run(HEPTAMER, out="parts", resume=True)
    for file in ("energies.csv", "rdf.csv", "averages.csv", "checkpoint.bin"):
        assert (parts.out / file).read_bytes() == (whole.out / file).read_bytes(), file
    again = tarn.run(HEPTAMER, out="parts", resume=True)
    assert again.already_finished and again.averages
    # json has no nan; all numbers are those of the first call.
    assert repr(dict(again.averages)) == repr(dict(parts.averages))
    assert (again.notes, again.warnings) == (parts.notes, parts.warnings)
    assert again.pictures == parts.pictures


def test_a_run_is_not_replaced_unless_asked():
    tarn.run(HEPTAMER, out="a", set={"run.steps": 20, "run.equilibration_ps": 0})
    with pytest.raises(tarn.InputError, match="--overwrite") as caught:
        tarn.run(HEPTAMER, out="a")
    assert str(caught.value).endswith("(In Python: resume=True, overwrite=True, out=...)")
    tarn.run(HEPTAMER, out="a", overwrite=True)


def test_unset_removes_a_section():
    result = tarn.run(HEPTAMER, out="a", unset=["observe.rdf"])
    assert not (result.out / "rdf.csv").exists()


def test_nothing_is_printed_unless_asked(capfd):
    tarn.run(HEPTAMER, out="a")
    assert capfd.readouterr() == ("", "")
    tarn.run(HEPTAMER, out="b", progress=True)
    out, err = capfd.readouterr()
    assert out == "" and "400/400 (100 %)" in err


def test_progress_calls_a_function():
    calls: list[tarn.Progress] = []
    tarn.run(HEPTAMER, out="a", progress=calls.append)
    assert calls[-1].step == calls[-1].total_steps == 400
    assert calls[-1].steps_per_second > 0


def test_an_exception_in_progress_ends_the_run_and_arrives():
    class Stop(Exception):
        pass

    def progress(_):
        raise Stop("enough")

    with pytest.raises(Stop, match="enough"):
        tarn.run(HEPTAMER, out="a", progress=progress)
    # The last checkpoint, at step 0, is valid.
    assert tarn.run(HEPTAMER, out="a", resume=True).steps_done == 400


def test_results_can_be_pickled():
    result = tarn.run(HEPTAMER, out="a")
    copy = pickle.loads(pickle.dumps(result))
    assert dict(copy.averages) == dict(result.averages)
    table = pickle.loads(pickle.dumps(result.table("energies")))
    assert np.array_equal(table, copy.table("energies"))
    assert table.provenance == result.table("energies").provenance


def test_tables_become_data_frames():
    pandas = pytest.importorskip("pandas")
    frame = tarn.run(HEPTAMER, out="a").table("energies").to_pandas()
    assert isinstance(frame, pandas.DataFrame)
    assert frame.groupby("replica").size().tolist() == [41, 41, 41]


def test_stopped_replicas_are_reported():
    deck = with_changes(
        HEPTAMER, integrator={"timestep_fs": 30.0}, run={"steps": 2000, "equilibration_ps": 0.0}
    )
    with pytest.raises(tarn.NumericalError, match="no replica is left"):
        tarn.run(deck, out="a")


def test_exchange_is_summarised():
    deck = at_temperatures({**HEPTAMER, "exchange": {"every": 10}}, [50, 60, 70])
    result = tarn.run(deck, out="a")
    assert [pair.lower_bath_K for pair in result.exchange.pairs] == [50, 60]
    assert 0 <= result.exchange.structure_changes_per_walker < 10
    assert any("per walker, fewer than about 10" in text for text in result.warnings)
    assert any("pools all temperatures" in text for text in result.notes)


@pytest.mark.parametrize("frequencies", ["economised", "trotter"])
def test_acceptance_of_ring_polymers_follows_from_the_files(frequencies):
    """The probabilities of exchanges, computed again from the trajectories. Frequencies are
    proportional to the temperature: all internal modes scale by the root of its ratio."""
    temperatures_K, beads, molecules = (250.0, 330.0), 8, 2
    deck = {
        "system": {"model": "qtip4pf", "molecules": molecules, "replicas": 4, "seed": 3},
        "integrator": {"scheme": "verlet", "timestep_fs": 0.5},
        "thermostat": {"temperatures_K": list(temperatures_K), "friction_per_ps": 5.0},
        "path_integral": {"beads": beads, "frequencies": frequencies},
        "exchange": {"every": 10},
        "run": {"steps": 400},
        "observe": {"trajectory": {"every": 20, "beads": "all"}},
    }
    result = tarn.run(deck, out="a")

    def frames(replica: int) -> np.ndarray:
        """Positions at attempted exchanges, (frame, bead, atom, 3)."""
        lines = Path(f"a/trajectory-{replica:04d}.xyz").read_text().splitlines()
        atoms = [line.split()[1:] for line in lines if line[:2] in ("O ", "H ")]
        return np.array(atoms, float).reshape(-1, beads, 3 * molecules, 3)[1:]

    def mean_potential(x: np.ndarray) -> np.ndarray:
        energies, _ = tarn.energy_and_forces(x.reshape(-1, 3 * molecules, 3), model="qtip4pf")
        return energies.reshape(x.shape[:2]).mean(axis=1)

    k_kcal_per_mol_K = 0.0019872041
    probabilities = []
    for ladder in (0, 2):
        delta = 0.0
        for place, t_K in enumerate(temperatures_K):
            other_K = temperatures_K[1 - place]
            own, arriving = frames(ladder + place), frames(ladder + 1 - place)
            centroid = arriving.mean(axis=1, keepdims=True)
            arriving = centroid + np.sqrt(other_K / t_K) * (arriving - centroid)
            delta = delta + (mean_potential(arriving) - mean_potential(own)) / (k_kcal_per_mol_K * t_K)
        probabilities += [*np.minimum(1.0, np.exp(-delta))]
    assert len(probabilities) == 40
    acceptance = result.averages["acceptance_with_next_bath"].mean[0]
    assert 0.05 < acceptance < 0.95
    assert np.mean(probabilities) == pytest.approx(acceptance, rel=1e-8)


def test_compare_writes_its_tables():
    comparison = tarn.compare(
        HEPTAMER, ["settle", "shake:tolerance=1e-6"], out="c", unset=["observe.energies"]
    )
    table = comparison.table("compare")
    assert list(table["scheme"]) == ["settle", "shake:tolerance=1e-6"]
    assert np.all(table["cluster_steps_per_s"] > 0)


def test_compare_accepts_one_scheme_and_one_step():
    comparison = tarn.compare(HEPTAMER, "settle", "c", steps=1.0, unset=["run.equilibration_ps"])
    assert any("settle" in scheme for scheme in comparison.table("compare")["scheme"])
    with pytest.raises(tarn.InputError, match="compare: steps = 'a'; expected a number"):
        tarn.compare(HEPTAMER, ["settle"], out="d", steps=["a"])
    with pytest.raises(tarn.InputError, match="compare: beads = 1.5; expected an integer"):
        tarn.compare(HEPTAMER, ["settle"], out="d", beads=[1.5])


def test_importing_needs_only_numpy():
    loaded = output_of(
        "import sys, tarn; print(*sorted({m.split('.')[0] for m in sys.modules}))"
    ).split()
    assert not {"ase", "pandas", "matplotlib", "scipy"} & set(loaded)
