"""Flexible water in vacuum with OpenMM: one cluster or several, on the Reference or the CPU platform."""

import math
import time

import programs
import water
from water import KJ_PER_KCAL, NM_PER_A

BOLTZMANN_KCAL_PER_MOL_K = 0.0019872041
COULOMB_KCAL_A_PER_MOL_E2 = 332.0637  # of tarn
TIMESTEP_FS = 0.5
# Clusters on a grid: the cutoff contains all pairs of a cluster of 7, and none of two clusters.
SPACING_NM, CUTOFF_NM = 6.0, 2.0


class Model:
    """A flexible model in published units; `stretch` is the energy [kJ/mol] of a bond r [nm]."""

    def __init__(self, stretch, r_eq_A, angle_degrees, bend_kJ, sigma_A, epsilon_kcal, charge_h_e, gamma):
        self.stretch, self.bend_kJ_per_mol_rad2 = stretch, bend_kJ
        self.r_eq_A, self.angle_degrees = r_eq_A, angle_degrees
        self.sigma_nm, self.epsilon_kJ_per_mol = sigma_A * NM_PER_A, epsilon_kcal * KJ_PER_KCAL
        self.charge_h_e, self.gamma = charge_h_e, gamma


def quartic(depth_kcal, alpha_per_A, r_eq_A):
    s = f"s = {alpha_per_A / NM_PER_A!r}*(r - {r_eq_A * NM_PER_A!r})"
    return f"{depth_kcal * KJ_PER_KCAL!r}*s^2*(1 - s + {7 / 12!r}*s^2); {s}"


def morse(depth_kJ, alpha_per_A, r_eq_A):
    exponent = f"{-alpha_per_A / NM_PER_A!r}*(r - {r_eq_A * NM_PER_A!r})"
    return f"{depth_kJ!r}*(1 - exp({exponent}))^2"


def harmonic(stiffness_kcal_per_A2, r_eq_A):
    half_kJ_per_nm2 = 0.5 * stiffness_kcal_per_A2 * KJ_PER_KCAL / NM_PER_A**2
    return f"{half_kJ_per_nm2!r}*(r - {r_eq_A * NM_PER_A!r})^2"


# Habershon et al. 2009, Gonzalez & Abascal 2011, Wu et al. 2006, Paesani et al. 2006.
MODELS = {
    "qtip4pf": Model(
        quartic(116.09, 2.287, 0.9419), 0.9419, 107.4, 87.85 * KJ_PER_KCAL, 3.1589, 0.1852, 0.5564, 0.73612
    ),
    "tip4p2005f": Model(
        *(morse(432.581, 2.287, 0.9419), 0.9419, 107.4, 367.81, 3.1644),
        *(93.2 * BOLTZMANN_KCAL_PER_MOL_K, 0.5564, 0.73612),
    ),
    "spcfw": Model(
        harmonic(1059.162, 1.012), 1.012, 113.24, 75.90 * KJ_PER_KCAL, 3.165492, 0.1554253, 0.41, 0.0
    ),
    "qspcfw": Model(
        harmonic(1059.162, 1.0), 1.0, 112.0, 75.90 * KJ_PER_KCAL, 3.165492, 0.1554252, 0.42, 0.0
    ),
}  # fmt: skip


def charge_scale(openmm):
    """The factor of all charges that gives tarn's Coulomb energies."""
    system, force = openmm.System(), openmm.NonbondedForce()
    for _ in range(2):
        system.addParticle(1.0)
        force.addParticle(1.0, 1.0, 0.0)
    system.addForce(force)
    integrator = openmm.VerletIntegrator(0.001)
    context = openmm.Context(system, integrator, openmm.Platform.getPlatformByName("Reference"))
    context.setPositions([(0.0, 0.0, 0.0), (1.0, 0.0, 0.0)])  # 1 nm apart
    constant = context.getState(energy=True).getPotentialEnergy()._value
    return math.sqrt(COULOMB_KCAL_A_PER_MOL_E2 * KJ_PER_KCAL * NM_PER_A / constant)


def build(openmm, model, molecules, cutoff_nm):
    """@return the system. Particles of a molecule: O H H, and M if the model has one."""
    system = openmm.System()
    pairs, bonds = openmm.NonbondedForce(), openmm.CustomBondForce(model.stretch)
    angles = openmm.HarmonicAngleForce()
    charge = model.charge_h_e * charge_scale(openmm)
    for _ in range(molecules):
        o = system.getNumParticles()
        for mass in water.MASSES_DA:
            system.addParticle(mass)
        pairs.addParticle(0.0 if model.gamma else -2.0 * charge, model.sigma_nm, model.epsilon_kJ_per_mol)
        pairs.addParticle(charge, model.sigma_nm, 0.0)
        pairs.addParticle(charge, model.sigma_nm, 0.0)
        if model.gamma:
            m = system.addParticle(0.0)
            pairs.addParticle(-2.0 * charge, model.sigma_nm, 0.0)
            weights = (model.gamma, 0.5 * (1.0 - model.gamma), 0.5 * (1.0 - model.gamma))
            system.setVirtualSite(m, openmm.ThreeParticleAverageSite(o, o + 1, o + 2, *weights))
        for a in range(o, system.getNumParticles()):
            for b in range(o, a):
                pairs.addException(b, a, 0.0, 1.0, 0.0)
        bonds.addBond(o, o + 1)
        bonds.addBond(o, o + 2)
        angles.addAngle(o + 1, o, o + 2, math.radians(model.angle_degrees), model.bend_kJ_per_mol_rad2)
    if cutoff_nm:
        pairs.setNonbondedMethod(pairs.CutoffNonPeriodic)
        pairs.setCutoffDistance(cutoff_nm)
        # Dielectric 1: the reaction field is a constant, which cancels for neutral molecules.
        pairs.setReactionFieldDielectric(1.0)
    pairs.setUseDispersionCorrection(False)
    for group, force in enumerate((pairs, bonds, angles)):
        force.setForceGroup(group)
        system.addForce(force)
    return system


def places_nm(positions_A, copies, sites):
    """Positions of all particles; OpenMM computes those of M."""
    side = math.ceil(copies ** (1.0 / 3.0) - 1e-9)
    result = []
    for copy in range(copies):
        cell = (copy // side**2, copy // side % side, copy % side)
        for first in range(0, len(positions_A), 3):
            for r in positions_A[first : first + 3]:
                result.append([x * NM_PER_A + SPACING_NM * c for x, c in zip(r, cell)])
            result += [[0.0, 0.0, 0.0]] * (sites - 3)
    return result


def start_rings(context, beads):
    """Sets all beads to the positions and velocities of the context."""
    state = context.getState(positions=True, velocities=True)
    for bead in range(beads):
        context.getIntegrator().setPositions(bead, state.getPositions())
        context.getIntegrator().setVelocities(bead, state.getVelocities())


class OpenMM(programs.Program):
    group = "openmm"
    package = "openmm"
    ensembles = True
    modes = ("one cluster", "grid")

    def __init__(self, platform, model):
        self.platform, self.model = platform, model
        self.label = f"OpenMM {platform}"
        self.how = (
            "LangevinMiddleIntegrator, the faster of: one cluster without cutoff, for the steps of all; "
            f"all clusters {SPACING_NM:g} nm apart in one context, cutoff {CUTOFF_NM:g} nm"
        )
        self.contexts = {}

    def missing(self):
        try:
            import openmm
        except ImportError:
            return "this Python has no OpenMM; pip install openmm"
        names = [openmm.Platform.getPlatform(i).getName() for i in range(openmm.Platform.getNumPlatforms())]
        return None if self.platform in names else f"this OpenMM has no platform {self.platform}"

    def version(self):
        import openmm

        return openmm.__version__

    def mode_name(self, mode):
        return mode

    def copies(self, case, mode):
        return case.copies if mode == "grid" else 1

    def context(self, case, mode):
        if mode not in self.contexts:
            import openmm

            copies = self.copies(case, mode)
            cutoff_nm = CUTOFF_NM if mode == "grid" else 0.0
            system = build(openmm, self.model, case.molecules * copies, cutoff_nm)
            integrator = self.integrator(openmm)
            integrator.setRandomNumberSeed(programs.SEED)
            properties = {"Threads": str(case.threads)} if self.platform == "CPU" else {}
            platform = openmm.Platform.getPlatformByName(self.platform)
            context = openmm.Context(system, integrator, platform, properties)
            sites = system.getNumParticles() // (case.molecules * copies)
            context.setPositions(places_nm(case.positions_A, copies, sites))
            context.computeVirtualSites()
            context.setVelocitiesToTemperature(programs.TEMPERATURE_K, programs.SEED)
            self.start(context)
            self.contexts[mode] = context
        return self.contexts[mode]

    def integrator(self, openmm):
        return openmm.LangevinMiddleIntegrator(
            programs.TEMPERATURE_K, programs.FRICTION_PER_PS, TIMESTEP_FS * 1e-3
        )

    def start(self, context):
        """Prepares a context whose positions and velocities are set."""

    def energy(self, case, folder, mode):
        """@return (non-bonded, intramolecular) energy per cluster, and forces on all O, H and H."""
        context = self.context(case, mode)
        energies = [
            context.getState(energy=True, groups=groups).getPotentialEnergy()._value / KJ_PER_KCAL
            for groups in ({0}, {1, 2})
        ]
        forces = context.getState(forces=True).getForces()._value
        sites = len(forces) // (case.molecules * self.copies(case, mode))
        factor = NM_PER_A / KJ_PER_KCAL
        atoms = [f for index, f in enumerate(forces) if index % sites < 3]
        forces = [tuple(x * factor for x in f) for f in atoms]
        return tuple(e / self.copies(case, mode) for e in energies), forces

    def time(self, case, folder, mode, steps):
        """@return seconds for the steps of all copies; one cluster makes those of all."""
        integrator = self.context(case, mode).getIntegrator()
        start = time.perf_counter()
        integrator.step(steps * case.copies // self.copies(case, mode))
        return time.perf_counter() - start


class OpenMMRings(OpenMM):
    """Ring polymers with RPMDIntegrator: all beads start at the structure."""

    def __init__(self, platform, model, beads):
        super().__init__(platform, model)
        self.beads = beads
        self.how = self.how.replace("LangevinMiddleIntegrator", f"RPMDIntegrator, {beads} beads")

    def integrator(self, openmm):
        return openmm.RPMDIntegrator(
            self.beads, programs.TEMPERATURE_K, programs.FRICTION_PER_PS, TIMESTEP_FS * 1e-3
        )

    def start(self, context):
        start_rings(context, self.beads)
