"""Wrong arguments of all public functions: our own words, and those of Python."""

from __future__ import annotations

import inspect
import os
import pickle
from functools import partial
from pathlib import Path

import numpy as np
import pytest
from conftest import DIMERS, HEPTAMER, with_changes

import tarn

FUNCTIONS = [
    tarn.check_potential, tarn.compare, tarn.devices, tarn.dipole_moments, tarn.energy_and_forces, tarn.minimise,
    tarn.normal_modes, tarn.observer, tarn.open, tarn.random_cluster, tarn.rdf, tarn.read_structure, tarn.report, tarn.run,
    tarn.temperature_ladder, tarn.write_structure, tarn.Ensemble, tarn.Ensemble.load, tarn.Observer,
]  # fmt: skip


def test_all_functions_are_listed():
    public = {getattr(tarn, name) for name in tarn.__all__ if callable(getattr(tarn, name))}
    results = {c for c in public if isinstance(c, type)} - {tarn.Ensemble, tarn.Observer}
    assert public - results <= set(FUNCTIONS)


def good(name: str) -> object:
    """A right value of a required argument."""
    values = {
        "positions_A": tarn.random_cluster(2), "deck": HEPTAMER, "schemes": ["settle"],
        "molecules": 2, "lowest_K": 150, "highest_K": 300, "model": "tip3p", "trajectory": tarn.random_cluster(2, replicas=3), "path": "missing/a.xyz", "folder": "missing", "folders": ["missing"],
        "potential": partial(tarn.energy_and_forces, model="tip3p"), "columns": "x_A", "function": len, "every": 1, "file": "x", "fields": ["energies"],
    }  # fmt: skip
    return values[name]


@pytest.mark.parametrize("function", FUNCTIONS, ids=lambda f: f.__qualname__)
def test_messages_are_our_own(function):
    """No argument of any type leads to the text of the binding library or a crash."""
    wrong = [b"\xff", "\0", "\ud800", [b"x"], {}, {"a": object()}, object(), 3.5, True, np.array("x"), -1]
    parameters = inspect.signature(function).parameters
    required = {
        name: good(name)
        for name, p in parameters.items()
        if p.default is inspect.Parameter.empty or name == "model"
    }
    for name in parameters:
        for value in [*wrong, *([None] if parameters[name].default is not None else [])]:
            if name in ("save", "load", "progress", "observers") and callable(value):
                continue
            arguments = {**required, name: value}
            if function in (tarn.run, tarn.compare, tarn.Ensemble):
                arguments["set"] = value if name == "set" else {"run.steps": 1}
            try:
                function(**arguments)
            except tarn.TarnError as error:
                text = str(error)
            else:
                continue
            for alien in ("incompatible function arguments", "nanobind", "bad_cast", "invoked with"):
                assert alien not in text.lower(), (name, value, text)
            assert text.strip(), (name, value)
    with pytest.raises(TypeError, match="unexpected keyword argument 'modle'"):
        function(**required, modle=3)


def test_methods_have_signatures_and_words_of_python():
    e = tarn.Ensemble(HEPTAMER)
    assert str(inspect.signature(tarn.Ensemble.advance)) == "(self, steps: 'int') -> 'None'"
    with pytest.raises(TypeError, match="unexpected keyword argument 'step'"):
        e.advance(step=3)
    with pytest.raises(TypeError, match=r"close\(\) takes 1 positional"):
        e.close(1)
    with pytest.raises(tarn.InputError, match="advance: steps = True; expected an integer"):
        e.advance(True)


def test_the_signature_of_energy_and_forces():
    parameters = inspect.signature(tarn.energy_and_forces).parameters
    assert list(parameters) == ["positions_A", "model", "device", "threads"]
    assert parameters["model"].default is inspect.Parameter.empty


@pytest.mark.parametrize(
    ("array", "message"),
    [
        (np.ones((3, 3), bool), "positions_A is not an array of numbers, but of bool"),
        ([["1", "2", "3"]] * 3, "but of <U1"),
        (np.zeros((3, 3), "datetime64[s]"), r"but of datetime64\[s\]"),
        (np.zeros((3, 3), "timedelta64[s]"), "but of timedelta64"),
        (np.zeros((3, 3), complex), "but of complex128"),
        ([[1, 2, True]] * 2 + [[0, 1, None]], "but of objects such as"),
        (b"1.5", r"but of \|S3"),
        (None, "positions_A = None; expected an array"),
    ],
)
def test_arrays_of_other_kinds_are_not_converted(array, message):
    for function in (tarn.energy_and_forces, tarn.minimise, tarn.normal_modes, tarn.rdf):
        if function is tarn.rdf and isinstance(array, bytes):
            continue  # a path
        with pytest.raises(tarn.InputError, match=message):
            function(array, **({} if function is tarn.rdf else {"model": "tip3p"}))


def test_results_keep_their_folder(monkeypatch, tmp_path):
    result = tarn.run(HEPTAMER, out="a")
    comparison = tarn.compare(HEPTAMER, ["settle"], out="b", set={"run.steps": 60})
    rows = len(result.table("energies"))
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    for one in (result, pickle.loads(pickle.dumps(result))):
        assert one.out == tmp_path / "a" and len(one.table("energies")) == rows
    assert len(comparison.table("compare")) == 1
    assert all(os.path.isabs(path) for path in (*result.pictures, *comparison.pictures))


@pytest.mark.pictures
def test_pictures_are_found_from_any_folder(monkeypatch, tmp_path):
    result = tarn.run(HEPTAMER, out="a")
    again = tarn.run(HEPTAMER, out="a", resume=True)
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir("elsewhere")
    assert again.pictures == result.pictures
    assert all(Path(path).is_file() for path in result.pictures)


def test_rdf_checks_arrays_as_files():
    frames = np.stack([tarn.random_cluster(3, replicas=2, seed=s) for s in range(4)])
    broken = frames.copy()
    broken[2, 1, 4, 0] = np.nan
    with pytest.raises(tarn.InputError, match=r"positions_A\[:, 1\]: frame 2: atom 4 .* nan; leave"):
        tarn.rdf(broken)
    broken[2, 1] = frames[2, 1]
    broken[2, 1, 3:6] = broken[2, 1, :3]
    with pytest.raises(tarn.InputError, match=r"positions_A\[:, 1\]: frame 2.*coincide"):
        tarn.rdf(broken)
    broken[2, 1] = frames[2, 1]
    broken[2, 1, 4] += 10
    with pytest.raises(tarn.InputError, match=r"from its oxygen"):
        tarn.rdf(broken[:, 1])
    # The words of the program, of a file of the same frame.
    same = np.concatenate([frames[0, 0, :6], frames[0, 0, :3]])
    tarn.write_structure("a.xyz", same)
    with pytest.raises(tarn.InputError, match="the two coincide") as of_file:
        tarn.rdf("a.xyz")
    with pytest.raises(tarn.InputError, match="the two coincide") as of_array:
        tarn.rdf(same[None])
    assert len(of_file.value.problems) == 3
    assert len(of_array.value.problems) == 4  # the first one advises on beads


def test_rdf_of_beads():
    deck = with_changes(DIMERS, system={"replicas": 2, "molecules": 7}, run={"steps": 20})
    deck["path_integral"] = {"beads": 4}
    deck["observe"] = {"trajectory": {"every": 10, "beads": "all", "format": "xtc"}}
    result = tarn.run(deck, out="a")
    files = sorted(result.out.glob("*.xtc"))
    of_files = tarn.rdf(files, beads=4, skip=1)
    frames = np.stack([f.positions_A for f in tarn.Ensemble(deck).frames(20, 10)])
    assert frames.shape == (2, 2, 4, 21, 3)
    of_array = tarn.rdf(frames)
    assert of_array["OO_count"].sum() == of_files["OO_count"].sum() == 2 * 2 * 4 * 21
    # XTC rounds to 0.01 A, and a bin is 0.05 A wide.
    assert np.abs(np.cumsum(of_array["OO_count"] - of_files["OO_count"])).max() < 40
    assert np.array_equal(tarn.rdf(frames, replicas=1)["OO_g"], tarn.rdf(frames[:, 1:])["OO_g"])
    with pytest.raises(tarn.InputError, match="beads is for files; arrays"):
        tarn.rdf(frames, beads=4)
    with pytest.raises(tarn.InputError, match="beads = 0; expected 1 or more"):
        tarn.rdf(files, beads=0)


def test_comparisons_of_ring_polymers():
    deck = with_changes(DIMERS, run={"steps": 80})
    del deck["thermostat"], deck["observe"]
    deck["path_integral"] = {"beads": 4, "method": "rpmd", "temperature_K": 300.0}
    table = tarn.compare(deck, "verlet", out="a", free_ring=["cayley", "exact"]).table("compare")
    assert len(table) == 2 and len(set(table["scheme"])) == 2
    with pytest.raises(tarn.InputError, match="free_ring"):
        tarn.compare(deck, "verlet", out="b", free_ring="none")
    with pytest.raises(tarn.InputError, match='require frequencies = "trotter"'):
        tarn.compare(deck, "verlet", out="c", frequencies="economised")
    deck = with_changes(DIMERS, run={"steps": 80}, path_integral={"beads": 4})
    del deck["observe"]
    kinds = ["economised", "trotter"]
    compared = tarn.compare(deck, "verlet", out="d", beads=[4, 8], frequencies=kinds)
    assert list(compared.table("beads")["scheme"]) == [
        f"verlet:frequencies={kind}:beads={beads}"
        for kind in kinds
        for beads in (4, 8)
    ]
    assert set(compared.table("bead_limits")["scheme"]) == {"verlet:frequencies=trotter"}


def test_errors_of_a_batch_name_the_replica():
    water = tarn.random_cluster(2, replicas=3)
    collapsed = water.copy()
    collapsed[1, 3:] = collapsed[1, :3]
    with pytest.raises(tarn.NumericalError, match=r"positions\[1\]: "):
        tarn.minimise(collapsed, model="tip3p")
    broken = water.copy()
    broken[2, 0, 0] = np.nan
    for model in ("tip3p", "spcfw"):
        with pytest.raises(tarn.InputError, match=r"positions\[2\]"):
            tarn.minimise(broken, model=model)


def test_sections_without_keys_are_added(program):
    assert "[observe.final]" in tarn.Ensemble(HEPTAMER, set={"observe.final": {}}).deck
    two = tarn.run(
        HEPTAMER, out="b", unset="observe",
        set={"observe.energies": {"every": 25}, "run": {"steps": 50, "equilibration_ps": 0}},
    )  # fmt: skip
    assert list(np.unique(two.table("energies")["step"])) == [0, 25, 50]
    Path("deck.toml").write_text("[system]\nmolecules = 1\n[run]\nsteps = 1\n")
    for change in ("observe.final={}", "observe={final={}}"):
        text = program("check", "deck.toml", "--set", change).stdout
        assert "[observe.final]" in text
    with pytest.raises(tarn.DeckError, match="unknown section"):
        tarn.run(HEPTAMER, set={"observe.finale": {}})
    with pytest.raises(tarn.DeckError, match="unknown key"):
        tarn.run(HEPTAMER, set={"observe.final": {"no": 1}})
    with pytest.raises(tarn.InputError, match="set = 3; expected a dictionary"):
        tarn.run(HEPTAMER, set=3)


def test_texts_with_any_characters():
    with pytest.raises(tarn.DeckError, match="unknown section"):
        tarn.run({**HEPTAMER, "a b\n": {"x": 1}})
    for text in ('a"b', "a\\b", "a\rb\x01", "é"):
        with pytest.raises(tarn.DeckError) as caught:
            tarn.run(with_changes(HEPTAMER, system={"model": text}))
        assert [p.key for p in caught.value.problems] == ["system.model"]


def test_structures_that_nobody_could_read_are_not_written():
    water = tarn.random_cluster(2)
    broken = water.copy()
    broken[4, 1] = np.inf
    with pytest.raises(tarn.InputError, match=r"positions_A\[4, 1\] = inf; expected finite numbers"):
        tarn.write_structure("a.xyz", broken)
    with pytest.raises(tarn.InputError, match=r"velocities_A_per_ps\[4, 1\] = inf"):
        tarn.write_structure("a.xyz", water, velocities_A_per_ps=broken)
    for model in ("a\nb", "a b", 'a"', "a=b", "a\0"):
        with pytest.raises(tarn.InputError, match="model = "):
            tarn.write_structure("a.xyz", water, model=model)
    assert not Path("a.xyz").exists()
