#!/usr/bin/env python3
"""The numbers of another program in modes_test.cpp, from published parameters and SI constants, and
nothing of tarn's but the positions of two dimers.

usage: python3 tests/regression/modes_numbers.py

Needs NumPy only. Rigid molecules move by a shift and a turn
about the centre of mass. First derivatives are complex steps, second ones differences of these of
the sixth order; masses are those of the motions of the atoms. The six motions of a dimer as a whole
are known by their eigenvalues: at stationary points these vanish.
"""

import math
import pathlib

import numpy as np

# CODATA 2018
AVOGADRO, PLANCK, LIGHT = 6.02214076e23, 6.62607015e-34, 299792458.0
CHARGE, VACUUM = 1.602176634e-19, 8.8541878128e-12
ENERGY, DALTON = 4184.0 / AVOGADRO, 1e-3 / AVOGADRO
COULOMB = CHARGE**2 / (4.0 * math.pi * VACUUM) * 1e10 / ENERGY

MASSES = np.array([15.9994, 1.008, 1.008])
# Jorgensen et al. 1983: r(OH) and angle; A, C; charge of a hydrogen, r(OM).
MODELS = {
    "tip3p": (0.9572, 104.52, 582.0e3, 595.0, 0.417, 0.0),
    "tip4p": (0.9572, 104.52, 600.0e3, 610.0, 0.52, 0.15),
}
DATA = pathlib.Path(__file__).resolve().parent.parent / "data" / "minima"
STEP = 1e-30


def charged_sites(model, x):
    """Charges, and positions (molecule, site, 3)."""
    r_oh, angle, _, _, charge, r_om = MODELS[model]
    weight = r_om / (2.0 * r_oh * math.cos(math.radians(angle) / 2.0))
    m = x[:, :1] + weight * (x[:, 1:].sum(axis=1, keepdims=True) - 2.0 * x[:, :1])
    return charge * np.array([-2.0, 1.0, 1.0]), np.concatenate([m, x[:, 1:]], axis=1)


def energy(model, x):
    _, _, lj_a, lj_c, _, _ = MODELS[model]
    charges, sites = charged_sites(model, x)
    total = 0.0
    for i in range(len(x)):
        for j in range(i):
            r = np.sqrt(((sites[i][:, None] - sites[j]) ** 2).sum(axis=-1))
            r6 = ((x[i, 0] - x[j, 0]) ** 2).sum() ** 3
            total += COULOMB * (np.outer(charges, charges) / r).sum() + lj_a / r6**2 - lj_c / r6
    return total


def dipole(model, x):
    charges, sites = charged_sites(model, x)
    return np.einsum("s,msc->c", charges, sites)


def moved(x, v):
    """Each molecule shifted by three numbers and turned by the rotation vector of the next three."""
    v = np.reshape(v, (-1, 2, 1, 3))
    term = x - np.average(x, axis=1, weights=MASSES)[:, None]
    place = x + v[:, 0]
    for order in range(1, 9):
        term = np.cross(v[:, 1], term) / order
        place = place + term
    return place


def derivative(f, v, i):
    w = np.array(v, complex)
    w[i] += 1j * STEP
    return f(w).imag / STEP


def modes(model, x):
    """Wavenumbers in 1/cm and intensities in km/mol, without the six of the whole."""
    n = 6 * len(x)
    h = 2e-3
    hessian = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            for k, weight in {1: 45.0 / 60.0, 2: -9.0 / 60.0, 3: 1.0 / 60.0}.items():
                for sign in (1.0, -1.0):
                    v = sign * k * h * np.eye(n)[j]
                    slope = derivative(lambda w: energy(model, moved(x, w)), v, i)
                    hessian[i, j] += sign * weight * slope / h
    there = [moved(x, 1j * STEP * motion) for motion in np.eye(n)]
    atoms = np.array([y.imag.ravel() for y in there]) / STEP
    mu = np.array([dipole(model, y).imag for y in there]) / STEP
    values, vectors = np.linalg.eigh(atoms * np.tile(np.repeat(MASSES, 3), len(x)) @ atoms.T)
    root = vectors / np.sqrt(values)
    values, vectors = np.linalg.eigh(root.T @ (0.5 * (hessian + hessian.T)) @ root)
    slopes2 = ((mu.T @ root @ vectors) ** 2).sum(axis=0)
    result = []
    for k in np.argsort(np.abs(values))[6:]:
        per_second = math.sqrt(abs(values[k]) * ENERGY * 1e20 / DALTON)
        per_cm = math.copysign(per_second / (2.0 * math.pi * 100.0 * LIGHT), values[k])
        absorption = AVOGADRO / (12.0 * VACUUM * LIGHT**2) * slopes2[k] * CHARGE**2 / DALTON / 1000.0
        result.append((per_cm, absorption))
    return sorted(result)


def dimer_on_file(name):
    return np.loadtxt(DATA / name, skiprows=2, usecols=(1, 2, 3)).reshape(2, 3, 3)


def head_to_tail(r_oo):
    """Both dipole moments along z, which stands still for one distance only."""
    r, angle = MODELS["tip3p"][:2]
    half = math.radians(angle) / 2.0
    x, z = r * math.sin(half), r * math.cos(half)
    molecule = np.array([[0.0, 0.0, 0.0], [x, 0.0, z], [-x, 0.0, z]])
    return np.array([molecule, molecule + [0.0, 0.0, r_oo]])


def distance_at_rest():
    low, high = 2.5, 3.5
    for _ in range(60):
        middle = 0.5 * (low + high)
        pair = head_to_tail(middle)
        force = -derivative(lambda w: energy("tip3p", moved(pair, w)), np.zeros(12), 8)
        low, high = (middle, high) if force > 0.0 else (low, middle)
    return low


def main():
    r_oo = distance_at_rest()
    for title, model, molecules in (
        ("TIP3P dimer", "tip3p", dimer_on_file("tip3p-2.xyz")),
        ("TIP4P dimer", "tip4p", dimer_on_file("tip4p-2.xyz")),
        (f"TIP3P head to tail, O-O = {r_oo:.9f} A", "tip3p", head_to_tail(r_oo)),
    ):
        found = modes(model, molecules)
        print(f"{title}: {energy(model, molecules):.6f} kcal/mol")
        print("  1/cm   ", ", ".join(f"{per_cm:.5f}" for per_cm, _ in found))
        print("  km/mol ", ", ".join(f"{absorption:.5f}" for _, absorption in found))
        quanta = sum(max(0.0, per_cm) for per_cm, _ in found)
        print(f"  zero-point energy {50.0 * PLANCK * LIGHT * quanta / ENERGY:.6f} kcal/mol")


if __name__ == "__main__":
    main()
