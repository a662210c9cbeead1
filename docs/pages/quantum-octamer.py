"""Melting of eight molecules with quantum and with classical nuclei."""

import json
import math
import time
import tomllib

import numpy as np
import plots
from page import NOT_MET, ROOT, Page, Row, Table, Value, combined, markdown, mean_and_error
from rings import Cube

TITLE = "Melting of eight molecules with quantum and with classical nuclei"
DECK, SET, SLOW = "pimd-exchange8.toml", {"observe.minima.replicas": "all"}, True

LADDERS = 16  # with exchange; each has all temperatures
QUANTUM = {"run.duration_ps": 130, "run.equilibration_ps": 50}
CLASSICAL = {"run.duration_ps": 600, "run.equilibration_ps": 200}
#: Below the temperatures of the deck, with quantum nuclei without exchange: beads by temperature.
COLD_BEADS = {50: 160, 75: 112, 100: 96, 130: 72}
COLD = {"run.duration_ps": 24, "run.equilibration_ps": 4, "system.replicas": 16}
MELTING_K = 220  # at which both kinds of nuclei are compared
LINDEMANN_PS = COLD["run.duration_ps"] - COLD["run.equilibration_ps"]
NUCLEI = {"quantum": "quantum nuclei", "classical": "classical nuclei"}
#: The starts of the deck: even ladders start from the first one.
STARTS = {"S4": "structures/qtip4pf-8.xyz", "D2d": "structures/qtip4pf-8-d2d.xyz"}
SAME_KCAL_PER_MOL = 1e-4
QUANTITIES = {
    "total_kcal_per_mol": "energy (kcal/mol)",
    "q_oh_A": "O-H bond (Å)",
    "hydrogen_bonds": "hydrogen bonds",
    "lindemann": "Lindemann index",
}
SHARES = [f"share_{cube}_from_{start}" for cube in STARTS for start in STARTS]
HEAT_CAPACITY = "heat_capacity_kcal_per_mol_K"


def averages(result, quantity: str) -> list[Value]:
    """Averages of a quantity by temperature."""
    average = result.averages["energies." + quantity if quantity == "total_kcal_per_mol" else quantity]
    pairs = zip(np.atleast_1d(average.mean), np.atleast_1d(average.error), strict=True)
    return [Value(*pair) for pair in pairs]


def populations(result, temperatures: int) -> list[list[Value]]:
    """Populations of the cubes in the ladders of each start, by temperature, with errors from the
    ladders; SHARES."""
    import tarn

    model = tomllib.loads(json.loads((result.out / "run.json").read_text())["deck"])
    table = result.table("minima")
    table = table[table["time_ps"] >= model["run"]["equilibration_ps"]]
    if not len(table):  # a run too short for minima, in tests
        return [[NOT_MET] * len(SHARES)] * temperatures
    place, ladder = table["replica"] % temperatures, table["replica"] // temperatures
    energies = []
    for path in STARTS.values():
        x = tarn.read_structure(ROOT / "inputs" / path).positions_A
        energies.append(tarn.normal_modes(x, model="qtip4pf").energy_kcal_per_mol)
    all_shares = []
    for k in range(temperatures):
        found = []
        for energy in energies:
            is_cube = np.abs(table["minimum_kcal_per_mol"] - energy) < SAME_KCAL_PER_MOL
            for start in range(len(STARTS)):
                of = [is_cube[(place == k) & (ladder == n)].mean()
                      for n in range(start, ladder.max() + 1, len(STARTS))]  # fmt: skip
                found.append(mean_and_error(of) if len(of) > 1 else Value(of[0], 0.0))
        all_shares.append(found)
    return all_shares


def lindemann(result, temperatures_K: list) -> list[Value]:
    """Lindemann indices by temperature, with errors from the replicas: a cluster that has changed its
    isomer once has an index several times as large as one that has not."""
    table = result.table("cluster")
    last, found = table[table["step"] == table["step"].max()], []
    for k in range(len(temperatures_K)):
        of = last["lindemann"][last["replica"] % len(temperatures_K) == k]
        found.append(Value(of.mean(), of.std(ddof=1) / math.sqrt(len(of)) if len(of) > 1 else 0.0))
    return found


def run(page: Page) -> None:
    rows, capacities, ladders, runs, trips = [], [], [], [], {}
    ladder_K = page.key("thermostat.temperatures_K")
    ladder_count = LADDERS if page.share == 1 else 4
    cold_K = list(COLD_BEADS) if page.share == 1 else []
    cube, began = Cube(), time.process_time()
    window = {"observe.cluster.lindemann": True, "observe.cluster.every": 20, "observe.cluster.replicas": "all"}

    def finish(nuclei: str, kind: str, temperatures: int, replicas: int, changes: dict) -> None:
        nonlocal began
        minutes = (time.process_time() - began) / 60
        of_walker = trips[nuclei] / (temperatures * replicas) if kind == "exchange" else 0
        length = [changes[key] for key in ("run.duration_ps", "run.equilibration_ps")]
        runs.append([nuclei, kind, temperatures, replicas, *length, of_walker, minutes])
        began = time.process_time()

    def exchange(nuclei: str, t_K: list, beads: list[int], changes: dict, unset: list[str]) -> None:
        """A run with exchange, and one without it that starts from the final states, because the
        trajectory of a replica that exchanges its state is not continuous."""
        changes = changes | {"thermostat.temperatures_K": t_K, "system.replicas": len(t_K) * ladder_count}

        def read(result):
            columns = [averages(result, q) for q in list(QUANTITIES)[:3]]
            own = changes | window | {
                "system.state": str(result.out), "system.seed": 2, "run.duration_ps": LINDEMANN_PS,
                "run.equilibration_ps": 0,
            }  # fmt: skip
            observers = ["observe.energies", "observe.path_integral", "observe.geometry", "observe.minima"]
            without = list(dict.fromkeys([*unset, "exchange", "system.files", *observers]))
            columns.append(page.run(own, without, read=lambda other: lindemann(other, t_K)))
            shares = populations(result, len(t_K))
            for t, p, values, of_t in zip(t_K, beads, zip(*columns, strict=True), shares, strict=True):
                rows.append([nuclei, t, p, *values, *of_t])
            record = json.loads((result.out / "run.json").read_text())["exchange"]
            trips[nuclei] = record["round_trips"]
            ladders.extend([nuclei, p["lower_bath_K"], p["acceptance"], p["error"]] for p in record["pairs"])
            capacity = result.table("heat_capacity")
            for c in capacity[np.isfinite(capacity[HEAT_CAPACITY])]:
                bias = c["heat_capacity_bias"] if nuclei == "quantum" else 0.0
                capacities.append([nuclei, c["temperature_K"], c[HEAT_CAPACITY], c["heat_capacity_err"], bias])

        page.run(changes, unset, read=read)
        finish(nuclei, "exchange", len(t_K), ladder_count, changes)

    all_K = [*cold_K, *ladder_K]
    of_rings = ["path_integral", "observe.path_integral"]
    exchange("classical", all_K, [1] * len(all_K), CLASSICAL, of_rings)
    for t_K in cold_K:
        own = COLD | window | {
            "thermostat.temperature_K": t_K, "path_integral.beads": COLD_BEADS[t_K],
            "system.file": STARTS["S4"],
        }  # fmt: skip
        unset = ["thermostat.temperatures_K", "exchange", "observe.minima"]

        def values(result, t_K=t_K) -> list[Value]:
            means = [averages(result, q)[0] for q in list(QUANTITIES)[:3]]
            return [*means, *lindemann(result, [t_K])]

        own_row = page.run(own, unset, read=values)
        rows.append(["quantum", t_K, COLD_BEADS[t_K], *own_row, *[NOT_MET] * len(SHARES)])
    if cold_K:
        finish("quantum", "without exchange", len(cold_K), COLD["system.replicas"], COLD)
    beads = page.key("path_integral.beads")
    exchange("quantum", ladder_K, [beads] * len(ladder_K), QUANTUM, [])

    def error(nuclei: str, t_K: float, p: int) -> float:
        """Relative error of K by the number of beads."""
        if nuclei == "classical":
            return 0.0
        coldest_K = ladder_K[0] if t_K in ladder_K else t_K
        return cube.largest_error(t_K, page.load({"path_integral.beads": p}), coldest_K)

    quantities = [f"{q}{end}" for q in (*QUANTITIES, *SHARES) for end in ("", "_err")]
    columns = ["nuclei", "bath_K", "beads", *quantities, "bead_error"]
    rows.sort(key=lambda row: (list(NUCLEI).index(row[0]), row[1]))
    page.write(columns, [[*row, error(*row[:3])] for row in rows])
    page.write(["nuclei", "temperature_K", HEAT_CAPACITY, "heat_capacity_err", "bias"], capacities, "-capacities")
    page.write(["nuclei", "bath_K", "acceptance", "acceptance_err"], ladders, "-ladders")
    page.write(
        ["nuclei", "kind", "temperatures", "replicas", "duration_ps", "equilibration_ps",
         "round_trips", "core_minutes"],
        runs, "-runs",
    )  # fmt: skip


def shares_of(row: Row, cube: str) -> list[Value]:
    """The population of a cube in the ladders of each start."""
    return [row.value(f"share_{cube}_from_{start}") for start in STARTS]


def is_known(row: Row) -> bool:
    return not math.isnan(row.share_S4_from_S4)


def quotients(rows: Table) -> list[tuple[float, Value]]:
    """Heat capacities [cal/mol/K] as differences of the energies, at the middle temperatures."""
    found, pairs = [], list(rows)
    for low, high in zip(pairs, pairs[1:]):
        change = high.value("total_kcal_per_mol") - low.value("total_kcal_per_mol")
        found.append((0.5 * (low.bath_K + high.bath_K), 1000 / (high.bath_K - low.bath_K) * change))
    return found


def text(page: Page) -> dict:
    table, runs = page.table(), page.table("-runs")
    by, ladders = table.by("nuclei"), page.table("-ladders").by("nuclei")
    capacities = {n: dict(quotients(rows)) for n, rows in by.items()}
    capacity = page.table("-capacities").by("nuclei")
    covariance, histogram = capacity["quantum"], capacity["classical"]
    highest = list(histogram)[histogram[HEAT_CAPACITY].argmax()]
    #: Middle of the interval with the largest difference quotient.
    steepest = {n: max(c, key=lambda t, c=c: c[t].mean) for n, c in capacities.items()}

    def cells(row: Row) -> list:
        own = [row.value(q) for q in QUANTITIES]
        if not is_known(row):
            return own + ["–"] * len(SHARES)
        return own + [f"{v.mean:.3f} ± {v.error:.3f}" for cube in STARTS for v in shares_of(row, cube)]

    def at(nuclei: str, t_K: float):
        return table.one(nuclei=nuclei, bath_K=t_K)

    def interval(nuclei: str) -> str:
        t_K, middle = by[nuclei]["bath_K"], steepest[nuclei]
        return f"{t_K[t_K < middle].max():g} and {t_K[t_K > middle].min():g} K"

    def compared(t_K: float, quantity: str) -> dict:
        """A quantity with both kinds of nuclei, and their difference in standard errors."""
        both = {n: at(n, t_K).value(quantity) for n in NUCLEI}
        difference = both["quantum"] - both["classical"]
        return both | {"sigmas": f"{abs(difference.mean) / difference.error:.1f}"}

    warm_K, cold_K = list(by["quantum"]["bath_K"])[len(COLD_BEADS)], next(iter(COLD_BEADS))
    return {
        "steepest": {n: capacities[n][t] for n, t in steepest.items()},
        "interval": {n: interval(n) for n in NUCLEI},
        "averages": markdown(
            ["nuclei", "T (K)", "P", *QUANTITIES.values(),
             *(f"{cube}, from {start}" for cube in STARTS for start in STARTS)],
            [[r.nuclei, f"{r.bath_K:g}", f"{r.beads:g}", *cells(r)] for r in table],
        ),
        "capacities": markdown(
            ["T (K)", *(f"{label}, difference" for label in NUCLEI.values())],
            [[f"{t:g}", capacities["quantum"][t], capacities["classical"][t]] for t in capacities["quantum"]],
        ),
        "covariances": markdown(
            ["T (K)", "quantum nuclei, covariance", "harmonic error of the beads"],
            [[f"{r.temperature_K:g}", 1000 * Value(getattr(r, HEAT_CAPACITY), r.heat_capacity_err),
              f"{1000 * r.bias:.1f}"] for r in covariance],
        ),
        "acceptances": markdown(
            ["T (K)", *NUCLEI.values()],
            [[f"{r.bath_K:g}", *(next((100 * Value(o.acceptance, o.acceptance_err) for o in ladders[n]
                                       if o.bath_K == r.bath_K), "–") for n in NUCLEI)]
             for r in ladders["classical"]],
        ),
        "runs": markdown(
            ["nuclei", "run", "temperatures", "replicas at each", "length (ps)", "equilibration (ps)",
             "round trips per walker", "minutes of one core"],
            [[r.nuclei, r.kind, *(f"{x:g}" for x in (r.temperatures, r.replicas, r.duration_ps,
              r.equilibration_ps)), f"{r.round_trips:.1f}" if r.kind == "exchange" else "–",
              f"{r.core_minutes:.1f}"] for r in sorted(runs, key=lambda r: r.nuclei, reverse=True)],
        ),
        "histogram_K": highest.temperature_K,
        "histogram": 1000 * Value(getattr(highest, HEAT_CAPACITY), highest.heat_capacity_err),
        "bond": at("quantum", cold_K).value("q_oh_A") - at("classical", cold_K).value("q_oh_A"),
        "warm": warm_K,
        "hottest": by["quantum"]["bath_K"][-1], "coldest": cold_K,
        "melting_K": MELTING_K, "melting": compared(MELTING_K, "lindemann"),
        "melting_bonds": compared(MELTING_K, "hydrogen_bonds"),
        "d2d": {n: combined(shares_of(at(n, warm_K), "D2d")) for n in NUCLEI},
        "dependence": dependence(table),
        "capacity": {n: next(iter(c.values())) for n, c in capacities.items()},
        "capacity_K": next(iter(capacities["quantum"])),
        "replicas": LADDERS,
        "trips": {n: runs.one(nuclei=n, kind="exchange").round_trips for n in NUCLEI},
        "bead_error": 100 * np.abs(table["bead_error"]).max(), "lindemann_ps": LINDEMANN_PS,
        "minutes": runs["core_minutes"].sum(), "beads": page.key("path_integral.beads"),
    }  # fmt: skip


def dependence(table: Table) -> str:
    """The temperatures at which a population depends on the start."""
    found = []
    for nuclei in NUCLEI:
        rows = [r for r in table.where(nuclei=nuclei) if is_known(r)]
        apart = [r.bath_K for r in rows if max(
            a.sigmas_to(b) for a, b in (shares_of(r, cube) for cube in STARTS)) > 3]  # fmt: skip
        found.append(
            f"at {len(apart)} of {len(rows)} temperatures with {NUCLEI[nuclei]}"
            + (f", up to {max(apart):g} K" if apart else "")
        )
    return " and ".join(found)


def draw(page: Page):
    table = page.table()
    figure, (capacity, lindemann, bonds, shares) = plots.panels(4)
    for k, (nuclei, rows) in enumerate(table.by("nuclei").items()):
        middle_K, values = zip(*quotients(rows), strict=True)
        plots.curve(capacity, middle_K, values, NUCLEI[nuclei], colour=k, style="")
        for axes, q in ((lindemann, "lindemann"), (bonds, "hydrogen_bonds")):
            # No line between runs without and with exchange.
            cold = len(COLD_BEADS) if nuclei == "quantum" else 0
            for part, label in ((list(rows)[:cold], ""), (list(rows)[cold:], NUCLEI[nuclei])):
                plots.curve(axes, [r.bath_K for r in part], [r.value(q) for r in part], label, colour=k)
        known = [r for r in rows if is_known(r)]
        for i, cube in enumerate(STARTS):
            for j, start in enumerate(STARTS):
                values = [shares_of(r, cube)[j] for r in known]
                plots.curve(shares, [r.bath_K for r in known], values, f"{cube}, from {start}, {nuclei}",
                            colour=i + 2 * k + 2, style="-" if i == j else "--")  # fmt: skip
    covariance = page.table("-capacities").where(nuclei="quantum")
    plots.curve(capacity, covariance["temperature_K"], 1000 * covariance[HEAT_CAPACITY], "quantum, covariance",
                colour=5, style="", error=1000 * covariance["heat_capacity_err"])  # fmt: skip
    histogram = page.table("-capacities").where(nuclei="classical")
    capacity.plot(histogram["temperature_K"], 1000 * histogram[HEAT_CAPACITY], ":", color="black",
                  label="classical, histograms")  # fmt: skip
    capacity.set(ylabel="heat capacity (cal/mol/K)", ylim=(0, None))
    lindemann.set(ylabel="Lindemann index")
    bonds.set(ylabel="hydrogen bonds")
    shares.set(ylabel="population")
    for axes in (capacity, lindemann, bonds, shares):
        axes.set(xlabel="temperature (K)", xlim=(40, table["bath_K"].max() + 10))
        plots.legend(axes)
    plots.letters([capacity, lindemann, bonds, shares])
    return figure
