"""Errors of ring polymers by the number of beads, for both kinds of frequencies."""

import time

import numpy as np
import plots
from page import Page, Row, Table, Value, average, first_value, markdown
from rings import Cube

TITLE = "Error by the number of beads, eight molecules"
DECK, SLOW = "pimd8.toml", True
SET = {"run.equilibration_ps": 4}

KINDS = {"economised": "economised", "trotter": "Trotter"}
BEADS = {
    100: {"economised": (24, 32, 40, 48, 64, 96), "trotter": (32, 64, 128, 256)},
    300: {"economised": (8, 12, 16, 20, 24, 32), "trotter": (8, 16, 32, 64, 128)},
}
REFERENCE_BEADS = {100: 128, 300: 48}  # economised
REFERENCE_REPLICAS = 16
DURATIONS_PS = {100: 11, 300: 18}
KINETIC, ENERGY = QUANTITIES = ("kinetic_h_meV", "energy_virial_kcal_per_mol")
COLUMNS = [f"{q}{end}" for q in QUANTITIES for end in ("", "_err")]


def run(page: Page) -> None:
    cube, rows, limits = Cube(), [], []

    def predict(kind: str, t_K: float, beads: int) -> list[float]:
        deck = page.load({"path_integral.beads": beads, "path_integral.frequencies": kind})
        return [of(t_K, deck) for of in (cube.kinetic_error, cube.energy_error, cube.largest_error)]

    def measure(result, kind: str, t_K: float) -> None:
        for row in result.table("beads")[["beads", *COLUMNS]].tolist():
            rows.append([t_K, kind, *row, *predict(kind, t_K, int(row[0]))])
        if kind == "trotter":
            of = result.table("bead_limits")
            fits = (of[of["quantity"] == q] for q in QUANTITIES)
            limits.append([t_K, *(first_value(fit, "limit", "limit_err") for fit in fits)])

    began, minutes = time.process_time(), []
    for t_K in BEADS if page.share == 1 else [300]:
        own = {"thermostat.temperature_K": t_K, "run.duration_ps": DURATIONS_PS[t_K]}
        beads = REFERENCE_BEADS[t_K]
        reference = page.run(
            own | {"path_integral.beads": beads, "system.replicas": REFERENCE_REPLICAS},
            ["observe.geometry", "observe.cluster", "observe.rdf"],
        )  # fmt: skip
        rows.append([t_K, "reference", beads, *(average(reference, q) for q in QUANTITIES),
                     *predict("economised", t_K, beads)])  # fmt: skip
        for kind in KINDS:
            page.compare(
                ["verlet"], lambda result, kind=kind, t_K=t_K: measure(result, kind, t_K),
                beads=BEADS[t_K][kind], set=own | {"path_integral.frequencies": kind},
            )  # fmt: skip
        minutes.append((time.process_time() - began) / 60)
        began = time.process_time()
    harmonic = ["harmonic_share", "harmonic_kcal_per_mol", "harmonic_largest"]
    page.write(["bath_K", "frequencies", "beads", *COLUMNS, *harmonic], rows)
    limits = [[*limit, m] for limit, m in zip(limits, minutes, strict=True)]
    page.write(["bath_K", *COLUMNS, "core_minutes"], limits, "-limits")


def references(table: Table) -> dict[float, Row]:
    """The row of the reference of each temperature."""
    return {row.bath_K: row for row in table.where(frequencies="reference")}


def share(row: Row, reference: Row) -> Value:
    """Error of K [%]."""
    return 100 / reference.kinetic_h_meV * (row.value(KINETIC) - reference.value(KINETIC))


def excess(row: Row, reference: Row) -> Value:
    """Error of the energy [kcal/mol]."""
    return row.value(ENERGY) - reference.value(ENERGY)


def parts_of_largest(table: Table) -> list[float]:
    """Errors of K, if above three standard errors, as parts of the largest one of any vibration."""
    found = []
    for row in table:
        error = share(row, references(table)[row.bath_K])
        if row.frequencies != "reference" and abs(error.mean) > 3 * error.error:
            found.append(abs(error.mean) / (100 * row.harmonic_largest))
    return found


def text(page: Page) -> dict:
    table, limits = page.table(), page.table("-limits")
    at = references(table)
    errors, cells, parts = {}, [], parts_of_largest(table)
    for row in table:
        reference, cell = at[row.bath_K], [f"{row.bath_K:g}", KINDS.get(row.frequencies, "reference"), f"{row.beads:g}"]
        of_k, of_e = share(row, reference), excess(row, reference)
        if row.frequencies == "reference":
            cells.append([*cell, row.value(KINETIC), *[""] * 3, row.value(ENERGY), *[""] * 2])
            continue
        errors[f"{row.frequencies}_{row.bath_K:g}_{row.beads:g}"] = of_k
        cells.append([
            *cell, row.value(KINETIC), of_k,
            *(f"{100 * e:.2f}" for e in (row.harmonic_share, row.harmonic_largest)),
            row.value(ENERGY), of_e, f"{row.harmonic_kcal_per_mol:.2f}",
        ])  # fmt: skip
    extrapolated = [
        [f"{row.bath_K:g}", row.value(KINETIC), at[row.bath_K].value(KINETIC), row.value(ENERGY),
         at[row.bath_K].value(ENERGY)] for row in limits
    ]  # fmt: skip
    sigmas = [
        abs(d.mean) / d.error for row in limits for q in QUANTITIES
        for d in [row.value(q) - at[row.bath_K].value(q)]
    ]  # fmt: skip
    return {
        "averages": markdown(
            ["T (K)", "frequencies", "P", "K of H (meV)", "error (%)", "modes (%)", "largest (%)",
             "energy (kcal/mol)", "error (kcal/mol)", "modes (kcal/mol)"], cells,
        ),
        "extrapolated": markdown(
            ["T (K)", "K of H, extrapolated (meV)", "reference (meV)", "energy, extrapolated (kcal/mol)",
             "reference (kcal/mol)"], extrapolated,
        ),
        "error": {name: f"{e}" for name, e in errors.items()},
        "sigmas": max(sigmas), "least": min(parts), "most": max(parts), "minutes": limits["core_minutes"].sum(),
        "reference_beads": " and ".join(f"{b} beads at {t} K" for t, b in REFERENCE_BEADS.items()),
        "reference_replicas": REFERENCE_REPLICAS, "replicas": page.key("system.replicas"),
        "equilibration": SET["run.equilibration_ps"],
        "measured": {t: ps - SET["run.equilibration_ps"] for t, ps in DURATIONS_PS.items()},
    }  # fmt: skip


def draw(page: Page):
    table = page.table()
    at = references(table)
    figure, panels = plots.panels(4, columns=2, height_in=2.6)
    for row, (t_K, rows) in enumerate(table.by("bath_K").items()):
        of_k, of_e = panels[2 * row : 2 * row + 2]
        for k, (kind, label) in enumerate(KINDS.items()):
            own = list(rows.where(frequencies=kind))
            measured = [[share(r, at[t_K]) for r in own], [excess(r, at[t_K]) for r in own]]
            formula = [100 * abs(r.harmonic_share) for r in own], [abs(r.harmonic_kcal_per_mol) for r in own]
            for axes, values, line in zip((of_k, of_e), measured, formula, strict=True):
                # Logarithmic axes have no place for errors that are smaller than their standard error.
                shown = [(r.beads, v) for r, v in zip(own, values) if abs(v.mean) > v.error]
                plots.curve(axes, [b for b, _ in shown], [abs(v.mean) for _, v in shown], label, colour=k,
                            style="", error=[v.error for _, v in shown])  # fmt: skip
                plots.curve(axes, [r.beads for r in own], line, f"{label}, modes", colour=k, marker=False)
            largest = [100 * r.harmonic_largest for r in own]
            plots.curve(of_k, [r.beads for r in own], largest, f"{label}, largest", colour=k, style=":",
                        marker=False)  # fmt: skip
        of_k.set(ylabel=f"error of K of H at {t_K:g} K (%)", ylim=(0.02, 60))
        of_e.set(ylabel=f"error of E at {t_K:g} K (kcal/mol)", ylim=(0.02, 60))
        for axes in (of_k, of_e):
            axes.set(xlabel="number of beads", xscale="log", yscale="log")
            plots.plain_ticks(axes.xaxis, [8, 16, 32, 64, 128, 256])
            plots.plain_ticks(axes.yaxis, [0.1, 1, 10])
    plots.letters(panels)
    figure.legend(*panels[0].get_legend_handles_labels(), loc="outside upper center", ncols=3)
    return figure
