"""Pictures of the result pages, by matplotlib."""

from __future__ import annotations

import importlib.util
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.axes import Axes

# The script that draws the pictures of runs, without the rest of the package.
_spec = importlib.util.spec_from_file_location(
    "tarn_plots", Path(__file__).resolve().parents[2] / "python/tarn/plots.py"
)
assert _spec is not None and _spec.loader is not None
_shared = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(_shared)
COLOURS, MARKERS, WIDTH_IN = _shared.COLOURS, _shared.MARKERS, _shared.WIDTH_IN
panels, legend, plain_ticks = _shared.panels, _shared.legend, _shared.plain_ticks
save, structures = _shared.save, _shared.structures
matplotlib.rcParams.update(_shared.STYLE)


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


def letters(panels: Sequence[Axes]) -> None:
    """Names panels (a), (b), ... in their upper left corners, outside the curves."""
    for axes, letter in zip(panels, "abcdefgh", strict=False):
        axes.set_title(f"({letter})", loc="left")


def version_of(svg: str) -> str:
    """The version of matplotlib that wrote an SVG file, or ""."""
    at = svg.find("Matplotlib v")
    return svg[at:].split(",")[0] if at >= 0 else ""


def thin_markers(axes: Axes, count: int = 10) -> None:
    """Marks only about `count` points of each curve, which does not hide it or other curves."""
    for k, curve in enumerate(axes.containers):
        every = max(1, len(curve[0].get_xdata()) // count)
        curve[0].set_markevery((every * k // max(1, len(axes.containers)), every))
