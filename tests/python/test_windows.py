"""Free energies from windows, compared with pymbar."""

import numpy as np
import pytest

import tarn

K_KCAL_PER_MOL_K = 0.0019872041
CENTRES_A = [2.7, 3.0, 3.3, 3.7]
STIFFNESS = 8.0
DECK = {
    "system": {"model": "tip4p", "molecules": 2, "replicas": 16},
    "integrator": {"timestep_fs": 4},
    "thermostat": {"temperature_K": 300, "friction_per_ps": 5},
    "run": {"steps": 1000, "equilibration_ps": 0.4},
    "bias": {"centres_A": CENTRES_A, "stiffness_kcal_per_mol_A2": STIFFNESS},
    "observe": {"bias": {"every": 20}},
}


def test_the_profile_is_that_of_pymbar(tmp_path):
    pymbar = pytest.importorskip("pymbar")
    result = tarn.run(DECK, tmp_path / "out", progress=False, pictures=False)
    profile, samples = result.free_energy, result.table("bias")
    samples = samples[samples["step"] >= 100]
    kT = K_KCAL_PER_MOL_K * 300
    order = np.argsort(samples["replica"] % len(CENTRES_A), kind="stable")
    x = np.asarray(samples["coordinate"])[order]
    energies = 0.5 * STIFFNESS * (x - np.array(CENTRES_A)[:, None]) ** 2 / kT
    counts = np.bincount(np.asarray(samples["replica"]) % len(CENTRES_A))
    f = pymbar.MBAR(energies, counts, relative_tolerance=1e-12).f_k
    weights = 1 / (counts[:, None] * np.exp(f[:, None] - energies)).sum(axis=0)
    bins = np.round(np.asarray(x) / 0.1)
    expected = np.array([-kT * np.log(weights[bins == b].sum()) for b in np.unique(bins)])
    assert np.allclose(profile["coordinate"], 0.1 * np.unique(bins), atol=1e-12)
    zero = np.argmin(np.abs(profile["free_energy_kcal_per_mol"]))
    assert np.allclose(profile["free_energy_kcal_per_mol"], expected - expected[zero], atol=1e-6)
    assert profile["samples"].sum() == len(samples)


def test_the_dipole_follows_a_field(tmp_path):
    """Without thermal motion the octamer is stretched along the field: its dipole moment rises."""
    minimum = tarn.minimise(tarn.random_cluster(1, model="tip4p"), model="tip4p")
    moment_e_A = np.linalg.norm(tarn.dipole_moments(minimum.positions_A, model="tip4p"))
    moment_D = 4.80320471 * moment_e_A
    deck = {
        "system": {"model": "tip4p", "molecules": 8, "replicas": 8},
        "thermostat": {"temperature_K": 50, "friction_per_ps": 5},
        "run": {"steps": 2000, "equilibration_ps": 1},
        "observe": {"cluster": {"every": 20, "lindemann": False}},
    }
    means = []
    for field in (0.0, 1.0, 5.0, 50.0):
        own = deck | ({"field": {"z_V_per_nm": field}} if field else {})
        result = tarn.run(own, tmp_path / f"{field:g}", progress=False, pictures=False)
        name = "dipole_z_D" if field else "dipole_D"
        means.append(result.averages[name].mean)
    assert means[1] < means[2] < means[3] < 8 * moment_D * 1.0001
    # At 50 V/nm, 115 kcal/mol/(e A), all molecules are parallel to the field: <cos> = 1 - kT/(mu E).
    mu_kcal = 115.3 * moment_e_A
    assert means[3] == pytest.approx(8 * moment_D * (1 - K_KCAL_PER_MOL_K * 50 / mu_kcal), rel=0.01)
