#!/usr/bin/env python3
"""The numbers of another program in modes_test.cpp, from published parameters and SI constants, and
nothing of tarn's but the positions of two dimers.

usage: python3 tests/regression/modes_numbers.py

Needs the standard library only, and takes some seconds. Rigid molecules move by a shift and a turn
about the centre of mass. First derivatives are complex steps, second ones differences of these of
the sixth order; masses are those of the motions of the atoms. The six motions of a dimer as a whole
are known by their eigenvalues: at stationary points these vanish.
"""

import cmath
import math
import pathlib

# CODATA 2018
AVOGADRO, PLANCK, LIGHT = 6.02214076e23, 6.62607015e-34, 299792458.0
CHARGE, VACUUM = 1.602176634e-19, 8.8541878128e-12
ENERGY, DALTON = 4184.0 / AVOGADRO, 1e-3 / AVOGADRO
COULOMB = CHARGE**2 / (4.0 * math.pi * VACUUM) * 1e10 / ENERGY

MASSES = [15.9994, 1.008, 1.008]
# Jorgensen et al. 1983: r(OH) and angle; A, C; charge of a hydrogen, r(OM).
MODELS = {
    "tip3p": (0.9572, 104.52, 582.0e3, 595.0, 0.417, 0.0),
    "tip4p": (0.9572, 104.52, 600.0e3, 610.0, 0.52, 0.15),
}
DATA = pathlib.Path(__file__).resolve().parent.parent / "data" / "minima"


def sites(model, molecule):
    r_oh, angle, _, _, _, r_om = MODELS[model]
    o, h1, h2 = molecule
    weight = r_om / (2.0 * r_oh * math.cos(math.radians(angle) / 2.0))
    return [[o[c] + weight * (h1[c] + h2[c] - 2.0 * o[c]) for c in range(3)], h1, h2]


def distance(a, b):
    return cmath.sqrt(sum((p - q) ** 2 for p, q in zip(a, b)))


def energy(model, molecules):
    _, _, lj_a, lj_c, charge, _ = MODELS[model]
    charges = [-2.0 * charge, charge, charge]
    total = 0.0
    for i, first in enumerate(molecules):
        for second in molecules[:i]:
            for p, a in zip(charges, sites(model, first)):
                for q, b in zip(charges, sites(model, second)):
                    total += COULOMB * p * q / distance(a, b)
            r6 = distance(first[0], second[0]) ** 6
            total += lj_a / r6**2 - lj_c / r6
    return total


def dipole(model, molecules):
    charge = MODELS[model][4]
    mu = [0.0, 0.0, 0.0]
    for molecule in molecules:
        m, h1, h2 = sites(model, molecule)
        mu = [mu[c] + charge * (h1[c] + h2[c] - 2.0 * m[c]) for c in range(3)]
    return mu


def cross(a, b):
    return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]


def moved(molecules, v):
    """Each molecule shifted by three numbers and turned by the rotation vector of the next three."""
    result = []
    for k, molecule in enumerate(molecules):
        shift, turn = v[6 * k : 6 * k + 3], v[6 * k + 3 : 6 * k + 6]
        centre = [sum(m * a[c] for m, a in zip(MASSES, molecule)) / sum(MASSES) for c in range(3)]
        atoms = []
        for atom in molecule:
            term = [x - y for x, y in zip(atom, centre)]
            place = [x + y + t for x, y, t in zip(centre, shift, term)]
            for order in range(1, 9):
                term = [x / order for x in cross(turn, term)]
                place = [x + t for x, t in zip(place, term)]
            atoms.append(place)
        result.append(atoms)
    return result


def derivative(f, v, i):
    step = 1e-30
    w = list(v)
    w[i] += 1j * step
    return f(w).imag / step


def eigen(matrix):
    """Jacobi's rotations: eigenvalues, and their vectors in columns."""
    n = len(matrix)
    a = [list(row) for row in matrix]
    v = [[float(i == j) for j in range(n)] for i in range(n)]
    for _ in range(30):
        for p in range(n):
            for q in range(p):
                if a[p][q] == 0.0:
                    continue
                theta = 0.5 * math.atan2(2.0 * a[p][q], a[q][q] - a[p][p])
                c, s = math.cos(theta), math.sin(theta)
                for m in (a, v):
                    for row in m:
                        row[p], row[q] = c * row[p] - s * row[q], s * row[p] + c * row[q]
                a[p], a[q] = (
                    [c * x - s * y for x, y in zip(a[p], a[q])],
                    [s * x + c * y for x, y in zip(a[p], a[q])],
                )
    return [a[i][i] for i in range(n)], v


def product(a, b):
    columns = list(zip(*b))
    return [[sum(x * y for x, y in zip(row, column)) for column in columns] for row in a]


def modes(model, molecules):
    """Wavenumbers in 1/cm and intensities in km/mol, without the six of the whole."""
    n = 6 * len(molecules)
    zero = [0.0] * n
    h = 2e-3
    weights = {1: 45.0 / 60.0, 2: -9.0 / 60.0, 3: 1.0 / 60.0}
    hessian = [[0.0] * n for _ in range(n)]
    for i in range(n):
        for j in range(n):
            for k, weight in weights.items():
                for sign in (1.0, -1.0):
                    v = list(zero)
                    v[j] = sign * k * h
                    slope = derivative(lambda w: energy(model, moved(molecules, w)), v, i)
                    hessian[i][j] += sign * weight * slope / h
    hessian = [[0.5 * (hessian[i][j] + hessian[j][i]) for j in range(n)] for i in range(n)]
    atoms, mu = [], []
    for i in range(n):
        w = list(map(complex, zero))
        w[i] = 1e-30j
        there = moved(molecules, w)
        atoms.append([x.imag / 1e-30 for molecule in there for a in molecule for x in a])
        mu.append([x.imag / 1e-30 for x in dipole(model, there)])
    mass = [m for _ in molecules for m in MASSES for _ in range(3)]
    metric = [[sum(m * x * y for m, x, y in zip(mass, p, q)) for q in atoms] for p in atoms]
    values, vectors = eigen(metric)
    root = [[vectors[i][k] / math.sqrt(values[k]) for k in range(n)] for i in range(n)]
    transposed = [list(column) for column in zip(*root)]
    values, vectors = eigen(product(product(transposed, hessian), root))
    normal = product(root, vectors)
    result = []
    for k in sorted(range(n), key=lambda k: abs(values[k]))[6:]:
        per_second = math.sqrt(abs(values[k]) * ENERGY * 1e20 / DALTON)
        per_cm = math.copysign(per_second / (2.0 * math.pi * 100.0 * LIGHT), values[k])
        slope2 = sum(sum(normal[i][k] * mu[i][c] for i in range(n)) ** 2 for c in range(3))
        absorption = AVOGADRO / (12.0 * VACUUM * LIGHT**2) * slope2 * CHARGE**2 / DALTON / 1000.0
        result.append((per_cm, absorption))
    return sorted(result)


def dimer_on_file(name):
    lines = (DATA / name).read_text().splitlines()[2:8]
    atoms = [[float(x) for x in line.split()[1:4]] for line in lines]
    return [atoms[:3], atoms[3:]]


def head_to_tail(r_oo):
    """Both dipole moments along z, which stands still for one distance only."""
    r, angle = MODELS["tip3p"][:2]
    half = math.radians(angle) / 2.0
    x, z = r * math.sin(half), r * math.cos(half)
    return [[[0.0, 0.0, d], [x, 0.0, d + z], [-x, 0.0, d + z]] for d in (0.0, r_oo)]


def distance_at_rest():
    low, high = 2.5, 3.5
    for _ in range(60):
        middle = 0.5 * (low + high)
        force = -derivative(
            lambda w: energy("tip3p", moved(head_to_tail(middle), w)), [0.0] * 12, 8
        )
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
        print(f"{title}: {energy(model, molecules).real:.6f} kcal/mol")
        print("  1/cm   ", ", ".join(f"{per_cm:.5f}" for per_cm, _ in found))
        print("  km/mol ", ", ".join(f"{absorption:.5f}" for _, absorption in found))
        quanta = sum(max(0.0, per_cm) for per_cm, _ in found)
        print(f"  zero-point energy {50.0 * PLANCK * LIGHT * quanta / ENERGY:.6f} kcal/mol")


if __name__ == "__main__":
    main()
