"""TIP3P parameters and structures, the same for all programs."""

import json
import math
import random
import subprocess

# The numbers of include/tarn/physics/water_model.hpp; tests/cli/peers.py compares them.
R_OH_A = 0.9572
ANGLE_HOH_DEGREES = 104.52
LJ_A_KCAL_A12_PER_MOL = 582.0e3
LJ_C_KCAL_A6_PER_MOL = 595.0
CHARGE_O_E = -0.834
CHARGE_H_E = 0.417
MASS_O_DA = 15.9994
MASS_H_DA = 1.008
R_HH_A = 2.0 * R_OH_A * math.sin(math.radians(ANGLE_HOH_DEGREES) / 2.0)

LJ_SIGMA_A = (LJ_A_KCAL_A12_PER_MOL / LJ_C_KCAL_A6_PER_MOL) ** (1.0 / 6.0)
LJ_EPSILON_KCAL_PER_MOL = LJ_C_KCAL_A6_PER_MOL**2 / (4.0 * LJ_A_KCAL_A12_PER_MOL)

KJ_PER_KCAL = 4.184
NM_PER_A = 0.1

SYMBOLS = "OHH"
CHARGES_E = (CHARGE_O_E, CHARGE_H_E, CHARGE_H_E)
MASSES_DA = (MASS_O_DA, MASS_H_DA, MASS_H_DA)


class BenchError(Exception):
    """An error with a message for the user."""


def read_xyz(path):
    """Positions [A] of an XYZ file whose molecules are O H H, as tarn writes it."""
    with open(path) as file:
        lines = file.read().splitlines()
    count = int(lines[0])
    rows = [line.split() for line in lines[2 : 2 + count]]
    if len(rows) != count or count % 3 != 0:
        raise BenchError(f"{path}: {len(rows)} atoms, but the first line states {count}")
    for number, row in enumerate(rows):
        if row[0] != SYMBOLS[number % 3]:
            raise BenchError(f"{path}:{number + 3}: {row[0]} instead of {SYMBOLS[number % 3]}")
    return [tuple(float(x) for x in row[1:4]) for row in rows]


def write_xyz(path, positions_A, model="tip3p"):
    with open(path, "w") as file:
        file.write(f'{len(positions_A)}\nProperties=species:S:1:pos:R:3 model={model}\n')
        for atom, r in enumerate(positions_A):
            file.write(f"{SYMBOLS[atom % 3]} {r[0]!r} {r[1]!r} {r[2]!r}\n")


def displaced(path, model, seed):
    """Writes the cluster with each coordinate displaced by up to 0.05 A. @return its path"""
    shift = random.Random(seed).uniform
    positions_A = [tuple(x + shift(-0.05, 0.05) for x in r) for r in read_xyz(path)]
    result = path.removesuffix(".xyz") + "-displaced.xyz"
    write_xyz(result, positions_A, model)
    return result


def moved(positions_A, shift_A):
    return [tuple(x + s for x, s in zip(r, shift_A)) for r in positions_A]


def lower_corner(positions_A):
    return tuple(min(r[axis] for r in positions_A) for axis in range(3))


def bond_errors_A(positions_A):
    """Largest deviation of OH and HH distances from TIP3P's [A]."""
    worst = 0.0
    for first in range(0, len(positions_A), 3):
        o, h1, h2 = positions_A[first : first + 3]
        for a, b, length in ((o, h1, R_OH_A), (o, h2, R_OH_A), (h1, h2, R_HH_A)):
            worst = max(worst, abs(math.dist(a, b) - length))
    return worst


class Energy:
    """Coulomb and Lennard-Jones energy [kcal/mol] and forces [kcal/mol/A] of one structure."""

    def __init__(self, coulomb, lj, forces):
        self.coulomb, self.lj, self.forces = coulomb, lj, forces

    def times(self, copies):
        """The energy of non-interacting copies."""
        return Energy(copies * self.coulomb, copies * self.lj, copies * self.forces)

    def rms_force(self):
        return math.sqrt(sum(x * x for f in self.forces for x in f) / (3 * len(self.forces)))


def tarn_cluster(tarn, molecules, model, path):
    """Writes a cluster at a minimum of the energy. @return the path"""
    completed = subprocess.run(
        [tarn, "cluster", "--molecules", str(molecules), "--model", model, "--minimise"]
        + ["--starts", "1", "--threads", "1", "--quiet", "-o", path],
        capture_output=True,
        text=True,
    )
    if completed.returncode != 0:
        raise BenchError(f"tarn cluster: {completed.stderr.strip()}")
    return path


def tarn_values(tarn, path):
    """@return the answer of `tarn energy`."""
    completed = subprocess.run([tarn, "energy", path], capture_output=True, text=True)
    if completed.returncode != 0:
        raise BenchError(f"tarn energy {path}: {completed.stderr.strip()}")
    return json.loads(completed.stdout)


def tarn_energy(tarn, path):
    values = tarn_values(tarn, path)
    return Energy(
        values["coulomb_kcal_per_mol"],
        values["lj_kcal_per_mol"],
        values["forces_kcal_per_mol_A"],
    )


def disagreement(reference, other):
    """Errors of `other`: of the energy relative to |Coulomb| + |LJ|, and of the worst force
    component relative to the root mean square of all."""
    scale = abs(reference.coulomb) + abs(reference.lj)
    energy = abs(other.coulomb - reference.coulomb) + abs(other.lj - reference.lj)
    if len(other.forces) != len(reference.forces):
        raise BenchError(f"{len(other.forces)} forces instead of {len(reference.forces)}")
    force = max(
        abs(a - b) for f, g in zip(reference.forces, other.forces) for a, b in zip(f, g)
    )
    return energy / scale, force / reference.rms_force()
