"""Tables and pictures of a run."""

from __future__ import annotations

import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tarn import _arguments, _tarn
from tarn._errors import MissingFileError

if TYPE_CHECKING:
    import pandas


#: Columns of integers. All other numbers are float64, also where each value is a whole number.
_COUNTERS = frozenset(
    ["step", "steps", "replica", "replicas", "stopped_replicas", "departed_replicas", "molecule"]
    + ["molecules", "molecules_gone", "bead", "beads", "atom", "isomer", "symmetry_order"]
    + ["samples", "of_samples", "attempts", "accepted", "departures", "at_risk", "returns"]
    + ["of_one_molecule", "converged", "OO_count", "OH_count", "HH_count"]
)


def _column(name: str, values: Any) -> np.ndarray:
    array = np.asarray(values)
    return array if array.dtype.kind != "i" or name in _COUNTERS else array.astype(np.float64)


class Table(np.ndarray):
    """A table as a structured array: `table["time_ps"]` is a column, `table[0]` a row.

    Steps, numbers of replicas and molecules, and counts are int64, other numbers float64.

    Attributes
    ----------
    provenance : str
        The text of the `#` line: program, system and a hash of the physics.
    """

    provenance: str

    def __new__(cls, provenance: str, columns: list[tuple[str, Any]]) -> Table:
        arrays = [_column(name, values) for name, values in columns]
        kinds = [(name, array.dtype) for (name, _), array in zip(columns, arrays, strict=True)]
        table = np.empty(len(arrays[0]) if arrays else 0, dtype=kinds).view(cls)
        for (name, _), array in zip(columns, arrays, strict=True):
            table[name] = array
        table.provenance = provenance
        return table

    def __array_finalize__(self, source: Any) -> None:
        self.provenance = getattr(source, "provenance", "")

    def __getitem__(self, key: Any) -> Any:
        part = super().__getitem__(key)
        is_column = isinstance(part, Table) and part.dtype.names is None
        return part.view(np.ndarray) if is_column else part

    def __reduce__(self) -> Any:
        reduced: Any = super().__reduce__()
        rebuild, arguments, state = reduced
        return rebuild, arguments, (state, self.provenance)

    def __setstate__(self, state: Any) -> None:
        numbers, self.provenance = state
        super().__setstate__(numbers)

    @property
    def columns(self) -> tuple[str, ...]:
        """Names of the columns."""
        return self.dtype.names or ()

    def to_pandas(self) -> pandas.DataFrame:
        """The table as a DataFrame; needs pandas."""
        import pandas

        return pandas.DataFrame({name: self[name] for name in self.columns})


class Picture:
    """A picture of a run, shown by notebooks."""

    def __init__(self, path: Path):
        self.path = path

    @property
    def svg(self) -> str:
        """The picture as SVG."""
        return self.path.read_text(encoding="utf-8")

    def _repr_svg_(self) -> str:
        return self.svg

    def __repr__(self) -> str:
        return f"Picture({str(self.path)!r})"


class Files:
    """The tables and pictures in an output folder."""

    def __init__(self, out: str | os.PathLike[str], pictures: Sequence[str] = ()):
        self.out = Path(out).absolute()  #: the output folder
        self.pictures = tuple(str(self.out / Path(path).name) for path in pictures)  #: paths

    def _described(self, what: str, warnings: Sequence[str]) -> str:
        """The text of repr()."""
        return "\n".join([f"<tarn.{what}>", *(f"warning: {text}" for text in warnings)])

    def _path(self, name: str, extension: str, what: str) -> Path:
        name = _arguments.text(what, "name", name)
        path = self.out / f"{name}{extension}"
        if not path.is_file():
            names = sorted(file.stem for file in self.out.glob(f"*{extension}"))
            raise MissingFileError(
                f"{path}: there is no such {what}; {self.out} has {', '.join(names) or 'none'}"
            )
        return path

    def table(self, name: str) -> Table:
        """Reads a table, such as "energies" for `energies.csv`."""
        return Table(*_tarn.read_table(str(self._path(name, ".csv", "table"))))

    def plot(self, name: str) -> Picture:
        """A picture, such as "rdf" for `rdf.svg`; matplotlib draws it at the end of the run."""
        return Picture(self._path(name, ".svg", "picture"))
