"""What the pages on the melting of the water octamer share: runs, averages by temperature with
heat-capacity curves (<name>.csv), and maxima and exchanges (<name>-ladders.csv)."""

import json
import math

import plots
from page import Row, Table, Value, markdown

#: The two cubes of each water model.
CUBES = {
    "tip3p": {"D2d": "structures/tip3p-8.xyz", "S4": "structures/tip3p-8-s4.xyz"},
    "tip4p": {"D2d": "structures/tip4p-8-d2d.xyz", "S4": "structures/tip4p-8.xyz"},
}
#: Changes of the deck by water model; the deck has the temperatures of TIP3P. Half of the ladders
#: start from each cube.
MODELS = {m: {"system.model": m, "system.files": [*of.values()]} for m, of in CUBES.items()}
MODELS["tip4p"]["thermostat.temperatures_K"] = [
    60, 80, 105, 130, 150, 165, 178, 190, 200, 210, 220, 232, 245, 260, 280, 300
]  # fmt: skip

HEAT_CAPACITY, CURVE = "heat_capacity_kcal_per_mol_K", "heat_capacity_from_all_baths_kcal_per_mol_K"
PEAKS = ("peak_temperature_K", "peak_kcal_per_mol_K")
UNITS = dict.fromkeys((HEAT_CAPACITY, CURVE, PEAKS[1]), 1000.0)  # calories
HEADINGS = {
    "potential_kcal_per_mol": "⟨V₀⟩ (kcal/mol)", HEAT_CAPACITY: "heat capacity (cal/mol/K)",
    "hydrogen_bonds": "hydrogen bonds", "lindemann": "Lindemann index",
}  # fmt: skip
COLUMNS = ["bath_K", "quantity", "mean", "error", "converged"]
LADDER_COLUMNS = COLUMNS[:-1]
CURVES = """The curves of the heat capacity and their maxima come from the energies of all temperatures
  ([how](../measuring.md#heat-capacity-curves)). Points are averages at one temperature. Bars and bands are standard
  errors."""


#: A step of 4 fs, twice that of the decks; averages of rigid molecules with SETTLE do not change.
STEP_4FS = {"integrator.timestep_fs": 4.0}


def averages(result, quantity: str) -> list[tuple]:
    """Rows of a quantity of a run, by temperature; nan: all temperatures."""
    table = result.table("averages")
    return table[table["quantity"] == quantity][COLUMNS].tolist()


def curve(result) -> list[tuple]:
    """Rows of the heat capacity from the energies of all temperatures."""
    table = result.table("heat_capacity")
    columns = ["temperature_K", "heat_capacity_kcal_per_mol_K", "heat_capacity_err"]
    return [(t_K, CURVE, *row, 1) for t_K, *row in table[columns].tolist()]


def ladders(result) -> list[tuple]:
    """Maximum of the heat capacity, round trips, and acceptances by the lower temperature."""
    rows = [row[:-1] for name in PEAKS for row in averages(result, name)]
    exchange = json.loads((result.out / "run.json").read_text())["exchange"]
    if exchange:
        rows.append((math.nan, "round_trips_per_ns", exchange["round_trips_per_ns"], math.nan))
        changes = exchange["structure_changes_per_walker"]
        rows.append((math.nan, "structure_changes_per_walker", changes, math.nan))
        rows += [(p["lower_bath_K"], "acceptance", p["acceptance"], p["error"]) for p in exchange["pairs"]]
    return rows


def cell(row: Row) -> str:
    value = Value(row.mean, row.error) * UNITS.get(row.quantity, 1.0)
    return f"{value}" if getattr(row, "converged", True) else rf"{value} \*"


def peaks(of: str, runs: dict[str, Table]) -> str:
    """The table of the maxima of several runs."""
    header = [of, "maximum of the heat capacity (K)", "height (cal/mol/K)"]
    cells = {m: [cell(row) for name in PEAKS for row in t.where(quantity=name)] for m, t in runs.items()}
    return markdown(header, [[m, *(values or ["not significant", "–"])] for m, values in cells.items()])


def draw(runs: dict[str, Table], quantities, styles):
    """A panel per quantity, with a curve per run."""
    figure, panels = plots.panels(len(quantities))
    for axes, name in zip(panels, quantities, strict=True):
        for k, ((label, run), style) in enumerate(zip(runs.items(), styles, strict=True)):
            at, line = run.where(quantity=name), run.where(quantity=CURVE)
            at_K, mean, error = at["bath_K"], at["mean"], at["error"]
            if name == HEAT_CAPACITY:
                low, middle, high = (1000 * (line["mean"] + s * line["error"]) for s in (-1, 0, 1))
                axes.plot(line["bath_K"], middle, style, color=plots.COLOURS[k])
                axes.fill_between(line["bath_K"], low, high, alpha=0.3, color=plots.COLOURS[k])
                mean, error, style = 1000 * mean, 1000 * error, ""
            plots.curve(axes, at_K, mean, label, colour=k, style=style, error=error)
            plots.hollow(axes, at_K, mean, at["converged"] == 0, colour=k)
        axes.set(xlabel="temperature (K)", ylabel=HEADINGS[name])
        plots.legend(axes)
    plots.letters(panels)
    return figure
