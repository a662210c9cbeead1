"""Simulates rigid TIP3P water, or ring polymers of q-TIP4P/F, with OpenMM; started by bench/peers/gpu.

The argument is a task in JSON: the system to build, and a reference for checking it. Each answer is
one line of JSON on standard output. The first answer describes the context and its errors. For each
number of steps on standard input, the answer contains the seconds that they took. The last answer,
at the end of the input, contains the energy and the bond errors of the clusters.
"""

import json
import math
import os
import sys
import time

sys.dont_write_bytecode = True
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))

import numpy
import openmm

import openmm_flexible
import water
from water import KJ_PER_KCAL, NM_PER_A

ONE_4PI_EPS0 = 138.935457644382  # kJ nm/mol/e^2, the constant of OpenMM
TIMESTEP_PS = 0.002
RING_MODEL = "qtip4pf"


def pair_energy():
    """Energy of molecules p1 p2 p3 and p4 p5 p6, each O H H, as a CustomCompoundBondForce expression."""
    o, h = water.CHARGE_O_E, water.CHARGE_H_E
    terms = [f"{o * o!r}/r"]
    for charge, pairs in (
        (o * h, ((1, 5), (1, 6), (2, 4), (3, 4))),
        (h * h, ((2, 5), (2, 6), (3, 5), (3, 6))),
    ):
        inverses = " + ".join(f"1/distance(p{i}, p{j})" for i, j in pairs)
        terms.append(f"{charge!r}*({inverses})")
    sigma_nm = water.LJ_SIGMA_A * NM_PER_A
    epsilon = water.LJ_EPSILON_KCAL_PER_MOL * KJ_PER_KCAL
    return (
        f"{ONE_4PI_EPS0!r}*({' + '.join(terms)}) + {4.0 * epsilon!r}*(s6*s6 - s6); "
        f"s6 = ({sigma_nm!r}/r)^6; r = distance(p1, p4)"
    )


def pairs_as_bonds(molecules, copies):
    """Each pair of molecules of a cluster as one bond: no neighbour lists, no cutoff."""
    force = openmm.CustomCompoundBondForce(6, pair_energy())
    add = force.addBond
    for first in range(0, 3 * molecules * copies, 3 * molecules):
        for a in range(first, first + 3 * molecules, 3):
            for b in range(first, a, 3):
                add((a, a + 1, a + 2, b, b + 1, b + 2))
    return force


def nonbonded(all_molecules, cutoff_A):
    """@param cutoff_A 0: no cutoff"""
    force = openmm.NonbondedForce()
    sigma_nm = water.LJ_SIGMA_A * NM_PER_A
    epsilon = water.LJ_EPSILON_KCAL_PER_MOL * KJ_PER_KCAL
    add, exclude = force.addParticle, force.addException
    for o in range(0, 3 * all_molecules, 3):
        add(water.CHARGE_O_E, sigma_nm, epsilon)
        add(water.CHARGE_H_E, sigma_nm, 0.0)
        add(water.CHARGE_H_E, sigma_nm, 0.0)
        exclude(o, o + 1, 0.0, 1.0, 0.0)
        exclude(o, o + 2, 0.0, 1.0, 0.0)
        exclude(o + 1, o + 2, 0.0, 1.0, 0.0)
    force.setNonbondedMethod(force.CutoffNonPeriodic if cutoff_A else force.NoCutoff)
    if cutoff_A:
        force.setCutoffDistance(cutoff_A * NM_PER_A)
    # Dielectric 1: the reaction field is a constant, which cancels for neutral molecules.
    force.setReactionFieldDielectric(1.0)
    force.setUseSwitchingFunction(False)
    force.setUseDispersionCorrection(False)
    return force


def links(molecules, copies, sites):
    """Bonds without a force: OpenMM sorts linked atoms together, which keeps a cluster whole.

    @param sites particles per molecule"""
    force = openmm.HarmonicBondForce()
    for first in range(0, sites * molecules * copies, sites * molecules):
        for o in range(first + sites, first + sites * molecules, sites):
            force.addBond(o - sites, o, 0.3, 0.0)
    return force


def build(task, molecules):
    copies, mode = task["copies"], task["mode"]
    system = openmm.System()
    add, constrain = system.addParticle, system.addConstraint
    r_oh, r_hh = water.R_OH_A * NM_PER_A, water.R_HH_A * NM_PER_A
    for o in range(0, 3 * molecules * copies, 3):
        for mass in water.MASSES_DA:
            add(mass)
        # OpenMM uses SETTLE for three distances of three atoms.
        constrain(o, o + 1, r_oh)
        constrain(o, o + 2, r_oh)
        constrain(o + 1, o + 2, r_hh)
    if mode == "pairs as bonds":
        system.addForce(pairs_as_bonds(molecules, copies))
    else:
        system.addForce(nonbonded(molecules * copies, task["cutoff_A"]))
    if mode == "linked":
        system.addForce(links(molecules, copies, 3))
    return system


def build_rings(task, molecules):
    """The system of one bead of all copies; molecules are O H H M."""
    model = openmm_flexible.MODELS[RING_MODEL]
    cutoff_nm = task["cutoff_A"] * NM_PER_A
    system = openmm_flexible.build(openmm, model, molecules * task["copies"], cutoff_nm)
    if task["mode"] == "linked":
        system.addForce(links(molecules, task["copies"], 4))
    return system


def with_m_sites(positions_nm):
    """Adds a place for M, which OpenMM computes."""
    molecules = positions_nm.reshape(-1, 3, 3)
    return numpy.concatenate([molecules, molecules[:, :1]], axis=1).reshape(-1, 3)


def places_nm(positions_A, copies, spacing_A):
    """Positions of all copies on a cubic grid centred at the origin."""
    one = numpy.array(positions_A)
    one = (one - one.mean(axis=0)) * NM_PER_A
    side = math.ceil(copies ** (1.0 / 3.0) - 1e-9)
    index = numpy.arange(copies)
    grid = numpy.stack([index // side**2, index // side % side, index % side], axis=1)
    shifts = (grid - (side - 1) / 2.0) * spacing_A * NM_PER_A
    return (shifts[:, None, :] + one[None, :, :]).reshape(-1, 3)


def plain(quantity, unit):
    return numpy.asarray(quantity.value_in_unit(unit))


class Clusters:
    """Rigid clusters in one context."""

    sites = 3  # particles per molecule
    energy_name = "potential_kcal_per_mol"  # in the answer of `tarn energy`

    def __init__(self, task):
        positions_A = water.read_xyz(task["structure"])
        self.copies, self.beads = task["copies"], task["beads"]
        name = task["platform"]
        try:
            platform = openmm.Platform.getPlatformByName(name)
        except openmm.OpenMMException as error:
            failures = [
                f for f in openmm.Platform.getPluginLoadFailures() if f"OpenMM{name}.so" in f
            ]
            raise water.BenchError("; ".join([str(error)] + failures[:1])) from None
        properties = {}
        if "Precision" in platform.getPropertyNames():
            properties = {"Precision": task["precision"], "TempDirectory": task["folder"]}
        system = self.build(task, len(positions_A) // 3)
        self.integrator = self.new_integrator(task)
        self.integrator.setRandomNumberSeed(1)
        self.context = openmm.Context(system, self.integrator, platform, properties)
        self.place(places_nm(positions_A, self.copies, task["spacing_A"]))
        self.device = name
        if "DeviceName" in platform.getPropertyNames():
            self.device = platform.getPropertyValue(self.context, "DeviceName")

    def build(self, task, molecules):
        return build(task, molecules)

    def new_integrator(self, task):
        return openmm.LangevinMiddleIntegrator(
            task["temperature_K"], task["friction_per_ps"], TIMESTEP_PS
        )

    def place(self, positions_nm):
        self.context.setPositions(positions_nm)

    def states(self):
        """States with energy, positions and forces."""
        yield self.context.getState(energy=True, positions=True, forces=True)

    def energy_kcal_per_mol(self, state):
        """Mean energy per cluster."""
        unit = openmm.unit.kilojoules_per_mole
        return state.getPotentialEnergy().value_in_unit(unit) / KJ_PER_KCAL / self.copies

    def of_atoms(self, rows):
        """[molecule][atom] vectors, without M."""
        return rows.reshape(-1, self.sites, 3)[:, :3]

    def check(self, reference):
        """@return energy error relative to |Coulomb| + |LJ|, and the largest error of a force
        component relative to the root mean square of all; with beads the largest of all beads."""
        scale = abs(reference["coulomb_kcal_per_mol"]) + abs(reference["lj_kcal_per_mol"])
        right = numpy.array(reference["forces_kcal_per_mol_A"])
        unit = openmm.unit.kilojoules_per_mole / openmm.unit.nanometer
        energy, energy_error, worst = math.nan, 0.0, 0.0
        for state in self.states():
            energy = self.energy_kcal_per_mol(state)
            error = abs(energy - reference[self.energy_name]) / scale
            forces = plain(state.getForces(asNumpy=True), unit) * NM_PER_A / KJ_PER_KCAL
            forces = self.of_atoms(forces).reshape(-1, *right.shape)
            # numpy.maximum() keeps NaN.
            energy_error = float(numpy.maximum(energy_error, error))
            worst = float(numpy.maximum(worst, numpy.abs(forces - right).max()))
        return {
            "energy_kcal_per_mol": energy,
            "energy_error": energy_error,
            "force_error": worst / math.sqrt((right**2).mean()),
        }

    def start(self, temperature_K):
        self.context.setVelocitiesToTemperature(temperature_K, 1)

    def seconds(self, steps):
        """Time of the steps. Computing the energy waits for the last step; a second call measures
        the time of this computation, which is subtracted."""
        begin = time.perf_counter()
        self.integrator.step(steps)
        self.context.getState(energy=True)
        done = time.perf_counter()
        self.context.getState(energy=True)
        return (done - begin) - (time.perf_counter() - done)

    def state(self):
        energy, worst = 0.0, 0.0
        for state in self.states():
            energy += self.energy_kcal_per_mol(state) / self.beads
            r = self.of_atoms(plain(state.getPositions(asNumpy=True), openmm.unit.angstrom))
            for a, b, length in self.lengths_A():
                distance = numpy.sqrt(((r[:, a] - r[:, b]) ** 2).sum(axis=1))
                worst = float(numpy.maximum(worst, numpy.abs(distance - length).max()))
        return {"energy_kcal_per_mol": energy, "bond_error_A": worst}

    def lengths_A(self):
        return (0, 1, water.R_OH_A), (0, 2, water.R_OH_A), (1, 2, water.R_HH_A)


class Rings(Clusters):
    """Ring polymers in one context. All beads start at the structure."""

    sites = 4
    energy_name = "total_potential_kcal_per_mol"

    def build(self, task, molecules):
        return build_rings(task, molecules)

    def new_integrator(self, task):
        step_ps = openmm_flexible.TIMESTEP_FS * 1e-3
        return openmm.RPMDIntegrator(
            self.beads, task["temperature_K"], task["friction_per_ps"], step_ps
        )

    def place(self, positions_nm):
        self.context.setPositions(with_m_sites(positions_nm))
        self.context.computeVirtualSites()
        places = self.context.getState(positions=True).getPositions()
        for bead in range(self.beads):
            self.integrator.setPositions(bead, places)

    def states(self):
        for bead in range(self.beads):
            yield self.integrator.getState(bead, getEnergy=True, getPositions=True, getForces=True)

    def start(self, temperature_K):
        super().start(temperature_K)
        velocities = self.context.getState(velocities=True).getVelocities()
        for bead in range(self.beads):
            self.integrator.setVelocities(bead, velocities)

    def lengths_A(self):
        length = openmm_flexible.MODELS[RING_MODEL].r_eq_A
        return (0, 1, length), (0, 2, length)


def main():
    # Libraries print to standard error; standard output contains only answers.
    answers = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)

    def answer(values):
        answers.write(json.dumps(values) + "\n")
        answers.flush()

    try:
        task = json.loads(sys.argv[1])
        with open(task["reference"]) as file:
            reference = json.load(file)
        clusters = (Rings if task["beads"] > 1 else Clusters)(task)
        built = clusters.check(reference)
        clusters.start(task["temperature_K"])
        answer(dict(built, version=openmm.__version__, device=clusters.device))
        for line in sys.stdin:
            answer({"seconds": clusters.seconds(int(line))})
        answer(clusters.state())
    except Exception as error:  # the benchmark reports any error and continues
        kind = "" if isinstance(error, water.BenchError) else f"{type(error).__name__}: "
        answer({"error": kind + " ".join(str(error).split())})
        sys.exit(1)


if __name__ == "__main__":
    main()
