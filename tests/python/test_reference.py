"""Trajectories of docs/reference/tarn_reference.py and of the engine."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import tarn
from conftest import ROOT

sys.path.insert(0, str(ROOT / "docs/reference"))
import tarn_reference as reference

STEPS = 50
#: Both programs add the same numbers in other orders. Rounding errors of 1e-16 of forces and
#: positions grow by less than 1e3 in these steps; a wrong term changes positions by 1e-6 A or more.
TOLERANCE_A = 1e-9


def three_molecules(model: reference.Model) -> np.ndarray:
    """A triangle near its minimum, so that no two atoms collide."""
    origins = np.array([[0.0, 0.0, 0.0], [3.0, 0.2, 0.1], [1.4, 2.7, -0.2]])
    return reference.molecule(model) + origins[:, None]


def engine_positions(tmp_path: Path, model: str, x: np.ndarray, settings: Any, **more: Any) -> Any:
    """Positions of the engine at step STEPS, from the same start."""
    start = tmp_path / "start.xyz"
    tarn.write_structure(start, x.reshape(-1, 3))
    integrator = {"scheme": settings.scheme, "timestep_fs": settings.timestep_fs}
    if settings.scheme == "zss-stiff":
        integrator |= {"beta": settings.beta, "omega": settings.omega}
    system = {"model": model, "file": str(start), "seed": settings.seed}
    system |= {"temperature_K": settings.temperature_K}
    if settings.scheme != "settle":
        system |= {"relax": False}
    deck: dict[str, Any] = {"system": system, "integrator": integrator, **more}
    if settings.thermostat != "none":
        deck["thermostat"] = {
            "kind": settings.thermostat,
            "temperature_K": settings.temperature_K,
            "friction_per_ps": settings.friction_per_ps,
        }
    with tarn.Ensemble(deck, threads=1) as ensemble:
        ensemble.advance(STEPS)
        return np.array(ensemble.positions_A)[0]


@pytest.mark.parametrize("thermostat", ["none", "gla", "baoab"])
@pytest.mark.parametrize(
    ("model", "scheme", "timestep_fs"),
    [
        ("tip3p", "settle", 2.0),
        ("tip4p", "settle", 4.0),
        ("tip3p", "zss-stiff", 2.0),
        ("qtip4pf", "verlet", 0.5),
    ],
)
def test_trajectories_agree(
    tmp_path: Path, model: str, scheme: str, timestep_fs: float, thermostat: str
) -> None:
    parameters = {"tip3p": reference.TIP3P, "tip4p": reference.TIP4P, "qtip4pf": reference.QTIP4PF}
    m = parameters[model]
    settings = reference.Settings(
        scheme=scheme, timestep_fs=timestep_fs, thermostat=thermostat, seed=2**40 + 7
    )
    start = three_molecules(m)
    rigid = scheme == "settle"
    x, v = start, reference.start_velocities(m, start, settings.temperature_K, settings.seed,
                                             rigid=rigid)  # fmt: skip
    a = reference.acceleration(m, settings, x)
    for step in range(STEPS):
        x, v, a = reference.take_step(m, settings, x, v, a, step)
    expected = reference.reported(settings, x, a).reshape(-1, 3)
    found = engine_positions(tmp_path, model, start, settings)
    assert np.abs(expected - start.reshape(-1, 3)).max() > 0.02, "the molecules have moved"
    assert np.abs(found - expected).max() < TOLERANCE_A


@pytest.mark.parametrize("beads", [4, 7])
def test_ring_polymers_agree(tmp_path: Path, beads: int) -> None:
    m = reference.QTIP4PF
    settings = reference.Settings(scheme="verlet", timestep_fs=0.5, temperature_K=200.0, seed=3)
    start = three_molecules(m)
    q, v = reference.start_ring(m, settings, start, beads)
    a = reference.ring_acceleration(m, settings, q)
    for step in range(STEPS):
        q, v, a = reference.take_ring_step(m, settings, q, v, a, step)
    expected = np.tensordot(reference.mode_matrix(beads).T, q, axes=1).reshape(beads, -1, 3)
    found = engine_positions(tmp_path, "qtip4pf", start, settings, path_integral={"beads": beads, "frequencies": "trotter"})
    assert np.abs(expected - expected.mean(axis=0)).max() > 0.02, "the beads have moved apart"
    assert np.abs(found - expected).max() < TOLERANCE_A


def test_forces_are_gradients() -> None:
    """By central differences, whose error is 1e-10 of the third derivatives of about 1e4."""
    for energy_and_forces, m in [
        (reference.forces_between, reference.TIP3P),
        (reference.forces_between, reference.TIP4P),
        (reference.forces_within, reference.QTIP4PF),
    ]:
        x = three_molecules(m) + 0.02 * np.random.default_rng(1).normal(size=(3, 3, 3))
        _, f = energy_and_forces(m, x)
        for index in np.ndindex(x.shape):
            d = np.zeros_like(x)
            d[index] = 1e-5
            slope = (energy_and_forces(m, x + d)[0] - energy_and_forces(m, x - d)[0]) / 2e-5
            assert slope == pytest.approx(-f[index], abs=1e-5)
