"""Errors of RATTLE and two midpoint rules on the double spherical pendulum."""

import math

import numpy as np
import plots
from motions import motion
from page import Page, markdown, thinned

TITLE = "Error of the double spherical pendulum (McLachlan & Scovel, Fig. 2)"
DECK, SET = "papers/double-spherical-pendulum.toml", {"system.gravity": 0}
SCHEMES = ["rattle", "midpoint", "midpoint-hamilton"]

FINE = 50  # steps of the reference per step
EARLY = 5
KEPT = 2  # after the time EARLY, every second step is kept in the table


def run(page: Page) -> None:
    step = page.key("integrator.step")
    exact = motion(page, "rattle", step / FINE, FINE)["x"]
    rows = []
    for scheme in SCHEMES:
        m = motion(page, scheme, observe=("trajectory", "conservation"))  # the page says when it fails
        constraints = m["conservation"]["constraint_max"]
        errors = np.linalg.norm(m["x"] - exact[: len(m["x"])], axis=1)
        kept = np.union1d(np.flatnonzero(m["time"] <= EARLY), thinned(KEPT, errors, constraints))
        rows += [[scheme, k * step, errors[k], constraints[k]] for k in kept[1:]]
    page.write(["scheme", "time", "error", "constraint_error"], rows, digits=6)


def text(page: Page) -> dict:
    runs = page.table().by("scheme")
    end = page.key("run.duration")
    failed = {s: f"after t = {t['time'][-1]:.4g}" if t["time"][-1] < 0.999 * end else "" for s, t in runs.items()}
    early = {s: t["time"] <= EARLY for s, t in runs.items()}
    last = {s: t["error"][-1] for s, t in runs.items()}
    midpoint, rattle = runs["midpoint"], runs["rattle"]
    ahead = midpoint["error"] < np.interp(midpoint["time"], rattle["time"], rattle["error"])
    return {
        "fine": FINE,
        "failed_before": math.ceil(runs["midpoint-hamilton"]["time"][-1]),
        "midpoint_constraint": midpoint["constraint_error"].max(),
        "ahead_until": np.count_nonzero(ahead) and 10 * round(midpoint["time"][ahead][-1] / 10),
        "last": last,
        "errors": markdown(
            ["scheme", "error of q at t = 5", "at the end", r"largest \|g\| to t = 5", "to the end", "failure"],
            [[f"`{s}`", *(f"{v:.1e}" for v in (
                t["error"][early[s]][-1], last[s], t["constraint_error"][early[s]].max(),
                t["constraint_error"].max())), failed[s]]
             for s, t in runs.items()],
        ),
    }  # fmt: skip


def draw(page: Page):
    figure, (errors, constraints) = plots.panels(2)
    for scheme, run in page.table().by("scheme").items():
        for axes, column in ((errors, "error"), (constraints, "constraint_error")):
            plots.curve(axes, run["time"], run[column], scheme, marker=False)
    errors.set(xlabel="time", ylabel="error of q", ylim=(1e-6, 1e1))
    constraints.set(xlabel="time", ylabel="largest |g|", ylim=(1e-16, 1e4))
    for axes in (errors, constraints):
        axes.set(xscale="log", yscale="log")
        plots.legend(axes)
    return figure
