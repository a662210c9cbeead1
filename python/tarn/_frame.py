"""What functions on replicas receive."""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray


class Frame(Protocol):
    """The replicas at one step. Arrays have one entry per running replica."""

    @property
    def step(self) -> int:
        """Number of the step."""

    @property
    def time_ps(self) -> float:
        """Time in ps."""

    @property
    def replica_ids(self) -> NDArray[np.int64]:
        """Numbers of the running replicas."""

    @property
    def positions_A(self) -> NDArray[np.float64]:
        """Positions (replica, atom, 3); a read-only view.

        Frames of an Ensemble with beads have (replica, bead, atom, 3), those of observers the
        centroids.
        """

    @property
    def beads_A(self) -> NDArray[np.float64]:
        """Positions (replica, bead, atom, 3) of ring polymers, for observers only."""

    @property
    def velocities_A_per_ps(self) -> NDArray[np.float64]:
        """Velocities (replica, atom, 3); of the centroids if there are beads."""

    @property
    def energies(self) -> NDArray[Any]:
        """Energies by name, each of shape (replica,); see `Ensemble.energies`."""

    @property
    def atom_kinetic_kcal_per_mol(self) -> NDArray[np.float64]:
        """Kinetic energy (replica, atom) of ring polymers, for observers only."""
