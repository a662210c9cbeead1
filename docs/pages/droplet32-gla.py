"""Energies and OO distances of a droplet with steps of 4 fs and GLA, by scheme."""

from comparison import draw, run, text  # noqa: F401

TITLE = "A droplet of 32 molecules at 298 K with steps of 4 fs and GLA"
DECK, SET = "droplet32.toml", {"integrator.timestep_fs": 4, "thermostat.kind": "gla"}
SCHEMES = ["settle", "zss-stiff", "zss-stiff:omega=20"]
