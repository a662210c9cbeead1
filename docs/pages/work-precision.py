"""Errors of mechanical schemes against their cost, for slow and for fast bonds."""

import math

import numpy as np
import plots
from motions import motion
from page import Page, markdown

TITLE = "Errors against cost of mechanical schemes"
DECK = "papers/three-body-plane.toml"
SCHEMES = ["verlet", "zs", "midpoint", "rk4", "verlet:compose=yoshida4", "verlet:compose=suzuki4",
           "midpoint:compose=suzuki4"]  # fmt: skip

DURATION, SHORTEST_DURATION = 20.0, 2.0
TURNS = 5
# Steps by ω, each half of the one before.
STEPS = {2: [0.4 / 2**k for k in range(7)], 50: [0.1 / 2**k for k in range(8)]}

# Schemes of the long run, with steps that need about forty forces per unit of time.
LONG = {"verlet": 0.025, "zs": 0.025, "midpoint": 0.125, "rk4": 0.1, "verlet:compose=yoshida4": 0.075,
        "verlet:compose=suzuki4": 0.125, "newmark-one-step": 0.025}  # fmt: skip
LONG_DURATION, EARLY = 10_000.0, 100.0
POINTS_IN_A_DECADE = 8


def largest_norm(rows: np.ndarray) -> float:
    return np.linalg.norm(rows, axis=1).max()


class Samples:
    """Positions and velocities at the common times of all steps, which are the multiples of the
    longest, and the costs of the run."""

    def __init__(self, page: Page, scheme: str, omega: float, step: float, seconds: float = 0.0) -> None:
        longest = STEPS[omega][0]
        duration = max(SHORTEST_DURATION, page.share * DURATION)
        every = round(longest / step)
        steps = math.floor(duration / longest * (1 + 1e-12)) * every
        set = {"integrator.omega": omega, "run.steps": steps}
        m = motion(page, scheme, step, every, set=set, seconds=seconds)
        self.steps, self.time, self.failed = steps, steps * step, bool(m["failure"])
        self.q, self.v = m["x"][1:], m["v"][1:]
        self.forces, self.seconds = m["costs"]["forces"], m["seconds"]

    def errors(self, other: "Samples") -> np.ndarray:
        """The largest differences of q and of v; nan if one of the runs failed."""
        if self.failed or other.failed:
            return np.full(2, np.nan)
        return np.array([largest_norm(self.q - other.q), largest_norm(self.v - other.v)])

    def change(self, coarse: "Samples") -> np.ndarray:
        """The error of the coarser of two solutions, at least ten units in the last place."""
        least = 10 * np.finfo(float).eps * np.array([largest_norm(self.q), largest_norm(self.v)])
        return np.maximum(self.errors(coarse), least)


def reference(page: Page, omega: float, runs: list[Samples]) -> tuple[Samples, np.ndarray]:
    """An accurate solution, and its error, estimated by the difference from twice its step. The step
    is halved until the error is a hundredth of the smallest one of the runs, until three halvings in
    a row do not help or, where the error is small already, one, or until it is too short."""

    def solution(step: float) -> Samples:
        return Samples(page, "verlet:compose=yoshida4", omega, step)

    step = 0.25 * STEPS[omega][-1]
    coarse, best = solution(2 * step), solution(step)
    last, error, failed = best, best.change(coarse), 0
    most = max(64 * max(r.steps for r in runs), int(3e7 / 12))
    while not all((error <= 0.01 * r.errors(best)).all() for r in runs if not r.failed):
        if 2 * last.steps > most:
            break
        step, before = 0.5 * step, last
        last = solution(step)
        now = last.change(before)
        better, worse = np.isfinite(now) & ~(now > 0.7 * error), now > error / 0.7
        if (better[0] and not worse[1]) or (better[1] and not worse[0]):
            best, error, failed = last, now, 0
            continue
        failed += bool(np.isfinite(error[0]))
        if failed == 3 or error[0] < 1e-3 * largest_norm(last.q):
            break
    return best, error


def cheapest(rows: list[list], reference_error: float) -> list[list]:
    """The shortest time per unit of time, and its scheme, for errors of q within powers of ten. An
    error counts as at least ten times that of the reference.

    `rows` are those of the table.
    """
    errors = np.maximum([r[5] for r in rows], 10 * reference_error)
    costs = np.where(np.isfinite(errors), [r[4] for r in rows], np.inf)
    last = math.ceil(math.log10(np.nanmin(errors)))
    first = max(last, math.ceil(math.log10(np.nanmax(errors))) - 1)
    found = []
    for power in range(first, last - 1, -1):
        best = np.argmin(np.where(errors <= 10.0**power, costs, np.inf))
        found.append([10.0**power, costs[best], f"{rows[best][0]}:step={rows[best][2]}"])
    return found


def compare(page: Page, omega: float) -> tuple[list[list], list[list]]:
    """Rows of the table, and of the table of the cheapest schemes."""
    cases = [(scheme, step) for scheme in SCHEMES for step in STEPS[omega]]
    # By turns, so that other load of the machine affects all alike.
    turns = [[Samples(page, s, omega, h, 0.01 * page.share) for s, h in cases] for _ in range(TURNS)]
    runs = turns[0]
    best, error = reference(page, omega, runs)
    rows = []
    for k, ((scheme, step), r) in enumerate(zip(cases, runs, strict=True)):
        us = 1e6 * min(turn[k].seconds for turn in turns) / r.time if not r.failed else math.nan
        forces = r.forces / r.time if not r.failed else math.nan
        rows.append([scheme, omega, step, forces, us, *r.errors(best)])
    return rows, [[omega, *row] for row in cheapest(rows, error[0])]


def run(page: Page) -> None:
    compared, best = zip(*(compare(page, omega) for omega in STEPS), strict=True)
    page.write(
        ["scheme", "omega", "step", "forces_per_time", "us_per_time", "q_error_max", "v_error_max"],
        sum(compared, []),
    )
    page.write(["omega", "within", "us_per_time", "scheme"], sum(best, []), "-cheapest")
    duration = max(2 * EARLY, page.share * LONG_DURATION)
    rows = []
    for scheme, step in LONG.items():
        set = {"run.duration": duration, "observe.conservation.place": "positions"}
        m = motion(page, scheme, step, set=set, observe=("conservation",))
        energy = m["conservation"]["energy"]
        largest = np.maximum.accumulate(np.abs(energy - energy[0]))
        decades = POINTS_IN_A_DECADE * math.log10(duration)
        times = [*10 ** (np.arange(decades) / POINTS_IN_A_DECADE), EARLY, duration]
        at = np.unique(np.ceil(np.array(times) / step - 1e-9).astype(int).clip(max=len(largest) - 1))
        forces = m["costs"]["forces"] / duration
        rows += [[scheme, step, forces, k * step, largest[k]] for k in at]
    page.write(["scheme", "step", "forces_per_time", "time", "energy_change"], rows, "-energy")


def text(page: Page) -> dict:
    table, best = page.table(), page.table("-cheapest").by("omega")
    fast = table.where(omega=50)
    verlet, zs = (fast.where(scheme=s) for s in ("verlet", "zs"))
    limit, long_step = next(r for r in verlet if r.q_error_max < 1), zs.one(step=0.05)
    long_runs = page.table("-energy").by("scheme")

    def change(t, time: float) -> str:
        return f"{t['energy_change'][t['time'] >= time - 1e-6][0]:.1e}"

    end = max(t["time"][-1] for t in long_runs.values())
    return {
        "suzuki_from": next(r.within for r in best[2] if "suzuki4" in r.scheme),
        "h_omega": 50 * long_step.step,
        "forces": limit.forces_per_time / long_step.forces_per_time,
        "time": long_step.us_per_time / limit.us_per_time,
        "accuracy": long_step.q_error_max / limit.q_error_max,
        "duration": DURATION,
        "end": end,
        "cheapest": {
            int(omega): markdown(
                ["error of q within", "shortest time per unit of time (µs)"],
                [[f"{r.within:.0e}", f"{r.us_per_time:.3g}, `{r.scheme}`"] for r in rows],
            )
            for omega, rows in best.items()
        },
        "energies": markdown(
            ["scheme", "step", "forces per unit of time", f"to time {EARLY:g}", f"to time {end:g}"],
            [[f"`{s}`", f"{t['step'][0]:g}", f"{t['forces_per_time'][0]:.0f}", change(t, EARLY),
              f"{t['energy_change'][-1]:.1e}"] for s, t in long_runs.items()],
        ),
    }  # fmt: skip


def draw(page: Page):
    figure, panels = plots.panels(3)
    for axes, (omega, rows) in zip(panels, page.table().by("omega").items(), strict=False):
        for scheme, t in rows.by("scheme").items():
            plots.curve(axes, t["us_per_time"], t["q_error_max"], scheme)
        axes.set(xlabel="time per unit of time (µs)", ylabel="largest error of q")
        plots.legend(axes, f"ω = {omega:g}")
    for scheme, t in page.table("-energy").by("scheme").items():
        plots.curve(panels[2], t["time"], t["energy_change"], f"{scheme}, h = {t['step'][0]:g}")
    plots.thin_markers(panels[2])
    panels[2].set(xlabel="time", ylabel="largest change of the energy")
    plots.legend(panels[2], "ω = 2")
    for axes in panels:
        axes.set(xscale="log", yscale="log")
    return figure
