"""What the result pages share: tables, values with errors, decks and runs, templates."""

from __future__ import annotations

import csv
import importlib.util
import io
import math
import os
import tempfile
import time
import tomllib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
RESULTS = ROOT / "docs" / "results"
BOLTZMANN_KCAL_PER_MOL_K = 0.0019872041
BOLTZMANN_PER_CM_K = 0.6950348004
MEV_PER_KCAL_PER_MOL = 43.36410424180094


@dataclass(frozen=True)
class Value:
    """A mean with its standard error.

    f"{v}" is "0.506 ± 0.003", f"{v:+}" the same with its sign, f"{v:.2f}" the mean alone. A mean that
    is nan, because no run met it, is "–".
    """

    mean: float
    error: float = math.nan

    def __format__(self, spec: str) -> str:
        if math.isnan(self.mean):
            return "–"
        if spec not in ("", "+"):
            return format(self.mean, spec)
        digits = decimals_for(self.error)
        return f"{self.mean:{spec}.{digits}f} ± {self.error:.{digits}f}"

    def __add__(self, other: Value) -> Value:
        return Value(self.mean + other.mean, math.hypot(self.error, other.error))

    def __sub__(self, other: Value) -> Value:
        return self + other * -1.0

    def __mul__(self, factor: float) -> Value:
        return Value(self.mean * factor, abs(factor) * self.error)

    __rmul__ = __mul__

    def __truediv__(self, divisor: float) -> Value:
        return self * (1.0 / divisor)

    def sigmas_to(self, other: Value) -> float:
        """The difference in standard errors; 0 if the errors are unknown, and nan if a mean is."""
        difference, error = abs(self.mean - other.mean), math.hypot(self.error, other.error)
        return difference / error if error > 0.0 else 0.0 * difference


NOT_MET = Value(math.nan, math.nan)


def first_value(rows: Any, mean: str = "mean", error: str = "error") -> Value:
    """The mean and the error in the first row of a table; NOT_MET without rows: which rows there are
    may depend on what a run met."""
    return Value(rows[mean][0], rows[error][0]) if len(rows) else NOT_MET


def weighted_mean(values: Sequence[Value]) -> tuple[Value, float]:
    """Mean with the weights 1/error², and χ². If χ² exceeds its degrees of freedom, the error is
    larger by the root of their ratio (Birge 1932). Values that are nan are left out; both results
    are nan if all are."""
    values = [v for v in values if not math.isnan(v.mean)]
    if not values:
        return NOT_MET, math.nan
    weights = np.array([1.0 / v.error**2 for v in values])
    means = np.array([v.mean for v in values])
    mean = float((weights * means).sum() / weights.sum())
    chi_square = float((weights * (means - mean) ** 2).sum())
    scale = math.sqrt(max(1.0, chi_square / max(1, len(values) - 1)))
    return Value(mean, scale / math.sqrt(weights.sum())), chi_square


def combined(values: Sequence[Value]) -> str:
    """Results of several starts: their weighted mean if they agree within three standard errors, else
    the range between them."""
    known = [v for v in values if math.isfinite(v.mean) and v.error > 0.0]
    if not known:
        return "–"
    if all(a.sigmas_to(b) <= 3.0 for a in known for b in known):
        return f"{weighted_mean(known)[0]}"
    low, high = min(known, key=lambda v: v.mean), max(known, key=lambda v: v.mean)
    digits = min(decimals_for(low.error), decimals_for(high.error))
    return f"{low.mean:.{digits}f} to {high.mean:.{digits}f}"


def decimals_for(error: float) -> int:
    """The decimals that show two digits of an error."""
    if not (error > 0.0 and math.isfinite(error)):
        return 3
    return min(max(1 - math.floor(math.log10(error)), 0), 9)


class Table:
    """A CSV table: table["column"] is an array of numbers, or of texts."""

    def __init__(self, columns: Mapping[str, np.ndarray], provenance: str = "") -> None:
        self.columns, self.provenance = dict(columns), provenance

    def __getitem__(self, name: str) -> np.ndarray:
        return self.columns[name]

    def __len__(self) -> int:
        return len(next(iter(self.columns.values())))

    def __iter__(self) -> Iterator[Row]:
        return (Row({n: c[k] for n, c in self.columns.items()}) for k in range(len(self)))

    def where(self, **values: Any) -> Table:
        """The rows in which these columns have these values."""
        chosen = np.ones(len(self), dtype=bool)
        for name, value in values.items():
            chosen &= self.columns[name] == value
        return self.chosen(chosen)

    def chosen(self, rows: np.ndarray) -> Table:
        """The rows for which the array is true."""
        return Table({n: c[rows] for n, c in self.columns.items()}, self.provenance)

    def by(self, name: str) -> dict[Any, Table]:
        """The rows of each value of a column, in the order of their first rows."""
        return {v: self.where(**{name: v}) for v in dict.fromkeys(self.columns[name].tolist())}

    def one(self, **values: Any) -> Row:
        """The only row with these values."""
        (row,) = self.where(**values)
        return row


class Row:
    """A row of a table: row.column, and row.value("column") with the error in "column_err"."""

    def __init__(self, cells: dict[str, Any]) -> None:
        self.__dict__.update(cells)

    def value(self, name: str) -> Value:
        return Value(getattr(self, name), getattr(self, f"{name}_err"))


def read_table(path: Path) -> Table:
    """Reads a CSV file; lines that begin with # are its provenance."""
    lines = path.read_text(encoding="utf-8").splitlines()
    head = [line[1:].strip() for line in lines if line.startswith("#")]
    names, *rows = csv.reader(line for line in lines if not line.startswith("#"))
    columns = {}
    for name, cells in zip(names, zip(*rows, strict=True) if rows else [()] * len(names), strict=True):
        try:
            columns[name] = np.array([float(cell) for cell in cells])
        except ValueError:
            columns[name] = np.array(cells, dtype=str)
    return Table(columns, "\n".join(head))


def _cells(value: Any, digits: int) -> Iterator[str]:
    if isinstance(value, Value):
        yield from _cells([value.mean, value.error], digits)
    elif isinstance(value, str):
        yield value
    elif isinstance(value, Iterable):
        for one in value:
            yield from _cells(one, digits)
    elif isinstance(value, int | np.integer):
        yield str(value)
    else:
        yield format(float(value), f".{digits}g")


def thinned(each: int, *columns: np.ndarray) -> np.ndarray:
    """Indices of rows that a long table keeps: every `each`-th, the last, and those with the
    smallest and the largest value of a column."""
    every, last = range(0, len(columns[0]), each), len(columns[0]) - 1
    return np.unique([*every, last, *(k(c) for c in columns for k in (np.argmin, np.argmax))])


def write_table(
    path: Path, provenance: str, columns: Sequence[str], rows: Iterable[Any], digits: int = 17
) -> None:
    """Writes a CSV file. Cells of a row are numbers, texts, Values (two cells) or lists of these."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(columns)
    for row in rows:
        cells = list(_cells(row, digits))
        if len(cells) != len(columns):
            raise ValueError(f"{path}: a row of {len(cells)} cells for {len(columns)} columns")
        writer.writerow(cells)
    path.write_text(f"# {provenance}\n{text.getvalue()}", encoding="utf-8")


def markdown(header: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """A Markdown table; cells are texts, numbers or Values."""
    lines = [header, ["---"] * len(header)] + [[f"{cell}" for cell in row] for row in rows]
    texts = ["| " + " | ".join(line) + " |" for line in lines]
    texts[1] = "|" + "---|" * len(header)
    return "\n".join(texts)


class Page:
    """A page of docs/results: a module <name>.py with TITLE, run(), text() and draw(), and a
    template <name>.md.in. run() measures and writes tables; text() returns the fields of the
    template and draw() a picture, both from these tables alone.

    Optional in the module: DECK (a file of inputs), SET (changes of the deck),
    SCHEMES, SLOW (whether run() takes minutes).

    Parameters
    ----------
    share : float
        Share of the length of runs that is made, for tests; 1 for the page itself.
    """

    def __init__(self, name: str, out: Path = RESULTS, share: float = 1.0, threads: int = 0) -> None:
        self.name, self.out, self.share, self.threads = name, out, share, threads
        self.module = load_module(name)
        self.title: str = self.module.TITLE
        self.deck: str = getattr(self.module, "DECK", "")
        self.changes: dict[str, Any] = getattr(self.module, "SET", {})
        self.schemes: list[str] = getattr(self.module, "SCHEMES", [])
        self.is_slow: bool = getattr(self.module, "SLOW", False)

    def path(self, suffix: str) -> Path:
        return self.out / f"{self.name}{suffix}"

    @property
    def deck_path(self) -> Path:
        return ROOT / "inputs" / self.deck

    @cached_property
    def _deck(self) -> dict[str, Any]:
        """The page's deck without its changes."""
        return tomllib.loads(self.deck_path.read_text(encoding="utf-8"))

    # --- from tables to text

    def table(self, suffix: str = "") -> Table:
        """<name><suffix>.csv."""
        return read_table(self.path(f"{suffix}.csv"))

    def key(self, name: str) -> Any:
        """A key of the page's deck, such as "system.replicas", with the page's changes."""
        if name in self.changes:
            return self.changes[name]
        value: Any = self._deck
        for part in name.split("."):
            value = value[part]
        return value

    def common_fields(self) -> dict[str, str]:
        """Fields of every template: head, picture, deck and command."""
        changes = [f"`{key}={value}`" for key, value in self.changes.items()]
        return {
            "head": f"# {self.title}\n\n<!-- made by: docs/pages/make {self.name} -->",
            "picture": f"![{self.title}]({self.name}.svg)",
            "deck": "Deck: " + ", ".join([f"`inputs/{self.deck}`", *changes]),
            "command": f"Command: `docs/pages/make {self.name}`.",
            "conditions": self.conditions() if self.deck else "",
        }

    def conditions(self, **changes: Any) -> str:
        """Step, friction and wall of the page's deck, for captions."""
        values = {"integrator": {}, "thermostat": {}, "confinement": {}}
        for section, keys in values.items():
            keys.update(self._deck.get(section, {}))
        for name, value in (self.changes | changes).items():
            section, key = name.split(".", 1)
            if section in values:
                values[section][key] = value
        parts = []
        if "timestep_fs" in values["integrator"]:
            parts.append(f"time step {values['integrator']['timestep_fs']:g} fs")
        if "friction_per_ps" in values["thermostat"]:
            parts.append(f"friction {values['thermostat']['friction_per_ps']:g}/ps")
        wall = values["confinement"]
        if "radius_A" in wall:
            stiffness = wall.get("stiffness_kcal_per_mol_A2", 5.0)
            parts.append(f"wall at {wall['radius_A']:g} Å with {stiffness:g} kcal/mol/Å²")
        else:
            parts.append("no wall")
        text = ", ".join(parts)
        return text[0].upper() + text[1:]

    def fields(self) -> dict[str, Any]:
        """The fields of the template: the common ones and those of the module."""
        return self.common_fields() | self.module.text(self)

    def markdown(self) -> str:
        """The page: the template with its fields."""
        template = (HERE / f"{self.name}.md.in").read_text(encoding="utf-8")
        return template.format_map(self.fields())

    # --- from runs to tables

    def write(
        self, columns: Sequence[str], rows: Iterable[Any], suffix: str = "", machine: str = "",
        digits: int = 17,
    ) -> None:  # fmt: skip
        """Writes <name><suffix>.csv; see write_table(). The machine is added to the provenance."""
        import tarn

        provenance = "; ".join(filter(None, [f"tarn {tarn.__version__}", self.deck, machine]))
        write_table(self.path(f"{suffix}.csv"), provenance, columns, rows, digits)

    def scratch(self) -> tempfile.TemporaryDirectory[str]:
        """A temporary folder beside the files of the page."""
        return tempfile.TemporaryDirectory(dir=self.out, prefix=f".{self.name}-")

    def load(
        self, set: Mapping[str, Any] | None = None, unset: Sequence[str] = (), scheme: str = ""
    ) -> Any:
        """The page's deck with further changes, and perhaps another scheme: a checked Deck."""
        from tarn import _deck, _tarn

        deck = _deck.load(self.deck_path, self.changes | dict(set or {}), unset)
        return _tarn.with_scheme(deck, scheme) if scheme else deck

    def shortened(self, set: Mapping[str, Any] | None, unset: Sequence[str]) -> dict[str, Any]:
        """The arguments set and unset of a run of the page's share of the length."""
        set, unset = self.changes | dict(set or {}), list(unset)
        if self.share < 1.0:
            run = tomllib.loads(str(self.load(set, unset)))["run"]
            set["run.steps"] = round(self.share * run["steps"])
            set["run.equilibration_ps"] = self.share * run["equilibration_ps"]
            unset += ["run.duration_ps"] if "duration_ps" in self.key("run") else []
            set.pop("run.duration_ps", None)
        return {"set": set, "unset": unset}

    def run(
        self,
        set: Mapping[str, Any] | None = None,
        unset: Sequence[str] = (),
        observers: Sequence[Any] = (),
        read: Callable[[Any], Any] | None = None,
        potential: Any = None,
    ) -> Any:
        """Runs the page's deck with changes on the CPU, in a temporary folder.

        Returns
        -------
        The tarn.Result, or what read(result) returns, which may read the files of the run.
        """
        import tarn

        with self.scratch() as folder:
            result = tarn.run(
                self.deck_path, f"{folder}/run", device="cpu", threads=self.threads,
                observers=observers, pictures=False, potential=potential,
                **self.shortened(set, unset),
            )  # fmt: skip
            return read(result) if read else result

    def compare(self, schemes: Sequence[str], read: Callable[[Any], Any], **options: Any) -> Any:
        """As run(), by tarn.compare(schemes, ...)."""
        import tarn

        changes = self.shortened(options.pop("set", None), options.pop("unset", ()))
        with self.scratch() as folder:
            return read(
                tarn.compare(
                    self.deck_path, schemes, f"{folder}/run", device="cpu",
                    threads=self.threads, pictures=False, **changes, **options,
                )
            )  # fmt: skip


def average(result: Any, column: str) -> Value:
    """The average of a column of a run."""
    return Value(result.averages[column].mean, result.averages[column].error)


def load_module(name: str) -> ModuleType:
    """The module of a page, whose name may contain hyphens."""
    spec = importlib.util.spec_from_file_location(f"page_{name}", HERE / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def names() -> list[str]:
    """The names of all pages."""
    return sorted(path.name.removesuffix(".md.in") for path in HERE.glob("*.md.in"))


def core_ns_per_step(decks: Sequence[Any], turns: int, seconds: float) -> np.ndarray:
    """time_in_turns() of checked decks, each on one thread of the CPU."""
    from tarn import _tarn

    return time_in_turns([_tarn.Ensemble(deck, "cpu", 1) for deck in decks], turns, seconds)


def observe_all(
    page: Page, decks: Sequence[Any], read: Callable[[Path], Any] = lambda _: None
) -> list[dict[str, Any]]:
    """Runs decks, each on one thread, with their observers.

    Returns
    -------
    What tarn._tarn.observe() returns, with "read": what read(folder) returns of a run's folder.
    """
    from tarn import _tarn

    def observe(deck: Any) -> dict[str, Any]:
        with page.scratch() as folder:
            return _tarn.observe(deck, folder) | {"read": read(Path(folder))}

    with ThreadPoolExecutor(page.threads or os.cpu_count()) as pool:
        return list(pool.map(observe, decks))


def time_in_turns(ensembles: Sequence[Any], turns: int, seconds: float) -> np.ndarray:
    """Core times of a step of one cluster [ns], (ensemble, turn). The ensembles take turns of about
    this length, so that other load of the machine affects all alike."""

    def measure(ensemble: Any, steps: int) -> float:
        began = time.process_time()
        ensemble.advance(steps)
        return 1e9 * (time.process_time() - began) / steps / ensemble.replicas

    counts = []
    for ensemble in ensembles:
        steps = 1
        while (ns := measure(ensemble, steps) * ensemble.replicas) * steps < 2e8 * seconds:
            steps *= 2
        counts.append(max(1, int(1e9 * seconds / ns)))
    pairs = list(zip(ensembles, counts, strict=True))
    times = np.array([[measure(*pair) for pair in pairs] for _ in range(turns)]).T
    if any(ensemble.stopped() for ensemble in ensembles):
        raise ValueError("a replica blew up while it was timed")
    return times


def quartiles(times: np.ndarray) -> np.ndarray:
    """Median, lower and upper quartile over the turns of time_in_turns(), (3, ensemble)."""
    return np.quantile(times, [0.5, 0.25, 0.75], axis=-1, method="lower")


def mean_and_error(values: Any) -> Value:
    """Mean and standard error of independent values."""
    values = np.asarray(values)
    return Value(values.mean(), values.std(ddof=1) / math.sqrt(len(values)))
