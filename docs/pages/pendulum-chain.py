"""Errors and costs of SHAKE and Z&S on a chain of ten pendula."""

import numpy as np
import plots
from motions import COST_HEADER, COSTS_METHOD, cost_cells, motion, timed_motions, write_costs
from page import Page, markdown, thinned

TITLE = "A chain of ten pendula (Tao & Owhadi, Fig. 3)"
DECK = "papers/pendulum-chain.toml"
SCHEMES = {"shake": 1, "shake:step=0.025": 2, "zs": 1, "zss": 1}  # with their steps per step of the deck

FINE = 100  # steps of the reference per step
KEPT = 2  # every second step is kept in the table
PAPER_S = {"shake": 8.1, "shake:step=0.025": 16.5, "zs": 1.1}


def run(page: Page) -> None:
    reference = motion(page, "rattle", page.key("integrator.step") / FINE, FINE)["x"]
    runs = timed_motions(page, {s: {"every": every} for s, every in SCHEMES.items()})
    page.write(
        ["scheme", "time", "x_last", "y_last", "error_max"],
        [[s, m["time"][k], m["x"][k, -2:], errors[k]] for s, m in runs.items()
         for errors in [np.abs(m["x"] - reference).max(axis=1)] for k in thinned(KEPT, errors)],
        digits=6,
    )  # fmt: skip
    write_costs(page, runs, "zs")


def text(page: Page) -> dict:
    costs = cost_cells(page, PAPER_S)
    errors = {s: t["error_max"].max() for s, t in page.table().by("scheme").items()}
    return {
        "error": errors,
        "quarter": errors["shake:step=0.025"] / errors["shake"],
        "larger": errors["zs"] / errors["shake"],
        "slower": page.table("-costs").one(scheme="shake").relative_time,
        "slower_paper": PAPER_S["shake"] / PAPER_S["zs"],
        "paper": PAPER_S,
        "half_step": PAPER_S["shake:step=0.025"],
        "fine": FINE,
        "costs_method": COSTS_METHOD,
        "errors": markdown(
            ["scheme", "largest error of all coordinates", *COST_HEADER],
            [[f"`{s}`", f"{error:.4f}", *costs[s]] for s, error in errors.items()],
        ),
    }


def draw(page: Page):
    figure, panels = plots.panels(3, 2.0, sharex=True)
    columns = {"x_last": "x of the last point", "y_last": "y of the last point", "error_max": "largest error"}
    for axes, (column, label) in zip(panels, columns.items(), strict=True):
        for k, (scheme, run) in enumerate(page.table().by("scheme").items()):
            # Points beside the first curve, on which all others lie.
            style = "-" if k == 0 or column == "error_max" else ""
            plots.curve(axes, run["time"], run[column], scheme, style=style)
        plots.thin_markers(axes, 20)
        axes.set(ylabel=label)
        plots.legend(axes)
    panels[2].set(xlabel="time", yscale="log", ylim=(1e-6, 1e-1))
    return figure
