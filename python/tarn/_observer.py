"""Collective variables in Python."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from tarn import _arguments
from tarn._errors import InputError
from tarn._frame import Frame


@dataclass
class Observer:
    """A function of a Frame that becomes a table of a run; see `observer`."""

    function: Callable[[Frame], Any]
    columns: list[str]
    every: int
    file: str
    fields: list[str]
    replicas: str | int = "all"
    may_be_unknown: bool = False
    steady: bool = False
    settings: str = ""
    save: Callable[[], bytes] | None = field(default=None, repr=False)
    load: Callable[[bytes], None] | None = field(default=None, repr=False)

    def __post_init__(self) -> None:
        if not callable(self.function):
            raise InputError(f"observer: {self.function!r} is not a function of a Frame")
        self.columns = _arguments.texts("observer", "columns", self.columns)
        self.fields = _arguments.texts("observer", "fields", self.fields)
        self.every = _arguments.integer("observer", "every", self.every, 1, 2**63 - 1)
        self.file = _arguments.text("observer", "file", self.file)
        self.settings = _arguments.text("observer", "settings", self.settings)
        if not isinstance(self.replicas, str):
            self.replicas = _arguments.integer("observer", "replicas", self.replicas)
        for name in ("may_be_unknown", "steady"):
            setattr(self, name, _arguments.flag("observer", name, getattr(self, name)))
        for name in ("save", "load"):
            call = getattr(self, name)
            if call is not None and not callable(call):
                raise InputError(f"observer: {name} = {call!r}; expected a function")

    def __call__(self, frame: Frame) -> Any:
        return self.function(frame)


def observer(
    columns: str | Sequence[str],
    *,
    every: int = 100,
    file: str | os.PathLike[str] | None = None,
    fields: str | Sequence[str] = ("positions_A",),
    replicas: str | int = "all",
    may_be_unknown: bool = False,
    steady: bool = False,
    settings: str = "",
    save: Callable[[], bytes] | None = None,
    load: Callable[[bytes], None] | None = None,
) -> Callable[[Callable[[Frame], Any]], Observer]:
    """Decorates a collective variable for `tarn.run(observers=[...])`.

    The run writes `<file>.csv` with the columns, averages with errors and a picture, and continues
    the table after a restart, as for the tables of tarn.

    Parameters
    ----------
    columns : str or sequence of str
        Names with units, such as "oo_shortest_A".
    every : int
        Steps between calls.
    file : str
        Name of the table; default: the name of the function.
    fields : str or sequence of str
        What the frame contains: "positions_A", "velocities_A_per_ps", "energies", and of ring
        polymers "beads_A", "atom_kinetic_kcal_per_mol".
    replicas : "all", "mean" or int
        Replicas with rows, as in decks; averages cover all of them.
    may_be_unknown : bool
        Whether values may be nan; they are left out of averages. Otherwise nan ends the run.
    steady : bool
        Whether a significant drift of the mean causes a warning.
    settings : str
        Other settings of the function; a resumed run must have the same.
    save, load : callable
        Store the state of the function in checkpoints, as bytes, if it keeps any between steps.

    Returns
    -------
    decorator
        For a function of a Frame that returns an array of shape (replica, column), or (replica,)
        for one column. It is called once for all replicas, in the thread of `run`.
    """

    table = None if file is None else _arguments.path("observer", "file", file)
    names, arrays = (_arguments.texts("observer", name, given)
                     for name, given in (("columns", columns), ("fields", fields)))  # fmt: skip

    def decorate(function: Callable[[Frame], Any]) -> Observer:
        name = table or getattr(function, "__name__", "observer")
        return Observer(
            function, names, every, name, arrays, replicas, may_be_unknown, steady, settings, save,
            load,
        )  # fmt: skip

    decorate(lambda frame: None)  # reports wrong arguments at their line
    return decorate
