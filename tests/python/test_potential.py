"""Python functions and calculators of ASE as potentials."""

from __future__ import annotations

import functools
import gc
import json
import warnings
import weakref
from pathlib import Path

import numpy as np
import pytest
from conftest import DIMERS, HEPTAMER, Exported, advanced, interrupted, with_changes

import tarn

RINGS = {**DIMERS, "path_integral": {"beads": 4}}
#: What runs with a potential do.
AS_POTENTIAL = {"run.precision": "double", "system.relax": False}
BOTH = pytest.mark.parametrize("deck", [DIMERS, RINGS], ids=["classical", "rings"])


def qtip4pf(positions_A):
    """The model of tarn, through the package."""
    return tarn.energy_and_forces(positions_A, model="qtip4pf")


def positions_after(steps, deck=DIMERS, **options):
    return advanced(steps, deck, **options).positions_A


def named(function, name="own"):
    function.name = name
    return function


class Counted:
    """The model of tarn, with a function that is called before each call with its number."""

    name = "counted"

    def __init__(self, before=lambda call: None):
        self.calls = 0
        self.before = before

    def __call__(self, positions_A):
        self.calls += 1
        self.before(self.calls)
        return qtip4pf(positions_A)


def table_text(folder):
    return (Path(folder) / "energies.csv").read_text()


# --- results ---


@BOTH
def test_the_model_as_a_function_gives_its_trajectory(deck):
    with (
        tarn.Ensemble(deck, set=AS_POTENTIAL) as model,
        tarn.Ensemble(deck, potential=qtip4pf) as function,
    ):
        for _ in range(2):
            model.advance(50)
            function.advance(50)
        # The forces differ by the order of sums; 100 steps amplify that by some powers of ten.
        assert np.abs(model.positions_A - function.positions_A).max() < 1e-9
        ours, theirs = function.energies, model.energies
        whole = theirs["potential_kcal_per_mol"] + theirs["bond_kcal_per_mol"]
        assert np.allclose(ours["potential_kcal_per_mol"], whole, atol=1e-8)
        assert np.allclose(ours["total_kcal_per_mol"], theirs["total_kcal_per_mol"], atol=1e-8)
        assert np.all(ours["bond_kcal_per_mol"] == 0)


@BOTH
def test_threads_batches_and_restarts_do_not_change_a_bit(deck):
    whole = advanced(40, deck, potential=qtip4pf, threads=1)
    two = positions_after(40, deck, potential=qtip4pf, threads=2)
    assert np.array_equal(whole.positions_A, two)
    alone = positions_after(40, deck, potential=qtip4pf, set={"system.replicas": 1})
    assert np.array_equal(alone[0], whole.positions_A[0])
    first = advanced(13, deck, potential=qtip4pf)
    first.save("state")
    second = tarn.Ensemble.load("state", potential=qtip4pf)
    second.advance(27)
    assert np.array_equal(second.positions_A, whole.positions_A)
    assert np.array_equal(second.velocities_A_per_ps, whole.velocities_A_per_ps)


@BOTH
def test_one_call_per_step_for_all_images(deck):
    beads = deck.get("path_integral", {}).get("beads", 1)
    seen = []

    def potential(positions_A, image_ids):
        assert positions_A.flags.c_contiguous and not positions_A.flags.writeable
        assert positions_A.dtype == np.float64 and image_ids.dtype == np.int64
        seen.append((positions_A.shape, image_ids.tolist()))
        return qtip4pf(positions_A)

    tarn.run(deck, out="out", potential=potential)
    assert set(map(str, seen)) == {str(((3 * beads, 6, 3), list(range(3 * beads))))}
    assert len(seen) == 61


def test_rigid_molecules():
    def tip4p(positions_A):
        return tarn.energy_and_forces(positions_A, model="tip4p")

    deck = with_changes(HEPTAMER, system={"model": "tip4p"})
    del deck["system"]["file"]
    deck["system"]["molecules"] = 7
    function = positions_after(50, deck, potential=tip4p)
    assert np.abs(positions_after(50, deck) - function).max() < 1e-9


def test_the_record_and_the_tables_name_the_potential():
    tarn.run(DIMERS, out="out", potential=named(Counted(), "my water (v2)"))
    assert "my water (v2)" in json.loads(Path("out/run.json").read_text())["potential"]
    assert "my water (v2)" in table_text("out").splitlines()[0]


def test_names():
    def name_of(potential):
        return tarn._potential.function_of("run", potential).name

    assert name_of(qtip4pf) == f"{__name__}.qtip4pf"
    assert name_of(functools.partial(qtip4pf)) == f"{__name__}.qtip4pf"
    assert name_of(Counted()) == "counted"
    unnamed = Counted()
    unnamed.name = None
    assert name_of(unnamed) == f"{__name__}.Counted"
    for name in (3, "", "two\nlines"):
        unnamed.name = name
        with pytest.raises(tarn.InputError, match="potential: name = "):
            name_of(unnamed)


def test_units_of_ase():
    eV = 23.060547830619

    class Electronvolts:
        units = "ase"

        def __call__(self, positions_A):
            energies, forces = qtip4pf(positions_A)
            return energies / eV, forces / eV

    with tarn.Ensemble(DIMERS, potential=Electronvolts()) as e:
        expected, _ = qtip4pf(e.positions_A)
        assert np.allclose(e.energies["potential_kcal_per_mol"], expected, rtol=1e-12)
    other = Electronvolts()
    other.units = "eV"
    with pytest.raises(tarn.InputError, match="units = 'eV'; expected \"kcal/mol\", or \"ase\""):
        tarn.Ensemble(DIMERS, potential=other)


def test_compare_runs_all_numbers_of_beads_with_the_potential():
    counted = Counted()
    result = tarn.compare(
        RINGS, ["verlet"], out="out", beads=[2, 4], potential=counted, set={"run.steps": 20}
    )
    assert len(result.table("compare")) == 2 and counted.calls >= 2 * 21


def test_minima_of_the_model_as_a_function():
    x = tarn.random_cluster(3, model="qtip4pf", replicas=4)
    ours = tarn.minimise(x, model="qtip4pf", potential=qtip4pf)
    theirs = tarn.minimise(x, model="qtip4pf")
    assert np.all(ours.converged)
    assert np.allclose(ours.energy_kcal_per_mol, theirs.energy_kcal_per_mol, atol=1e-6)
    one = tarn.minimise(x[1], model="qtip4pf", potential=qtip4pf)
    assert np.array_equal(one.positions_A, ours.positions_A[1])


def test_normal_modes_of_the_model_as_a_function():
    x = tarn.minimise(tarn.random_cluster(2, model="qtip4pf"), model="qtip4pf").positions_A
    exact = tarn.normal_modes(x, model="qtip4pf")
    modes = functools.partial(tarn.normal_modes, x, model="qtip4pf", potential=qtip4pf)
    ours = modes()
    assert ours.energy_kcal_per_mol == pytest.approx(exact.energy_kcal_per_mol, rel=1e-12)
    assert np.abs(ours.wavenumbers_per_cm - exact.wavenumbers_per_cm).max() < 1
    assert np.all(np.isnan(ours.ir_intensities_km_per_mol)) and ours.is_stationary
    closer = modes(displacement_A=5e-4)
    assert np.abs(closer.wavenumbers_per_cm - exact.wavenumbers_per_cm).max() < 0.02
    deuterated = modes(masses={"H": 2.014})
    assert deuterated.wavenumbers_per_cm[-1] < 0.8 * exact.wavenumbers_per_cm[-1]
    with pytest.raises(tarn.InputError, match="omega = 100 .*leave it out with a potential"):
        modes(omega=100)
    for displacement_A in (0, 1, np.nan):
        with pytest.raises(tarn.InputError, match="displacement_A"):
            modes(displacement_A=displacement_A)


def test_minima_of_single_precision():
    def single(positions_A):
        energies, forces = qtip4pf(positions_A.astype(np.float32).astype(float))
        return energies.astype(np.float32), forces.astype(np.float32)

    x = dimers(2)
    exact = tarn.minimise(x, model="qtip4pf")
    found = tarn.minimise(x, model="qtip4pf", potential=single, tolerance_kcal_per_mol_A=1e-2)
    assert found.converged.all()
    # Forces of 0.01 leave 9 N g^2/(2 k) in modes of more than 0.1 kcal/mol/A^2.
    assert np.abs(found.energy_kcal_per_mol - exact.energy_kcal_per_mol).max() < 18 * 0.01**2 / 0.2
    with pytest.warns(tarn.TarnWarning, match="increase tolerance_kcal_per_mol_A"):
        left = tarn.minimise(x, model="qtip4pf", potential=single)
    assert not left.converged.any() and left.iterations.max() < 2000


@pytest.mark.parametrize("function", [tarn.minimise, tarn.normal_modes])
def test_exceptions_of_minima_and_modes(function):
    error = RuntimeError("no convergence")

    def potential(positions_A):
        raise error

    for x in (dimers(1)[0], dimers(4)) if function is tarn.minimise else (dimers(1)[0],):
        with pytest.raises(RuntimeError) as caught:
            function(x, model="qtip4pf", potential=potential)
        assert caught.value is error
    with pytest.raises(tarn.InputError, match="potential = 3; expected a function"):
        function(dimers(1)[0], potential=3)
    with pytest.raises(tarn.NumericalError, match="nan|finite"):
        function(dimers(1)[0], potential=lambda x: tuple(a + np.nan for a in zeros(x)))


# --- checks ---


def test_water_models_are_named():
    x = dimers(1)[0]
    for function in (tarn.minimise, tarn.normal_modes):
        with pytest.raises(tarn.InputError, match="model = None; expected a name"):
            function(x)
    assert tarn.minimise(x, potential=qtip4pf).converged
    for function in (tarn.energy_and_forces, tarn.dipole_moments):
        with pytest.raises(TypeError, match="'model'"):
            function(x)


def test_forces_are_checked():
    x = dimers(1)[0]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        check = tarn.check_potential(qtip4pf, x)
    assert check.forces_agree and not check.depends_on_batch
    assert check.energy_kcal_per_mol == pytest.approx(qtip4pf(x)[0])
    assert 3000 < check.oh_wavenumber_per_cm < 4500
    assert tarn.check_potential(qtip4pf, x[None]) == check
    with pytest.raises(tarn.InputError, match="no replica"):
        tarn.check_potential(qtip4pf, x[None][:0])

    def scaled(energy, length=1.0):
        return lambda x: (qtip4pf(x)[0] / energy, qtip4pf(x)[1] / energy * length)

    eV, hartree, bohr = 23.0605, 627.5095, 0.529177
    for potential, cause in [
        (scaled(eV), "likely cause: energies in eV"),
        (scaled(hartree), "likely cause: energies in hartree"),
        (scaled(1 / 4.184), "likely cause: energies in kJ/mol"),
        (scaled(hartree, bohr), "energies in hartree and forces in hartree/bohr"),
        (lambda x: (qtip4pf(x)[0], -qtip4pf(x)[1]), "the sign"),
    ]:
        with pytest.warns(tarn.TarnWarning, match=cause):
            tarn.check_potential(potential, x)
    with pytest.raises(tarn.NumericalError, match="the potential returned an energy of nan"):
        tarn.check_potential(lambda x: tuple(a + np.nan for a in zeros(x)), x)
    with pytest.raises(tarn.InputError, match="potential = None"):
        tarn.check_potential(None, x)


def test_a_run_without_results_names_the_potential():
    with pytest.raises(tarn.NumericalError, match="the potential returned nan or infinity"):
        tarn.run(DIMERS, potential=lambda x: tuple(a + np.nan for a in zeros(x)))


def test_arrays_of_cupy():
    class Cupy:
        """An array of CuPy: NumPy cannot read it without get()."""

        __cuda_array_interface__: dict = {}

        def __init__(self, array):
            self._array = array

        def __array__(self, *arguments, **keywords):
            raise TypeError("Implicit conversion to a NumPy array is not allowed")

        def get(self):
            return self._array

    x = dimers(2)
    expected = tarn.minimise(x, model="qtip4pf", potential=qtip4pf, max_iterations=3)
    on_gpu = tarn.minimise(
        x, model="qtip4pf", potential=lambda x: tuple(map(Cupy, qtip4pf(x))), max_iterations=3
    )
    assert np.array_equal(on_gpu.positions_A, expected.positions_A)


# --- exceptions ---


class Own(BaseException):
    pass


@BOTH
@pytest.mark.parametrize("kind", [ValueError, KeyboardInterrupt, Own])
def test_an_exception_leaves_a_checkpoint_of_the_last_step(deck, kind):
    tarn.run(deck, out="whole", potential=Counted())
    error = kind("no convergence")

    def fail(call):
        if call == 40:
            raise error

    with pytest.raises(kind) as caught:
        tarn.run(deck, out="parts", potential=Counted(fail))
    assert caught.value is error
    assert any(entry.name == "fail" for entry in caught.traceback)
    record = json.loads(Path("parts/run.json").read_text())
    assert record["status"] != "running" and record["steps_done"] == 38
    counted = Counted()
    result = tarn.run(deck, out="parts", resume=True, potential=counted)
    assert result.steps_done == 60 and counted.calls == 1 + 60 - 38
    assert table_text("parts") == table_text("whole")


def test_an_ensemble_stays_at_the_last_step_and_continues():
    def fail(call):
        if call == 10:
            raise RuntimeError("no convergence")

    with tarn.Ensemble(DIMERS, potential=Counted(fail)) as e:
        with pytest.raises(RuntimeError, match="no convergence"):
            e.advance(20)
        assert e.step == 8
        e.advance(12)
        assert np.array_equal(e.positions_A, positions_after(20, potential=Counted()))


def test_exceptions_at_the_start():
    def fail(call):
        raise RuntimeError("no convergence")

    for make in (tarn.run, tarn.Ensemble):
        with pytest.raises(RuntimeError, match="no convergence"):
            make(DIMERS, potential=Counted(fail))


def test_a_potential_cannot_use_its_ensemble():
    e = None

    def potential(positions_A):
        if e is not None:
            e.advance(1)
        return qtip4pf(positions_A)

    e = tarn.Ensemble(DIMERS, potential=potential)
    with pytest.raises(tarn.InputError, match="a potential cannot use an ensemble"):
        e.advance(1)
    assert e.step == 0
    e.close()


CHILD = """
import time
import tarn
from test_potential import DIMERS, qtip4pf

def slow(positions_A):
    if slow.calls == 1:
        print("ready", flush=True)
    slow.calls += 1
    time.sleep(0.02)
    return qtip4pf(positions_A)

slow.calls = 0
try:
    CALL
except KeyboardInterrupt as error:
    print("interrupted", *getattr(error, "__notes__", []), slow.calls)
"""


@pytest.mark.parametrize("what", ["run", "advance"])
def test_ctrl_c(what):
    call = {
        "run": 'tarn.run({**DIMERS, "run": {"steps": 100000}}, out="out", potential=slow)',
        "advance": "tarn.Ensemble(DIMERS, potential=slow).advance(100000)",
    }[what]
    path = f"import sys; sys.path.insert(0, {str(Path(__file__).parent)!r})\n"
    status, out, err = interrupted(path + CHILD.replace("CALL", call))
    assert status == 0 and out.startswith("interrupted"), (out, err)
    if what == "run":
        assert "resume=True" in out
        steps = json.loads(Path("out/run.json").read_text())["steps_done"]
        assert tarn.run({**DIMERS, "run": {"steps": steps + 5}}, out="out", resume=True,
                        potential=named(lambda x: qtip4pf(x), "__main__.slow")).steps_done == steps + 5  # fmt: skip


# --- wrong results ---


@pytest.mark.parametrize("what", ["energy", "force"])
def test_nan_of_one_image_stops_its_replica(what):
    def potential(positions_A, image_ids):
        energies, forces = qtip4pf(positions_A)
        potential.calls += 1
        if potential.calls > 10:
            if what == "energy":
                energies[image_ids == 1] = np.nan
            else:
                forces[image_ids == 1, 4] = np.inf
        return energies, forces

    potential.calls = 0
    with pytest.warns(tarn.TarnWarning, match="the potential returned nan"):
        result = tarn.run(DIMERS, out="out", potential=potential)
    assert result.steps_done == 60
    (blow_up,) = result.blow_ups
    assert blow_up.replica == 1 and "the potential returned nan or infinity" in blow_up.text
    assert blow_up.molecule == (0 if what == "energy" else 1)


def zeros(x):
    return np.zeros(len(x)), np.zeros(x.shape)


@pytest.mark.parametrize(
    ("returned", "kind", "message"),
    [
        (lambda x: None, TypeError, r"returned a NoneType; expected two arrays, \(energies, forces"),
        (lambda x: zeros(x)[1], TypeError, "returned a ndarray; expected two arrays"),
        (lambda x: (*zeros(x), 3), TypeError, "returned a tuple of 3; expected two arrays"),
        (lambda x: (0.0, zeros(x)[1]), ValueError,
         r"energies of shape \(\); expected \(image,\) = \(3,\)"),
        (lambda x: (np.zeros((3, 1)), zeros(x)[1]), ValueError,
         r"energies of shape \(3, 1\); expected \(image,\) = \(3,\)"),
        (lambda x: (zeros(x)[0], np.zeros((3, 18))), ValueError,
         r"forces of shape \(3, 18\); expected \(image, atom, 3\) = \(3, 6, 3\)"),
        (lambda x: zeros(x)[::-1], ValueError, "energies of shape"),
        (lambda x: (zeros(x)[0], np.zeros(x.shape, int)), TypeError,
         "forces of type int64; expected floating-point numbers"),
        (lambda x: (zeros(x)[0] + 0j, zeros(x)[1]), TypeError, "energies of type complex128"),
        (lambda x: ([None] * 3, zeros(x)[1]), TypeError, "energies of type object"),
        (lambda x: ("abc", zeros(x)[1]), TypeError, "energies of type <U3"),
        (lambda x: (zeros(x)[0], [[1.0], [1.0, 2.0]]), TypeError, "forces that NumPy cannot read"),
        (lambda x: (np.ma.masked_less(zeros(x)[0], 1.0), zeros(x)[1]), TypeError,
         "energies with a mask"),
    ],
)  # fmt: skip
def test_other_shapes_and_types_are_refused(returned, kind, message):
    with pytest.raises(kind, match=message):
        tarn.Ensemble(DIMERS, potential=returned)
    with pytest.raises(kind, match=message):
        tarn.run(DIMERS, out="out", potential=returned)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        ("libmine.so", "run: potential = 'libmine.so'; expected a function of positions"),
        (3, "run: potential = 3; expected a function of positions"),
        (Counted, "expected a function of positions"),
        (tarn.AsePotential, "expected a function of positions"),
    ],
)
def test_what_is_no_function_is_refused(wrong, message):
    with pytest.raises(tarn.InputError, match=message):
        tarn.run(DIMERS, potential=wrong)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"run.device": "cuda"}, "cpu"),
        ({"integrator.scheme": "zss-stiff"}, "verlet"),
        ({"run.precision": "single"}, "double"),
        ({"potential.kind": "library", "potential.path": "a.so"}, "another potential|no file"),
    ],
)
def test_decks_without_a_meaning_for_a_potential_are_refused(changes, message):
    with pytest.raises(tarn.InputError, match=message):
        tarn.run(DIMERS, potential=qtip4pf, set=changes)


def test_defaults_and_rules_are_those_of_a_potential():
    """Keys that the deck leaves out have the defaults of decks with a potential, and keys that need
    the bonds of the model are refused."""
    deck = {
        "system": {"model": "tip3p", "molecules": 2},
        "integrator": {"scheme": "verlet"},
        "run": {"steps": 2},
    }
    tarn.run(deck, out="out", potential=qtip4pf)
    assert "timestep_fs = 0.5\n" in json.loads(Path("out/run.json").read_text())["deck"]
    with tarn.Ensemble(deck, potential=qtip4pf) as e:
        e.advance(2)
        assert e.time_ps == pytest.approx(1e-3)
    for start in (tarn.run, tarn.Ensemble):
        with pytest.raises(tarn.DeckError, match="relax is not used with"):
            start(deck, set={"system.relax": True}, potential=qtip4pf)
    named_deck = {**deck, "potential": {"kind": "program", "name": "other"}}
    with pytest.raises(tarn.InputError, match="the deck has the potential \"other\""):
        tarn.run(named_deck, potential=qtip4pf)
    tarn.run(named_deck, potential=named(functools.partial(qtip4pf), "other"))


def test_messages_on_the_deck():
    spectrum = {"observe.spectrum.every": 1, "run.steps": 40}
    with pytest.warns(tarn.TarnWarning, match="infrared absorption is that of the charges"):
        result = tarn.run(DIMERS, potential=qtip4pf, set=spectrum)
    assert any("infrared absorption" in text for text in result.warnings)
    result = tarn.run(DIMERS, potential=qtip4pf, set={"observe.cluster": {}}, out="other")
    assert any("no dipole" in text for text in result.notes)


def test_another_name_is_refused_when_a_run_is_resumed():
    def fail(call):
        if call == 20:
            raise RuntimeError

    with pytest.raises(RuntimeError):
        tarn.run(DIMERS, out="out", potential=Counted(fail))
    with pytest.raises(tarn.InputError, match="counted.*other"):
        tarn.run(DIMERS, out="out", resume=True, potential=named(Counted(), "other"))
    with pytest.raises(tarn.InputError):
        tarn.run(DIMERS, out="out", resume=True)
    with pytest.raises(tarn.InputError, match="'counted', not of the potential 'other'"):
        tarn.Ensemble.load("out", potential=named(Counted(), "other"))
    with pytest.raises(tarn.InputError, match="cannot continue"):
        tarn.Ensemble.load("out")
    assert tarn.Ensemble.load("out", potential=Counted()).step == 18


# --- arrays ---


def test_a_function_may_keep_its_arrays():
    kept, copies, parts = [], [], []

    def potential(positions_A):
        kept.append(positions_A)
        copies.append(positions_A.copy())
        return qtip4pf(positions_A)

    def potential_with_parts(positions_A):
        parts.append((positions_A[1, ::3], positions_A[1, ::3].copy()))
        return qtip4pf(positions_A)

    for function in (potential, potential_with_parts):
        positions_after(50, potential=function)
    gc.collect()
    assert len(kept) == len(parts) == 51
    assert all(np.array_equal(*pair) for pair in zip(kept, copies, strict=True))
    assert all(np.array_equal(*pair) for pair in parts)
    assert len({array.ctypes.data for array in kept}) == 51


def test_the_memory_of_arrays_is_used_again():
    places = set()

    def potential(positions_A):
        places.add(positions_A.ctypes.data)
        return qtip4pf(positions_A)

    positions_after(20, potential=potential)
    assert len(places) == 1


def test_a_function_may_return_the_same_arrays():
    energies, forces = np.zeros(3), np.zeros((3, 6, 3))

    def potential(positions_A):
        energies[:], forces[:] = qtip4pf(positions_A)
        return energies, forces

    other = positions_after(20, potential=qtip4pf)
    assert np.array_equal(positions_after(20, potential=potential), other)


class Tensor:
    """A tensor with a gradient on another device, as of PyTorch."""

    def __init__(self, array, attached=True, is_remote=True):
        self._array, self._attached, self._is_remote = array, attached, is_remote

    def detach(self):
        return Tensor(self._array, False, self._is_remote)

    def cpu(self):
        return Tensor(self._array, self._attached, False)

    def __array__(self, dtype=None, copy=None):
        if self._attached or self._is_remote:
            raise RuntimeError("Can't call numpy() on Tensor that requires grad")
        return self._array


@pytest.mark.parametrize(
    "convert",
    [
        Exported, Tensor, np.ndarray.tolist, np.asfortranarray,
        lambda a: a.astype(np.longdouble), lambda a: a.astype(">f8"),
        lambda a: np.repeat(a, 2, axis=0)[::2],
    ],
)  # fmt: skip
def test_arrays_of_other_kinds_are_converted(convert):
    def potential(positions_A):
        energies, forces = qtip4pf(positions_A)
        return convert(energies), convert(forces)

    plain = positions_after(5, potential=qtip4pf)
    assert np.array_equal(positions_after(5, potential=potential), plain)


def test_single_precision_is_converted():
    def potential(positions_A):
        return tuple(a.astype(np.float32) for a in qtip4pf(positions_A))

    with tarn.Ensemble(DIMERS, potential=potential) as e:
        expected, _ = qtip4pf(e.positions_A)
        assert np.array_equal(e.energies["potential_kcal_per_mol"], expected.astype(np.float32))


def test_a_closed_ensemble_frees_its_potential():
    for close in (tarn.Ensemble.close, lambda e: None):
        potential = Counted()
        e = tarn.Ensemble(DIMERS, potential=potential)
        e.advance(3)
        alive = weakref.ref(potential)
        del potential
        close(e)
        if close is not tarn.Ensemble.close:
            del e
        gc.collect()
        assert alive() is None


def test_a_function_of_pytorch():
    torch = pytest.importorskip("torch")

    def springs(positions_A):
        """Springs between all pairs of atoms; forces by differentiation."""
        x = torch.tensor(positions_A, requires_grad=True)
        i, j = torch.triu_indices(x.shape[1], x.shape[1], 1)
        energies = ((x[:, i] - x[:, j]).norm(dim=-1) - 1.2).square().sum(dim=-1)
        (gradient,) = torch.autograd.grad(energies.sum(), x)
        return energies, -gradient  # the energies require a gradient

    with tarn.Ensemble(DIMERS, potential=springs, unset="thermostat") as e:
        before = e.energies["total_kcal_per_mol"]
        e.advance(50)
        after = e.energies["total_kcal_per_mol"]
        assert np.abs(after - before).max() < 1e-3 * np.abs(before).max()


# --- calculators of ASE ---


def dimers(replicas=3):
    return tarn.random_cluster(2, model="qtip4pf", replicas=replicas)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_a_calculator_gives_the_trajectory_of_the_model(count):
    pytest.importorskip("ase")
    from tarn.ase import TarnCalculator

    calculators = [TarnCalculator("qtip4pf", threads=1) for _ in range(count)]
    potential = tarn.AsePotential(calculators if count > 1 else calculators[0])
    assert "TarnCalculator(device='cpu', model='qtip4pf', threads=1)" == potential.name
    ours = positions_after(50, potential=potential)
    assert np.abs(ours - positions_after(50, set=AS_POTENTIAL)).max() < 1e-9


def test_calculators_share_images_by_their_ids():
    calculator = pytest.importorskip("ase.calculators.calculator")
    seen = {}

    class Toy(calculator.Calculator):
        implemented_properties = ["energy", "free_energy", "forces"]

        def calculate(self, atoms=None, properties=(), system_changes=()):
            super().calculate(atoms, properties, system_changes)
            assert list(atoms.symbols) == list("OHHOHH") and not atoms.pbc.any()
            seen.setdefault(id(self), []).append(float(atoms.positions[0, 0]))
            self.results = {"energy": 7.0, "free_energy": 2.0, "forces": -atoms.positions}

    x, eV = dimers(4), 23.060547830619
    potential = tarn.AsePotential([Toy(), Toy()], name="toy")
    energies, forces = potential(x, np.array([6, 3, 4, 1]))
    first, second = (seen[id(c)] for c in potential.calculators)
    assert first == [x[0, 0, 0], x[2, 0, 0]] and second == [x[1, 0, 0], x[3, 0, 0]]
    assert energies == pytest.approx(np.full(4, 2 * eV), rel=1e-12)
    assert np.allclose(forces, -x * eV, rtol=1e-12)
    assert potential(tarn.random_cluster(2, model="qtip4pf")[None])[0].shape == (1,)
    assert "toy, 2 calculators" in repr(potential)


def test_names_of_calculators_have_all_parameters():
    calculator = pytest.importorskip("ase.calculators.calculator")

    def name_of(**parameters):
        return tarn.AsePotential(calculator.Calculator(**parameters)).name

    assert name_of(method="GFN2", charge=0) == "Calculator(charge=0, method='GFN2')"
    values = [None, 1.5, [1, 2], [1, 3], {"a": 1}, np.arange(2000), np.arange(2000) + 1, object()]
    assert len({name_of(x=value) for value in values}) == len(values)
    assert name_of(x=[1, 2]) == name_of(x=[1, 2])
    assert name_of(x=object()) == name_of(x=object())


@pytest.mark.parametrize("count", [1, 3])
def test_exceptions_of_calculators_pass(count):
    calculator = pytest.importorskip("ase.calculators.calculator")
    error = calculator.CalculationFailed("no convergence")

    class Failing(calculator.Calculator):
        implemented_properties = ["energy", "forces"]

        def calculate(self, *arguments):
            raise error

    with pytest.raises(calculator.CalculationFailed) as caught:
        tarn.Ensemble(DIMERS, potential=tarn.AsePotential([Failing() for _ in range(count)]))
    assert caught.value is error
    assert any(entry.name == "calculate" for entry in caught.traceback)


def test_wrong_calculators_are_refused():
    pytest.importorskip("ase")
    from tarn.ase import TarnCalculator

    calculator = TarnCalculator("qtip4pf")
    for wrong in ("gfn2", TarnCalculator):
        with pytest.raises(TypeError, match="is no calculator"):
            tarn.AsePotential([wrong])
    from ase import Atoms

    with pytest.raises(TypeError, match="are atoms; give their calculator"):
        tarn.AsePotential(Atoms("OHH", calculator=calculator))
    for same in ([], [calculator, calculator]):
        with pytest.raises(tarn.InputError, match="calculators; expected one or more different"):
            tarn.AsePotential(same)
    with pytest.raises(tarn.InputError, match=r"use tarn.AsePotential\(calculator\)"):
        tarn.run(DIMERS, potential=calculator)


# --- GFN2-xTB ---


def xtb(accuracy=0.01, count=1, **options):
    pytest.importorskip("ase")
    tblite = pytest.importorskip("tblite.ase")
    calculators = [
        tblite.TBLite(method="GFN2-xTB", verbosity=0, accuracy=accuracy, **options)
        for _ in range(count)
    ]
    return tarn.AsePotential(calculators, reset="cache_api" in options)


def test_xtb_without_its_history_is_a_function_of_an_image():
    potential = xtb(accuracy=1.0, cache_api=False)
    x = dimers(2)
    energies, forces = potential(x)
    again, forces_again = potential(x[::-1])
    # Sums of BLAS depend on the places of its arrays in memory.
    np.testing.assert_allclose(again[::-1], energies, rtol=1e-12)
    np.testing.assert_allclose(forces_again[::-1], forces, atol=1e-9)


def test_minimum_and_wavenumbers_of_xtb_are_those_of_ase():
    ase = pytest.importorskip("ase")
    from ase.optimize import BFGS
    from ase.vibrations import Vibrations

    potential = xtb(accuracy=1e-3)
    start = tarn.random_cluster(1, model="qtip4pf")
    minimum = tarn.minimise(
        start, model="qtip4pf", potential=potential, tolerance_kcal_per_mol_A=1e-4
    )
    ours = tarn.normal_modes(
        minimum.positions_A, model="qtip4pf", potential=potential, displacement_A=0.005
    )
    atoms = ase.Atoms("OHH", positions=start, calculator=potential.calculators[0])
    atoms.set_masses([15.9994, 1.008, 1.008])
    BFGS(atoms, logfile=None).run(fmax=1e-5, steps=200)
    eV = 23.060547830619
    assert minimum.energy_kcal_per_mol == pytest.approx(atoms.get_potential_energy() * eV, rel=1e-8)
    vibrations = Vibrations(atoms, delta=0.005)
    vibrations.run()
    theirs = vibrations.get_frequencies()[-3:].real
    # Both have truncation errors of differences, along other directions.
    assert ours.wavenumbers_per_cm[-3:] == pytest.approx(theirs, abs=2)
    assert 1400 < theirs[0] < 1700 and 3500 < theirs[1] < theirs[2] < 3900
