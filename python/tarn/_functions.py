"""Functions on clusters, structures and trajectories."""

from __future__ import annotations

import logging
import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tarn import _arguments, _tarn
from tarn._errors import InputError, reading
from tarn._table import Table


@dataclass(frozen=True)
class WaterModel:
    """A built-in water model."""

    name: str
    is_flexible: bool
    sites: int  #: 4 with the massless site M
    oh_A: float
    hoh_degrees: float
    charge_hydrogen_e: float


#: The built-in water models by name; decks and functions also accept `own` models.
models: Mapping[str, WaterModel] = MappingProxyType(
    {values["name"]: WaterModel(**values) for values in _tarn.models()}
)


#: A name of `models`, one of its values, or the path of a deck with a [model] section.
ModelLike = str | os.PathLike[str] | WaterModel


def model_name(model: ModelLike) -> str:
    """The name of a model, or the path of its deck."""
    if isinstance(model, WaterModel):
        return model.name
    if isinstance(model, str | os.PathLike):
        return os.fspath(model)
    raise InputError(
        f"model = {model!r}; expected a name in tarn.models, or the path of a deck with a [model] "
        "section"
    )


@dataclass(frozen=True)
class Device:
    """A device that runs can use."""

    name: str  #: "cpu", "cuda:0", ...
    description: str
    threads: int  #: default number of threads of the CPU; 0 for a GPU
    memory_GiB: float  #: of a GPU; 0 for the CPU


def devices() -> tuple[Device, ...]:
    """The usable devices of this machine; the CPU is the first. `tarn doctor` says more."""
    found, _ = _tarn.devices()
    return tuple(Device(*values) for values in found)


@dataclass(frozen=True)
class Minimum:
    """Local minima of clusters; numbers instead of arrays for one cluster of shape (atom, 3)."""

    positions_A: NDArray[np.float64]  #: shape of the positions that were given
    energy_kcal_per_mol: Any  #: with the intramolecular energy of flexible models
    max_gradient_kcal_per_mol_A: Any  #: torques count as forces at 1 A
    iterations: Any
    converged: Any


def minimise(
    positions_A: ArrayLike,
    *,
    model: ModelLike = "tip3p",
    tolerance_kcal_per_mol_A: float = 1e-6,
    max_iterations: int = 10_000,
    threads: int = 0,
) -> Minimum:
    """Minimises the energy of each cluster, and leaves saddle points.

    Rigid molecules are first put onto the geometry of the model and keep it; all atoms of flexible
    models move.

    Parameters
    ----------
    positions_A : array, shape (replica, atom, 3) or (atom, 3)
        Not changed.
    model : str, path or WaterModel
    tolerance_kcal_per_mol_A : float
        Largest gradient component at convergence.
    max_iterations : int
    threads : int
        Number of threads that share the clusters; 0: all.

    Returns
    -------
    Minimum

    Raises
    ------
    InputError
        For another shape, and for distances within molecules that differ from the model's.
    """
    values = _tarn.minimise(
        positions_A,
        model_name(model),
        _arguments.real("minimise", "tolerance_kcal_per_mol_A", tolerance_kcal_per_mol_A),
        _arguments.integer("minimise", "max_iterations", max_iterations, 0),
        _arguments.integer("minimise", "threads", threads),
    )
    converged = values["converged"]
    values["converged"] = converged.astype(bool) if np.ndim(converged) else bool(converged)
    return Minimum(**values)


@dataclass(frozen=True)
class NormalModes:
    """Harmonic normal modes of one cluster, by increasing wavenumber."""

    energy_kcal_per_mol: float  #: with the intramolecular energy of flexible models, or the penalty
    max_gradient_kcal_per_mol_A: float
    is_stationary: bool
    imaginary: int  #: number of imaginary modes, whose wavenumbers are negative
    zero_point_energy_kcal_per_mol: float
    wavenumbers_per_cm: NDArray[np.float64]  #: six are 0: translations, then rotations
    ir_intensities_km_per_mol: NDArray[np.float64]
    translation: NDArray[np.float64]  #: share of the kinetic energy in translations of molecules
    rotation: NDArray[np.float64]
    vibration: NDArray[np.float64]
    displacements_per_sqrt_Da: NDArray[np.float64]  #: (mode, atom, 3)


def normal_modes(
    positions_A: ArrayLike,
    *,
    model: ModelLike = "tip3p",
    omega: float = np.inf,
    masses_Da: Mapping[str, float] = MappingProxyType({}),
) -> NormalModes:
    """Normal modes at a configuration, which need not be a minimum.

    Parameters
    ----------
    positions_A : array, shape (atom, 3)
        The geometry of rigid molecules is kept; minimise first.
    model : str, path or WaterModel
    omega : float
        Penalty strength of the bonds of a rigid model in sqrt(kcal/mol)/A^2; infinite: rigid.
    masses_Da : mapping of "H" and "O" to float
        {"H": 2.014} for D2O. Default of each: 1.008 and 15.9994, or that of the deck that `model`
        names.

    Returns
    -------
    NormalModes
    """
    if not isinstance(masses_Da, Mapping) or not set(masses_Da) <= {"H", "O"}:
        raise InputError(
            f"normal_modes: masses_Da = {masses_Da!r}; expected a mapping with the keys H and O, such "
            'as {"H": 2.014}'
        )
    masses = [
        _arguments.real("normal_modes", f"masses_Da[{atom!r}]", masses_Da[atom])
        if atom in masses_Da
        else None
        for atom in "HO"
    ]
    return NormalModes(
        **_tarn.normal_modes(
            positions_A, model_name(model), _arguments.real("normal_modes", "omega", omega), *masses
        )
    )


def rdf(
    trajectory: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | ArrayLike,
    *,
    pairs: str | Sequence[str] = ("OO", "OH", "HH"),
    r_max_A: float = 12.0,
    bin_width_A: float = 0.05,
    skip: int = 0,
    every: int = 1,
    replicas: int | Sequence[int] = (),
) -> Table:
    """Radial distribution functions with errors, as `tarn rdf` computes them.

    Parameters
    ----------
    trajectory : path, sequence of paths, or array
        Trajectories of one cluster in any format that tarn reads, pooled; or positions of shape
        (frame, replica, atom, 3), or (frame, atom, 3) of one replica.
    pairs : str or sequence of str
        Of "OO", "OH", "HH".
    r_max_A, bin_width_A : float
        `r_max_A` must be a multiple of the bin width.
    skip, every, replicas
        Frames and replicas to use: leave out the first `skip` frames of each replica, and take
        every n-th of the others. `replicas` counts from 0; default: all.

    Returns
    -------
    Table
        The columns of `rdf.csv`: r_A, OO_count, OO_g, OO_g_err, ...

    Warns
    -----
    UserWarning
        For what the program prints as warnings, such as a truncated file. Notes go to the logger
        "tarn", level INFO.
    """
    options = (
        _arguments.texts("rdf", "pairs", pairs),
        _arguments.real("rdf", "r_max_A", r_max_A),
        _arguments.real("rdf", "bin_width_A", bin_width_A),
    )
    skip = _arguments.integer("rdf", "skip", skip, 0)
    every = _arguments.integer("rdf", "every", every, 1)
    chosen = [_arguments.integer("rdf", "replicas", r, 0) for r in _arguments.many(replicas)]
    is_path = isinstance(trajectory, str | os.PathLike)
    if is_path or (
        isinstance(trajectory, list | tuple)
        and trajectory
        and all(isinstance(file, str | os.PathLike) for file in trajectory)
    ):
        files: Any = [trajectory] if is_path else trajectory
        paths = [os.fspath(file) for file in files]
        with reading(*paths):
            table, notes, found = _tarn.rdf_of_files(paths, *options, skip, every, chosen)
    else:
        positions_A = _selected(trajectory, skip, every, chosen)
        table, notes, found = _tarn.rdf_of_array(positions_A, *options)
    for note in notes:
        logging.getLogger("tarn").info(note)
    for warning in found:
        warnings.warn(warning, stacklevel=2)
    return Table(*table)


def _selected(positions_A: Any, skip: int, every: int, replicas: list[int]) -> Any:
    """Some of the frames and replicas of an array."""
    if not skip and every == 1 and not replicas:
        return positions_A
    array = np.asarray(positions_A)
    if replicas and array.ndim != 4:
        raise InputError(
            f"rdf: replicas = {replicas}, but positions_A has the shape {array.shape}; expected "
            "(frame, replica, atom, 3)"
        )
    for replica in replicas:
        if replica >= array.shape[1]:
            raise InputError(f"rdf: replicas = {replicas}; there are {array.shape[1]} replicas")
    if array.ndim and skip >= len(array):
        raise InputError(f"rdf: no frame is left: skip = {skip} of {len(array)} frames")
    array = array[skip::every] if array.ndim else array
    return array[:, replicas] if replicas else array


def random_cluster(
    molecules: int, *, seed: int = 1, model: ModelLike = "tip3p", replicas: int | None = None
) -> NDArray[np.float64]:
    """Molecules at random positions and orientations in a sphere, in angstrom.

    The cluster of a replica depends on the seed and the number of the replica only.

    Returns
    -------
    array, shape (atom, 3), or (replica, atom, 3) if `replicas` is given
    """
    positions_A: NDArray[np.float64] = _tarn.random_cluster(
        _arguments.integer("random_cluster", "molecules", molecules, 1),
        _arguments.integer("random_cluster", "seed", seed, 0, 2**64 - 1),
        model_name(model),
        None if replicas is None else _arguments.integer("random_cluster", "replicas", replicas, 1),
    )
    return positions_A


@dataclass(frozen=True)
class Structure:
    """A structure from a file; atoms O, H, H of each molecule."""

    positions_A: NDArray[np.float64]  #: (atom, 3)
    velocities_A_per_ps: NDArray[np.float64] | None  #: (atom, 3), if the file has them
    model: str | None  #: water model that the file names
    comment: Mapping[str, str]  #: other data of the frame
    notes: tuple[str, ...]  #: what the reader changed or left out
    warnings: tuple[str, ...]  #: what asks for an action, such as a truncated file


def read_structure(
    path: str | os.PathLike[str], *, frame: int | None = None, replica: int | None = None
) -> Structure:
    """Reads one frame of a structure or trajectory file: XYZ, GRO, PDB, DCD, XTC, TRR or H5MD.

    Atoms are brought into the order O, H, H.

    Parameters
    ----------
    path : path
    frame, replica : int
        Counted from 0; default: the first.

    Raises
    ------
    FileError, InputError
        With line and column.
    """
    place = [
        None if number is None else _arguments.integer("read_structure", name, number)
        for name, number in (("frame", frame), ("replica", replica))
    ]
    with reading(os.fspath(path)):
        values = _tarn.read_structure(os.fspath(path), *place)
    for level in ("notes", "warnings"):
        values[level] = tuple(values[level])
    return Structure(**values)


def write_structure(
    path: str | os.PathLike[str],
    positions_A: ArrayLike,
    *,
    velocities_A_per_ps: ArrayLike | None = None,
    model: str | WaterModel = "",
) -> None:
    """Writes one cluster in the format of the extension: .xyz, .gro, .pdb.

    Parameters
    ----------
    path : path
    positions_A : array, shape (atom, 3)
    velocities_A_per_ps : array, shape (atom, 3)
    model : str or WaterModel
        Name of the water model for the comment of the file.
    """
    _tarn.write_structure(os.fspath(path), positions_A, velocities_A_per_ps, model_name(model))
