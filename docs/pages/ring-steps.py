"""Errors of ring polymers by time step, with two propagators of the free ring."""

import plots
from page import Page, Row, Table, markdown

TITLE = "Time steps of ring polymers: Cayley map and exact flow"
DECK, SLOW = "pimd7.toml", True
SET = {"thermostat.temperature_K": 298, "run.duration_ps": 24, "system.replicas": 32,
       "path_integral.frequencies": "trotter"}

STEPS_FS = (0.25, 0.5, 0.75, 1.0, 1.1, 1.2)
FLOWS = {"cayley": "Cayley map", "exact": "exact flow"}
QUANTITIES = {
    "energy_virial_kcal_per_mol": "energy, virial (kcal/mol)",
    "energy_primitive_kcal_per_mol": "energy, primitive (kcal/mol)",
    "kinetic_h_meV": "kinetic energy of H (meV)",
    "gyration2_h_A2": "radius of gyration² of H (Å²)",
}


def run(page: Page) -> None:
    columns = [f"{q}{end}" for q in QUANTITIES for end in ("", "_err")]

    def measure(result):
        beads, stopped = result.table("beads"), result.table("compare")["stopped_replicas"]
        names = ["reference", *(flow for flow in FLOWS for _ in STEPS_FS)]
        rows = beads[["us_per_ps", *columns]].tolist()
        return list(zip(names, beads["timestep_fs"], stopped, rows, strict=True))

    rows = page.compare(["verlet"], measure, steps=STEPS_FS, free_ring=list(FLOWS))
    page.write(["free_ring", "timestep_fs", "stopped_replicas", "us_per_ps", *columns], rows)


def field(step_fs: float) -> int | str:
    """The key of a step in fields of the template."""
    return int(step_fs) if step_fs == int(step_fs) else f"{step_fs:g}"


def finished(table: Table) -> list[Row]:
    return [row for row in table if row.kinetic_h_meV == row.kinetic_h_meV]


def text(page: Page) -> dict:
    table = page.table()
    reference = table.one(free_ring="reference")
    steps = {flow: {round(r.timestep_fs, 9): r for r in table.where(free_ring=flow)} for flow in FLOWS}

    def excess(flow: str, step_fs: float) -> str:
        """Of the kinetic energy of H."""
        return f"{100 * (steps[flow][step_fs].kinetic_h_meV / reference.kinetic_h_meV - 1):.2f} %"

    def below(flow: str, step_fs: float, column: str) -> str:
        return f"{reference.value(column) - steps[flow][step_fs].value(column):}"

    longest = steps["cayley"][STEPS_FS[-1]]
    return {
        "averages": markdown(
            ["free ring", "step (fs)", "blow-ups", *QUANTITIES.values()],
            [[r.free_ring, f"{r.timestep_fs:g}", f"{r.stopped_replicas:g}",
              *(r.value(q) if r.kinetic_h_meV == r.kinetic_h_meV else "–" for q in QUANTITIES)] for r in table],
        ),
        "largest": max(abs(getattr(longest, q) / getattr(reference, q) - 1) for q in QUANTITIES) * 100,
        "kinetic": {flow: {field(t): excess(flow, t) for t in steps[flow]} for flow in FLOWS},
        "virial": below("cayley", 1.2, "energy_virial_kcal_per_mol"),
        "primitive": {field(t): below("exact", t, "energy_primitive_kcal_per_mol") for t in (0.5, 1.0)},
        "longest": STEPS_FS[-1], "failed": f"{steps['exact'][1.2].stopped_replicas:g}",
        "replicas": page.key("system.replicas"), "beads": page.key("path_integral.beads"),
        "temperature": page.key("thermostat.temperature_K"), "equilibration": page.key("run.equilibration_ps"),
        "measured": page.key("run.duration_ps") - page.key("run.equilibration_ps"),
    }  # fmt: skip


def draw(page: Page):
    table = page.table()
    reference = table.one(free_ring="reference")
    figure, panels = plots.panels(3)
    for axes, (column, heading) in zip(panels, list(QUANTITIES.items())[:3], strict=True):
        for flow, label in FLOWS.items():
            rows = finished(table.where(free_ring=flow))
            plots.curve(axes, [r.timestep_fs for r in rows], [r.value(column) for r in rows], label)
        v = reference.value(column)
        axes.axhline(v.mean, linestyle="--", color="#7F7F7F", label=f"{reference.timestep_fs:g} fs")
        axes.axhspan(v.mean - v.error, v.mean + v.error, color="#7F7F7F", alpha=0.3, linewidth=0)
        axes.set(xlabel="time step (fs)", ylabel=heading, xlim=(0, 1.05 * STEPS_FS[-1]))
        plots.legend(axes)
    plots.letters(panels)
    return figure
