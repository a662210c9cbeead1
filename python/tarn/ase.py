"""A calculator for ASE (https://wiki.fysik.dtu.dk/ase)."""

from __future__ import annotations

from typing import Any

import numpy as np
from ase.calculators.calculator import Calculator, all_changes
from ase.units import kcal, mol
from numpy.typing import NDArray

from tarn import _tarn
from tarn._errors import InputError

#: Longest distance of a hydrogen from its oxygen, in angstrom, beyond which molecules are assigned
#: again.
_LONGEST_BOND_A = 1.3


class TarnCalculator(Calculator):
    """Energies, forces and dipole moments of a water cluster in vacuum.

    The atoms may be in any order: each hydrogen belongs to its nearest oxygen. Forces of rigid
    models do not act within molecules; constrain the bonds, or use a flexible model.

    Parameters
    ----------
    model : str
        Name of a water model (`tarn.models`), or the path of a deck with a [model] section.
    device : str
    threads : int
    """

    implemented_properties = ["energy", "free_energy", "forces", "dipole"]

    def __init__(
        self, model: str = "tip3p", *, device: str = "cpu", threads: int = 0, **kwargs: Any
    ):
        super().__init__(**kwargs)  # type: ignore[no-untyped-call]
        self.model = model
        self.device = device
        self.threads = threads
        self._numbers: NDArray[Any] = np.empty(0, int)
        self._order: NDArray[Any] = np.empty(0, int)

    def _order_of(self, numbers: NDArray[Any], positions_A: NDArray[Any]) -> NDArray[Any]:
        """The atoms in the order O H H."""
        if np.array_equal(numbers, self._numbers):
            x = positions_A[self._order].reshape(-1, 3, 3)
            bonds_A = np.linalg.norm(x[:, 1:] - x[:, :1], axis=-1)
            if bonds_A.max() <= _LONGEST_BOND_A:
                return self._order
        self._order = _tarn.molecule_order([int(n) for n in numbers], positions_A)
        self._numbers = numbers.copy()
        return self._order

    def calculate(
        self,
        atoms: Any = None,
        properties: Any = ("energy",),
        system_changes: Any = all_changes,
    ) -> None:
        """Called by ASE."""
        super().calculate(atoms, properties, system_changes)  # type: ignore[no-untyped-call]
        own: Any = self.atoms
        if own.pbc.any():
            raise InputError("the cell is periodic, and tarn computes clusters: set atoms.pbc = False")
        positions_A = own.positions
        order = self._order_of(own.numbers, positions_A)
        water_A = np.ascontiguousarray(positions_A[order])
        energy, water_forces = _tarn.energy_and_forces(
            water_A, model=self.model, device=self.device, threads=self.threads
        )
        eV = kcal / mol
        forces = np.empty_like(water_forces)
        forces[order] = water_forces * eV
        self.results = {
            "energy": energy * eV,
            "free_energy": energy * eV,
            "forces": forces,
            "dipole": _tarn.dipole_moments(water_A, model=self.model),
        }
