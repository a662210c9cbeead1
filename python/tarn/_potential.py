"""Python functions as potentials: energies and forces in place of those of the water model."""

from __future__ import annotations

import functools
import hashlib
import inspect
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarn import _arguments
from tarn._errors import InputError

#: A function of positions (image, atom, 3) in angstrom, which returns energies (image,) and forces
#: (image, atom, 3): arrays of NumPy, PyTorch, JAX or CuPy.
PotentialLike = Callable[..., Any]

#: One eV in kcal/mol: e N_A/4184, with the exact constants of the SI.
_KCAL_PER_MOL_PER_EV = 1.602176634e-19 * 6.02214076e23 / 4184.0

#: Factors to kcal/mol by `units` of a function.
_UNITS = {"kcal/mol": 1.0, "ase": _KCAL_PER_MOL_PER_EV}


def _name_of(potential: Any) -> str:
    """The attribute `name`, or module and name of the function."""
    name = getattr(potential, "name", None)
    if name is None:
        what = potential
        while isinstance(what, functools.partial):
            what = what.func
        if not hasattr(what, "__qualname__"):
            what = type(what)
        name = f"{what.__module__}.{what.__qualname__}"
    if not isinstance(name, str):
        raise InputError(f"potential: name = {name!r}; expected a str")
    if not name or not name.isprintable():
        raise InputError(f"potential: name = {name!r}; expected printable text")
    return _arguments.text("potential", "name", name)


def _takes_ids(potential: Any) -> bool:
    """Whether the function has an argument `image_ids`."""
    try:
        return "image_ids" in inspect.signature(potential).parameters
    except (TypeError, ValueError):  # functions without a signature, such as some of C
        return False


def _array(given: Any) -> NDArray[Any]:
    """An array on the CPU, without a copy where possible."""
    if isinstance(given, np.ndarray):
        return given
    # NumPy cannot read arrays of CuPy, and tensors of PyTorch on a GPU or that require gradients.
    if hasattr(given, "__cuda_array_interface__") and hasattr(given, "get"):
        return np.asarray(given.get())
    for method in ("detach", "cpu"):
        given = getattr(given, method, lambda given=given: given)()
    if hasattr(given, "__dlpack__") and not hasattr(given, "__array__"):
        return np.from_dlpack(given)
    return np.asarray(given)


class Function:
    """A potential as the module `_tarn` calls it: with checked results in kcal/mol."""

    def __init__(self, potential: PotentialLike):
        self._call = potential
        self.name = _name_of(potential)
        self.takes_ids = _takes_ids(potential)
        units = getattr(potential, "units", "kcal/mol")
        if not isinstance(units, str) or units not in _UNITS:
            raise InputError(
                f"potential: units = {units!r}; expected \"kcal/mol\", or \"ase\" for eV"
            )
        self._factor = _UNITS[units]

    def __call__(
        self, positions_A: NDArray[np.float64], image_ids: NDArray[np.int64] | None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        if self.takes_ids:
            result = self._call(positions_A, image_ids=image_ids)
        else:
            result = self._call(positions_A)
        if not isinstance(result, tuple | list) or len(result) != 2:
            raise TypeError(
                f"the potential {self.name} returned {_described(result)}; expected two arrays, "
                "(energies, forces)"
            )
        images, shape = "(image,)", "(image, atom, 3)"
        return (
            self._numbers("energies", result[0], images, positions_A.shape[:1]),
            self._numbers("forces", result[1], shape, positions_A.shape),
        )

    def _numbers(
        self, what: str, given: Any, meaning: str, shape: tuple[int, ...]
    ) -> NDArray[np.float64]:
        try:
            array = _array(given)
        except (BufferError, RuntimeError, TypeError, ValueError) as error:
            raise TypeError(
                f"the potential {self.name} returned {what} that NumPy cannot read: {error}"
            ) from error
        if isinstance(array, np.ma.MaskedArray):
            raise TypeError(
                f"the potential {self.name} returned {what} with a mask; return arrays without one, "
                "with nan for images without a result"
            )
        if array.dtype.kind != "f":
            raise TypeError(
                f"the potential {self.name} returned {what} of type {array.dtype}; expected "
                "floating-point numbers"
            )
        if array.shape != shape:
            raise InputError(
                f"the potential {self.name} returned {what} of shape {array.shape}; expected "
                f"{meaning} = {shape}"
            )
        numbers: NDArray[np.float64] = np.require(array, np.float64, ("C", "A"))
        return numbers if self._factor == 1.0 else numbers * self._factor


def _described(result: Any) -> str:
    kind = type(result).__name__
    return f"a {kind} of {len(result)}" if isinstance(result, tuple | list) else f"a {kind}"


def function_of(caller: str, potential: PotentialLike | None) -> Function | None:
    """The argument `potential` of a function `caller`.

    Raises
    ------
    InputError
        If it is no function, or its attribute `name` or `units` is wrong.
    """
    if potential is None:
        return None
    if isinstance(potential, type) or not callable(potential):
        is_calculator = hasattr(potential, "get_potential_energy")
        advice = (
            "use tarn.AsePotential(calculator)"
            if is_calculator
            else "expected a function of positions (image, atom, 3) that returns (energies, forces)"
        )
        raise InputError(f"{caller}: potential = {potential!r}; {advice}")
    return Function(potential)


def _parameter_text(value: Any) -> str | None:
    """A parameter of a calculator, arrays and containers by a hash; None for other objects, whose
    text may differ in another process."""
    if value is None or isinstance(value, bool | int | float | str):
        return repr(value)
    if isinstance(value, np.ndarray):
        value = value.tolist()
    if not isinstance(value, list | tuple | dict) or " at 0x" in repr(value):
        return None
    return "#" + hashlib.sha256(repr(value).encode()).hexdigest()[:8]


def _calculator_text(calculator: Any) -> str:
    """Class and parameters of a calculator of ASE."""
    parameters = getattr(calculator, "parameters", None) or {}
    texts = {key: _parameter_text(value) for key, value in sorted(dict(parameters).items())}
    items = [f"{key}={text}" for key, text in texts.items() if text is not None]
    return f"{type(calculator).__name__}({', '.join(items)})"


class AsePotential:
    """Calculators of ASE as a potential, for the argument `potential` of functions.

    Each calculator has its own Atoms, whose symbols are O, H, H for each molecule, without a cell.
    With several calculators, as many threads compute at the same time; the calculator with number
    `image_id` modulo their number computes an image. If there are as many as replicas times beads,
    each calculator has one image, and may start from its last result.

    Parameters
    ----------
    calculators : ase.calculators.calculator.Calculator, or sequence
        One object for each thread.
    name : str
        Identifies the potential when a run is resumed; default: class and parameters of the first
        calculator.
    reset : bool
        Whether to call `calculator.reset()` before each image. Results of an iterative method then
        do not depend on earlier images, if its `reset()` removes all of their results.

    Raises
    ------
    TypeError
        If an object is no calculator.
    InputError
        If there is no calculator, or one is given twice.
    """

    def __init__(self, calculators: Any, *, name: str | None = None, reset: bool = False):
        given = list(calculators) if isinstance(calculators, Sequence) else [calculators]
        for calculator in given:
            if hasattr(calculator, "get_chemical_symbols"):
                raise TypeError(
                    f"AsePotential: {calculator!r} are atoms; give their calculator, atoms.calc"
                )
            if isinstance(calculator, type) or not hasattr(calculator, "get_potential_energy"):
                raise TypeError(f"AsePotential: {calculator!r} is no calculator of ASE")
        if len({id(calculator) for calculator in given}) != len(given) or not given:
            raise InputError(
                f"AsePotential: {len(given)} calculators; expected one or more different objects"
            )
        self.calculators = tuple(given)
        self.name = (
            _calculator_text(given[0])
            if name is None
            else _arguments.text("AsePotential", "name", name)
        )
        self._reset = _arguments.flag("AsePotential", "reset", reset)
        self._atoms: list[Any] = []
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        count = len(self.calculators)
        more = f", {count} calculators" if count > 1 else ""
        return f"<tarn.AsePotential {self.name}{more}>"

    def __call__(
        self, positions_A: NDArray[np.float64], image_ids: NDArray[np.int64] | None = None
    ) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Energies (image,) in kcal/mol and forces (image, atom, 3) in kcal/mol/A."""
        images, atoms = positions_A.shape[:2]
        energies, forces = np.empty(images), np.empty((images, atoms, 3))
        count = len(self.calculators)
        ids = np.arange(images) if image_ids is None else image_ids

        def compute(which: int) -> None:
            water = self._atoms[which]
            for image in np.flatnonzero(ids % count == which):
                if self._reset:
                    water.calc.reset()
                water.positions = positions_A[image]
                forces[image] = water.get_forces()
                # Forces are those of the free energy, if electrons have a temperature.
                free = getattr(water.calc, "results", {}).get("free_energy")
                energies[image] = water.get_potential_energy() if free is None else free

        with self._lock:
            self._make_atoms(atoms)
            if count == 1:
                compute(0)
            else:
                with ThreadPoolExecutor(count) as pool:
                    list(pool.map(compute, range(count)))
        return energies * _KCAL_PER_MOL_PER_EV, forces * _KCAL_PER_MOL_PER_EV

    def _make_atoms(self, atoms: int) -> None:
        from ase import Atoms

        if self._atoms and len(self._atoms[0]) == atoms:
            return
        self._atoms = [Atoms("OHH" * (atoms // 3), calculator=c) for c in self.calculators]
