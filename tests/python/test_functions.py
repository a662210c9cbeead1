"""Functions on clusters and files."""

from __future__ import annotations

import json
import pickle
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import numpy as np
import pytest
from conftest import HEPTAMER, Exported, run_in_threads

import tarn

@pytest.mark.parametrize("model", ["tip3p", "tip4p", "qtip4pf"])
@pytest.mark.parametrize("molecules", [1, 7, 15])
def test_a_cluster_is_the_same_in_any_batch_and_with_any_threads(model, molecules):
    water = tarn.random_cluster(molecules, model=model, replicas=37)
    energies, forces = tarn.energy_and_forces(water, model=model)
    assert energies.shape == (37,) and forces.shape == water.shape
    for threads in (1, 2, 3):
        e, f = tarn.energy_and_forces(water, model=model, threads=threads)
        assert np.array_equal(e, energies) and np.array_equal(f, forces)
    for r in (0, 5, 36):
        e, f = tarn.energy_and_forces(water[r], model=model)
        assert isinstance(e, float) and e == energies[r] and np.array_equal(f, forces[r])


def test_results_are_new_arrays_and_an_empty_batch_has_none():
    water = tarn.random_cluster(7)
    _, forces = tarn.energy_and_forces(water, model="tip3p")
    before = forces.copy()
    _, others = tarn.energy_and_forces(1.1 * water, model="tip3p")
    assert np.array_equal(forces, before) and not np.array_equal(others, before)
    assert forces.flags.writeable and forces.flags.c_contiguous and forces.dtype == np.float64
    energies, forces = tarn.energy_and_forces(np.empty((0, 21, 3)), model="tip3p")
    assert energies.shape == (0,) and forces.shape == (0, 21, 3)


def test_the_program_gives_the_same_energy(program):
    water = tarn.random_cluster(7)
    tarn.write_structure("a.xyz", water, model="tip3p")
    theirs = json.loads(program("energy", "a.xyz").stdout)
    ours, forces = tarn.energy_and_forces(tarn.read_structure("a.xyz").positions_A, model="tip3p")
    # Another order of the sums.
    assert ours == pytest.approx(theirs["potential_kcal_per_mol"], rel=1e-13)
    assert np.abs(forces - theirs["forces_kcal_per_mol_A"]).max() < 1e-11 * np.abs(forces).max()


@pytest.mark.parametrize(("unit", "factor"), [("bohr", 1 / 0.529177), ("nm", 0.1)])
def test_positions_in_another_unit_are_refused(unit, factor):
    water = factor * tarn.random_cluster(3, replicas=2)
    for call in (
        lambda: tarn.energy_and_forces(water, model="tip3p"),
        lambda: tarn.energy_and_forces(water[0], model="tip3p"),
        lambda: tarn.dipole_moments(water, model="tip3p"),
        lambda: tarn.minimise(water, model="tip3p"),
        lambda: tarn.normal_modes(water[0], model="tip3p"),
        lambda: tarn.rdf(water[:, None]),
        lambda: tarn.write_structure("a.xyz", water[0]),
    ):
        with pytest.raises(tarn.InputError, match=f"this looks like {unit}"):
            call()
    # A scan of the bonds of one molecule passes through the same lengths.
    tarn.energy_and_forces(factor * tarn.random_cluster(1, model="qtip4pf"), model="qtip4pf")


def test_stretched_molecules_are_minimised_with_a_flexible_model():
    water = tarn.random_cluster(2, replicas=3, model="qtip4pf")
    water[1, 1] = water[1, 0] + 1.4 * (water[1, 1] - water[1, 0])
    minima = tarn.minimise(water, model="qtip4pf")
    assert minima.converged.all() and (minima.energy_kcal_per_mol < -3).all()
    water[2, 4] = water[2, 3] + 1.4 * (water[2, 4] - water[2, 3])
    # All replicas that a rigid model refuses are named.
    with pytest.raises(tarn.InputError, match=r"(?s)positions\[1\].*positions\[2\]"):
        tarn.minimise(water, model="tip4p")


def test_arrays_in_c_order_are_not_copied_and_others_are_converted():
    water = tarn.random_cluster(3, replicas=4)
    expected = tarn.energy_and_forces(water, model="tip3p")[0]
    packed = np.zeros((4, 9), np.dtype([("element", "S1"), ("x", "f8", 3)]))  # as records
    packed["x"] = water
    assert not packed["x"].flags.aligned
    others = [
        np.asfortranarray(water), water[::-1][::-1], np.repeat(water, 2, axis=0)[::2],
        water.tolist(), list(water), packed["x"], water.astype(">f8"), water.astype(object),
        water.astype(np.longdouble), Exported(water),
    ]  # fmt: skip
    for other in others:
        assert np.array_equal(tarn.energy_and_forces(other, model="tip3p")[0], expected)
    read_only = water.copy()
    read_only.flags.writeable = False
    assert np.array_equal(tarn.energy_and_forces(read_only, model="tip3p")[0], expected)
    single = tarn.energy_and_forces(water.astype(np.float32), model="tip3p")[0]
    assert not np.array_equal(single, expected) and single == pytest.approx(expected, rel=1e-4)
    whole = tarn.energy_and_forces(np.round(1000 * water).astype(np.int64), model="tip3p")[0]
    assert whole.shape == (4,)


def test_large_arrays_are_read_in_place():
    import resource

    water = np.tile(tarn.random_cluster(64), (20_000, 1, 1))  # 92 MB
    tarn.dipole_moments(water[:10], model="tip3p")
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    tarn.dipole_moments(water, model="tip3p")
    grown_kB = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    assert grown_kB < 0.2 * water.nbytes / 1024


def test_torch_tensors():
    torch = pytest.importorskip("torch")
    water = tarn.random_cluster(3, replicas=4)
    expected = tarn.energy_and_forces(water, model="tip3p")[0]
    assert np.array_equal(tarn.energy_and_forces(torch.from_numpy(water), model="tip3p")[0], expected)


def test_two_threads_compute_at_once():
    water = tarn.random_cluster(7, replicas=300)
    expected = tarn.energy_and_forces(water, model="tip3p")
    failures = []

    def work() -> None:
        for _ in range(20):
            e, f = tarn.energy_and_forces(water, threads=1, model="tip3p")
            if not (np.array_equal(e, expected[0]) and np.array_equal(f, expected[1])):
                failures.append(1)

    run_in_threads(*[work] * 4)
    assert not failures


def test_dipole_moments():
    water = tarn.random_cluster(4, replicas=3)
    charges = np.tile([-0.834, 0.417, 0.417], 4)
    expected = np.einsum("a,rak->rk", charges, water)
    assert tarn.dipole_moments(water, model="tip3p") == pytest.approx(expected, abs=1e-13)
    assert tarn.dipole_moments(water[0], model="tip3p").shape == (3,)


def test_minima():
    water = tarn.random_cluster(6, replicas=5)
    given = water.copy()
    minima = tarn.minimise(water, model="tip3p")
    assert np.array_equal(water, given)
    assert minima.positions_A.shape == water.shape and minima.converged.all()
    energies, _ = tarn.energy_and_forces(minima.positions_A, model="tip3p")
    assert energies == pytest.approx(minima.energy_kcal_per_mol, abs=1e-10)
    assert np.all(energies < tarn.energy_and_forces(water, model="tip3p")[0])
    one = tarn.minimise(water[2], threads=1, model="tip3p")
    assert one.converged is True and isinstance(one.energy_kcal_per_mol, float)
    assert np.array_equal(one.positions_A, minima.positions_A[2])
    few = tarn.minimise(water[2], max_iterations=3, model="tip3p")
    assert few.converged is False and few.iterations == 3
    flexible = tarn.minimise(tarn.random_cluster(2, model="spcfw"), model="spcfw")
    _, forces = tarn.energy_and_forces(flexible.positions_A, model="spcfw")
    assert np.abs(forces).max() < 2e-6


def test_modes():
    water = tarn.minimise(tarn.random_cluster(3), model="tip3p").positions_A
    modes = tarn.normal_modes(water, model="tip3p")
    assert modes.is_stationary and modes.imaginary == 0
    assert modes.wavenumbers_per_cm.shape == (18,) and modes.displacements_per_sqrt_Da.shape == (18, 9, 3)
    assert np.sum(np.abs(modes.wavenumbers_per_cm) < 1e-6) == 6
    assert modes.translation + modes.rotation + modes.vibration == pytest.approx(np.ones(18))
    half_quantum = 0.5 * 2.859144e-3  # kcal/mol cm
    assert modes.zero_point_energy_kcal_per_mol == pytest.approx(
        half_quantum * modes.wavenumbers_per_cm.sum(), rel=1e-6
    )
    flexible = tarn.minimise(tarn.random_cluster(1, model="qtip4pf"), model="qtip4pf").positions_A
    stretch = tarn.normal_modes(flexible, model="qtip4pf").wavenumbers_per_cm[-1]
    assert 3500 < stretch < 4000
    assert len(tarn.normal_modes(water, omega=100.0, model="tip3p").wavenumbers_per_cm) == 27


def test_rdf_of_a_run_and_of_its_frames():
    """The RDF of a trajectory, of its frames in memory and of the run are the same counts."""
    deck = {**HEPTAMER, "observe": {"rdf": {"every": 10}, "trajectory": {"every": 10}}}
    result = tarn.run(deck, out="a", set={"run.equilibration_ps": 0})
    of_run = result.table("rdf")
    files = sorted(result.out.glob("trajectory-*.xyz"))
    of_files = tarn.rdf(files)
    e = tarn.Ensemble(deck)
    frames = np.stack([e.positions_A, *(f.positions_A for f in e.frames(400, 10))])
    of_array = tarn.rdf(frames)
    assert of_files.columns == of_run.columns == of_array.columns
    for pair in ("OO", "OH", "HH"):
        assert np.array_equal(of_array[f"{pair}_count"], of_run[f"{pair}_count"])
        assert np.array_equal(of_files[f"{pair}_count"], of_run[f"{pair}_count"])
    assert np.array_equal(tarn.rdf(files[0])["OO_g"], tarn.rdf(str(files[0]))["OO_g"])


def test_rdf_selects_frames():
    frames = np.stack([tarn.random_cluster(4, replicas=3, seed=s) for s in range(6)])
    some = tarn.rdf(frames, skip=1, every=2, replicas=[0, 2], pairs=["OO"], r_max_A=9, bin_width_A=0.1)
    same = tarn.rdf(frames[1::2, [0, 2]], pairs=["OO"], r_max_A=9, bin_width_A=0.1)
    assert np.array_equal(some, same) and "OH_g" not in some.columns and len(some) == 90
    one = tarn.rdf(frames, pairs="OO", replicas=2)
    assert np.array_equal(one, tarn.rdf(frames[:, 2], pairs=["OO"])) and one["OO_count"].sum() == 6 * 6


def test_rdf_warns_of_a_truncated_file():
    water = tarn.random_cluster(3)
    for frame in range(2):
        tarn.write_structure(f"{frame}.xyz", water + frame)
    text = Path("0.xyz").read_text() + Path("1.xyz").read_text()
    Path("a.xyz").write_text(text[: -len(text) // 4])
    with pytest.warns(UserWarning, match="a.xyz"):
        tarn.rdf("a.xyz")


def test_random_clusters_depend_on_seed_and_replica_only():
    many = tarn.random_cluster(5, seed=2, replicas=4)
    assert many.shape == (4, 15, 3)
    assert np.array_equal(tarn.random_cluster(5, seed=2), many[0])
    assert np.array_equal(tarn.random_cluster(5, seed=2, replicas=2), many[:2])
    assert not np.array_equal(tarn.random_cluster(5, seed=3), many[0])


@pytest.mark.parametrize("extension", ["xyz", "gro", "pdb"])
def test_structures_are_written_and_read(extension):
    water = tarn.random_cluster(4)
    velocities = np.linspace(-1, 1, water.size).reshape(water.shape)
    tarn.write_structure(f"a.{extension}", water, model="tip4p", velocities_A_per_ps=velocities)
    back = tarn.read_structure(f"a.{extension}")
    digits = {"xyz": 1e-12, "gro": 5.1e-3, "pdb": 5.1e-4}[extension]
    assert np.abs(back.positions_A - water).max() < digits
    if extension == "xyz":
        assert back.model == "tip4p" and np.abs(back.velocities_A_per_ps - velocities).max() < 1e-12
    with pytest.raises(tarn.InputError):
        tarn.write_structure("a.unknown", water)


def test_frames_of_trajectories():
    deck = {**HEPTAMER, "observe": {"trajectory": {"every": 100}}}
    out = tarn.run(deck, out="a").out
    first = tarn.read_structure(out / "trajectory-0001.xyz")
    last = tarn.read_structure(out / "trajectory-0001.xyz", frame=4)
    assert any("5 frames" in note for note in first.notes)
    assert not np.array_equal(first.positions_A, last.positions_A)
    assert last.comment["step"] == "400"
    with pytest.raises(tarn.InputError):
        tarn.read_structure(out / "trajectory-0001.xyz", frame=5)


def test_models_and_devices():
    assert tarn.models["tip3p"].sites == 3 and tarn.models["qtip4pf"].is_flexible
    assert len(tarn.models) == 17
    cpu = tarn.devices()[0]
    assert cpu.name == "cpu" and cpu.threads >= 1 and cpu.description.startswith("CPU")
    with pytest.raises(TypeError):
        tarn.models["mine"] = tarn.models["tip3p"]


def test_compiled_functions_are_sent_to_other_processes():
    for function in (tarn.energy_and_forces, tarn.dipole_moments):
        assert pickle.loads(pickle.dumps(function)) is function
    batches = [tarn.random_cluster(3, seed=seed) for seed in (1, 2)]
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        energies = [energy for energy, _ in pool.map(partial(tarn.energy_and_forces, model="tip3p"), batches)]
    assert energies == [tarn.energy_and_forces(water, model="tip3p")[0] for water in batches]


@pytest.mark.parametrize(("model", "beads"), [("tip3p", 1), ("qtip4pf", 1), ("qtip4pf", 32)])
@pytest.mark.parametrize("wanted", [0.1, 0.3, 0.8])
def test_neighbours_of_a_ladder_exchange_as_often_as_wanted(model, beads, wanted):
    options = {"molecules": 8, "model": model, "acceptance": wanted, "beads": beads}
    ladder = tarn.temperature_ladder(150, 300, **options)
    temperatures_K, acceptances = ladder.temperatures_K, ladder.acceptances
    assert temperatures_K[0] == 150
    assert temperatures_K[-1] == 300
    assert len(acceptances) == len(temperatures_K) - 1
    assert (np.diff(temperatures_K) > 0).all()
    assert acceptances.min() >= wanted - 0.01  # intervals are found to 5 %
    # One temperature fewer would not be enough: with wider intervals the acceptance falls.
    wider = tarn.temperature_ladder(150, 300, **(options | {"acceptance": 0.8 * wanted}))
    assert len(wider.temperatures_K) <= len(temperatures_K)


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"lowest_K": 0}, "above 0 K"),
        ({"highest_K": 100}, "a higher one"),
        ({"acceptance": 1}, "below 1"),
        ({"acceptance": 0.999999, "molecules": 10**6}, "10 000 temperatures"),
        ({"molecules": 0}, "molecules = 0; expected 1 or more"),
    ],
)
def test_impossible_ladders_are_refused(changed, message):
    options = {"lowest_K": 150, "highest_K": 300, "molecules": 8, "model": "tip3p"} | changed
    with pytest.raises(tarn.InputError, match=message):
        tarn.temperature_ladder(**options)
