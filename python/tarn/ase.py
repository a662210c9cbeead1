"""A calculator for ASE (https://wiki.fysik.dtu.dk/ase)."""

from __future__ import annotations

import os
from typing import Any

import numpy as np
from ase.calculators.calculator import Calculator, all_changes
from ase.units import kcal, mol
from numpy.typing import NDArray

from tarn import _arguments, _tarn
from tarn._errors import InputError
from tarn._functions import ModelLike, model_name

#: Longest O-H bond, in angstrom, by which hydrogens are assigned to oxygens.
_LONGEST_BOND_A = 1.3
#: Longest O-H bond of molecules that are known, as in structure files.
_LONGEST_KNOWN_BOND_A = 3.0


def _order_of_symbols(numbers: NDArray[Any]) -> NDArray[Any] | None:
    """The order of atoms that are O H H throughout."""
    is_water = len(numbers) % 3 == 0 and (numbers.reshape(-1, 3) == (8, 1, 1)).all()
    return np.arange(len(numbers)) if is_water else None


def _longest_bond_A(positions_A: NDArray[Any], order: NDArray[Any]) -> float:
    x = positions_A[order].reshape(-1, 3, 3)
    return float(np.linalg.norm(x[:, 1:] - x[:, :1], axis=-1).max())


class TarnCalculator(Calculator):
    """Energies, forces and dipole moments of a water cluster in vacuum.

    The atoms may be in any order: each hydrogen belongs to its nearest oxygen, within 1.3 A. If
    this assigns not two to each oxygen, molecules stay as they were, or as the symbols O H H O H H
    ... say, with bonds of up to 3 A. Forces of rigid models do not act within molecules; constrain
    the bonds, or take a flexible model.

    Parameters
    ----------
    model : str, path, dict or WaterModel
        Name of a water model (`tarn.models`); or the path of a file with a [model] section, or a
        dictionary with its keys. There is no default: a rigid model needs constraints.
    device : str
        "cpu", "cuda" or "cuda:1".
    threads : int
        Number of CPU threads; 0: all.
    """

    implemented_properties = ["energy", "free_energy", "forces", "dipole"]
    default_parameters = {"device": "cpu", "threads": 0}
    discard_results_on_any_change = True

    def __init__(
        self, model: ModelLike, *, device: str = "cpu", threads: int = 0, **kwargs: Any
    ):
        self._numbers: NDArray[Any] = np.empty(0, int)
        self._order: NDArray[Any] = np.empty(0, int)
        super().__init__(  # type: ignore[no-untyped-call]
            model=model, device=device, threads=threads, **kwargs
        )

    def set(self, **kwargs: Any) -> dict[str, Any]:
        """Changes `model`, `device` or `threads`. Returns those that changed."""
        for name in kwargs:
            if name != "model" and name not in self.default_parameters:
                raise InputError(
                    f"TarnCalculator: unknown parameter {name!r}; use model, device or threads"
                )
        if "model" in kwargs:
            model = model_name(kwargs["model"])
            kwargs["model"] = os.path.abspath(model) if model.endswith(".toml") else model
            self._is_flexible = _tarn.is_flexible(kwargs["model"])  # checks the model
        if "device" in kwargs:
            kwargs["device"] = _arguments.text("TarnCalculator", "device", kwargs["device"])
        if "threads" in kwargs:
            kwargs["threads"] = _arguments.integer("TarnCalculator", "threads", kwargs["threads"], 0)
        changed: dict[str, Any] = super().set(**kwargs)  # type: ignore[no-untyped-call]
        return changed

    def todict(self, skip_default: bool = False) -> dict[str, Any]:
        """The parameters, which ASE writes into trajectories and databases."""
        parameters: dict[str, Any] = super().todict(skip_default)  # type: ignore[no-untyped-call]
        return parameters

    @property
    def model(self) -> str:
        """Name of the water model, or the path of its deck."""
        return str(self.parameters["model"])

    @model.setter
    def model(self, model: ModelLike) -> None:
        self.set(model=model)

    @property
    def device(self) -> str:
        return str(self.parameters["device"])

    @device.setter
    def device(self, device: str) -> None:
        self.set(device=device)

    @property
    def threads(self) -> int:
        return int(self.parameters["threads"])

    @threads.setter
    def threads(self, threads: int) -> None:
        self.set(threads=threads)

    def _order_of(self, numbers: NDArray[Any], positions_A: NDArray[Any]) -> NDArray[Any]:
        """The atoms in the order O H H."""
        is_known = np.array_equal(numbers, self._numbers)
        if is_known and _longest_bond_A(positions_A, self._order) <= _LONGEST_BOND_A:
            return self._order
        try:
            order = _tarn.molecule_order([int(n) for n in numbers], positions_A)
        except InputError:
            order = self._order if is_known else _order_of_symbols(numbers)
            if order is None:
                raise
            longest_A = _longest_bond_A(positions_A, order)
            if not longest_A <= _LONGEST_KNOWN_BOND_A:
                raise
            if not self._is_flexible:
                if not is_known:
                    raise
                raise InputError(
                    f"an O-H bond is {longest_A:.2f} A long: {self.model} is rigid, and has no "
                    "forces within molecules: constrain the bonds or take a flexible model"
                ) from None
        self._order = order
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
        if len(own) == 0:
            raise InputError("there are no atoms; give the atoms O, H, H of each water molecule")
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
