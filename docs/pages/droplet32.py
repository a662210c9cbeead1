"""Energies and OO distances of a droplet, by scheme."""

import comparison
from comparison import draw, run  # noqa: F401
from page import RESULTS, Page, markdown, read_table

TITLE = "A droplet of 32 molecules at 298 K with steps of 2 fs"
DECK = "droplet32.toml"
SCHEMES = ["settle", "rattle", "shake", "zss-stiff", "zss-stiff:omega=500", "zss-stiff:omega=20"]


def text(page: Page) -> dict:
    droplet = {row.scheme: row.value("potential_kcal_per_mol") for row in page.table()}
    seven = {
        row.scheme: row.value("potential_difference_kcal_per_mol")
        for row in read_table(RESULTS / "verdict-298K.csv").where(
            thermostat="baoab", hydrogen_mass_Da=1.008,
            timestep_fs=page.key("integrator.timestep_fs"),
        )
    }
    parts = {
        "step of 2 fs, also present with ω = 500": lambda v: v["settle"] - v["zss-stiff:omega=500"],
        "penalty": lambda v: v["zss-stiff:omega=500"] - v["zss-stiff:omega=100"],
        "total": lambda v: v["settle"] - v["zss-stiff:omega=100"],
    }
    droplet["zss-stiff:omega=100"] = droplet["zss-stiff"]
    seven["settle"] *= 0.0  # the reference of the others
    return comparison.text(page) | {
        "rigid": comparison.fixed(droplet["settle"] - droplet["rattle"], 1),
        "share": -100 * parts["total"](droplet).mean / droplet["settle"].mean,
        "errors": markdown(
            ["⟨V₀⟩ of Z&Ss with ω = 100 too low by (kcal/mol)", "32 molecules",
             "[seven molecules](verdict-298K.md)"],
            [[name, comparison.fixed(of(droplet), 1), comparison.fixed(of(seven), 2)]
             for name, of in parts.items()],
        ),
    }  # fmt: skip
