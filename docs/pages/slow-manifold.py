"""Projections onto the slow manifold, and RATTLE beside the projected Runge-Kutta method."""

import numpy as np
import plots
from page import Page, Table, markdown
from slow_springs import (
    DECK, END, OMEGAS, START, TOLERANCES, errors, projection, slow_solution, stepped,
    stiff, tolerance,
)  # fmt: skip

TITLE = "Slow points and slow solutions (Ariel et al., Table 1, Figs. 2 and 6)"

# Numbers of steps; the tables have the first COLUMNS of them, the picture has all.
STEPS = {"rattle": [20 * 2**k for k in range(12)], "rk4-projected": [20 * 2**k for k in range(7)]}
COLUMNS = 7
STIFF = {"stiff from a slow point": 1, "stiff projected back": 10}  # with their projections
FAST = OMEGAS[-1]  # the ω of the stiff equations, and of the unit of time
UNIT_STEPS = 80  # of RATTLE with H = 1/8, whose time is the unit
PROJECTED_OMEGAS, PROJECTION_TOLERANCE = (1000, 10_000), 1e-9


def measured(page: Page) -> list[list]:
    """Method, ω, step or nan, errors of q and p, evaluations of the force, and core time."""
    rows, seconds = [], 0.05 * page.share  # of repetitions
    for omega in OMEGAS:
        exact = slow_solution(page, omega)
        changes = {"system.omega": omega}
        for method, all_steps in STEPS.items():
            own = {"integrator.tolerance": tolerance(omega)} if method == "rk4-projected" else {}
            for steps in all_steps:
                m = stepped(page, method, steps, changes | own | START, seconds)
                error = errors(m["x"][-1], m["v"][-1], exact)
                rows.append([method, omega, END / steps, *error, m["costs"]["forces"], m["seconds"]])
        for method, projections in STIFF.items() if omega == FAST else ():
            for relative in TOLERANCES:
                m = stiff(page, omega, relative, projections, seconds)
                error = errors(m["x"][-1], m["v"][-1], exact)
                rows.append([method, omega, np.nan, *error, m["costs"]["forces"], m["seconds"]])
    return rows


def run(page: Page) -> None:
    rows = measured(page)
    # From the longest run of RATTLE, whose time is the most accurate.
    longest = STEPS["rattle"][-1]
    (unit,) = (r[-1] * UNIT_STEPS / longest for r in rows if r[:3] == ["rattle", FAST, END / longest])
    page.write(
        ["method", "omega", "step", "q_error", "p_error", "forces", "time_ratio"],
        [[*row[:-1], row[-1] / unit] for row in rows],
    )
    page.write(
        ["omega", "iteration", "g1", "g2", "g1_rate", "g2_rate"],
        [[omega, k, g] for omega in PROJECTED_OMEGAS
         for k, g in enumerate(projection(page, omega, PROJECTION_TOLERANCE, {})[1])],
        "-projection",
    )  # fmt: skip


def cost_at(runs: Table, error: float) -> float:
    """Relative core time at an error of q, interpolated between the logarithms."""
    order = np.argsort(runs["q_error"])
    return np.exp(np.interp(np.log(error), np.log(runs["q_error"][order]), np.log(runs["time_ratio"][order])))


def step_table(table: Table, cell) -> str:
    """A row per method and ω, a column per step."""
    return markdown(
        ["method", "ω", *(f"H = 1/{n // END}" for n in STEPS["rattle"][:COLUMNS])],
        [[f"`{method}`", f"{omega:g}", *map(cell, list(table.where(method=method, omega=omega))[:COLUMNS])]
         for omega in OMEGAS for method in STEPS],
    )  # fmt: skip


def text(page: Page) -> dict:
    table = page.table()
    by = {method: t.by("omega") for method, t in table.by("method").items()}
    rattle, projected, back = (by[m] for m in ("rattle", "rk4-projected", "stiff projected back"))
    finest = {omega: t["q_error"][-1] for omega, t in rattle.items()}
    fast = [(projected[w], rattle[w]) for w in OMEGAS[1:]]
    per_step = np.concatenate([p["forces"] * p["step"] / END for p, _ in fast])
    longer = np.concatenate([p["time_ratio"] / r["time_ratio"][: len(p)] for p, r in fast])
    rough, fine = (projected[FAST]["q_error"][k] for k in (2, 3))
    finer = projected[FAST]["q_error"][-1]
    stiff_times = {e: cost_at(back[FAST], e) / cost_at(projected[FAST], e) for e in (fine, finer)}
    iterates = page.table("-projection").by("omega")

    def cost(r) -> str:
        return f"{r.forces:g}, {r.time_ratio:.{1 if r.time_ratio < 10 else 0}f}"

    return {
        "finest": finest,
        "extrapolated": finest[1000] * 100,
        "forces_least": per_step.min(), "forces_most": per_step.max(),
        "longer_least": longer.min(), "longer_most": longer.max(),
        "halving": np.mean([p["time_ratio"][1:] / p["time_ratio"][:-1] for p, _ in fast]),
        "rough": rough, "cheaper": cost_at(projected[FAST], rough) / cost_at(rattle[FAST], rough),
        "fine": fine, "finer": finer,
        "stiff_fine": stiff_times[fine], "stiff_finer": stiff_times[finer],
        "stiff_best": back[FAST]["q_error"].min(),
        "projections": "\n\n".join(
            f"Projection of q = (1, 1/4, 2, 0), p = (0, -1/2, 0, 1/2) to 1e-9, ω = {omega:g}:\n\n" + markdown(
                ["iteration", "g₁", "g₂", "ġ₁", "ġ₂"],
                [[f"{r.iteration:g}", *(f"{v:.2e}" for v in (r.g1, r.g2, r.g1_rate, r.g2_rate))]
                 for r in rows])
            for omega, rows in iterates.items()),
        "unit": UNIT_STEPS,
        "errors": step_table(table, lambda r: f"{r.q_error:.1e}"),
        "costs": step_table(table, cost),
        "stiff": markdown(
            ["method", "evaluations of the force", "relative core time", "error of q"],
            [[method, f"{r.forces:g}", f"{r.time_ratio:.0f}", f"{r.q_error:.1e}"]
             for method in STIFF for r in by[method][FAST]],
        ),
    }  # fmt: skip


def draw(page: Page):
    table = page.table()
    figure, panels = plots.panels(4, 2.2)
    by_step, q_by_cost, p_by_cost, fast = panels
    for (method, style), (k, omega) in (
        (m, w) for w in enumerate(OMEGAS) for m in zip(STEPS, ("--", "-"), strict=True)
    ):
        t = table.where(method=method, omega=omega)
        label = f"{method}, ω = {omega}"
        plots.curve(by_step, t["step"], t["q_error"], label, colour=k, style=style)
        plots.curve(q_by_cost, t["time_ratio"], t["q_error"], label, colour=k, style=style)
        plots.curve(p_by_cost, t["time_ratio"], t["p_error"], label, colour=k, style=style)
        if omega == FAST:
            plots.curve(fast, t["time_ratio"], t["q_error"], method, colour=k, style=style)
    for k, method in enumerate(STIFF, len(OMEGAS)):
        t = table.where(method=method)
        plots.curve(fast, t["time_ratio"], t["q_error"], method, colour=k)
    plots.order_guide(by_step, 2, 0.5, 3.0, 3e-4)
    plots.order_guide(by_step, 4, 0.5, 0.1, 8e-3)
    by_step.set(xlabel="step H", ylabel="error of q", ylim=(1e-8, 10))
    cost = "core time relative to RATTLE with H = 1/8"
    q_by_cost.set(xlabel=cost, ylabel="error of q", ylim=(1e-8, 10))
    p_by_cost.set(xlabel=cost, ylabel="error of p", ylim=(1e-8, 10))
    fast.set(xlabel=cost, ylabel="error of q", ylim=(1e-13, 10))
    for axes in panels:
        axes.set(xscale="log", yscale="log")
        plots.legend(axes, f"ω = {FAST}" if axes is fast else "")
    return figure
