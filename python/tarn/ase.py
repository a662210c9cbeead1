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

#: Longest distance of a hydrogen from its oxygen, in angstrom, beyond which molecules are assigned
#: again.
_LONGEST_BOND_A = 1.3


class TarnCalculator(Calculator):
    """Energies, forces and dipole moments of a water cluster in vacuum.

    The atoms may be in any order: each hydrogen belongs to its nearest oxygen. Forces of rigid
    models do not act within molecules; constrain the bonds, or use a flexible model.

    Parameters
    ----------
    model : str, path, dict or WaterModel
        Name of a water model (`tarn.models`); or the path of a file with a [model] section, or a
        dictionary with its keys.
    device : str
        "cpu", "cuda" or "cuda:1".
    threads : int
        Number of CPU threads; 0: all.
    """

    implemented_properties = ["energy", "free_energy", "forces", "dipole"]
    default_parameters = {"model": "tip3p", "device": "cpu", "threads": 0}
    discard_results_on_any_change = True

    def __init__(
        self, model: ModelLike = "tip3p", *, device: str = "cpu", threads: int = 0, **kwargs: Any
    ):
        self._numbers: NDArray[Any] = np.empty(0, int)
        self._order: NDArray[Any] = np.empty(0, int)
        super().__init__(  # type: ignore[no-untyped-call]
            model=model, device=device, threads=threads, **kwargs
        )

    def set(self, **kwargs: Any) -> dict[str, Any]:
        """Changes `model`, `device` or `threads`. Returns those that changed."""
        for name in kwargs:
            if name not in self.default_parameters:
                raise InputError(
                    f"TarnCalculator: unknown parameter {name!r}; use model, device or threads"
                )
        if "model" in kwargs:
            model = model_name(kwargs["model"])
            kwargs["model"] = os.path.abspath(model) if model.endswith(".toml") else model
            _tarn.dipole_moments(np.zeros((3, 3)), model=kwargs["model"])  # checks the model
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
