"""Free energy by which deuterium prefers hydrogen bonds, from kinetic energies by mass."""

import math
import time

import numpy as np
import plots
from page import BOLTZMANN_KCAL_PER_MOL_K, MEV_PER_KCAL_PER_MOL, Page, Value, average, markdown
from rings import Cube

TITLE = "Sites of light and heavy hydrogen in eight molecules"
DECK, SET, SLOW = "pimd8.toml", {"run.duration_ps": 22}, True

BEADS = {50: 160, 100: 96, 200: 48}  # by temperature
#: Masses of nuclides (AME2020), not those of the elements.
PROTIUM_DA, DEUTERIUM_DA, OXYGEN_16_DA = 1.00782503, 2.01410178, 15.99491462
# The masses of Simpson's rule, whose square roots are equidistant.
MASSES_DA = (PROTIUM_DA, (0.5 * (math.sqrt(PROTIUM_DA) + math.sqrt(DEUTERIUM_DA))) ** 2, DEUTERIUM_DA)
SITES = ("bonded", "free")


def by_site(positions_A, of_atoms):
    """Means of a quantity over hydrogens that donate a bond, and over the others; nan if none."""
    from tarn import _tarn

    bonded = np.zeros((len(positions_A) // 3, 3), dtype=bool)
    for donor, hydrogen, _ in _tarn.hydrogen_bonds(positions_A.ravel()):
        bonded[donor, hydrogen] = True
    hydrogens = of_atoms.reshape(-1, 3)[:, 1:]
    kinds = hydrogens[bonded[:, 1:]], hydrogens[~bonded[:, 1:]]
    return [k.mean() if len(k) else math.nan for k in kinds]


def run(page: Page) -> None:
    import tarn

    @tarn.observer(
        ["kinetic_bonded_h_meV", "kinetic_free_h_meV"], every=20, may_be_unknown=True,
        fields=["positions_A", "atom_kinetic_kcal_per_mol"],
    )  # fmt: skip
    def hydrogens(frame):
        kinetic = zip(frame.positions_A, frame.atom_kinetic_kcal_per_mol, strict=True)
        return MEV_PER_KCAL_PER_MOL * np.array([by_site(x, k) for x, k in kinetic])

    rows, began = [], time.process_time()
    for t_K, beads in list(BEADS.items()) if page.share == 1 else [(200, BEADS[200])]:
        for mass in MASSES_DA:
            own = {
                "system.hydrogen_mass_Da": mass, "system.oxygen_mass_Da": OXYGEN_16_DA, "thermostat.temperature_K": t_K, "path_integral.beads": beads
            }  # fmt: skip
            unset = ["observe.geometry", "observe.cluster", "observe.rdf"]
            result = page.run(own, unset, observers=[hydrogens])
            measured = [average(result, f"kinetic_{site}_h_meV") for site in SITES]
            cube = Cube(mass, OXYGEN_16_DA)
            error = cube.largest_error(t_K, page.load(own))
            harmonic = by_site(cube.positions_A, cube.kinetic_meV(t_K))
            minutes = (time.process_time() - began) / 60
            rows.append([t_K, beads, mass, measured, harmonic, error, minutes])
            began = time.process_time()
    page.write(
        ["bath_K", "beads", "hydrogen_mass_Da"]
        + [f"kinetic_{site}_h_meV{end}" for site in SITES for end in ("", "_err")]
        + [*(f"harmonic_{site}_h_meV" for site in SITES), "bead_error", "core_minutes"],
        rows,
    )


def difference(row) -> Value:
    return row.value("kinetic_bonded_h_meV") - row.value("kinetic_free_h_meV")


def harmonic_difference(row) -> Value:
    return Value(row.harmonic_bonded_h_meV - row.harmonic_free_h_meV, 0.0)


def preference(rows, difference_of) -> Value:
    """Integral of (K of bonded - K of free)/m dm from protium to deuterium, in kT, by Simpson's rule
    in the square root of the mass."""
    width = math.sqrt(DEUTERIUM_DA) - math.sqrt(PROTIUM_DA)
    total = Value(0.0, 0.0)
    for weight, row in zip((1 / 6, 4 / 6, 1 / 6), rows, strict=True):
        kT_meV = MEV_PER_KCAL_PER_MOL * BOLTZMANN_KCAL_PER_MOL_K * row.bath_K
        total += weight * width * 2 / math.sqrt(row.hydrogen_mass_Da) / kT_meV * difference_of(row)
    return total


def text(page: Page) -> dict:
    table = page.table()
    dF = {int(t): preference(rows, difference) for t, rows in table.by("bath_K").items()}
    expected = {int(t): preference(rows, harmonic_difference) for t, rows in table.by("bath_K").items()}
    energy = {t: BOLTZMANN_KCAL_PER_MOL_K * t * v for t, v in dF.items()}
    cold = next(iter(table))
    return {
        "dF": dF,
        "harmonic": expected,
        "energy": energy,
        "lowered": {t: Value(100, 0) - (100 / expected[t].mean) * dF[t] for t in dF},
        "excess": f"{100 * (cold.kinetic_bonded_h_meV / cold.kinetic_free_h_meV - 1):.0f} %",
        "preferences": markdown(
            ["T (K)", "ΔF (kT)", "ΔF (kcal/mol)", "harmonic ΔF (kT)"],
            [[t, dF[t], energy[t], f"{expected[t]:.2f}"] for t in dF],
        ),
        "energies": markdown(
            ["T (K)", "mass of hydrogen (Da)", "K of bonded H (meV)", "K of free H (meV)",
             "difference (meV)", "harmonic difference (meV)"],
            [[f"{r.bath_K:g}", f"{r.hydrogen_mass_Da:.3f}", r.value("kinetic_bonded_h_meV"),
              r.value("kinetic_free_h_meV"), difference(r), f"{harmonic_difference(r):.2f}"]
             for r in table],
        ),
        "replicas": page.key("system.replicas"),
        "equilibration": page.key("run.equilibration_ps"),
        "measured": page.key("run.duration_ps") - page.key("run.equilibration_ps"),
        "protium": PROTIUM_DA, "deuterium": DEUTERIUM_DA,
        "beads": ", ".join(f"{beads} at {t} K" for t, beads in BEADS.items()),
        "bead_error": 100 * np.abs(table["bead_error"]).max(), "minutes": table["core_minutes"].sum(),
    }  # fmt: skip


def draw(page: Page):
    table = page.table()
    figure, (kinetic, preferences) = plots.panels(2)
    for k, (t, rows) in enumerate(table.by("bath_K").items()):
        for site, style in zip(SITES, ("-", "--"), strict=True):
            values = [row.value(f"kinetic_{site}_h_meV") for row in rows]
            plots.curve(kinetic, rows["hydrogen_mass_Da"], values, f"{t:g} K, {site}", colour=k, style=style)
    kinetic.set(xlabel="mass of hydrogen (Da)", ylabel="K of hydrogen (meV)")
    temperatures = list(table.by("bath_K"))
    for of, label, style in ((difference, "ring polymers", "-"), (harmonic_difference, "harmonic", "--")):
        values = [preference(rows, of) for rows in table.by("bath_K").values()]
        plots.curve(preferences, temperatures, values, label, style=style)
    preferences.set(xlabel="temperature (K)", ylabel="ΔF (kT)")
    for axes in (kinetic, preferences):
        plots.legend(axes)
    plots.letters((kinetic, preferences))
    return figure
