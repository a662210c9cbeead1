"""Scatter between seeds over the quoted errors, for twenty runs of a hexamer and of an octamer."""

import math

import numpy as np
import plots
from melting_shared import CUBES
from page import Page, markdown

TITLE = "Do the errors hold? Twenty seeds of a hexamer and of an octamer"
DECK, SLOW = "exchange8.toml", True
SET = {"integrator.timestep_fs": 4.0, "observe.energies.every": 25, "observe.cluster.every": 250}

SEEDS = 20
#: Changes of the deck, and keys that it loses.
CASES = {
    "hexamer": (
        {"system.molecules": 6, "system.model": "tip4p2005", "system.replicas": 160,
         "thermostat.temperatures_K": [75, 88, 100, 108, 116, 126, 140, 165, 190, 220],
         "run.duration_ps": 1200, "run.equilibration_ps": 300, "observe.minima.every": 1250},
        ["system.files"],
    ),
    "octamer": (
        {"system.files": [*CUBES["tip3p"].values()], "run.duration_ps": 1500, "run.equilibration_ps": 500,
         "observe.minima.every": 1250},
        [],
    ),
}  # fmt: skip
LEAST_SHARE = 0.02  # of isomers that are compared


def results_of(result) -> dict[tuple, tuple[float, float, float]]:
    """Mean, error and converged of averages.csv, heat_capacity.csv and isomers_by_bath.csv, by file,
    quantity and temperature."""
    found = {}
    for row in result.table("averages"):
        if row["error"] > 0:
            key = (row["table"], row["quantity"], row["bath_K"])
            found[key] = (row["mean"], row["error"], row["converged"])
    capacity = result.table("heat_capacity")
    for row in capacity[:: max(1, len(capacity) // 12)]:
        for quantity, error in (("energy_kcal_per_mol", "energy_err"),
                                ("heat_capacity_kcal_per_mol_K", "heat_capacity_err")):  # fmt: skip
            if row[error] > 0:
                found["heat_capacity.csv", quantity, row["temperature_K"]] = (row[quantity], row[error], 1)
    isomers, by_bath = result.table("isomers"), result.table("isomers_by_bath")
    energies = {r["isomer"]: round(float(r["minimum_kcal_per_mol"]), 4) for r in isomers}
    for row in by_bath:
        key = ("isomers_by_bath", f"share of {energies[row['isomer']]}", row["bath_K"])
        found[key] = (row["share"], row["share_err"], row["converged"])
    return found


def run(page: Page) -> None:
    rows = []
    for case, (changes, unset) in CASES.items():
        for seed in range(1, (SEEDS if page.share == 1 else 2) + 1):
            found = page.run(changes | {"system.seed": seed}, unset, read=results_of)
            rows += [[case, seed, *key, *values] for key, values in found.items()]
    table, summary = rows, []
    for key in dict.fromkeys((r[0], *r[2:5]) for r in table):
        own = [r for r in table if (r[0], *r[2:5]) == key]
        if len(own) < 2 or (key[1] == "isomers_by_bath" and np.mean([r[5] for r in own]) < LEAST_SHARE):
            continue
        means, errors = np.array([r[5] for r in own]), np.array([r[6] for r in own])
        summary.append([*key, len(own), means.mean(), means.std(ddof=1), math.sqrt(np.mean(errors**2)),
                        np.mean([r[7] for r in own])])  # fmt: skip
    page.write(
        ["case", "table", "quantity", "bath_K", "runs", "mean", "scatter", "error", "converged"],
        [[k[0], k[1], "share" if k[1] == "isomers_by_bath" else k[2], *k[3:]] for k in summary],
    )


def known(page: Page):
    """The rows that vary by more than rounding."""
    table = page.table()
    return table.chosen(table["error"] > 1e-9 * np.abs(table["mean"]))


def ratios(rows) -> np.ndarray:
    return rows["scatter"] / rows["error"]


def text(page: Page) -> dict:
    table = known(page)
    tables, outside, pooled_ratios = {}, [], []
    for case, of_case in table.by("case").items():
        lines = []
        for name, of_table in of_case.by("table").items():
            for quantity, rows in of_table.by("quantity").items():
                ratio = ratios(rows)
                pooled = math.sqrt(np.mean(ratio**2))
                noise = 1 / math.sqrt(2 * (SEEDS - 1))
                pooled_ratios.append(pooled)
                if not 0.8 <= pooled <= 1.25:
                    outside.append(f"{quantity} of the {case} ({pooled:.2f})")
                file = {"isomers_by_bath": "isomers_by_bath.csv", "heat_capacity": "averages.csv"}.get(
                    name, name if name.endswith(".csv") else "averages.csv")  # fmt: skip
                lines.append([file, f"`{quantity}`", len(rows), f"{pooled:.2f}", f"{ratio.min():.2f} to {ratio.max():.2f}",
                              f"{100 * rows['converged'].mean():.0f} %"])  # fmt: skip
        tables[case] = markdown(
            ["file", "column", "temperatures", "scatter/error", "range over the temperatures", "converged"], lines
        )
    within = sum(0.8 <= r <= 1.25 for r in ratios(table))
    return {
        "table": tables, "seeds": SEEDS, "noise": 100 * noise,
        "columns": len(pooled_ratios), "inside": len(pooled_ratios) - len(outside),
        "least": min(pooled_ratios), "most": max(pooled_ratios),
        "outside": "; ".join(outside) or "none",
        "single": 100 * within / len(table), "count": len(table),
        "lowest": ratios(table).min(), "highest": ratios(table).max(),
        "mean": math.sqrt(np.mean(ratios(table) ** 2)),
    }  # fmt: skip


def draw(page: Page):
    cases = known(page).by("case")
    figure, panels = plots.panels(len(cases), height_in=2.8)
    for axes, (case, rows) in zip(panels, cases.items(), strict=True):
        for k, (quantity, own) in enumerate(rows.by("quantity").items()):
            own = own.chosen(np.isfinite(own["bath_K"]))
            if not len(own) or quantity.startswith("acceptance"):
                continue
            plots.curve(axes, own["bath_K"], ratios(own), quantity, colour=k, style="")
        axes.axhspan(0.8, 1.25, color="#E5E5E5", zorder=0)
        axes.axhline(1.0, color="#7F7F7F", linewidth=0.8)
        axes.set(ylabel=f"scatter / error ({case})", ylim=(0, 2.4), xlabel="temperature (K)")
        plots.legend(axes)
    plots.letters(panels)
    return figure
