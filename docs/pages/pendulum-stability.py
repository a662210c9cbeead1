"""Stability of schemes on the double pendulum, by ω h."""

import numpy as np
import plots
from motions import motion
from page import Page, Table, markdown

TITLE, SLOW = "Stability of schemes on the double pendulum", True
DECK = "papers/double-pendulum.toml"
# The panels of the picture.
GROUPS = [
    ["zs:beta=0.25", "zs:beta=0.333333", "zs:beta=0.4", "zs:beta=0.5"],
    ["zss:beta=0.333333", "zss:beta=0.4", "zss-stiff:hessian=gauss-newton:beta=0.333333",
     "zss-stiff:hessian=gauss-newton:beta=0.4"],
    ["pushforward-newmark", "newmark", "midpoint"],
]  # fmt: skip
SCHEMES = sum(GROUPS, [])

OMEGAS = [10, 20, 30, 40, 70, 100, 200, 400, 1000]
STARTS, BETWEEN, FINE = 16, 1.7, 0.01  # starts are points of a motion, apart in time by BETWEEN
STEPS = 10_000
# A change of the energy that ends a run: about that from the hanging to the inverted pendulum.
MUCH_ENERGY = 10.0


def run(page: Page) -> None:
    every = round(BETWEEN / FINE)
    rigid = {"run.duration": (STARTS - 1) * every * FINE}
    points = motion(page, "rattle", FINE, every, set=rigid)
    starts = [{"system.position": x.tolist(), "system.velocity": v.tolist()}
              for x, v in zip(points["x"], points["v"], strict=True)]  # fmt: skip
    page.write(
        ["scheme", "omega", "start", "steps_survived", "lost_by"],
        [[scheme, omega, k, *survival(page, f"{scheme}:omega={omega}", start)]
         for scheme in SCHEMES for omega in OMEGAS for k, start in enumerate(starts)],
    )  # fmt: skip


def survival(page: Page, scheme: str, start: dict) -> tuple[int, str]:
    """The steps until a solve fails or the energy changes by MUCH_ENERGY, and what ended them: "solve",
    "energy" or "nothing"."""
    steps = {"run.steps": round(page.share * STEPS)}
    m = motion(page, scheme, set=start | steps, observe=("conservation",))
    energy = m["conservation"]["energy"]
    changed = np.flatnonzero(~(np.abs(energy - energy[0]) < MUCH_ENERGY))
    if len(changed):
        return changed[0] - 1, "energy"
    lost_by = "energy" if "it blew up" in m["failure"] else "solve" if m["failure"] else "nothing"
    return len(energy) - 1, lost_by


def lost(runs: Table) -> np.ndarray:
    """Steps of the starts that were lost, in order."""
    return np.sort(runs["steps_survived"][runs["lost_by"] != "nothing"])


def text(page: Page) -> dict:
    h = page.key("integrator.step")
    runs = {s: t.by("omega") for s, t in page.table().by("scheme").items()}
    # The smallest ω h with losses, for every scheme that begins with these letters.
    unstable = {
        name: h * min(omega for s in SCHEMES if s.startswith(name)
                      for omega, t in runs[s].items() if len(lost(t)))
        for name in ("zs:", "zss:", "midpoint")
    }  # fmt: skip
    paper = runs["zs:beta=0.4"][page.key("integrator.omega")]

    def cell(steps: np.ndarray) -> str:
        return f"{STARTS - len(steps)}, {h * steps[len(steps) // 2]:.3g}" if len(steps) else "all"

    return {
        "starts": STARTS, "steps": f"{STEPS:,}".replace(",", " "), "between": BETWEEN,
        "much": MUCH_ENERGY, "h": h, "end": h * STEPS,
        "unstable": {name.strip(":"): value for name, value in unstable.items()},
        "highest": h * max(OMEGAS),
        "paper": h * page.key("integrator.omega"),
        "paper_beta": page.key("integrator.beta"),
        "paper_survivors": STARTS - len(lost(paper)),
        "table": markdown(
            ["scheme", *(f"ω = {omega:g}" for omega in OMEGAS)],
            [[f"`{s}`", *(cell(lost(t)) for t in by_omega.values())] for s, by_omega in runs.items()],
        ),
    }  # fmt: skip


def draw(page: Page):
    h = page.key("integrator.step")
    runs = page.table().by("scheme")
    figure, panels = plots.panels(len(GROUPS), 1.9, sharex=True)
    for axes, group in zip(panels, GROUPS, strict=True):
        for scheme in group:
            medians = [np.sort(t["steps_survived"])[len(t) // 2] for t in runs[scheme].by("omega").values()]
            label = scheme.replace(":hessian=gauss-newton", ":\nhessian=gauss-newton")
            plots.curve(axes, h * np.array(OMEGAS), np.maximum(1, medians), label)
        axes.set(xscale="log", yscale="log", ylabel="steps survived", ylim=(0.7, 2e4))
        plots.legend(axes)
    panels[-1].set(xlabel="ω h")
    return figure
