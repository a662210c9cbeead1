"""Melting of eight molecules with quantum and with classical nuclei."""

import json
import math
import time

import numpy as np
import plots
from page import BOLTZMANN_KCAL_PER_MOL_K, Page, Row, Table, Value, markdown
from rings import Cube

TITLE = "Melting of eight molecules with quantum and with classical nuclei"
DECK, SLOW = "pimd-exchange8.toml", True

#: Below the temperatures of the deck, with quantum nuclei without exchange: beads by temperature.
COLD_BEADS = {50: 160, 75: 112, 100: 96, 130: 72}
COLD = {"run.duration_ps": 24, "run.equilibration_ps": 4, "replicas": 4}
CLASSICAL = {"run.duration_ps": 1000, "run.equilibration_ps": 200, "replicas": 4}  # at each temperature
MELTING_K = 220  # whose Lindemann indices are compared
LINDEMANN_PS = COLD["run.duration_ps"] - COLD["run.equilibration_ps"]
NUCLEI = {"quantum": "quantum nuclei", "classical": "classical nuclei"}
CUBES = {"D2d": 8, "S4": 4}  # orders of the point groups
QUANTITIES = {
    "total_kcal_per_mol": "energy (kcal/mol)",
    "q_oh_A": "O-H bond (Å)",
    "hydrogen_bonds": "hydrogen bonds",
    "lindemann": "Lindemann index",
}
SHARES = [f"share_{cube}" for cube in CUBES]
HEAT_CAPACITY = "heat_capacity_kcal_per_mol_K"
ISOMERS = [*CUBES, "others"]
NONE = Value(math.nan, math.nan)


def averages(result, quantity: str) -> list[Value]:
    """Averages of a quantity by temperature."""
    average = result.averages["energies." + quantity if quantity == "total_kcal_per_mol" else quantity]
    pairs = zip(np.atleast_1d(average.mean), np.atleast_1d(average.error), strict=True)
    return [Value(*pair) for pair in pairs]


def populations(result, temperatures_K) -> list[list[Value]]:
    """Populations of both cubes by temperature."""
    isomers, by_bath = result.table("isomers"), result.table("isomers_by_bath")
    numbers = [next(iter(isomers["isomer"][isomers["symmetry_order"] == order]), 0) for order in CUBES.values()]
    all_shares = []
    for t_K in temperatures_K:
        own = by_bath[by_bath["bath_K"] == t_K]
        found = {row["isomer"]: Value(row["share"], row["share_err"]) for row in own}
        all_shares.append([found.get(number, Value(0.0, 0.0)) for number in numbers])
    return all_shares


def lindemann(page: Page, changes: dict, unset: list[str], first) -> list[Value]:
    """From a run without exchange that starts from the final states of the first: exchanges move
    states, so that the trajectory of a replica is not continuous."""
    own = {key: v for key, v in changes.items() if key != "system.file"} | {
        "system.state": str(first.out), "system.seed": 2, "observe.cluster.lindemann": True, "observe.cluster.every": 20,
        "run.duration_ps": LINDEMANN_PS, "run.equilibration_ps": 0,
    }  # fmt: skip
    observers = ["observe.energies", "observe.path_integral", "observe.geometry", "observe.minima"]
    unset = [*unset, "exchange", "system.file", *observers]
    return page.run(own, list(dict.fromkeys(unset)), read=lambda result: averages(result, "lindemann"))


def run(page: Page) -> None:
    rows, capacities, ladders, runs, trips = [], [], [], [], {}
    ladder_K = page.key("thermostat.temperatures_K")
    cold_K = list(COLD_BEADS) if page.share == 1 else []
    cube, began = Cube(), time.process_time()

    def finish(nuclei: str, kind: str, t_K: list, replicas: int, changes: dict) -> None:
        nonlocal began
        length = [changes.get(k, page.key(k)) for k in ("run.duration_ps", "run.equilibration_ps")]
        minutes = (time.process_time() - began) / 60
        walkers = len(t_K) * replicas
        of_walker = trips[nuclei] / walkers if kind == "exchange" else 0
        runs.append([nuclei, kind, len(t_K), replicas, *length, of_walker, minutes])
        began = time.process_time()

    def measure(result, nuclei: str, changes: dict, unset: list[str], t_K: list, beads: list[int]) -> None:
        columns = [averages(result, q) for q in list(QUANTITIES)[:3]]
        columns.append(lindemann(page, changes, unset, result))
        shares = populations(result, t_K)
        for t, p, values, of_t in zip(t_K, beads, zip(*columns, strict=True), shares, strict=True):
            rows.append([nuclei, t, p, *values, *of_t])
        exchange = json.loads((result.out / "run.json").read_text())["exchange"]
        trips[nuclei] = exchange["round_trips"]
        ladders.extend([nuclei, p["lower_bath_K"], p["acceptance"], p["error"]] for p in exchange["pairs"])
        capacity = result.table("heat_capacity")
        for c in capacity[np.isfinite(capacity[HEAT_CAPACITY])]:
            bias = c["heat_capacity_bias"] if nuclei == "quantum" else 0.0
            row = [c["temperature_K"], c[HEAT_CAPACITY], c["heat_capacity_err"], bias]
            capacities.append([nuclei, *row])

    all_K = [*cold_K, *ladder_K]
    replicas = CLASSICAL["replicas"] if page.share == 1 else 1
    own = {
        "thermostat.temperatures_K": all_K, "system.replicas": len(all_K) * replicas,
        **{key: v for key, v in CLASSICAL.items() if key != "replicas"},
    }  # fmt: skip
    unset = ["path_integral", "observe.path_integral"]
    page.run(
        own, unset, read=lambda result: measure(result, "classical", own, unset, all_K, [1] * len(all_K))
    )
    finish("classical", "exchange", all_K, replicas, CLASSICAL)

    for t_K in cold_K:
        own = {
            "thermostat.temperature_K": t_K, "path_integral.beads": COLD_BEADS[t_K],
            "system.replicas": COLD["replicas"],
            "observe.cluster.lindemann": True, "observe.cluster.every": 20,
            **{key: v for key, v in COLD.items() if key != "replicas"},
        }  # fmt: skip
        unset = ["thermostat.temperatures_K", "exchange", "observe.minima"]
        result = page.run(own, unset)
        values = [averages(result, q)[0] for q in QUANTITIES]
        rows.append(["quantum", t_K, COLD_BEADS[t_K], *values, *[NONE] * len(SHARES)])
    if cold_K:
        finish("quantum", "without exchange", cold_K, COLD["replicas"], COLD)

    beads = page.key("path_integral.beads")
    page.run(read=lambda result: measure(result, "quantum", {}, [], ladder_K, [beads] * len(ladder_K)))
    finish("quantum", "exchange", ladder_K, page.key("system.replicas") // len(ladder_K), {})

    def error(nuclei: str, t_K: float, p: int) -> float:
        """Relative error of K by the number of beads."""
        if nuclei == "classical":
            return 0.0
        return cube.largest_error(t_K, page.load({"path_integral.beads": p}))

    quantities = [f"{q}{end}" for q in (*QUANTITIES, *SHARES) for end in ("", "_err")]
    columns = ["nuclei", "bath_K", "beads", *quantities, "bead_error"]
    rows.sort(key=lambda row: (list(NUCLEI).index(row[0]), row[1]))
    page.write(columns, [[*row, error(*row[:3])] for row in rows])
    grid_K = np.arange(min(COLD_BEADS), ladder_K[-1] + 1.0)
    quantum = [BOLTZMANN_KCAL_PER_MOL_K * t * (cube.energies(t) - 1).sum() for t in grid_K]
    harmonic = zip(grid_K, quantum, np.gradient(quantum, grid_K), strict=True)
    page.write(["temperature_K", "energy_kcal_per_mol", HEAT_CAPACITY], harmonic, "-harmonic")
    page.write(["nuclei", "temperature_K", HEAT_CAPACITY, "heat_capacity_err", "bias"], capacities, "-capacities")
    page.write(["nuclei", "bath_K", "acceptance", "acceptance_err"], ladders, "-ladders")
    page.write(
        ["nuclei", "kind", "temperatures", "replicas", "duration_ps", "equilibration_ps",
         "round_trips", "core_minutes"],
        runs, "-runs",
    )  # fmt: skip


def shares_of(row: Row) -> list[Value]:
    """Populations of the cubes and of all other isomers. The error of the others is that of S4, scaled
    by the standard deviations of both."""
    cubes = [row.value(share) for share in SHARES]
    others = max(0.0, 1 - sum(cube.mean for cube in cubes))
    deviations = [math.sqrt(max(p * (1 - p), 1e-12)) for p in (others, cubes[1].mean)]
    return [*cubes, Value(others, cubes[1].error * deviations[0] / deviations[1])]


class Melting:
    """The fit a + b T + D/(1 + exp((T0 - T)/w)) to the energies above the harmonic quantum part."""

    def __init__(self, rows: Table, harmonic: Table) -> None:
        self.t_K, self.error = rows["bath_K"], rows["total_kcal_per_mol_err"]
        self.grid_K = harmonic["temperature_K"]
        quantum = rows["beads"][0] > 1
        self.harmonic_capacity = harmonic[HEAT_CAPACITY] * quantum
        part = np.interp(self.t_K, self.grid_K, harmonic["energy_kcal_per_mol"]) * quantum
        energy = rows["total_kcal_per_mol"] - part
        slope = (energy[1] - energy[0]) / (self.t_K[1] - self.t_K[0])
        start = np.array([energy[0] - slope * self.t_K[0], slope, 8.0, 215.0, 15.0])
        self.best = self.solve(energy, start)
        self.chi2 = (((energy - self.model(self.best, self.t_K)) / self.error) ** 2).sum()
        self.freedom = len(energy) - len(start)
        self.scale = math.sqrt(max(1.0, self.chi2 / self.freedom))
        #: Solutions with one energy raised by its standard error.
        self.others = [
            self.solve(energy + np.where(np.arange(len(energy)) == i, self.error, 0), self.best)
            for i in range(len(energy))
        ]  # fmt: skip

    @staticmethod
    def model(p: np.ndarray, t_K: np.ndarray) -> np.ndarray:
        return p[0] + p[1] * t_K + p[2] / (1 + np.exp((p[3] - t_K) / p[4]))

    def solve(self, energy: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Least squares by the method of Levenberg and Marquardt."""

        def residuals(p: np.ndarray) -> np.ndarray:
            return (self.model(p, self.t_K) - energy) / self.error

        damping, r, steps = 1e-3, residuals(p), np.diag([1e-4, 1e-6, 1e-4, 1e-3, 1e-3])
        while damping < 1e9:
            slopes = np.array([(residuals(p + h) - residuals(p - h)) / (2 * h.sum()) for h in steps]).T
            normal = slopes.T @ slopes
            change = np.linalg.solve(normal + damping * np.diag(np.diag(normal)), -slopes.T @ r)
            other = p + np.clip(change, -20, 20)
            better = residuals(other)
            if other[4] > 1 and better @ better < r @ r * (1 - 1e-12):
                p, r, damping = other, better, 0.2 * damping
            else:
                damping *= 4
        return p

    def capacity(self, p: np.ndarray) -> np.ndarray:
        """Heat capacity [cal/mol/K] on the grid."""
        f = 1 / (1 + np.exp((p[3] - self.grid_K) / p[4]))
        return 1000 * (p[1] + p[2] / p[4] * f * (1 - f) + self.harmonic_capacity)

    def peak(self, p: np.ndarray) -> tuple[float, float]:
        """Temperature and height of the maximum, by a parabola through three points."""
        c = self.capacity(p)
        k = min(max(c.argmax(), 1), len(c) - 2)
        low, middle, high = c[k - 1 : k + 2]
        shift = 0.5 * (low - high) / (low - 2 * middle + high)
        return self.grid_K[k] + shift, middle - 0.25 * (low - high) * shift

    def value(self, of) -> Value:
        """A function of the parameters with its standard error, which grows with the root of χ² if the
        fit does not agree with the errors of the energies."""
        best = of(self.best)
        return Value(best, self.scale * math.sqrt(sum((of(p) - best) ** 2 for p in self.others)))


def quotients(rows: Table) -> list[tuple[float, Value]]:
    """Heat capacities [cal/mol/K] as differences of the energies, at the middle temperatures."""
    found, pairs = [], list(rows)
    for low, high in zip(pairs, pairs[1:]):
        change = high.value("total_kcal_per_mol") - low.value("total_kcal_per_mol")
        found.append((0.5 * (low.bath_K + high.bath_K), 1000 / (high.bath_K - low.bath_K) * change))
    return found


def fits(page: Page) -> dict[str, Melting]:
    harmonic = page.table("-harmonic")
    return {nuclei: Melting(rows, harmonic) for nuclei, rows in page.table().by("nuclei").items()}


def text(page: Page) -> dict:
    table, runs, of = page.table(), page.table("-runs"), fits(page)
    by, ladders = table.by("nuclei"), page.table("-ladders").by("nuclei")
    peak_K = {n: fit.value(lambda p, fit=fit: fit.peak(p)[0]) for n, fit in of.items()}
    height = {n: fit.value(lambda p, fit=fit: fit.peak(p)[1]) for n, fit in of.items()}
    capacities = {n: dict(quotients(rows)) for n, rows in by.items()}
    capacity = page.table("-capacities").by("nuclei")
    covariance, histogram = capacity["quantum"], capacity["classical"]
    highest = list(histogram)[histogram[HEAT_CAPACITY].argmax()]

    shift = peak_K["quantum"] - peak_K["classical"]

    def cells(row: Row) -> list:
        own = [row.value(q) for q in QUANTITIES]
        if math.isnan(row.share_S4):
            return own + ["–"] * len(ISOMERS)
        return own + [f"{v.mean:.3f} ± {v.error:.3f}" for v in shares_of(row)]

    def at(nuclei: str, t_K: float):
        return table.one(nuclei=nuclei, bath_K=t_K)

    warm_K, cold_K = list(by["quantum"]["bath_K"])[len(COLD_BEADS)], next(iter(COLD_BEADS))
    return {
        "peak": peak_K, "height": height, "shift": shift,
        "peaks": markdown(
            ["nuclei", "maximum of C (K)", "height (cal/mol/K)", "χ² of the fit", "degrees of freedom"],
            [[NUCLEI[n], peak_K[n], height[n], f"{fit.chi2:.1f}", fit.freedom] for n, fit in of.items()],
        ),
        "averages": markdown(
            ["nuclei", "T (K)", "P", *QUANTITIES.values(), *ISOMERS],
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
        "histogram_K": highest.temperature_K, "histogram": 1000 * getattr(highest, HEAT_CAPACITY),
        "bond": at("quantum", cold_K).value("q_oh_A") - at("classical", cold_K).value("q_oh_A"),
        "warm": warm_K, "at_warm": {n: at(n, warm_K) for n in NUCLEI},
        "hottest": by["quantum"]["bath_K"][-1], "coldest": cold_K,
        "melting": {n: at(n, MELTING_K).value("lindemann") for n in NUCLEI}, "melting_K": MELTING_K,
        "d2d": {n: at(n, warm_K).value("share_D2d") for n in NUCLEI},
        "sigmas": abs(shift.mean) / shift.error,
        "capacity": {n: next(iter(c.values())) for n, c in capacities.items()},
        "capacity_K": next(iter(capacities["quantum"])),
        "bead_error": 100 * np.abs(table["bead_error"]).max(), "lindemann_ps": LINDEMANN_PS,
        "minutes": runs["core_minutes"].sum(), "beads": page.key("path_integral.beads"),
    }  # fmt: skip


def draw(page: Page):
    table, of = page.table(), fits(page)
    figure, (capacity, lindemann, bonds, shares) = plots.panels(4)
    for k, (nuclei, rows) in enumerate(table.by("nuclei").items()):
        middle_K, values = zip(*quotients(rows), strict=True)
        plots.curve(capacity, middle_K, values, NUCLEI[nuclei], colour=k, style="")
        fit = of[nuclei]
        curve = fit.capacity(fit.best)
        error = fit.scale * np.sqrt(sum((fit.capacity(p) - curve) ** 2 for p in fit.others))
        capacity.plot(fit.grid_K, curve, color=plots.COLOURS[k])
        capacity.fill_between(fit.grid_K, curve - error, curve + error, alpha=0.25, color=plots.COLOURS[k])
        for axes, q in ((lindemann, "lindemann"), (bonds, "hydrogen_bonds")):
            plots.curve(axes, rows["bath_K"], [r.value(q) for r in rows], NUCLEI[nuclei], colour=k)
        known = [r for r in rows if not math.isnan(r.share_S4)]
        for j, label in enumerate(ISOMERS):
            plots.curve(
                shares, [r.bath_K for r in known], [shares_of(r)[j] for r in known], f"{label}, {nuclei}",
                colour=j + 2, style="-" if nuclei == "quantum" else "--", marker=nuclei == "quantum",
            )  # fmt: skip
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
    return figure
