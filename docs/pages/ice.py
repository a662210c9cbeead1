"""Melting of water octamers beside the melting points of ice, for the rigid water models."""

import json
import math

import numpy as np
import plots
from page import Page, Value, first_value, markdown, weighted_mean

TITLE = "Melting of the octamer and of ice, eleven rigid water models"
DECK, SLOW = "exchange8.toml", True
SET = {"integrator.timestep_fs": 4.0, "observe.energies.every": 25}

#: Temperatures near which the heat capacity of the octamer has its maximum, from short runs.
NEAR_K = {
    "tip3p": 117, "spc": 149, "spce": 159, "opc3": 159, "tips2": 200, "tip4p": 206, "bf": 211,
    "tip4pew": 212, "tip4p2005": 228, "opc": 228, "tip4pice": 249,
}  # fmt: skip
LADDER = [0.68, 0.80, 0.90, 0.97, 1.04, 1.12, 1.22, 1.36, 1.55]  # times that temperature
STARTS = {"D2d": "structures/tip3p-8.xyz", "S4": "structures/tip4p-8.xyz"}
SEEDS = (1, 2)
LADDERS = 8  # in each run
NAMES = {
    "tip3p": "TIP3P", "spc": "SPC", "spce": "SPC/E", "opc3": "OPC3", "tips2": "TIPS2", "tip4p": "TIP4P",
    "bf": "BF", "tip4pew": "TIP4P-Ew", "tip4p2005": "TIP4P/2005", "opc": "OPC", "tip4pice": "TIP4P/Ice",
}  # fmt: skip
#: Published melting points of ice Ih [K] and the number of their source in the template.
ICE_K = {
    "tip3p": (146, 1), "spc": (190, 1), "spce": (215, 1), "tip4p": (232, 1), "tip4pew": (245, 1),
    "tip4p2005": (250, 2), "tip4pice": (272.2, 3),
}  # fmt: skip
THREE_SITES = {"tip3p", "spc", "spce", "opc3"}
PEAK = "peak_temperature_K"
E_A_PER_D = 0.20819434
RUN_COLUMNS = ["model", "start", "seed", "peak_K", "peak_K_err", "height", "height_err", "round_trips_per_ns"]
HEXAMER_K = [50, 62, 75, 88, 102, 116, 130, 145, 160, 177, 195, 215, 238, 262, 290, 320]


def changes(model: str, start: str, seed: int) -> dict:
    """Changes of the page's deck for one run."""
    return {
        "system.model": model, "system.file": STARTS[start], "system.seed": seed,
        "system.replicas": LADDERS * len(LADDER),
        "thermostat.temperatures_K": [round(NEAR_K[model] * factor) for factor in LADDER],
        "run.duration_ps": 7000, "run.equilibration_ps": 2000,
    }  # fmt: skip


def row_of(result) -> list:
    """Maximum, height and round trips of a run; NOT_MET without a significant maximum."""
    table = result.table("averages")
    cells = [first_value(table[table["quantity"] == q]) for q in (PEAK, "peak_kcal_per_mol_K")]
    record = json.loads((result.out / "run.json").read_text())
    return [*cells, record["exchange"]["round_trips_per_ns"]]


def quadrupole_DA(model) -> float:
    """Q_T = (Q_xx - Q_yy)/2 of a planar molecule with its hydrogens along x: 3/2 q_H x_H², which does
    not depend on the origin."""
    half = math.radians(model.hoh_degrees) / 2
    return 1.5 * model.charge_hydrogen_e * (model.oh_A * math.sin(half)) ** 2 / E_A_PER_D


def octamers(page: Page) -> None:
    rows = []
    for seed in SEEDS if page.share == 1 else SEEDS[:1]:
        for model in NEAR_K:
            for start in STARTS:
                cells = page.run(changes(model, start, seed), ["observe.cluster", "system.files"], read=row_of)
                rows.append([model, start, seed, *cells])
    page.write(RUN_COLUMNS, rows, "-runs")


def hexamers(page: Page) -> None:
    rows = []
    for model in NEAR_K:
        of_hexamer = {
            "system.model": model, "system.molecules": 6, "system.replicas": 4 * len(HEXAMER_K),
            "thermostat.temperatures_K": HEXAMER_K, "run.duration_ps": 2500, "run.equilibration_ps": 500,
        }  # fmt: skip
        rows.append([model, *page.run(of_hexamer, ["observe.cluster", "system.files"], read=row_of)[:2]])
    page.write(["model", *RUN_COLUMNS[3:7]], rows, "-hexamers")


def models(page: Page) -> None:
    import tarn

    page.write(
        ["model", "quadrupole_DA", "minimum_kcal_per_mol"],
        [[m, quadrupole_DA(tarn.models[m]), lowest(m)] for m in NEAR_K],
    )


def run(page: Page) -> None:
    octamers(page)
    hexamers(page)
    models(page)


def lowest(model: str) -> float:
    """Energy of the lower one of both cubes."""
    import tarn
    from page import ROOT

    found = [tarn.minimise(tarn.read_structure(ROOT / "inputs" / path).positions_A, model=model) for path in STARTS.values()]
    return min(minimum.energy_kcal_per_mol for minimum in found)


def maxima(runs) -> dict[str, dict]:
    """By model: the mean of all runs with χ², and the means of each start."""
    found = {}
    for model, own in runs.by("model").items():
        own = own.chosen(np.isfinite(own["peak_K"]))
        all_runs, chi_square = weighted_mean([r.value("peak_K") for r in own])
        starts = {s: weighted_mean([r.value("peak_K") for r in own.where(start=s)])[0] for s in STARTS}
        height = weighted_mean([1000 * r.value("height") for r in own])[0]
        found[model] = {"all": all_runs, "chi": chi_square, "runs": len(own), "height": height} | starts
    return found


def text(page: Page) -> dict:
    runs, models = page.table("-runs"), page.table()
    found = maxima(runs)
    order = sorted(found, key=lambda m: np.nan_to_num(found[m]["all"].mean))
    met = [m for m in order if found[m]["all"].mean > 0]
    known = [m for m in met if m in ICE_K]
    peak_K = np.array([found[m]["all"].mean for m in known])
    ice_K = np.array([ICE_K[m][0] for m in known])
    quadrupole = {r.model: r.quadrupole_DA for r in models}
    minimum = {r.model: r.minimum_kcal_per_mol for r in models}
    every_K = np.array([found[m]["all"].mean for m in met])

    def correlation(x, y) -> float:
        return float(np.corrcoef(x, y)[0, 1])

    rows = [
        [NAMES[m], f"{found[m]['D2d']}", f"{found[m]['S4']}", f"{found[m]['all']}",
         f"{Value(found[m]['chi']):.1f} ({found[m]['runs'] - 1})", f"{found[m]['height']}",
         f"{ICE_K[m][0]:g} [{ICE_K[m][1]}]" if m in ICE_K else "–",
         f"{found[m]['all'].mean / ICE_K[m][0]:.3f}" if m in known else "–",
         f"{quadrupole[m]:.3f}", f"{minimum[m]:.2f}"]
        for m in order
    ]  # fmt: skip
    ratios = peak_K / ice_K
    hexamers = page.table("-hexamers")
    apart = [m for m in order if found[m]["D2d"].sigmas_to(found[m]["S4"]) > 3]
    return {
        "table": markdown(
            ["model", "from D2d (K)", "from S4 (K)", "all runs (K)", "χ² (degrees of freedom)",
             "height (cal/mol/K)", "ice Ih (K)", "ratio", "Q_T (D Å)", "lowest minimum (kcal/mol)"], rows,
        ),
        "hexamers": markdown(
            ["model", "maximum (K)", "height (cal/mol/K)"],
            [[NAMES[r.model], *((r.value("peak_K"), 1000 * r.value("height")) if r.peak_K > 0 else ("none", "–"))]
             for r in sorted(hexamers, key=lambda r: order.index(r.model))],
        ),
        "runs": len(runs) // len(found), "seeds": len(set(runs["seed"])), "ladders": LADDERS,
        "largest_error": max(found[m]["all"].error for m in met),
        "lowest": f"{NAMES[met[0]]} ({found[met[0]]['all']} K)",
        "highest": f"{NAMES[met[-1]]} ({found[met[-1]]['all']} K)",
        "ratio_low": ratios.min(), "ratio_high": ratios.max(),
        "ratio_low_model": NAMES[known[int(ratios.argmin())]],
        "ratio_high_model": NAMES[known[int(ratios.argmax())]],
        "r_ice": correlation(peak_K, ice_K),
        "r_quadrupole": correlation(every_K, [quadrupole[m] for m in met]),
        "r_minimum": correlation(every_K, [-minimum[m] for m in met]),
        "r_ratio": correlation(ratios, [quadrupole[m] for m in known]),
        "r_ratio_minimum": correlation(ratios, [-minimum[m] for m in known]),
        "three": [min(r for m, r in zip(known, ratios, strict=True) if m in THREE_SITES),
                  max(r for m, r in zip(known, ratios, strict=True) if m in THREE_SITES)],
        "four": [min(r for m, r in zip(known, ratios, strict=True) if m not in THREE_SITES),
                 max(r for m, r in zip(known, ratios, strict=True) if m not in THREE_SITES)],
        "known": len(known),
        "starts": "For all models, the maxima from both starts agree within three standard errors" if not apart
        else f"The maxima from both starts differ by more than three standard errors for {', '.join(NAMES[m] for m in apart)}",
    }  # fmt: skip


def draw(page: Page):
    found, models = maxima(page.table("-runs")), page.table()
    quadrupole = {r.model: r.quadrupole_DA for r in models}
    figure, (ice, moment) = plots.panels(2, height_in=3.2, columns=2)
    for axes, x in ((ice, {m: k for m, (k, _) in ICE_K.items()}), (moment, quadrupole)):
        for m in NAMES:
            value = found[m]["all"]
            if m not in x or math.isnan(value.mean):
                continue
            axes.errorbar([x[m]], [value.mean], yerr=[value.error], marker="o", linestyle="none",
                          color=plots.COLOURS[0 if m in ICE_K else 1], capsize=2.0)  # fmt: skip
            lefts = ("spce", "bf", "tip4p", "tip4p2005", "spc", "tip4pice") if axes is moment else ("tip4pice",)
            left, low = m in lefts, 2 if axes is moment and m == "tip4p2005" else -3
            axes.annotate(NAMES[m], (x[m], value.mean), textcoords="offset points", fontsize=7.5,
                          xytext=(-5 if left else 5, low), ha="right" if left else "left")  # fmt: skip
    low, high = 135, 290
    ice.plot([low, high], [low, high], ":", color="#7F7F7F")
    ice.annotate("octamer = ice", (175, 178), rotation=40, fontsize=7.5, color="#7F7F7F", ha="center", va="bottom")
    ice.set(xlabel="melting point of ice Ih (K)", xlim=(low, high), ylim=(100, 290))
    moment.set(xlabel="quadrupole moment Q_T (D Å)", ylim=(100, 290))
    for axes in (ice, moment):
        axes.set(ylabel="maximum of the heat capacity, octamer (K)")
    plots.letters([ice, moment])
    return figure
