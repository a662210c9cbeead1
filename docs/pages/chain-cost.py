"""Time per step of schemes on chains of 10 to 10 000 points."""

import numpy as np
import plots
from motions import motion
from page import Page, Table, markdown

TITLE = "Time per step of the chain by its length"
DECK = "papers/pendulum-chain.toml"
SCHEMES = ["zs", "zss", "shake", "rattle"]

POINTS = [10, 32, 100, 316, 1000, 3162, 10000]
FIT_FROM = 100  # points
TURNS, TURN_SECONDS = 7, 0.05


def run(page: Page) -> None:
    def first_step(scheme: str, n: int, steps: int = 1, seconds: float = 0.0) -> dict:
        return motion(page, scheme, set={"system.n": n, "run.steps": steps}, observe=(), seconds=seconds)

    cases = [(s, n) for s in SCHEMES for n in POINTS]
    # By turns, so that other load of the machine affects all alike.
    turns = [{c: first_step(*c, 1, page.share * TURN_SECONDS) for c in cases} for _ in range(TURNS)]
    seconds = {c: min(turn[c]["seconds"] for turn in turns) for c in cases}
    iterations = {c: turns[0][c]["costs"]["iterations"] - first_step(*c, 0)["costs"]["iterations"] for c in cases}
    unit = seconds[SCHEMES[0], POINTS[0]]
    page.write(
        ["scheme", "points", "core_us_per_step", "ratio", "iterations"],
        [[*c, 1e6 * s, s / unit, iterations[c]] for c, s in seconds.items()],
    )


def exponent(t: Table) -> float:
    """Of the time per step, or per iteration where a step has several."""
    long = t["points"] >= FIT_FROM
    per_iteration = t["ratio"] / np.maximum(1, t["iterations"])
    return np.polyfit(np.log(t["points"][long]), np.log(per_iteration[long]), 1)[0]


def text(page: Page) -> dict:
    schemes = page.table().by("scheme")
    slower = schemes["shake"]["ratio"] / schemes["zs"]["ratio"]

    def cell(row) -> str:
        iterations = f" ({row.iterations:g})" if row.iterations else ""
        return f"{row.ratio:.{1 if row.ratio < 99.5 else 0}f}{iterations}"

    return {
        "fit_from": FIT_FROM,
        "turns": TURNS,
        "exponent": {s: exponent(t) for s, t in schemes.items()},
        "slower_least": slower.min(),
        "slower_most": slower.max(),
        "times": markdown(
            ["scheme", *(f"n = {n}" for n in POINTS), f"exponent from n = {FIT_FROM}"],
            [[f"`{s}`", *map(cell, t), f"{exponent(t):.2f}"] for s, t in schemes.items()],
        ),
    }


def draw(page: Page):
    figure, (steps, points) = plots.panels(2, sharex=True)
    for scheme, t in page.table().by("scheme").items():
        plots.curve(steps, t["points"], t["ratio"], scheme)
        plots.curve(points, t["points"], t["ratio"] / t["points"], scheme)
    plots.order_guide(steps, 1, POINTS[-1], 300, POINTS[0])
    steps.set(ylabel="relative time per step", xscale="log", yscale="log")
    points.set(xlabel="number of points n", ylabel="relative time per step and point")
    points.set_ylim(bottom=0)
    for axes in (steps, points):
        plots.legend(axes)
    return figure
