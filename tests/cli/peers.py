"""Checks bench/peers without the peers; called by peers.sh. usage: peers.py TARN"""

import csv
import importlib.machinery
import importlib.util
import json
import math
import os
import random
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree

TARN = os.path.abspath(sys.argv.pop(1))
ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
PEERS = os.path.join(ROOT, "bench", "peers")
sys.path.insert(0, PEERS)

import openmm_flexible
import path_integrals
import programs
import report
import water


def script(name):
    """A script of bench/peers as a module."""
    loader = importlib.machinery.SourceFileLoader(f"peers_{name}", os.path.join(PEERS, name))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader(loader.name, loader))
    loader.exec_module(module)
    return module


bench = script("run")
gpu = script("gpu")
quantum = script("quantum")


class Scripts(unittest.TestCase):
    """Runs the scripts of bench/peers with their output in a folder."""

    def setUp(self):
        self.folder = self.enterContext(tempfile.TemporaryDirectory())

    def path(self, name):
        return os.path.join(self.folder, name)

    def read(self, name):
        with open(self.path(name)) as file:
            return file.read()

    def run_script(self, name, *arguments, status=0):
        command = [sys.executable, os.path.join(PEERS, name), "--tarn", TARN, "--out", self.folder, *arguments]
        said = subprocess.run(command, capture_output=True, text=True)
        self.assertEqual(said.returncode, status, said.stdout + said.stderr)
        return said

    def rows_of(self, name):
        """The rows of a table, whose first line names the script."""
        first, *lines = self.read(name).splitlines()
        self.assertTrue(first.startswith("# bench/peers/"))
        return list(csv.DictReader(lines))


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


class WholeBench(Scripts):
    few = ("--molecules", "2", "--threads", "1", "--rounds", "2", "--seconds", "0.01")

    def test_tarn_alone(self):
        self.run_script("run", *self.few, "--only", "none")
        rows = self.rows_of("peers.csv")
        self.assertEqual(len(rows), 6)
        for row in rows:
            self.assertEqual((row["molecules"], row["rounds"]), ("2", "2"))
            self.assertGreater(float(row["cluster_steps_per_s_min"]), 0.0)
        self.assertEqual(len(json.loads(self.read("runs.json"))["runs"]), 12)
        self.run_script("run", "--page-of", self.path("runs.json"))


class FlexibleBench(Scripts):
    """bench/peers/flexible, with OpenMM only if this Python has it."""

    def test_stretch_of_each_model_is_that_of_tarn(self):
        # A molecule at the equilibrium angle, with one bond longer by 0.05 A.
        for name, model in openmm_flexible.MODELS.items():
            r, angle = model.r_eq_A + 0.05, math.radians(model.angle_degrees)
            h2 = (model.r_eq_A * math.cos(angle), model.r_eq_A * math.sin(angle), 0.0)
            water.write_xyz(self.path("one.xyz"), [(0.0, 0.0, 0.0), (r, 0.0, 0.0), h2], name)
            values = water.tarn_values(TARN, self.path("one.xyz"))
            energy, _, definition = model.stretch.replace("^", "**").partition("; s = ")
            variables = {"r": 0.1 * r, "exp": math.exp}
            if definition:
                variables["s"] = eval(definition, dict(variables))
            known = eval(energy, variables) / 4.184
            # Rounding: differences of lengths of 1 A to 0.05 A.
            self.assertAlmostEqual(values["intramolecular_kcal_per_mol"] / known, 1.0, delta=1e-12, msg=name)

    def test_tarn_is_timed(self):
        self.run_script("flexible", "--copies", "2", "--rounds", "2", "--seconds", "0.01")
        rows = [r for r in self.rows_of("flexible.csv") if r["program"].startswith("tarn")]
        self.assertEqual(len(rows), 4)
        for row in rows:
            self.assertGreater(float(row["cluster_steps_per_s_min"]), 0.0)
        self.assertIn("| 2 × N = 7 | tarn verlet+baoab double |", self.read("flexible.md"))


class Averages(unittest.TestCase):
    """Statistics and estimators of bench/peers/quantum."""

    def correlated(self, seed, count, memory):
        """A first-order autoregression of variance 1 and mean 3."""
        draw, values, x = random.Random(seed).gauss, [], 0.0
        for _ in range(count):
            x = memory * x + math.sqrt(1.0 - memory**2) * draw(0.0, 1.0)
            values.append(3.0 + x)
        return values

    def test_errors_contain_the_correlation(self):
        for memory in (0.0, 0.9):
            runs = [self.correlated(seed, 5000, memory) for seed in range(4)]
            average = path_integrals.Average(runs, 1)
            known = (1.0 + memory) / (1.0 - memory)
            # 4.5 errors of a sum over a window of 2.5 inefficiencies: sqrt(2 (2 * 2.5 known + 1) / 20000).
            tolerance = 4.5 * math.sqrt(2.0 * (5.0 * known + 1.0) / 20000.0)
            self.assertAlmostEqual(average.independent * known / 20000.0, 1.0, delta=2.0 * tolerance)
            self.assertLess(abs(average.mean - 3.0), 4.5 * average.error)
            self.assertAlmostEqual(average.error / math.sqrt(known / 20000.0), 1.0, delta=tolerance)

    def test_kinetic_energies_of_two_beads(self):
        # One molecule, whose beads are displaced by +-d along x and held by springs of the stiffness k.
        d, k = 0.1, 50.0
        places = [(0.0, 0.0, 0.0), (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)]
        beads = [[(x + sign * d, y, z) for x, y, z in places] for sign in (1.0, -1.0)]
        forces = [[(-sign * k * d, 0.0, 0.0)] * 3 for sign in (1.0, -1.0)]
        of_o, of_h, primitive = path_integrals.kinetic_energies(300.0, beads, forces)
        kT = 0.0019872041 * 300.0
        self.assertAlmostEqual(of_o, 1.5 * kT + 0.5 * k * d**2, delta=1e-12)
        self.assertAlmostEqual(of_h, of_o, delta=1e-12)
        # kT / hbar = 39.2761 per ps at 300 K, and 1 kcal/mol = 418.4 Da A^2/ps^2. Two links of 2 d.
        spring = 2 * 0.5 * (15.9994 + 2 * 1.008) * (2 * 39.2761) ** 2 * (2 * d) ** 2 / 418.4
        self.assertAlmostEqual(primitive, 4.5 * 2 * kT - spring / 2, delta=1e-5 * spring)
        measured = path_integrals.shape(beads)
        self.assertAlmostEqual(measured["gyration2_h_A2"], d**2, delta=1e-12)
        self.assertAlmostEqual(measured["oh_A"], 1.0, delta=1e-12)


class QuantumBench(Scripts):
    """bench/peers/quantum, with OpenMM and i-PI only if they are installed."""

    def test_tarn_alone(self):
        # The runs are read, and too short for averages.
        said = self.run_script("quantum", "--only", "tarn", "--systems", "monomer", "--scale", "0.01", status=1)
        self.assertIn("too short for their correlation times; increase --scale", said.stderr)

    def results(self, shift):
        """Fake results, with means of OpenMM that are higher by `shift` errors of both programs together."""
        system, runs = quantum.SYSTEMS[0], {}
        tarn = path_integrals.Tarn("tarn", "tarn", TARN, path_integrals.DEFAULT_STEP)
        for program in (tarn, path_integrals.OpenMM()):
            # The error of a mean of 1000 independent samples of +-1.
            higher = shift / math.sqrt(1000.0 / 2.0) if program.name == "openmm" else 0.0
            noise = [1.0, -1.0] * 500
            random.Random(7).shuffle(noise)
            samples = [{name: 10.0 + x + higher for name in path_integrals.QUANTITIES} for x in noise]
            run = {"samples": samples, "bead_steps": 320, "seconds": 2.0}
            data = {"version": "1", "step": program.step.title(), "runs": [run]}
            runs[program.name] = quantum.Measured(system, program, data)
        return {system.name: runs}

    def test_page(self):
        agreeing, differing = self.results(2.0), self.results(9.0)
        self.assertIn("All averages agree", quantum.page(agreeing, {}))
        page = quantum.page(differing, {"i-PI": "i-pi was not found; pip install ipi"})
        self.assertIn("combined standard errors, more than 4.5", page)
        self.assertIn("\ni-PI was skipped: i-pi was not found; pip install ipi\n", page)
        self.assertIn("| quantity | tarn | OpenMM | OpenMM − tarn |", page)
        self.assertIn("| monomer | OpenMM | 1 | OBABO, exact flow, 0.125 fs | 1 | 3 | 1000 |", page)
        error = agreeing["monomer"]["tarn"].averages["oh_A"].error
        self.assertEqual(len(list(quantum.differences(agreeing["monomer"]))), len(path_integrals.QUANTITIES))
        for *_, difference in quantum.differences(agreeing["monomer"]):
            self.assertAlmostEqual(difference, 2.0 / math.sqrt(1000.0) / error, delta=1e-9)

    def test_input_of_ipi(self):
        system = path_integrals.System("dimer", 2, 100.0, 16)
        text = path_integrals.IPi(TARN).input(system, "start.xyz", "socket", 3, 9.0)
        root = xml.etree.ElementTree.fromstring(text)

        def values(path):
            return root.find(path).text.strip()

        self.assertEqual(root.find("system/initialize").get("nbeads"), "16")
        self.assertEqual(values("total_steps"), "20000")
        self.assertEqual(values("system/motion/fixcom"), "False")
        # Friction 5/ps of the centroids.
        self.assertEqual(values("system/motion/dynamics/thermostat/tau"), "200.0")
        self.assertEqual(
            values("system/initialize/masses"), "[ 15.9994, 1.008, 1.008, 15.9994, 1.008, 1.008 ]"
        )
        self.assertEqual(root.find("output/properties").get("stride"), "10")


class GpuBench(Scripts):
    """bench/peers/gpu on the CPU, where OpenMM may be missing."""

    def test_cases(self):
        known = gpu.cases_of(gpu.CASES)
        self.assertEqual(known[0], (7, 1, 1))
        self.assertEqual(known[-3:], [(7, 32, 100), (7, 32, 1000), (7, 64, 1)])
        for words, cases in (
            ("100", [(100, 1, 1), (100, 1, 1000)]),
            ("7p32", [(7, 32, 1), (7, 32, 100), (7, 32, 1000)]),
            ("7p32x5,7x2,7p32x5", [(7, 32, 5), (7, 1, 2)]),
            ("9p2", [(9, 2, 1)]),
        ):
            self.assertEqual(gpu.chosen_cases(words, known), cases)
        self.assertEqual(len(gpu.chosen_cases("7", known)), 8)
        for words in ("7p", "x3", "7x3p2", "7p0"):
            with self.assertRaises(ValueError):
                gpu.chosen_cases(words, known)

    def test_rings_of_tarn_alone_on_the_cpu(self):
        said = self.run_script(
            *("gpu", "--device", "cpu", "--platform", "nowhere", "--only", "7x1,7p2x3"),
            *("--rounds", "1", "--seconds", "0.02", "--limit", "600"),
        )
        self.assertIn("3 x N = 7, 2 beads:", said.stdout)
        rows = self.rows_of("gpu_peers.csv")
        cases = [(row["molecules"], row["copies"], row["beads"]) for row in rows]
        self.assertEqual(cases, [("7", "1", "1"), ("7", "3", "2")])
        self.assertEqual(rows[0]["tarn_mixed_bead_steps_per_s"], "nan")
        for row in rows[1:]:
            rate = float(row["tarn_mixed_cluster_steps_per_s"])
            self.assertAlmostEqual(float(row["tarn_mixed_bead_steps_per_s"]) / rate, 2.0, delta=1e-12)


if __name__ == "__main__":
    unittest.main()
