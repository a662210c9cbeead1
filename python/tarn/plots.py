#!/usr/bin/env python3
"""Draws the tables and structures of tarn with matplotlib.

A folder of a run or of a comparison gets one picture beside each of its tables. A table of
`tarn rdf` or `tarn modes`, or structures as XYZ, are drawn to --out.

This file needs nothing else of tarn. To change the pictures, change a copy of it:

    tarn plot --script > mine.py
    python3 mine.py out/first --format svg
"""

from __future__ import annotations

import argparse
import io
import json
import math
import os
import re
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.collections import PathCollection
from matplotlib.figure import Figure
from matplotlib.path import Path as Outline
from matplotlib.ticker import FixedLocator, FuncFormatter, NullLocator

#: Okabe & Ito, without yellow: distinguishable with any kind of colour vision.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
MARKERS = "osD^vPX<"
WIDTH_IN = 7.2
#: Equal data give equal files.
STYLE = {
    "svg.hashsalt": "tarn", "svg.fonttype": "none", "font.size": 9, "font.family": "sans-serif",
    "font.sans-serif": ["DejaVu Sans", "Verdana", "Arial", "Helvetica"],
    "axes.titlesize": 9, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "grid.color": "#E5E5E5", "grid.linewidth": 0.6, "axes.axisbelow": True,
    "xtick.direction": "in", "ytick.direction": "in", "lines.linewidth": 1.3,
    "lines.markersize": 4.5, "legend.frameon": False, "legend.fontsize": 8.5,
}  # fmt: skip

MOST_POINTS = 400  # of a curve with a band
MOST_BLOCKS = 128  # of curves that cross
MOST_BATHS = 7
GREY = "#888888"
LOWER_BOUND = "     *: lower bound (run too short)"
MEV_PER_K = 0.08617333262  # Boltzmann constant

Array = np.ndarray
Bands = tuple[Array, Array, Array, Array]  # x, y, and the ends of the band


class NoPicture(Exception):
    """A table cannot be drawn. The first word of the text is its level, note or warning."""


# --- tables ---


class Table:
    """The columns of a CSV file, and the provenance in its first line."""

    def __init__(self, path: Path):
        self.path = path
        self.provenance = ""
        with path.open(encoding="utf-8") as file:
            line = file.readline()
            while line.startswith("#"):
                self.provenance = self.provenance or line[1:].strip()
                line = file.readline()
            self.names = line.strip().split(",")
            rows = file.readlines()
        cells = rows[0].strip().split(",") if rows else ["0"] * len(self.names)
        words = [k for k, cell in enumerate(cells) if not is_number(cell)]
        self.columns: dict[str, Array] = {}
        for kind, chosen in ((str, words), (float, [k for k in range(len(cells)) if k not in words])):
            empty: Array = np.empty((0, len(chosen)), dtype=kind)
            values = empty if not (rows and chosen) else np.loadtxt(
                rows, dtype=kind, delimiter=",", comments=None, usecols=chosen, ndmin=2,
                encoding="utf-8")  # fmt: skip
            self.columns.update(zip((self.names[k] for k in chosen), values.T, strict=True))

    def __getitem__(self, name: str) -> Array:
        return self.columns[name]

    def __contains__(self, name: str) -> bool:
        return name in self.columns

    def __len__(self) -> int:
        return len(self.columns[self.names[0]])

    def error(self, name: str) -> Array:
        """The standard errors of a column; 0 if unknown."""
        error = self.columns.get(f"{name}_err")
        return np.zeros(len(self)) if error is None else np.nan_to_num(error)

    def title(self, what: str) -> str:
        """`what` and the system, from the provenance."""
        parts = self.provenance.split("; ")
        return what if len(parts) < 2 else f"{what}: {parts[1].split(', seed')[0]}"

    def groups(self, name: str) -> list[tuple[Any, Array]]:
        """The values of a column in order of appearance, and their rows. A missing column gives
        one group."""
        if name not in self:
            return [(None, np.arange(len(self)))] if len(self) else []
        values, first = np.unique(self[name], return_index=True)
        return [(value, np.flatnonzero(self[name] == value)) for value in values[np.argsort(first)]]


def is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


class Results:
    """The folder of a run or a comparison, with its deck."""

    def __init__(self, path: Path):
        self.path = path
        records = [path / name for name in ("run.json", "compare.json") if (path / name).exists()]
        self.record = json.loads(records[0].read_text(encoding="utf-8")) if records else {}
        self.compares = bool(records) and records[0].name == "compare.json"
        kind = self.value("thermostat", "kind")
        self.has_thermostat = kind not in (None, "none")
        temperatures = self.value("thermostat", "temperatures_K") or self.value("thermostat", "temperature_K")
        self.baths_K: list[float] = []
        if self.has_thermostat and temperatures is not None:
            self.baths_K = temperatures if isinstance(temperatures, list) else [temperatures]
        self.has_several_baths = len(set(self.baths_K)) > 1

    def value(self, section: str, key: str) -> Any:
        """The value of a key of the deck, or None."""
        text = f"\n{self.record.get('deck', '')}".partition(f"\n[{section}]\n")[2].partition("\n[")[0]
        found = re.search(rf"^{key} = (.*)$", text, re.MULTILINE)
        try:
            return json.loads(found[1]) if found else None
        except json.JSONDecodeError:
            return None

    def table(self, name: str) -> Table | None:
        path = self.path / f"{name}.csv"
        return Table(path) if path.exists() else None

    @property
    def of_one_bath(self) -> str:
        return f", {self.baths_K[0]:g} K" if self.baths_K and not self.has_several_baths else ""


# --- parts of pictures ---


def panels(count: int, height_in: float = 2.5, columns: int = 1, **options: Any) -> tuple[Figure, list[Axes]]:
    """A figure with panels below each other, or in several columns."""
    rows = -(-count // columns)
    figure = Figure(figsize=(WIDTH_IN, rows * height_in), layout="constrained")
    axes = figure.subplots(rows, columns, squeeze=False, **options)
    for extra in axes.flat[count:]:
        extra.remove()
    return figure, list(axes.flat[:count])


def legend(axes: Axes, title: str = "") -> None:
    """A legend to the right of the panel, where it hides nothing."""
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), title=title or None)


def plain_ticks(axis: Any, values: Sequence[float], labels: dict[float, str] | None = None) -> None:
    """Ticks at these values of a logarithmic axis, written as plain numbers or as their label."""
    axis.set_major_locator(FixedLocator(list(values)))
    axis.set_major_formatter(FuncFormatter(lambda value, _: (labels or {}).get(value, f"{value:g}")))
    axis.set_minor_locator(NullLocator())


def save(figure: Figure, path: Path, kind: str = "svg") -> None:
    """Writes a picture as SVG, shortened, or PNG. It has its name when it is complete."""
    picture = io.BytesIO()
    options = {"metadata": {"Date": None}} if kind == "svg" else {"dpi": 300}
    figure.savefig(picture, format=kind, **options)
    data = shortened(picture.getvalue().decode()).encode() if kind == "svg" else picture.getvalue()
    temporary = path.resolve().with_name(f"{path.name}.{os.getpid()}.tmp")
    try:
        temporary.write_bytes(data)
        temporary.replace(path.resolve())
    finally:
        temporary.unlink(missing_ok=True)


def shortened(svg: str) -> str:
    """An SVG file of matplotlib in half of the bytes: paths by relative_path(), other numbers with
    two decimals, and attributes that all parts of a group share only once."""

    def rounded(number: re.Match[str]) -> str:
        return f"{float(number[0]):.2f}".rstrip("0").rstrip(".")

    def shorter(tag: re.Match[str]) -> str:
        text = re.sub(r'(?<= d=")[^"]*', lambda data: relative_path(data[0]), tag[0])
        return re.sub(r"\d+\.\d{3,}", rounded, text)

    def group(parts: re.Match[str]) -> str:
        attributes, inner = parts[1], parts[2]
        clips = re.findall(r' clip-path="[^"]*"', inner)
        styles = [style.split("; ") for style in re.findall(r' style="([^"]*)"', inner)]
        if len(styles) < inner.count("<") or "style=" in attributes:
            return parts[0]
        common = [one for one in dict.fromkeys(sum(styles, [])) if is_common(one, styles)]

        def own(style: re.Match[str]) -> str:
            return "; ".join(one for one in style[0].split("; ") if one not in common)

        if common:
            attributes += f' style="{"; ".join(common)}"'
            inner = re.sub(r'(?<= style=")[^"]*', own, inner).replace(' style=""', "")
        if len(clips) == len(styles) and len(set(clips)) == 1 and "clip-path=" not in attributes:
            attributes, inner = attributes + clips[0], inner.replace(clips[0], "")
        return f"<g{attributes}>{inner}</g>"

    # Ends of lines are inherited from groups.
    svg = re.sub(r"\n +<", "\n<", svg.replace(">*{stroke-linejoin", ">svg{stroke-linejoin"))
    svg = re.sub(r"<[^>]*>", shorter, svg)
    return re.sub(r"<g([^>]*)>((?:\s*<(?:path|use) [^>]*/>){2,}\s*)</g>", group, svg)


def is_common(one: str, styles: Sequence[Sequence[str]]) -> bool:
    """Whether the style of a group can have a property: all parts have it, or have no lines if it
    is one of lines. The opacity of a group is not that of its parts."""
    name = one.split(":")[0]

    def fits(style: Sequence[str]) -> bool:
        names = [other.split(":")[0] for other in style]
        return one in style or (name.startswith("stroke-") and not {name, "stroke"} & {*names})

    return name != "opacity" and all(fits(style) for style in styles)


def relative_path(data: str) -> str:
    """The data of a path with relative coordinates in hundredths, and with arcs for circles. Some
    points are absolute, because roundings of viewers add up."""
    parts = [(part[0], [round(100.0 * float(word)) for word in part[1:].split()])
             for part in re.findall("[MLQCz][^MLQCz]*", data)]  # fmt: skip
    text: list[str] = []
    last, start, at = "", (0, 0), (0, 0)

    def add(letter: str, numbers: Sequence[float]) -> None:
        nonlocal last
        words = [f"{number / 100.0:.2f}".rstrip("0").rstrip(".") for number in numbers]
        text.append((letter if letter != last else " ") + " ".join(words))
        last = "l" if letter == "m" else letter

    while parts:
        letter, numbers = parts.pop(0)
        if letter == "L" and len(text) % 40 == 39:
            add(letter, numbers)
        else:
            add(letter.lower(), [number - at[k % 2] for k, number in enumerate(numbers)])
        at = (numbers[-2], numbers[-1]) if numbers else start
        if letter != "M":
            continue
        start, curves = at, [own for name, own in parts[:4] if name == "C"]
        if len(curves) == 4 and is_circle(*start, curves):
            width = curves[1][-2] - start[0]
            for end in (width, -width):
                add("a", [abs(width) / 2, abs(width) / 2, 0, 100, 0, end, 0])
            del parts[:4]
    return "".join(text)


def is_circle(x: int, y: int, curves: Sequence[Sequence[int]]) -> bool:
    """Whether four Bézier curves from (x, y) are CIRCLE, to the rounding."""
    ends = np.array([own[-2:] for own in curves])
    radius, height = (x - ends[1][0]) / 2, ends[0][1] - y
    on_it = [(x - radius, y + height), (x - 2 * radius, y), (x - radius, y - height), (x, y)]
    return bool(abs(abs(radius) - abs(height)) <= 2 and np.abs(ends - on_it).max() <= 2)


def finish(figure: Figure, all_axes: Sequence[Axes], title: str, x_label: str) -> Figure:
    """Adds the title, the label of the last x axis, and legends where curves have labels. A legend
    that repeats that of the panel above is left out."""
    figure.suptitle(title, fontsize=10.5)
    all_axes[-1].set_xlabel(x_label)
    above: list[str] = []
    for axes in all_axes:
        labels = axes.get_legend_handles_labels()[1]
        if labels and not set(labels) <= set(above):
            legend(axes)
        above = labels
    return figure


def curve(axes: Axes, x: Array, y: Array, error: Array | None = None, **options: Any) -> None:
    """A curve with error bars."""
    options = {"marker": "o", "markersize": 3.5, "capsize": 2.0, "elinewidth": 0.9} | options
    known = np.isfinite(y)
    for name in ("yerr", "xerr"):
        bars = error if name == "yerr" else options.pop("xerr", None)
        options[name] = None if bars is None or not np.any(bars[..., known]) else bars[..., known]
    axes.errorbar(x[known], y[known], **options)


def band(axes: Axes, bands: Bands, step: str | None = None, **options: Any) -> None:
    """A line with a band; a histogram with `step`."""
    x, y, low, high = bands
    style = {"drawstyle": f"steps-{step}"} if step else {}
    (line,) = axes.plot(x, y, **style, **options)
    if np.any(high > low):
        axes.fill_between(x, low, high, step=step, color=line.get_color(), alpha=0.22, linewidth=0)


def mark(axes: Axes, x: Array, y: Array, texts: Sequence[str], colour: str = "black") -> None:
    """Texts beside points."""
    for at, height, text in zip(x, y, texts, strict=True):
        if text and np.isfinite(height):
            axes.annotate(text, (at, height), xytext=(3, 3), textcoords="offset points", fontsize=7, color=colour)


def first_rows(count: int, each: int) -> Array:
    """The first row of each block of `each` rows. The last block contains the remainder, because
    means of few rows scatter more."""
    return np.arange(0, max(count - each, 0) + 1, each) if count else np.empty(0, dtype=int)


def block_means(values: Array, starts: Array) -> Array:
    return np.add.reduceat(values, starts) / np.diff(np.append(starts, len(values)))


def merged(bands: Bands, most: int = MOST_POINTS) -> Bands:
    """At most that many points: means of neighbours, with the extremes of their bands."""
    x, y, low, high = bands
    starts = first_rows(len(x), -(-len(x) // most))
    if len(starts) == len(x):
        return bands
    return (block_means(x, starts), block_means(y, starts),
            np.minimum.reduceat(low, starts), np.maximum.reduceat(high, starts))  # fmt: skip


def extremes(x: Array, y: Array, most: int = MOST_POINTS) -> tuple[Array, Array]:
    """A line with the smallest and the largest value of each of `most` parts, in their order."""
    if len(x) <= 2 * most:
        return x, y
    parts = np.array_split(np.arange(len(x)), most)
    kept = np.unique([p[k(y[p])] for p in parts for k in (np.argmin, np.argmax)])
    return x[kept], y[kept]


def sparse(bands: Bands, beginning: int = 30, most: int = 120) -> Bands:
    """A curve with all of its first points, and a constant stride behind."""
    count = len(bands[0])
    kept = np.arange(beginning, count, -(-max(count - beginning, 1) // most))
    kept = np.unique(np.r_[np.arange(min(beginning, count)), kept, count - 1])
    return bands[0][kept], bands[1][kept], bands[2][kept], bands[3][kept]


def cut(bands: Bands, end: float) -> Bands:
    """The part of a curve up to an x, and one point behind."""
    count = int(np.searchsorted(bands[0], end)) + 1
    return bands[0][:count], bands[1][:count], bands[2][:count], bands[3][:count]


def with_error(x: Array, y: Array, error: Array, positive: bool = False) -> Bands:
    """A band of one standard error, without unknown values."""
    known = ~np.isnan(y)
    x, y, error = x[known], y[known], np.nan_to_num(error[known])
    return x, y, np.maximum(y - error, 0.0) if positive else y - error, y + error


def chosen_baths(groups: list[Any]) -> tuple[list[tuple[Any, Any]], str]:
    """At most seven groups, with colours from blue to dark red, and a text with their number."""
    ramp = np.array([[49, 54, 149], [0, 114, 178], [86, 180, 233], [0, 158, 115], [230, 159, 0],
                     [213, 94, 0], [128, 0, 38]]) / 255.0  # fmt: skip
    shown = min(len(groups), MOST_BATHS)
    steps = max(shown - 1, 1)
    chosen = []
    for k in range(shown):
        place = k / steps * (len(ramp) - 1)
        colour = tuple(np.interp(place, range(len(ramp)), ramp[:, c]) for c in range(3))
        chosen.append((groups[k * (len(groups) - 1) // steps], colour))
    return chosen, f"     {shown} of {len(groups)} temperatures" if shown < len(groups) else ""


def visible_end(curves: Sequence[Bands], margin: float = 0.004) -> float:
    """The x up to which bands visibly differ from 0."""
    ends = []
    for x, _, _, high in curves:
        seen = np.flatnonzero(high > margin * max((c[3].max(initial=0.0) for c in curves), default=0.0))
        ends += [x[seen[-1]]] if len(seen) else []
    return 1.05 * max(ends) if ends else math.inf


# --- tables with rows step, time_ps, replica, ... against time ---

Column = tuple[str, str]  # name and label of the axis
ROW_COLUMNS = ("step", "time_ps", "replica")


def by_step(time: Array, values: Array, error: Array) -> Bands:
    """Mean and extremes of the rows of each time."""
    known = np.isfinite(values + error)
    time, values, error = time[known], values[known], error[known]
    if not len(time):
        return time, values, values, values
    starts = np.flatnonzero(np.append(True, np.diff(time) != 0))
    return (time[starts], block_means(values, starts),
            np.minimum.reduceat(values - error, starts), np.maximum.reduceat(values + error, starts))  # fmt: skip


def time_panels(results: Results, table: Table, title: str, quantities: dict[str, tuple[Array, Array]],
                meaning: str, fits_averages: bool = False) -> tuple[Figure, list[Axes]]:  # fmt: skip
    """One panel per quantity: its mean over the replicas with a band, or with several temperatures
    one line for each of at most seven.

    Parameters
    ----------
    quantities : values and errors, by the label of the axis
    meaning : of the band
    fits_averages : whether the axes show the averaged part of the run
    """
    several = results.has_several_baths
    replicas = table["replica"]
    if several and replicas.dtype.kind != "f":
        raise NoPicture(f"note: {table.path.name} has no picture: its rows are means over several "
                        'temperatures. Set its replicas to a number or "all"')  # fmt: skip
    time, begin = table["time_ps"], float(results.value("run", "equilibration_ps") or 0.0)
    shown = {label: v for label, v in quantities.items() if np.isfinite(v[0]).any()} or quantities
    figure, all_axes = panels(len(shown), 4.0 if len(shown) == 1 else 2.3, sharex=True)
    note = ""
    for axes, (label, (values, error)) in zip(all_axes, shown.items(), strict=True):
        axes.set_ylabel(label)
        if several:
            own_K = np.array(results.baths_K)[replicas.astype(int) % len(results.baths_K)]
            groups = [(t_K, own_K == t_K) for t_K in np.unique(own_K)]
            chosen, of_all = chosen_baths(groups)
            note = f"     lines: means at each temperature{of_all}"
            curves = []
            for (t_K, rows), colour in chosen:
                x, y, _, _ = merged(by_step(time[rows], values[rows], error[rows]), MOST_BLOCKS)
                axes.plot(x, y, color=colour, label=f"{t_K:g} K")
                curves.append((x, y, y, y))
        else:
            curves = [merged(by_step(time, values, error))]
            band(axes, curves[0], color=COLOURS[0])
            if np.any(curves[0][3] > curves[0][2]):
                note = f"     line: mean; band: {meaning}"
        if begin > 0.0:
            axes.axvspan(0.0, begin, color="#EEEEEE", linewidth=0, zorder=0)
        if fits_averages:
            ends = [np.r_[low[1:][x[1:] >= begin], high[1:][x[1:] >= begin]] for x, _, low, high in curves]
            low, high = (f(np.concatenate(ends), initial=i) for f, i in ((np.min, np.inf), (np.max, -np.inf)))
            if low < high:
                axes.set_ylim(low - 0.1 * (high - low), high + 0.1 * (high - low))
    if len(time) and time.min() < time.max():
        all_axes[-1].set_xlim(time.min(), time.max())
    note += "     grey: excluded from averages" if begin > 0.0 else ""
    finish(figure, all_axes, table.title(title), f"time (ps){note}")
    return figure, all_axes


def columns_against_time(title: str, columns: Sequence[Column], fits_averages: bool = False) -> Draw:
    """Draws columns of a table; those that it does not have are left out."""

    def draw(results: Results, table: Table) -> Figure:
        present = [(name, label) for name, label in columns if name in table]
        quantities = {label: (table[name], table.error(name)) for name, label in present}
        meaning = "standard error" if f"{present[0][0]}_err" in table else "minimum to maximum"
        return time_panels(results, table, title, quantities, meaning, fits_averages)[0]

    return draw


def custom_table(results: Results, table: Table) -> Figure:
    """The first six quantities of a table of an observer in C++ or Python."""
    names = [n for n in table.names[len(ROW_COLUMNS) :] if not (n.endswith("_err") and n[:-4] in table)]
    return columns_against_time(table.path.stem, [(n, n) for n in names[:6]])(results, table)


def changes(table: Table, values: Array) -> Array:
    """Changes since the first row of each replica."""
    _, first, own = np.unique(table["replica"], return_index=True, return_inverse=True)
    return values - values[first][own]


def conservation(results: Results, table: Table) -> Figure:
    if "time" in table:
        return conservation_of_system(results, table)
    none = np.zeros(len(table))
    norms = []
    for letter, unit in (("p", "Da_A"), ("l", "Da_A2")):
        parts = [changes(table, table[f"{letter}{axis}_{unit}_per_ps"]) for axis in "xyz"]
        norms.append(np.sqrt(sum(part**2 for part in parts)))
    figure, all_axes = time_panels(
        results, table,
        "Energy and momenta (not conserved: thermostat)" if results.has_thermostat else "Conservation",
        {"E - E(0) (kcal/mol)": (changes(table, table["energy_kcal_per_mol"]), none),
         "|P - P(0)| (Da Å/ps)": (norms[0], none), "|L - L(0)| (Da Å²/ps)": (norms[1], none)},
        "minimum to maximum")  # fmt: skip
    for axes, norm in zip(all_axes[1:], norms, strict=True):
        if np.any(norm > 0.0):
            axes.set_yscale("log")
    return figure


def heat(results: Results, table: Table) -> Figure:
    conserved, none = table["conserved_kcal_per_mol"], np.zeros(len(table))
    kept = changes(table, conserved)
    # Errors of energies are not errors of their changes.
    total = (kept + table["heat_kcal_per_mol"], none)
    work = table["shadow_work_kcal_per_mol"]
    figure, all_axes = time_panels(
        results, table, "Heat and shadow work",
        {"E - E(0) (kcal/mol)": total, "E - E(0) - heat (kcal/mol)": (kept, none),
         "shadow work (kcal/mol)": (work, table.error("shadow_work_kcal_per_mol"))},
        "standard error" if "heat_kcal_per_mol_err" in table else "minimum to maximum")  # fmt: skip
    return figure


# --- distributions and spectra ---


def rdf(results: Results | None, table: Table) -> Figure:
    """Radial distribution functions of one temperature, or one panel per pair of at most seven."""
    table = (results.table("rdf_by_bath") if results else None) or table
    pairs = [pair for pair in ("OO", "OH", "HH") if f"{pair}_g" in table]
    groups = table.groups("bath_K")
    several = "bath_K" in table
    chosen, note = chosen_baths(groups)
    figure, all_axes = panels(len(pairs) if several else 1, 2.5 if several else 4.0, sharex=True)
    curves: dict[Axes, list[tuple[Bands, str, Any]]] = {axes: [] for axes in all_axes}
    for k, pair in enumerate(pairs):
        axes = all_axes[k if several else 0]
        name = f"{pair[0]}–{pair[1]}"
        axes.set_ylabel(f"g(r) of {name}" if several else "g(r) relative to a uniform sphere")
        for (t_K, rows), colour in chosen:
            own = with_error(table["r_A"][rows], table[f"{pair}_g"][rows], table.error(f"{pair}_g")[rows], True)
            curves[axes].append((own, f"{t_K:g} K" if several else name, colour if several else COLOURS[k]))
    ends = [visible_end([own for own, _, _ in shown]) for shown in curves.values()]
    if all(math.isinf(end) for end in ends):
        why = "[observe.rdf] has no step after equilibration, or no pair is within r_max_A"
        raise NoPicture(f"warning: {table.path.name} has no pairs and no picture: "
                        f"{why if results else 'no pair is within the largest distance'}")  # fmt: skip
    r_A = table["r_A"]
    end = min(r_A.max() + r_A.min(), max(end for end in ends if end < math.inf))
    for axes, shown in curves.items():
        for own, label, colour in shown:
            band(axes, merged(cut(own, end)), label=label, color=colour)
        axes.set(xlim=(0.0, end), ylim=(0.0, None))
    title = table.title("Radial distribution") + (results.of_one_bath if results else "")
    return finish(figure, all_axes, title, f"r (Å)     band: standard error{note}")


def profile(results: Results, table: Table) -> Figure:
    table = results.table("profile_by_bath") or table
    if not np.any(table["density_g_per_cm3"] > 0.0):
        raise NoPicture("warning: profile.csv has no samples and no picture: [observe.profile] has "
                        "no step after equilibration")  # fmt: skip
    several = "bath_K" in table
    chosen, note = chosen_baths(table.groups("bath_K"))
    figure, all_axes = panels(2, sharex=True)
    densities, turned = [], 0.2
    for (t_K, rows), colour in chosen:
        label = f"{t_K:g} K" if several else None
        for axes, name in zip(all_axes, ("density_g_per_cm3", "cos_dipole"), strict=True):
            own = with_error(table["r_A"][rows], table[name][rows], table.error(name)[rows])
            band(axes, merged(own), label=label, color=colour if several else COLOURS[0])
            if name == "cos_dipole":
                # Only accurate values set the scale; the innermost shells contain few molecules.
                error = own[3] - own[1]
                turned = max(turned, np.abs(own[1][(error > 0.0) & (error < 0.1)]).max(initial=0.0))
            else:
                densities.append(own)
    all_axes[0].set_ylabel("density (g/cm³)")
    all_axes[0].set_ylim(0.0, 1.08 * max(d[3].max(initial=0.0) for d in densities))
    all_axes[1].set_ylabel("mean dipole cosine")
    all_axes[1].set_ylim(-1.2 * turned, 1.2 * turned)
    all_axes[1].set_xlim(0.0, min(table["r_A"].max(), visible_end(densities)))
    title = table.title("Radial profile") + results.of_one_bath
    return finish(figure, all_axes, title, f"distance from the centre of mass (Å)     band: standard error{note}")


def spectrum(results: Results, table: Table) -> Figure:
    if len(table) < 2:
        raise NoPicture("warning: spectrum.csv has no rows and no picture: the run after equilibration "
                        "is shorter than a segment; see [observe.spectrum] resolution_per_cm")  # fmt: skip
    return spectra({None: table}, table.title("Spectrum"))


def spectra(tables: Mapping[str | None, Table], title: str) -> Figure:
    """Spectra of one or several runs, with the labels of the legend."""
    figure, all_axes = panels(2, sharex=True)
    end, note = 0.0, ""
    curves: list[tuple[Axes, Bands, dict[str, Any]]] = []
    for axes, (name, label) in zip(all_axes, (("states_cm", "modes per cm⁻¹"),
                                              ("absorption_km_cm_per_mol", "absorption (km/mol per cm⁻¹)")),
                                   strict=True):  # fmt: skip
        axes.set_ylabel(label)
        highest = behind = 0.0
        for k, (text, table) in enumerate(tables.items()):
            x = table[table.names[0]]
            own = with_error(x, table[name], table.error(name), True)
            sums = np.cumsum(own[1])
            last = max(1, int(np.searchsorted(sums, 0.99 * sums[-1])))
            end = max(end, min(1.2 * x[min(last, len(x) - 1)], x[-1]))
            curves.append((axes, own, {"label": text, "color": COLOURS[k % 8]}))
            highest = max(highest, own[3].max())
            behind = max(behind, own[3][own[0] > 50.0].max(initial=0.0))
        axes.set_ylim(0.0, 1.05 * highest or 1.0)
        # The peak of overall motion near zero would compress the rest of the plot.
        if name == "states_cm" and highest > 1.5 * behind > 0.0:
            axes.set_ylim(0.0, 1.1 * behind)
            note = f"     peak near 0: {highest:.2g}"
    for axes, own, style in curves:
        axes.set_xlim(0.0, end)
        band(axes, merged(cut(own, end), 1000), **style)
    return finish(figure, all_axes, title, f"wavenumber (cm⁻¹)     band: standard error{note}")


def correlation(results: Results, table: Table) -> Figure:
    if len(table) < 2:
        raise NoPicture("warning: correlation.csv has no rows and no picture: no replica covers a whole "
                        "window, which is about twice [observe.correlation] length_ps and at least 17 samples")  # fmt: skip
    atoms = (("oh", "O-H"), ("hh", "H-H"), ("dipole", "dipole"))
    orientation = {f"{name}_p{n}": f"{label}, P{'₁₂'[n - 1]}" for name, label in atoms for n in (1, 2)}
    bonds = {"bonded_again": "intermittent", "bonded_still": "continuous"}
    shown = [(label, {n: t for n, t in names.items() if np.isfinite(table[n]).any()})
             for label, names in (("orientation", orientation), ("hydrogen bonds", bonds),
                                  ("MSD (Å²)", {"displacement_A2": None}))]  # fmt: skip
    shown = [(label, names) for label, names in shown if names]
    figure, all_axes = panels(len(shown), sharex=True)
    for axes, (label, names) in zip(all_axes, shown, strict=True):
        axes.set_ylabel(label)
        for k, (name, text) in enumerate(names.items()):
            own = with_error(table["time_ps"], table[name], table.error(name))
            band(axes, sparse(own), label=text, color=COLOURS[k])
    return finish(figure, all_axes, table.title("Time correlation functions"), "time (ps)     bands: standard error")


def modes(_: Results | None, table: Table) -> Figure:
    """Infrared intensities as sticks, coloured by the dominant motion; bond vibrations have a
    panel of their own. Modes of zero frequency are left out."""
    x, y = table["wavenumber_per_cm"], table["ir_intensity_km_per_mol"]
    shares = np.array([table[name] for name in ("translation", "rotation", "vibration")])
    known = (x != 0.0) & ~np.isnan(y)
    kinds = [known & (np.argmax(shares, axis=0) == k) for k in range(3)]
    shown = [part for part in ((0, 1), (2,)) if any(kinds[k].any() for k in part)]
    if not shown:
        raise NoPicture(f"note: {table.path} has no vibrations with an intensity and no picture")
    figure, all_axes = panels(len(shown), 4.0 if len(shown) == 1 else 2.6)
    x_label = "wavenumber (cm⁻¹)"
    for axes, part in zip(all_axes, shown, strict=True):
        own = np.logical_or.reduce([kinds[k] for k in part])
        for k in part:
            if kinds[k].any():
                axes.vlines(x[kinds[k]], 0.0, y[kinds[k]], color=COLOURS[k], linewidth=1.5)
                axes.plot(x[kinds[k]], y[kinds[k]], "o", markersize=2.5, color=COLOURS[k],
                          label=("translation", "rotation", "bond vibration")[k])  # fmt: skip
        low, high = min(0.0, x[own].min()), max(0.0, x[own].max())
        axes.set_xlim(1.05 * low, 1.05 * high)
        axes.set_ylim(0.0, 1.08 * y[own].max() or 1.0)
        axes.set_ylabel("intensity (km/mol)")
        x_label += "     negative: imaginary" if low < 0.0 and "negative" not in x_label else ""
    return finish(figure, all_axes, table.title("Normal modes"), x_label)


# --- temperatures ---


def baths(results: Results, table: Table) -> Figure | None:
    """Averages against temperature, from averages.csv and heat_capacity.csv; None for fewer than
    three temperatures."""
    if "bath_K" not in table:
        return None
    capacity = "heat_capacity_kcal_per_mol_K"
    of_all = {"potential_kcal_per_mol": "potential (kcal/mol)", capacity: "heat capacity (cal/mol/K)",
              "hydrogen_bonds": "hydrogen bonds", "lindemann": "Lindemann index",
              "kinetic_o_meV": "kinetic energy of O (meV)", "kinetic_h_meV": "kinetic energy of H (meV)"}  # fmt: skip
    shown = {}
    for name in of_all:
        rows = np.flatnonzero((table["quantity"] == name) & np.isfinite(table["bath_K"]))
        rows = rows[table["table"][rows] == table["table"][rows[0]]] if len(rows) else rows
        if len(rows) >= 3:
            shown[name] = rows
    if not shown:
        return None
    figure, all_axes = panels(len(shown), 2.4, sharex=True)
    bounds = False
    for axes, (name, rows) in zip(all_axes, shown.items(), strict=True):
        unit = 1000.0 if name == capacity else 1.0
        x, y, error = table["bath_K"][rows], unit * table["mean"][rows], unit * table["error"][rows]
        label, line = None, "-"
        if name == capacity and (all_temperatures := results.table("heat_capacity")) is not None:
            if heat_capacity(axes, all_temperatures):
                label = "covariance" if "difference_quotient_err" in all_temperatures else "single temperatures"
                line = "-" if label == "covariance" else "none"
        if name.startswith("kinetic_"):
            axes.plot(x, 1.5 * MEV_PER_K * x, "--", color=GREY, label="classical nuclei, 3/2 kT")
            label = "centroid virial"
        curve(axes, x, y, error, label=label, linestyle=line, color=COLOURS[1] if label else COLOURS[0])
        stars = ["" if good else "*" for good in table["converged"][rows]]
        mark(axes, x, y, stars)
        bounds = bounds or "*" in stars
        axes.set_ylabel(of_all[name])
    note = LOWER_BOUND if bounds else ""
    title = table.title("Averages against temperature")
    return finish(figure, all_axes, title, f"temperature (K)     bars, band: standard error{note}")


def heat_capacity(axes: Axes, table: Table, label: str | None = None, colour: str = COLOURS[0]) -> bool:
    """The heat capacity of all temperatures together, or the difference quotient of ring polymers.

    Parameters
    ----------
    label : of a run among others; default: the method, and the classical value is also drawn
    """
    of_rings = "difference_quotient_kcal_per_mol_K" in table
    name = "difference_quotient" if of_rings else "heat_capacity"
    y, error = 1000.0 * table[f"{name}_kcal_per_mol_K"], 1000.0 * table[f"{name}_err"]
    x, known = table["temperature_K"], np.isfinite(y)
    if known.any() and of_rings:
        curve(axes, x, y, np.nan_to_num(error), label=label or "difference quotient", color=colour)
    elif known.any():
        # A gap between temperatures without common samples.
        (line,) = axes.plot(x, y, color=colour, label=label or "all temperatures")
        axes.fill_between(x, y - error, y + error, color=line.get_color(), alpha=0.22, linewidth=0)
    if "classical_kcal_per_mol_K" in table and not label:
        axes.plot(x, 1000.0 * table["classical_kcal_per_mol_K"], "--", color=GREY, label="classical nuclei, harmonic")
    return bool(known.any())


def free_energy(results: Results, table: Table) -> Figure:
    """The free energy along a coordinate, and the histograms of the windows below it."""
    if not len(table):
        raise NoPicture("warning: free_energy.csv has no rows and no picture")
    figure, (profile, windows) = panels(2, 2.6, sharex=True)
    x, y = table["coordinate"], table["free_energy_kcal_per_mol"]
    error = np.nan_to_num(table["free_energy_kcal_per_mol_err"])
    # Bins without samples are gaps.
    width = np.min(np.diff(x)) if len(x) > 1 else 1.0
    for k, part in enumerate(np.split(np.arange(len(x)), np.where(np.diff(x) > 1.5 * width)[0] + 1)):
        profile.plot(x[part], y[part], color=COLOURS[0], label="F" if k == 0 else None)
        profile.fill_between(x[part], (y - error)[part], (y + error)[part], color=COLOURS[0], alpha=0.22, linewidth=0)
    if "without_volume_kcal_per_mol" in table:
        shifted = table["without_volume_kcal_per_mol"]
        profile.plot(x, shifted - np.nanmin(shifted), "--", color=GREY, label="without the volume element")
    profile.set_ylabel("free energy (kcal/mol)")
    samples = results.table("bias")
    match = re.search(r"(\d+) windows", table.provenance)
    for k in range(int(match.group(1)) if match and samples is not None else 0):
        own = samples["coordinate"][samples["replica"] % int(match.group(1)) == k]
        counts, edges = np.histogram(own, bins=np.arange(x[0] - width / 2, x[-1] + width, width / 2))
        windows.stairs(counts, edges, color=COLOURS[k % len(COLOURS)])
    windows.set_ylabel("samples of each window")
    return finish(figure, (profile, windows), table.title("Free energy"), "coordinate (Å, or contacts)     band: standard error")


def exchange(results: Results, table: Table) -> Figure:
    figure, (pairs, walkers) = panels(2, 2.6)
    tried = table["attempts"] > 0
    ladder, unit = ("centre", "centre") if "lower_centre" in table else ("bath_K", "temperature (K)")
    middle_K = 0.5 * (table[f"lower_{ladder}"] + table[f"upper_{ladder}"])
    curve(pairs, middle_K[tried], table["acceptance"][tried], table.error("acceptance")[tried], color=COLOURS[0])
    pairs.set_ylim(0.0, 1.0)
    pairs.set_ylabel("acceptance")
    pairs.set_xlabel(f"mean {unit} of the pair     bars: standard error")
    walk = results.table("walkers")
    names = [name for name in walk.names if name.startswith("walker_")] if walk else []
    smoothed = walk is not None and len(walk) > MOST_BLOCKS
    walkers.set_ylabel(f"mean {unit}" if smoothed else unit)
    shown = min(len(names), 3)  # more curves would be indistinguishable
    for k in range(shown if walk else 0):
        x, y = walk["time_ps"], walk[names[k * (len(names) - 1) // max(shown - 1, 1)]]
        label = f"{y[0]:g}{' K' if ladder == 'bath_K' else ''}" if len(y) else None
        x, y, _, _ = merged((x, y, y, y), MOST_BLOCKS)
        walkers.plot(x, y, color=COLOURS[k], label=label)
    return finish(figure, (pairs, walkers), table.title("Replica exchange"),
                  f"time (ps)     walkers of the first ladder, labelled by initial {unit.split(' (')[0]}")  # fmt: skip


def evaporation(results: Results, table: Table) -> Figure:
    """Fraction of whole replicas against time, and rates against 1/T with the Arrhenius fit."""
    if not len(table):
        raise NoPicture("warning: survival.csv has no rows and no picture: [observe.evaporation] has no step "
                        "after equilibration, or no replica was whole at the first one")  # fmt: skip
    rates = results.table("evaporation_rates")
    arrhenius = rates is not None and "arrhenius_rate_per_ns" in rates and (rates["departures"] > 0).sum() > 1
    figure, all_axes = panels(2 if arrhenius else 1, 3.0 if arrhenius else 4.0)
    several = "bath_K" in table
    chosen, note = chosen_baths(table.groups("bath_K"))
    for (t_K, rows), colour in chosen:
        kept = rows[np.unique(np.linspace(0, len(rows) - 1, 300).astype(int))]
        x, share, error = table["time_ps"][kept], table["survival"][kept], table.error("survival")[kept]
        constant = table["at_constant_rate"][kept]
        if np.isfinite(constant).sum() > 1:
            all_axes[0].plot(x, constant, "--", color=colour if several else COLOURS[1], linewidth=1.0)
        band(all_axes[0], with_error(x, share, error), step="post", label=f"{t_K:g} K" if several else None,
             color=colour if several else COLOURS[0])  # fmt: skip
    all_axes[0].set_ylim(0.0, 1.05)
    all_axes[0].set_ylabel("fraction of whole replicas")
    x_label = f"time (ps)     band: standard error; dashed: constant rate{note}"
    if rates is not None and arrhenius:
        all_axes[0].set_xlabel(x_label)
        x_label = "1000 K / T     bars: standard error of the logarithm"
        axes, inverse = all_axes[1], 1000.0 / np.where(rates["bath_K"] > 0.0, rates["bath_K"], np.nan)
        n, k = rates["departures"], rates["rate_per_ns"]
        seen = (n > 0) & np.isfinite(inverse)
        # Errors of ln k: the bar of a single departure stays above 0.
        factor = np.exp(1.0 / np.sqrt(n[seen]))
        curve(axes, inverse[seen], k[seen], np.array([k[seen] - k[seen] / factor, k[seen] * factor - k[seen]]),
              linestyle="none", label="measured", color=COLOURS[0])  # fmt: skip
        if np.isfinite(rates["arrhenius_rate_per_ns"]).sum() > 1:
            axes.plot(inverse, rates["arrhenius_rate_per_ns"], color=COLOURS[1], label="Arrhenius")
        axes.set_yscale("log")
        axes.set_ylabel("rate (1/ns)")
    return finish(figure, all_axes, table.title("Evaporation"), x_label)


def isomers(results: Results, table: Table) -> Figure:
    """Populations against energy, or with several temperatures against temperature."""
    own = results.table("isomers_by_bath") or table
    if not len(own) or not own["of_samples"].any():
        raise NoPicture("warning: isomers.csv has no rows and no picture: [observe.minima] has no step "
                        "after equilibration")  # fmt: skip
    figure, (axes,) = panels(1, 4.0)
    axes.set_ylabel("population")
    share, above = own["share"], own["above_lowest_kcal_per_mol"]
    stars = np.where(own["converged"] == 0, "*", "")
    if "bath_K" not in own:
        curve(axes, above, share, own.error("share"), linestyle="none", color=COLOURS[0])
        mark(axes, above, share, stars)
        axes.set_ylim(bottom=0.0)
        x_label = "energy above the lowest minimum found (kcal/mol)"
    else:
        groups = [(n, rows[own["of_samples"][rows] > 0]) for n, rows in own.groups("isomer")]
        groups = sorted(sorted(groups, key=lambda g: -share[g[1]].max())[:6])
        rest = {t_K: 1.0 for t_K in own["bath_K"][own["of_samples"] > 0]}
        for k, (number, rows) in enumerate(groups):
            energy = above[rows[0]]
            # Enough decimals to distinguish close minima.
            decimals = 2 if energy <= 0.0 else max(2, 1 - math.floor(math.log10(energy)))
            label = f"isomer {number:g}, +{energy:.{decimals}f} kcal/mol" if number > 1 else "isomer 1 (lowest)"
            curve(axes, own["bath_K"][rows], share[rows], own.error("share")[rows], label=label, color=COLOURS[k])
            mark(axes, own["bath_K"][rows], share[rows], stars[rows], COLOURS[k])
            for t_K, part in zip(own["bath_K"][rows], share[rows], strict=True):
                rest[t_K] -= part
        axes.plot(list(rest), [max(part, 0.0) for part in rest.values()], "--", color=GREY, label="all others")
        axes.set_ylim(0.0, 1.0)
        x_label = "temperature (K)"
    note = LOWER_BOUND if "*" in stars else ""
    return finish(figure, (axes,), table.title("Inherent structures"), f"{x_label}     bars: standard error{note}")


# --- comparisons ---


class Schemes:
    """The schemes of a comparison: rows of compare.csv, in curves that differ in step or beads."""

    def __init__(self, results: Results):
        table = results.table("compare")
        assert table is not None
        self.table, self.by_step = table, bool(results.record.get("steps_fs"))
        key = "timestep_fs" if self.by_step else "beads" if results.record.get("beads") else None
        self.labels = [str(label) for label in table["scheme"]]
        cut = rf":{key}=[^:]*$" if key else "$^"
        self.curves = ["reference" if label.startswith("reference ") else re.sub(cut, "", label)
                       for label in self.labels]  # fmt: skip
        self.steps = table["timestep_fs"]
        self.ran = np.isfinite(table["us_per_ps"])  # at least one replica is left

    def names(self, reference: bool = True) -> list[str]:
        return [name for name in dict.fromkeys(self.curves) if reference or name != "reference"]

    def rows(self, name: str, whole: bool = False) -> Array:
        """The rows of a curve. `whole` leaves out schemes that lost replicas."""
        good = (self.table["stopped_replicas"] == 0) if whole else self.ran
        return np.flatnonzero((np.array(self.curves) == name) & good)

    def drawn(self) -> list[int]:
        """Rows of the schemes that ran, each with its smallest step."""
        own = [min(self.steps[k] for k, other in enumerate(self.curves) if other == name) for name in self.curves]
        return [k for k in range(len(self.labels)) if self.ran[k] and self.steps[k] == own[k]]


def compared_distances(results: Results, table: Table) -> Figure | None:
    schemes, of = Schemes(results), " OO_density_per_A"
    drawn = [k for k in schemes.drawn() if schemes.labels[k] + of in table]
    if not drawn:
        return None
    first = schemes.labels[0] + of
    values = {k: (table[schemes.labels[k] + of], table.error(schemes.labels[k] + of)) for k in drawn}
    difference = {k: (y - table[first], np.hypot(error, table.error(first) if k else 0.0))
                  for k, (y, error) in values.items()}  # fmt: skip
    differ = schemes.ran[0] and any(np.any(y != 0.0) for y, _ in difference.values())
    occupied = np.flatnonzero(np.any([y > 0.0 for y, _ in values.values()], axis=0))
    shown = slice(max(occupied[0] - 1, 0), occupied[-1] + 2) if len(occupied) else slice(None)
    figure, all_axes = panels(2 if differ else 1, 3.0 if differ else 4.0, sharex=True)
    for axes, curves in zip(all_axes, (values, difference), strict=False):
        for n, (k, (y, error)) in enumerate(curves.items()):
            band(axes, merged(with_error(table["r_A"][shown], y[shown], error[shown])), label=schemes.labels[k],
                 color=COLOURS[n % 8], linestyle="-" if n < 8 else "--")  # fmt: skip
    all_axes[0].set_ylabel("probability density (1/Å)")
    all_axes[0].set_ylim(bottom=0.0)
    if differ:
        all_axes[1].set_ylabel(f"difference from {schemes.labels[0]} (1/Å)")
    return finish(figure, all_axes, table.title("Oxygen-oxygen distances"), "r (Å)     bands: standard error")


def compared_correlations(results: Results, table: Table) -> Figure | None:
    schemes = Schemes(results)
    drawn = [schemes.labels[k] for k in schemes.drawn()]
    groups = [(label, rows) for label, rows in table.groups("scheme") if label in drawn and len(rows) > 1]
    columns = {"oh_p2": "O-H, P₂", "dipole_p1": "dipole, P₁", "bonded_still": "still bonded",
               "displacement_A2": "displacement² (Å²)"}  # fmt: skip
    columns = {n: t for n, t in columns.items() if any(np.isfinite(table[n][rows]).any() for _, rows in groups)}
    if not columns:
        return None
    figure, all_axes = panels(len(columns), 2.2, sharex=True)
    for axes, (name, label) in zip(all_axes, columns.items(), strict=True):
        axes.set_ylabel(label)
        for k, (scheme, rows) in enumerate(groups):
            own = with_error(table["time_ps"][rows], table[name][rows], table.error(name)[rows])
            band(axes, sparse(own), label=scheme, color=COLOURS[k % 8], linestyle="-" if k < 8 else "--")
    return finish(figure, all_axes, table.title("Time correlations"), "time (ps)     bands: standard error")


def log_axes(axes: Axes, x: Array, y: Array, margins: tuple[float, float] = (1.3, 2.0)) -> None:
    """Logarithmic axes around the values."""
    for name, values, by in (("x", x, margins[0]), ("y", y, margins[1])):
        low, high = values[values > 0.0].min() / by, values[values > 0.0].max() * by
        axes.set(**{f"{name}scale": "log", f"{name}lim": (low, high)})
        if high < 100.0 * low:  # below two decades, powers of ten are too few
            digits = next(d for d in ((1, 2, 5), (1, 1.5, 2, 3, 4, 5, 7), range(10, 100, 5))
                          if sum(low <= n * 10.0**p <= high for n in d for p in range(-12, 12)) > 2
                          or d[0] == 10)  # fmt: skip
            at = [n * 10.0**p for p in range(-12, 12) for n in digits if low <= n * 10.0**p <= high]
            plain_ticks(getattr(axes, f"{name}axis"), at)


def compared_errors(results: Results, table: Table) -> Figure | None:
    """Errors against cost, or without a thermostat the change in energy against step and cost."""
    if "us_per_ps" not in table:  # a comparison of 0.2 without water
        return None
    schemes = Schemes(results)
    if not schemes.by_step:
        return None
    return errors_against_cost(table, schemes) if results.has_thermostat else energy_errors(results, schemes)


def errors_against_cost(table: Table, schemes: Schemes) -> Figure:
    """Errors below half of the noise are drawn at half of the noise, in grey."""
    cost, cost_error = table["us_per_ps"], table.error("us_per_ps")
    measures = []
    for label, name, noise in (("|error of ⟨V₀⟩| (kcal/mol)", "potential_difference_kcal_per_mol", None),
                               ("OO histogram, total variation", "oo_total_variation", "oo_total_variation_noise")):
        own = np.concatenate([schemes.rows(curve, whole=True) for curve in schemes.names(False)] or [[]]).astype(int)
        errors = np.abs(table[name])
        if np.any(errors[own] > 0.0):
            each = table.error(name) if noise is None else np.nan_to_num(table[noise])
            measures.append((label, name, errors, each[own].mean(), own))
    if not measures:
        raise NoPicture("warning: errors.svg was not drawn, because no scheme has an error")
    figure, all_axes = panels(len(measures), 3.4, sharex=True)
    for axes, (label, name, errors, noise, own) in zip(all_axes, measures, strict=True):
        # Limit the bar of an uncertain cost, which would otherwise dominate the axis.
        bars = np.minimum(cost_error, 0.5 * cost)
        floor = 0.5 * noise
        for k, curve_name in enumerate(schemes.names(False)):
            rows = schemes.rows(curve_name, whole=True)
            y = np.maximum(errors[rows], floor)
            low = np.maximum(errors[rows] - table.error(name)[rows], floor)
            high = np.maximum(errors[rows] + table.error(name)[rows], floor)
            curve(axes, cost[rows], y, np.array([y - low, high - y]), xerr=cost_error[rows], label=curve_name,
                  color=COLOURS[k % 8], marker=MARKERS[k % 8])  # fmt: skip
            mark(axes, cost[rows], y, [f"{step:g}" for step in schemes.steps[rows]], COLOURS[k % 8])
        if noise > 0.0:
            axes.axhline(noise, color=GREY, linestyle="--", linewidth=1.0, label="noise")
            raised = own[errors[own] < floor]
            if len(raised):
                axes.plot(cost[raised], np.full(len(raised), floor), "o", color="#BBBBBB", zorder=5,
                          label="below half of the noise")  # fmt: skip
        axes.set_ylabel(label)
        top = errors[own].max()
        log_axes(axes, np.r_[cost[own] - bars[own], cost[own] + bars[own]],
                 np.array([0.8 * noise or top / 1000, max(top, 2.0 * noise)]), (1.2, 2.0))  # fmt: skip
    title = f"{table.title('Error against cost')}, {schemes.labels[0]}"
    return finish(figure, all_axes, title, "time per picosecond of one cluster (µs)     labels: step (fs)")


def orders_of(results: Results, quantity: str) -> dict[str, str]:
    """The order of convergence of a quantity as text, by scheme."""
    table = results.table("orders")
    if table is None:
        return {}
    rows = [k for k in range(len(table)) if table["quantity"][k] == quantity and table["points"][k] > 0]
    return {str(table["scheme"][k]): f"{table['order'][k]:.2f}{'?' if table['points'][k] < 3 else ''}"
            for k in rows}  # fmt: skip


def energy_errors(results: Results, schemes: Schemes) -> Figure:
    table, name, orders = schemes.table, "energy_rms_kcal_per_mol", orders_of(results, "energy")
    shown = [(n, rows[table[name][rows] > 0.0]) for n in schemes.names() for rows in [schemes.rows(n, whole=True)]]
    shown = [(n, rows) for n, rows in shown if len(rows)]
    if not shown:
        raise NoPicture("warning: errors.svg was not drawn, because no scheme kept all replicas and sampled two "
                        "different energies. Try a longer run, or a smaller [observe.energies] every")  # fmt: skip
    figure, all_axes = panels(2, 3.4)
    own = np.concatenate([rows for _, rows in shown])
    for axes, x, x_error in ((all_axes[0], schemes.steps, None),
                             (all_axes[1], table["us_per_ps"], table.error("us_per_ps"))):  # fmt: skip
        for k, (scheme, rows) in enumerate(shown):
            label = f"{scheme}, order {orders[scheme]}" if scheme in orders else scheme
            curve(axes, x[rows], table[name][rows], table.error(name)[rows], label=label, color=COLOURS[k % 8],
                  marker=MARKERS[k % 8], xerr=None if x_error is None else x_error[rows])  # fmt: skip
            if x_error is not None:
                mark(axes, x[rows], table[name][rows], [f"{s:g}" for s in schemes.steps[rows]], COLOURS[k % 8])
        axes.set_ylabel("rms change of the energy (kcal/mol)")
        log_axes(axes, x[own], table[name][own])
    all_axes[0].set_xlabel("step (fs)")
    return finish(figure, all_axes, table.title("Energy conservation"),
                  "time per picosecond of one cluster (µs)     labels: step (fs)")  # fmt: skip


def compared_beads(results: Results, table: Table) -> Figure | None:
    """Averages of ring polymers against the number of beads, with extrapolations, or the step."""
    by_beads = bool(results.record.get("beads"))
    if not by_beads and not results.record.get("steps_fs"):
        return None
    schemes, limits = Schemes(results), results.table("bead_limits")
    x = table["beads" if by_beads else "timestep_fs"]
    figure, all_axes = panels(len(RING_COLUMNS), 2.4, sharex=True)
    end, has_limit = 3.0 * x.max(), False
    for axes, (name, label) in zip(all_axes, RING_COLUMNS, strict=True):
        axes.set_ylabel(label)
        for k, scheme in enumerate(schemes.names()):
            rows = schemes.rows(scheme)
            rows = rows[np.argsort(x[rows], kind="stable")]
            rows = rows[np.isfinite(table[name][rows])]
            frequencies = re.search(r":frequencies=(\w+)", scheme)
            kind = frequencies[1] if frequencies else results.value("path_integral", "frequencies")
            # Averages with economised frequencies have no limit curve: lines guide the eye.
            joined = not by_beads or kind == "economised"
            colour = COLOURS[k % 8]
            curve(axes, x[rows], table[name][rows], table.error(name)[rows], linestyle="-" if joined else "none",
                  marker=MARKERS[k % 8], label=scheme, color=colour)  # fmt: skip
            fits = np.flatnonzero((limits["scheme"] == scheme) & (limits["quantity"] == name)) if limits else []
            if limits is None or not len(fits) or limits["points"][fits[0]] < 2:
                continue
            limit, error, c1, c2, points = (limits[c][fits[0]] for c in ("limit", "limit_err", "c1", "c2", "points"))
            beads = np.geomspace(x[rows[-int(points)]], end, 60)
            axes.plot(beads, limit + np.nan_to_num(c1) / beads**2 + np.nan_to_num(c2) / beads**4, "--",
                      color=colour, linewidth=1.0)  # fmt: skip
            curve(axes, np.array([end]), np.array([limit]), np.array([error]), color=colour, marker=MARKERS[k % 8])
            has_limit = True
    x_label = "time step (fs)"
    if by_beads:
        x_label = "number of beads P" + ("     ∞: extrapolation" if has_limit else "")
        all_axes[-1].set(xscale="log", xlim=(0.8 * x.min(), 4.0 * x.max()))
        plain_ticks(all_axes[-1].xaxis, sorted(set(x)) + [end] * has_limit, {end: "∞"})
    else:
        all_axes[-1].set_xlim(0.0, 1.08 * x.max())
    return finish(figure, all_axes, table.title("Ring polymers"), x_label)


# --- mechanical systems, whose time has no unit ---


def against(table: Table) -> tuple[str, str, dict[str, Any]]:
    """The x axis, its label and the style: iterations have a constant time."""
    if np.all(table["time"] == table["time"][:1]):
        return "step", "iteration", {"marker": "o"}
    return "time", "time", {}


def system_and_scheme(table: Table) -> str:
    return (table.provenance.split("; ") + [""])[1]


def coordinates(_: Results, table: Table) -> Figure:
    """The first positions, without constant or repeated ones."""
    names = [name for name in table.names[2:] if not name.startswith("v")]
    shown: list[str] = []
    for name in names[:24]:
        y = table[name]
        size = 1e-9 * np.abs(y).max(initial=0.0)
        repeated = any(min(np.abs(y - table[n]).max(), np.abs(y + table[n]).max()) <= size for n in shown)
        if len(shown) < 4 and len(y) and y.min() < y.max() and not repeated:
            shown.append(name)
    shown = shown or names[:1]
    x, x_label, style = against(table)
    figure, (axes,) = panels(1, 4.0)
    for k, name in enumerate(shown):
        axes.plot(*extremes(table[x], table[name]), label=name, color=COLOURS[k], **style)
    axes.set_ylabel(f"{len(shown)} of {len(names)} coordinates q" if len(shown) < len(names) else "coordinate q")
    return finish(figure, (axes,), system_and_scheme(table), x_label)


def energies_of_system(_: Results, table: Table) -> Figure:
    x, x_label, style = against(table)
    figure, all_axes = panels(2 if "total" in table else 1, 3.0, sharex=True)
    for k, name in enumerate(n for n in ("potential", "penalty", "kinetic", "total") if n in table):
        all_axes[0].plot(*extremes(table[x], table[name]), label=name, color=COLOURS[k], **style)
    all_axes[0].set_ylabel("energy")
    if "total" in table:
        all_axes[1].plot(*extremes(table[x], table["total"] - table["total"][0]), color=COLOURS[0], **style)
        all_axes[1].set_ylabel("change in total energy")
    return finish(figure, all_axes, system_and_scheme(table), x_label)


def largest_changes(time: Array, values: Array, parts: int) -> tuple[Array, Array]:
    """The largest absolute value in each part of the time: oscillations would fill a band."""
    part = np.ceil(time / (time[-1] or 1.0) * parts * (1.0 - 1e-12))
    starts = np.flatnonzero(np.append(True, np.diff(part) != 0))
    largest = np.maximum.reduceat(np.abs(values), starts)
    return time[np.append(starts[1:], len(time)) - 1], np.where(largest > 0.0, largest, np.nan)


def conservation_of_system(_: Results, table: Table) -> Figure | None:
    """Changes of conserved quantities; of many, the one of each family that changes most."""
    x, x_label, style = against(table)
    curves = {n: largest_changes(table[x], table[n] - table[n][0], 200) for n in table.names[2:]}
    changing = {n: c for n, c in curves.items() if np.any(c[1] > 0.0)}
    if not changing:
        return None
    shown = list(changing)
    if len(shown) > 6:
        families: dict[str, str] = {}
        for name in shown:
            family = re.sub(r"_\d+$", "", name)
            if family not in families or np.nanmax(changing[name][1]) > np.nanmax(changing[families[family]][1]):
                families[family] = name
        shown = list(families.values())[:6]
    figure, (axes,) = panels(1, 4.0)
    for k, name in enumerate(shown):
        axes.plot(*changing[name], label=f"{name}, max {np.nanmax(changing[name][1]):.2g}", color=COLOURS[k], **style)
    of_all = f", {len(shown)} of {len(changing)} quantities" if len(shown) < len(changing) else ""
    axes.set(yscale="log", ylabel=f"absolute change{of_all}")
    x_label += "" if x == "step" else "     points: maximum per 1/200 of the time"
    return finish(figure, (axes,), system_and_scheme(table), x_label)


# --- structures ---

RADIUS_A = (0.48, 0.30, 0.30)  # of O, H, H, small enough to show the bonds
OXYGEN, HYDROGEN, DASHES = (np.array(c) / 255.0 for c in ((214, 64, 52), (236, 238, 242), (70, 130, 190)))
DARK = np.array((25, 25, 30)) / 255.0
STICK_A, BOND_A = 0.20, 0.09
# Ring polymers: radius of a bead, and widths of lines.
BEAD_A, BEAD_STICK_A, BEAD_BOND_A = 0.05, 0.025, 0.06
MOST_MOLECULES = 5000
#: A unit circle of four Bézier curves, half as many as those of matplotlib.
CIRCLE = Outline(
    [(1, 0), (1, 0.5523), (0.5523, 1), (0, 1), (-0.5523, 1), (-1, 0.5523), (-1, 0), (-1, -0.5523),
     (-0.5523, -1), (0, -1), (0.5523, -1), (1, -0.5523), (1, 0)],
    [Outline.MOVETO] + 12 * [Outline.CURVE4])  # fmt: skip
CELL_PX, MARGIN_PX, LABEL_PX = 260.0, 12.0, 24.0
PT_PER_PX = 0.72


def read_xyz(path: Path) -> Iterator[tuple[dict[str, str], Array]]:
    """Frames of an XYZ file: keys of the comment, and positions [atom][3] in Å."""
    with path.open(encoding="utf-8", errors="replace") as file:
        while (line := file.readline()).strip():
            found = re.findall(r'([\w.]+)=("[^"]*"|\S+)', file.readline())
            rows = [file.readline().split()[1:4] for _ in range(int(line))]
            yield {key: value.strip('"') for key, value in found}, np.array(rows, dtype=float)


def caption_of(comment: dict[str, str]) -> str:
    """Isomer or time, beads, and the energy of the minimum; empty without these."""

    def rounded(key: str) -> str:
        text = comment.get(key, "")
        return f"{float(text):.3f}" if is_number(text) else text

    parts = []
    if "caption" in comment:
        return comment["caption"]
    if "isomer" in comment:
        parts.append(f"isomer {comment['isomer']}")
    elif "time_ps" in comment:
        replica = comment.get("replica", "").removeprefix("replica-")
        parts += [f"replica {replica.lstrip('0') or 0}"] if replica else []
        parts.append(f"{rounded('time_ps').removesuffix('.000')} ps")
    if int(comment.get("beads", 1)) > 1:
        parts.append(f"{comment['beads']} beads")
    if "minimum_kcal_per_mol" in comment:
        parts.append(f"{rounded('minimum_kcal_per_mol')} kcal/mol")
    return ", ".join(parts)


def hydrogen_bonds(atoms: Array) -> list[tuple[int, int]]:
    """Pairs (hydrogen, oxygen): O-O below 3.5 Å and H-O...O below 30 degrees. Atoms are O, H, H of
    each molecule."""
    oxygens = atoms[::3]
    bonds = []
    for m, donor in enumerate(oxygens):
        apart = oxygens - donor
        distance = np.linalg.norm(apart, axis=1)
        for hydrogen in (3 * m + 1, 3 * m + 2):
            oh = atoms[hydrogen] - donor
            straight = apart @ oh > math.cos(math.pi / 6) * distance * np.linalg.norm(oh)
            bonds += [(hydrogen, 3 * int(n)) for n in np.flatnonzero(straight & (distance < 3.5)) if n != m]
    return bonds


def least_hidden_view(atoms: Array) -> Array:
    """The rotation of centred atoms, seen along z, with the least overlap and the longest extent
    horizontal."""
    best, least = np.eye(3), math.inf
    directions = int(np.clip(3e7 / len(atoms) ** 2, 1, 300))
    for k in range(directions):
        z = 1.0 - (2.0 * k + 1.0) / directions  # uniform on a sphere
        angle, r = k * math.pi * (3.0 - math.sqrt(5.0)), math.sqrt(1.0 - z * z)
        towards = np.array([r * math.cos(angle), r * math.sin(angle), z])
        right = np.cross([1.0, 0.0, 0.0] if abs(towards[0]) < 0.6 else [0.0, 1.0, 0.0], towards)
        right /= np.linalg.norm(right)
        view = np.array([right, np.cross(towards, right), towards])
        x, y, _ = view @ atoms.T
        turn = 0.5 * math.atan2(2.0 * (x @ y), x @ x - y @ y)
        view[:2] = np.array([[math.cos(turn), math.sin(turn)], [-math.sin(turn), math.cos(turn)]]) @ view[:2]
        if directions == 1:
            return view
        hidden = np.sum(1.0 / (0.1 + np.subtract.outer(x, x) ** 2 + np.subtract.outer(y, y) ** 2))
        if hidden < least * (1.0 - 1e-9):
            best, least = view, hidden
    return best


class Cluster:
    """A cluster in perspective: balls, sticks and dashed hydrogen bonds; distant parts are paler."""

    def __init__(self, positions_A: Array, beads: int):
        of_beads = positions_A.reshape(beads, -1, 3)
        atoms = of_beads.mean(axis=0)
        self.bonds = hydrogen_bonds(atoms)
        centre = atoms.mean(axis=0)
        view = least_hidden_view(atoms - centre)
        self.atoms = (atoms - centre) @ view.T
        self.rings = (of_beads - centre) @ view.T if beads > 1 else None
        depth = self.atoms[:, 2]
        self.front, self.depth = depth.max(), max(np.ptp(depth), 2.0)
        self.eye = 6.0 * max(self.front, 1.0)
        radii = np.resize(RADIUS_A, len(atoms))
        self.reach = radii
        ends = self.on_page(self.atoms), radii * self.magnified(self.atoms)
        if self.rings is not None:
            self.reach = BEAD_A + np.sqrt(((self.rings - self.atoms) ** 2).sum(axis=2).mean(axis=0))
            flat = self.rings.reshape(-1, 3)
            ends = self.on_page(flat), BEAD_A * self.magnified(flat)
        self.low, self.high = (ends[0] - ends[1][:, None]).min(axis=0), (ends[0] + ends[1][:, None]).max(axis=0)

    def magnified(self, points: Array) -> Array:
        return self.eye / (self.eye - points[..., 2])

    def on_page(self, points: Array) -> Array:
        return points[..., :2] * self.magnified(points)[..., None]

    def fogged(self, colour: Array, depth: float) -> Array:
        return colour + 0.38 * (self.front - depth) / self.depth * (1.0 - colour)

    def draw(self, axes: Axes, x: float, y: float, scale: float) -> None:
        """Draws around (x, y) in pixels. @param scale pixels per Å"""
        middle = 0.5 * (self.low + self.high)
        place = lambda points: (self.on_page(points) - middle) * scale * (1, -1) + (x, y)  # noqa: E731
        shapes: list[tuple[float, Outline, Any, Any, float, Any]] = []

        def line(ends: Array, colour: Array, width_A: float, alpha: float, dashes: Any = "solid") -> None:
            # Pairs of ends as one outline.
            half = ends.reshape(-1, 2, 3).mean(axis=(0, 1))
            codes = [Outline.MOVETO, Outline.LINETO] * (len(ends) // 2)
            width = width_A * scale * float(self.magnified(half)) * PT_PER_PX
            shade = (*self.fogged(colour, half[2]), alpha)
            shapes.append((half[2], Outline(place(ends), codes), "none", shade, width, dashes))

        def circles(centres: Array, radius_A: float, colour: Array, edge_A: float, alpha: float, depth: float) -> None:
            size = radius_A * scale * float(np.mean(self.magnified(centres)))
            at = place(centres)
            outline = Outline((size * CIRCLE.vertices + at[:, None]).reshape(-1, 2), np.tile(CIRCLE.codes, len(at)))
            edge = (*self.fogged(0.45 * colour + 0.55 * DARK, depth), alpha)
            shapes.append((depth, outline, (*self.fogged(colour, depth), alpha), edge if edge_A else "none",
                           edge_A * scale * PT_PER_PX, "solid"))  # fmt: skip

        for i, atom in enumerate(self.atoms):
            oxygen = i - i % 3
            colour = OXYGEN if i == oxygen else HYDROGEN
            sticks = [0.85 * OXYGEN + 0.15 * DARK, 0.75 * HYDROGEN + 0.25 * DARK]
            if self.rings is not None:
                circles(self.rings[:, i], BEAD_A, colour, 0.012, 0.6, atom[2])
                sticks[1] = 0.55 * HYDROGEN + 0.45 * DARK
                o, h = self.rings[:, oxygen], self.rings[:, i]
            else:
                circles(atom[None], RADIUS_A[i % 3], colour, 0.03, 1.0, atom[2])
                shine = atom[None] + RADIUS_A[i % 3] * np.array([-0.3, 0.34, 1e-6])
                circles(shine, 0.28 * RADIUS_A[i % 3], 0.4 * colour + 0.6, 0.0, 1.0, atom[2])
                o, h = self.surface(oxygen, i)[None], self.surface(i, oxygen)[None]
            if i == oxygen:
                continue
            for (a, b), shade in zip(((o, 0.5 * (o + h)), (0.5 * (o + h), h)), sticks, strict=True):
                ends = np.stack([a, b], axis=1).reshape(-1, 3)
                line(ends, shade, *((STICK_A, 1.0) if self.rings is None else (BEAD_STICK_A, 0.16)))
        width_A = BOND_A if self.rings is None else BEAD_BOND_A
        for hydrogen, oxygen in self.bonds:
            ends_of = np.array([self.surface(hydrogen, oxygen), self.surface(oxygen, hydrogen)])
            line(ends_of, DASHES, width_A, 1.0, (0, (0.14 / width_A, 1.4 * 0.14 / width_A)))
        shapes.sort(key=lambda shape: shape[0])
        _, outlines, faces, edges, widths, dashes = zip(*shapes, strict=True)
        axes.add_collection(PathCollection(outlines, facecolors=faces, edgecolors=edges, linewidths=widths,
                                           linestyles=dashes, capstyle="round"), autolim=False)  # fmt: skip

    def surface(self, atom: int, towards: int) -> Array:
        """A point on the surface of an atom."""
        way = self.atoms[towards] - self.atoms[atom]
        return self.atoms[atom] + 0.9 * self.reach[atom] * way / (np.linalg.norm(way) or 1.0)


def structures(frames: Sequence[tuple[dict[str, str], Array]], columns: int = 0) -> Figure:
    """Clusters side by side on one scale. Ring polymers are drawn bead by bead, with the hydrogen
    bonds of their centroids.

    Parameters
    ----------
    frames : comments, with the keys of caption_of(), and positions in Å, [bead][atom][3]
    columns : clusters per row; 0: automatic
    """
    molecules = sum(np.size(positions) for _, positions in frames) // 9
    if molecules > MOST_MOLECULES:
        raise ValueError(f"cannot draw {molecules} molecules; the maximum is {MOST_MOLECULES}")
    if not molecules:
        raise ValueError("there is no cluster to draw")
    clusters = [Cluster(positions, int(comment.get("beads", 1))) for comment, positions in frames]
    n, several_files = len(clusters), any(comment.get("files", "1") != "1" for comment, _ in frames)
    columns = columns or (n if n <= 4 else math.ceil(math.sqrt(1.3 * n)))
    rows = -(-n // columns)
    cell = 2.0 * CELL_PX if n == 1 else CELL_PX
    scale = (cell - 2.0 * MARGIN_PX) / max((c.high - c.low).max() for c in clusters)
    scale = min(scale, 40.0 * cell / CELL_PX)
    width, height = cell * columns, (cell + LABEL_PX) * rows
    figure = Figure(figsize=(width / 100.0, height / 100.0))
    axes = figure.add_axes((0.0, 0.0, 1.0, 1.0))
    axes.set(xlim=(0.0, width), ylim=(height, 0.0))
    axes.axis("off")
    for k, (cluster, (comment, _)) in enumerate(zip(clusters, frames, strict=True)):
        x, y = cell * (k % columns + 0.5), (cell + LABEL_PX) * (k // columns) + 0.5 * cell
        cluster.draw(axes, x, y, scale)
        caption = caption_of(comment)
        file = comment.get("file", "") if several_files or not caption else ""
        if not caption and comment.get("frame", "0") != "0":
            caption = f"frame {comment['frame']}"
        text = fitted(caption, file, int(cell / 7.6))
        axes.text(x, y + 0.5 * cell + 8.0, text, ha="center", va="center", fontsize=9, parse_math=False)
    return figure


def fitted(caption: str, file: str, most: int) -> str:
    """File name and caption; the name, then the caption is cut if they are too long."""
    own = f": {caption}" if caption and file else caption
    if file and len(file) + len(own) > most:
        file = f"{file[: most - len(own) - 1]}…" if most - len(own) >= 4 else ""
        own = own if file else caption
    text = "".join(c if c.isprintable() else "?" for c in file + own)
    return text if len(text) <= most else f"{text[: most - 1]}…"


def lowest_isomers(path: Path) -> Figure:
    """The first twelve structures of isomers.xyz, fewer if they are large."""
    frames, molecules = [], 0
    for comment, positions in read_xyz(path):
        molecules += len(positions) // 3
        if len(frames) == 12 or molecules > MOST_MOLECULES:
            break
        frames.append((comment, positions))
    return structures(frames)


# --- the pictures of a folder ---

Draw = Callable[[Any, Table], "Figure | None"]

ENERGIES = (("potential_kcal_per_mol", "potential (kcal/mol)"), ("total_kcal_per_mol", "total (kcal/mol)"),
            ("temperature_K", "temperature (K)"))  # fmt: skip
CLUSTER = (("radius_of_gyration_A", "radius of gyration (Å)"), ("hydrogen_bonds", "hydrogen bonds"),
           ("dipole_D", "dipole (D)"), ("lindemann", "Lindemann index"))  # fmt: skip
RING_COLUMNS = (("energy_virial_kcal_per_mol", "energy (kcal/mol)"), ("kinetic_o_meV", "kinetic energy of O (meV)"),
                ("kinetic_h_meV", "kinetic energy of H (meV)"),
                ("gyration2_h_A2", "radius of gyration² of H (Å²)"))  # fmt: skip


def energies(results: Results, table: Table) -> Figure:
    draw = energies_of_system if "time" in table else columns_against_time("Energies", ENERGIES)
    figure = draw(results, table)
    assert figure is not None
    return figure


#: Table, picture, and the function that draws it. Other tables with rows step, time_ps, replica
#: are drawn by custom_table().
RUN: tuple[tuple[str, str, Draw], ...] = (
    ("energies", "energies", energies),
    ("path_integral", "path_integral", columns_against_time("Ring polymers", RING_COLUMNS, True)),
    ("conservation", "conservation", conservation),
    ("heat", "heat", heat),
    ("cluster", "cluster", columns_against_time("Cluster", CLUSTER)),
    ("rdf", "rdf", rdf),
    ("profile", "profile", profile),
    ("exchange", "exchange", exchange),
    ("spectrum", "spectrum", spectrum),
    ("correlation", "correlation", correlation),
    ("survival", "evaporation", evaporation),
    ("free_energy", "free_energy", free_energy),
    ("isomers", "isomers", isomers),
    ("averages", "baths", baths),
    ("trajectory", "trajectory", coordinates),
)
#: Tables of a run without a picture.
OTHERS = {"evaporation", "geometry", "minima", "multipliers", "temperatures"}
COMPARISON: tuple[tuple[str, str, Draw], ...] = (
    ("rdf", "rdf", compared_distances),
    ("correlation", "correlation", compared_correlations),
    ("beads", "beads", compared_beads),
    ("compare", "errors", compared_errors),
)


def custom_tables(folder: Path) -> list[str]:
    known = OTHERS | {table for table, _, _ in RUN}
    names = []
    for path in sorted(folder.glob("*.csv")):
        with path.open(encoding="utf-8", errors="replace") as file:
            head = [file.readline(), file.readline().strip().split(",")]
        if path.stem not in known and str(head[0]).startswith("# tarn ") and tuple(head[1][:3]) == ROW_COLUMNS:
            names += [path.stem] if len(head[1]) > 3 else []
    return names


def draw_folder(folder: Path, kinds: Sequence[str]) -> Iterator[str]:
    """Draws all tables of a folder. Yields lines "picture: PATH", "note: TEXT", "warning: TEXT" and
    "error: TEXT"."""
    results = Results(folder)
    rows = list(COMPARISON if results.compares else RUN)
    if not results.compares:
        rows += [(name, name, custom_table) for name in custom_tables(folder)]
    for name, picture, draw in rows:
        if (folder / f"{name}.csv").exists():
            yield from draw_one(lambda name=name, draw=draw: draw(results, Table(folder / f"{name}.csv")),
                                folder / picture, kinds)  # fmt: skip
        if picture == "isomers" and "svg" in kinds and (folder / "isomers.xyz").exists():
            if (folder / "isomers.xyz").stat().st_size:
                yield from draw_one(lambda: lowest_isomers(folder / "isomers.xyz"), folder / "isomers_structures", ["svg"])


def draw_one(draw: Callable[[], Figure | None], stem: Path, kinds: Sequence[str]) -> Iterator[str]:
    """Draws one picture to `stem` with each kind as extension."""
    try:
        figure = draw()
        if figure and figure.get_layout_engine():
            # Formats measure texts differently; all of them have the same layout.
            figure.draw_without_rendering()
            figure.set_layout_engine("none")
        for kind in kinds if figure else ():
            path = stem.with_name(f"{stem.name}.{kind}")
            save(figure, path, kind)
            yield f"picture: {path}"
    except NoPicture as reason:
        yield str(reason)
    except Exception as problem:  # the other pictures are drawn
        where = problem.__traceback__
        while where and where.tb_next:
            where = where.tb_next
        line = f", line {where.tb_lineno}" if where else ""
        yield f"error: '{stem}' could not be drawn: {problem!r}{line}"


def draw_file(path: Path, out: Path) -> Iterator[str]:
    """Draws a table of tarn rdf, modes or a run, or the structures of an XYZ file."""
    kind = out.suffix[1:]
    if kind not in ("svg", "png"):
        yield f"error: {out}: give a name that ends with .svg or .png"
        return

    def draw() -> Figure | None:
        if path.suffix == ".xyz":
            return structures(list(read_xyz(path)))
        table, results = Table(path), Results(path.parent)
        if "wavenumber_per_cm" in table and "translation" in table:
            return modes(None, table)
        if "r_A" in table and any(f"{pair}_g" in table for pair in ("OO", "OH", "HH")):
            return rdf(None, table)
        known = {name: function for name, _, function in (COMPARISON if results.compares else RUN)}
        return known.get(path.stem, custom_table)(results, table)

    yield from draw_one(draw, out.with_suffix(""), [kind])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("paths", nargs="+", type=Path, metavar="PATH", help="folders, tables or XYZ files")
    parser.add_argument("--format", action="append", choices=("svg", "png"), help="default: svg; may be repeated")
    parser.add_argument("--out", type=Path, help="picture of a file, .svg or .png; default: beside it")
    arguments = parser.parse_args()
    kinds = arguments.format or ["svg"]
    matplotlib.rcdefaults()  # not those of the user
    matplotlib.rcParams.update(STYLE)
    failed = False
    for path in arguments.paths:
        out = arguments.out or path.with_suffix(f".{kinds[0]}")
        for line in draw_folder(path, kinds) if path.is_dir() else draw_file(path, out):
            print(line, flush=True)
            failed = failed or line.startswith("error")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
