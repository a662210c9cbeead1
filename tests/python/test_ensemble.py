"""tarn.Ensemble: steps, views and their lifetimes, checkpoints, threads."""

from __future__ import annotations

import gc
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import DIMERS, HEPTAMER, advanced, at_temperatures, run_in_threads, with_changes

import tarn


def test_attributes():
    with tarn.Ensemble(HEPTAMER, threads=1) as e:
        assert (e.replicas, e.molecules, e.beads, e.step) == (3, 7, 1, 0)
        e.advance(100)
        assert e.step == 100 and e.time_ps == pytest.approx(0.2)
        assert e.positions_A.shape == e.velocities_A_per_ps.shape == (3, 21, 3)
        assert e.positions_A.dtype == np.float64
        assert e.energies["potential_kcal_per_mol"].shape == (3,)
        assert np.all(e.energies["potential_kcal_per_mol"] < 0)
        assert e.replica_ids.tolist() == [0, 1, 2]
        assert e.blow_ups == () and e.notes == []
        assert e.device.startswith("CPU") and "[thermostat]" in e.deck
        assert repr(e) == "<tarn.Ensemble: 3 x 7 molecules, step 100>"
    assert repr(e) == "<tarn.Ensemble, closed>"


def test_the_state_is_that_of_a_run():
    """The numbers of an ensemble are those of the tables of a run, bit by bit."""
    table = tarn.run(HEPTAMER, out="a").table("energies")
    e = advanced(400)
    last = table[table["step"] == 400]
    for ours, theirs in [("potential_kcal_per_mol",) * 2, ("kinetic_kcal_per_mol",) * 2]:
        assert e.energies[ours].tolist() == last[theirs].tolist()


def test_velocities_are_per_picosecond():
    e = tarn.Ensemble(HEPTAMER, unset=["thermostat"], set={"system.temperature_K": 100})
    before = e.positions_A
    v = e.velocities_A_per_ps
    e.advance(1)
    moved = (e.positions_A - before) / 0.002
    # x(h) - x(0) = h v + O(h^2 a): accelerations of some 1e3 A/ps^2 give 2 A/ps at most.
    assert np.abs(moved - v).max() < 0.15 * np.abs(v).max()


def test_beads():
    e = advanced(20, {**DIMERS, "path_integral": {"beads": 8}})
    assert e.beads == 8 and e.positions_A.shape == (3, 8, 6, 3)
    assert e.velocities_A_per_ps.shape == (3, 6, 3)
    spread = e.positions_A.std(axis=1)
    assert np.all(spread > 0)


def test_resonances_of_the_exact_flow_are_noted():
    deck = {
        "system": {"model": "qtip4pf", "molecules": 1},
        "thermostat": {"temperature_K": 300.0, "friction_per_ps": 2.0},
        "path_integral": {"beads": 128, "free_ring": "exact", "frequencies": "trotter"},
    }
    assert any("resonates" in text for text in tarn.Ensemble(deck).warnings)
    cayley = tarn.Ensemble(deck, set={"path_integral.free_ring": "cayley"})
    assert not any("resonates" in text for text in cayley.warnings)
    result = tarn.run(deck, out="rings", set={"run.steps": 2})
    assert any("resonates" in text for text in result.warnings)


def test_parts_equal_the_whole():
    """Law 1, through the module."""
    parts = tarn.Ensemble(HEPTAMER)
    for steps in (1, 36, 0, 100):
        parts.advance(steps)
    assert np.array_equal(advanced(137).positions_A, parts.positions_A)


def test_views_are_read_only_and_do_not_change():
    e = tarn.Ensemble(HEPTAMER)
    view = e.positions_A
    copy = view.copy()
    with pytest.raises(ValueError):
        view[0, 0, 0] = 1.0
    with pytest.raises(ValueError):
        view.flags.writeable = True
    energies = e.energies["total_kcal_per_mol"]
    energies_then = energies.copy()
    for _ in range(5):
        e.advance(10)
        e.positions_A, e.energies
    assert np.array_equal(view, copy) and np.array_equal(energies, energies_then)
    assert not np.array_equal(e.positions_A, copy)


def test_reads_share_their_memory():
    e = tarn.Ensemble(HEPTAMER)
    assert np.shares_memory(e.positions_A, e.positions_A)
    # The memory is used again only without views.
    address = e.positions_A.ctypes.data
    e.advance(1)
    assert e.positions_A.ctypes.data == address
    part = e.positions_A[0, ::3]  # a view of a view
    kept = part.copy()
    e.advance(1)
    assert e.positions_A.ctypes.data != address
    assert np.array_equal(part, kept)


def test_views_outlive_their_ensemble():
    e = tarn.Ensemble(HEPTAMER)
    view, energies = e.positions_A, e.energies
    copy = view.copy()
    e.close()
    assert np.array_equal(view, copy)
    del e
    gc.collect()
    tarn.Ensemble(HEPTAMER).advance(10)
    assert np.array_equal(view, copy) and energies.shape == (3,)


def test_a_closed_ensemble_refuses():
    e = tarn.Ensemble(HEPTAMER)
    e.close()
    e.close()
    for use in (lambda: e.step, lambda: e.advance(1), lambda: e.positions_A):
        with pytest.raises(tarn.InputError, match="the ensemble is closed"):
            use()


def test_steps_are_not_negative():
    e = tarn.Ensemble(HEPTAMER)
    with pytest.raises(tarn.InputError, match="-1 steps; expected 0 or more"):
        e.advance(-1)
    for steps in (1e3, "1", None):
        with pytest.raises(tarn.InputError, match=f"advance: steps = {steps!r}; expected an int"):
            e.advance(steps)
    with pytest.raises(tarn.InputError, match="an integer of 64 bits"):
        e.advance(10**30)
    e.advance(np.int32(1))
    assert e.step == 1


@pytest.mark.parametrize(
    ("deck", "message"),
    [
        (at_temperatures({**HEPTAMER, "exchange": {"every": 10}}, [50, 60, 70]),
         "does not exchange replicas"),
        ({"system": {"kind": "double-pendulum"}}, "tarn-papers run"),
    ],
)  # fmt: skip
def test_decks_without_an_ensemble(deck, message):
    with pytest.raises(tarn.InputError, match=message):
        tarn.Ensemble(deck)


def test_checkpoints_continue_bit_by_bit():
    e = advanced(50)
    e.save("x.checkpoint")
    e.advance(50)
    again = tarn.Ensemble.load("x.checkpoint")
    assert type(again) is tarn.Ensemble and again.step == 50
    again.advance(50)
    assert np.array_equal(again.positions_A, e.positions_A)
    assert np.array_equal(again.velocities_A_per_ps, e.velocities_A_per_ps)


def test_the_folder_of_a_run_can_be_loaded():
    tarn.run(HEPTAMER, out="a")
    e = tarn.Ensemble.load("a")
    assert e.step == 400 and np.array_equal(e.positions_A, advanced(400).positions_A)


def test_a_run_starts_from_a_checkpoint():
    e = advanced(50)
    e.save("x.checkpoint")
    deck = with_changes(HEPTAMER, system={"state": "x.checkpoint", "seed": 6})
    del deck["system"]["file"]
    first = tarn.run(deck, out="a").table("energies")
    assert first["potential_kcal_per_mol"][0] == e.energies["potential_kcal_per_mol"][0]


def test_missing_checkpoints():
    with pytest.raises(tarn.InputError, match="no run and no checkpoint"):
        tarn.Ensemble.load("none.checkpoint")
    with pytest.raises(tarn.FileError):
        tarn.Ensemble(HEPTAMER).save("no/such/folder/x.checkpoint")


def test_stopped_replicas_leave_the_arrays():
    deck = with_changes(HEPTAMER, integrator={"timestep_fs": 12.0}, system={"replicas": 16})
    e = tarn.Ensemble(at_temperatures(deck, [10] * 15 + [3000]))
    for _ in range(50):
        e.advance(200)
        if e.blow_ups:
            break
    stopped = [b.replica for b in e.blow_ups]
    assert stopped and len(stopped) < 16
    running = [r for r in range(16) if r not in stopped]
    assert e.replica_ids.tolist() == running and len(e.positions_A) == len(running)
    assert "blew up" in e.blow_ups[0].text
    e.save("x.checkpoint")
    again = tarn.Ensemble.load("x.checkpoint")
    assert [b.replica for b in again.blow_ups] == stopped
    assert again.replica_ids.tolist() == running


def test_an_ensemble_without_replicas_does_not_advance():
    deck = with_changes(HEPTAMER, integrator={"timestep_fs": 30.0})
    e = tarn.Ensemble(deck)
    with pytest.raises(tarn.NumericalError, match="no replica is left. The first blow-up: .*blew"):
        for _ in range(3000):
            e.advance(1)
    assert len(e.blow_ups) == 3 and len(e.positions_A) == 0
    with pytest.raises(tarn.NumericalError, match="no replica is left"):
        e.advance(100)


def test_device_and_threads_are_those_of_the_deck():
    cuda = with_changes(HEPTAMER, run={"device": "cuda"})
    with pytest.raises(tarn.DeviceError, match="device 'cuda'"):
        tarn.Ensemble(cuda)
    assert "1 thread" in tarn.Ensemble(cuda, device="cpu", threads=1).device
    assert "1 thread" in tarn.Ensemble(with_changes(HEPTAMER, run={"threads": 1})).device
    two = tarn.Ensemble(with_changes(HEPTAMER, run={"threads": 1}), threads=2)
    assert "2 threads" in two.device
    two.save("x.checkpoint")
    assert "1 thread" in tarn.Ensemble.load("x.checkpoint", threads=1).device
    assert tarn.Ensemble.load("x.checkpoint").step == 0


def test_the_length_of_the_deck_may_be_left_out():
    text = """
[system]
molecules = 2
[integrator]
scheme = "settle"
timestep_fs = 1.0
"""
    Path("a.toml").write_text(text)
    with pytest.raises(tarn.DeckError, match="run"):
        tarn.run("a.toml")
    assert tarn.Ensemble("a.toml").molecules == 2
    assert tarn.Ensemble("a.toml", set={"run.duration_ps": 2.0}).molecules == 2
    Path("b.toml").write_text(f"{text}[run]\nduration_ps = 1.0\n")
    assert tarn.Ensemble("b.toml", set={"run.duration_ps": 2.0}).molecules == 2
    with pytest.raises(tarn.DeckError, match="run = None is not a number") as caught:
        tarn.Ensemble({**HEPTAMER, "run": None})
    assert caught.value.problems[0].key == "run"


def test_frames():
    e = tarn.Ensemble(HEPTAMER)
    frames = list(e.frames(steps=100, every=30))
    assert [f.step for f in frames] == [30, 60, 90] and e.step == 100
    other = tarn.Ensemble(HEPTAMER)
    for frame in frames:
        other.advance(30)
        assert np.array_equal(frame.positions_A, other.positions_A)
        assert frame.time_ps == other.time_ps


def test_wrong_arguments_of_frames_are_refused_by_name():
    e = tarn.Ensemble(HEPTAMER)
    for arguments, message in [
        ((-5, 10), "frames: steps = -5; expected 0 or more"),
        ((10, 0), "frames: every = 0; expected 1 or more"),
        ((10, 2.0), "frames: every = 2.0; expected an integer"),
    ]:
        with pytest.raises(tarn.InputError, match=message):
            e.frames(*arguments)
    with pytest.raises(tarn.InputError, match="unknown field 'blow_ups'; use positions_A, "):
        e.frames(10, 5, fields=["blow_ups"])
    assert e.step == 0
    assert [frame.energies.shape for frame in e.frames(10, 5, fields="energies")] == [(3,), (3,)]


def test_frames_take_other_arrays_while_they_can():
    e = tarn.Ensemble(HEPTAMER)
    for frame in e.frames(steps=20, every=10):
        assert np.array_equal(frame.energies, e.energies)
    frame.velocities_A_per_ps
    e.advance(1)
    assert frame.energies.shape == (3,) and frame.velocities_A_per_ps.shape == (3, 21, 3)
    first, _ = e.frames(steps=20, every=10, fields=["energies"])
    assert first.energies.shape == (3,)
    with pytest.raises(tarn.InputError, match="positions_A of step .* was not taken"):
        first.positions_A
    with pytest.raises(tarn.InputError, match="every = 0"):
        e.frames(10, 0)


def test_two_ensembles_in_two_threads():
    alone = advanced(3000, threads=1)
    results = []

    def work() -> None:
        e = tarn.Ensemble(HEPTAMER, threads=1)
        for _ in range(30):
            e.advance(100)
            e.positions_A
        results.append(e.positions_A)

    run_in_threads(work, work)
    for positions in results:
        assert np.array_equal(positions, alone.positions_A)
    assert len(results) == 2


def test_one_ensemble_in_two_threads_takes_turns():
    shared = tarn.Ensemble(HEPTAMER, threads=1)

    def work() -> None:
        for _ in range(100):
            shared.advance(10)
            shared.positions_A.sum()

    run_in_threads(work, work)
    alone = advanced(2000, threads=1)
    assert shared.step == 2000 and np.array_equal(shared.positions_A, alone.positions_A)


def test_constants_and_steps_are_read_while_another_thread_advances():
    e = tarn.Ensemble(HEPTAMER, threads=1)
    constants = [e.molecules, e.beads, e.replicas, e.device, e.notes, e.is_open]
    seen = []
    thread = threading.Thread(target=lambda: e.advance(200_000))
    thread.start()
    while thread.is_alive():
        assert [e.molecules, e.beads, e.replicas, e.device, e.notes, e.is_open] == constants
        step, time_ps, text = e.step, e.time_ps, repr(e)
        assert step * 0.002 <= time_ps * (1 + 1e-15) and "7 molecules" in text
        seen.append(step)
        time.sleep(0.001)
    # A read that waits for the other thread sees no step between the first and the last.
    assert seen == sorted(seen) and any(0 < step < 200_000 for step in seen)
    assert e.step == 200_000 and e.time_ps == pytest.approx(400.0)


def test_the_lock_of_the_interpreter_is_released():
    """Another thread counts while an ensemble advances for a while."""
    e = advanced(10, with_changes(HEPTAMER, system={"replicas": 64}), threads=1)
    ticks = 0
    done = threading.Event()

    def tick() -> None:
        nonlocal ticks
        while not done.is_set():
            ticks += 1
            time.sleep(0.001)

    thread = threading.Thread(target=tick)
    thread.start()
    most = 0
    for _ in range(50):  # on a busy machine the other thread may not run at all during some
        before = ticks
        e.advance(2000)
        most = max(most, ticks - before)
        if most >= 5:
            break
    done.set()
    thread.join()
    # With the lock held, there would be one or two per advance() of tens of milliseconds.
    assert most >= 5
