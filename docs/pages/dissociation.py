"""Free energy of a molecule that leaves a cluster, from windows, and rates of evaporation."""

import math

import numpy as np
import plots
from page import BOLTZMANN_KCAL_PER_MOL_K, Page, Value, first_value, markdown

TITLE = "A molecule leaves a cluster"
DECK, SLOW = "windows8.toml", True
SET = {"system.replicas": 128, "run.duration_ps": 500, "run.equilibration_ps": 60}

MOLECULES = (5, 6, 7, 8)
WHOLE_A, FREE_A = 6.0, (7.6, 8.8)  # bound below; no forces in this range
SURFACE_A = 8.0  # of the flux
EVAPORATING, FREE_PS = 768, 400  # replicas and length of the runs for rates
MASS_DA = 18.0154
AKMA_NS = 48.88821e-6


def run(page: Page) -> None:
    rows, rates = [], []
    for n in MOLECULES if page.share == 1 else MOLECULES[:1]:
        def profile(result, n=n):
            table = result.table("free_energy")
            names = ("coordinate", "free_energy_kcal_per_mol", "free_energy_kcal_per_mol_err", "samples")
            rows.extend([n, *row] for row in table[list(names)].tolist())

        def evaporation(result, n=n):
            for row in result.table("evaporation_rates"):
                rates.append([n, *(row[k] for k in ("departures", "time_ns", "rate_per_ns", "rate_err"))])

        page.run({"system.molecules": n}, read=profile)
        free = {
            "system.molecules": n, "system.replicas": EVAPORATING, "run.duration_ps": FREE_PS,
            "thermostat.friction_per_ps": 0.5, "observe.evaporation.every": 25,
        }  # fmt: skip
        page.run(free, ["bias", "exchange", "observe.bias"], read=evaporation)
    page.write(["molecules", "coordinate", "free_energy_kcal_per_mol", "free_energy_kcal_per_mol_err", "samples"], rows, digits=6)
    page.write(["molecules", "departures", "time_ns", "rate_per_ns", "rate_err"], rates, "-rates")


def analysed(page: Page, n: int) -> dict:
    """Free energies [kcal/mol] and the rate by transition-state theory [1/ns] of n molecules."""
    table = page.table().where(molecules=n)
    kT = BOLTZMANN_KCAL_PER_MOL_K * page.key("thermostat.temperature_K")
    x, f, error = (table[c] for c in ("coordinate", "free_energy_kcal_per_mol", "free_energy_kcal_per_mol_err"))
    w = f + 2 * kT * np.log(x)  # without the volume element
    free = (x > FREE_A[0]) & (x < FREE_A[1])
    level, uncertain = w[free].mean(), np.nan_to_num(error[free]).mean()
    width = np.diff(x).min()
    whole = x < WHOLE_A
    volume = (4 * math.pi * x**2 * np.exp(-(w - level) / kT))[whole].sum() * width
    # 1 bar of an ideal gas; any of the n molecules may leave.
    standard_A3 = 138.0649 * page.key("thermostat.temperature_K")
    dissociation = Value(kT * math.log(volume / n / standard_A3), uncertain)
    at = np.argmin(np.abs(x - SURFACE_A))
    speed = math.sqrt(kT / (2 * math.pi * MASS_DA * (n - 1) / n)) / AKMA_NS  # Å/ns
    density = math.exp(-(level - 2 * kT * math.log(x[at])) / kT) / (np.exp(-f[x < SURFACE_A] / kT).sum() * width)
    flux = Value(n * speed * density, n * speed * density * uncertain / kT)
    return {"depth": Value(w[free].mean() - w.min(), uncertain), "dissociation": dissociation, "flux": flux}


def text(page: Page) -> dict:
    kT = BOLTZMANN_KCAL_PER_MOL_K * page.key("thermostat.temperature_K")
    rates = page.table("-rates")
    rows = []
    for n in MOLECULES:
        a, measured = analysed(page, n), rates.where(molecules=n)
        time_ns = measured["time_ns"][0] if len(measured) else math.nan
        departures = measured["departures"][0] if len(measured) else math.nan
        rows.append([f"{n} → {n - 1}", a["depth"], a["dissociation"], a["flux"], f"{departures:g}", time_ns * a["flux"]])
    return {
        "table": markdown(
            ["", "depth of the profile (kcal/mol)", "ΔG° at 1 bar (kcal/mol)", "flux at 8 Å (1/ns)", "departures", "expected from the flux"],
            rows,
        ),
        "kT": kT,
        "rows": {n: row for n, row in zip(MOLECULES, rows, strict=True)},
        "temperature": page.key("thermostat.temperature_K"),
        "windows": len(page.key("bias.centres_A")),
        "replicas": page.key("system.replicas"),
        "measured": page.key("run.duration_ps") - page.key("run.equilibration_ps"),
        "free_ps": FREE_PS,
        "departures": ", ".join(row[4] for row in rows),
        "expected": ", ".join(f"{row[5].mean:.2g}" for row in rows),
        "time": rates["time_ns"].mean() if len(rates) else math.nan,
        "evaporating": EVAPORATING,
        "friction": page.key("thermostat.friction_per_ps"),
    }  # fmt: skip


def draw(page: Page):
    figure, (left, right) = plots.panels(2)
    kT = BOLTZMANN_KCAL_PER_MOL_K * page.key("thermostat.temperature_K")
    for n in MOLECULES:
        table = page.table().where(molecules=n)
        x = table["coordinate"]
        w = table["free_energy_kcal_per_mol"] + 2 * kT * np.log(x)
        error = np.nan_to_num(table["free_energy_kcal_per_mol_err"])
        (line,) = left.plot(x, w - w.min(), label=f"{n} → {n - 1}")
        left.fill_between(x, w - w.min() - error, w - w.min() + error, color=line.get_color(), alpha=0.22, linewidth=0)
    left.set(xlabel="separation (Å)", ylabel="F + 2 kT ln ξ (kcal/mol)", ylim=(-0.3, None))
    plots.legend(left)
    rates = page.table("-rates")
    flux = [analysed(page, n)["flux"] for n in MOLECULES]
    plots.curve(right, MOLECULES, flux, "flux at 8 Å from the windows")
    some = [n for n in MOLECULES if len(rates.where(molecules=n)) and rates.where(molecules=n)["departures"][0] > 0]
    plots.curve(right, some, [first_value(rates.where(molecules=n), "rate_per_ns", "rate_err") for n in some],
                "departures without windows")  # fmt: skip
    right.set(xlabel="molecules", ylabel="rate (1/ns)", yscale="log", xticks=MOLECULES)
    plots.legend(right)
    plots.letters((left, right))
    return figure
