"""What the pages on ring polymers share: the water cube as harmonic oscillators with any number of
beads."""

import numpy as np
from page import BOLTZMANN_KCAL_PER_MOL_K, BOLTZMANN_PER_CM_K, MEV_PER_KCAL_PER_MOL, ROOT


class Cube:
    """The cube of eight q-TIP4P/F molecules as harmonic oscillators."""

    def __init__(self, hydrogen_mass_Da: float = 1.008, oxygen_mass_Da: float = 15.9994) -> None:
        import tarn

        start = tarn.read_structure(ROOT / "inputs" / "structures" / "qtip4pf-8.xyz").positions_A
        self.positions_A = tarn.minimise(start, model="qtip4pf").positions_A
        molecule = tarn.minimise(start[:3], model="qtip4pf").positions_A
        of_molecule, modes = (
            tarn.normal_modes(x, model="qtip4pf", masses={"H": hydrogen_mass_Da, "O": oxygen_mass_Da})
            for x in (molecule, self.positions_A)
        )  # fmt: skip
        self.highest_per_cm = of_molecule.wavenumbers_per_cm.max()
        self.wavenumbers_per_cm = np.maximum(modes.wavenumbers_per_cm, 0.0)
        masses = np.tile([oxygen_mass_Da, hydrogen_mass_Da, hydrogen_mass_Da], len(self.positions_A) // 3)
        # Share of an atom in the kinetic energy of a mode, (mode, atom).
        self.shares = (modes.displacements_per_sqrt_Da**2).sum(axis=2) * masses

    def energies(self, t_K: float, deck: object = None) -> np.ndarray:
        """Mean energy of each mode in kT, of the ring polymers of a deck or exact."""
        from tarn import _tarn

        x = self.wavenumbers_per_cm / (BOLTZMANN_PER_CM_K * t_K)
        energy = _tarn.oscillator_energy if deck is None else _tarn.reduced_ring(deck, t_K).energy
        return np.array([energy(v) for v in x])

    def kinetic_meV(self, t_K: float, deck: object = None) -> np.ndarray:
        """Mean kinetic energy of each atom."""
        half_kT_meV = 0.5 * MEV_PER_KCAL_PER_MOL * BOLTZMANN_KCAL_PER_MOL_K * t_K
        return half_kT_meV * self.energies(t_K, deck) @ self.shares

    def kinetic_error(self, t_K: float, deck: object) -> float:
        """Relative error of the mean kinetic energy of the hydrogens."""
        of_rings, exact = (
            self.kinetic_meV(t_K, d).reshape(-1, 3)[:, 1:].mean() for d in (deck, None)
        )  # fmt: skip
        return of_rings / exact - 1

    def energy_error(self, t_K: float, deck: object) -> float:
        """Error of the energy [kcal/mol]."""
        excess = (self.energies(t_K, deck) - self.energies(t_K)).sum()
        return BOLTZMANN_KCAL_PER_MOL_K * t_K * excess

    def largest_error(self, t_K: float, deck: object, coldest_K: float | None = None) -> float:
        """Largest relative error of the kinetic energy of any vibration up to the highest of one
        molecule, which tarn check prints for the lowest temperature of a run."""
        from tarn import _tarn

        x = self.highest_per_cm / (BOLTZMANN_PER_CM_K * t_K)
        return _tarn.reduced_ring(deck, coldest_K or t_K).kinetic_error(x)
