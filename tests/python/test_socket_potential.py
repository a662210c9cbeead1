"""Runs whose forces come from clients of ASE."""

from __future__ import annotations

import csv
import os
import subprocess
import sys
import time
from pathlib import Path

import pytest
from conftest import ROOT

pytest.importorskip("ase")
if "[potential]" not in (ROOT / "docs/decks.md").read_text():
    pytest.skip("decks have no [potential] section", allow_module_level=True)

DECK = """
system = {model = "qtip4pf", molecules = 3, replicas = 4, seed = 3}
integrator = {scheme = "verlet", timestep_fs = 0.25}
thermostat = {kind = "baoab", temperature_K = 100.0, friction_per_ps = 5.0}
run.steps = 40
observe.energies.every = 10
"""

CLIENT = """
import os, sys, time
from ase import Atoms
from ase.calculators.socketio import SocketClient, actualunixsocketname
from tarn.ase import TarnCalculator
while not os.path.exists(actualunixsocketname(sys.argv[1])):
    time.sleep(0.05)
atoms = Atoms("OHH" * 3, calculator=TarnCalculator("qtip4pf"))
SocketClient(unixsocket=sys.argv[1]).run(atoms, use_stress=False)
"""


def energies(folder: Path) -> list[float]:
    with (folder / "energies.csv").open() as file:
        return [
            float(row["potential_kcal_per_mol"]) + float(row.get("intramolecular_kcal_per_mol", 0))
            for row in csv.DictReader(line for line in file if not line.startswith("#"))
        ]


def test_forces_by_clients_of_ase(program, tmp_path):
    (tmp_path / "model.toml").write_text(DECK)
    # Starts of potentials are not relaxed by the forces of the model.
    relax = ["--set", "system.relax=false"]
    program("run", tmp_path / "model.toml", "-o", tmp_path / "model", *relax)
    name = f"tarn-test-{os.getpid()}"
    (tmp_path / "socket.toml").write_text(
        DECK
        + f'[potential]\nkind = "socket"\naddress = "unix:{name}"\nclients = 2\ntimeout_s = 60\n'
    )
    clients = [subprocess.Popen([sys.executable, "-c", CLIENT, name]) for _ in range(2)]
    try:
        program("run", tmp_path / "socket.toml", "-o", tmp_path / "socket")
        # One client may finish the run before the other one connects.
        while 0 not in (codes := [client.poll() for client in clients]) and None in codes:
            time.sleep(0.05)
        assert 0 in codes
    finally:
        for client in clients:
            client.kill()
    expected = energies(tmp_path / "model")
    assert len(expected) >= 4
    # The Bohr radius of ASE differs by 4e-10.
    assert energies(tmp_path / "socket") == pytest.approx(expected, rel=1e-6)
