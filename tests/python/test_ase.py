"""The calculator for ASE."""

from __future__ import annotations

import numpy as np
import pytest
from ase import Atoms, units
from ase.md.velocitydistribution import MaxwellBoltzmannDistribution, Stationary
from ase.md.verlet import VelocityVerlet
from ase.optimize import BFGS

import tarn
from tarn.ase import TarnCalculator

KCAL = units.kcal / units.mol


def cluster(model: str = "tip4p2005f", molecules: int = 5) -> Atoms:
    water = tarn.minimise(tarn.random_cluster(molecules, model=model), model=model)
    atoms = Atoms("OHH" * molecules, positions=water.positions_A)
    atoms.calc = TarnCalculator(model=model)
    return atoms


def test_energies_forces_and_dipole():
    atoms = cluster()
    atoms.rattle(0.05, seed=1)
    energy, forces = tarn.energy_and_forces(atoms.positions, model="tip4p2005f")
    assert atoms.get_potential_energy() == pytest.approx(energy * KCAL, rel=1e-14)
    assert atoms.get_potential_energy(force_consistent=True) == atoms.get_potential_energy()
    assert np.allclose(atoms.get_forces(), forces * KCAL, rtol=1e-14)
    assert np.array_equal(
        atoms.get_dipole_moment(), tarn.dipole_moments(atoms.positions, model="tip4p2005f")
    )


def test_atoms_in_another_order():
    atoms = cluster()
    atoms.rattle(0.05, seed=1)
    order = np.random.default_rng(1).permutation(len(atoms))
    other = atoms[order]
    other.calc = TarnCalculator(model="tip4p2005f")
    # Another order of the sums.
    assert other.get_potential_energy() == pytest.approx(atoms.get_potential_energy(), rel=1e-12)
    assert np.allclose(other.get_forces(), atoms.get_forces()[order], atol=1e-11)
    # The same calculator with the original order, and with fewer atoms.
    again = atoms.copy()
    again.calc = other.calc
    assert again.get_potential_energy() == pytest.approx(atoms.get_potential_energy(), rel=1e-12)
    few = atoms[:6]
    few.calc = other.calc
    assert few.get_forces().shape == (6, 3)


def test_molecules_that_exchange_places_are_assigned_again():
    atoms = cluster(molecules=2)
    before = atoms.get_potential_energy()
    # The same symbols, with the hydrogens of the two molecules exchanged.
    atoms.positions = atoms.positions[[0, 4, 5, 3, 1, 2]]
    assert atoms.get_potential_energy() == pytest.approx(before, rel=1e-12)


def test_verlet_of_ase_conserves_the_energy():
    atoms = cluster(molecules=3)
    MaxwellBoltzmannDistribution(atoms, temperature_K=100, rng=np.random.default_rng(1))
    Stationary(atoms)
    steps = VelocityVerlet(atoms, timestep=0.25 * units.fs)
    energies = []
    for _ in range(40):
        steps.run(10)
        energies.append(atoms.get_total_energy())
    # The error of Verlet is h^2 Omega^2/8 of the energy of a mode: for the O-H stretch of 3700/cm,
    # h Omega = 0.17 and 0.4 %, of a total of 27 kT/2 = 0.12 eV at most.
    assert np.ptp(energies) < 0.004 * 27 * units.kB * 100
    assert np.ptp([e for e in energies]) > 0


def test_optimisers_of_ase_find_the_minimum():
    atoms = cluster(molecules=2)
    lowest = atoms.get_potential_energy()
    atoms.rattle(0.03, seed=2)
    BFGS(atoms, logfile=None).run(fmax=1e-4, steps=300)
    assert atoms.get_potential_energy() == pytest.approx(lowest, abs=1e-6)


@pytest.mark.parametrize(
    ("symbols", "positions", "message"),
    [
        ("OHC", [[0, 0, 0], [1, 0, 0], [0, 1, 0]], "atom 2: atomic number 6; only water"),
        ("OHH", [[0, 0, 0], [1, 0, 0], [0, 3.1, 0]], "atom 2: no oxygen is within 1.3 A"),
        ("HOH", [[1, 0, 0], [0, 0, 0], [0, 1.4, 0]], "atom 2: no oxygen is within 1.3 A"),
        ("OHH", [[0, 0, 0], [1.81, 0, 0], [-0.45, 1.75, 0]], "this looks like bohr"),
        ("OH", [[0, 0, 0], [1, 0, 0]], "atom 0: this oxygen is the nearest one of 1 hydrogen"),
        ("OHHH", [[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1]], "atom 0: .* of 3 hydrogens"),
    ],
)
def test_what_is_no_water_is_refused_by_name(symbols, positions, message):
    atoms = Atoms(symbols, positions=positions, calculator=TarnCalculator("tip3p"))
    with pytest.raises(tarn.InputError, match=message):
        atoms.get_potential_energy()


def test_periodic_cells_are_refused():
    atoms = cluster()
    atoms.set_cell([10, 10, 10])
    atoms.pbc = True
    with pytest.raises(tarn.InputError, match="periodic"):
        atoms.get_forces()


def test_unknown_models_and_parameters_are_refused():
    with pytest.raises(tarn.InputError, match="unknown water model 'tip9p'"):
        TarnCalculator(model="tip9p")
    with pytest.raises(tarn.InputError, match="unknown parameter 'modl'; use model, device"):
        TarnCalculator("tip3p", modl="tip4p")
    with pytest.raises(TypeError, match="model"):
        TarnCalculator()  # a rigid default needs constraints
    calculator = TarnCalculator("tip3p")
    with pytest.raises(tarn.InputError, match="threads = 1.5; expected an integer"):
        calculator.set(threads=1.5)
    with pytest.raises(tarn.InputError, match="unknown water model 'tip9p'"):
        calculator.model = "tip9p"
    assert calculator.model == "tip3p"


def test_parameters_can_be_changed():
    atoms = cluster()
    energies = {
        model: tarn.energy_and_forces(atoms.positions, model=model)[0] * KCAL
        for model in ("tip4p2005f", "qtip4pf", "tip4p")
    }
    for change in (
        lambda: atoms.calc.set(model="qtip4pf"),
        lambda: setattr(atoms.calc, "model", tarn.models["tip4p"]),
        lambda: atoms.calc.set(model="tip4p2005f", threads=1),
    ):
        before = atoms.get_potential_energy()
        change()
        assert atoms.get_potential_energy() != before
        expected = energies[atoms.calc.model]
        assert atoms.get_potential_energy() == pytest.approx(expected, rel=1e-12)
    assert atoms.calc.todict() == {"model": "tip4p2005f", "device": "cpu", "threads": 1}
    assert (atoms.calc.device, atoms.calc.threads) == ("cpu", 1)


def test_no_atoms():
    with pytest.raises(tarn.InputError, match="there are no atoms"):
        Atoms(calculator=TarnCalculator("tip3p")).get_potential_energy()


def test_long_bonds_of_known_molecules_are_computed():
    atoms = cluster(molecules=2)
    stretched = atoms.copy()
    stretched.positions[1] += 0.8 * (atoms.positions[1] - atoms.positions[0])
    expected, _ = tarn.energy_and_forces(stretched.positions, model="tip4p2005f")
    # In the order O H H, without an earlier configuration.
    stretched.calc = TarnCalculator("tip4p2005f")
    assert stretched.get_potential_energy() == pytest.approx(expected * KCAL, rel=1e-12)
    # In another order, after one with short bonds.
    order = [1, 0, 2, 5, 3, 4]
    other = atoms[order]
    other.calc = TarnCalculator("tip4p2005f")
    other.get_potential_energy()
    other.positions = stretched.positions[order]
    assert other.get_potential_energy() == pytest.approx(expected * KCAL, rel=1e-12)


def test_rigid_models_without_constraints_are_named_as_the_cause():
    atoms = Atoms("OHH" * 2, positions=tarn.random_cluster(2), calculator=TarnCalculator("tip3p"))
    with pytest.raises(
        tarn.InputError, match="tip3p is rigid.*constrain the bonds or take a flexible model"
    ):
        BFGS(atoms, logfile=None).run(fmax=1e-4, steps=1000)
