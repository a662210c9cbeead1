"""Checks bench/peers without the peers; called by peers.sh. usage: peers.py TARN"""

import csv
import importlib.machinery
import importlib.util
import json
import math
import os
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

TARN = os.path.abspath(sys.argv.pop(1))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PEERS = os.path.join(ROOT, "bench", "peers")
sys.path.insert(0, PEERS)

import openmm_flexible
import programs
import report
import water

loader = importlib.machinery.SourceFileLoader("peers_run", os.path.join(PEERS, "run"))
bench = importlib.util.module_from_spec(importlib.util.spec_from_loader("peers_run", loader))
loader.exec_module(bench)

SEVEN = os.path.join(ROOT, "inputs", "structures", "tip3p-7.xyz")


def energy_by_hand(positions_A):
    """Coulomb and Lennard-Jones energy with the constants of water.py and tarn's 332.0637."""
    coulomb = lj = 0.0
    for j in range(len(positions_A)):
        for i in range(j - j % 3):
            r = math.dist(positions_A[i], positions_A[j])
            coulomb += 332.0637 * water.CHARGES_E[i % 3] * water.CHARGES_E[j % 3] / r
            if i % 3 == 0 and j % 3 == 0:
                s6 = (water.LJ_SIGMA_A / r) ** 6
                lj += 4.0 * water.LJ_EPSILON_KCAL_PER_MOL * (s6 * s6 - s6)
    return coulomb, lj


def case(copies=1):
    return programs.Case(SEVEN, water.read_xyz(SEVEN), copies, [0])


class Constants(unittest.TestCase):
    def test_energy_is_that_of_tarn(self):
        reference = water.tarn_energy(TARN, SEVEN)
        coulomb, lj = energy_by_hand(water.read_xyz(SEVEN))
        # Rounding: 189 pairs in double.
        self.assertAlmostEqual(coulomb / reference.coulomb, 1.0, delta=1e-12)
        self.assertAlmostEqual(lj / reference.lj, 1.0, delta=1e-12)

    def test_geometry_is_that_of_tarn(self):
        positions = water.read_xyz(SEVEN)
        self.assertLess(water.bond_errors_A(positions), 1e-9)
        stretched = [positions[0], tuple(1.001 * x for x in positions[1])] + positions[2:]
        self.assertGreater(water.bond_errors_A(stretched), 1e-4)


class Gromacs(unittest.TestCase):
    def section(self, text, name):
        rows = text.split(f"[ {name} ]\n")[1].split("[")[0].strip().splitlines()
        return [row.split() for row in rows]

    def test_topology(self):
        text = programs.gromacs_topology(7, True)
        atoms = self.section(text, "atoms")
        self.assertEqual([float(a[6]) for a in atoms], [-0.834, 0.417, 0.417])
        self.assertEqual([float(a[7]) for a in atoms], [15.9994, 1.008, 1.008])
        oxygen = self.section(text, "atomtypes")[0]
        # 595 kcal/mol A^6 and 582000 kcal/mol A^12, in kJ/mol and nm.
        self.assertAlmostEqual(float(oxygen[4]), 595.0 * 4.184e-6, delta=1e-14)
        self.assertAlmostEqual(float(oxygen[5]), 582000.0 * 4.184e-12, delta=1e-17)
        self.assertEqual(self.section(text, "settles")[0][2], "0.09572")
        self.assertAlmostEqual(float(self.section(text, "settles")[0][3]), 0.1513900654, delta=1e-9)
        self.assertEqual(self.section(text, "molecules"), [["SOL", "7"]])
        self.assertEqual(len(self.section(programs.gromacs_topology(7, False), "constraints")), 3)

    def test_structure_is_the_cluster_in_nm(self):
        positions = water.read_xyz(SEVEN)
        places, box = programs.gromacs_places(positions, 1, 6.0)
        lines = programs.gromacs_structure(places, box).splitlines()
        self.assertEqual(lines[1], "21")
        read = [tuple(float(line[20 + 15 * k : 35 + 15 * k]) for k in range(3)) for line in lines[2:23]]
        for i in range(21):
            self.assertTrue(all(1.0 <= x < 2.5 for x in read[i]))
            for j in range(i):
                distance = math.dist(positions[i], positions[j])
                # Nine decimals of a nm.
                self.assertAlmostEqual(10.0 * math.dist(read[i], read[j]), distance, delta=4e-8)

    def test_copies_do_not_see_each_other(self):
        places, box = programs.gromacs_places(water.read_xyz(SEVEN), 64, 6.0)
        self.assertEqual(len(places), 64 * 21)
        self.assertEqual(box, 24.0)
        oxygens = [places[21 * k] for k in range(64)]
        nearest = min(
            math.dist(a, [y + 24.0 * n for y, n in zip(b, (p, q, r))])
            for a in oxygens[:1]
            for b in oxygens
            for p in (-1, 0, 1)
            for q in (-1, 0, 1)
            for r in (-1, 0, 1)
            if b is not a or (p, q, r) != (0, 0, 0)
        )
        widest = max(math.dist(a, b) for a in places[:21] for b in places[:21])
        self.assertAlmostEqual(nearest, 6.0, delta=1e-9)
        self.assertLess(widest, programs.GROMACS_SPACED_CUTOFF_NM)
        self.assertGreater(nearest - 2.0 * widest, programs.GROMACS_SPACED_CUTOFF_NM)

    def test_settings(self):
        text = programs.gromacs_settings(10.0, "LINCS", False)
        given = dict(line.split(" = ") for line in text.splitlines())
        self.assertEqual((given["dt"], given["tau-t"], given["ref-t"]), ("0.002", "0.2", "10.0"))
        self.assertLess(float(given["rcoulomb"]), programs.GROMACS_BOX_NM / 2)


    def test_missing_program_names_its_package(self):
        peer = programs.Gromacs(programs.Machine(0), "no-such-gmx", True)
        self.assertEqual(peer.missing(), "no-such-gmx was not found; install the package gromacs")


class Lammps(unittest.TestCase):
    def test_data(self):
        text = programs.lammps_data(water.read_xyz(SEVEN))
        for line in ("21 atoms", "14 bonds", "7 angles", "1 15.9994", "2 1.008"):
            self.assertIn(f"\n{line}", text)
        atoms = text.split("Atoms # full\n\n")[1].split("\n\n")[0].splitlines()
        rows = [row.split() for row in atoms]
        self.assertEqual([row[:3] for row in rows[3:6]], [["4", "2", "1"], ["5", "2", "2"], ["6", "2", "2"]])
        self.assertAlmostEqual(sum(float(row[3]) for row in rows), 0.0, delta=1e-12)
        read = [tuple(float(x) for x in row[4:]) for row in rows]
        positions = water.read_xyz(SEVEN)
        self.assertAlmostEqual(math.dist(read[0], read[20]), math.dist(positions[0], positions[20]), delta=1e-12)
        bonds = text.split("Bonds\n\n")[1].split("\n\n")[0].splitlines()
        self.assertEqual(bonds[2:4], ["3 1 4 5", "4 1 4 6"])
        self.assertTrue(text.rstrip().endswith("7 1 20 19 21"))

    def test_steps(self):
        for mode in programs.LAMMPS_PAIRS:
            text = programs.lammps_steps("data.txt", mode, 10, 40)
            # 2 fs; a friction of 5/ps is a damping time of 200 fs.
            self.assertIn("timestep 2.0\n", text)
            self.assertIn("langevin 10.0 10.0 200.0 1\n", text)
            # 595^2 / (4 * 582000) kcal/mol and (582000 / 595)^(1/6) A.
            self.assertIn("0.15207259", text)
            self.assertIn("3.150656", text)
            self.assertNotIn("SIGMA", text)


class OpenMM(unittest.TestCase):
    def test_input(self):
        numbers = [float(x) for x in programs.openmm_input(water.read_xyz(SEVEN)).split()]
        self.assertEqual(len(numbers), 9 + 63)
        expected = (7, -0.834, 0.417, 0.3150656, 0.6362717, 15.9994, 1.008, 0.09572, 0.15139007)
        for value, known in zip(numbers, expected):
            self.assertAlmostEqual(value, known, delta=1e-7)
        self.assertAlmostEqual(numbers[9], 0.1 * water.read_xyz(SEVEN)[0][0], delta=1e-15)


class FakePeer(programs.Program):
    """tarn's own numbers, each with an error that the test asks for."""

    label = "fake"

    def __init__(self, charge_factor=1.0, stretch=1.0):
        self.charge_factor, self.stretch = charge_factor, stretch

    def energy(self, case, folder, mode):
        point = water.tarn_energy(TARN, case.structure).times(case.copies)
        point.coulomb *= self.charge_factor
        return point

    def positions_after(self, case, folder, mode, steps):
        return [tuple(self.stretch * x for x in r) for r in case.positions_A]


class Check(unittest.TestCase):
    def test_only_who_agrees_is_timed(self):
        reference = water.tarn_energy(TARN, SEVEN)
        self.assertEqual(bench.check(FakePeer(), case(), "", reference)[:2], (0.0, 0.0))
        self.assertEqual(bench.check(FakePeer(), case(3), "", reference)[:2], (0.0, 0.0))
        with self.assertRaisesRegex(water.BenchError, "energy differ"):
            bench.check(FakePeer(charge_factor=1.0002), case(), "", reference)
        with self.assertRaisesRegex(water.BenchError, "bonds"):
            bench.check(FakePeer(stretch=1.001), case(), "", reference)

    def test_forces_are_compared(self):
        reference = water.tarn_energy(TARN, SEVEN)
        other = reference.times(1)
        other.forces = list(reference.forces)
        x, y, z = other.forces[5]
        other.forces[5] = (x, y + 0.5 * reference.rms_force(), z)
        self.assertAlmostEqual(water.disagreement(reference, other)[1], 0.5, delta=1e-12)


def run_of(program, round_number, steps, seconds, copies=1):
    return {
        "molecules": 7, "copies": copies, "threads": 1, "program": program, "mode": "",
        "round": round_number, "steps": steps, "seconds": seconds,
    }  # fmt: skip


class Report(unittest.TestCase):
    def result(self):
        runs = []
        # Rates of tarn 100, 300, 200 and of the peer 50, 100, 200: ratios 2, 3, 1.
        for r, (seconds, others) in enumerate(((10.0, 20.0), (10.0 / 3, 10.0), (5.0, 5.0))):
            runs += [run_of("tarn settle mixed", r, 1000, seconds), run_of("peer", r, 1000, others)]
        runs.append(run_of("tarn settle mixed", 0, 10, 1.0, copies=64))
        programs_ = [
            {"label": name, "version": "1", "how": "somehow"} for name in ("tarn settle mixed", "peer")
        ]
        return {
            "machine": "a machine", "cores": 4, "loads": [1.0, 2.5], "rounds": 3, "seconds": 1.0, "tarns": ["tarn settle mixed"],
            "programs": programs_, "runs": runs, "left_out": [],
            "checks": [{"molecules": 7, "copies": 1, "threads": 1, "program": "peer",
                        "errors": [1e-6, 2e-6, 3e-6]}],
        }  # fmt: skip

    def test_ratios_are_those_of_rounds(self):
        of_case = report.rates(self.result()["runs"], (7, 1, 1))
        values = report.ratios(of_case, "tarn settle mixed", "peer")
        for value, known in zip(values, (2.0, 3.0, 1.0)):
            self.assertAlmostEqual(value, known, delta=1e-12)
        del of_case["peer"][1]
        self.assertEqual(len(report.ratios(of_case, "tarn settle mixed", "peer")), 2)

    def test_table(self):
        rows = list(report.rows(self.result()))
        self.assertEqual([row["program"] for row in rows], ["tarn settle mixed", "peer", "tarn settle mixed"])
        self.assertAlmostEqual(rows[1]["ratio"], 2.0)
        self.assertAlmostEqual(rows[1]["ratio_min"], 1.0)
        self.assertAlmostEqual(rows[1]["ratio_max"], 3.0)
        # Many clusters count as many.
        self.assertAlmostEqual(rows[2]["cluster_steps_per_s"], 640.0)
        self.assertEqual(rows[2]["ratio"], "nan")

    def test_page(self):
        page = report.page(self.result())
        self.assertIn("| N = 7 | peer | 100 (50–200) | 2.00 (1.00–3.00) |", page)
        self.assertIn("| peer | 1.0e-06 | 2.0e-06 | 3.0e-06 |", page)
        self.assertIn("64 × N = 7", page)
        self.assertIn("The load average was 1.0 to 2.5 on 4 cores", page)

    def test_numbers(self):
        shown = [report.number(x) for x in (0.5, 31.25, 999.0, 1234.0, 1755000.0)]
        self.assertEqual(shown, ["0.5", "31.2", "999", "1 230", "1 760 000"])


class WholeBench(unittest.TestCase):
    def run_bench(self, folder, *arguments):
        return subprocess.run(
            [os.path.join(PEERS, "run"), "--tarn", TARN, "--molecules", "2", "--threads", "1"]
            + ["--rounds", "2", "--seconds", "0.01", "--out", folder, *arguments],
            capture_output=True,
            text=True,
            # A gmx of the test, if there is one, comes before one of the system.
            env=dict(os.environ, PATH=f"{folder}:{os.environ['PATH']}"),
        )

    def test_help(self):
        said = subprocess.run([os.path.join(PEERS, "run"), "--help"], capture_output=True, text=True)
        self.assertTrue(said.stdout.startswith("usage: bench/peers/run"), said)

    def test_tarn_alone(self):
        with tempfile.TemporaryDirectory() as folder:
            said = self.run_bench(folder, "--only", "none")
            self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
            with open(os.path.join(folder, "peers.csv")) as file:
                self.assertTrue(file.readline().startswith("# bench/peers/run"))
                rows = list(csv.DictReader(file))
            self.assertEqual(len(rows), 6)
            for row in rows:
                self.assertEqual((row["molecules"], row["rounds"]), ("2", "2"))
                self.assertGreater(float(row["cluster_steps_per_s_min"]), 0.0)
            with open(os.path.join(folder, "runs.json")) as file:
                self.assertEqual(len(json.load(file)["runs"]), 12)
            again = self.run_bench(folder, "--page-of", os.path.join(folder, "runs.json"))
            self.assertEqual(again.returncode, 0, again.stderr)

    def test_a_peer_that_fails_says_why(self):
        with tempfile.TemporaryDirectory() as folder:
            fake = os.path.join(folder, "gmx")
            with open(fake, "w") as file:
                file.write(
                    "#!/bin/sh\n"
                    "case $* in *--version*) echo 'GROMACS version: 1'\n"
                    "echo 'SIMD instructions: none' ;;\n"
                    "*) echo 'Fatal error: out of salt'; exit 1 ;; esac\n"
                )
            os.chmod(fake, 0o755)
            said = self.run_bench(folder, "--only", "gromacs", "--gmx", fake)
            self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
            self.assertIn("GROMACS 1 none SETTLE is skipped", said.stdout)
            self.assertIn("out of salt", said.stdout)
            missing = self.run_bench(folder, "--only", "gromacs", "--gmx", fake + "-not")
            self.assertIn(f"{fake}-not does not exist", missing.stdout)

    def test_bad_arguments(self):
        with tempfile.TemporaryDirectory() as folder:
            said = self.run_bench(folder, "--only", "gromax")
            self.assertEqual(said.returncode, 1)
            self.assertIn("unknown program gromax", said.stderr)
            self.assertEqual(self.run_bench(folder, "--rounds", "0").returncode, 2)


class FlexibleBench(unittest.TestCase):
    """bench/peers/flexible, with OpenMM only if this Python has it."""

    def run_bench(self, *arguments):
        command = [sys.executable, os.path.join(PEERS, "flexible"), "--tarn", TARN, *arguments]
        return subprocess.run(command, capture_output=True, text=True)

    def test_stretch_of_each_model_is_that_of_tarn(self):
        # A molecule at the equilibrium angle, with one bond longer by 0.05 A.
        for name, model in openmm_flexible.MODELS.items():
            r, angle = model.r_eq_A + 0.05, math.radians(model.angle_degrees)
            h2 = (model.r_eq_A * math.cos(angle), model.r_eq_A * math.sin(angle), 0.0)
            with tempfile.TemporaryDirectory() as folder:
                path = os.path.join(folder, "one.xyz")
                water.write_xyz(path, [(0.0, 0.0, 0.0), (r, 0.0, 0.0), h2], name)
                values = water.tarn_values(TARN, path)
            energy, _, definition = model.stretch.replace("^", "**").partition("; s = ")
            variables = {"r": 0.1 * r, "exp": math.exp}
            if definition:
                variables["s"] = eval(definition, dict(variables))
            known = eval(energy, variables) / 4.184
            # Rounding: differences of lengths of 1 A to 0.05 A.
            self.assertAlmostEqual(values["intramolecular_kcal_per_mol"] / known, 1.0, delta=1e-12, msg=name)

    def test_tarn_is_timed(self):
        with tempfile.TemporaryDirectory() as folder:
            said = self.run_bench("--copies", "2", "--rounds", "2", "--seconds", "0.01", "--out", folder)
            self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
            with open(os.path.join(folder, "flexible.csv")) as file:
                self.assertTrue(file.readline().startswith("# bench/peers/flexible"))
                rows = [row for row in csv.DictReader(file) if row["program"].startswith("tarn")]
            self.assertEqual(len(rows), 4)
            for row in rows:
                self.assertGreater(float(row["cluster_steps_per_s_min"]), 0.0)
            with open(os.path.join(folder, "flexible.md")) as file:
                self.assertIn("| 2 × N = 7 | tarn verlet+baoab double |", file.read())

    def test_bad_arguments(self):
        self.assertEqual(self.run_bench("--rounds", "0").returncode, 2)
        missing = self.run_bench("--tarn", TARN + "-not")
        self.assertIn("was not found", missing.stderr)


class GpuBench(unittest.TestCase):
    """bench/peers/gpu on the CPU, where OpenMM may be missing."""

    def run_bench(self, *arguments):
        return subprocess.run(
            [os.path.join(PEERS, "gpu"), "--tarn", TARN, "--device", "cpu", *arguments],
            capture_output=True,
            text=True,
        )

    def test_tarn_alone_on_the_cpu(self):
        with tempfile.TemporaryDirectory() as folder:
            said = self.run_bench(
                *("--platform", "nowhere", "--only", "7x1,7x2", "--rounds", "2"),
                *("--seconds", "0.02", "--limit", "60", "--out", folder),
            )
            self.assertEqual(said.returncode, 0, said.stdout + said.stderr)
            self.assertIn("OpenMM mixed, no cutoff is skipped", said.stdout)
            with open(os.path.join(folder, "gpu_peers.csv")) as file:
                self.assertTrue(file.readline().startswith("# bench/peers/gpu"))
                rows = list(csv.DictReader(file))
            self.assertEqual([row["copies"] for row in rows], ["1", "2"])
            for row in rows:
                self.assertGreater(float(row["tarn_mixed_cluster_steps_per_s_min"]), 0.0)
                self.assertEqual(row["ratio"], "nan")

    def test_bad_arguments(self):
        self.assertEqual(self.run_bench("--only", "7y2").returncode, 2)
        self.assertEqual(self.run_bench("--rounds", "0").returncode, 2)
        missing = self.run_bench("--tarn", TARN + "-not")
        self.assertIn("does not exist", missing.stderr)


@unittest.skipUnless(shutil.which("gnuplot"), "gnuplot is not installed")
class GpuPage(unittest.TestCase):
    def test_the_page_follows_what_was_measured(self):
        root = os.path.dirname(os.path.dirname(PEERS))
        results = os.path.join(root, "docs", "results")
        with tempfile.TemporaryDirectory() as folder:
            own = os.path.join(folder, "docs", "results")
            os.makedirs(own)
            os.makedirs(os.path.join(folder, "bench"))
            script = shutil.copy(os.path.join(root, "bench", "gpu-page"), os.path.join(folder, "bench"))
            with open(os.path.join(results, "gpu.md")) as file:
                page = file.read()
            with open(os.path.join(own, "gpu.md"), "w") as file:
                # No generated table is left.
                tables = re.compile(r"(<!-- table: \w+ -->\n).*?(<!-- end -->)", re.DOTALL)
                file.write(tables.sub(r"\1\2", page))
            measured = [
                os.path.join(results, name)
                for name in ("gpu-bench.json", "gpu-peers.csv", "gpu-drift.csv", "gpu-runs.csv")
            ]
            subprocess.run([script, *measured], check=True)
            for name in ("gpu.md", "gpu.csv"):
                with open(os.path.join(own, name)) as made, open(os.path.join(results, name)) as known:
                    self.assertEqual(made.read(), known.read(), name)
            for name in ("gpu.svg", "gpu.png"):
                self.assertGreater(os.path.getsize(os.path.join(own, name)), 10_000)


if __name__ == "__main__":
    unittest.main()
