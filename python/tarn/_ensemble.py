"""An engine in one's own loop."""

from __future__ import annotations

import os
import warnings
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from tarn import _arguments, _deck, _tarn
from tarn._errors import InputError, TarnWarning
from tarn._frame import Frame
from tarn._potential import PotentialLike, function_of

_advance = _tarn.Ensemble.advance

#: Arrays of an EnsembleFrame.
FIELDS = ("positions_A", "velocities_A_per_ps", "energies", "replica_ids")


@dataclass(frozen=True)
class BlowUp:
    """A replica that was stopped because an atom became too fast or a number became nan."""

    replica: int
    step: int
    molecule: int
    text: str  #: place, likely cause and remedy


class EnsembleFrame:
    """A Frame of an Ensemble.

    Arrays that the frame does not have yet are taken when they are first read, which is possible
    until the ensemble advances.
    """

    def __init__(self, ensemble: Ensemble, fields: Sequence[str]):
        self._ensemble = ensemble
        self._step: int = ensemble.step
        self._time_ps: float = ensemble.time_ps
        self._arrays: dict[str, NDArray[Any]] = {}
        for field in fields:
            self._array(field)

    def _array(self, field: str) -> NDArray[Any]:
        if field not in self._arrays:
            if self._ensemble.step != self._step:
                raise InputError(
                    f"{field} of step {self._step} was not taken before the ensemble advanced; "
                    f'read it inside the loop, or use frames(..., fields=["{field}"])'
                )
            self._arrays[field] = getattr(self._ensemble, field)
        return self._arrays[field]

    @property
    def step(self) -> int:
        return self._step

    @property
    def time_ps(self) -> float:
        return self._time_ps

    @property
    def replica_ids(self) -> NDArray[np.int64]:
        return self._array("replica_ids")

    @property
    def positions_A(self) -> NDArray[np.float64]:
        return self._array("positions_A")

    @property
    def velocities_A_per_ps(self) -> NDArray[np.float64]:
        return self._array("velocities_A_per_ps")

    @property
    def energies(self) -> NDArray[Any]:
        return self._array("energies")


class Ensemble(_tarn.Ensemble):
    """The replicas of a deck, advanced by an engine; a context manager.

    The observers and the length of the deck are ignored. Arrays are read-only views of snapshots
    and stay valid: an advance never changes an array, and an array keeps its memory after the
    ensemble is closed. Stopped replicas are left out of arrays; see `replica_ids`.

    Parameters
    ----------
    deck : path or dict
        As in `run`; it may leave out the length of the run.
    device : str
        "auto", "cpu", "cuda" or "cuda:1"; default: that of the deck.
    threads : int
        Number of CPU threads, 0 for all; default: that of the deck.
    potential : callable
        As in `run`. If it raises an exception, `advance` raises it and the ensemble stays at its
        last complete step.
    set, unset : dict, str or sequence of str
        Changes of the deck, as in `run`.
    """

    def __init__(
        self,
        deck: _deck.DeckLike,
        *,
        device: str | None = None,
        threads: int | None = None,
        potential: PotentialLike | None = None,
        set: Mapping[str, Any] | None = None,
        unset: str | Sequence[str] = (),
    ):
        where = _arguments.device_and_threads("Ensemble", device, threads)
        function = function_of("Ensemble", potential)
        super().__init__(
            _deck.load(deck, set, unset, needs_length=False, has_potential=function is not None),
            *where.values(),
            function,
        )
        self._warn()

    @classmethod
    def load(
        cls,
        path: str | os.PathLike[str],
        *,
        device: str | None = None,
        threads: int | None = None,
        potential: PotentialLike | None = None,
    ) -> Ensemble:
        """Continues from a checkpoint of `save`, or from the folder of a run of water.

        Checkpoints do not contain the device: the default is "auto" with all threads. They contain
        the name of the potential, which must be that of `potential`.
        On the same kind of device, the trajectory is the same bit by bit as without the restart.
        """
        where = _arguments.device_and_threads("load", device, threads)
        ensemble = cls.__new__(cls)
        _tarn.Ensemble.__init__(
            ensemble,
            _arguments.path("load", "path", path),
            *where.values(),
            function_of("load", potential),
        )
        ensemble._warn()
        return ensemble

    def _warn(self) -> None:
        """Issues the warnings about the start at the caller of the caller."""
        for text in self.warnings:
            warnings.warn(text, TarnWarning, stacklevel=3)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes a checkpoint, for `load` and for `[system] state` of decks."""
        super().save(_arguments.path("save", "path", path))

    def advance(self, steps: int) -> None:
        """Advances all replicas by a number of steps.

        A replica that blows up is stopped, the others continue; see `blow_ups`. NumericalError is
        raised if none is left, within 100 steps. Ctrl-C raises KeyboardInterrupt at an earlier
        step, from which advance() can continue.
        """
        _advance(self, steps)

    def close(self) -> None:
        """Frees the engine. Arrays stay valid."""
        super().close()

    @property
    def blow_ups(self) -> tuple[BlowUp, ...]:
        """Replicas that were stopped."""
        return tuple(BlowUp(*values) for values in self.stopped())

    def frames(
        self, steps: int, every: int, *, fields: str | Sequence[str] = ("positions_A",)
    ) -> Iterator[Frame]:
        """Advances by `steps` and yields a Frame after each `every` steps.

        Parameters
        ----------
        fields : str or sequence of str
            Arrays that each frame takes at once: "positions_A", "velocities_A_per_ps", "energies".
            Others are taken when they are read inside the loop.
        """
        steps = _arguments.integer("frames", "steps", steps, 0, 2**63 - 1)
        every = _arguments.integer("frames", "every", every, 1, 2**63 - 1)
        fields = _arguments.texts("frames", "fields", fields)
        for field in fields:
            if field not in FIELDS:
                raise InputError(f"frames: unknown field {field!r}; use {', '.join(FIELDS)}")
        return self._frames(steps, every, fields)

    def _frames(self, steps: int, every: int, fields: Sequence[str]) -> Iterator[Frame]:
        for _ in range(steps // every):
            self.advance(every)
            yield EnsembleFrame(self, fields)
        self.advance(steps % every)

    def __enter__(self) -> Ensemble:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        if not self.is_open:
            return "<tarn.Ensemble, closed>"
        return f"<tarn.Ensemble: {self.replicas} x {self.molecules} molecules, step {self.step}>"
