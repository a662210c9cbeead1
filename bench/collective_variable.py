"""A collective variable of 10 000 dimers every 100 steps, and its cost."""

import time

import numpy as np

import tarn

dimers = {
    "system": {"model": "tip4p", "molecules": 2, "replicas": 10_000},
    "integrator": {"scheme": "settle", "timestep_fs": 2.0},
    "thermostat": {"kind": "baoab", "temperature_K": 100.0, "friction_per_ps": 5.0},
}
distances_A = []
running_s = analysing_s = 0.0
with tarn.Ensemble(dimers) as ensemble:
    for _ in range(20):
        start = time.perf_counter()
        ensemble.advance(100)
        running_s += time.perf_counter() - start

        start = time.perf_counter()
        oxygens_A = ensemble.positions_A[:, ::3]  # a view of the snapshot
        distances_A.append(np.linalg.norm(oxygens_A[:, 1] - oxygens_A[:, 0], axis=1))
        analysing_s += time.perf_counter() - start
print(f"mean O-O distance {np.mean(distances_A[5:]):.3f} A")
print(f"snapshots and NumPy took {100 * analysing_s / running_s:.1f} % of the time of the steps")
