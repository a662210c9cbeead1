"""Functions on clusters, structures and trajectories."""

from __future__ import annotations

import logging
import os
import re
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from tarn import _arguments, _deck, _tarn
from tarn._errors import InputError, TarnWarning, reading
from tarn._potential import PotentialLike, function_of
from tarn._table import Table


@dataclass(frozen=True)
class WaterModel:
    """A built-in water model; `tarn models` prints the same numbers.

    Lengths of flexible models are those at the minimum of their intramolecular potential.
    """

    name: str  #: in decks
    title: str  #: as in papers
    source: str  #: the paper
    is_flexible: bool
    is_many_body: bool  #: charges and bonds are then those of a molecule near its minimum
    sites: int  #: 4 with the massless site M
    oh_A: float
    hoh_degrees: float
    om_A: float  #: distance of M from O; 0 without M
    charge_hydrogen_e: float  #: O or M has -2 times this charge
    sigma_A: float
    epsilon_kcal_per_mol: float
    dipole_D: float  #: of a molecule, in debye
    stretch: str  #: "rigid", "harmonic", "quartic" or "morse"
    stretch_stiffness_kcal_per_mol_A2: float | None
    stretch_depth_kcal_per_mol: float | None
    stretch_alpha_per_A: float | None
    bend_stiffness_kcal_per_mol_rad2: float | None
    gamma: float | None  #: of M of flexible models

    def parameters(self) -> dict[str, Any]:
        """A new dictionary with the keys of [model], to change and use as an own model."""
        if self.is_many_body:
            raise InputError(f"{self.name} is a many-body model, which [model] cannot describe")
        derived = {"name", "title", "source", "is_flexible", "is_many_body", "sites", "dipole_D"}
        derived |= {"om_A"} if self.is_flexible or not self.om_A else set()
        return {
            key: value
            for key, value in vars(self).items()
            if key not in derived and value is not None
        }


#: The built-in water models by name; decks and functions also accept `own` models.
models: Mapping[str, WaterModel] = MappingProxyType(
    {values["name"]: WaterModel(**values) for values in _tarn.models()}
)


#: A name of `models`, one of its values, the path of a file with a [model] section, or a
#: dictionary with the keys of this section or with the section.
ModelLike = str | os.PathLike[str] | WaterModel | Mapping[str, Any]


def model_name(model: ModelLike) -> str:
    """The name of a model, the path of its file, or the text of its deck, which has lines."""
    if isinstance(model, WaterModel):
        if models.get(model.name) != model:
            raise InputError(
                f"model = a changed {model.name}; change the dictionary that "
                f"tarn.models[{model.name!r}].parameters() returns, and give that"
            )
        return model.name
    if isinstance(model, Mapping):
        is_deck = any(isinstance(part, Mapping) for part in model.values())
        return _deck.text_of(model if is_deck else {"model": model})
    if isinstance(model, str | os.PathLike):
        name = _arguments.path("tarn", "model", model)
        if "\n" not in name:
            return name
    raise InputError(
        f"model = {model!r}; expected a name in tarn.models, the path of a file with a [model] "
        "section, or a dictionary with its keys"
    )


def _model_or_potential(function: str, model: ModelLike | None, potential: Any) -> str:
    """The name of the model, which a potential does not need."""
    if model is None and potential is None:
        raise InputError(
            f"{function}: model = None; expected a name in tarn.models such as \"tip3p\", or a potential"
        )
    return "tip3p" if model is None else model_name(model)


def energy_and_forces(
    positions_A: ArrayLike, *, model: ModelLike, device: str = "cpu", threads: int = 0
) -> tuple[Any, NDArray[np.float64]]:
    """Energies and forces of clusters in vacuum: all pairs, no cutoff, double precision.

    Parameters
    ----------
    positions_A : array, shape (replica, atom, 3) or (atom, 3)
        Positions in angstrom; atoms O, H, H of each molecule. Arrays of float64 in C order are read
        without a copy, also those of PyTorch, JAX and other libraries on the CPU.
    model : str, path, dict or WaterModel
        Name of a water model (`tarn.models`); or the path of a file with a [model] section, or a
        dictionary with its keys.
    device : str
        "cpu", "cuda" or "cuda:1"; each call on a GPU makes a new engine, for large batches.
    threads : int
        Number of CPU threads; 0: all.

    Returns
    -------
    energy : array, shape (replica,), or float
        In kcal/mol: between molecules (the `potential_kcal_per_mol` of tables), plus the
        intramolecular energy of flexible models (the `total_potential_kcal_per_mol` of
        `tarn energy`).
    forces : array of the shape of positions_A
        Minus the gradient of the energy, in kcal/mol/A.

    Raises
    ------
    InputError
        For another shape, an unknown model or device.
    DeviceError
        If the device cannot be used.
    """
    result: tuple[Any, NDArray[np.float64]] = _tarn.energy_and_forces(
        positions_A, model, device, threads
    )
    return result


def dipole_moments(positions_A: ArrayLike, *, model: ModelLike) -> NDArray[np.float64]:
    """Dipole moments of clusters from the charges of the model, in e A.

    Parameters
    ----------
    positions_A : array, shape (replica, atom, 3) or (atom, 3)
    model : str, path, dict or WaterModel
        As in `energy_and_forces`.

    Returns
    -------
    array, shape (replica, 3) or (3,)
    """
    moments: NDArray[np.float64] = _tarn.dipole_moments(positions_A, model)
    return moments


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
    model: ModelLike | None = None,
    tolerance_kcal_per_mol_A: float = 1e-6,
    max_iterations: int = 10_000,
    device: str = "cpu",
    threads: int = 0,
    potential: PotentialLike | None = None,
) -> Minimum:
    """Minimises the energy of each cluster, and leaves saddle points.

    Rigid molecules are first put onto the geometry of the model and keep it; all atoms of flexible
    models and of a potential move.

    Parameters
    ----------
    positions_A : array, shape (replica, atom, 3) or (atom, 3)
        Not changed.
    model : str, path, dict or WaterModel
        As in `energy_and_forces`; not needed with a potential.
    tolerance_kcal_per_mol_A : float
        Largest gradient component at convergence. With a potential in single precision, at least
        a few times the error of its forces and, per angstrom, of its energies.
    max_iterations : int
    device : str
        "cpu", or "cuda" and its numbers as in `run`, for pairwise models of up to 32 molecules;
        others are minimised on the CPU.
    threads : int
        Number of threads that share the clusters; 0: all. Not used with a potential.
    potential : callable
        Energies and forces in place of those of the model, as in `run`. It is called for up to 64
        clusters at a time.

    Returns
    -------
    Minimum

    Raises
    ------
    InputError
        For another shape, and for distances within molecules that differ from the model's.

    Warns
    -----
    TarnWarning
        If minima were not reached, unless `max_iterations` is 0.
    """
    values = _tarn.minimise(
        positions_A,
        _model_or_potential("minimise", model, potential),
        _arguments.real("minimise", "tolerance_kcal_per_mol_A", tolerance_kcal_per_mol_A),
        _arguments.integer("minimise", "max_iterations", max_iterations, 0),
        _arguments.text("minimise", "device", device),
        _arguments.integer("minimise", "threads", threads),
        function_of("minimise", potential),
    )
    converged = values["converged"]
    values["converged"] = converged.astype(bool) if np.ndim(converged) else bool(converged)
    left = np.flatnonzero(~np.atleast_1d(values["converged"]))
    if left.size and max_iterations != 0:
        which = f" of replica {left[0]}" if np.ndim(converged) else ""
        more = f" and {left.size - 1} others" if left.size > 1 else ""
        iterations = np.atleast_1d(values["iterations"])[left[0]]
        advice = (
            "increase max_iterations"
            if iterations >= max_iterations
            else "if the errors of the forces are larger, increase tolerance_kcal_per_mol_A"
        )
        warnings.warn(
            f"minimise: the minimum{which}{more} was not reached in {iterations} iterations; {advice}",
            TarnWarning,
            stacklevel=2,
        )
    return Minimum(**values)


@dataclass(frozen=True)
class PotentialCheck:
    """Forces of a potential beside differences of its energies."""

    energy_kcal_per_mol: float  #: at the given positions
    largest_force_kcal_per_mol_A: float  #: component, at positions displaced by up to 0.03 A
    largest_difference_kcal_per_mol_A: float  #: of the forces from differences of energies
    oh_wavenumber_per_cm: float  #: highest of the O-H stretches; 0 with `bonds=False`
    forces_agree: bool  #: to 1 % of the largest force
    depends_on_batch: bool  #: whether an image alone has other digits than with others


def check_potential(
    potential: PotentialLike, positions_A: ArrayLike, *, bonds: bool = True
) -> PotentialCheck:
    """Compares the forces of a potential with differences of its energies, as
    `tarn check --potential` does for potentials of decks.

    The potential is called for the cluster and its displaced images (24 for each of up to ten
    molecules), and before and after that for the cluster alone.

    Parameters
    ----------
    potential : callable
        As in `run`.
    positions_A : array, shape (atom, 3) or (replica, atom, 3)
        Near equilibrium, such as `tarn.random_cluster(2, model="qtip4pf")`. The first of several
        replicas is used.
    bonds : bool
        Whether the potential has bonds, whose stiffness reveals wrong units of energies.

    Returns
    -------
    PotentialCheck

    Raises
    ------
    NumericalError
        If an energy or force is not finite.

    Warns
    -----
    TarnWarning
        If the forces differ by more than 1 % of the largest one, or the bonds are unlike those of
        water, with a likely cause: units, sign, order of the atoms, or a wrong formula.
    """
    function = function_of("check_potential", potential)
    if function is None:
        raise InputError("check_potential: potential = None; expected a function of positions")
    values = _tarn.check_potential(
        function, positions_A, _arguments.flag("check_potential", "bonds", bonds)
    )
    for text in values.pop("warnings"):
        warnings.warn(text, TarnWarning, stacklevel=2)
    return PotentialCheck(**values)


@dataclass(frozen=True)
class NormalModes:
    """Harmonic normal modes of one cluster, by increasing wavenumber."""

    energy_kcal_per_mol: float  #: with the intramolecular energy of flexible models, or the penalty
    max_gradient_kcal_per_mol_A: float
    is_stationary: bool
    imaginary: int  #: number of imaginary modes, whose wavenumbers are negative
    zero_point_energy_kcal_per_mol: float
    wavenumbers_per_cm: NDArray[np.float64]  #: six are 0: translations, then rotations
    ir_intensities_km_per_mol: NDArray[np.float64]  #: nan with a potential
    translation: NDArray[np.float64]  #: share of the kinetic energy in translations of molecules
    rotation: NDArray[np.float64]
    vibration: NDArray[np.float64]
    displacements_per_sqrt_Da: NDArray[np.float64]  #: (mode, atom, 3)


def _masses_Da(function: str, masses: Any) -> tuple[float | None, float | None]:
    """Masses of O and H from (O, H) or {"O": ..., "H": ...}; None: those of the model."""
    if masses is None:
        return None, None
    expected = 'expected (mass of O, mass of H) in Da, or {"O": ..., "H": ...}'
    if isinstance(masses, Mapping):
        if not masses or not set(masses) <= {"O", "H"}:
            raise InputError(f"{function}: masses = {masses!r}; {expected}")
        masses = (masses.get("O"), masses.get("H"))
    pair = _arguments.many(masses)
    if len(pair) != 2:
        raise InputError(f"{function}: masses = {masses!r}; {expected}")
    o, h = (None if mass is None else _arguments.real(function, "masses", mass) for mass in pair)
    return o, h


def _isotopes(function: str, isotopes: Any, masses: Any) -> list[str]:
    """Names of isotopes, or "name=number", as strings."""
    if isotopes is None:
        return []
    if masses is not None:
        raise InputError(f"{function}: isotopes and masses exclude each other")
    if isinstance(isotopes, Mapping):
        isotopes = [f"{name}={number}" for name, number in isotopes.items()]
    return _arguments.texts(function, "isotopes", isotopes)


def normal_modes(
    positions_A: ArrayLike,
    *,
    model: ModelLike | None = None,
    omega: float = np.inf,
    masses: Sequence[float] | Mapping[str, float] | None = None,
    isotopes: Sequence[str] | Mapping[str, int] | None = None,
    potential: PotentialLike | None = None,
    displacement_A: float = 0.005,
) -> NormalModes:
    """Normal modes at a configuration, which need not be a minimum.

    Parameters
    ----------
    positions_A : array, shape (atom, 3)
        The geometry of rigid molecules is kept; minimise first.
    model : str, path, dict or WaterModel
        As in `energy_and_forces`; with a potential it only determines the masses.
    omega : float
        Penalty strength of the bonds of a rigid model in sqrt(kcal/mol)/A^2; infinite: rigid.
    masses : (float, float) or dict
        Masses of O and H in Da, or {"H": 2.014} for one of them. Default: 15.9994 and 1.008, or
        those of the file of the model. Other functions have no such argument: energies, forces
        and minima do not depend on masses; those of runs are keys of [system].
    isotopes : sequence of str, or dict
        The isotopes of each molecule, such as ["HDO", "H2O"], or numbers of molecules from the
        first one on, such as {"D2O": 2}, in place of `masses`; see [system] isotopes of decks.
    potential : callable
        Energies and forces in place of those of the model, as in `run`: all atoms move, and second
        derivatives are differences of forces, from one call for 6 times the number of atoms, plus
        one, images.
    displacement_A : float
        Displacement of the atoms in these differences, at most 0.1. Smaller ones are more accurate
        if the errors of the forces are below 1e-4 kcal/mol/A.

    Returns
    -------
    NormalModes

    Warns
    -----
    TarnWarning
        If the configuration is not stationary: the modes then depend on the coordinates.
    """
    omega = _arguments.real("normal_modes", "omega", omega)
    if potential is not None and omega != np.inf:
        raise InputError(
            f"normal_modes: omega = {omega:g} is for the bonds of rigid models; leave it out with a "
            "potential"
        )
    modes = NormalModes(
        **_tarn.normal_modes(
            positions_A,
            _model_or_potential("normal_modes", model, potential),
            omega,
            *_masses_Da("normal_modes", masses),
            _isotopes("normal_modes", isotopes, masses),
            function_of("normal_modes", potential),
            _arguments.real("normal_modes", "displacement_A", displacement_A),
        )
    )
    if not modes.is_stationary:
        warnings.warn(
            "normal_modes: the structure is not a minimum: the largest force or torque is "
            f"{modes.max_gradient_kcal_per_mol_A:.2g} kcal/mol/A; minimise it first (tarn.minimise)",
            TarnWarning,
            stacklevel=2,
        )
    return modes


def rdf(
    trajectory: str | os.PathLike[str] | Sequence[str | os.PathLike[str]] | ArrayLike,
    *,
    pairs: str | Sequence[str] = ("OO", "OH", "HH"),
    r_max_A: float = 12.0,
    bin_width_A: float = 0.05,
    skip: int = 0,
    every: int = 1,
    replicas: int | Sequence[int] = (),
    beads: int | None = None,
) -> Table:
    """Radial distribution functions with errors, as `tarn rdf` computes them.

    Parameters
    ----------
    trajectory : path, sequence of paths, or array
        Trajectories of one cluster in any format that tarn reads, pooled; or positions of shape
        (frame, replica, atom, 3), (frame, replica, bead, atom, 3), or (frame, atom, 3) of one
        replica. Pairs are those within a bead.
    pairs : str or sequence of str
        Of "OO", "OH", "HH".
    r_max_A, bin_width_A : float
        `r_max_A` must be a multiple of the bin width.
    skip, every, replicas
        Frames and replicas to use: leave out the first `skip` frames of each replica, and take
        every n-th of the others. `replicas` counts from 0; default: all.
    beads : int
        Number of beads in each frame of files of ring polymers that do not contain it (XTC, TRR).

    Returns
    -------
    Table
        The columns of `rdf.csv`: r_A, OO_count, OO_g, OO_g_err, ...

    Warns
    -----
    TarnWarning
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
    beads = None if beads is None else _arguments.integer("rdf", "beads", beads, 1)
    chosen = [_arguments.integer("rdf", "replicas", r, 0) for r in _arguments.many(replicas)]
    is_path = isinstance(trajectory, str | bytes | os.PathLike)
    if is_path or (
        isinstance(trajectory, list | tuple)
        and trajectory
        and all(isinstance(file, str | bytes | os.PathLike) for file in trajectory)
    ):
        files: Any = [trajectory] if is_path else trajectory
        paths = [_arguments.path("rdf", "trajectory", file) for file in files]
        with reading(*paths):
            table, notes, found = _tarn.rdf_of_files(paths, *options, skip, every, chosen, beads)
    else:
        if beads is not None:
            raise InputError(
                "rdf: beads is for files; arrays with beads have the shape "
                "(frame, replica, bead, atom, 3)"
            )
        positions_A = _selected(trajectory, skip, every, chosen)
        table, notes, found = _tarn.rdf_of_array(positions_A, *options)
    for note in notes:
        logging.getLogger("tarn").info(note)
    for warning in found:
        warnings.warn(warning, TarnWarning, stacklevel=2)
    return Table(*table)


@dataclass(frozen=True)
class TemperatureLadder:
    """Temperatures for replica exchange."""

    temperatures_K: NDArray[np.float64]  #: shape (temperature,), for [thermostat] temperatures_K
    acceptances: NDArray[np.float64]  #: shape (temperature - 1,), estimated, of the neighbours


def temperature_ladder(
    lowest_K: float,
    highest_K: float,
    *,
    molecules: int,
    model: ModelLike,
    acceptance: float = 0.3,
    beads: int = 1,
) -> TemperatureLadder:
    """The fewest temperatures whose neighbours exchange often enough, as `tarn check` proposes.

    An estimate for normally distributed energies, equations (36) and (89): each molecule has a heat
    capacity of 5 k, that of liquid clusters, and the harmonic vibrations of a flexible model.
    Melting needs closer temperatures; the end of a run with exchange reports the measured ones.

    Parameters
    ----------
    lowest_K, highest_K : float
        Ends of the ladder in kelvin.
    molecules : int
        Number of molecules of the cluster.
    model : str, path, dict or WaterModel
        As in `energy_and_forces`.
    acceptance : float
        Lowest acceptance of neighbours, between 0 and 1.
    beads : int
        Beads of the ring polymers of a flexible model; 1: classical nuclei.

    Returns
    -------
    TemperatureLadder

    Raises
    ------
    InputError
        For temperatures that are not positive or do not rise, and for an acceptance that needs
        more than 10 000 temperatures.
    """
    name = "temperature_ladder"
    return TemperatureLadder(
        *_tarn.temperature_ladder(
            _arguments.real(name, "lowest_K", lowest_K),
            _arguments.real(name, "highest_K", highest_K),
            _arguments.integer(name, "molecules", molecules, 1),
            model_name(model),
            _arguments.real(name, "acceptance", acceptance),
            _arguments.integer(name, "beads", beads, 1, 1024),
        )
    )


def _selected(positions_A: Any, skip: int, every: int, replicas: list[int]) -> Any:
    """Some of the frames and replicas of an array."""
    if not skip and every == 1 and not replicas:
        return positions_A
    array = np.asarray(positions_A)
    if replicas and array.ndim not in (4, 5):
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
    file = _arguments.path("read_structure", "path", path)
    with reading(file):
        values = _tarn.read_structure(file, *place)
    for level in ("notes", "warnings"):
        values[level] = tuple(values[level])
    return Structure(**values)


def write_structure(
    path: str | os.PathLike[str],
    positions_A: ArrayLike,
    *,
    velocities_A_per_ps: ArrayLike | None = None,
    model: ModelLike = "",
) -> None:
    """Writes one cluster in the format of the extension: .xyz, .gro, .pdb.

    Parameters
    ----------
    path : path
    positions_A : array, shape (atom, 3)
    velocities_A_per_ps : array, shape (atom, 3)
    model : str, path, dict or WaterModel
        The water model, whose name the file then contains; "own" for files and dictionaries.
    """
    file = _arguments.path("write_structure", "path", path)
    name = model if isinstance(model, str) and not model else model_name(model)
    if "\n" in name or name.endswith(".toml"):
        name = "own"
    if re.search(r"[\s\"'=\x00-\x1f\x7f]", name):
        raise InputError(
            f"write_structure: model = {name!r}; expected a name without blanks and quotes"
        )
    _tarn.write_structure(file, positions_A, velocities_A_per_ps, name)
