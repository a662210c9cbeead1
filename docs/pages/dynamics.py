"""Rotation, diffusion and hydrogen bonds of a droplet, by scheme, step and friction."""

import math

import numpy as np
import plots
from page import Page, Row, Value, average, core_ns_per_step, markdown, read_table

TITLE = "Reorientation of molecules in a droplet by scheme and friction"
DECK, SLOW = "dynamics32.toml", True

SAMPLE_FS = 24.0  # a multiple of all steps
DISPLACED_PS = 2.0
TURNS, TURN_SECONDS = 15, 0.1
FRICTION_PER_PS = 1.0  # of the first table
NO_PENALTY = 0.0
QUANTITIES = {
    "oh_p2_time_ps": "τ₂ of O-H (ps)",
    "dipole_p1_time_ps": "τ₁ of dipoles (ps)",
    "bond_time_ps": "hydrogen-bond lifetime (ps)",
    "displacement_2ps_A2": "displacement² after 2 ps (Å²)",
}
#: (omega, step in fs, friction per ps); the first of both is the reference.
SCHEMES_AND_STEPS = [(NO_PENALTY, h, FRICTION_PER_PS) for h in (0.5, 1.0, 2.0, 4.0, 6.0, 8.0)] + [
    (omega, h, FRICTION_PER_PS)
    for omega, h in ((500, 2), (100, 1), (100, 2), (100, 4), (50, 2), (20, 2))
]
FRICTIONS = [(NO_PENALTY, 2.0, friction) for friction in (0.1, 0.3, 1.0, 3.0, 5.0)]


def changes(omega: float, step_fs: float, friction_per_ps: float) -> dict:
    return {
        "integrator.timestep_fs": step_fs, "thermostat.friction_per_ps": friction_per_ps,
        "observe.correlation.every": round(SAMPLE_FS / step_fs),
        "integrator.scheme": "zss-stiff" if omega else "settle",
    } | ({"integrator.omega": omega} if omega else {})  # fmt: skip


def run(page: Page) -> None:
    cases = SCHEMES_AND_STEPS + FRICTIONS
    short = {"observe.correlation.length_ps": 0.2} if page.share < 1 else {}
    decks = [page.load(changes(*case)) for case in cases]
    ns = core_ns_per_step(decks, TURNS, page.share * TURN_SECONDS)

    def measured(result) -> tuple[list[Value], int]:
        curves = read_table(result.out / "correlation.csv")
        last = np.flatnonzero(curves["time_ps"] <= DISPLACED_PS + 1e-9)[-1]
        moved = Value(curves["displacement_A2"][last], curves["displacement_A2_err"][last])
        return [*(average(result, q) for q in [*QUANTITIES][:3]), moved], len(result.blow_ups)

    page.write(
        ["scheme", "omega", "timestep_fs", "friction_per_ps", "core_us_per_ps"]
        + [f"{q}{end}" for q in QUANTITIES for end in ("", "_err")] + ["stopped_replicas"],
        [["zss-stiff" if case[0] else "settle", *case, np.median(turns) / case[1],
          *page.run(changes(*case) | short, ["observe.energies"], read=measured)]
         for case, turns in zip(cases, ns, strict=True)],
    )  # fmt: skip


def deviation(row: Row, reference: Row, quantity: str) -> Value:
    """The relative deviation, in percent."""
    value, true = row.value(quantity), reference.value(quantity)
    ratio = value.mean / true.mean
    error = math.hypot(value.error / value.mean, true.error / true.mean)
    return Value(100 * (ratio - 1), 100 * ratio * error)


def cells(row: Row, reference: Row) -> list[str]:
    if row is reference:
        return [f"{row.value(q)}" for q in QUANTITIES]
    deviations = (deviation(row, reference, q) for q in QUANTITIES)
    return [f"{d.mean:+.1f} ± {d.error:.1f} %" for d in deviations]


def name(row: Row) -> str:
    return f"Z&Ss, ω = {row.omega:g}" if row.omega else "SETTLE"


def tables(page: Page) -> tuple[list[Row], list[Row]]:
    rows = list(page.table())
    return rows[: len(SCHEMES_AND_STEPS)], rows[len(SCHEMES_AND_STEPS) :]


def text(page: Page) -> dict:
    schemes, frictions = tables(page)
    by = {f"{name(r)}, {r.timestep_fs:g} fs": r for r in schemes}

    def percent(row: Row, reference: Row, *quantities: str) -> str:
        found = sorted({round(deviation(row, reference, q).mean) for q in quantities})
        return " to ".join(f"{v}" for v in dict.fromkeys((found[0], found[-1]))) + " %"

    reorientation = ("oh_p2_time_ps", "dipole_p1_time_ps")
    times = (*reorientation, "bond_time_ps")
    strongest = {q: percent(frictions[-1], frictions[0], q) for q in QUANTITIES}
    return {
        "slower": {label: percent(row, schemes[0], *reorientation) for label, row in by.items()},
        "bonds": {label: percent(row, schemes[0], "bond_time_ps") for label, row in by.items()},
        "all": {label: percent(row, schemes[0], *times) for label, row in by.items()},
        "friction": FRICTION_PER_PS,
        "strongest": strongest,
        "schemes": markdown(
            ["scheme", "step (fs)", "core time (µs/ps)", "blow-ups", *QUANTITIES.values()],
            [[name(r), f"{r.timestep_fs:g}", f"{r.core_us_per_ps:.0f}", f"{r.stopped_replicas:.0f}",
              *cells(r, schemes[0])] for r in schemes],
        ),
        "frictions": markdown(
            ["friction (1/ps)", *QUANTITIES.values()],
            [[f"{r.friction_per_ps:g}", *cells(r, frictions[0])] for r in frictions],
        ),
        "replicas": page.key("system.replicas"),
        "equilibration": page.key("run.equilibration_ps"),
        "length": page.key("run.duration_ps") - page.key("run.equilibration_ps"),
        "wall": page.conditions().rsplit(", ", 1)[1],
        "sample": SAMPLE_FS, "displaced": DISPLACED_PS, "turns": TURNS,
        "end": page.key("observe.correlation.length_ps"),
    }  # fmt: skip


def draw(page: Page):
    schemes, frictions = tables(page)
    figure, (by_step, by_friction) = plots.panels(2, height_in=2.8)
    for k, (quantity, heading) in enumerate(QUANTITIES.items()):
        heading = heading[: heading.rindex(" (")]
        for omega, style in ((NO_PENALTY, "-"), (100, "--")):
            rows = [r for r in schemes[1:] if r.omega == omega]
            plots.curve(by_step, [r.timestep_fs for r in rows],
                        [deviation(r, schemes[0], quantity) for r in rows],
                        f"{heading}, {name(rows[0])}", colour=k, style=style)  # fmt: skip
        plots.curve(by_friction, [r.friction_per_ps for r in frictions[1:]],
                    [deviation(r, frictions[0], quantity) for r in frictions[1:]],
                    heading)  # fmt: skip
    by_step.set(xlabel="step (fs)", ylabel="deviation (%)")
    by_friction.set(xlabel="friction (1/ps)", ylabel="deviation (%)")
    for axes in (by_step, by_friction):
        plots.legend(axes)
    plots.letters((by_step, by_friction))
    return figure
