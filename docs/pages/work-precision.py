"""Errors of mechanical schemes against their cost, for slow and for fast bonds."""

import math
import tempfile
import warnings

import numpy as np
import plots
from motions import motion
from page import Page, markdown

TITLE = "Errors against cost of mechanical schemes"
DECK = "three-body-plane.toml"
SCHEMES = ["verlet", "zs", "midpoint", "rk4", "verlet:compose=yoshida4", "verlet:compose=suzuki4",
           "midpoint:compose=suzuki4"]  # fmt: skip

DURATION, SHORTEST_DURATION = 20.0, 2.0
# Steps by ω, each half of the one before.
STEPS = {2: [0.4 / 2**k for k in range(7)], 50: [0.1 / 2**k for k in range(8)]}

# Schemes of the long run, with steps that need about forty forces per unit of time.
LONG = {"verlet": 0.025, "zs": 0.025, "midpoint": 0.125, "rk4": 0.1, "verlet:compose=yoshida4": 0.075,
        "verlet:compose=suzuki4": 0.125, "newmark-one-step": 0.025}  # fmt: skip
LONG_DURATION, EARLY = 10_000.0, 100.0
POINTS_IN_A_DECADE = 8


def cheapest(compared) -> list[list]:
    """The shortest time per unit of time, and its scheme, for errors of q within powers of ten. An
    error counts as at least ten times that of the reference."""
    errors = np.maximum(compared["error_q_max"], 10 * compared["reference_error_q_max"])
    costs = np.where(np.isfinite(errors), compared["us_per_time"], np.inf)
    last = math.ceil(math.log10(np.nanmin(errors)))
    first = max(last, math.ceil(math.log10(np.nanmax(errors))) - 1)
    rows = []
    for power in range(first, last - 1, -1):
        best = np.argmin(np.where(errors <= 10.0**power, costs, np.inf))
        rows.append([10.0**power, costs[best], str(compared["scheme"][best])])
    return rows


def compare(page: Page, omega: float) -> tuple[list[list], list[list]]:
    """Rows of the table, and of the table of the cheapest schemes."""
    import tarn

    duration = max(SHORTEST_DURATION, page.share * DURATION)
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore", tarn.TarnWarning)  # of long steps, which fail
        compared = tarn.compare(
            page.deck_path, SCHEMES, f"{folder}/run", steps=STEPS[omega], pictures=False,
            set={"integrator.omega": omega, "run.duration": duration},
        ).table("compare")  # fmt: skip
    columns = ("step", "forces_per_time", "us_per_time", "error_q_max", "error_v_max")
    numbers = zip(*(compared[c] for c in columns), strict=True)
    schemes = [str(label).rpartition(":step=")[0] for label in compared["scheme"]]
    rows = [[s, omega, *n] for s, n in zip(schemes, numbers, strict=True)]
    return rows, [[omega, *row] for row in cheapest(compared)]


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
        m = motion(page, scheme, step, set={"run.duration": duration})
        largest = np.maximum.accumulate(np.abs(m["energy"] - m["energy"][0]))
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
