"""Writes a page, a table and pictures from timed runs."""

import csv
import os
import shutil
import statistics
import subprocess

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
    text = "| cluster | program | cluster-steps/s | "
    text += " | ".join(f"{label} / program" for label in short) + " |\n"
    text += "|---|---|---|" + "---|" * len(short) + "\n"
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
            text += "| " + " | ".join(cells) + " |\n"
    return text


def markdown_table(columns, rows):
    lines = [columns, *rows]
    text = ["| " + " | ".join(line) + " |\n" for line in lines]
    return text[0] + "|" + "---|" * len(columns) + "\n" + "".join(text[1:])


def program_table(result):
    rows = [[program[key] for key in ("label", "version", "how")] for program in result["programs"]]
    return "## Programs\n\n" + markdown_table(["program", "version", "mode"], rows)


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
        worst = {}
        for entry in result["checks"]:
            before = worst.get(entry["program"], (0, 0, 0))
            worst[entry["program"]] = [max(a, b) for a, b in zip(before, entry["errors"])]
        text += """
## Agreement of energies and forces

Largest differences from `tarn energy`, over all cases:

* energy: difference of the Coulomb and Lennard-Jones energies, relative to the sum of their magnitudes
* forces: difference of a component, relative to the root mean square of all components
* bonds: difference of a bond length from that of the model, after 20 steps

The Coulomb constants of the programs differ by 3e-8 to 5e-8. GROMACS, and OpenMM on its CPU platform, compute in single
precision.

| program | energy | forces | bonds (Å) |
|---|---|---|---|
"""
        for program, errors in worst.items():
            text += f"| {program} | " + " | ".join(f"{e:.1e}" for e in errors) + " |\n"
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


def quoted(text):
    return "'" + text.replace("'", "''") + "'"


# The palette of Okabe and Ito, as in tarn's pictures.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#000000", "#999999")


def gnuplot_script(result, terminal, path):
    """Time per pair of molecules on the fewest cores, and ratios of tarn to the peers."""
    runs, tarns = result["runs"], result["tarns"]
    threads = min(case[2] for case in cases(runs))
    single = [case for case in cases(runs) if case[1] == 1 and case[2] == threads]
    single = [case for case in single if case[0] > 1]
    # Three panels fit on the page; the tables contain the rest.
    shown = [label for label in tarns if label.startswith("tarn settle") and "single" not in label]
    peers = [p["label"] for p in result["programs"] if p["label"] not in tarns]
    blocks, panels = "", []

    def panel(y_label, curves):
        """curves: {label: {molecules: values}}"""
        nonlocal blocks
        commands = []
        for label, points in curves.items():
            if not points:
                continue
            index = (shown + peers).index(label)
            name = f"p{len(panels)}c{index}"
            rows = ""
            for molecules, values in points.items():
                # Shifted, so that error bars of two programs do not overlap.
                x = molecules * 1.02 ** (index - (len(shown + peers) - 1) / 2)
                rows += " ".join(f"{number:.9g}" for number in (x, *spread(values))) + "\n"
            blocks += f"${name} << EOD\n{rows}EOD\n"
            style = f"lc rgb '{PALETTE[index % len(PALETTE)]}' lw 1.5 pt 7 ps 0.6"
            commands.append(f"${name} using 1:2:3:4 with yerrorbars {style} notitle")
            commands.append(f"${name} using 1:2 with linespoints {style} title {quoted(label)}")
        if not commands:
            return
        lows = [min(values) for points in curves.values() for values in points.values()]
        highs = [max(values) for points in curves.values() for values in points.values()]
        panels.append((y_label, commands, 0.75 * min(lows), 1.3 * max(highs)))

    def times(program):
        points = {}
        for case in single:
            pairs = case[0] * (case[0] - 1) / 2
            by_round = rates(runs, case).get(program, {})
            points[case[0]] = [1e9 / (rate * pairs) for rate in by_round.values()]
        return {molecules: values for molecules, values in points.items() if values}

    def ratios_to(tarn, peer):
        points = {}
        for case in single:
            of_case = rates(runs, case)
            if tarn in of_case and peer in of_case:
                points[case[0]] = ratios(of_case, tarn, peer)
        return {molecules: values for molecules, values in points.items() if values}

    panel("ns per step and pair", {program: times(program) for program in shown + peers})
    for tarn in shown if peers else []:
        panel(f"{tarn} / program", {peer: ratios_to(tarn, peer) for peer in peers})
    sizes = ", ".join(f"'{case[0]}' {case[0]}" for case in single)
    title = f"Rigid water in vacuum on {threads} core{'s' if threads > 1 else ''}"
    low, high = min(case[0] for case in single), max(case[0] for case in single)
    script = f"""set encoding utf8
set terminal {terminal}
set output {quoted(path)}
set border 3 lc rgb '#555555'
set tics nomirror out scale 0.6 textcolor rgb '#333333'
set grid back lt 1 lc rgb '#e6e6e6' lw 0.8
set lmargin 12
set rmargin {max(len(label) for label in shown + peers) + 8}
set key outside right top Left reverse samplen 2 spacing 1.25 textcolor rgb '#333333'
set logscale xy
set xrange [{low * 0.7:g}:{high * 1.4:g}]
set xtics ({sizes})
set ytics (0.1, 0.2, 0.5, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000)
set format y '%g'
{blocks}set multiplot layout {len(panels)},1 title {quoted(title)}
"""
    for index, (y_label, commands, low, high) in enumerate(panels):
        script += f"set ylabel {quoted(y_label)}\nset yrange [{low:g}:{high:g}]\n"
        if index == len(panels) - 1:
            script += "set xlabel 'molecules'\n"
        if index > 0:
            commands = ["1 with lines lc rgb '#555555' dt 3 notitle"] + commands
            script += "unset key\n"
        script += f"plot {', '.join(commands)}\n"
    return script + "unset multiplot\nset output\n"


def draw(result, out):
    """@return paths of the pictures"""
    if not any(molecules > 1 and copies == 1 for molecules, copies, _ in cases(result["runs"])):
        return []
    return pictures(lambda *format: gnuplot_script(result, *format), out, "peers", "980,980")


def pictures(script_of, out, name, size):
    """Runs script_of(terminal, path) for an SVG and a PNG file.

    @return paths of the pictures; none, with a message, without gnuplot."""
    if not shutil.which("gnuplot"):
        print("no picture: gnuplot was not found; install the package gnuplot-nox")
        return []
    paths = []
    for extension, terminal in (
        ("svg", f"svg noenhanced size {size} fixed rounded background '#ffffff' font 'sans-serif,14'"),
        ("png", f"pngcairo noenhanced size {size} rounded background '#ffffff' font 'DejaVu Sans,11'"),
    ):
        path = os.path.join(out, f"{name}.{extension}")
        completed = subprocess.run(
            ["gnuplot", "-d", "-"], input=script_of(terminal, path), capture_output=True, text=True
        )
        if completed.returncode != 0:
            print(f"gnuplot could not draw {path}: {completed.stderr.strip()}")
            continue
        paths.append(path)
    return paths


def write_table(result, path, made_by):
    with open(path, "w", newline="") as file:
        everything = list(rows(result))
        file.write(f"# {made_by}; {result['machine']}\n")
        writer = csv.DictWriter(file, list(everything[0]), lineterminator="\n")
        writer.writeheader()
        writer.writerows(everything)


def write(result, out):
    """@return paths of all files written."""
    table = os.path.join(out, "peers.csv")
    write_table(result, table, "bench/peers/run")
    text = os.path.join(out, "peers.md")
    with open(text, "w") as file:
        file.write(page(result))
    return [text, table] + draw(result, out)
