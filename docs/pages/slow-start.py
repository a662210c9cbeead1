"""Vibrational energy of bonds, started with and without projection onto the slow manifold."""

import json

import numpy as np
import plots
from page import BOLTZMANN_KCAL_PER_MOL_K, Page, markdown, read_table

TITLE = "Water started on the slow manifold (after Ariel et al.)"
DECK = "slow-start7.toml"

OMEGAS = (20, 50, 100, 200, 500, 1000)
PICTURED = 100  # omega of panel (b), for which the step of the deck is chosen
STARTS = {
    "Maxwell's velocities": {"system.velocities": "maxwell"},
    "rigid molecules": {"system.velocities": "tangent", "system.relax": False},
}
MOLECULES = 7
BEFORE_AFTER = ("before", "after")


def vibration(page: Page, changes: dict, project: str) -> tuple[dict, np.ndarray, np.ndarray]:
    """The energies of the start, times, and the multipliers (step, bond) of one run."""

    def read(result):
        table = read_table(result.out / "multipliers.csv")
        lambdas = np.stack([table[f"lambda_{bond}"] for bond in ("OH1", "OH2", "HH")], axis=1)
        start = json.loads((result.out / "run.json").read_text()).get("slow_start")
        return start, table["time_ps"][::MOLECULES], lambdas.reshape(-1, 3 * MOLECULES)

    return page.run(changes | {"system.project": project}, read=read)


def run(page: Page) -> None:
    rows, bonds = [], {}
    for start, changes in STARTS.items():
        for omega in OMEGAS:
            step_fs = page.key("integrator.timestep_fs") * PICTURED / omega
            own = changes | {"integrator.omega": omega, "integrator.timestep_fs": step_fs}
            slow, times, projected = vibration(page, own, "slow-manifold")
            unprojected = vibration(page, own, "none")[2]
            excursions = [np.ptp(x, axis=0).max() / omega**2 for x in (unprojected, projected)]
            energies = [slow[f"fast_energy_{when}_kcal_per_mol"] for when in BEFORE_AFTER]
            rows.append([start, omega, energies, excursions, slow["iterations"]])
            if omega == PICTURED:
                bonds["time_fs"] = 1e3 * times
                bonds[f"{start} before"] = -unprojected[:, 0]
                bonds[f"{start} after"] = -projected[:, 0]
    page.write(
        ["start", "omega", *(f"fast_energy_{when}_kcal_per_mol" for when in BEFORE_AFTER),
         *(f"excursion_{when}_A2" for when in BEFORE_AFTER), "iterations"], rows,
    )  # fmt: skip
    values = [[f"{v:.6g}" for v in row] for row in zip(*bonds.values(), strict=True)]
    page.write([*bonds], values, suffix="-bond")


def text(page: Page) -> dict:
    table = page.table()
    maxwell, rigid = table.by("start").values()
    # Each of three bonds per molecule has half of kT, with a variance of (kT)^2/2.
    kT = BOLTZMANN_KCAL_PER_MOL_K * page.key("system.temperature_K")
    return {
        "mean": 1.5 * MOLECULES * kT,
        "scatter": (1.5 * MOLECULES) ** 0.5 * kT,
        "draw": maxwell["fast_energy_before_kcal_per_mol"][0],
        "rigid": rigid["fast_energy_before_kcal_per_mol"][0],
        "temperature": page.key("system.temperature_K"),
        "pictured": PICTURED, "step": page.key("integrator.timestep_fs"),
        "table": markdown(
            ["start", "ω", "vibrational energy (kcal/mol)", "projected", "iterations",
             "largest excursion of g (Å²)", "projected"],
            [[r.start, f"{r.omega:g}", f"{r.fast_energy_before_kcal_per_mol:.2e}",
              f"{r.fast_energy_after_kcal_per_mol:.2e}", f"{r.iterations:g}",
              f"{r.excursion_before_A2:.2e}", f"{r.excursion_after_A2:.2e}"] for r in table],
        ),
    }  # fmt: skip


def draw(page: Page):
    figure, (energies, bond) = plots.panels(2)
    times = page.table("-bond")
    for k, (start, rows) in enumerate(page.table().by("start").items()):
        for when, style in zip(BEFORE_AFTER, ("-", "--"), strict=True):
            label = start + (", projected" if when == "after" else "")
            y = rows[f"fast_energy_{when}_kcal_per_mol"]
            plots.curve(energies, rows["omega"], y, label, colour=2 * k, style=style)
            plots.curve(bond, times["time_fs"], times[f"{start} {when}"], label, colour=2 * k,
                        style=style, marker=False)  # fmt: skip
    energies.set(xlabel="ω (√(kcal/mol)/Å²)", ylabel="vibrational energy (kcal/mol)",
                 xscale="log", yscale="log")  # fmt: skip
    bond.set(xlabel="time (fs)", ylabel="ω² g of an O-H bond (kcal/mol/Å²)")
    plots.legend(energies)
    plots.letters((energies, bond))
    return figure
