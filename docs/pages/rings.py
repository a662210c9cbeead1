"""What the pages on ring polymers share: frequencies of ring polymers, and the water cube as
harmonic oscillators with any number of beads."""

import math
import tomllib

import numpy as np
from page import BOLTZMANN_KCAL_PER_MOL_K, BOLTZMANN_PER_CM_K, MEV_PER_KCAL_PER_MOL, ROOT


def exact_radius2(x: np.ndarray) -> np.ndarray:
    """Squared radius of the ring polymer of an oscillator [(hbar/kT)^2 kT/m] by x = hbar w/kT."""
    large = np.maximum(x, 0.01)
    return np.where(x > 0.01, (0.5 * large / np.tanh(0.5 * large) - 1) / large**2, 1 / 12)


class Ring:
    """The internal modes of a ring polymer.

    Parameters
    ----------
    frequencies : array, in units of kT/hbar
    counts : array, the number of modes with each frequency
    """

    def __init__(self, frequencies: np.ndarray, counts: np.ndarray) -> None:
        self.frequencies, self.counts = frequencies, counts

    def radius2(self, x: np.ndarray) -> np.ndarray:
        """As exact_radius2()."""
        return (self.counts / (self.frequencies**2 + x[..., None] ** 2)).sum(axis=-1)


def trotter(beads: int) -> Ring:
    """Springs between neighbouring beads."""
    return Ring(2 * beads * np.sin(np.pi * np.arange(1, beads) / beads), np.ones(beads - 1))


def economised(beads: int, x_max: float) -> Ring:
    """The fit of equation (86), by the method of Levenberg and Marquardt."""
    unknowns = (beads // 2 + 2) // 3
    counts = np.full(unknowns, 2.0)
    counts[-1] = beads - 1 - 2 * (unknowns - 1)
    y = 2 * np.pi * np.arange(1.0, unknowns + 1)
    y[-1] = 2 * np.pi * math.sqrt(0.5 * counts[-1] * (unknowns - 0.5))
    points, weights = np.polynomial.legendre.leggauss(8 * unknowns + 40)
    x = 0.5 * x_max * (points + 1)
    scales = np.sqrt(0.5 * weights) / exact_radius2(x)

    def residuals(y: np.ndarray) -> np.ndarray:
        return scales * (Ring(y, counts).radius2(x) - exact_radius2(x))

    damping, r = 1e-3, residuals(y)
    for _ in range(500):
        slopes = -2 * scales[:, None] * counts * y**2 / (y**2 + x[:, None] ** 2) ** 2
        normal = slopes.T @ slopes
        changes = np.linalg.solve(normal + damping * np.diag(np.diag(normal)), -slopes.T @ r)
        other = y * np.exp(np.clip(changes, -1, 1))
        if (better := residuals(other)) @ better < r @ r:
            y, r, damping = other, better, 0.2 * damping
        else:
            damping = min(4 * damping, 1e12)
    return Ring(y, counts)


def ring_of(deck: object, t_K: float) -> Ring:
    """The ring polymers of a checked deck at a temperature."""
    section = tomllib.loads(str(deck))["path_integral"]
    if section["frequencies"] == "trotter":
        return trotter(section["beads"])
    return economised(section["beads"], section["highest_wavenumber_per_cm"] / (BOLTZMANN_PER_CM_K * t_K))


class Cube:
    """The cube of eight q-TIP4P/F molecules as harmonic oscillators."""

    def __init__(self, hydrogen_mass_Da: float = 1.008) -> None:
        import tarn

        start = tarn.read_structure(ROOT / "inputs" / "structures" / "qtip4pf-8.xyz").positions_A
        self.positions_A = tarn.minimise(start, model="qtip4pf").positions_A
        molecule = tarn.minimise(start[:3], model="qtip4pf").positions_A
        of_molecule, modes = (
            tarn.normal_modes(x, model="qtip4pf", masses={"H": hydrogen_mass_Da})
            for x in (molecule, self.positions_A)
        )  # fmt: skip
        self.highest_per_cm = of_molecule.wavenumbers_per_cm.max()
        self.wavenumbers_per_cm = np.maximum(modes.wavenumbers_per_cm, 0.0)
        masses = np.tile([15.9994, hydrogen_mass_Da, hydrogen_mass_Da], len(self.positions_A) // 3)
        # Share of an atom in the kinetic energy of a mode, (mode, atom).
        self.shares = (modes.displacements_per_sqrt_Da**2).sum(axis=2) * masses

    def energies(self, t_K: float, ring: Ring | None = None) -> np.ndarray:
        """Mean energy of each mode in kT, of ring polymers or exact."""
        x = self.wavenumbers_per_cm / (BOLTZMANN_PER_CM_K * t_K)
        return 1 + x**2 * (ring.radius2(x) if ring else exact_radius2(x))

    def kinetic_meV(self, t_K: float, ring: Ring | None = None) -> np.ndarray:
        """Mean kinetic energy of each atom."""
        half_kT_meV = 0.5 * MEV_PER_KCAL_PER_MOL * BOLTZMANN_KCAL_PER_MOL_K * t_K
        return half_kT_meV * self.energies(t_K, ring) @ self.shares

    def kinetic_error(self, t_K: float, ring: Ring) -> float:
        """Relative error of the mean kinetic energy of the hydrogens."""
        of_rings, exact = (
            self.kinetic_meV(t_K, r).reshape(-1, 3)[:, 1:].mean() for r in (ring, None)
        )  # fmt: skip
        return of_rings / exact - 1

    def energy_error(self, t_K: float, ring: Ring) -> float:
        """Error of the energy [kcal/mol]."""
        excess = (self.energies(t_K, ring) - self.energies(t_K)).sum()
        return BOLTZMANN_KCAL_PER_MOL_K * t_K * excess

    def largest_error(self, t_K: float, ring: Ring) -> float:
        """Largest relative error of the kinetic energy of any vibration up to the highest of one
        molecule, which tarn check prints."""
        x = np.linspace(0, self.highest_per_cm / (BOLTZMANN_PER_CM_K * t_K), 1025)[1:]
        of_rings, exact = 1 + x**2 * ring.radius2(x), 1 + x**2 * exact_radius2(x)
        return np.abs(of_rings / exact - 1).max()
