"""Path-integral averages of q-TIP4P/F clusters by tarn, by OpenMM and by i-PI with forces of `tarn serve`.

Each program makes independent runs from the same structure. A run is a list of samples, a dictionary
of QUANTITIES each, at intervals of SAMPLE_FS after the equilibration.
"""

import csv
import glob
import importlib.metadata
import math
import os
import resource
import shutil
import subprocess
import sys
import time

import openmm_flexible
import programs
import water
from openmm_flexible import BOLTZMANN_KCAL_PER_MOL_K
from water import KJ_PER_KCAL, NM_PER_A, BenchError

MODEL = "qtip4pf"
FRICTION_PER_PS = 5.0
SAMPLE_FS = 5.0
# Samples are averaged over blocks of this number, 0.1 ps: energies contain fast vibrations and a
# small part that relaxes slowly, with the friction, which the correlations of samples do not show.
BLOCK = 20
HBAR_KCAL_PS_PER_MOL = 1.054571817e-34 * 6.02214076e23 * 1e12 / 4184.0
KCAL_PER_DA_A2_PER_PS2 = 10.0 / 4184.0
# Name in tables, text of the page.
QUANTITIES = {
    "energy_virial_kcal_per_mol": "total energy, virial (kcal/mol)",
    "energy_primitive_kcal_per_mol": "total energy, primitive (kcal/mol)",
    "total_potential_kcal_per_mol": "potential energy (kcal/mol)",
    "kinetic_o_kcal_per_mol": "kinetic energy of an O (kcal/mol)",
    "kinetic_h_kcal_per_mol": "kinetic energy of an H (kcal/mol)",
    "gyration2_o_A2": "radius of gyration² of O (Å²)",
    "gyration2_h_A2": "radius of gyration² of H (Å²)",
    "oh_A": "O–H distance (Å)",
}


class System:
    """Clusters in vacuum with a number of beads at a temperature."""

    def __init__(self, name, molecules, temperature_K, beads):
        self.name, self.molecules = name, molecules
        self.temperature_K, self.beads = temperature_K, beads

    def title(self):
        cluster = {1: "One molecule", 2: "Two molecules"}.get(self.molecules, f"{self.molecules} molecules")
        return f"{cluster} at {self.temperature_K:g} K with {self.beads} beads"


class Step:
    """A time step: `baoab` applies the noise between the half flows of the free ring, `obabo` at the ends."""

    def __init__(self, splitting, free_ring, timestep_fs):
        self.splitting, self.free_ring, self.timestep_fs = splitting, free_ring, timestep_fs

    def steps_in(self, duration_ps):
        return round(duration_ps * 1e3 / self.timestep_fs)

    def title(self):
        flow = {"cayley": "Cayley map", "exact": "exact flow"}[self.free_ring]
        return f"{self.splitting.upper()}, {flow}, {self.timestep_fs:g} fs"


DEFAULT_STEP = Step("baoab", "cayley", 0.5)
# Steps whose errors are below the statistical ones of some minutes.
OPENMM_STEP = Step("obabo", "exact", 0.125)
IPI_STEP = Step("baoab", "exact", 0.5)


class Run:
    """Samples of one run; `bead_steps` were done in `seconds` of processor time, including start-up."""

    def __init__(self, samples, bead_steps, seconds):
        self.samples, self.bead_steps, self.seconds = samples, bead_steps, seconds


def child_seconds():
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def atom_means(values):
    """@return (value of an O, mean value of an H) of values of the atoms O H H O H H ..."""
    oxygens = values[0::3]
    return sum(oxygens) / len(oxygens), (sum(values) - sum(oxygens)) / (len(values) - len(oxygens))


def dot(a, b):
    return a[0] * b[0] + a[1] * b[1] + a[2] * b[2]


def minus(a, b):
    return a[0] - b[0], a[1] - b[1], a[2] - b[2]


def displacements_A(positions_A):
    """@return [bead][atom] vectors from the centroid of the ring of the atom"""
    centroids = [tuple(sum(x) / len(x) for x in zip(*ring)) for ring in zip(*positions_A)]
    return [[minus(r, centroid) for r, centroid in zip(bead, centroids)] for bead in positions_A]


def kinetic_energies(temperature_K, positions_A, forces_kcal_per_mol_A):
    """Kinetic energies [kcal/mol] of one cluster: (of an O, of an H, of all atoms by the primitive estimator).

    The first two are centroid-virial. Positions and forces of the potential: [bead][atom] vectors, O H H O H H ...
    """
    beads, atoms = len(positions_A), len(positions_A[0])
    kT = BOLTZMANN_KCAL_PER_MOL_K * temperature_K
    away_A = displacements_A(positions_A)
    virials = [
        sum(dot(away_A[j][a], forces_kcal_per_mol_A[j][a]) for j in range(beads)) / beads for a in range(atoms)
    ]
    # Forces are minus the gradient.
    kinetic_o, kinetic_h = atom_means([1.5 * kT - 0.5 * virial for virial in virials])
    stiffness = (beads * kT / HBAR_KCAL_PS_PER_MOL) ** 2 * KCAL_PER_DA_A2_PER_PS2
    spring = 0.0
    for bead, next_bead in zip(positions_A, positions_A[1:] + positions_A[:1]):
        for a in range(atoms):
            to_next_A = minus(next_bead[a], bead[a])
            spring += 0.5 * water.MASSES_DA[a % 3] * stiffness * dot(to_next_A, to_next_A)
    return kinetic_o, kinetic_h, 1.5 * atoms * beads * kT - spring / beads


def shape(positions_A):
    """Sample with the squared radii of gyration and the mean O-H distance of the beads, [bead][atom] vectors."""
    beads, atoms = len(positions_A), len(positions_A[0])
    away_A = displacements_A(positions_A)
    squares = [sum(dot(bead[a], bead[a]) for bead in away_A) / beads for a in range(atoms)]
    bonds_A = [math.dist(bead[a], bead[a - a % 3]) for bead in positions_A for a in range(atoms) if a % 3]
    gyration2_o, gyration2_h = atom_means(squares)
    return {
        "gyration2_o_A2": gyration2_o,
        "gyration2_h_A2": gyration2_h,
        "oh_A": sum(bonds_A) / len(bonds_A),
    }


def sample_of(positions_A, potential, kinetic_o, kinetic_h, kinetic_primitive):
    """Sample of one cluster from its beads and energies [kcal/mol]; kinetic energies as in kinetic_energies()."""
    sample = shape(positions_A)
    sample["kinetic_o_kcal_per_mol"], sample["kinetic_h_kcal_per_mol"] = kinetic_o, kinetic_h
    sample["total_potential_kcal_per_mol"] = potential
    molecules = len(positions_A[0]) // 3
    sample["energy_virial_kcal_per_mol"] = potential + molecules * (kinetic_o + 2.0 * kinetic_h)
    sample["energy_primitive_kcal_per_mol"] = potential + kinetic_primitive
    return sample


# --- tarn ---


class Tarn:
    """One process, in which many replicas run at once."""

    platform = "CPU, one thread, 16 clusters at once"
    limited_by = "steps, and samples of all clusters"
    runs, duration_ps, equilibration_ps, replicas = 4, 20.0, 3.0, 16

    def __init__(self, name, label, executable, step):
        self.name, self.label, self.executable, self.step = name, label, executable, step

    def missing(self):
        if shutil.which(self.executable):
            return None
        return f"{self.executable} was not found; build it, or set --tarn"

    def version(self):
        completed = subprocess.run([self.executable, "--version"], capture_output=True, text=True)
        return completed.stdout.splitlines()[0].removeprefix("tarn ")

    def deck(self, system, structure, seed, duration_ps):
        every = self.step.steps_in(1e-3 * SAMPLE_FS)
        # `gla` is a step and then the noise. Halves of the noise before and after the step, as in
        # OBABO, give the same distribution of the positions.
        kind = {"baoab": "baoab", "obabo": "gla"}[self.step.splitting]
        return f"""[system]
file = "{structure}"
model = "{MODEL}"
replicas = {self.replicas}
seed = {seed}

[integrator]
scheme = "verlet"
timestep_fs = {self.step.timestep_fs!r}

[thermostat]
kind = "{kind}"
temperature_K = {float(system.temperature_K)!r}
friction_per_ps = {FRICTION_PER_PS!r}

[path_integral]
beads = {system.beads}
frequencies = "trotter"
free_ring = "{self.step.free_ring}"

[run]
duration_ps = {duration_ps + self.equilibration_ps!r}
equilibration_ps = {self.equilibration_ps!r}

[observe.path_integral]
every = {every}
replicas = "mean"

[observe.geometry]
every = {every}
replicas = "mean"
"""

    def run(self, system, structure, folder, seed, duration_ps):
        deck = programs.write(folder, "deck.toml", self.deck(system, structure, seed, duration_ps))
        out = os.path.join(folder, "out")
        before = child_seconds()
        completed = subprocess.run(
            [self.executable, "run", deck, "-o", out, "--overwrite", "--quiet", "--threads", "1"],
            capture_output=True,
            text=True,
        )
        if completed.returncode != 0:
            raise BenchError(f"tarn run {deck}: {completed.stderr.strip()}")
        spent = child_seconds() - before
        steps = self.step.steps_in(duration_ps + self.equilibration_ps)
        return Run(self.samples(out), steps * system.beads * self.replicas, spent)

    def samples(self, out):
        rings, geometry = (table(os.path.join(out, f"{name}.csv")) for name in ("path_integral", "geometry"))
        result = []
        for ring, shape in zip(rings, geometry):
            if ring["time_ps"] <= self.equilibration_ps:
                continue
            sample = {name: ring[name] for name in QUANTITIES if name in ring}
            sample["total_potential_kcal_per_mol"] = (
                ring["potential_kcal_per_mol"] + ring["intramolecular_kcal_per_mol"]
            )
            sample["oh_A"] = shape["q_oh_A"]
            result.append(sample)
        return result


def table(path):
    """@return rows of a table of means over the replicas, as dictionaries of numbers"""
    with open(path, newline="") as file:
        file.readline()
        return [
            {key: float(value) for key, value in row.items() if key != "replica"} for row in csv.DictReader(file)
        ]


# --- OpenMM ---


class OpenMM:
    """RPMDIntegrator on the Reference platform, which computes in double precision; one cluster a run.

    Kinetic energies are those of kinetic_energies(), from positions and forces of the copies.
    """

    name, label, step = "openmm", "OpenMM", OPENMM_STEP
    platform = "Reference platform: CPU, one thread, one cluster"
    limited_by = "plain loops without vectorisation; Python reads each bead for a sample"
    runs, duration_ps, equilibration_ps = 4, 20.0, 3.0

    def missing(self):
        try:
            import openmm
        except ImportError:
            return "this Python has no OpenMM; pip install openmm"
        return None

    def version(self):
        import openmm

        return openmm.__version__

    def context(self, system, structure, seed):
        import openmm

        integrator = openmm.RPMDIntegrator(
            system.beads, system.temperature_K, FRICTION_PER_PS, self.step.timestep_fs * 1e-3
        )
        integrator.setRandomNumberSeed(seed)
        model = openmm_flexible.MODELS[MODEL]
        # Without a CMMotionRemover, the centre of mass has its temperature, as in the other programs.
        context = openmm.Context(
            openmm_flexible.build(openmm, model, system.molecules, 0.0),
            integrator,
            openmm.Platform.getPlatformByName("Reference"),
        )
        sites = context.getSystem().getNumParticles() // system.molecules
        context.setPositions(openmm_flexible.places_nm(water.read_xyz(structure), 1, sites))
        context.computeVirtualSites()
        context.setVelocitiesToTemperature(system.temperature_K, seed)
        openmm_flexible.start_rings(context, system.beads)
        return context

    def sample(self, system, integrator):
        positions_A, forces, potential = [], [], 0.0

        def atoms(rows, factor):  # without the massless sites
            sites = len(rows) // system.molecules
            return [tuple(factor * x for x in row) for index, row in enumerate(rows) if index % sites < 3]

        for bead in range(system.beads):
            state = integrator.getState(bead, getPositions=True, getForces=True, getEnergy=True)
            positions_A.append(atoms(state.getPositions()._value, 1.0 / NM_PER_A))
            forces.append(atoms(state.getForces()._value, NM_PER_A / KJ_PER_KCAL))
            potential += state.getPotentialEnergy()._value / KJ_PER_KCAL / system.beads
        return sample_of(positions_A, potential, *kinetic_energies(system.temperature_K, positions_A, forces))

    def run(self, system, structure, folder, seed, duration_ps):
        begin = time.process_time()
        context = self.context(system, structure, seed)  # the integrator does not own it
        integrator = context.getIntegrator()
        integrator.step(self.step.steps_in(self.equilibration_ps))
        samples = []
        for _ in range(round(duration_ps * 1e3 / SAMPLE_FS)):
            integrator.step(self.step.steps_in(1e-3 * SAMPLE_FS))
            samples.append(self.sample(system, integrator))
        steps = self.step.steps_in(duration_ps + self.equilibration_ps)
        return Run(samples, steps * system.beads, time.process_time() - begin)


# --- i-PI ---


class IPi:
    """i-PI with the forces of one `tarn serve`. Kinetic energies are those that i-PI writes."""

    name, label, step = "ipi", "i-PI", IPI_STEP
    platform = "Python, with one process of `tarn serve`, one cluster"
    limited_by = "Python, and a message for each bead and step"
    # i-PI is slow. Energies relax with the friction of the centroids, in 0.2 ps.
    runs, duration_ps, equilibration_ps = 2, 3.0, 1.0

    def __init__(self, tarn):
        self.tarn = tarn
        beside_python = os.path.join(os.path.dirname(sys.executable), "i-pi")
        self.executable = beside_python if os.path.exists(beside_python) else "i-pi"

    def missing(self):
        if not shutil.which(self.executable):
            return "i-pi was not found; pip install ipi"
        return None

    def version(self):
        try:
            return importlib.metadata.version("ipi")
        except importlib.metadata.PackageNotFoundError:
            return "unknown"

    def input(self, system, start, socket, seed, duration_ps):
        masses = ", ".join(repr(mass) for mass in water.MASSES_DA * system.molecules)
        every = self.step.steps_in(1e-3 * SAMPLE_FS)
        kinetic = "kinetic_cv{kilocal/mol}(O), kinetic_cv{kilocal/mol}(H), kinetic_td{kilocal/mol}"
        return f"""<simulation mode="static" verbosity="quiet">
  <output prefix="run">
    <properties filename="properties" stride="{every}" flush="100">
      [ time{{picosecond}}, potential{{kilocal/mol}}, {kinetic} ]
    </properties>
    <trajectory filename="positions" stride="{every}" flush="100" cell_units="angstrom">
      positions{{angstrom}}
    </trajectory>
  </output>
  <total_steps> {self.step.steps_in(duration_ps + self.equilibration_ps)} </total_steps>
  <prng> <seed> {seed} </seed> </prng>
  <ffsocket name="tarn" mode="unix" pbc="false"> <address> {socket} </address> </ffsocket>
  <system>
    <initialize nbeads="{system.beads}">
      <file mode="xyz" units="angstrom"> {start} </file>
      <cell mode="abc" units="angstrom"> [ 1000, 1000, 1000 ] </cell>
      <masses mode="manual" units="dalton"> [ {masses} ] </masses>
      <velocities mode="thermal" units="kelvin"> {system.temperature_K} </velocities>
    </initialize>
    <forces> <force forcefield="tarn"/> </forces>
    <normal_modes propagator="{self.step.free_ring}"/>
    <ensemble> <temperature units="kelvin"> {system.temperature_K} </temperature> </ensemble>
    <motion mode="dynamics">
      <fixcom> False </fixcom>
      <dynamics mode="nvt" splitting="{self.step.splitting}">
        <timestep units="femtosecond"> {self.step.timestep_fs} </timestep>
        <thermostat mode="pile_l">
          <tau units="femtosecond"> {1e3 / FRICTION_PER_PS} </tau>
          <pile_lambda> 1.0 </pile_lambda>
        </thermostat>
      </dynamics>
    </motion>
  </system>
</simulation>
"""

    def run(self, system, structure, folder, seed, duration_ps):
        for path in glob.glob(os.path.join(folder, "run.*")):
            os.remove(path)
        positions_A = water.read_xyz(structure)
        rows = [f"{water.SYMBOLS[i % 3]} {x!r} {y!r} {z!r}" for i, (x, y, z) in enumerate(positions_A)]
        programs.write(folder, "start.xyz", "\n".join([str(len(rows)), "start", *rows, ""]))
        socket = f"tarn-{os.getpid()}-{seed}"
        programs.write(folder, "input.xml", self.input(system, "start.xyz", socket, seed, duration_ps))
        before = child_seconds()
        with open(os.path.join(folder, "log.txt"), "w") as log:
            moving = subprocess.Popen(
                [self.executable, "input.xml"],
                **{"cwd": folder, "stdin": subprocess.DEVNULL, "stdout": log, "stderr": log},
                # Threads of the linear algebra do not make runs of a few atoms faster.
                env=dict(os.environ, OMP_NUM_THREADS="1", OPENBLAS_NUM_THREADS="1"),
            )
            serving = subprocess.Popen(
                [self.tarn, "serve", structure, "--unix", socket, "--wait", "600", "--quiet"],
                **{"stdin": subprocess.DEVNULL, "stdout": log, "stderr": log},
            )
            try:
                # i-PI waits for forces without end if the server fails.
                codes = serving.wait(), moving.wait() if serving.returncode == 0 else "unknown"
            finally:
                for process in (serving, moving):
                    process.kill()
                    process.wait()
        if codes != (0, 0):
            raise BenchError(f"tarn serve and i-PI ended with the codes {codes}: see {folder}/log.txt")
        steps = self.step.steps_in(duration_ps + self.equilibration_ps)
        return Run(self.samples(system, folder), steps * system.beads, child_seconds() - before)

    def samples(self, system, folder):
        with open(os.path.join(folder, "run.properties")) as file:
            rows = [[float(x) for x in line.split()] for line in file if not line.startswith("#")]
        paths = sorted(glob.glob(os.path.join(folder, "run.positions_*.xyz")))
        if len(paths) != system.beads:
            raise BenchError(f"{folder} contains positions of {len(paths)} beads instead of {system.beads}")
        result = []
        for row, *beads in zip(rows, *(frames_A(path) for path in paths)):
            time_ps, potential, kinetic_o, kinetic_h, kinetic_primitive = row
            if time_ps <= self.equilibration_ps:
                continue
            kinetic = kinetic_o / system.molecules, 0.5 * kinetic_h / system.molecules, kinetic_primitive
            result.append(sample_of(beads, potential, *kinetic))
        for path in paths:  # some hundred MB
            os.remove(path)
        return result


def frames_A(path):
    """Yields [atom] vectors of each frame of an XYZ file of i-PI, except for a last frame that is not complete."""
    with open(path) as file:
        lines = file.read().splitlines()
    length = int(lines[0]) + 2
    for start in range(0, len(lines) - length + 1, length):
        yield [tuple(float(x) for x in line.split()[1:4]) for line in lines[start + 2 : start + length]]


# --- averages ---


class Average:
    """Mean of several runs of one program.

    error: standard error, by the correlation of means of `block` samples; error_by_runs: the same by
    the spread of the runs; samples: number of samples; independent: number of independent samples
    that would have this error
    """

    def __init__(self, runs, block=BLOCK):
        self.samples = sum(len(run) for run in runs)
        self.mean = sum(sum(run) for run in runs) / self.samples
        blocks = [[sum(run[i : i + block]) / block for i in range(0, len(run) - block + 1, block)] for run in runs]
        factor, variance = inefficiency(blocks, self.mean)
        self.error = math.sqrt(variance * factor / sum(len(run) for run in blocks))
        deviations2 = sum((x - self.mean) ** 2 for run in runs for x in run) / self.samples
        self.independent = deviations2 / self.error**2 if self.error > 0.0 else math.nan
        self.error_by_runs = math.nan
        if len(runs) > 1:
            of_runs = sum(len(run) * (sum(run) / len(run) - self.mean) ** 2 for run in runs)
            self.error_by_runs = math.sqrt(of_runs / (len(runs) - 1) / self.samples)


def inefficiency(runs, mean):
    """@return (1 + 2 x the sum of the autocorrelations, variance) of samples of several runs.

    The sum ends where it contains five correlation times (Madras and Sokal 1988).
    """
    deviations = [[x - mean for x in run] for run in runs]

    def correlation(lag):
        pairs = sum(max(0, len(d) - lag) for d in deviations)
        total = sum(sum(a * b for a, b in zip(d, d[lag:])) for d in deviations)
        return total / pairs if pairs else 0.0

    variance = correlation(0)
    if variance == 0.0:
        return 1.0, 0.0
    result, longest = 1.0, max(len(d) for d in deviations)
    for lag in range(1, longest // 2):
        result += 2.0 * correlation(lag) / variance
        if lag >= 2.5 * result:
            return max(1.0, result), variance
    raise BenchError("the runs are too short for their correlation times; increase --scale")


def in_errors(one, other):
    """The difference of two averages divided by its standard error."""
    return (one.mean - other.mean) / math.hypot(one.error, other.error)
