"""Errors: classes, words and places."""

from __future__ import annotations

import pickle
from pathlib import Path

import numpy as np
import pytest
from conftest import HEPTAMER, with_changes

import tarn

BAD = """[system]
modle = "tip3p"
molecules = 7
[integrator]
scheme = "settle"
omega = 100.0
timestep_fs = -1.0
[run]
steps = 10
"""


def test_all_problems_of_a_deck_with_line_key_and_advice():
    Path("bad.toml").write_text(BAD)
    with pytest.raises(tarn.DeckError) as caught:
        tarn.run("bad.toml")
    problems = caught.value.problems
    assert [(p.line, p.key) for p in problems[:3]] == [
        (2, "system.modle"), (6, "integrator.omega"), (7, "integrator.timestep_fs"),
    ]  # fmt: skip
    assert problems[0].file == "bad.toml" and problems[0].column == 1
    assert problems[0].advice == 'did you mean "model"?'
    assert problems[1].advice.startswith("it requires")
    assert str(caught.value).startswith('bad.toml:2:1: unknown key "modle" in [system]')


def test_the_words_are_those_of_the_program(program):
    Path("bad.toml").write_text(BAD)
    with pytest.raises(tarn.DeckError) as ours:
        tarn.run("bad.toml")
    with pytest.raises(Exception) as theirs:
        program("check", "bad.toml")
    assert theirs.value.stderr == f"tarn: {ours.value}\n"


def test_problems_of_a_dictionary_name_the_key():
    with pytest.raises(tarn.DeckError) as caught:
        tarn.run(with_changes(HEPTAMER, system={"model": "tip3q"}))
    (problem,) = caught.value.problems
    assert problem.key == "system.model" and "tip3p" in problem.message


def test_values_that_toml_cannot_have():
    with pytest.raises(tarn.DeckError, match="is not a number, text, bool or list") as caught:
        tarn.run(with_changes(HEPTAMER, system={"seed": None}))
    (problem,) = caught.value.problems
    assert problem.key == "system.seed" and "leave out the key" in problem.advice
    with pytest.raises(tarn.DeckError, match="run.steps = {1}"):
        tarn.run(HEPTAMER, set={"run.steps": {1}})


def test_missing_deck():
    with pytest.raises(tarn.FileError, match="missing.toml: there is no such deck") as caught:
        tarn.run("missing.toml")
    assert type(pickle.loads(pickle.dumps(caught.value))) is tarn.MissingFileError
    with pytest.raises(FileNotFoundError, match="missing.xyz"):
        tarn.read_structure("missing.xyz")
    with pytest.raises(FileNotFoundError, match="missing.xyz"):
        tarn.rdf("missing.xyz")
    Path("folder.xyz").mkdir()
    with pytest.raises(tarn.FileError) as caught:
        tarn.read_structure("folder.xyz")
    assert not isinstance(caught.value, FileNotFoundError)


def test_kinds_are_also_those_of_python():
    assert issubclass(tarn.DeckError, tarn.InputError)
    for kind, standard in [
        (tarn.InputError, ValueError), (tarn.NumericalError, ArithmeticError),
        (tarn.FileError, OSError), (tarn.DeviceError, RuntimeError),
        (tarn.MissingFileError, FileNotFoundError),
    ]:  # fmt: skip
        assert issubclass(kind, tarn.TarnError) and issubclass(kind, standard)


def test_public_classes_are_named_as_they_are_imported():
    classes = [getattr(tarn, name) for name in tarn.__all__]
    assert {c.__module__ for c in classes if isinstance(c, type)} == {"tarn"}


def test_errors_can_be_pickled():
    Path("bad.toml").write_text(BAD)
    with pytest.raises(tarn.DeckError) as caught:
        tarn.run("bad.toml")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert str(copy) == str(caught.value) and copy.problems == caught.value.problems


def test_structure_files_name_the_line():
    Path("broken.xyz").write_text("3\n\nO 0 0 0\nH 1 0 x\nH 0 1 0\n")
    with pytest.raises(tarn.InputError) as caught:
        tarn.read_structure("broken.xyz")
    assert (caught.value.problems[0].file, caught.value.problems[0].line) == ("broken.xyz", 4)


@pytest.mark.parametrize("shape", [(9,), (3, 2), (4, 3), (0, 3), (2, 7, 3), (2, 2, 3, 3)])
@pytest.mark.parametrize("function", [tarn.energy_and_forces, tarn.minimise, tarn.dipole_moments])
def test_wrong_shapes_name_the_expected_one(function, shape):
    text = ", ".join(map(str, shape)) + ("," if len(shape) == 1 else "")
    with pytest.raises(tarn.InputError) as caught:
        function(np.zeros(shape), model="tip3p")
    assert f"has the shape ({text}); expected (replica, atom, 3)" in str(caught.value)


def test_arguments_are_named_once():
    from tarn import _errors

    error = tarn.InputError("use --resume")
    for _ in range(2):
        _errors.name_arguments(error)
    assert str(error) == "use --resume (In Python: resume=True)"


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda x: tarn.random_cluster(3, seed=-1), "random_cluster: seed = -1; expected 0 or more"),
        (lambda x: tarn.random_cluster(2**40), "molecules = .*; expected at most 2147483647"),
        (lambda x: tarn.energy_and_forces(x, threads=2**40, model="tip3p"), "threads = .*; expected at most 21474"),
        (lambda x: tarn.rdf(x[:0].reshape(0, 3, 3)), "no frames or no replicas"),
        (lambda x: tarn.random_cluster(3.0), "molecules = 3.0; expected an integer"),
        (lambda x: tarn.minimise(x, max_iterations=1e4, model="tip3p"), "max_iterations = 10000.0; expected an int"),
        (lambda x: tarn.energy_and_forces(x, threads="2", model="tip3p"), "threads = '2'; expected an integer"),
        (lambda x: tarn.energy_and_forces(x, device=0, model="tip3p"), "device = 0; expected a str"),
        (lambda x: tarn.energy_and_forces(x, model=4), "model = 4; expected a name in tarn.models"),
        (lambda x: tarn.normal_modes(x, model=None), "model = None; expected a name"),
        (lambda x: tarn.normal_modes(x, omega="a", model="tip3p"), "omega = 'a'; expected a number"),
        (lambda x: tarn.run(HEPTAMER, device=0), "run: device = 0; expected a str"),
        (lambda x: tarn.Ensemble(HEPTAMER, threads=1.5), "threads = 1.5; expected an integer"),
        (lambda x: tarn.run(HEPTAMER, unset=3), "unset = 3; expected a name or a list of names"),
        (lambda x: tarn.rdf(x, skip=-1), "rdf: skip = -1; expected 0 or more"),
        (lambda x: tarn.rdf(x, every=0), "rdf: every = 0; expected 1 or more"),
        (lambda x: tarn.rdf(x[None], skip=1), "no frame is left: skip = 1 of 1 frames"),
        (lambda x: tarn.rdf(x[None, None], replicas=[1]), r"replicas = \[1\]; there are 1 replicas"),
        (lambda x: tarn.rdf(x[None], replicas=range(2)), r"shape \(1, 3, 3\); expected \(frame, rep"),
        (lambda x: tarn.rdf("a.xyz", every=2.0), "every = 2.0; expected an integer"),
        (lambda x: tarn.energy_and_forces("text", model="tip3p"), "is not an array of numbers"),
        (lambda x: tarn.energy_and_forces([[1, 2], [3]], model="tip3p"), "is not an array of numbers"),
        (lambda x: tarn.energy_and_forces({"a": 1}, model="tip3p"), "is not an array of numbers"),
        (lambda x: tarn.energy_and_forces(np.ma.masked_less(x, -1e9), model="tip3p"), "is a masked array"),
        (lambda x: tarn.energy_and_forces(x, model="tip3"), r"unknown water model 'tip3' \(did you mean 'tip3p'"),
        (lambda x: tarn.minimise([x, x + np.diag([0, 1, 0])], model="tip3p"), r"positions\[1\]"),
        (lambda x: tarn.normal_modes([x, x], model="tip3p"), r"shape \(2, 3, 3\); expected \(atom, 3\)"),
        (lambda x: tarn.write_structure("a.xyz", [x, x]), r"expected \(atom, 3\)"),
        (lambda x: tarn.write_structure("a.xyz", x, velocities_A_per_ps=np.zeros((6, 3))), "velocities_A_per_ps must have"),
        (lambda x: tarn.rdf(x), r"expected \(frame, replica, atom, 3\)"),
        (lambda x: tarn.rdf(x[None], pairs=["XX"]), "unknown pair 'XX'; use OO, OH or HH"),
        (lambda x: tarn.rdf(x[None], bin_width_A=0.7), "not a multiple of the bin width"),
        (lambda x: tarn.run(HEPTAMER, device="gpu"), "unknown device 'gpu'"),
        (lambda x: tarn.minimise(x, model="tip3p", device="gpu"), "unknown device 'gpu'"),
        (lambda x: tarn.run(HEPTAMER, progress=3), "progress is 3; use True, False or a function"),
        (lambda x: tarn.run(HEPTAMER, observers=[lambda frame: 0]), "decorated with tarn.observer"),
        (lambda x: tarn.random_cluster(2, replicas=0), "replicas = 0; expected 1 or more"),
        (lambda x: tarn.random_cluster(0), "molecules = 0; expected 1 or more"),
    ],
)
def test_wrong_arguments_are_refused_by_name(call, message):
    with pytest.raises(tarn.InputError, match=message):
        call(tarn.random_cluster(1))
