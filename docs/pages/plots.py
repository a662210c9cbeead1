"""Pictures of the result pages, by matplotlib."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import matplotlib.ticker
import numpy as np

matplotlib.use("svg")
import matplotlib.pyplot as plt  # noqa: E402
from matplotlib.axes import Axes  # noqa: E402
from matplotlib.figure import Figure  # noqa: E402

#: Okabe & Ito, without yellow.
COLOURS = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#7F7F7F")
MARKERS = "osD^vPX<"
WIDTH_IN = 7.2

plt.rcParams.update({
    "svg.hashsalt": "tarn", "svg.fonttype": "none", "font.size": 9, "font.family": "sans-serif",
    "axes.titlesize": 9, "axes.spines.top": False, "axes.spines.right": False,
    "axes.grid": True, "grid.color": "#E5E5E5", "grid.linewidth": 0.6, "axes.axisbelow": True,
    "xtick.direction": "in", "ytick.direction": "in", "lines.linewidth": 1.3,
    "lines.markersize": 4.5, "legend.frameon": False, "legend.fontsize": 8.5,
})  # fmt: skip


def panels(count: int, height_in: float = 2.5, columns: int = 1, **options: Any) -> tuple[Figure, list[Axes]]:
    """A figure with panels below each other, or in several columns."""
    rows = -(-count // columns)
    figure, axes = plt.subplots(
        rows, columns, figsize=(WIDTH_IN, rows * height_in), squeeze=False, layout="constrained",
        **options,
    )  # fmt: skip
    for extra in axes.flat[count:]:
        extra.remove()
    return figure, list(axes.flat[:count])


def curve(
    axes: Axes,
    x: Sequence[float] | np.ndarray,
    y: Any,
    label: str = "",
    *,
    colour: int | str | None = None,
    style: str = "-",
    marker: bool = True,
    error: Any = None,
) -> None:
    """Adds a curve. Colour and marker follow from the number of curves before it.

    Parameters
    ----------
    y : array, or sequence of Value, whose standard errors become bars
    colour : index of COLOURS and MARKERS, or the name of a colour
    style : "-", "--", ":" or "", for points alone
    marker : whether points are marked
    error : half-lengths of the bars
    """
    if len(y) > 0 and hasattr(y[0], "mean") and hasattr(y[0], "error"):
        y, error = [v.mean for v in y], [v.error for v in y]
    place = len(axes.containers) if colour is None else colour
    index = place if isinstance(place, int) else 0
    axes.errorbar(
        x, y, yerr=error, label=label or None, linestyle=style or "none", capsize=2.0, elinewidth=0.9,
        color=COLOURS[index % len(COLOURS)] if isinstance(place, int) else place,
        marker=MARKERS[index % len(MARKERS)] if marker else None,
    )  # fmt: skip


def hollow(axes: Axes, x: np.ndarray, y: np.ndarray, chosen: np.ndarray, *, colour: int) -> None:
    """Draws the chosen points of a curve hollow: those that are not converged."""
    axes.plot(x[chosen], y[chosen], linestyle="none", color=COLOURS[colour], markerfacecolor="white",
              marker=MARKERS[colour], zorder=5)  # fmt: skip


def order_guide(axes: Axes, order: int, x: float, y: float, x_low: float) -> None:
    """The grey line of an order on logarithmic axes, through (x, y) down to x_low."""
    axes.plot([x_low, x], [y * (x_low / x) ** order, y], "--", color="#999999", linewidth=1.0,
              label=f"order {order}")  # fmt: skip


def legend(axes: Axes, title: str = "") -> None:
    """A legend to the right of the panel, where it hides nothing."""
    axes.legend(loc="center left", bbox_to_anchor=(1.01, 0.5), title=title or None)


def letters(panels: Sequence[Axes]) -> None:
    """Names panels (a), (b), ... in their upper left corners, outside the curves."""
    for axes, letter in zip(panels, "abcdefgh", strict=False):
        axes.set_title(f"({letter})", loc="left")


def save(figure: Figure, path: Path) -> None:
    """Writes an SVG file, the same for the same picture and version of matplotlib."""
    figure.savefig(path, format="svg", metadata={"Date": None})
    plt.close(figure)


def version_of(svg: str) -> str:
    """The version of matplotlib that wrote an SVG file, or ""."""
    at = svg.find("Matplotlib v")
    return svg[at:].split(",")[0] if at >= 0 else ""


def plain_ticks(axis: Any, values: Sequence[float]) -> None:
    """Ticks at these values of a logarithmic axis, written as plain numbers."""
    axis.set_major_locator(matplotlib.ticker.FixedLocator(list(values)))
    axis.set_major_formatter(matplotlib.ticker.FuncFormatter(lambda value, _: f"{value:g}"))
    axis.set_minor_locator(matplotlib.ticker.NullLocator())


def thin_markers(axes: Axes, count: int = 10) -> None:
    """Marks only about `count` points of each curve, which does not hide it or other curves."""
    for k, curve in enumerate(axes.containers):
        every = max(1, len(curve[0].get_xdata()) // count)
        curve[0].set_markevery((every * k // max(1, len(axes.containers)), every))
