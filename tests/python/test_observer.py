"""Collective variables in Python: tables, averages, restarts, failures."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from conftest import HEPTAMER

import tarn


@tarn.observer(columns=["oo_longest_A", "potential_kcal_per_mol"], every=10,
               fields=["positions_A", "energies"])  # fmt: skip
def size(frame):
    """The largest oxygen-oxygen distance, and the energy."""
    oxygens = frame.positions_A[:, ::3]
    distances = np.linalg.norm(oxygens[:, :, None] - oxygens[:, None], axis=-1)
    return np.stack(
        [distances.max(axis=(1, 2)), frame.energies["potential_kcal_per_mol"]], axis=1
    )


def test_a_function_becomes_a_table():
    result = tarn.run(HEPTAMER, out="a", observers=[size])
    table, energies = result.table("size"), result.table("energies")
    assert table.columns == ("step", "time_ps", "replica", *size.columns)
    assert np.array_equal(table["potential_kcal_per_mol"], energies["potential_kcal_per_mol"])
    longest = result.averages["oo_longest_A"]
    assert longest.table == "size" and 4 < longest.mean < 12 and longest.error > 0
    ours, theirs = (
        result.averages[f"{name}.potential_kcal_per_mol"] for name in ("size", "energies")
    )
    assert (ours.mean, ours.error) == (theirs.mean, theirs.error)
    if result.pictures:
        assert (result.out / "size.svg").exists()


def test_tables_continue_after_a_restart():
    whole = tarn.run(HEPTAMER, out="whole", observers=[size])
    tarn.run(HEPTAMER, out="parts", observers=[size], set={"run.steps": 150})
    with pytest.raises(tarn.InputError, match="size"):
        tarn.run(HEPTAMER, out="parts", resume=True)
    parts = tarn.run(HEPTAMER, out="parts", observers=[size], resume=True)
    for file in ("size.csv", "averages.csv"):
        assert (parts.out / file).read_bytes() == (whole.out / file).read_bytes()


def counting():
    """An observer with a state: the number of its calls."""
    calls = [0]

    def save() -> bytes:
        return b"%d" % calls[0]

    def load(state: bytes) -> None:
        calls[0] = int(state)

    @tarn.observer(columns=["calls"], every=50, save=save, load=load)
    def count(frame):
        calls[0] += 1
        return np.full(len(frame.replica_ids), float(calls[0]))

    return count


def test_a_state_is_part_of_checkpoints():
    tarn.run(HEPTAMER, out="a", observers=[counting()], set={"run.steps": 150})
    result = tarn.run(HEPTAMER, out="a", observers=[counting()], resume=True)
    table = result.table("count")
    assert table["calls"][table["replica"] == 0].tolist() == list(range(1, 10))


def test_frames_can_be_kept():
    kept = []

    @tarn.observer(columns=["x_A"], every=100, fields=["positions_A", "velocities_A_per_ps"])
    def keep(frame):
        kept.append((frame.step, frame.time_ps, frame.positions_A, frame.velocities_A_per_ps))
        return frame.positions_A[:, 0, 0]

    tarn.run(HEPTAMER, out="a", observers=[keep])
    e = tarn.Ensemble(HEPTAMER)
    for step, time_ps, positions, velocities in kept:
        e.advance(step - e.step)
        assert time_ps == e.time_ps
        assert np.array_equal(positions, e.positions_A)
        assert np.array_equal(velocities, e.velocities_A_per_ps)
    assert len(kept) == 5


def test_an_exception_ends_the_run_and_arrives_unchanged():
    class Broken(Exception):
        pass

    error = Broken("no such thing")

    @tarn.observer(columns=["x_A"], every=50)
    def broken(frame):
        if frame.step == 200:
            raise error
        return frame.positions_A[:, 0, 0]

    with pytest.raises(Broken) as caught:
        tarn.run(HEPTAMER, out="a", observers=[broken])
    assert caught.value is error
    assert "no such thing" in (caught.value.__class__.__name__ + str(caught.value))

    @tarn.observer(columns=["x_A"], every=50, file="broken")
    def mended(frame):
        return frame.positions_A[:, 0, 0]

    result = tarn.run(HEPTAMER, out="a", observers=[mended], resume=True)
    assert result.table("broken")["step"].max() == 400


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (lambda n: np.zeros((n, 2)), r"array of shape \(3, 2\); expected \(3, 1\)"),
        (lambda n: np.zeros(n + 1), r"array of shape \(4\); expected \(3, 1\)"),
        (lambda n: 1.0, r"array of shape \(\); expected \(3, 1\)"),
        (lambda n: "text", "the result of an observer is not an array of numbers"),
        (lambda n: np.full(n, np.nan), r"not a number.*may_be_unknown=True of tarn\.observer"),
    ],
)
def test_wrong_results_are_refused(value, message):
    @tarn.observer(columns=["x_A"], every=50)
    def wrong(frame):
        return value(len(frame.replica_ids))

    with pytest.raises(tarn.TarnError, match=message):
        tarn.run(HEPTAMER, out="a", observers=[wrong])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"file": "a b"}, "invalid file name"),
        ({"file": "energies"}, "the run writes a file with this name"),
        ({"columns": []}, "it has no columns"),
        ({"columns": ["a", "a"]}, "exists twice"),
        ({"fields": ["forces"]}, "unknown field 'forces'; use positions_A"),
        ({"replicas": "some"}, 'use "all", "mean" or a number'),
        ({"save": bytes}, "give both save and load, or neither"),
        ({"steady": True, "may_be_unknown": True}, "mutually exclusive"),
    ],
)
def test_wrong_options_are_refused(options, message):
    wrong = tarn.observer(**{"columns": ["x_A"], **options})(lambda frame: None)
    if "file" not in options:
        wrong.file = "x"
    with pytest.raises(tarn.InputError, match=message):
        tarn.run(HEPTAMER, out="a", observers=[wrong])


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"every": 10.0}, "observer: every = 10.0; expected an integer"),
        ({"columns": 3}, "columns = 3; expected a name or a list of names"),
        ({"columns": ["x_A", 3]}, r"columns = \['x_A', 3\]; expected a name"),
        ({"file": 3}, "file = 3; expected a path"),
        ({"every": 0}, "observer: every = 0; expected 1 or more"),
        ({"every": True}, "every = True; expected an integer"),
        ({"steady": "no"}, "steady = 'no'; expected True or False"),
        ({"fields": None}, "fields = None; expected a name"),
        ({"replicas": 1.5}, "replicas = 1.5; expected an integer"),
        ({"save": b"abc"}, "save = b'abc'; expected a function"),
        ({"settings": 1}, "settings = 1; expected a str"),
    ],
)
def test_options_of_another_type_are_refused_by_name(options, message):
    with pytest.raises(tarn.InputError, match=message):
        tarn.observer(**{"columns": ["x_A"], **options})


def test_one_name_and_one_observer_need_no_list():
    @tarn.observer("total_kcal_per_mol", file=Path("one"), fields="energies", every=np.int64(50))
    def total(frame):
        return frame.energies["total_kcal_per_mol"]

    result = tarn.run(HEPTAMER, out="a", observers=total, unset="observe.rdf")
    assert result.table("one").columns[-1] == "total_kcal_per_mol"
    assert not (result.out / "rdf.csv").exists()
    with pytest.raises(tarn.InputError, match="decorated with tarn.observer"):
        tarn.run(HEPTAMER, out="b", observers=3)


def test_a_state_must_be_bytes():
    @tarn.observer(columns=["x_A"], every=50, save=lambda: "abc", load=print)
    def keep(frame):
        return frame.positions_A[:, 0, 0]

    with pytest.raises(tarn.InputError, match=r"'keep': save\(\) returned 'abc'; expected bytes"):
        tarn.run(HEPTAMER, out="a", observers=[keep])


def test_fields_that_were_not_asked_for():
    @tarn.observer(columns=["x_A"])
    def wrong(frame):
        return frame.energies["total_kcal_per_mol"]

    with pytest.raises(tarn.InputError, match="no energies; add it to fields"):
        tarn.run(HEPTAMER, out="a", observers=[wrong])


def test_unknown_values_and_selected_replicas():
    @tarn.observer(columns=["x_A"], every=10, may_be_unknown=True, replicas=2)
    def some(frame):
        x = frame.positions_A[:, 0, 0].copy()
        x[frame.step // 10 % 3 == 0] = np.nan
        return x

    @tarn.observer(columns=["y_A"], every=10, replicas="mean")
    def mean(frame):
        return frame.positions_A[:, 0, 1]

    result = tarn.run(HEPTAMER, out="a", observers=[some, mean])
    table = result.table("some")
    assert set(table["replica"]) == {0, 1}
    assert np.array_equal(np.isnan(table["x_A"]), table["step"] // 10 % 3 == 0)
    assert "y_A_err" in result.table("mean").columns
    assert result.averages["x_A"].samples > 0
