"""Writes a page, a table and a picture from timed runs.

usage: bench/peers/report.py TABLE.csv...
Draws the pictures of tables again: TABLE.svg.
"""

import os
import statistics
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "docs" / "pages"))

import page as pages

KEYS = ("molecules", "copies", "threads")


def machine_class():
    """The processor, without anything that identifies one machine."""
    fields = {}
    with open("/proc/cpuinfo") as file:
        for line in file:
            name, _, value = line.partition(":")
            fields.setdefault(name.strip(), value.strip())
    flags = fields.get("flags", "").split()
    model = fields.get("model name", "unknown processor").replace("(R)", "").replace("(TM)", "")
    words = f"{' '.join(model.split())} (family {fields.get('cpu family', '?')}, "
    words += f"model {fields.get('model', '?')})"
    for flag, name in (("avx512f", "AVX-512"), ("avx2", "AVX2")):
        if flag in flags:
            words += f" with {name}"
            break
    return words + (", a virtual machine" if "hypervisor" in flags else "")


def spread(values):
    """(median, minimum, maximum)"""
    return statistics.median(values), min(values), max(values)


def cases(runs):
    """The keys of all cases, in the order in which they were timed."""
    return list(dict.fromkeys(tuple(run[key] for key in KEYS) for run in runs))


def rates(runs, case):
    """{program: {round: cluster-steps per second}} of one case, a tuple of KEYS."""
    result = {}
    for run in runs:
        if tuple(run[key] for key in KEYS) == case:
            rate = run["steps"] * run["copies"] / run["seconds"]
            result.setdefault(run["program"], {})[run["round"]] = rate
    return result


def ratios(of_case, tarn, peer):
    """tarn's rate divided by the peer's, for each round."""
    both = sorted(set(of_case[tarn]) & set(of_case[peer]))
    return [of_case[tarn][r] / of_case[peer][r] for r in both]


def mode_of(runs, case, program):
    for run in runs:
        if tuple(run[key] for key in KEYS) == case and run["program"] == program:
            return run["mode"]
    return ""


def number(value):
    """Three digits, with a space as the separator of thousands."""
    if value >= 1000:
        digits = 10 ** (len(str(int(value))) - 3)
        return f"{round(value / digits) * digits:,}".replace(",", " ")
    return f"{value:.3g}"


def interval(values, form=lambda x: f"{x:.2f}"):
    middle, low, high = spread(values)
    return f"{form(middle)} ({form(low)}–{form(high)})"


def lines_of(runs, key):
    """The lines that the terminal shows for a case."""
    of_case = rates(runs, tuple(key[name] for name in KEYS))
    return [
        f"{program:28s} {interval(list(by_round.values()), number)} cluster-steps/s"
        for program, by_round in of_case.items()
    ]


def rows(result):
    """The rows of the CSV file: one per case, program and, for peers, variant of tarn."""
    runs, tarns = result["runs"], result["tarns"]
    for case in cases(runs):
        of_case = rates(runs, case)
        for program, by_round in of_case.items():
            common = dict(zip(KEYS, case))
            common |= {"program": program, "mode": mode_of(runs, case, program)}
            common["rounds"] = len(by_round)
            middle, low, high = spread(list(by_round.values()))
            common |= {
                "cluster_steps_per_s": middle,
                "cluster_steps_per_s_min": low,
                "cluster_steps_per_s_max": high,
            }
            for tarn in [None] if program in tarns else tarns:
                row = dict(common, tarn=tarn or "", ratio="nan", ratio_min="nan", ratio_max="nan")
                values = ratios(of_case, tarn, program) if tarn in of_case else []
                if values:
                    row["ratio"], row["ratio_min"], row["ratio_max"] = spread(values)
                yield row


def title_of(case):
    molecules, copies, threads = case
    cluster = f"N = {molecules}" if copies == 1 else f"{copies} clusters of N = {molecules} at once"
    return f"{cluster}, {threads} {'cores' if threads > 1 else 'core'}"


def rate_table(result, threads):
    """Rates of all programs on so many threads, and the ratios of each variant of tarn to the peers."""
    runs, tarns = result["runs"], result["tarns"]
    short = [label.removeprefix("tarn ") for label in tarns]
    columns = ["cluster", "program", "cluster-steps/s", *(f"{label} / program" for label in short)]
    lines = []
    for case in cases(runs):
        if case[2] != threads:
            continue
        of_case = rates(runs, case)
        cluster = f"N = {case[0]}" if case[1] == 1 else f"{case[1]} × N = {case[0]}"
        for program, by_round in of_case.items():
            mode = mode_of(runs, case, program)
            cells = [cluster, program + (f" ({mode})" if mode else "")]
            cells.append(interval(list(by_round.values()), number))
            for tarn in tarns:
                comparable = program not in tarns and tarn in of_case
                values = ratios(of_case, tarn, program) if comparable else []
                cells.append(interval(values) if values else "")
            lines.append(cells)
    return pages.markdown(columns, lines) + "\n"


def program_table(result):
    rows = [[program[key] for key in ("label", "version", "how")] for program in result["programs"]]
    return "## Programs\n\n" + pages.markdown(["program", "version", "mode"], rows) + "\n"


def agreement(checks, keys, errors):
    """The largest errors of all checks with the same keys."""
    worst = {}
    for entry in checks:
        key = tuple(entry[name] for name in keys)
        worst[key] = [max(pair) for pair in zip(worst.get(key, entry["errors"]), entry["errors"])]
    rows = [[*key, *(f"{e:.1e}" for e in largest)] for key, largest in worst.items()]
    return pages.markdown([*keys, *errors], rows) + "\n"


def page(result):
    runs = result["runs"]
    text = "# Speed relative to GROMACS, LAMMPS and OpenMM\n\n<!-- made by: bench/peers/run -->\n\n"
    text += f"""The speed of tarn was measured relative to that of other programs, for rigid TIP3P water in vacuum. All programs compute
all pairs, with steps of 2 fs and Langevin dynamics at 10 K and 5/ps. Processor:
{result['machine']}.
The programs ran on the same cores, in turns: {result['rounds']} rounds of runs of about {result['seconds']:g} s.

![Time of a step and ratios to other programs](peers.svg)

* Rates are cluster-steps per second, measured by the clock of each program, without start-up.
* A ratio is tarn's rate divided by that of the program in the same round; above 1, tarn is faster.
* Each value is a median, with the minimum and the maximum in brackets.

| precision | positions | velocities and forces | pairs |
|---|---|---|---|
| GROMACS mixed | float | float | float |
| tarn `single` | fixed point, units of 2⁻²⁶ Å | float | float |
| tarn `mixed` | double | double | float |
| tarn `double`, LAMMPS | double | double | double |

The load average was {min(result['loads']):.1f} to {max(result['loads']):.1f} on {result['cores']} cores, including the benchmark. With less than one core per
thread, rates are too low. Ratios on several cores are affected more than those on one core, because threads wait for each
other.

"""
    for threads in dict.fromkeys(case[2] for case in cases(runs)):
        text += f"## {'One core' if threads == 1 else f'{threads} cores'}\n\n"
        text += rate_table(result, threads) + "\n"
    text += program_table(result)
    if result["checks"]:
        text += """
## Agreement of energies and forces

Largest differences from `tarn energy`, over all cases:

* energy: difference of the Coulomb and Lennard-Jones energies, relative to the sum of their magnitudes
* forces: difference of a component, relative to the root mean square of all components
* bonds: difference of a bond length from that of the model, after 20 steps

The Coulomb constants of the programs differ by 3e-8 to 5e-8. GROMACS, and OpenMM on its CPU platform, compute in single
precision.

"""
        text += agreement(result["checks"], ("program",), ("energy", "forces", "bonds (Å)"))
    if result["left_out"]:
        text += "\n## Skipped\n\n"
        for entry in result["left_out"]:
            case = title_of(tuple(entry[key] for key in KEYS))
            text += f"* {entry['program']}, {case}: {entry['why']}\n"
    text += """
## Not measured

* many clusters at once in LAMMPS and OpenMM
* LAMMPS built for the processor, or with its OPENMP and INTEL packages, which Debian's package lacks
* versions of OpenMM newer than Debian's
* other temperatures
"""
    return text + "\n`bench/peers/README.md` describes how to run this benchmark, and the settings of each program.\n"


def speed_panels(table, plots):
    """Time per pair of molecules on the fewest cores, and ratios of tarn to the peers."""
    single = table.where(copies=1.0, threads=table["threads"].min())
    programs = [name for name in single.by("program") if "single" not in name]
    shown = [name for name in programs if name.startswith("tarn settle")]
    peers = [name for name in programs if not name.startswith("tarn")]
    figure, (times, *panels) = plots.panels(1 + len(shown) * bool(peers), sharex=True)
    for k, program in enumerate(shown + peers):
        rows = next(iter(single.where(program=program).by("tarn").values()))
        rate = "cluster_steps_per_s"
        ns, low, high = (
            2e9 / (rows["molecules"] * (rows["molecules"] - 1) * rows[column])
            for column in (rate, f"{rate}_max", f"{rate}_min")
        )
        label = program.partition(" (")[0]
        plots.curve(times, rows["molecules"], ns, label, colour=k, error=[ns - low, high - ns])
        for axes, tarn in zip(panels, shown if program in peers else []):
            rows = single.where(program=program, tarn=tarn)
            ratio, low, high = rows["ratio"], rows["ratio_min"], rows["ratio_max"]
            error = [ratio - low, high - ratio]
            plots.curve(axes, rows["molecules"], ratio, label, colour=k, error=error)
    times.set(ylabel="time per step and pair (ns)")
    for axes, tarn in zip(panels, shown):
        axes.axhline(1.0, color="#555555", linewidth=0.9)
        axes.set(ylabel=f"speed of {tarn}\nrelative to program")
    for axes in (times, *panels):
        axes.set(xscale="log", yscale="log")
        plots.plain_ticks(axes.xaxis, sorted(single.by("molecules")))
    plots.legend(times)
    figure.axes[-1].set_xlabel("number of molecules")
    return figure


def average_panels(table, plots):
    """Means of path integrals relative to those of tarn with its default step."""
    systems = table.by("system")
    figure, panels = plots.panels(len(systems), 3.0, sharex=True)
    names = ["E virial", "E primitive", "V", "K of O", "K of H", "rg² of O", "rg² of H", "r(OH)"]
    for axes, (system, of_system) in zip(panels, systems.items()):
        scale = 100.0 / of_system.where(program="tarn")["mean"]
        programs = of_system.by("program")
        for k, (program, rows) in enumerate(programs.items()):
            places = [place + 0.14 * (k - (len(programs) - 1) / 2) for place in range(len(scale))]
            shift, error = scale * rows["mean"] - 100.0, scale * rows["mean_err"]
            plots.curve(axes, places, shift, program, style="", error=error)
        axes.set(ylabel="mean relative to tarn − 1 (%)")
        axes.set_xticks(range(len(names)), names)
        plots.legend(axes, system)
    return figure


def draw(path):
    """Draws the table of a page. @return path of the picture; none, with a message, without matplotlib."""
    try:
        import plots
    except ImportError:
        print("no picture: matplotlib was not found; install the package python3-matplotlib")
        return []
    table, picture = pages.read_table(Path(path)), Path(path).with_suffix(".svg")
    draw_panels = average_panels if "quantity" in table.columns else speed_panels
    plots.save(draw_panels(table, plots), picture)
    return [str(picture)]


def write_rows(path, provenance, rows):
    """Writes a table of dictionaries with the same keys."""
    pages.write_table(Path(path), provenance, list(rows[0]), [row.values() for row in rows])


def write_table(result, path, made_by):
    write_rows(path, f"{made_by}; {result['machine']}", list(rows(result)))


def write(result, out):
    """@return paths of all files written."""
    table = os.path.join(out, "peers.csv")
    write_table(result, table, "bench/peers/run")
    text = os.path.join(out, "peers.md")
    with open(text, "w") as file:
        file.write(page(result))
    pictured = any(case[0] > 1 and case[1] == 1 for case in cases(result["runs"]))
    return [text, table] + (draw(table) if pictured else [])


if __name__ == "__main__":
    for given in sys.argv[1:]:
        draw(given)
