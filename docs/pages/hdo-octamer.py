"""Where the deuterium of one HDO is in the octamer: free energies by scaled ring polymers."""

import math
import time

import numpy as np
import plots
from page import BOLTZMANN_KCAL_PER_MOL_K, BOLTZMANN_PER_CM_K, ROOT, Page, Value, average, markdown

TITLE = "One HDO among seven H2O"
DECK, SLOW = "pimd8.toml", True
SET = {"system.replicas": 16, "run.duration_ps": 64, "run.equilibration_ps": 4}

BEADS = {50: 128, 100: 64}  # by temperature
SITES = ("free", "partner", "double")
NAMES = {
    "free": "free (dangling)",
    "partner": "bonded, of a molecule with a free hydrogen",
    "double": "bonded, of a molecule that donates two bonds",
}
LABELS = ("free", "bonded,\nbeside a free H", "bonded,\nof two bonds")
HYDROGENS = {"free": 4, "partner": 4, "double": 8}  # in the cube
PROTIUM_DA, DEUTERIUM_DA, OXYGEN_16_DA = 1.00782503, 2.01410178, 15.99491462
# Both ensembles are taken to this mass, whose square root is the mean of theirs.
MIDDLE_DA = (0.5 * (math.sqrt(PROTIUM_DA) + math.sqrt(DEUTERIUM_DA))) ** 2


def sites_of(positions_A) -> list[str]:
    """The site of each hydrogen, two for each molecule."""
    from tarn import _tarn

    bonded = np.zeros((len(positions_A) // 3, 3), dtype=bool)
    for donor, hydrogen, _ in _tarn.hydrogen_bonds(positions_A.ravel()):
        bonded[donor, hydrogen] = True
    kinds = []
    for one, other in bonded[:, 1:]:
        kinds += ["free" if not h else "double" if partner else "partner" for h, partner in ((one, other), (other, one))]
    return kinds


def scaled(beads_A, atom, factor):
    """Ring polymers whose atom is scaled about its centroid, as a change of its mass does."""
    moved = beads_A.copy()
    centre = moved[:, atom].mean(axis=0)
    moved[:, atom] = centre + factor * (moved[:, atom] - centre)
    return moved


def weights_of(t_K, mass_Da, atoms):
    """Observer of exp(-change of the energy/kT) for the mass MIDDLE_DA in place of `mass_Da`, by site."""
    import tarn

    kT = BOLTZMANN_KCAL_PER_MOL_K * t_K
    factor = math.sqrt(mass_Da / MIDDLE_DA)

    @tarn.observer([f"weight_{s}" for s in SITES], every=80, may_be_unknown=True, fields=["beads_A"])
    def weights(frame):
        rows = []
        for beads_A in frame.beads_A:
            kinds = sites_of(beads_A.mean(axis=0))
            images = np.concatenate([beads_A, *(scaled(beads_A, atom, factor) for atom in atoms)])
            energy = tarn.energy_and_forces(images, model="qtip4pf")[0].reshape(1 + len(atoms), -1).mean(axis=1)
            found = {s: [] for s in SITES}
            for atom, change in zip(atoms, energy[1:] - energy[0], strict=True):
                found[kinds[2 * (atom // 3) + atom % 3 - 1]].append(math.exp(-change / kT))
            rows.append([np.mean(found[s]) if found[s] else math.nan for s in SITES])
        return np.array(rows)

    return weights


def harmonic(positions_A, site_of) -> dict:
    """Free energies [kT] of the harmonic cube with one HDO, by temperature and site, and the standard
    deviation over its hydrogens of a site."""
    import tarn

    result = {(t, s): [] for t in BEADS for s in SITES}
    molecules = len(positions_A) // 3
    for k, site in enumerate(site_of):
        x = positions_A.copy()
        if k % 2 == 0:  # the deuterium of HDO is the second hydrogen
            first = 3 * (k // 2)
            x[[first + 1, first + 2]] = x[[first + 2, first + 1]]
        names = ["HDO" if m == k // 2 else "H2O" for m in range(molecules)]
        modes = tarn.normal_modes(x, model="qtip4pf", isotopes=names)
        masses = np.tile([OXYGEN_16_DA, PROTIUM_DA, PROTIUM_DA], molecules)
        masses[3 * (k // 2) + 2] = DEUTERIUM_DA
        y = x - (masses[:, None] * x).sum(axis=0) / masses.sum()
        inertia = np.eye(3) * (masses * (y**2).sum(axis=1)).sum() - (masses[:, None] * y).T @ y
        for t in BEADS:
            u = modes.wavenumbers_per_cm[-(9 * molecules - 6) :] / (BOLTZMANN_PER_CM_K * t)
            vibrations = np.log(2 * np.sinh(u / 2)).sum()
            result[t, site].append(vibrations - 0.5 * math.log(np.linalg.det(inertia)))
    return result


def run(page: Page) -> None:
    import tarn

    cube = tarn.minimise(
        tarn.read_structure(ROOT / "inputs" / "structures" / "qtip4pf-8.xyz").positions_A, model="qtip4pf"
    ).positions_A  # fmt: skip
    site_of = sites_of(cube)
    expected = harmonic(cube, site_of)
    unset = [f"observe.{s}" for s in ("geometry", "cluster", "rdf", "path_integral")]
    rows = []
    for t_K, beads in list(BEADS.items()) if page.share == 1 else [(100, 8)]:
        own = {"thermostat.temperature_K": t_K, "path_integral.beads": beads}
        began = time.process_time()
        every = [3 * m + h for m in range(len(site_of) // 2) for h in (1, 2)]
        light = page.run(
            {**own, "system.isotopes": ["H2O"] * (len(site_of) // 2)}, unset, observers=[weights_of(t_K, PROTIUM_DA, every)]
        )  # fmt: skip
        for site in SITES:
            k = site_of.index(site)
            start = cube.reshape(-1, 3, 3).copy()
            if k % 2 == 0:
                start[k // 2, [1, 2]] = start[k // 2, [2, 1]]
            start = np.roll(start, -(k // 2), axis=0).reshape(-1, 3)
            with page.scratch() as folder:
                path = f"{folder}/start.xyz"
                lines = [f"{'OHH'[i % 3]} {x:.12f} {y:.12f} {z:.12f}" for i, (x, y, z) in enumerate(start)]
                with open(path, "w", encoding="utf-8") as file:
                    file.write(f"{len(start)}\n\n" + "\n".join(lines) + "\n")
                heavy = page.run(
                    {**own, "system.isotopes": ["HDO"] + ["H2O"] * (len(site_of) // 2 - 1), "system.file": path},
                    unset, observers=[weights_of(t_K, DEUTERIUM_DA, [2])],
                )  # fmt: skip
            values = [average(r, f"weight_{site}") for r in (light, heavy)]
            of_site = np.array(expected[t_K, site])
            rows.append([t_K, beads, site, values, of_site.mean(), of_site.std(), (time.process_time() - began) / 60])
            began = time.process_time()
    page.write(
        ["bath_K", "beads", "site", "weight_light", "weight_light_err", "weight_heavy", "weight_heavy_err",
         "harmonic_kT", "harmonic_spread_kT", "core_minutes"],
        rows,
    )  # fmt: skip


def logarithm(v: Value) -> Value:
    return Value(math.log(v.mean), v.error / v.mean)


def free_energies(rows) -> dict[str, Value]:
    """Of a deuterium in place of a protium at each site [kT], without what does not depend on the site."""
    return {r.site: logarithm(r.value("weight_heavy")) - logarithm(r.value("weight_light")) for r in rows}


def harmonic_energies(rows) -> dict[str, Value]:
    return {r.site: Value(r.harmonic_kT, 0.0) for r in rows}


def from_free(f: dict[str, Value]) -> dict[str, Value]:
    return {s: f[s] - f["free"] for s in SITES}


def populations(f: dict[str, Value]) -> dict[str, Value]:
    """Of the deuterium, from free energies [kT] with independent errors."""
    weight = {s: HYDROGENS[s] * math.exp(f["free"].mean - f[s].mean) for s in SITES}
    p = {s: weight[s] / sum(weight.values()) for s in SITES}
    error = {s: math.hypot(*(p[s] * ((s == o) - p[o]) * f[o].error for o in SITES)) for s in SITES}
    return {s: Value(p[s], error[s]) for s in SITES}


def text(page: Page) -> dict:
    table = page.table()
    by_t = {int(t): rows for t, rows in table.by("bath_K").items()}
    p = {t: populations(free_energies(rows)) for t, rows in by_t.items()}
    expected = {t: populations(harmonic_energies(rows)) for t, rows in by_t.items()}
    f = {t: from_free(free_energies(rows)) for t, rows in by_t.items()}
    harmonic_f = {t: from_free(harmonic_energies(rows)) for t, rows in by_t.items()}
    kT = {t: BOLTZMANN_KCAL_PER_MOL_K * t for t in by_t}
    percent = {t: {s: 100 * p[t][s] for s in SITES} for t in by_t}
    return {
        "percent": percent,
        "free_harmonic": {t: 100 * expected[t]["free"].mean for t in by_t},
        "energy": {t: {s: (-kT[t]) * f[t][s] for s in SITES} for t in by_t},
        "bonded": {t: (-1 / 3) * f[t]["partner"] + (-2 / 3) * f[t]["double"] for t in by_t},
        "table": markdown(
            ["T (K)", "site of D", "hydrogens", "F − F(free) (kT)", "harmonic", "F − F(free) (kcal/mol)", "population (%)", "harmonic (%)"],
            [[t, NAMES[s], HYDROGENS[s], f[t][s] if s != "free" else "0", f"{harmonic_f[t][s]:.2f}",
              kT[t] * f[t][s] if s != "free" else "0", percent[t][s], f"{100 * expected[t][s].mean:.1f}"]
             for t in by_t for s in SITES],
        ),
        "even": {s: f"{100 * HYDROGENS[s] / sum(HYDROGENS.values()):.0f}" for s in SITES},
        "replicas": page.key("system.replicas"),
        "measured": page.key("run.duration_ps") - page.key("run.equilibration_ps"),
        "equilibration": page.key("run.equilibration_ps"),
        "beads": ", ".join(f"{int(rows['beads'][0])} at {t} K" for t, rows in by_t.items()),
        "middle": f"{MIDDLE_DA:.3f}", "protium": PROTIUM_DA, "deuterium": DEUTERIUM_DA,
        "spread": table["harmonic_spread_kT"].max(), "minutes": table["core_minutes"].sum(),
    }  # fmt: skip


def draw(page: Page):
    figure, panels = plots.panels(2)
    for axes, (t, rows) in zip(panels, page.table().by("bath_K").items(), strict=False):
        measured, expected = populations(free_energies(rows)), populations(harmonic_energies(rows))
        x = np.arange(len(SITES))
        for k, (of, label) in enumerate(((measured, "ring polymers"), (expected, "harmonic"))):
            height = [100 * of[s].mean for s in SITES]
            errors = [100 * of[s].error for s in SITES]
            axes.bar(x + 0.27 * (k - 1), height, 0.27, yerr=errors if k == 0 else None, label=label, capsize=2)
        axes.bar(x + 0.27, [100 * HYDROGENS[s] / 16 for s in SITES], 0.27, label="no preference", color="0.75")
        axes.set(title=f"{t:g} K", ylabel="population of D (%)", xticks=x, xticklabels=LABELS)
        plots.legend(axes)
    plots.letters(panels)
    return figure
