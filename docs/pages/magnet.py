"""Errors and costs of Z&S and of a Lie-group integrator on a magnetised rigid body."""

import math

import numpy as np
import plots
from motions import COST_HEADER, COSTS_METHOD, cost_cells, motion, timed_motions, write_costs
from page import Page, markdown

TITLE = "The magnetised rigid body (Tao & Owhadi, Figs. 9 and 10)"
DECK = "papers/magnet.toml"
SCHEMES = ["so3-linearised", "so3-linearised:quadrature=first-order", "so3-linearised:a_mass=consistent",
           "cayley-variational-euler"]  # fmt: skip

SNAPSHOTS = (0, 1, 2, 3, 4, 10, 30, 50)  # times
FINE = 50  # Runge-Kutta steps of the exact motion per step
EARLY = 10.0
# Times of the Cayley method and of Z&S.
PAPER_S = {"cayley-variational-euler": 1.45, "zs": 0.03}
COLUMNS = {"error": "|R - exact|", "energy_error": "E - E(0)", "rotation_error": "|RᵀR - 1|"}
FACES = ("#9ecae1", "#6baed6", "#fdd0a2")  # perpendicular to each axis of the body
FIELD, DIPOLE = "#d00000", "#000000"
ELEVATION, AZIMUTH = 0.35, -0.7  # of the viewpoint [radians]


def run(page: Page) -> None:
    h = page.key("integrator.step")
    exact = motion(page, "rk4", h / FINE, FINE)["x"]
    tables = ("trajectory", "energies", "conservation")
    runs = timed_motions(page, {scheme: {"observe": tables} for scheme in SCHEMES}, turns=3)
    first, rows = runs[SCHEMES[0]]["x"], []
    for scheme, m in runs.items():
        energy, rotation = m["energies"]["total"], m["conservation"]["rotation_error"]
        rows += [[scheme, k * h, math.dist(m["x"][k], exact[k]), energy[k] - energy[0], rotation[k]]
                 for k in range(len(exact))]  # fmt: skip
    page.write(["scheme", "time", *COLUMNS], rows, digits=6)
    write_costs(page, runs, SCHEMES[0])
    at = [round(t / h) for t in SNAPSHOTS]
    page.write(
        ["motion", "time", *(f"r{i}{j}" for i in (1, 2, 3) for j in (1, 2, 3))],
        [[name, t, motion[k]] for name, motion in (("exact", exact), (SCHEMES[0], first))
         for t, k in zip(SNAPSHOTS, at, strict=True)],
        "-snapshots",
    )  # fmt: skip


def snapshots(page: Page) -> dict[str, list[tuple[float, np.ndarray]]]:
    """Times and rotations by motion."""
    h = page.key("integrator.step")
    labels = {"exact": "exact", SCHEMES[0]: f"{SCHEMES[0]}, h = {h:g}"}
    entries = [f"r{i}{j}" for i in "123" for j in "123"]
    return {
        labels[name]: [(r.time, np.reshape([getattr(r, e) for e in entries], (3, 3))) for r in rows]
        for name, rows in page.table("-snapshots").by("motion").items()
    }


def text(page: Page) -> dict:
    costs = cost_cells(page, PAPER_S)
    motions = snapshots(page)
    angles = {name: [math.degrees(math.atan2(math.hypot(r[0, 2], r[1, 2]), r[2, 2])) for _, r in bodies]
              for name, bodies in motions.items()}  # fmt: skip
    exact, drawn = angles.values()
    return {
        "closer": exact[-1] - drawn[-1],
        "paper": PAPER_S, "lie_paper": PAPER_S["cayley-variational-euler"],
        "costs_method": COSTS_METHOD,
        "errors": markdown(
            ["scheme", "largest error of R to t = 10", "largest error of R", "largest error of the energy",
             "largest error of RᵀR", *COST_HEADER],
            [[f"`{s}`", f"{t['error'][t['time'] <= EARLY].max():.3f}", f"{t['error'].max():.2f}",
              f"{np.abs(t['energy_error']).max():.3f}", f"{t['rotation_error'].max():.2g}", *costs[s]]
             for s, t in page.table().by("scheme").items()],
        ),
        "angles": markdown(
            ["angle between dipole and field (°)", *(f"t = {t}" for t in SNAPSHOTS)],
            [[name, *(f"{a:.1f}" for a in values)] for name, values in angles.items()],
        ),
    }  # fmt: skip


def draw_body(axes, rotation: np.ndarray) -> None:
    """A cube with its dipole, and the field to its left."""
    ca, sa, ce, se = *(f(AZIMUTH) for f in (np.cos, np.sin)), *(f(ELEVATION) for f in (np.cos, np.sin))
    # Rows: directions to the right, up and towards the viewer.
    view = np.array([[1, 0, 0], [0, se, ce], [0, -ce, se]]) @ np.array([[ca, sa, 0], [-sa, ca, 0], [0, 0, 1]])
    body = view @ rotation
    for axis, colour in enumerate(FACES):
        a, b = body[:, (axis + 1) % 3], body[:, (axis + 2) % 3]
        # Of two opposite faces, the one that faces the viewer is drawn.
        middle = np.sign(body[2, axis]) * body[:, axis]
        corners = [middle + i * a + j * b for i, j in ((1, 1), (1, -1), (-1, -1), (-1, 1))]
        axes.fill(*np.array(corners).T[:2], facecolor=colour, edgecolor="#333333", linewidth=0.7, zorder=2)
    dipole, up = body[:, 2], view @ [0, 0, 2.6]
    for begin, end, colour, zorder in (
        (dipole, 2.6 * dipole, DIPOLE, 3 if dipole[2] > 0 else 1),
        ([-2.5, -up[1] / 2], [-2.5, up[1] / 2], FIELD, 1),
    ):
        arrow = {"arrowstyle": "-|>", "color": colour, "linewidth": 1.5, "shrinkA": 0, "shrinkB": 0}
        axes.annotate("", end[:2], begin[:2], arrowprops=arrow, zorder=zorder)
    axes.set(xlim=(-3, 3), ylim=(-3, 3), aspect="equal")
    axes.axis("off")


def draw(page: Page) -> dict:
    figure, panels = plots.panels(3, 2.0, sharex=True)
    for axes, (column, label) in zip(panels, COLUMNS.items(), strict=True):
        for k, (scheme, t) in enumerate(page.table().by("scheme").items()):
            # The second curve lies on the first.
            label_ = scheme.replace(":", ":\n")
            plots.curve(axes, t["time"], t[column], label_, style="--" if k == 1 else "-")
        plots.thin_markers(axes)
        axes.set(ylabel=label)
        plots.legend(axes)
    panels[-1].set(xlabel="time")
    bodies, cells = plots.panels(2 * len(SNAPSHOTS), 1.1, columns=len(SNAPSHOTS))
    drawn = [(name, t, r) for name, motion in snapshots(page).items() for t, r in motion]
    for axes, (name, t, rotation) in zip(cells, drawn, strict=True):
        draw_body(axes, rotation)
        axes.set_title(f"{name}\nt = {t:g}" if t == 0 else f"\nt = {t:g}", loc="left" if t == 0 else "center")
    return {"": figure, "-snapshots": bodies}
