"""Opens what tarn wrote with MDAnalysis and h5py; called by other_tools.sh.

usage: other_tools.py TARN FOLDER
"""

import json
import subprocess
import sys
import warnings

import h5py
import numpy as np

warnings.simplefilter("ignore")

MOLECULES, FRAMES, EVERY, STEP_PS = 5, 9, 50, 0.002
# Half of the last digit of each format, and the single precision that MDAnalysis holds.
PRECISION_A = {"dcd": 2e-7, "xtc": 5.1e-5, "trr": 4e-7, "pdb": 5.1e-4, "gro": 1e-6, "h5": 2e-7}


def check(condition, what):
    if not condition:
        sys.exit(f"other_tools: {what}")


def xyz_frames(path):
    """Positions, read by hand."""
    lines = open(path).read().splitlines()
    atoms = int(lines[0])
    frames = [lines[i + 2 : i + 2 + atoms] for i in range(0, len(lines), atoms + 2)]
    return np.array([[[float(x) for x in a.split()[1:4]] for a in frame] for frame in frames])


def position(file, replica):
    return file[f"particles/replica-{replica:04}/position"]


def check_h5md(path, expected):
    with h5py.File(path) as file:
        check(list(file["h5md"].attrs["version"]) == [1, 1], "version of H5MD")
        check(file["h5md/creator"].attrs["name"] == "tarn", "creator")
        check("name" in file["h5md/author"].attrs, "author")
        check(list(file["h5md/modules/units"].attrs["version"]) == [1, 0], "units module")
        for replica, positions in enumerate(expected):
            group = file[f"particles/replica-{replica:04}"]
            element = position(file, replica)
            check(np.array_equal(element["value"][:], positions), "positions are not exact")
            check(element["value"].attrs["unit"] == "Angstrom", "unit of length")
            check(element["time"].attrs["unit"] == "ps", "unit of time")
            check(list(element["step"]) == [EVERY * i for i in range(FRAMES)], "steps")
            check(np.allclose(element["time"], STEP_PS * element["step"][:], atol=1e-12), "times")
            check(list(group["box"].attrs["boundary"]) == ["none"] * 3, "boundary")
            check(group["box"].attrs["dimension"] == 3, "dimension")
            check(list(group["species"]) == [8, 1, 1] * MOLECULES, "species")


def check_with_mdanalysis(folder, expected):
    import MDAnalysis

    topology = f"{folder}/dcd/topology.pdb"
    atoms = MDAnalysis.Universe(topology).atoms
    check(list(atoms.names[:3]) == ["O", "H1", "H2"], "names of atoms")
    check(set(atoms.resnames) == {"HOH"} and len(atoms.residues) == MOLECULES, "residues")
    check(len(atoms.bonds) == 2 * MOLECULES, "bonds")
    for replica, positions in enumerate(expected):
        for name, frames, options in (
            (f"xyz/trajectory-{replica:04}.xyz", FRAMES, {}),
            (f"dcd/trajectory-{replica:04}.dcd", FRAMES, {}),
            (f"xtc/trajectory-{replica:04}.xtc", FRAMES, {}),
            (f"trr/trajectory-{replica:04}.trr", FRAMES, {}),
            (f"pdb/trajectory-{replica:04}.pdb", FRAMES, {}),
            # MDAnalysis reads the first frame of a GRO file, and the first group of H5MD.
            (f"gro/trajectory-{replica:04}.gro", 1, {}),
            ("h5md/trajectory.h5", FRAMES, {"format": "H5MD"}),
        ):
            if replica > 0 and "h5" in name:
                continue
            universe = MDAnalysis.Universe(topology, f"{folder}/{name}", **options)
            check(len(universe.trajectory) == frames, f"{name}: number of frames")
            tolerance = PRECISION_A.get(name.rsplit(".", 1)[1], 1e-6)
            for frame, moment in enumerate(universe.trajectory):
                check(moment.dimensions is None, f"{name}: it has a box")
                worst = abs(moment.positions - positions[frame]).max()
                check(worst <= tolerance, f"{name}: frame {frame} is off by {worst} A")
                if any(format in name for format in ("dcd", "xtc", "trr", "h5")):
                    check(abs(moment.time - frame * EVERY * STEP_PS) < 1e-6, f"{name}: time")


def check_what_mdanalysis_writes(tarn, folder):
    """Its PDB, GRO, DCD, TRR and XTC are read by tarn, and have the energy of the XYZ file."""
    import MDAnalysis

    def energy(path):
        text = subprocess.run([tarn, "energy", path], check=True, capture_output=True).stdout
        return json.loads(text)["potential_kcal_per_mol"]

    universe = MDAnalysis.Universe(f"{folder}/dcd/topology.pdb", f"{folder}/xyz/trajectory-0000.xyz")
    expected = energy(f"{folder}/xyz/trajectory-0000.xyz")
    # Forces of a quenched cluster on single atoms are below 100 kcal/mol/A.
    for name, precision_A in (("a.pdb", 5e-4), ("a.gro", 5e-3), ("a.dcd", 1e-6), ("a.trr", 1e-6), ("a.xtc", 5e-5)):
        path = f"{folder}/{name}"
        if name == "a.gro":
            universe.dimensions = [20, 20, 20, 90, 90, 90]
        if name == "a.xtc":
            with MDAnalysis.Writer(path, universe.atoms.n_atoms, precision=5) as writer:
                writer.write(universe.atoms)
        else:
            universe.atoms.write(path)
        off = abs(energy(path) - expected)
        check(off < 9 * MOLECULES * 100 * precision_A, f"{name}: energy is off by {off}")


def check_killed(path):
    """A file that a killed run left is read as SWMR, and its frames are whole."""
    with h5py.File(path, "r", swmr=True) as file:
        for replica in range(2):
            element = position(file, replica)
            frames = len(element["step"])
            check(frames > 1, "a killed run left nothing")
            check(list(element["step"]) == [2000 * i for i in range(frames)], "steps of it")
            value = element["value"][:frames]
            bonds = np.linalg.norm(value[:, 1::3] - value[:, 0::3], axis=2)
            check(abs(bonds - 0.9572).max() < 1e-6, "bonds of it")


def main():
    tarn, folder = sys.argv[1:]
    expected = [xyz_frames(f"{folder}/xyz/trajectory-{r:04}.xyz") for r in range(2)]
    check(all(p.shape == (FRAMES, 3 * MOLECULES, 3) for p in expected), "the XYZ files")
    check_h5md(f"{folder}/h5md/trajectory.h5", expected)
    check_with_mdanalysis(folder, expected)
    check_what_mdanalysis_writes(tarn, folder)
    check_killed(f"{folder}/killed/trajectory.h5")


main()
