"""Evaporation rates of seven molecules by temperature, friction and scheme."""

import math

import numpy as np
import plots
from page import BOLTZMANN_KCAL_PER_MOL_K, NOT_MET, Page, Table, Value, markdown, weighted_mean

TITLE = "Evaporation rates of seven molecules"
DECK, SLOW = "evaporation7.toml", True

USUAL = ("settle", 2, 0.5)  # scheme, step (fs) and friction (1/ps)
FRICTIONS = [("settle", 2, friction) for friction in (0.02, 0.1, 0.5, 2, 10)]
SOFT = {omega: (f"zss-stiff:omega={omega}", 2, 0.5) for omega in (500, 100, 20)}
LONG = ("settle", 4, 0.5)
CASES = [USUAL, *(case for case in FRICTIONS if case != USUAL), LONG, *SOFT.values()]
WALL_KCAL_PER_MOL_A2 = 5
WALL_A, EQUILIBRATION_PS, FREE_PS = 6, 100, 2  # events count after the last time, without the wall
COLD_K, COLD_EQUILIBRATION_PS = [220, 235], (100, 1000)
CASE = ["scheme", "timestep_fs", "friction_per_ps"]
COLUMNS = [
    "bath_K", "departures", "of_one_molecule", "returns", "time_ns", "rate_per_ns", "rate_err",
    "relative_kinetic_kcal_per_mol", "potential_leaving_kcal_per_mol", "potential_leaving_err",
    "potential_whole_kcal_per_mol",
]  # fmt: skip


def run(page: Page) -> None:
    from tarn import _tarn

    rows, fits = [], []

    def measure(result, case):
        table = result.table("evaporation_rates")
        rows.extend([*case, *row] for row in table[COLUMNS].tolist())
        beta = 1 / (BOLTZMANN_KCAL_PER_MOL_K * table["bath_K"])
        fit = _tarn.arrhenius_fit(beta, table["departures"], table["time_ns"])
        fits.append([*case, *(fit or [math.nan] * 3)])

    def evaporate(start):
        for case in CASES:
            scheme, _, omega = case[0].partition(":omega=")
            changes = {
                "system.state": str(start.out), "system.seed": 2, "run.equilibration_ps": FREE_PS,
                "integrator.scheme": scheme, "integrator.timestep_fs": case[1],
                "thermostat.friction_per_ps": case[2],
            } | ({"integrator.omega": int(omega)} if omega else {})  # fmt: skip
            page.run(changes, read=lambda result, case=case: measure(result, case))

    walled = {
        "confinement.radius_A": WALL_A, "confinement.stiffness_kcal_per_mol_A2": WALL_KCAL_PER_MOL_A2,
        "run.duration_ps": EQUILIBRATION_PS, "run.equilibration_ps": 0,
    }  # fmt: skip
    page.run(walled, ["observe.evaporation"], read=evaporate)
    page.write([*CASE, *COLUMNS], rows)
    page.write([*CASE, "activation", "activation_err", "deviance"], fits, "-fits")


    cold(page)


def cold(page: Page) -> None:
    """Rates at the coldest temperatures after two lengths of equilibration, with more events."""
    rows = []
    for length_ps in COLD_EQUILIBRATION_PS:
        usual = {
            "system.replicas": 1024, "thermostat.temperatures_K": COLD_K, "integrator.timestep_fs": 4,
        }  # fmt: skip
        walled = usual | {
            "confinement.radius_A": WALL_A, "confinement.stiffness_kcal_per_mol_A2": WALL_KCAL_PER_MOL_A2,
            "run.duration_ps": length_ps, "run.equilibration_ps": 0,
        }  # fmt: skip

        def free(start, length_ps=length_ps, usual=usual):
            changes = usual | {
                "system.state": str(start.out), "system.seed": 2, "run.equilibration_ps": FREE_PS,
                "run.duration_ps": 1000,
            }  # fmt: skip

            def read(result):
                table = result.table("evaporation_rates")
                rows.extend([length_ps, *row] for row in table[["bath_K", "departures", "time_ns"]].tolist())

            page.run(changes, read=read)

        page.run(walled, ["observe.evaporation"], read=free)
    page.write(["equilibration_ps", "bath_K", "departures", "time_ns"], rows, "-cold")


def rates(rows: Table, returning: bool = True) -> list[Value]:
    """Rates of departures, perhaps only of those without return. Without events, the error is the
    rate of one."""
    events = rows["departures"] - (0 if returning else rows["returns"])
    errors = np.sqrt(np.maximum(events, 1))
    return [Value(*pair) for pair in np.array([events, errors]).T / rows["time_ns"][:, None]]


def arrhenius(rows: Table) -> tuple[Value, float]:
    """Activation energy by equation (73), and the rate at 1/kT = 0 (1/ns)."""
    beta = 1 / (BOLTZMANN_KCAL_PER_MOL_K * rows["bath_K"])
    events, time_ns, activation = rows["departures"], rows["time_ns"], 0.0
    if not events.any():
        return NOT_MET, 0.0
    for _ in range(100):  # Newton's method; the likelihood is concave
        expected = time_ns * np.exp(-activation * (beta - beta.mean()))
        expected *= events.sum() / expected.sum()
        mean = np.average(beta, weights=expected)
        curvature = expected @ (beta - mean) ** 2
        activation += (mean - np.average(beta, weights=events)) * events.sum() / curvature
    prefactor = events.sum() / (time_ns @ np.exp(-activation * beta))
    return Value(activation, curvature**-0.5), prefactor


def pooled_ratio(rows: Table, usual: Table) -> Value:
    """Departures, divided by the number that the rates of the usual case would have given."""
    events, of_usual = rows["departures"].sum(), usual["departures"].sum()
    ratio = events / (rows["time_ns"] * usual["departures"] / usual["time_ns"]).sum()
    return Value(ratio, ratio * math.sqrt(1 / max(events, 1) + 1 / max(of_usual, 1)))


def cases(table: Table) -> dict[tuple, Table]:
    """The rows of each case; frictions in ascending order come first."""
    ordered = [*FRICTIONS, LONG, *SOFT.values()]
    return {case: table.where(**dict(zip(CASE, case, strict=True))) for case in ordered}


def label(scheme: str) -> str:
    return "SETTLE" if scheme == "settle" else scheme.replace("zss-stiff:omega=", "Z&Ss, ω = ")


def text(page: Page) -> dict:
    results = cases(page.table())
    fits = {case: next(iter(rows)) for case, rows in cases(page.table("-fits")).items()}
    usual = results[USUAL]
    ratios = {case: pooled_ratio(rows, usual) for case, rows in results.items()}
    kT = BOLTZMANN_KCAL_PER_MOL_K * usual["bath_K"]
    returned, kinetic_kT = {}, {}
    for case in FRICTIONS:
        rows = results[case]
        events = rows["departures"]
        returned[case[2]] = f"{Value(100 * rows['returns'].sum() / events.sum()):.0f} %"
        own = np.nan_to_num(rows["relative_kinetic_kcal_per_mol"]) / kT
        kinetic_kT[case[2]] = Value((own * events).sum() / events.sum())
    leaving = [Value(r.potential_leaving_kcal_per_mol, r.potential_leaving_err) for r in usual]
    rises = 0.5 * kT - usual["potential_whole_kcal_per_mol"]
    expected = [v + Value(rise, 0.0) for v, rise in zip(leaving, rises, strict=True)]
    met = [v for v in expected if v.error > 0]
    weights = [v.error**-2 for v in met]
    temperatures = [f"{t_K:g} K" for t_K in usual["bath_K"]]
    half = np.sort(usual["bath_K"])[len(usual) // 2]
    halves = [[arrhenius(rows.chosen((rows["bath_K"] < half) == cold))[0] for cold in (True, False)]
              for rows in results.values()]  # fmt: skip
    falls = [cold - hot for cold, hot in halves]
    coldest = [int(rows["departures"][0]) for rows in results.values()]
    return {
        "deviance": Value(sum(fit.deviance for fit in fits.values())),
        "freedom": len(fits) * (len(usual) - 2),
        "fall": weighted_mean(falls)[0], "least": min(coldest), "most": max(coldest),
        "rates": markdown(
            ["scheme", "step (fs)", "friction (1/ps)", *temperatures, "activation energy (kcal/mol)",
             f"χ² ({len(usual) - 2} degrees of freedom)", "pooled ratio"],
            [[label(case[0]), *case[1:], *rates(rows), fits[case].value("activation"),
              f"{Value(fits[case].deviance):.0f}", 1 if case == USUAL else ratios[case]]
             for case, rows in results.items()],
        ),
        "escapes": markdown(
            ["friction (1/ps)", *temperatures, "returned", "kinetic energy (kT)"],
            [[f, *rates(results[USUAL[:2] + (f,)], False), share, f"{kinetic_kT[f]:.2f}"]
             for f, share in returned.items()],
        ),
        "energies": markdown(
            ["(kcal/mol)", *temperatures],
            [["⟨V₀⟩ of intact clusters", *(f"{r.potential_whole_kcal_per_mol:.2f}" for r in usual)],
             ["⟨V₀⟩ with the molecule at 8 Å", *leaving],
             ["activation energy by equation (73)", *expected],
             ["evaporation events of single molecules",
              *(f"{100 * r.of_one_molecule / r.departures:.0f} %" for r in usual)]],
        ),
        "coldest_K": usual["bath_K"][0], "hottest_K": usual["bath_K"][-1],
        "activation": fits[USUAL].value("activation"), "returned": returned,
        "expected": Value(np.average([v.mean for v in met], weights=weights), sum(weights) ** -0.5) if met else NOT_MET,
        "long_step": ratios[LONG], "soft": {omega: ratios[case] for omega, case in SOFT.items()},
        "wall": WALL_A, "stiffness": WALL_KCAL_PER_MOL_A2, "step": USUAL[1],
        "cold": markdown(
            ["equilibration (ps)", *(f"rate at {t_K:g} K (1/ns)" for t_K in COLD_K)],
            [[f"{length_ps:g}", *(Value(n / t, math.sqrt(n) / t) for n, t in zip(
                rows["departures"], rows["time_ns"], strict=True))]
             for length_ps, rows in page.table("-cold").by("equilibration_ps").items()],
        ),
        "equilibration": EQUILIBRATION_PS, "free": FREE_PS,
    }  # fmt: skip


def curve(axes, x, values: list[Value], label: str = "", **options) -> None:
    """Rates that are not 0, with the standard errors of their logarithms, on a logarithmic axis."""
    points = [(at, v.mean, v.error) for at, v in zip(x, values, strict=True) if v.mean > 0]
    x, y, error = np.reshape(points, (-1, 3)).T
    factor = np.exp(error / y)
    plots.curve(axes, x, y, label, error=[y - y / factor, y * factor - y], **options)


def draw(page: Page):
    results = cases(page.table())
    figure, (by_temperature, by_friction) = plots.panels(2)
    frictions = [case[2] for case in FRICTIONS]
    for case in FRICTIONS:
        rows, k = results[case], frictions.index(case[2])
        curve(by_temperature, 1000 / rows["bath_K"], rates(rows), f"{case[2]:g}/ps", colour=k, style="")
        activation, prefactor = arrhenius(rows)
        kT = BOLTZMANN_KCAL_PER_MOL_K * rows["bath_K"]
        by_temperature.plot(1000 / rows["bath_K"], prefactor * np.exp(-activation.mean / kT),
                            color=plots.COLOURS[k])  # fmt: skip
    for style, name, returning in (("-", "all events", True), ("--", "without return", False)):
        by_friction.plot([], [], style, color="black", label=name)
        for k in range(0, len(results[USUAL]), 2):
            name = f"{results[USUAL]['bath_K'][k]:g} K" if returning else ""
            values = [rates(results[case], returning)[k] for case in FRICTIONS]
            curve(by_friction, frictions, values, name, colour=k // 2, style=style)
    by_temperature.set(xlabel="1000 K / T", ylabel="rate (1/ns)", yscale="log")
    by_friction.set(xlabel="friction (1/ps)", ylabel="rate (1/ns)", xscale="log", yscale="log")
    plots.legend(by_temperature, "friction")
    plots.legend(by_friction)
    plots.letters((by_temperature, by_friction))
    return figure
