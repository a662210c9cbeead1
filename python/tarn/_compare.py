"""Comparisons of integration schemes."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

from tarn import _arguments, _deck, _tarn
from tarn._potential import PotentialLike, function_of
from tarn._run import Interrupt, ProgressLike, Reports
from tarn._table import Files


class Comparison(Files):
    """Result of a comparison: `table("compare")` has one row per scheme.

    `tarn compare` describes the other tables and pictures.
    """

    def __init__(self, values: Mapping[str, Any], notes: Sequence[str], warnings: Sequence[str]):
        super().__init__(values["out"], values["pictures"])
        self.device: str = values["device"]
        self.notes = tuple(notes)
        self.warnings = tuple(warnings)

    def __repr__(self) -> str:
        return self._described(f"Comparison in {self.out}", self.warnings)


def compare(
    deck: _deck.DeckLike,
    schemes: str | Sequence[str],
    out: str | os.PathLike[str] | None = None,
    *,
    overwrite: bool = False,
    steps: Sequence[float] = (),
    beads: Sequence[int] = (),
    free_ring: str | Sequence[str] = (),
    frequencies: str | Sequence[str] = (),
    reference: str = "",
    device: str | None = None,
    threads: int | None = None,
    potential: PotentialLike | None = None,
    progress: ProgressLike = False,
    pictures: bool = True,
    set: Mapping[str, Any] | None = None,
    unset: str | Sequence[str] = (),
) -> Comparison:
    """Runs a deck with each scheme for the same time, as `tarn compare` does.

    Parameters
    ----------
    deck : path or dict
        As in `run`.
    schemes : str or sequence of str
        "scheme" or "scheme:key=value:...", with keys of [integrator].
    out : path
        Output folder; default: `out/<name of the deck>-compare`.
    steps : sequence of float
        Runs each scheme with each of these time steps, in fs for water, against a reference.
    beads : sequence of int
        Runs each scheme with each of these numbers of beads.
    free_ring : str or sequence of str
        Runs each scheme with each of these flows of the free ring, "cayley" or "exact".
    frequencies : str or sequence of str
        Runs each scheme with each of these kinds of frequencies of the ring polymers, "economised"
        or "trotter". Only averages with "trotter" are extrapolated to infinitely many beads.
    reference : str
        The scheme of the reference; default: settle with half of the smallest step.
    overwrite, device, threads, potential, progress, pictures, set, unset
        As in `run`.

    Returns
    -------
    Comparison

    Warns
    -----
    TarnWarning
        As `run`.
    """
    function = function_of("compare", potential)
    loaded = _deck.load(deck, set, unset, has_potential=function is not None)
    with Reports(progress) as reports, Interrupt() as interrupt:
        values = _tarn.compare(
            deck=loaded,
            schemes=_arguments.texts("compare", "schemes", schemes),
            out="" if out is None else _arguments.path("compare", "out", out),
            overwrite=_arguments.flag("compare", "overwrite", overwrite),
            steps=[_arguments.real("compare", "steps", s) for s in _arguments.many(steps)],
            beads=[_arguments.integer("compare", "beads", b, 1) for b in _arguments.many(beads)],
            free_rings=_arguments.texts("compare", "free_ring", free_ring),
            frequencies=_arguments.texts("compare", "frequencies", frequencies),
            reference=_arguments.text("compare", "reference", reference),
            **_arguments.device_and_threads("compare", device, threads),
            pictures=_arguments.flag("compare", "pictures", pictures),
            potential=function,
            on_progress=reports.on_progress,
            on_message=reports.on_message,
            interrupt=interrupt,
        )
        interrupt.note = f"the comparison was complete; its files are in {values['out']}"
    return Comparison(values, reports.notes, reports.warnings)
