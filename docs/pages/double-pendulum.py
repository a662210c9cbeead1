"""Errors and costs of nine schemes on the double pendulum."""

import plots
from motions import COST_HEADER, COSTS_METHOD, cost_cells, motion, timed_motions, write_costs
from page import Page, markdown, thinned

TITLE = "Errors of the double pendulum (Tao & Owhadi, Fig. 1)"
DECK = "papers/double-pendulum.toml"
SCHEMES = ["shake", "rattle", "variational-euler", "newmark", "zs", "zss", "pushforward-newmark", "midpoint",
           "newmark-one-step"]  # fmt: skip

FINE = 1000  # steps of the reference per step
STEPS = {"variational-euler": 20}  # explicit schemes need short steps: h = 0.1/omega
PAPER_S = {"shake": 3.8, "variational-euler": 1.0, "newmark": 5.3, "newmark-one-step": 0.2, "zs": 0.4}
TOGETHER = 3  # schemes in a panel
KEPT = 2  # every second step is kept in the table


def run(page: Page) -> None:
    step = page.key("integrator.step")
    reference = motion(page, "rattle", step / FINE, FINE)["x"]
    inner = {s: STEPS.get(s, 1) for s in SCHEMES}
    runs = timed_motions(page, {s: {"step": step / n, "every": n} for s, n in inner.items()})
    page.write(
        ["scheme", "time", "x2_error", "y2_error"],
        [[s, m["time"][k], errors[k]] for s, m in runs.items()
         for errors in [(m["x"] - reference)[:, 2:]] for k in thinned(KEPT, *errors.T)],
        digits=6,
    )  # fmt: skip
    write_costs(page, runs, "zs")


def text(page: Page) -> dict:
    costs = cost_cells(page, PAPER_S)
    iterations = {c.scheme: round(c.iterations / c.steps) for c in page.table("-costs")}
    return {
        "slower": page.table("-costs").one(scheme="shake").relative_time,
        "iterations": iterations,
        "published": markdown(["scheme", "published time (s)"], [[f"`{s}`", t] for s, t in PAPER_S.items()]),
        "fine": FINE,
        "costs_method": COSTS_METHOD,
        "errors": markdown(
            ["scheme", "largest error of x₂", "largest error of y₂", *COST_HEADER],
            [[f"`{s}`", *(f"{abs(t[c]).max():.4f}" for c in ("x2_error", "y2_error")), *costs[s]]
             for s, t in page.table().by("scheme").items()],
        ),
    }  # fmt: skip


def draw(page: Page):
    runs = page.table().by("scheme")
    figure, panels = plots.panels(2 * len(SCHEMES) // TOGETHER, 2.0, columns=2, sharex=True)
    for k, (scheme, run) in enumerate(runs.items()):
        pair = panels[2 * (k // TOGETHER) :][:2]
        for axes, column in zip(pair, ("x2_error", "y2_error"), strict=True):
            plots.curve(axes, run["time"], run[column], scheme, style="-" if k % TOGETHER != 1 else "--")
            axes.set(ylabel=f"error of {column[0]}₂", xlabel="time" if axes in panels[-2:] else "")
            plots.thin_markers(axes, 8)
    for axes in panels[1::2]:
        plots.legend(axes)
    return figure
