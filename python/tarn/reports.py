#!/usr/bin/env python3
"""Compares finished runs of tarn: averages, spectra, melting curves and isomers.

    tarn report out/a out/b
    python3 reports.py out/a out/b      # the same, in a folder with plots.py
"""

from __future__ import annotations

import argparse
import json
import math
import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib
import numpy as np

if __name__ == "__main__":
    import plots  # type: ignore[import-not-found,unused-ignore]
else:
    from tarn import plots

FEW_CHANGES = 10.0  # of structure per walker; with fewer, results may depend on the start
RARE_EXCHANGE = 0.07  # acceptance of two neighbours that are too far apart
WALL_SHARE = 0.05  # of the samples in which molecules touch the wall
PROMINENCE = 8.0  # of a peak, in standard errors; noise has maxima of up to six
LEAST_PEAK = 0.01  # height, relative to the highest one
SAME_PEAK_PER_CM = 150.0
SHOWN_SHARE = 0.02  # least population of an isomer in the printed table
SIGNIFICANT = 3.0  # standard errors

Key = tuple[str, str, "float | None"]  # table, quantity, temperature of one of several baths


class Value(NamedTuple):
    mean: float
    error: float = math.nan  # nan: unknown
    converged: bool = True

    @property
    def has_error(self) -> bool:
        return 1e-12 * abs(self.mean) < self.error < math.inf

    @property
    def is_zero(self) -> bool:
        """Exactly, as the penalty of rigid molecules."""
        return self.mean == 0.0 and self.error == 0.0

    def __str__(self) -> str:
        """Two digits of the error, as at the end of a run."""
        star = "" if self.converged else " *"
        if self.is_zero:
            return "0"
        if not self.has_error:
            return f"{self.mean:.6g} +- ?{star}"
        decimals = max(0, 1 - math.floor(math.log10(self.error)))
        form = ".1e" if decimals > 9 else f".{decimals}f"
        return f"{self.mean:{form}} +- {self.error:{form}}{star}"

    def minus(self, other: Value) -> Value:
        known = all(value.has_error or value.is_zero for value in (self, other))
        error = math.hypot(self.error, other.error) if known else math.nan
        return Value(self.mean - other.mean, error, self.converged and other.converged)

    @property
    def sigmas(self) -> float:
        return abs(self.mean) / self.error if self.has_error else math.nan


def number(value: float | None) -> float:
    return math.nan if value is None else float(value)


# --- one run ---


class Run:
    """The folder of a run: its record, its deck by key, and its results."""

    def __init__(self, path: Path):
        if not path.is_dir():
            raise FileNotFoundError(f"cannot read '{path}': there is no such folder")
        if not (path / "run.json").exists():
            raise ValueError(f"'{path}' is not the folder of a run: run.json is missing. Give the "
                             "output folder of tarn run")  # fmt: skip
        self.path = path
        self.name = path.resolve().name
        self.results = plots.Results(path)
        self.record: dict[str, Any] = self.results.record
        self.deck = keys_of(str(self.record.get("deck", "")))
        self.has_baths = self.results.has_several_baths
        self.values: dict[Key, Value] = dict(self.averages()) | dict(self.populations())
        spectrum = self.results.table("spectrum")
        self.peaks = peaks(spectrum, "absorption_km_cm_per_mol") if spectrum else []

    def averages(self) -> Iterator[tuple[Key, Value]]:
        for row in self.record.get("averages", []):
            value = Value(number(row["mean"]), number(row["error"]), bool(row["converged"]))
            yield (row["table"], row["quantity"], row.get("bath_K")), value

    def populations(self) -> Iterator[tuple[Key, Value]]:
        """Of isomers, identified by the energies of their minima."""
        table = self.results.table("isomers")
        if table is None or not len(table):
            return
        names = {n: f"minimum_{energy:.4f}_kcal_per_mol"
                 for n, energy in zip(table["isomer"], table["minimum_kcal_per_mol"], strict=True)}  # fmt: skip
        rows = self.results.table("isomers_by_bath") or table
        for k in np.flatnonzero(rows["of_samples"] > 0):
            bath = float(rows["bath_K"][k]) if "bath_K" in rows else None
            value = Value(rows["share"][k], rows["share_err"][k], bool(rows["converged"][k]))
            yield ("isomers", names[rows["isomer"][k]], bath), value

    @property
    def temperature_K(self) -> float | None:
        """Of all replicas; None without a thermostat and with several temperatures."""
        baths = self.results.baths_K
        return baths[0] if baths and not self.has_baths else None

    def at_its_temperature(self) -> None:
        """Gives averages of a run at one temperature the keys of a run at several."""
        self.values = {(t, q, self.temperature_K if t != "heat_capacity" else bath): value
                       for (t, q, bath), value in self.values.items()}  # fmt: skip

    def describe(self) -> str:
        def setting(section: str, key: str) -> float:
            return float(self.results.value(section, key) or 0.0)

        record, step_ps = self.record, 1e-3 * setting("integrator", "timestep_fs")
        done, steps = record.get("steps_done", 0), setting("run", "steps")
        status = record.get("status", "finished")
        length, begin = step_ps * done, setting("run", "equilibration_ps")
        averaged = f"{length:.4g} ps, {max(length - begin, 0.0):.4g} ps averaged"
        if status == "running":
            averaged = f"{step_ps * steps:.4g} ps when it is finished"
        elif status != "finished":
            status += f" at step {done} of {steps:.0f}"
        baths = sorted(set(self.results.baths_K))
        at = (f"{len(baths)} temperatures from {baths[0]:g} to {baths[-1]:g} K" if self.has_baths
              else f"{baths[0]:g} K" if baths else "no thermostat")  # fmt: skip
        model = record.get("potential") or self.results.value("system", "model") or "water"
        cluster = f"{counted(record.get('molecules', 0), 'molecule')} of {model}"
        return f"{status}; {counted(record.get('replicas', 1), 'replica')} of {cluster}, {at}; {averaged}"


def counted(count: float, what: str) -> str:
    return f"{count:g} {what}{'' if count == 1 else 's'}"


def keys_of(deck: str) -> dict[str, str]:
    """The keys of a complete deck: "[run] steps" and so on."""
    section, keys = "", dict[str, str]()
    for line in deck.splitlines():
        name, _, value = line.partition(" = ")
        if line.startswith("["):
            section = line
        elif value:
            key = f"{section} {name}"
            keys[key] = f"{keys[key]}; {value}" if key in keys else value
    return keys


def peaks(table: plots.Table, column: str) -> list[Value]:
    """The maxima that rise above the minima on both sides by more than noise does. The position is
    the centre of the rows that do not differ from the maximum, and its error half of their range."""
    x, y, error = table[table.names[0]], table[column], table.error(column)
    found = []
    for i in range(1, len(y) - 1):
        if not (y[i] > max(y[i - 1], y[i + 1], LEAST_PEAK * y.max()) and error[i] > 0.0):
            continue
        higher = np.flatnonzero(y > y[i])
        start, end = higher[higher < i].max(initial=0), higher[higher > i].min(initial=len(y) - 1)
        if y[i] - max(y[start : i + 1].min(), y[i : end + 1].min()) < PROMINENCE * error[i]:
            continue
        lower = np.flatnonzero(y < y[i] - np.hypot(error, error[i]))
        low, high = lower[lower < i].max(initial=-1) + 1, lower[lower > i].min(initial=len(y)) - 1
        half = 0.5 * max(x[high] - x[low], x[1] - x[0])
        found.append(Value(0.5 * (x[low] + x[high]), half))
    return found


# --- whether a melting curve has converged ---

#: Warnings of a run that a curve is not converged, and the part that says why.
NOT_CONVERGED = (
    r"not equilibrated\. ([^;]*);",
    r"(\d+ of \d+ (?:averages|populations) depend on the start by more than [\d.]+ standard errors)",
    r"([\d.]+ [^:.]* per replica, fewer than about \d+)",
    r"(the multiple-histogram equations did not converge)",
)


def convergence(run: Run) -> str | None:
    """ "yes" or "not yet, because ..." of a run at several temperatures."""
    if not run.has_baths:
        return None
    record, reasons, facts = run.record, list[str](), list[str]()
    if record.get("status") == "running":
        return "not yet, because the run is not finished"
    if record.get("status") != "finished":
        reasons.append("the run is not finished")
    exchange, has_starts = record.get("exchange"), len(run.results.value("system", "files") or []) > 1
    if exchange:
        of_exchange(exchange, record.get("replicas", 1), reasons, facts)
    elif not has_starts:
        reasons.append("without [exchange] and with one start, clusters may remain in the minimum of the start")
    for text in record.get("warnings", []):
        reasons += [found[1] for pattern in NOT_CONVERGED if (found := re.search(pattern, text))]
    if has_starts and not any("depend on the start" in reason for reason in reasons):
        facts.append("different starts agree")
    peak = run.values.get(("heat_capacity", "peak_temperature_K", None))
    if peak and not peak.converged and not reasons:
        reasons.append("the error of the maximum is a lower bound")
    reasons += [f"there is no heat capacity {gap}" for gap in gaps(run.results.table("heat_capacity"))]
    gone = {event["replica"] for event in record.get("departures", [])}
    if gone:
        reasons.append(f"{counted(len(gone), 'replica')} lost a molecule; add a wall")
    if peak and (share := share_at_wall(run, peak.mean)) is not None:
        text = f"molecules touch the wall in {100.0 * share:.2g} % of the samples near the maximum"
        (reasons if share > WALL_SHARE else facts).append(text)
    if reasons:
        return f"not yet, because {'; '.join(reasons)}"
    return f"yes ({'; '.join(facts)})" if facts else "yes"


def of_exchange(exchange: dict[str, Any], replicas: int, reasons: list[str], facts: list[str]) -> None:
    """Round trips, changes of structure, and acceptance of neighbours."""
    trips, changes = exchange["round_trips"] / replicas, exchange["structure_changes_per_walker"]
    what = exchange["structure_change"]
    if changes < FEW_CHANGES:
        reasons.append(f"{changes:.2g} {what} per walker, fewer than about {FEW_CHANGES:g}")
    elif what != "round trips":
        facts.append(f"{changes:.2g} {what} per walker")
    if trips < 1.0 and what != "round trips":
        reasons.append(f"{trips:.2g} round trips per walker, fewer than one")
    elif trips >= 1.0:
        facts.append(f"{trips:.2g} round trips per walker")
    pairs = [pair for pair in exchange["pairs"] if pair["attempts"]]
    for pair in pairs:
        if pair["acceptance"] + 2.0 * number(pair["error"]) < RARE_EXCHANGE:
            reasons.append(f"{pair['lower_bath_K']:g} and {pair['upper_bath_K']:g} K exchange in only "
                           f"{100.0 * pair['acceptance']:.2g} % of the attempts")  # fmt: skip
    if pairs:
        least = min(pair["acceptance"] for pair in pairs)
        facts.append(f"acceptance of at least {100.0 * least:.2g} %")


def gaps(table: plots.Table | None) -> Iterator[str]:
    """Ranges without values in heat_capacity.csv of classical nuclei."""
    if table is None or "difference_quotient_err" in table:
        return
    x, unknown = table["temperature_K"], ~np.isfinite(table["heat_capacity_kcal_per_mol_K"])
    edges = np.flatnonzero(np.diff(np.r_[False, unknown, False].astype(int)))
    for first, last in zip(edges[::2], edges[1::2] - 1, strict=True):
        yield f"between {x[max(first - 1, 0)]:g} and {x[min(last + 1, len(x) - 1)]:g} K"


def share_at_wall(run: Run, at_K: float) -> float | None:
    """Part of the samples at the nearest temperature in which an oxygen is outside the wall; None
    without a wall or cluster.csv."""
    radius_A, table = run.results.value("confinement", "radius_A"), run.results.table("cluster")
    if radius_A is None or table is None or table["replica"].dtype.kind != "f":
        return None
    baths = np.array(run.results.baths_K)
    nearest = baths[np.argmin(np.abs(baths - at_K))]
    begin = float(run.results.value("run", "equilibration_ps") or 0.0)
    rows = (table["time_ps"] >= begin) & (baths[table["replica"].astype(int) % len(baths)] == nearest)
    return float(np.mean(table["farthest_oxygen_A"][rows] > radius_A)) if rows.any() else None


# --- several runs ---


def differences(runs: Sequence[Run]) -> list[str]:
    """What makes results of runs differ, one row per key."""
    rows = []

    def add(name: str, values: Sequence[Any]) -> None:
        if len(set(values)) > 1:
            texts = map(str, values)
            rows.append([name, *(text if len(text) <= 32 else f"{text[:29]}..." for text in texts)])

    add("molecules", [run.record.get("molecules", "-") for run in runs])
    add("version of tarn", [run.record.get("tarn_version", "-") for run in runs])
    observed = set()
    # The temperature of the start is usually that of the thermostat.
    ignored = {"[system] seed", "[system] molecules", "[run] device", "[run] threads"}
    if all(run.results.has_thermostat for run in runs):
        ignored.add("[system] temperature_K")
    keys = list(dict.fromkeys(key for run in runs for key in run.deck))
    sections = list(dict.fromkeys(key.split()[0] for key in keys))
    for key in sorted(keys, key=lambda key: sections.index(key.split()[0])):
        values = [run.deck.get(key, "-") for run in runs]
        if key.startswith("[observe."):
            observed |= {key.split()[0]} if len(set(values)) > 1 else set()
        elif key not in ignored and not key.startswith("[checkpoint]"):
            add(key, values)
    if rows:
        lines = ["The runs differ in:", *aligned([["", *(run.name for run in runs)], *rows])]
    else:
        lines = ["The runs have the same deck, except for the seed."]
    if observed:
        lines.append(f"  and in the keys of {', '.join(sorted(observed))}")
    if len({run.record.get("molecules") for run in runs}) > 1:
        lines.append("Energies are totals, of different numbers of molecules.")
    seen: dict[Any, Run] = {}
    for run in runs:
        other = seen.setdefault((run.record.get("physics"), run.record.get("seed")), run)
        if other is not run:
            lines.append(f"{other.name} and {run.name} have the same deck and seed: they are the same "
                         "trajectories, and their differences have no statistical error.")  # fmt: skip
    return lines


def aligned(rows: Sequence[Sequence[str]]) -> list[str]:
    count = max(len(row) for row in rows)
    widths = [max(len(row[c]) if c < len(row) else 0 for row in rows) for c in range(count)]
    return ["  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=False)).rstrip() for row in rows]


class Row(NamedTuple):
    """A quantity in all runs; None: it is missing there."""

    key: Key
    values: list[Value | None]

    def from_first(self) -> list[Value | None]:
        """Differences from the first run."""
        first = self.values[0]
        return [value.minus(first) if value and first and k else None for k, value in enumerate(self.values)]

    @property
    def most_sigmas(self) -> float:
        return max((d.sigmas for d in self.from_first() if d and d.has_error), default=-1.0)


def rows_of(runs: Sequence[Run]) -> list[Row]:
    """All quantities, with those of the first run first."""
    keys = dict.fromkeys(key for run in runs for key in run.values)
    return [Row(key, [run.values.get(key) for run in runs]) for key in keys] + peak_rows(runs)


def peak_rows(runs: Sequence[Run]) -> list[Row]:
    """Peaks of the absorption: the nearest ones of two runs belong together."""
    groups: list[list[Value | None]] = []
    for k, run in enumerate(runs):
        free = {id(group): group for group in groups}
        for peak in run.peaks:
            near = min(free.values(), default=None, key=lambda g: distance(g, peak))
            if near is None or distance(near, peak) > SAME_PEAK_PER_CM:
                near = [None] * len(runs)
                groups.append(near)
            free.pop(id(near), None)
            near[k] = peak
    groups.sort(key=lambda group: next(p.mean for p in group if p))
    return [Row(("spectrum", f"absorption_peak_{n}_per_cm", None), group) for n, group in enumerate(groups)]


def distance(group: Sequence[Value | None], peak: Value) -> float:
    return min(abs(p.mean - peak.mean) for p in group if p)


def share_of(row: Row) -> float:
    return max(value.mean for value in row.values if value)


#: Names in the printed tables.
PLAIN_NAMES = (
    (r"spectrum absorption_peak_(\d+)_per_cm", r"peak \1"),
    (r"isomers minimum_(.*)_kcal_per_mol", r"minimum of \1 kcal/mol"),
)


def section(title: str, rows: Sequence[Row], runs: Sequence[Run]) -> list[str]:
    """A table of quantities. Of several temperatures, that with the largest difference is shown,
    and the root mean square of all differences."""
    if not rows:
        return []
    groups: dict[tuple[str, str], list[Row]] = {}
    for row in rows:
        groups.setdefault(row.key[:2], []).append(row)
    by_bath = any(len(group) > 1 for group in groups.values())
    two = len(runs) == 2
    head = ["mean", f"difference from {runs[0].name}", "sigma"] + ["rms sigma (temperatures)"] * by_bath
    cells = [[title, *(run.name for run in runs), *head[1:]] if two else [title, "", *head]]
    for (table, quantity), group in groups.items():
        # Most populations are near 0 at most temperatures.
        row = max(group, key=share_of if table == "isomers" else lambda r: r.most_sigmas)
        label = f"{table} {quantity}"
        for pattern, plain in PLAIN_NAMES:
            label = re.sub(pattern, plain, label)
        label += f" at {row.key[2]:g} K" if row.key[2] is not None and (len(group) > 1 or by_bath) else ""
        last = [list[str](), list[str]()]
        for k, (value, change) in enumerate(zip(row.values, row.from_first(), strict=True)):
            text = ["-" if value is None else str(value)]
            if change:
                text += [str(change).removesuffix(" *"), f"{change.sigmas:.1f}" if change.has_error else "?"]
                all_sigmas = [d.sigmas for r in group if (d := r.from_first()[k]) and d.has_error]
                if len(group) > 1 and all_sigmas:
                    text.append(f"{math.sqrt(np.mean(np.square(all_sigmas))):.1f} ({len(all_sigmas)})")
            if two:
                last[k] = text
            else:
                cells.append(["" if k else label, runs[k].name, *text])
        if two:
            cells.append([label, *last[0], *last[1]])
    return ["", *aligned(cells)]


def compared_curves(runs: Sequence[Run]) -> Iterator[str]:
    """The largest difference of the heat capacity curves from that of the first run."""
    name = "heat_capacity_kcal_per_mol_K"
    curves = []
    for run in runs:
        table = run.results.table("heat_capacity")
        classical = table is not None and "difference_quotient_err" not in table
        curves.append((table["temperature_K"], table[name], table["heat_capacity_err"]) if classical else None)
    for run, curve in zip(runs[1:], curves[1:], strict=True):
        if curve is None or curves[0] is None:
            continue
        x, first, first_error = curves[0]
        y, error = (np.interp(x, curve[0], of, left=np.nan, right=np.nan) for of in curve[1:])
        sigmas = np.abs(y - first) / np.hypot(first_error, error)
        if np.isfinite(sigmas).any():
            k = int(np.nanargmax(np.where(np.isfinite(sigmas), sigmas, -1.0)))
            change = Value(y[k], error[k]).minus(Value(first[k], first_error[k]))
            yield (f"  heat capacity of {run.name} minus {runs[0].name}: largest difference at {x[k]:g} K, {change} "
                   f"kcal/mol/K, {change.sigmas:.1f} standard errors")  # fmt: skip


def comparison(runs: Sequence[Run], rows: Sequence[Row]) -> list[str]:
    lines = differences(runs)
    common = [row for row in rows if row.values[0] and any(row.values[1:])]
    shown = [row for row in common if not is_constant(row)]
    curves = [row for row in shown if row.key[0] == "heat_capacity" and row.key[2] is None]
    isomers = [row for row in rows if row.key[0] == "isomers"]
    peaks_of = [row for row in rows if row.key[1].startswith("absorption_peak_")]
    populated = {row.key[1] for row in isomers if share_of(row) >= SHOWN_SHARE}
    others = [row for row in shown if row not in curves + isomers + peaks_of]
    lines += section("averages", others, runs) if others else ["", "The runs have no averages in common."]
    lines += section("maximum of the heat capacity", curves, runs)
    lines += compared_curves(runs)
    lines += section("peaks of the absorption (1/cm)", peaks_of, runs)
    lines += section("populations of isomers", [row for row in isomers if row.key[1] in populated], runs)
    known = [change.sigmas for row in shown for change in row.from_first() if change and change.has_error]
    above = sum(s > SIGNIFICANT for s in known)
    if known:
        lines += ["", f"{above} of {len(known)} differences exceed {SIGNIFICANT:g} standard errors; by chance, 0.3 % do."]
    return lines


def is_constant(row: Row) -> bool:
    """Whether a quantity neither varies nor differs, such as the penalty of rigid molecules."""
    values = [value for value in row.values if value]
    return not any(v.has_error for v in values) and np.ptp([v.mean for v in values]) <= 1e-12 * abs(values[0].mean)


def single(run: Run, rows: Sequence[Row]) -> list[str]:
    """The averages of one run, with several temperatures a table of each."""
    lines: list[str] = []
    shown = [row for row in rows if not is_constant(row)]
    for table in dict.fromkeys(row.key[0] for row in shown if row.key[2] is not None):
        own = {row.key: row.values[0] for row in shown if row.key[0] == table and row.key[2] is not None}
        names = list(dict.fromkeys(key[1] for key in own))
        if table == "isomers":
            names = [n for n in names if max(v.mean for k, v in own.items() if k[1] == n) >= SHOWN_SHARE]
        cells = [[table, *names]]
        for bath in sorted({key[2] for key in own}):
            cells.append([f"{bath:g} K", *(str(own.get((table, name, bath), "-")) for name in names)])
        lines += ["", *aligned(cells)]
    cells = [[f"{row.key[0]} {row.key[1]}", str(row.values[0])] for row in shown if row.key[2] is None]
    lines += ["", *aligned(cells)] if cells else []
    return lines + [""] * bool(lines) + [f"warning: {text}" for text in run.record.get("warnings", [])]


def report_text(runs: Sequence[Run], rows: Sequence[Row]) -> str:
    lines = aligned([[run.name, run.describe()] for run in runs])
    lines += comparison(runs, rows) if len(runs) > 1 else single(runs[0], rows)
    text = "\n".join(lines)
    if " *" in text:
        lines.append("*: the run is too short; its errors are lower bounds")
    if "+- ?" in text:
        lines.append("?: the error is unknown: there is one value, or it does not vary")
    for run in runs:
        if verdict := convergence(run):
            lines.append(f"{run.name} converged: {verdict}" if len(runs) > 1 else f"converged: {verdict}")
        if len(runs) > 1 and run.record.get("warnings"):
            lines.append(f"{run.name}: {counted(len(run.record['warnings']), 'warning')}; see tarn report {run.path}")
    return "\n".join(lines)


def write_table(path: Path, runs: Sequence[Run], rows: Sequence[Row]) -> None:
    names = "; ".join(f"run {k} = {run.path}" for k, run in enumerate(runs))
    version = runs[0].record.get("tarn_version", "")
    lines = [f"# tarn {version}; {names}; differences from run 0; error nan: unknown; converged = 0: the error "
             "may be a lower bound",
             "table,quantity,bath_K,run,mean,error,converged,difference,difference_err,sigmas"]  # fmt: skip
    for row in rows:
        table, quantity, bath = row.key
        for k, (value, change) in enumerate(zip(row.values, row.from_first(), strict=True)):
            if value is None:
                continue
            change = change or Value(math.nan)
            error = value.error if value.has_error else math.nan
            numbers = [value.mean, error, change.mean, change.error, change.sigmas]
            mean, error_text, *others = (f"{x:.17g}" for x in numbers)
            lines.append(f"{table},{quantity},{number(bath):.17g},{k},{mean},{error_text},{value.converged:d},"
                         f"{','.join(others)}")  # fmt: skip
    path.write_text("\n".join([*lines, ""]), encoding="utf-8", errors="replace")


# --- pictures ---

DASHES = ("-", "--", ":")


def labels(runs: Sequence[Run]) -> dict[str, Run]:
    """Names for legends, with the temperatures of runs that differ."""
    differ = len({run.temperature_K for run in runs}) > 1
    return {f"{run.name}, {run.temperature_K:g} K" if differ and run.temperature_K is not None else run.name: run
            for run in runs}  # fmt: skip


def with_table(runs: Sequence[Run], name: str) -> dict[str, plots.Table]:
    tables = {label: run.results.table(name) for label, run in labels(runs).items()}
    return {label: table for label, table in tables.items() if table is not None and len(table) > 1}


def overlaid_rdf(runs: Sequence[Run]) -> plots.Figure | None:
    """One panel per pair; of several temperatures the lowest, a middle and the highest that all
    runs have."""
    tables = with_table(runs, "rdf") | with_table(runs, "rdf_by_bath")
    if not tables:
        return None
    baths = sorted(set.intersection(*({t_K for t_K, _ in table.groups("bath_K")} for table in tables.values())),
                   key=lambda t_K: t_K or 0.0)  # fmt: skip
    baths = [baths[k] for k in sorted({0, len(baths) // 2, len(baths) - 1})] if baths else []
    pairs = [p for p in ("OO", "OH", "HH") if any(f"{p}_g" in table for table in tables.values())]
    figure, all_axes = plots.panels(len(pairs), 2.5, sharex=True)
    curves = []
    for axes, pair in zip(all_axes, pairs, strict=True):
        axes.set_ylabel(f"g(r) of {pair[0]}–{pair[1]}")
        for k, (label, table) in enumerate(tables.items()):
            for dashes, t_K in zip(DASHES, baths, strict=False):
                rows = dict(table.groups("bath_K"))[t_K]
                if f"{pair}_g" in table:
                    own = plots.with_error(table["r_A"][rows], table[f"{pair}_g"][rows],
                                           table.error(f"{pair}_g")[rows], True)  # fmt: skip
                    curves.append(own)
                    plots.band(axes, plots.merged(own), color=plots.COLOURS[k % 8], linestyle=dashes,
                               label=label if dashes == "-" else None)  # fmt: skip
    end = plots.visible_end(curves)
    if math.isinf(end):
        return None
    for axes in all_axes:
        axes.set(xlim=(0.0, end), ylim=(0.0, None))
    lines = ", ".join(f"{name}: {t_K:g} K" for name, t_K in zip(("solid", "dashed", "dotted"), baths, strict=False)
                      if t_K is not None)  # fmt: skip
    return plots.finish(figure, all_axes, "Radial distribution",
                        "r (Å)     band: standard error" + (f"     {lines}" if lines else ""))  # fmt: skip


def overlaid_heat_capacity(runs: Sequence[Run]) -> plots.Figure | None:
    tables = with_table(runs, "heat_capacity")
    if not tables:
        return None
    figure, (axes,) = plots.panels(1, 4.0)
    for k, (label, table) in enumerate(tables.items()):
        plots.heat_capacity(axes, table, label, plots.COLOURS[k % 8])
        peak = labels(runs)[label].values.get(("heat_capacity", "peak_temperature_K", None))
        if peak:
            axes.axvline(peak.mean, color=plots.COLOURS[k % 8], linestyle=":", linewidth=1.0)
    axes.set_ylabel("heat capacity (cal/mol/K)")
    return plots.finish(figure, (axes,), "Heat capacity", "temperature (K)     band: standard error; dotted: maximum")


def overlaid_spectra(runs: Sequence[Run]) -> plots.Figure | None:
    tables = with_table(runs, "spectrum")
    return plots.spectra(tables, "Spectrum") if tables else None


def overlaid_isomers(runs: Sequence[Run]) -> plots.Figure | None:
    """Populations of the four most populated isomers against temperature, or of all against energy."""
    tables = with_table(runs, "isomers")
    if not tables:
        return None
    figure, (axes,) = plots.panels(1, 4.0)
    axes.set_ylabel("population")
    x_label = "energy above the lowest minimum found (kcal/mol)"
    by_bath = with_table(runs, "isomers_by_bath")
    for k, (label, table) in enumerate(tables.items()):
        if not by_bath:
            plots.curve(axes, table["above_lowest_kcal_per_mol"], table["share"], table.error("share"), label=label,
                        linestyle="none", color=plots.COLOURS[k % 8], marker=plots.MARKERS[k % 8])  # fmt: skip
    names = dict.fromkeys(key[1] for run in runs for key in run.values if key[0] == "isomers")
    most = {n: max(v.mean for run in runs for key, v in run.values.items() if key[1] == n) for n in names}
    shown = sorted(names, key=lambda n: -most[n])[:4]
    for k, (label, run) in enumerate(labels(runs).items() if by_bath else ()):
        for name in sorted(shown, key=lambda n: float(n.split("_")[1])):
            points = [(key[2], v) for key, v in run.values.items() if key[:2] == ("isomers", name) and key[2]]
            if points:
                x = np.array([t_K for t_K, _ in points])
                y, error = (np.array([v[c] for _, v in points]) for c in (0, 1))
                plots.curve(axes, x, y, error, label=f"{label}: {float(name.split('_')[1]):.2f} kcal/mol",
                            linestyle=DASHES[k % 3], color=plots.COLOURS[shown.index(name)],
                            marker=plots.MARKERS[k % 8])  # fmt: skip
        x_label = "temperature (K)"
    axes.set_ylim(bottom=0.0)
    return plots.finish(figure, (axes,), "Populations of isomers", f"{x_label}     bars: standard error")


PICTURES: tuple[tuple[str, Callable[[Sequence[Run]], "plots.Figure | None"]], ...] = (
    ("rdf", overlaid_rdf),
    ("heat_capacity", overlaid_heat_capacity),
    ("spectrum", overlaid_spectra),
    ("isomers", overlaid_isomers),
)


def draw(runs: Sequence[Run], out: Path, kind: str) -> Iterator[str]:
    """Yields lines as plots.draw_folder()."""
    with matplotlib.rc_context():
        matplotlib.rcdefaults()  # not those of the user
        matplotlib.rcParams.update(plots.STYLE)
        for name, overlay in PICTURES:
            yield from plots.draw_one(lambda overlay=overlay: overlay(runs), out / name, [kind])


def report(folders: Iterable[Path], out: Path | None, kind: str | None) -> tuple[str, list[str]]:
    """Compares runs.

    Parameters
    ----------
    out : for report.csv and the pictures; None: nothing is written
    kind : of the pictures, svg or png; None: none

    Returns
    -------
    The text, and lines of draw().
    """
    runs = [Run(folder) for folder in folders]
    names = [run.name for run in runs]
    for run in runs:
        if names.count(run.name) > 1:
            run.name = str(run.path)
    if any(run.has_baths for run in runs):
        for run in runs:
            if not run.has_baths:
                run.at_its_temperature()
    rows = rows_of(runs)
    text, lines = report_text(runs, rows), []
    if out:
        if any((out / name).exists() for name in ("run.json", "compare.json")):
            raise ValueError(f"'{out}' is the folder of a run, whose pictures would be replaced; choose another one")
        out.mkdir(parents=True, exist_ok=True)
        write_table(out / "report.csv", runs, rows)
        lines = list(draw(runs, out, kind)) if kind else []
    return text, lines


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folders", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("-o", "--out", type=Path, help="default: report, and none for a single run")
    parser.add_argument("--format", choices=("svg", "png"), default="svg")
    parser.add_argument("--no-pictures", action="store_true")
    a = parser.parse_args()
    sys.stdout.reconfigure(encoding="utf-8", errors="surrogateescape")  # type: ignore[union-attr]
    out = a.out or (Path("report") if len(a.folders) > 1 else None)
    try:
        text, lines = report(a.folders, out, None if a.no_pictures else a.format)
    except (OSError, ValueError) as error:
        print(f"tarn: {error}", file=sys.stderr)
        return 4 if isinstance(error, OSError) else 2
    print(text)
    pictures = [Path(line.removeprefix("picture: ")).name for line in lines if line.startswith("picture: ")]
    if out:
        print(f"files are in {out}: {', '.join(['report.csv', *pictures])}")
    problems = [line for line in lines if not line.startswith("picture: ")]
    for line in problems:
        print(line, file=sys.stderr)
    return 1 if any(line.startswith("error") for line in problems) else 0


if __name__ == "__main__":
    sys.exit(main())
