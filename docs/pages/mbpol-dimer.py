"""The dimer of light and of heavy water with quantum nuclei and MB-pol."""

import numpy as np
import plots
from page import BOLTZMANN_KCAL_PER_MOL_K, BOLTZMANN_PER_CM_K, Page, Value, average, markdown

TITLE = "The quantum dimer with MB-pol"
DECK, SLOW = "pimd8.toml", True
SET = {
    "system.model": "mbpol", "system.replicas": 32, "thermostat.temperature_K": 100, "thermostat.friction_per_ps": 4,
    "confinement.radius_A": 5, "run.precision": "double", "run.duration_ps": 22, "run.equilibration_ps": 2,
}  # fmt: skip
UNSET = ["system.file", "observe.rdf", "observe.cluster", "observe.geometry"]

MASSES_DA = {"H": 1.008, "D": 2.014}
BEADS = (32, 64, 96)
KCAL_PER_CM = 0.00285914  # a wavenumber in kcal/mol
#: Rocher-Casterline et al., J. Chem. Phys. 134, 211101 (2011); Ch'ng et al., J. Am. Chem. Soc. 134, 15430 (2012).
EXPERIMENT_PER_CM = {"H": Value(1105, 10), "D": Value(1244, 10)}


def run(page: Page) -> None:
    import tarn

    @tarn.observer("oo_A", every=20, fields="beads_A")
    def oo(frame):
        return np.linalg.norm(frame.beads_A[:, :, 0] - frame.beads_A[:, :, 3], axis=-1).mean(axis=1)

    rows = []
    for isotope, mass in MASSES_DA.items():
        for beads in BEADS if page.share == 1 else BEADS[:1]:
            own = {"system.hydrogen_mass_Da": mass, "path_integral.beads": beads}
            energies = {}
            for molecules in (1, 2):
                result = page.run(own | {"system.molecules": molecules}, UNSET,
                                  observers=[oo] if molecules == 2 else [])  # fmt: skip
                energies[molecules] = average(result, "energy_virial_kcal_per_mol")
            kinetic, distance = average(result, "kinetic_h_meV"), average(result, "oo_A")
            rows.append([isotope, beads, kinetic, distance, energies[1], energies[2]])
    names = ["kinetic_h_meV", "oo_A", "monomer_kcal_per_mol", "dimer_kcal_per_mol"]
    page.write(["isotope", "beads", *(f"{n}{end}" for n in names for end in ("", "_err"))], rows)
    harmonic = []
    for isotope, mass in MASSES_DA.items():
        for molecules in (1, 2):
            start = tarn.random_cluster(molecules, model="mbpol")
            minimum = tarn.minimise(start, model="mbpol")
            modes = tarn.normal_modes(minimum.positions_A, model="mbpol", masses={"H": mass})
            oo_A = np.linalg.norm(minimum.positions_A[0] - minimum.positions_A[3]) if molecules == 2 else 0.0
            wavenumbers = modes.wavenumbers_per_cm[modes.wavenumbers_per_cm > 0]
            for wavenumber in wavenumbers:
                harmonic.append([isotope, molecules, modes.energy_kcal_per_mol, oo_A, wavenumber])
    page.write(["isotope", "molecules", "energy_kcal_per_mol", "oo_A", "wavenumber_per_cm"], harmonic, "-modes")


def energy_kcal_per_mol(modes, t_K: float) -> float:
    """Harmonic energy with classical translation and rotation, 3 kT; t_K = 0: the zero-point energy."""
    nu = KCAL_PER_CM * modes["wavenumber_per_cm"]
    if t_K == 0:
        return modes["energy_kcal_per_mol"][0] + 0.5 * nu.sum()
    kT = BOLTZMANN_KCAL_PER_MOL_K * t_K
    return modes["energy_kcal_per_mol"][0] + 3 * kT + (nu * (0.5 + 1 / np.expm1(nu / kT))).sum()


def text(page: Page) -> dict:
    table, modes = page.table(), page.table("-modes")
    t_K = page.key("thermostat.temperature_K")
    bound, from_harmonic, estimate = {}, {}, {}
    for isotope in MASSES_DA:
        row = table.one(isotope=isotope, beads=BEADS[-1])
        bound[isotope] = 2 * row.value("monomer_kcal_per_mol") - row.value("dimer_kcal_per_mol")
        one, two = (modes.where(isotope=isotope, molecules=n) for n in (1, 2))
        at = {t: 2 * energy_kcal_per_mol(one, t) - energy_kcal_per_mol(two, t) for t in (0, t_K)}
        from_harmonic[isotope] = at[0]
        estimate[isotope] = bound[isotope] + Value(at[0] - at[t_K], 0.0)
    minimum = modes.where(molecules=2)
    return {
        "beads": markdown(
            ["isotope", "beads", "K of H or D (meV)", "O–O distance (Å)", "energy of the dimer (kcal/mol)"],
            [[r.isotope, f"{r.beads:g}", r.value("kinetic_h_meV"), r.value("oo_A"), r.value("dimer_kcal_per_mol")]
             for r in table],
        ),
        "energies": markdown(
            ["", f"ΔE({t_K:g} K), ring polymers", "D₀, ring polymers", "D₀, harmonic", "D₀, experiment"],
            [[f"({i}₂O)₂", bound[i], estimate[i], f"{from_harmonic[i]:.2f}", KCAL_PER_CM * EXPERIMENT_PER_CM[i]]
             for i in MASSES_DA],
        ),
        "well": -minimum["energy_kcal_per_mol"][0],
        "minimum_oo": minimum["oo_A"][0],
        "oo": {i: table.one(isotope=i, beads=BEADS[-1]).value("oo_A") for i in MASSES_DA},
        "kinetic": {i: table.one(isotope=i, beads=BEADS[-1]).value("kinetic_h_meV") for i in MASSES_DA},
        "d0": estimate,
        "temperature": t_K,
        "replicas": page.key("system.replicas"),
        "equilibration": page.key("run.equilibration_ps"),
        "measured": page.key("run.duration_ps") - page.key("run.equilibration_ps"),
    }  # fmt: skip


def draw(page: Page):
    table = page.table()
    figure, panels = plots.panels(2)
    labels = {"kinetic_h_meV": "K of H or D (meV)", "oo_A": "O–O distance (Å)"}
    for axes, (quantity, label) in zip(panels, labels.items(), strict=True):
        for isotope, rows in table.by("isotope").items():
            plots.curve(axes, rows["beads"], [r.value(quantity) for r in rows], isotope)
        axes.set(xlabel="beads", ylabel=label, xticks=BEADS)
        plots.legend(axes)
    plots.letters(panels)
    return figure
