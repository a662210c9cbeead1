"""Poincaré section of the heavy top with RATTLE."""

import math

import numpy as np
import plots
from matplotlib.cm import ScalarMappable
from matplotlib.colors import Normalize
from matplotlib.patches import PathPatch
from matplotlib.path import Path as Outline
from motions import motion
from page import Page, markdown

TITLE = "Poincaré section of the heavy top (McLachlan & Scovel, Fig. 1)"
DECK = "papers/heavy-top.toml"

ORBITS, STEPS = 19, 60_000


def start(page: Page, orbit: int) -> dict:
    """On the section v₃ = 0, with H = 1 and m·v = 0: v = (0, 1, 0), m₁₃ = 0."""
    alpha = page.key("system.alpha")
    angle = math.pi * (orbit + 0.5) / ORBITS
    m = np.zeros((3, 3))
    m[0, 1] = math.sqrt(2 * (alpha[0] + alpha[1])) * math.cos(angle)
    m[1, 2] = -math.sqrt(2 * (alpha[1] + alpha[2])) * math.sin(angle)
    return {"system.momentum": (m - m.T).ravel().tolist(), "system.direction": [0, 1, 0]}


def run(page: Page) -> None:
    points, errors = [], []
    for orbit in range(ORBITS):
        steps = {"run.steps": round(page.share * STEPS)}
        top = motion(page, set=start(page, orbit) | steps, observe=("trajectory", "energies"))
        m, v3, energies = top["x"], top["v"][:, 2], top["energies"]["total"]
        at = np.flatnonzero((v3[:-1] < 0) & (v3[1:] >= 0))
        # Linear in the step, between the two sides of the section.
        w = -v3[at] / (v3[at + 1] - v3[at])
        crossings = m[at] + w[:, None] * (m[at + 1] - m[at])
        points += [[orbit, f"{m13:.4f}", f"{m12:.4f}"]
                   for _, m12, m13, _, _, m23, *_ in crossings if m23 < 0]  # fmt: skip
        errors.append([orbit, np.abs(energies - energies[0]).max()])
    page.write(["orbit", "m13", "m12"], points)
    page.write(["orbit", "energy_error"], errors, "-energy")


def text(page: Page) -> dict:
    points = {orbit: len(t) for orbit, t in page.table().by("orbit").items()}
    return {
        "orbits": ORBITS,
        "worst": page.table("-energy")["energy_error"].max(),
        "errors": markdown(
            ["orbit", "largest error of the energy", "points"],
            [[f"{r.orbit:g}", f"{r.energy_error:.1e}", points[r.orbit]] for r in page.table("-energy")],
        ),
    }


def draw(page: Page):
    table = page.table()
    figure, (section,) = plots.panels(1, 5.0)
    # Neighbouring orbits have similar colours.
    colours = ScalarMappable(Normalize(0, ORBITS - 1), "viridis")
    for orbit, t in table.by("orbit").items():
        # One path of lines without length, whose round ends are the points: a fifth of the size.
        ends = np.repeat(np.stack([t["m13"], t["m12"]], axis=1), 2, axis=0)
        points = Outline(ends, [Outline.MOVETO, Outline.LINETO] * (len(ends) // 2))
        points.should_simplify = False
        style = {"edgecolor": colours.to_rgba(orbit), "linewidth": 1.1, "capstyle": "round"}
        section.add_patch(PathPatch(points, **style))
    section.set(xlabel="m₁₃", ylabel="m₁₂", xlim=(-1.8, 1.8))
    section.autoscale_view(scalex=False)
    figure.colorbar(colours, ax=section, label="orbit", ticks=range(0, ORBITS, 3))
    return figure
