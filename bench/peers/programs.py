"""One class per program: input files, energy and forces of a structure, timed steps."""

import math
import os
import re
import shutil
import subprocess
import json

import water
from water import KJ_PER_KCAL, NM_PER_A, BenchError

TIMESTEP_FS = 2.0
TEMPERATURE_K = 10.0
FRICTION_PER_PS = 5.0
SEED = 1

HERE = os.path.dirname(os.path.abspath(__file__))


class Case:
    """A timed case: `copies` clusters of one structure, on `cores`."""

    def __init__(self, structure, positions_A, copies, cores):
        self.structure = structure
        self.positions_A = positions_A
        self.molecules = len(positions_A) // 3
        self.copies = copies
        self.cores = cores

    @property
    def threads(self):
        return len(self.cores)

    def key(self):
        return {"molecules": self.molecules, "copies": self.copies, "threads": self.threads}

    def title(self):
        copies = f"{self.copies} times " if self.copies > 1 else ""
        return f"{copies}{self.molecules} molecules, {self.threads} thread{'s'[: self.threads > 1]}"

    def name(self):
        copies = f"-x{self.copies}" if self.copies > 1 else ""
        return f"n{self.molecules}{copies}-t{self.threads}"


class Machine:
    """Runs commands on given cores, at a given priority."""

    def __init__(self, nice):
        self.nice = nice

    def ask(self, *command):
        """@return standard output of a command that is not timed."""
        return self.run(list(command), os.sched_getaffinity(0), ".")

    def run(self, command, cores, folder, environment=None):
        """@return standard output. @throws BenchError with the last lines of a command that fails."""
        prefix = ["taskset", "-c", ",".join(str(core) for core in cores)]
        prefix += ["nice", "-n", str(self.nice)]
        variables = dict(os.environ, **(environment or {}))
        completed = subprocess.run(
            prefix + command,
            cwd=folder,
            env=variables,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
        )
        if completed.returncode != 0:
            lines = [
                line
                for line in (completed.stdout + completed.stderr).splitlines()
                if line.strip(" -")
            ]
            last = "\n".join("    " + line for line in lines[-12:])
            raise BenchError(
                f"{os.path.basename(command[0])} failed: {failure_line(lines)}\n"
                f"    in {folder}: {' '.join(command)}\n{last}"
            )
        return completed.stdout


def failure_line(lines):
    """The most informative line about a failure."""
    for number, line in enumerate(lines):
        if re.search("error", line, re.IGNORECASE):
            # GROMACS describes the error on the following lines.
            return " ".join(" ".join(lines[number : number + 2]).split())
    return lines[-1].strip() if lines else "no output"


def openmp_threads(cores):
    """One OpenMP thread per core, each bound to its core; two on one core would wait for each other."""
    places = ",".join(f"{{{core}}}" for core in cores)
    return {"OMP_NUM_THREADS": str(len(cores)), "OMP_PLACES": places, "OMP_PROC_BIND": "close"}


def write(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write(text)
    return path


def read(folder, name):
    try:
        with open(os.path.join(folder, name)) as file:
            return file.read()
    except OSError as error:
        raise BenchError(f"cannot read {name}: {error.strerror}") from None


def found(pattern, text, what):
    match = re.search(pattern, text)
    if not match:
        raise BenchError(f"the output contains no {what}")
    return match


def warm_up(steps):
    """Number of steps before the timed ones."""
    return max(steps // 4, 10)


class Program:
    """A program. Subclasses define how it is found, checked and timed.

    label: its name in tables; group: its name for --only; how: one sentence about its settings;
    modes: alternative settings; each is checked, and the fastest is timed
    """

    label = group = how = package = ""
    modes = (None,)
    ensembles = False  # whether it can simulate many clusters at once

    def __init__(self, machine, executable):
        self.machine, self.executable = machine, executable

    def missing(self):
        """@return why it cannot run on this machine, or None."""
        if shutil.which(self.executable):
            return None
        if "/" in self.executable:
            return f"{self.executable} does not exist"
        return f"{self.executable} was not found; install the package {self.package}"

    def version(self):
        raise NotImplementedError

    def mode_name(self, mode):
        return ""

    def energy(self, case, folder, mode):
        """@return water.Energy of all copies of the structure."""
        raise NotImplementedError

    def prepare(self, case, folder):
        """Writes the input files of runs."""

    def positions_after(self, case, folder, mode, steps):
        """@return positions [A] of all copies after the steps."""
        raise NotImplementedError

    def time(self, case, folder, mode, steps):
        """@return seconds of the steps by the program's own clock, without start-up."""
        raise NotImplementedError


# --- tarn ---


class Tarn(Program):
    group = "tarn"
    ensembles = True

    temperature_K = TEMPERATURE_K

    def __init__(
        self, machine, executable, scheme, thermostat, precision, model="tip3p", timestep_fs=TIMESTEP_FS, beads=1
    ):
        super().__init__(machine, executable)
        self.scheme, self.thermostat, self.precision = scheme, thermostat, precision
        self.model, self.timestep_fs, self.beads = model, timestep_fs, beads
        self.label = f"tarn {scheme}+{thermostat} {precision}"
        self.how = f"scheme {scheme}, thermostat {thermostat}, precision {precision}, no observers"

    def missing(self):
        if shutil.which(self.executable):
            return None
        return f"{self.executable} was not found; build it, or set --tarn"

    def version(self):
        output = self.machine.ask(self.executable, "--version").strip()
        return output.splitlines()[0]

    def deck(self, case):
        rings = f"[path_integral]\nbeads = {self.beads}\n" if self.beads > 1 else ""
        return f"""{rings}[system]
file = "{case.structure}"
model = "{self.model}"
replicas = {case.copies}
seed = {SEED}
[integrator]
scheme = "{self.scheme}"
timestep_fs = {self.timestep_fs}
[thermostat]
kind = "{self.thermostat}"
temperature_K = {self.temperature_K}
friction_per_ps = {FRICTION_PER_PS}
[run]
steps = 1
precision = "{self.precision}"
device = "cpu"
"""

    def prepare(self, case, folder):
        write(folder, "deck.toml", self.deck(case))

    def time(self, case, folder, mode, steps):
        self.machine.run(
            [self.executable, "run", "deck.toml", "--set", f"run.steps={steps}", "--out", "out"]
            + ["--overwrite", "--quiet", "--threads", str(case.threads)],
            case.cores,
            folder,
        )
        record = json.loads(read(folder, "out/run.json"))
        if record["status"] != "finished" or record["blow_ups"]:
            raise BenchError(f"the run in {folder} did not finish: {record['status']}")
        return record["wall_seconds"]


# --- GROMACS ---

# The box and the cutoffs are large enough for all pairs of a cluster, without periodic images.
GROMACS_BOX_NM, GROMACS_CUTOFF_NM, GROMACS_CORNER_NM = 30.0, 10.0, 1.0
# Many clusters in one box: cutoffs larger than a cluster and smaller than the gap between clusters.
GROMACS_SPACING_NM, GROMACS_SPACED_CUTOFF_NM = 6.0, 2.0


def gromacs_topology(molecules, settle):
    c6 = water.LJ_C_KCAL_A6_PER_MOL * KJ_PER_KCAL * NM_PER_A**6
    c12 = water.LJ_A_KCAL_A12_PER_MOL * KJ_PER_KCAL * NM_PER_A**12
    r_oh, r_hh = water.R_OH_A * NM_PER_A, water.R_HH_A * NM_PER_A
    if settle:
        rigid = f"[ settles ]\n1 1 {r_oh:.12g} {r_hh:.12g}\n"
    else:
        rigid = (
            f"[ constraints ]\n1 2 1 {r_oh:.12g}\n1 3 1 {r_oh:.12g}\n2 3 1 {r_hh:.12g}\n"
        )
    return f"""[ defaults ]
1 1 no 1.0 1.0
[ atomtypes ]
OW {water.MASS_O_DA} {water.CHARGE_O_E} A {c6:.12e} {c12:.12e}
HW {water.MASS_H_DA} {water.CHARGE_H_E} A 0.0 0.0
[ moleculetype ]
SOL 2
[ atoms ]
1 OW 1 SOL OW 1 {water.CHARGE_O_E} {water.MASS_O_DA}
2 HW 1 SOL HW1 1 {water.CHARGE_H_E} {water.MASS_H_DA}
3 HW 1 SOL HW2 1 {water.CHARGE_H_E} {water.MASS_H_DA}
{rigid}[ exclusions ]
1 2 3
2 1 3
3 1 2
[ system ]
water
[ molecules ]
SOL {molecules}
"""


def gromacs_places(positions_A, copies, spacing_nm):
    """Positions [nm] of all copies, and the edge of the cubic box [nm]."""
    low = water.lower_corner(positions_A)
    if copies == 1:
        shifts, box = [(GROMACS_CORNER_NM,) * 3], GROMACS_BOX_NM
    else:
        side = math.ceil(copies ** (1 / 3) - 1e-9)
        ticks = [(i + 0.2) * spacing_nm for i in range(side)]
        shifts = [(x, y, z) for x in ticks for y in ticks for z in ticks][:copies]
        box = side * spacing_nm
    places = [
        tuple((x - corner) * NM_PER_A + s for x, corner, s in zip(r, low, shift))
        for shift in shifts
        for r in positions_A
    ]
    return places, box


def gromacs_structure(places_nm, box_nm):
    lines = ["water", str(len(places_nm))]
    for atom, r in enumerate(places_nm):
        name = ("OW", "HW1", "HW2")[atom % 3]
        number = (atom // 3 + 1) % 100000
        numbers = "".join(f"{x:15.9f}" for x in r)
        lines.append(f"{number:5d}SOL  {name:>5s}{(atom + 1) % 100000:5d}{numbers}")
    lines.append(f"{box_nm:.5f} {box_nm:.5f} {box_nm:.5f}")
    return "\n".join(lines) + "\n"


def gromacs_settings(cutoff_nm, constraints, single_point):
    settings = {
        "cutoff-scheme": "Verlet",
        "verlet-buffer-tolerance": -1,
        "nstlist": 100000,
        "rlist": cutoff_nm,
        "rcoulomb": cutoff_nm,
        "rvdw": cutoff_nm,
        "coulombtype": "Cut-off",
        "epsilon-rf": 1,
        "vdw-modifier": "None",
        "DispCorr": "no",
        "constraint-algorithm": constraints,
        "comm-mode": "None",
        "nstcalcenergy": 1 if single_point else 100000,
        "nstenergy": 1 if single_point else 0,
        "nstlog": 0,
        "nstfout": 1 if single_point else 0,
    }
    if single_point:
        settings |= {"integrator": "md", "nsteps": 0, "continuation": "yes"}
    else:
        settings |= {
            "integrator": "sd",
            "dt": TIMESTEP_FS * 1e-3,
            "nsteps": -1,
            "tc-grps": "System",
            "tau-t": 1.0 / FRICTION_PER_PS,
            "ref-t": TEMPERATURE_K,
            "ld-seed": SEED,
            "gen-vel": "yes",
            "gen-temp": TEMPERATURE_K,
            "gen-seed": SEED,
        }
    return "".join(f"{key} = {value}\n" for key, value in settings.items())


class Gromacs(Program):
    group = "gromacs"
    package = "gromacs"
    ensembles = True

    def __init__(self, machine, executable, settle):
        super().__init__(machine, executable)
        self.settle = settle
        self.label = f"GROMACS {'SETTLE' if settle else 'SHAKE'}"
        self.ensembles = settle
        self.spacing_nm, self.cutoff_nm = GROMACS_SPACING_NM, GROMACS_SPACED_CUTOFF_NM
        self.how = (
            f"{'SETTLE' if settle else 'SHAKE (tolerance 1e-4)'}, integrator sd, mixed precision, "
            f"box {GROMACS_BOX_NM:g} nm, plain cutoffs {GROMACS_CUTOFF_NM:g} nm, epsilon-rf 1, one "
            "pair list for 100 000 steps, OpenMP threads"
        )
        if settle:
            self.how += (
                f"; many clusters: {self.spacing_nm:g} nm apart in one box, cutoffs "
                f"{self.cutoff_nm:g} nm"
            )

    def version(self):
        output = self.machine.ask(self.executable, "--version")
        version = found(r"GROMACS version:\s*(\S+)", output, "GROMACS version").group(1)
        simd = found(r"SIMD instructions:\s*(\S+)", output, "SIMD level").group(1)
        return f"{version}, SIMD {simd}"

    def gmx(self, arguments, cores, folder):
        return self.machine.run(
            [self.executable, "-quiet", "-nobackup"] + arguments,
            cores,
            folder,
            openmp_threads(cores),
        )

    def inputs(self, case, folder, name, single_point):
        cutoff = GROMACS_CUTOFF_NM if case.copies == 1 else self.cutoff_nm
        places, box = gromacs_places(case.positions_A, case.copies, self.spacing_nm)
        write(folder, f"{name}.gro", gromacs_structure(places, box))
        write(folder, f"{name}.top", gromacs_topology(case.molecules * case.copies, self.settle))
        constraints = "LINCS" if self.settle else "SHAKE"  # the topology selects SETTLE
        write(folder, f"{name}.mdp", gromacs_settings(cutoff, constraints, single_point))
        self.gmx(
            ["grompp", "-f", f"{name}.mdp", "-c", f"{name}.gro", "-p", f"{name}.top"]
            + ["-o", f"{name}.tpr", "-po", f"{name}.out.mdp", "-maxwarn", "5"],
            case.cores,
            folder,
        )

    def mdrun(self, case, folder, name, arguments):
        self.gmx(
            ["mdrun", "-deffnm", name, "-ntmpi", "1", "-ntomp", str(case.threads), "-pin", "off"]
            + ["-nb", "cpu"]
            + arguments,
            case.cores,
            folder,
        )

    def energy(self, case, folder, mode):
        self.inputs(case, folder, "point", True)
        self.mdrun(case, folder, "point", ["-noconfout"])
        output = self.gmx(["dump", "-e", "point.edr"], case.cores, folder)

        def term(name):
            pattern = r"^\s*" + re.escape(name) + r"\s+([-+0-9.e]+)"
            match = re.search(pattern, output, re.MULTILINE)
            if not match:
                raise BenchError(f"{folder}/point.edr contains no '{name}'")
            return float(match.group(1)) / KJ_PER_KCAL

        said_forces = self.gmx(["dump", "-f", "point.trr"], case.cores, folder)
        rows = re.findall(r"^\s*f\[\s*\d+\]=\{([^}]*)\}", said_forces, re.MULTILINE)
        factor = NM_PER_A / KJ_PER_KCAL
        forces = [tuple(float(x) * factor for x in row.split(",")) for row in rows]
        return water.Energy(term("Coulomb (SR)"), term("LJ (SR)"), forces)

    def prepare(self, case, folder):
        self.inputs(case, folder, "run", False)

    def positions_after(self, case, folder, mode, steps):
        self.mdrun(case, folder, "run", ["-nsteps", str(steps), "-c", "final.g96"])
        block = read(folder, "final.g96").split("POSITION\n")[1].split("END\n")[0]
        rows = [line[24:].split() for line in block.splitlines()]
        return [tuple(float(x) / NM_PER_A for x in row) for row in rows]

    def time(self, case, folder, mode, steps):
        before = warm_up(steps)
        counts = ["-nsteps", str(before + steps), "-resetstep", str(before)]
        self.mdrun(case, folder, "run", counts + ["-noconfout", "-cpt", "-1"])
        log = read(folder, "run.log")
        wall = found(r"\n\s+Time:\s+[0-9.]+\s+([0-9.]+)", log, "wall time in run.log").group(1)
        return float(wall)


class OtherGromacs(Gromacs):
    """A GROMACS built by the user, named by its version."""

    def __init__(self, machine, executable):
        super().__init__(machine, executable, True)
        self.label = f"GROMACS {executable}"
        self.how = "built by the user, not Debian's package; " + self.how

    def version(self):
        version = super().version()
        self.label = f"GROMACS {version.replace(', SIMD', '')} SETTLE"
        return version


# --- LAMMPS ---

LAMMPS_CUTOFF_A = 400.0


def lammps_data(positions_A):
    low = water.lower_corner(positions_A)
    high = tuple(max(r[axis] for r in positions_A) for axis in range(3))
    middle = tuple(-(a + b) / 2 for a, b in zip(low, high))
    molecules = len(positions_A) // 3
    lines = ["water", ""]
    lines += [f"{3 * molecules} atoms", "2 atom types"]
    lines += [f"{2 * molecules} bonds", "1 bond types"]
    lines += [f"{molecules} angles", "1 angle types", ""]
    half = LAMMPS_CUTOFF_A
    lines += [f"{-half} {half} {axis}lo {axis}hi" for axis in "xyz"]
    lines += ["", "Masses", "", f"1 {water.MASS_O_DA}", f"2 {water.MASS_H_DA}"]
    lines += ["", "Atoms # full", ""]
    for atom, r in enumerate(water.moved(positions_A, middle)):
        kind = 1 if atom % 3 == 0 else 2
        place = " ".join(repr(x) for x in r)
        lines.append(f"{atom + 1} {atom // 3 + 1} {kind} {water.CHARGES_E[atom % 3]} {place}")
    lines += ["", "Bonds", ""]
    for m in range(molecules):
        lines += [f"{2 * m + h} 1 {3 * m + 1} {3 * m + 1 + h}" for h in (1, 2)]
    lines += ["", "Angles", ""]
    lines += [f"{m + 1} 1 {3 * m + 2} {3 * m + 1} {3 * m + 3}" for m in range(molecules)]
    return "\n".join(lines) + "\n"


# Only oxygens interact by Lennard-Jones; in both modes it costs nothing for the other pairs.
LAMMPS_PAIRS = {
    "lj/cut/coul/cut": f"""pair_style lj/cut/coul/cut {LAMMPS_CUTOFF_A}
pair_coeff 1 1 EPSILON SIGMA
pair_coeff 1 2 0.0 1.0 0.1 {LAMMPS_CUTOFF_A}
pair_coeff 2 2 0.0 1.0 0.1 {LAMMPS_CUTOFF_A}
""",
    "hybrid/overlay of lj/cut/opt and coul/cut": (
        f"""pair_style hybrid/overlay lj/cut/opt {LAMMPS_CUTOFF_A} coul/cut {LAMMPS_CUTOFF_A}
pair_coeff 1 1 lj/cut/opt EPSILON SIGMA
pair_coeff * * coul/cut
"""
    ),
}


def lammps_system(data, mode):
    pairs = LAMMPS_PAIRS[mode].replace("EPSILON", f"{water.LJ_EPSILON_KCAL_PER_MOL:.15g}")
    style, coefficients = pairs.replace("SIGMA", f"{water.LJ_SIGMA_A:.15g}").split("\n", 1)
    return f"""units real
atom_style full
boundary f f f
newton on
atom_modify sort 0 0
special_bonds lj/coul 0.0 0.0 0.0
bond_style harmonic
angle_style harmonic
{style}
read_data {data}
bond_coeff 1 0.0 {water.R_OH_A}
angle_coeff 1 0.0 {water.ANGLE_HOH_DEGREES}
{coefficients}neighbor 2.0 nsq
neigh_modify delay 0 every 1000000000 check no one 20000 page 2000000
"""


def lammps_energy(data, mode):
    return (
        lammps_system(data, mode)
        + """compute coulomb all pair COULOMB ecoul
compute lj all pair LJ evdwl
thermo_style custom step c_coulomb c_lj
thermo_modify format float %.15g
dump forces all custom 1 forces.txt id fx fy fz
dump_modify forces sort id format float %.15g
run 0
"""
    ).replace("COULOMB", "coul/cut" if "hybrid" in mode else mode).replace(
        "LJ", "lj/cut/opt" if "hybrid" in mode else mode
    )


def lammps_steps(data, mode, before, steps):
    return (
        lammps_system(data, mode)
        + f"""velocity all create {TEMPERATURE_K} {SEED}
timestep {TIMESTEP_FS}
fix move all nve
fix bath all langevin {TEMPERATURE_K} {TEMPERATURE_K} {1000.0 / FRICTION_PER_PS} {SEED}
fix rigid all shake 0.0001 20 0 b 1 a 1
thermo {10 * (before + steps)}
run {before}
run {steps}
"""
    )


class Lammps(Program):
    label = "LAMMPS"
    group = "lammps"
    package = "lammps"
    how = (
        "fix shake (tolerance 1e-4) with fix nve and fix langevin, double precision, the faster of "
        f"the pair styles {' and '.join(LAMMPS_PAIRS)}, cutoff {LAMMPS_CUTOFF_A:g} A, one neighbour "
        "list for the whole run; several cores by MPI processes"
    )

    modes = tuple(LAMMPS_PAIRS)

    def __init__(self, machine):
        super().__init__(machine, "lmp")

    def mode_name(self, mode):
        return mode

    def version(self):
        output = self.machine.ask(self.executable, "-h")
        return found(r"Simulator - (.*)", output, "LAMMPS version").group(1).strip()

    def lammps(self, case, folder, text):
        write(folder, "in.txt", text)
        command = [self.executable, "-in", "in.txt", "-log", "log.txt", "-screen", "none", "-nocite"]
        if case.threads > 1:
            if not shutil.which("mpirun"):
                raise BenchError("mpirun was not found; install the package openmpi-bin")
            ranks = [["-np", "1", "taskset", "-c", str(core)] + command for core in case.cores]
            command = ["mpirun", "--bind-to", "none"]
            command += ["--allow-run-as-root"] if os.geteuid() == 0 else []
            command += sum(([":"] + rank for rank in ranks[1:]), ranks[0])
        try:
            self.machine.run(command, case.cores, folder, {"OMP_NUM_THREADS": "1"})
        except BenchError as error:
            # LAMMPS writes errors to its log, not to the terminal.
            lines = read(folder, "log.txt").strip().splitlines()
            raise BenchError(f"lmp failed: {failure_line(lines)}\n{error}") from None
        return read(folder, "log.txt")

    def rows(self, folder, name):
        return [
            tuple(float(x) for x in line.split()[1:4])
            for line in read(folder, name).splitlines()[9:]
        ]

    def energy(self, case, folder, mode):
        self.prepare(case, folder)
        log = self.lammps(case, folder, lammps_energy("data.txt", mode))
        coulomb, lj = found(r"\n\s+0\s+(\S+)\s+(\S+)\s*\n", log, "energies in log.txt").groups()
        return water.Energy(float(coulomb), float(lj), self.rows(folder, "forces.txt"))

    def prepare(self, case, folder):
        write(folder, "data.txt", lammps_data(case.positions_A))

    def positions_after(self, case, folder, mode, steps):
        dump = (
            "write_dump all custom final.txt id x y z modify sort id format float %.15g\n"
        )
        self.lammps(case, folder, lammps_steps("data.txt", mode, 0, steps) + dump)
        return self.rows(folder, "final.txt")

    def time(self, case, folder, mode, steps):
        self.lammps(case, folder, lammps_steps("data.txt", mode, warm_up(steps), steps))
        return float(re.findall(r"Loop time of (\S+)", read(folder, "log.txt"))[-1])


# --- OpenMM ---


def openmm_input(positions_A):
    values = [
        len(positions_A) // 3,
        water.CHARGE_O_E,
        water.CHARGE_H_E,
        water.LJ_SIGMA_A * NM_PER_A,
        water.LJ_EPSILON_KCAL_PER_MOL * KJ_PER_KCAL,
        water.MASS_O_DA,
        water.MASS_H_DA,
        water.R_OH_A * NM_PER_A,
        water.R_HH_A * NM_PER_A,
    ]
    lines = [" ".join(repr(value) for value in values)]
    lines += [" ".join(repr(x * NM_PER_A) for x in r) for r in positions_A]
    return "\n".join(lines) + "\n"


class OpenMM(Program):
    label = "OpenMM"
    group = "openmm"
    package = "libopenmm-dev and libopenmm-plugins"
    # Platform and cutoff [nm]; 0: no cutoff.
    modes = (("CPU", 0.0), ("CPU", 20.0), ("Reference", 0.0))

    how = (
        "LangevinMiddleIntegrator, SETTLE (chosen by OpenMM), the fastest of: CPU platform "
        "without cutoff, CPU platform with cutoff 20 nm, Reference platform (double) without cutoff"
    )

    def __init__(self, machine, folder):
        super().__init__(machine, os.path.join(folder, "openmm_run"))

    def missing(self):
        if os.path.exists(self.executable):
            return None
        compiler = shutil.which(os.environ.get("CXX", "g++"))
        if not compiler:
            return "no C++ compiler was found for bench/peers/openmm_run.cpp; install the package g++"
        completed = subprocess.run(
            [compiler, "-O2", "-std=c++17", os.path.join(HERE, "openmm_run.cpp")]
            + ["-lOpenMM", "-o", self.executable],
            capture_output=True,
            text=True,
        )
        if completed.returncode != 0:
            first = (completed.stderr.strip().splitlines() or ["?"])[0]
            return f"openmm_run.cpp cannot be built ({first}); install the packages {self.package}"
        return None

    def version(self):
        return self.machine.ask(self.executable, "version").strip()

    def mode_name(self, mode):
        platform, cutoff_nm = mode
        return f"{platform}, {f'cutoff {cutoff_nm:g} nm' if cutoff_nm else 'no cutoff'}"

    def ask(self, case, folder, mode, task, arguments=()):
        """@return the numbers that openmm_run prints."""
        output = self.machine.run(
            [self.executable, "input.txt", task, mode[0], str(mode[1]), str(case.threads)]
            + [str(value) for value in arguments],
            case.cores,
            folder,
        )
        return [float(x) for x in output.split()]

    def energy(self, case, folder, mode):
        self.prepare(case, folder)
        numbers = self.ask(case, folder, mode, "energy")
        lj, whole = numbers[0] / KJ_PER_KCAL, numbers[1] / KJ_PER_KCAL
        return water.Energy(whole - lj, lj, triples(numbers[2:], NM_PER_A / KJ_PER_KCAL))

    def prepare(self, case, folder):
        write(folder, "input.txt", openmm_input(case.positions_A))

    def positions_after(self, case, folder, mode, steps):
        with_bath = (TEMPERATURE_K, FRICTION_PER_PS, steps)
        return triples(self.ask(case, folder, mode, "positions", with_bath), 1.0 / NM_PER_A)

    def time(self, case, folder, mode, steps):
        return self.ask(case, folder, mode, "time", (TEMPERATURE_K, FRICTION_PER_PS, steps))[0]


def triples(numbers, factor):
    return [tuple(x * factor for x in numbers[i : i + 3]) for i in range(0, len(numbers), 3)]
