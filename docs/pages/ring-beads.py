"""Errors of ring polymers by the number of beads and the temperature."""

import math

import numpy as np
import plots
from page import Page, Row, Table, average, markdown

TITLE = "Number of beads by temperature, eight molecules"
DECK, SLOW = "pimd8.toml", True
SET = {"run.duration_ps": 14, "run.equilibration_ps": 4}

TEMPERATURES_K = (25, 50, 100, 200, 300)
BEADS_TIMES_K = (2000, 4000, 8000, 16000, 24000)
WITHIN = (0.05, 0.02, 0.01)  # errors whose number of beads is reported
KINETIC, ENERGY = QUANTITIES = ("kinetic_h_meV", "energy_virial_kcal_per_mol")
COLUMNS = [f"{q}{end}" for q in QUANTITIES for end in ("", "_err")]
COEFFICIENTS = [f"{q}_{c}" for q in QUANTITIES for c in ("c1", "c2")]


def run(page: Page) -> None:
    rows, fits = [], []

    def measure(result, t_K):
        limits = result.table("bead_limits")
        fit = [limits[limits["quantity"] == q][0] for q in QUANTITIES]
        rows.extend([t_K, *row] for row in result.table("beads")[["beads", *COLUMNS]].tolist())
        rows.append([t_K, 0, *([f["limit"], f["limit_err"]] for f in fit)])
        return [[f["c1"], f["c2"]] for f in fit]

    for t_K in TEMPERATURES_K if page.share == 1 else TEMPERATURES_K[-1:]:
        beads = [round(product / t_K) for product in BEADS_TIMES_K]
        own = {"thermostat.temperature_K": t_K}
        coefficients = page.compare(
            ["verlet"], lambda result, t_K=t_K: measure(result, t_K), beads=beads,
            set=own | {"path_integral.beads": beads[-1], "path_integral.frequencies": "trotter"},
        )  # fmt: skip
        classical = page.run(own, ["path_integral", "observe.path_integral"])
        fits.append([t_K, average(classical, "total_kcal_per_mol"), coefficients])
    page.write(["bath_K", "beads", *COLUMNS], rows)
    page.write(["bath_K", "classical", "classical_err", *COEFFICIENTS], fits, "-fits")


def shortfalls(rows: Table, fit: Row, q: str) -> tuple[np.ndarray, np.ndarray, float]:
    """1 - value/limit with errors, and the limit. Values of the energy are those above the energy of
    classical nuclei; the last row is the limit."""
    value, error = rows[q], rows[f"{q}_err"]
    if q == ENERGY:
        value, error = value - fit.classical, np.hypot(error, fit.classical_err)
    return 1 - value / value[-1], abs(error / value[-1]), value[-1]


def least_product(limit: float, fit: Row, q: str, fraction: float) -> float:
    """The least P T down to which the fit is within a fraction of its limit."""
    beads = 10 * BEADS_TIMES_K[-1] / fit.bath_K / 1.01 ** np.arange(2000)
    c1, c2 = getattr(fit, f"{q}_c1"), getattr(fit, f"{q}_c2")
    outside = np.abs(c1 / beads**2 + c2 / beads**4) > fraction * abs(limit)
    return beads[outside.argmax() - 1] * fit.bath_K


def text(page: Page) -> dict:
    averages, needed, products, errors, relative = [], [], [], {}, []
    for fit, rows in zip(page.table("-fits"), page.table().by("bath_K").values(), strict=True):
        t_K, of = f"{fit.bath_K:g}", [shortfalls(rows, fit, q) for q in QUANTITIES]
        for row, *error in zip(rows, *(100 * share for share, *_ in of), strict=True):
            start = [t_K, f"{row.beads:g}", f"{row.beads * fit.bath_K:g}"] if row.beads else [t_K, "∞", ""]
            cells = [[row.value(q), f"{e:.1f}" if row.beads else ""] for q, e in zip(QUANTITIES, error)]
            averages.append([*start, *cells[0], *cells[1]])
            if t_K == "100":
                errors[row.beads * fit.bath_K] = error[0]
        relative.append(100 * rows["kinetic_h_meV_err"][-1] / rows[KINETIC][-1])
        own = [least_product(limit, fit, q, f) for q, (*_, limit) in zip(QUANTITIES, of) for f in WITHIN]
        products.append(own[2])
        needed.append([t_K, *(f"{100 * round(p / 100)} (P = {math.ceil(p / fit.bath_K)})" for p in own)])
    return {
        "needed": markdown(
            ["T (K)", "K of H to 5 %", "to 2 %", "to 1 %", "energy to 5 %", "to 2 %", "to 1 %"], needed
        ),
        "averages": markdown(
            ["T (K)", "P", "P T (K)", "K of H (meV)", "error (%)", "energy (kcal/mol)", "error (%)"], averages
        ),
        "one_percent": 1000 * round(np.mean(products) / 1000), "error": errors,
        "least": min(relative), "most": max(relative),
        "coldest": TEMPERATURES_K[0], "hottest": TEMPERATURES_K[-1],
        "replicas": page.key("system.replicas"), "equilibration": SET["run.equilibration_ps"],
        "measured": SET["run.duration_ps"] - SET["run.equilibration_ps"],
    }  # fmt: skip


def draw(page: Page):
    figure, panels = plots.panels(len(QUANTITIES))
    for axes, q, name in zip(panels, QUANTITIES, ("K of H", "the energy"), strict=True):
        for k, (fit, rows) in enumerate(zip(page.table("-fits"), page.table().by("bath_K").values())):
            share, error, _ = shortfalls(rows, fit, q)
            # Logarithmic axes have no place for errors that are smaller than their standard error.
            shown = (np.abs(share) > error) & (rows["beads"] > 0)
            plots.curve(axes, (rows["beads"] * fit.bath_K)[shown], np.abs(share[shown]),
                        f"{fit.bath_K:g} K", colour=k, error=error[shown])  # fmt: skip
        axes.set(xlabel="P T (K)", ylabel=f"relative error of {name}", xscale="log", yscale="log")
        axes.set_xticks(BEADS_TIMES_K, BEADS_TIMES_K)
        axes.set_xticks([], minor=True)
        plots.legend(axes)
    return figure
