"""The lowest minima of small rigid clusters, by water model."""

import numpy as np
import plots
from page import Page, markdown

TITLE = "The lowest minima of two to seven rigid molecules, by water model"
SLOW = True

MOLECULES = range(2, 8)
SEED = 1
DRAWN = ("tip3p", "tip4p")  # a three-site and a four-site model
LABELS = {
    "tip3p": "TIP3P", "spc": "SPC", "spce": "SPC/E", "bf": "BF", "tips2": "TIPS2", "tip4p": "TIP4P",
    "tip4pew": "TIP4P-Ew", "tip4p2005": "TIP4P/2005", "tip4pice": "TIP4P/Ice", "opc": "OPC", "opc3": "OPC3",
}  # fmt: skip
FOUND = ["energy_kcal_per_mol", "hydrogen_bonds", "radius_of_gyration_A", "searches", "searches_that_hit"]


def run(page: Page) -> None:
    import tarn

    rows, structures, labels = [], [], []
    for model in LABELS:
        for molecules in MOLECULES if page.share == 1 else MOLECULES[:3]:
            found = tarn._tarn.lowest_cluster(model, molecules, SEED, page.threads)
            modes = tarn.normal_modes(found["positions_A"], model=model)
            wavenumbers = modes.wavenumbers_per_cm
            lowest = wavenumbers[wavenumbers != 0][0]
            rows.append([model, molecules, *(found[key] for key in FOUND), lowest,
                         modes.zero_point_energy_kcal_per_mol])  # fmt: skip
            if model in DRAWN:
                structures.append(found["positions_A"].ravel())
                labels.append(f"{LABELS[model]}, N = {molecules}: {found['energy_kcal_per_mol']:.3f} kcal/mol")
    columns = ["lowest_wavenumber_per_cm", "zero_point_energy_kcal_per_mol"]
    page.write(["model", "molecules", *FOUND, *columns], rows)
    frames = [({"caption": label}, positions) for label, positions in zip(labels, structures, strict=True)]
    plots.save(plots.structures(frames, len(structures) // len(DRAWN)), page.path("-structures.svg"))


def text(page: Page) -> dict:
    table = page.table()
    share = -100 * table["zero_point_energy_kcal_per_mol"] / table["energy_kcal_per_mol"]
    softest = list(table)[np.argmin(table["lowest_wavenumber_per_cm"])]
    imaginary = "No" if softest.lowest_wavenumber_per_cm > 0 else "Some"
    return {
        "energies": markdown(
            ["N", *LABELS.values()],
            [[f"{n:g}", *(f"{r.energy_kcal_per_mol:.6f} ({r.hydrogen_bonds:g}, {r.searches_that_hit:g})"
                          for r in rows)] for n, rows in table.by("molecules").items()],
        ),
        "searches": f"{table['searches'].max():g}",
        "imaginary": f"{imaginary} structure has an imaginary mode",
        "softest": softest, "softest_model": LABELS[softest.model],
        "least": share.min(), "most": share.max(),
    }  # fmt: skip


def draw(page: Page):
    figure, (axes,) = plots.panels(1, height_in=3.6)
    for k, (model, rows) in enumerate(page.table().by("model").items()):
        of_molecule = rows["energy_kcal_per_mol"] / rows["molecules"]
        style = "-" if k < len(plots.COLOURS) else "--"
        plots.curve(axes, rows["molecules"], of_molecule, LABELS[model], style=style)
    axes.set(xlabel="number of molecules", ylabel="energy per molecule (kcal/mol)")
    plots.legend(axes)
    return figure
