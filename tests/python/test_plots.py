"""The script that draws pictures, without the rest of the package."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

matplotlib = pytest.importorskip("matplotlib")
import numpy as np  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "python/tarn/plots.py"
spec = importlib.util.spec_from_file_location("plots", SCRIPT)
assert spec is not None and spec.loader is not None
plots = importlib.util.module_from_spec(spec)
spec.loader.exec_module(plots)
matplotlib.rcParams.update(plots.STYLE)

PROVENANCE = "# tarn 0.2.0; tip3p, 3 molecules, 12 replicas, seed 1; x\n"
EARLY = "[thermostat]\nkind = \"gla\"\ntemperature_K = 298.15\n\n[run]\nequilibration_ps = 1.5\n\n[end]\n"


def write(folder: Path, name: str, header: str, rows, deck: str = "") -> None:
    folder.mkdir(exist_ok=True)
    lines = [",".join(str(cell) for cell in row) for row in rows]
    (folder / name).write_text("\n".join([PROVENANCE + header, *lines, ""]), encoding="utf-8")
    if deck:
        (folder / "run.json").write_text(json.dumps({"deck": deck}), encoding="utf-8")


def drawn(folder: Path, name: str) -> str:
    """The picture of a table, and the messages."""
    lines = list(plots.draw_folder(folder, ["svg"]))
    path = folder / f"{name}.svg"
    return (path.read_text(encoding="utf-8") if path.exists() else "") + "\n".join(lines)


def baths(temperatures) -> str:
    return f"[thermostat]\nkind = \"gla\"\ntemperatures_K = {json.dumps(list(temperatures))}\n"


ENERGIES = "step,time_ps,replica,potential_kcal_per_mol,total_kcal_per_mol,temperature_K"


def energies(temperatures, replica=None):
    count = len(temperatures)
    for step in range(3):
        for r in range(2 * count):
            value = temperatures[r % count] + (-0.5 if r < count else 0.5)
            yield step, 0.5 * step, r if replica is None else replica, value, value, value


def test_energies_have_a_line_and_a_band(tmp_path):
    write(tmp_path, "energies.csv", ENERGIES, energies([150.0, 150.0]), EARLY)
    svg = drawn(tmp_path, "energies")
    for text in ("Energies: tip3p, 3 molecules, 12 replicas<", "potential (kcal/mol)",
                 "line: mean; band: minimum to maximum", "grey: excluded from averages"):  # fmt: skip
        assert text in svg
    # Equal data give an equal picture, whatever other formats are drawn.
    assert drawn(tmp_path, "energies") == svg
    for kinds in (["png"], ["svg", "png"]):
        list(plots.draw_folder(tmp_path, kinds))
        png = (tmp_path / "energies.png").read_bytes()
        assert kinds == ["png"] or png == first
        first = png


def test_temperatures_have_lines_of_their_own(tmp_path):
    few = [300.0, 100.0, 200.0]
    write(tmp_path, "energies.csv", ENERGIES, energies(few), baths(few))
    svg = drawn(tmp_path, "energies")
    assert svg.index(">100 K<") < svg.index(">200 K<") < svg.index(">300 K<")
    assert "lines: means at each temperature<" in svg and "minimum to maximum" not in svg
    many = [100.0 + 10 * k for k in range(12)]
    write(tmp_path, "energies.csv", ENERGIES, energies(many), baths(many))
    assert "7 of 12 temperatures" in drawn(tmp_path, "energies")
    write(tmp_path, "energies.csv", ENERGIES, energies(few, "mean"), baths(few))
    (tmp_path / "energies.svg").unlink()
    assert drawn(tmp_path, "energies").startswith("note: energies.csv has no picture: its rows are means")


def test_long_curves_keep_their_extremes():
    x = np.arange(10_001.0)
    y = np.zeros(10_001)
    y[5000], y[10_000] = 7.0, 3.0
    merged_x, merged_y, low, high = plots.merged((x, y, y, y))
    assert len(merged_x) <= plots.MOST_POINTS and high.max() == 7.0 and high[-1] == 3.0
    # The last point contains the remainder instead of few samples.
    assert 0.0 < merged_y[-1] <= 3.0 / 26
    _, kept = plots.extremes(x, y)
    assert len(kept) <= 2 * plots.MOST_POINTS and kept.max() == 7.0
    kept = plots.sparse((x, y, y, y))[0]
    assert kept[29] == 29 and kept[-1] == 10_000 and len(kept) < 160
    blocks = plots.merged((x, y, y, y), plots.MOST_BLOCKS)[0]
    assert len(blocks) <= 128


def test_distributions_state_their_temperature(tmp_path):
    rows = [(0.5, 1, 1, 0.1), (1.5, 2, 2, 0.1)]
    write(tmp_path, "rdf.csv", "r_A,OO_count,OO_g,OO_g_err", rows, EARLY)
    assert "12 replicas, 298.15 K<" in drawn(tmp_path, "rdf")
    many = [(100 + 10 * b, *row) for b in range(9) for row in rows]
    write(tmp_path, "rdf_by_bath.csv", "bath_K,r_A,OO_count,OO_g,OO_g_err", many, baths([100, 200]))
    assert "7 of 9 temperatures" in drawn(tmp_path, "rdf")


def test_the_axes_of_a_spectrum_show_its_peaks(tmp_path):
    rows = [(10.0 * k, 0.01, 0.001, 20.0 if k == 50 else 0.1, 0.5) for k in range(100)]
    header = "wavenumber_per_cm,states_cm,states_cm_err,absorption_km_cm_per_mol,absorption_km_cm_per_mol_err"
    write(tmp_path, "spectrum.csv", header, rows)
    figure = plots.spectrum(plots.Results(tmp_path), plots.Table(tmp_path / "spectrum.csv"))
    assert [axes.get_ylim()[1] > least for axes, least in zip(figure.axes, (0.011, 20.5), strict=True)] == [True, True]


@pytest.mark.parametrize(
    ("table", "header", "said"),
    [
        ("rdf", "r_A,OO_count,OO_g,OO_g_err", "rdf.csv has no pairs and no picture"),
        ("profile", "r_A,density_g_per_cm3,density_g_per_cm3_err", "profile.csv has no samples"),
        ("spectrum", "wavenumber_per_cm,states_cm,states_cm_err", "shorter than a segment"),
        ("correlation", "time_ps,oh_p1,oh_p1_err", "no replica covers a whole window"),
        ("survival", "time_ps,survival,survival_err", "no replica was whole"),
        ("isomers", "isomer,share,share_err,of_samples", "isomers.csv has no rows and no picture"),
    ],
)
def test_empty_tables_are_reported(tmp_path, table, header, said):
    write(tmp_path, f"{table}.csv", header, [])
    (line,) = plots.draw_folder(tmp_path, ["svg"])
    assert line.startswith("warning: ") and said in line


def test_averages_have_a_picture_from_three_temperatures_on(tmp_path):
    header = "table,quantity,bath_K,mean,error,converged"
    capacity = "heat_capacity_kcal_per_mol_K"
    rows = [("energies", q, t, 0.1, 0.01, int(t < 80)) for t in (50, 100)
            for q in ("potential_kcal_per_mol", capacity, "kinetic_o_meV")]  # fmt: skip
    write(tmp_path, "averages.csv", header, rows)
    assert drawn(tmp_path, "baths") == ""
    rows += [("energies", row[1], 150, 0.2, 0.01, 1) for row in rows[:3]]
    write(tmp_path, "averages.csv", header, rows)
    svg = drawn(tmp_path, "baths")
    for text in ("Averages against temperature: tip3p", "heat capacity (cal/mol/K)", "lower bound",
                 "classical nuclei, 3/2 kT"):  # fmt: skip
        assert text in svg
    assert "Lindemann" not in svg


def test_labels_distinguish_close_isomers(tmp_path):
    header = "bath_K,isomer,above_lowest_kcal_per_mol,of_samples,share,share_err,converged"
    rows = [(t, n + 1, above, 100, 0.25, 0.01, 1) for t in (100, 200)
            for n, above in enumerate((0, 0.00234, 0.0456, 1.234))]  # fmt: skip
    write(tmp_path, "isomers_by_bath.csv", header, rows)
    write(tmp_path, "isomers.csv", header[7:], [row[1:] for row in rows[:4]])
    svg = drawn(tmp_path, "isomers")
    for label in ("isomer 1 (lowest)", "isomer 2, +0.0023 kcal/mol", "isomer 3, +0.046 kcal/mol",
                  "isomer 4, +1.23 kcal/mol", "all others"):  # fmt: skip
        assert label in svg


def test_custom_tables_show_six_quantities(tmp_path):
    write(tmp_path, "wide.csv", "step,time_ps,replica,a,b,c,d,e,f,g",
          [(k, k, 0, *[k if c != 1 else "nan" for c in range(7)]) for k in range(4)])  # fmt: skip
    (tmp_path / "theirs.csv").write_text("step,time_ps,replica,x\n0,0,0,1\n")
    write(tmp_path, "other.csv", "x,y", [(0, 1)])
    svg = drawn(tmp_path, "wide")
    assert ">f<" in svg and ">g<" not in svg
    assert not (tmp_path / "theirs.svg").exists() and not (tmp_path / "other.svg").exists()


def comparison(folder: Path, rows, **record) -> None:
    header = ("scheme,us_per_ps,us_per_ps_err,stopped_replicas,timestep_fs,potential_difference_kcal_per_mol,"
              "potential_difference_kcal_per_mol_err,oo_total_variation,oo_total_variation_err,"
              "oo_total_variation_noise")  # fmt: skip
    write(folder, "compare.csv", header, rows)
    deck = "[thermostat]\nkind = \"baoab\"\ntemperature_K = 300.0\n"
    (folder / "compare.json").write_text(json.dumps({"deck": deck, **record}))


def test_errors_below_half_of_the_noise_are_grey(tmp_path):
    rows = [("reference settle:timestep_fs=0.5", 400, 1, 0, 0.5, 0, 0, 0, 0, 0),
            ("a:timestep_fs=1", 200, "nan", 0, 1, -0.5, 0.1, 0, 0, 0),
            ("a:timestep_fs=2", 100, 5, 0, 2, 0.001, 0.1, 0, 0, 0),
            ("b:timestep_fs=2", 50, 5, 1, 2, 40, 9, 0, 0, 0)]  # fmt: skip
    comparison(tmp_path, rows, steps_fs=[1, 2])
    svg = drawn(tmp_path, "errors")
    for text in ("below half of the noise", "|error of ⟨V₀⟩|", ">a<"):
        assert text in svg
    assert "total variation" not in svg, "all are zero"
    schemes = plots.Schemes(plots.Results(tmp_path))
    assert list(schemes.rows("a")) == [1, 2] and not len(schemes.rows("b", whole=True))
    assert schemes.drawn() == [0, 1, 3]
    comparison(tmp_path, [(*row[:5], 0, 0, 0, 0, 0) for row in rows], steps_fs=[1, 2])
    assert "errors.svg was not drawn, because no scheme has an error" in drawn(tmp_path, "errors")


def test_beads_are_extrapolated(tmp_path):
    comparison(tmp_path, [(f"v:beads={p}", 10 * p, 1, 0, 0.5, 0, 0, 0, 0, 0) for p in (4, 8)], beads=[4, 8])
    names = [name for name, _ in plots.RING_COLUMNS]
    write(tmp_path, "beads.csv", "scheme,beads,timestep_fs," + ",".join(f"{n},{n}_err" for n in names),
          [(f"v:beads={p}", p, 0.5, *[1 - 1 / p**2, 0.01] * 4) for p in (4, 8)])  # fmt: skip
    write(tmp_path, "bead_limits.csv", "scheme,quantity,limit,limit_err,c1,c2,points",
          [("v", n, 1, 0.02, -1, "nan", 2) for n in names])  # fmt: skip
    svg = drawn(tmp_path, "beads")
    assert "∞: extrapolation" in svg and ">∞<" in svg


def test_modes_have_sticks_by_motion(tmp_path):
    write(tmp_path, "modes.csv", "mode,wavenumber_per_cm,ir_intensity_km_per_mol,translation,rotation,vibration",
          [(1, 0, 0, 1, 0, 0), (2, -50, 3, 0.9, 0.1, 0), (3, 1600, 70, 0, 0, 1)])  # fmt: skip
    (line,) = plots.draw_file(tmp_path / "modes.csv", tmp_path / "m.svg")
    assert line == f"picture: {tmp_path / 'm.svg'}"
    svg = (tmp_path / "m.svg").read_text()
    assert "bond vibration" in svg and "negative: imaginary" in svg and ">rotation<" not in svg


@pytest.mark.parametrize(
    ("comment", "caption"),
    [
        ("model=tip3p", ""),
        ("time_ps=0.3000001", "0.300 ps"),
        ("time_ps=8.0", "8 ps"),
        ("replica=7 time_ps=0.3", "replica 7, 0.300 ps"),
        ("replica=replica-0120 time_ps=0.3 beads=32", "replica 120, 0.300 ps, 32 beads"),
        ("isomer=3 time_ps=0.3 minimum_kcal_per_mol=-17.44", "isomer 3, -17.440 kcal/mol"),
    ],
)
def test_captions(tmp_path, comment, caption):
    (tmp_path / "a.xyz").write_text(f"3\n{comment}\nO 0 0 0\nH 1 0 0\nH 0 1 0\n")
    ((keys, positions),) = plots.read_xyz(tmp_path / "a.xyz")
    assert plots.caption_of({"beads": "1"} | keys) == caption and positions.shape == (3, 3)


def test_structures(tmp_path):
    octamer = ROOT / "inputs/structures/tip3p-8.xyz"
    ((_, atoms),) = plots.read_xyz(octamer)
    assert len(plots.hydrogen_bonds(atoms)) == 12
    for kind in ("svg", "png"):
        (line,) = plots.draw_file(octamer, tmp_path / f"a.{kind}")
        assert line.startswith("picture: ") and (tmp_path / f"a.{kind}").stat().st_size < 300_000
    rings = np.concatenate([atoms + 0.01 * k for k in range(4)])
    figure = plots.structures([({"beads": "4", "file": "<a>", "files": "2"}, rings), ({"file": "b"}, atoms)])
    assert [text.get_text() for text in figure.axes[0].texts] == ["<a>: 4 beads", "b"]
    (line,) = plots.draw_file(octamer, tmp_path / "a.pdf")
    assert "give a name that ends with .svg or .png" in line
    assert plots.fitted("replica 1, 0.200 ps", "trajectory-0001", 34) == "trajectory-0…: replica 1, 0.200 ps"


def test_files_are_shortened():
    lines = "M 1 2 \nL 3.006 2 \nL 3.01 5 \nz\nM 1 1 \nL 2 1 \n"
    assert plots.relative_path(lines) == "m1 2 2.01 0 0 3zm0 -1 1 0"
    corners = [f"{2 * x + 10} {2 * y + 20}" for x, y in plots.CIRCLE.vertices]
    curves = (" ".join(corners[k : k + 3]) for k in (1, 4, 7, 10))
    circle = f"M {corners[0]} " + "".join(f"\nC {curve} " for curve in curves)
    assert plots.relative_path(circle) == "m12 20a2 2 0 1 0 -4 0 2 2 0 1 0 4 0"
    part = '<path d="M 0 0 \nL 1 {} " clip-path="url(#c)" style="fill: red{}; stroke-width: 1.125"/>'
    group = "<g>\n {}\n {}\n</g>"
    assert plots.shortened(group.format(part.format(1, ""), part.format(2, "; opacity: 0.5"))) == (
        '<g style="fill: red; stroke-width: 1.12" clip-path="url(#c)">\n<path d="m0 0 1 1"/>\n'
        '<path d="m0 0 1 2" style="opacity: 0.5"/>\n</g>')  # fmt: skip


def test_command_line(tmp_path):
    write(tmp_path / "run", "energies.csv", ENERGIES, energies([150.0]))
    (tmp_path / "run/rdf.csv").write_text("r_A,OO_g\n1,2\n3\n")
    done = subprocess.run([sys.executable, SCRIPT, tmp_path / "run", "--format", "svg", "--format", "png"],
                          capture_output=True, text=True, check=False)  # fmt: skip
    assert done.returncode == 1
    lines = done.stdout.splitlines()
    assert lines[:2] == [f"picture: {tmp_path}/run/energies.{kind}" for kind in ("svg", "png")]
    assert len(lines) == 3 and lines[2].startswith(f"error: '{tmp_path}/run/rdf' could not be drawn")
    assert "PATH" in subprocess.run([sys.executable, SCRIPT, "--help"], capture_output=True, text=True, check=True).stdout
