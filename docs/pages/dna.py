"""Opening of a strand of DNA with Z&S, Verlet and Runge-Kutta."""

import math

import numpy as np
import plots
from motions import COST_HEADER, COSTS_METHOD, cost_cells, motion, timed_motions, write_costs
from page import Page, markdown

TITLE = "Opening of a DNA strand (Tao & Owhadi, Fig. 8)"
DECK, SET = "papers/dna.toml", {"run.duration": 1000}
# Verlet and Z&S of the paper, Verlet near its longest stable step, and a converged run: their steps
# relative to that of the deck, and steps between samples.
SCHEMES = {"verlet": (0.1, 10), "zs": (1, 1), "verlet:step=0.8": (0.4, 3), "rk4": (0.1, 10)}

X0 = 0.3  # the default of the deck
OPEN = 5.0  # mean angle of an open strand
SEEDS = range(1, 21)
PAPER_S = {"verlet": 23.26, "zs": 3.24}
AT_POSITIONS = {"observe.conservation.place": "positions"}
CLOSED = 440  # time from which no two curves agree


def opening(times: np.ndarray, angles: np.ndarray) -> float:
    """Time at which the mean angle passes OPEN; nan if it does not."""
    return times[np.argmax(angles > OPEN)] if angles.max() > OPEN else math.nan


def run(page: Page) -> None:
    step = page.key("integrator.step")
    observe = ("trajectory", "conservation")
    cases = {s: {"step": factor * step, "every": every, "observe": observe}
             for s, (factor, every) in SCHEMES.items()}  # fmt: skip
    seeds = []
    for scheme, case in cases.items():
        for seed in SEEDS:
            m = motion(page, scheme, **case, set={"system.seed": seed, **AT_POSITIONS})
            energy = m["conservation"]["energy"].mean()
            seeds.append([scheme, seed, opening(m["time"], m["x"].mean(axis=1)), energy])
    page.write(["scheme", "seed", "opening_time", "mean_energy"], seeds, "-seeds")
    runs = timed_motions(page, {s: case | {"set": AT_POSITIONS} for s, case in cases.items()})
    page.write(
        ["scheme", "time", "theta_bar", "theta_bar_rate", "energy"],
        [[s, row] for s, m in runs.items()
         for row in zip(m["time"], m["x"].mean(axis=1), m["v"].mean(axis=1), m["conservation"]["energy"],
                        strict=True)],
    )  # fmt: skip
    write_costs(page, runs, "zs")


def text(page: Page) -> dict:
    costs = cost_cells(page, PAPER_S)
    runs = page.table().by("scheme")
    seeds = page.table("-seeds").by("scheme")
    openings = {s: t["opening_time"][np.isfinite(t["opening_time"])] for s, t in seeds.items()}
    first = min(opening(t["time"], t["theta_bar"]) for t in runs.values())
    angles = [np.interp(np.arange(0, first), t["time"], t["theta_bar"]) for s, t in runs.items() if s != "zs"]
    # Between the wells, on the way to the open strand.
    rates = {}
    for s, t in runs.items():
        between = (t["time"] < first) & (t["theta_bar"] > 2) & (t["theta_bar"] < 4)
        rates[s] = t["theta_bar_rate"][between].mean()
    well = math.acos(1 - X0)
    return {
        "later": openings["zs"].mean() - openings["verlet"].mean(),
        "verlet_time": page.table("-costs").one(scheme="verlet:step=0.8").relative_time,
        "agree": np.ptp(angles, axis=0).max(),
        "closed": CLOSED,
        "energy": runs["rk4"]["energy"], "energy_end": runs["rk4"]["energy"][-1],
        "rates": rates,
        "well": well, "open_well": 2 * math.pi - well,
        "open": OPEN, "seed": page.key("system.seed"), "seeds": len(SEEDS),
        "paper": PAPER_S,
        "costs_method": COSTS_METHOD,
        "one_seed": markdown(
            ["scheme", "step", "opening time", "mean energy", *COST_HEADER],
            [[f"`{s}`", f"{SCHEMES[s][0] * page.key('integrator.step'):g}",
              f"{opening(t['time'], t['theta_bar']):.0f}", f"{t['energy'].mean():.3f}", *costs[s]]
             for s, t in runs.items()],
        ),
        "all_seeds": markdown(
            ["scheme", "seeds that open", "opening time", "mean energy"],
            [[f"`{s}`", f"{len(openings[s])} of {len(SEEDS)}",
              f"{openings[s].mean():.1f} ± {openings[s].std(ddof=1):.1f}", f"{t['mean_energy'].mean():.2f}"]
             for s, t in seeds.items()],
        ),
    }  # fmt: skip


def draw(page: Page):
    figure, (angles, energies, phases) = plots.panels(3)
    for scheme, t in page.table().by("scheme").items():
        plots.curve(angles, t["time"], t["theta_bar"], scheme)
        plots.curve(energies, t["time"], t["energy"], scheme)
        plots.curve(phases, t["theta_bar"], t["theta_bar_rate"], scheme)
    angles.set(xlabel="time", ylabel="mean angle")
    energies.set(xlabel="time", ylabel="energy")
    phases.set(xlabel="mean angle", ylabel="rate of the mean angle")
    for axes in (angles, energies, phases):
        plots.thin_markers(axes)
        plots.legend(axes)
    return figure
