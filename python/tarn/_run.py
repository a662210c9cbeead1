"""Runs of decks."""

from __future__ import annotations

import json
import math
import os
import signal
import sys
import threading
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, TextIO

import numpy as np

from tarn import _arguments, _deck, _tarn
from tarn._ensemble import BlowUp
from tarn._errors import InputError, MissingFileError, TarnWarning, name_arguments
from tarn._observer import Observer
from tarn._potential import PotentialLike, function_of
from tarn._table import Files, Table


@dataclass(frozen=True)
class Progress:
    """Progress of a run, reported about twice a second."""

    step: int
    total_steps: int
    elapsed_seconds: float
    steps_per_second: float  #: of one replica
    ns_per_day_per_replica: float
    ns_per_day_total: float
    seconds_left: float


@dataclass(frozen=True)
class Average:
    """Mean of a column of a table after equilibration.

    With several temperatures, `mean`, `error`, `correlation_ps`, `independent_samples` and `samples` are
    arrays over `bath_K`.
    """

    table: str
    quantity: str
    mean: Any
    error: Any  #: standard error; 0 if unknown
    correlation_ps: Any  #: integrated autocorrelation time; nan for results of the whole run
    independent_samples: Any
    samples: Any
    converged: bool  #: False: error and autocorrelation time may be too small
    bath_K: Any = None  #: temperatures of the baths, if there are several


class Averages(Mapping[str, Average]):
    """Averages by quantity: `averages["potential_kcal_per_mol"]`.

    A quantity that several tables have is "table.quantity": `averages["energies.temperature_K"]`;
    this form is accepted for all.
    """

    def __init__(self, rows: Sequence[Mapping[str, Any]]):
        groups: dict[tuple[str, str], list[Mapping[str, Any]]] = {}
        for row in rows:
            groups.setdefault((row["table"], row["quantity"]), []).append(row)
        self._all = {f"{table}.{name}": _average(group) for (table, name), group in groups.items()}
        names = [name for _, name in groups]
        self._short = {
            name: f"{table}.{name}" for table, name in groups if names.count(name) == 1
        }

    def __getitem__(self, name: str) -> Average:
        try:
            return self._all[self._short.get(name, name)]
        except KeyError:
            raise KeyError(f"{name!r}; there are {', '.join(self) or 'no averages'}") from None

    def __iter__(self) -> Iterator[str]:
        long_to_short = {long: short for short, long in self._short.items()}
        return (long_to_short.get(name, name) for name in self._all)

    def __len__(self) -> int:
        return len(self._all)

    def __repr__(self) -> str:
        lines = [f"  {name}: {_mean_text(a)}" for name, a in self.items()]
        return "\n".join(["Averages:", *lines])


def _mean_text(average: Average) -> str:
    """The means with errors of two significant digits, one per bath."""

    def text(mean: float, error: float) -> str:
        if not 1e-12 * abs(mean) < error < math.inf:
            return f"{mean:.6g}"
        decimals = max(0, 1 - math.floor(math.log10(error)))
        form = ".1e" if decimals > 9 else f".{decimals}f"
        return f"{mean:{form}} ± {error:{form}}"

    pairs = zip(np.atleast_1d(average.mean), np.atleast_1d(average.error), strict=True)
    return ", ".join(text(mean, error) for mean, error in pairs)


def _average(rows: list[Mapping[str, Any]]) -> Average:
    def column(name: str) -> Any:
        values = [np.nan if row[name] is None else row[name] for row in rows]
        return values[0] if rows[0]["bath_K"] is None else np.array(values)

    return Average(
        table=rows[0]["table"],
        quantity=rows[0]["quantity"],
        mean=column("mean"),
        error=column("error"),
        correlation_ps=column("correlation_ps"),
        independent_samples=column("independent_samples"),
        samples=column("samples"),
        converged=all(row["converged"] for row in rows),
        bath_K=None if rows[0]["bath_K"] is None else column("bath_K"),
    )


@dataclass(frozen=True)
class ExchangePair:
    """Exchanges of two neighbours in temperature."""

    lower_bath_K: float
    upper_bath_K: float
    attempts: int
    accepted: int
    acceptance: float
    error: float


@dataclass(frozen=True)
class Exchange:
    """Results of replica exchange after equilibration."""

    pairs: tuple[ExchangePair, ...]
    round_trips: int
    round_trips_per_state: float
    structure_changes_per_walker: float  #: about ten are needed to forget the start


def _record(out: Path) -> dict[str, Any]:
    """Contents of run.json."""
    if not out.is_dir():
        raise MissingFileError(f"cannot read '{out}': there is no such folder")
    if not (out / "run.json").is_file():
        raise InputError(
            f"'{out}' is not the folder of a run: run.json is missing. Give the output folder of "
            "tarn.run or tarn run"
        )
    record: dict[str, Any] = json.loads((out / "run.json").read_text(encoding="utf-8"))
    return record


def _number(value: float | None) -> float:
    return math.nan if value is None else float(value)


def _recorded(record: Mapping[str, Any]) -> dict[str, Any]:
    """Averages, exchange, pictures and messages of a run, from its run.json."""
    averages = [
        {
            **row,
            "mean": _number(row["mean"]),
            "error": _number(row["error"]),
            "correlation_ps": _number(row["autocorrelation_ps"]),
            "independent_samples": _number(row["independent_samples"]),
            "bath_K": _number(row["bath_K"]) if "bath_K" in row else None,
        }
        for row in record.get("averages", [])
    ]
    exchange = record.get("exchange")
    if exchange is not None:
        keys = [field.name for field in fields(ExchangePair)]
        pairs = [[pair[key] for key in keys] for pair in exchange["pairs"]]
        exchange = {
            "pairs": [[math.nan if value is None else value for value in pair] for pair in pairs],
            "round_trips": exchange["round_trips"],
            "round_trips_per_state": exchange["round_trips"] / record["replicas"],
            "structure_changes_per_walker": exchange["structure_changes_per_walker"],
        }
    return {
        "averages": averages,
        "exchange": exchange,
        "pictures": record.get("pictures", []),
        "notes": record.get("notes", []),
        "warnings": record.get("warnings", []),
    }


def _last_step(out: Path) -> int:
    """The last step in the tables of a run."""
    last = 0
    for path in out.glob("*.csv"):
        with path.open("rb") as file:
            head = [file.readline(), file.readline()][1]
            file.seek(max(file.tell(), path.stat().st_size - 65536))
            rows = file.read().split(b"\n")[:-1]  # without a row that is not complete
        if head.startswith(b"step,") and rows:
            last = max(last, int(rows[-1].split(b",")[0]))
    return last


class Result(Files):
    """Result of a run. It can be pickled; tables and pictures stay in the folder `out`.

    `repr` shows the warnings.

    Attributes
    ----------
    out : pathlib.Path
        The output folder, an absolute path.
    pictures : tuple of str
        Absolute paths.
    averages : Averages
        Means with errors of all observed quantities.
    notes, warnings : tuple of str
        What the program prints: notes report something normal, warnings ask for an action.
    blow_ups : tuple of BlowUp
        Replicas that were stopped in this call.
    exchange : Exchange or None
    """

    averages: Averages
    notes: tuple[str, ...]
    warnings: tuple[str, ...]
    blow_ups: tuple[BlowUp, ...]
    exchange: Exchange | None
    steps_done: int
    already_finished: bool  #: a resumed run was complete
    wall_seconds: float
    steps_per_second: float
    ns_per_day_per_replica: float
    ns_per_day_total: float
    device: str

    def __init__(
        self,
        values: Mapping[str, Any],
        notes: Sequence[str],
        warnings: Sequence[str],
        blow_ups: Sequence[BlowUp],
    ):
        super().__init__(values["out"], values["pictures"])
        self.averages = Averages(values["averages"])
        self.notes = tuple(notes)
        self.warnings = tuple(warnings)
        self.blow_ups = tuple(blow_ups)
        self.exchange = None
        if values["exchange"] is not None:
            pairs = tuple(ExchangePair(*pair) for pair in values["exchange"]["pairs"])
            self.exchange = Exchange(**{**values["exchange"], "pairs": pairs})
        for name in (
            "steps_done", "already_finished", "wall_seconds", "steps_per_second",
            "ns_per_day_per_replica", "ns_per_day_total", "device",
        ):  # fmt: skip
            setattr(self, name, values[name])

    @property
    def record(self) -> dict[str, Any]:
        """Contents of run.json now: `record["status"]` is "running", "finished", "interrupted" or
        "failed", `record["deck"]` the complete deck."""
        return _record(self.out)

    @property
    def is_finished(self) -> bool:
        """Whether the run has done all its steps. False for one that is running or was killed."""
        return bool(self.record["status"] == "finished")

    @property
    def free_energy(self) -> Table:
        """The free energy along the coordinate of `[bias]`, from `free_energy.csv`: `coordinate`,
        `free_energy_kcal_per_mol` and its error `free_energy_kcal_per_mol_err`, `samples`."""
        return self.table("free_energy")

    def __repr__(self) -> str:
        what = f"Result of {self.out}: {self.steps_done} steps, {len(self.averages)} averages"
        return self._described(what, self.warnings)


class _Bar:
    """Prints progress and messages to standard error."""

    def __init__(self, stream: TextIO):
        self._stream = stream
        self._is_open = False

    def progress(self, p: Progress) -> None:
        percent = 100 * p.step / p.total_steps if p.total_steps else 100
        self._write(
            f"\r{p.step}/{p.total_steps} ({percent:.0f} %), {p.steps_per_second:.4g} steps/s, "
            f"{p.ns_per_day_total:.4g} ns/day, {p.seconds_left:.0f} s left   "
        )
        self._is_open = True

    def message(self, level: str, text: str) -> None:
        self.close()
        self._write(f"{level}: {text}\n")

    def close(self) -> None:
        if self._is_open:
            self._write("\n")
        self._is_open = False

    def _write(self, text: str) -> None:
        self._stream.write(text)
        self._stream.flush()


#: Signals that end a run of the program after a checkpoint; here those with these handlers.
_DEFAULT_HANDLERS: dict[signal.Signals, Any] = {signal.SIGINT: signal.default_int_handler} | dict.fromkeys(
    (signal.SIGTERM, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2), signal.SIG_DFL
)


class Interrupt:
    """Signals during a run: the run ends after a checkpoint, and functions that it calls complete.

    Afterwards Ctrl-C raises KeyboardInterrupt, and the other signals end the process, as they would
    have done at once without the run. So does the second signal. A signal that the run did not act
    on, because it had done its steps, does the same at the end. Other handlers stay.
    """

    def __init__(self) -> None:
        self.pending = False
        self.note = ""  #: for a KeyboardInterrupt at the end
        self._fatal: int | None = None  #: signal that ends the process
        self._replaced: list[signal.Signals] = []

    def __enter__(self) -> Interrupt:
        if threading.current_thread() is threading.main_thread():
            for number, handler in _DEFAULT_HANDLERS.items():
                if signal.getsignal(number) is handler:
                    signal.signal(number, self._note)
                    self._replaced.append(number)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        for number in self._replaced:
            signal.signal(number, _DEFAULT_HANDLERS[number])
        if self._fatal is not None:
            if kind is not None and value is not None and not issubclass(kind, KeyboardInterrupt):
                sys.excepthook(kind, value, traceback)
            signal.raise_signal(self._fatal)
        if self.pending and kind is None:
            late = KeyboardInterrupt()
            late.add_note(self.note)
            raise late

    def _note(self, number: int, frame: FrameType | None) -> None:
        is_fatal = number != signal.SIGINT
        if self.pending and is_fatal:
            signal.signal(number, signal.SIG_DFL)
            signal.raise_signal(number)
        if self.pending:
            signal.default_int_handler(number, frame)
        self.pending = True
        if is_fatal:
            self._fatal = number


ProgressLike = bool | Callable[[Progress], None]


class Reports:
    """Collects what a run reports, and passes its progress on.

    Warnings are issued at once, as Python warnings at the caller of the caller. Filters that make
    them errors take effect at the end: a run that took hours is not lost.
    """

    def __init__(self, progress: ProgressLike):
        self._error: Warning | None = None
        self.notes: list[str] = []
        self.warnings: list[str] = []
        self.blow_ups: list[BlowUp] = []
        self._bar = _Bar(sys.stderr) if progress is True else None
        self._call = self._bar.progress if self._bar else progress
        if not callable(self._call) and self._call:
            raise InputError(f"progress is {progress!r}; use True, False or a function")
        self.on_progress = self._progress if self._call else None

    def _progress(self, *numbers: Any) -> None:
        assert callable(self._call)
        self._call(Progress(*numbers))

    def on_message(self, level: str, text: str) -> None:
        if level == "warning":
            self.warn(text, stacklevel=4)
            return
        self.notes.append(text)
        if self._bar:
            self._bar.message(level, text)

    def warn(self, text: str, stacklevel: int = 3) -> None:
        """Issues a warning; `stacklevel` 3 is the caller of the function that calls this."""
        self.warnings.append(text)
        if self._bar:
            self._bar.close()
        try:
            warnings.warn(text, TarnWarning, stacklevel=stacklevel)
        except Warning as error:
            self._error = self._error or error

    def on_blow_up(self, *values: Any) -> None:
        self.blow_ups.append(BlowUp(*values))

    def __enter__(self) -> Reports:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, *traceback: object
    ) -> None:
        if self._bar:
            self._bar.close()
        name_arguments(value)
        if self._error is not None and kind is None:
            raise self._error


def run(
    deck: _deck.DeckLike,
    out: str | os.PathLike[str] | None = None,
    *,
    resume: bool = False,
    overwrite: bool = False,
    device: str | None = None,
    threads: int | None = None,
    observers: Observer | Sequence[Observer] = (),
    potential: PotentialLike | None = None,
    progress: ProgressLike = False,
    pictures: bool = True,
    set: Mapping[str, Any] | None = None,
    unset: str | Sequence[str] = (),
) -> Result:
    """Runs a deck in an output folder, as `tarn run` does; the files are the same.

    Ctrl-C stops the run after a checkpoint and raises KeyboardInterrupt; `resume=True` continues.
    SIGTERM, SIGHUP, SIGUSR1 and SIGUSR2 also stop it after a checkpoint, then end the process.

    Parameters
    ----------
    deck : path or dict
        A deck, or a dictionary with its sections: {"system": {...}, "observe": {"rdf": {}}, ...}.
        Relative paths in a dictionary start from the working folder.
    out : path
        Output folder; default: `out/<name of the deck>`, `out/deck` for a dictionary.
    resume : bool
        Continue from the checkpoint in the folder.
    overwrite : bool
        Replace the run in the folder.
    device : str
        "auto", "cpu", "cuda" or "cuda:1"; default: that of the deck.
    threads : int
        Number of CPU threads, 0 for all; default: that of the deck.
    observers : Observer or sequence of Observer
        Functions decorated with `tarn.observer`; water only.
    potential : callable
        Energies and forces in place of those of the water model: a function of positions (image,
        atom, 3) in A, a read-only array, that returns energies (image,) in kcal/mol and forces
        (image, atom, 3) in kcal/mol/A, as arrays of floating-point numbers of NumPy or another
        library. It is called once per step, for all images: the running replicas, or all their
        beads. The atoms of each molecule are O, H, H. Attributes: `name` (str) identifies it when
        the run is resumed, default: module and name; `units = "ase"` for eV and A. An argument
        named `image_ids` receives the number of each image, replica times beads plus bead. An
        exception ends the run after a checkpoint of the last complete step. See
        `docs/potentials.md` and `AsePotential`.
    progress : bool or callable
        True prints progress and notes to standard error; a function receives a Progress about
        twice a second.
    pictures : bool
        Whether to draw the tables at the end of the run.
    set, unset : dict, str or sequence of str
        Changes of the deck: {"run.steps": 1000}, ["observe.rdf"].

    Returns
    -------
    Result

    Warns
    -----
    TarnWarning
        For each of `Result.warnings`, when it arises. A filter that makes warnings errors raises
        the first one after the end of the run.

    Raises
    ------
    DeckError
        With all problems of the deck.
    InputError
        If the folder contains a run, or there is nothing to resume; if the potential returns
        arrays of another shape.
    TypeError
        If the potential returns no floating-point numbers.
    NumericalError
        If no replica is left.
    """
    function = function_of("run", potential)
    loaded = _deck.load(deck, set, unset, has_potential=function is not None)
    with Reports(progress) as reports, Interrupt() as interrupt:
        for level, text in _tarn.messages_on(loaded):
            reports.on_message(level, text)
        values = _tarn.run(
            deck=loaded,
            out="" if out is None else _arguments.path("run", "out", out),
            resume=_arguments.flag("run", "resume", resume),
            overwrite=_arguments.flag("run", "overwrite", overwrite),
            **_arguments.device_and_threads("run", device, threads),
            pictures=_arguments.flag("run", "pictures", pictures),
            observers=_arguments.many(observers),
            potential=function,
            on_progress=reports.on_progress,
            on_message=reports.on_message,
            on_blow_up=reports.on_blow_up,
            interrupt=interrupt,
        )
        interrupt.note = f"the run was complete; its files are in {values['out']}"
        if values["already_finished"]:
            recorded = _recorded(_record(Path(values["out"])))
            reports.notes += recorded.pop("notes")
            for warning in recorded.pop("warnings"):
                reports.warn(warning)
            values.update(recorded)
    return Result(values, reports.notes, reports.warnings, reports.blow_ups)


def open(folder: str | os.PathLike[str]) -> Result:
    """Opens the folder of a run of `run` or of the program.

    Of a run that is not finished, the result contains what is there: tables and `steps_done`, the
    last step in them, while it runs; averages too after an interruption.

    Parameters
    ----------
    folder : path

    Returns
    -------
    Result
        As returned by `run`. No warnings are issued.

    Raises
    ------
    MissingFileError
        If there is no such folder.
    InputError
        If the folder is not that of a run.
    """
    out = Path(_arguments.path("open", "folder", folder))
    record = _record(out)
    is_running = record["status"] == "running"
    values = {
        **_recorded(record),
        "out": out,
        "steps_done": max(record["steps_done"], _last_step(out) if is_running else 0),
        "already_finished": False,
        "device": record["device"],
    }
    for name in ("wall_seconds", "steps_per_second", "ns_per_day_per_replica", "ns_per_day_total"):
        values[name] = _number(record[name])
    keys = [field.name for field in fields(BlowUp)]
    blow_ups = [BlowUp(*(row[key] for key in keys)) for row in record.get("blow_ups", [])]
    return Result(values, values["notes"], values["warnings"], blow_ups)


class Report(Files):
    """A comparison of runs; `print(report)` prints it.

    `table("report")` has one row per quantity, temperature and run. Pictures are "rdf",
    "heat_capacity", "spectrum" and "isomers", of what the runs have.
    """

    def __init__(self, text: str, out: Path, pictures: Sequence[str]):
        super().__init__(out, pictures)
        self.text = text

    def __repr__(self) -> str:
        return self.text


def report(
    folders: str | os.PathLike[str] | Result | Sequence[str | os.PathLike[str] | Result],
    out: str | os.PathLike[str] = "report",
    *,
    pictures: bool = True,
) -> Report:
    """Compares finished runs, as `tarn report` does.

    Parameters
    ----------
    folders : path, Result, or sequence of these
        The runs. Differences are those from the first one.
    out : path
        Folder for `report.csv` and the pictures. Nothing is written for a single run.
    pictures : bool
        Whether to draw the curves of several runs.

    Returns
    -------
    Report
    """
    from tarn import reports  # imports matplotlib

    paths = [
        one.out if isinstance(one, Result) else Path(_arguments.path("report", "folders", one))
        for one in _arguments.many(folders)
    ]
    for path in paths:
        _record(path)
    into = Path(_arguments.path("report", "out", out))
    kind = "svg" if _arguments.flag("report", "pictures", pictures) else None
    try:
        text, lines = reports.report(paths, into if len(paths) > 1 else None, kind)
    except ValueError as error:
        raise InputError(str(error)) from None
    drawn = [line.removeprefix("picture: ") for line in lines if line.startswith("picture: ")]
    for line in lines:
        if not line.startswith("picture: "):
            warnings.warn(line.partition(": ")[2], TarnWarning, stacklevel=2)
    return Report(text, into, drawn)
