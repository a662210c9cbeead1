#!/usr/bin/env python3
"""Repeats a transcript of a terminal and compares the output. usage: transcript.py TARN FILE

TARN_UPDATE=1 rewrites FILE with the output. The format is that of cram:

  Text that is not indented is a comment.
    $ a command for bash, in a folder with links to inputs, tests/data and tests/potentials
    > a further line of the command
    standard output and error
    [3]

The last line is the exit status (with pipefail) if it is not the usual one: 2 if a line begins with
"tarn: ", else 0. `[..]` in an expected line is any text, `[#]` any number, and a line `...` any
number of lines. A command that exits with 80 ends the transcript.
"""

import difflib
import os
import re
import subprocess
import sys
import tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
MASKS = {"[..]": ".*", "[#]": r"[-+]?[0-9][0-9.]*(?:e[-+]?[0-9]+)?"}


def pattern(line):
    """Regular expression of an expected line."""
    parts = re.split(r"(\[\.\.\]|\[#\])", line)
    return "".join(MASKS.get(part) or re.escape(part) for part in parts)


def matches(expected, actual):
    """Whether a list of lines is the expected one."""
    text = "".join("(?:.*\n)*?" if line == "..." else pattern(line) + "\n" for line in expected)
    return re.fullmatch(text, "".join(line + "\n" for line in actual)) is not None


def merged(expected, actual):
    """The actual lines, with those of the expected lines that match them in their place."""
    kept, at = [], 0
    skipping = False
    for line in actual:
        if at < len(expected) and expected[at] == "...":
            kept.append("...")
            skipping, at = True, at + 1
        found = next((j for j in range(at, len(expected)) if re.fullmatch(pattern(expected[j]), line)), None)
        if found is not None and expected[found] != "...":
            kept.append(expected[found])
            skipping, at = False, found + 1
        elif not skipping:
            kept.append(line)
    return kept


def read(lines):
    """Parts of a transcript: (comment lines, lines of the command, lines of its output)."""
    parts, comment = [], []
    for line in lines:
        if line.startswith("  $ "):
            parts.append((comment, [line], []))
            comment = []
        elif line.startswith("  > ") and not parts[-1][2]:
            parts[-1][1].append(line)
        elif line.startswith("  "):
            parts[-1][2].extend(comment + [line[2:]])  # comment: blank lines of the output
            comment = []
        else:
            comment.append(line)
    return parts, comment


def run(command, folder, environment):
    """Output of a command, with its exit status in the last line if that is not the usual one."""
    done = subprocess.run(
        ["bash", "-c", command], cwd=folder, env=environment, timeout=300, stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
    )  # fmt: skip
    text = done.stdout.decode(errors="replace").replace(folder, "$PWD")
    lines = [line.rstrip() for line in text.splitlines()]
    while lines and not lines[-1]:
        lines.pop()
    usual = 2 if any(line.startswith("tarn: ") for line in lines) else 0
    return lines + ([f"[{done.returncode}]"] if done.returncode != usual else []), done.returncode


def main():
    tarn, path = map(os.path.abspath, sys.argv[1:])
    with open(path, encoding="utf-8") as file:
        parts, rest = read(file.read().splitlines())
    environment = dict(
        os.environ, PATH=os.path.dirname(tarn) + ":" + os.environ["PATH"], CUDA_VISIBLE_DEVICES="-1",
        OMP_NUM_THREADS="1", SHELLOPTS="pipefail", TERM="dumb",
    )  # fmt: skip
    failures, skipped, text = 0, False, []
    with tempfile.TemporaryDirectory(prefix="tarn-cli-") as folder:
        os.symlink(os.path.join(ROOT, "inputs"), os.path.join(folder, "inputs"))
        os.symlink(os.path.join(ROOT, "tests", "data"), os.path.join(folder, "data"))
        os.symlink(os.environ.get("TARN_POTENTIALS", "none"), os.path.join(folder, "potentials"))
        for comment, words, expected in parts:
            command = "\n".join(word[4:] for word in words)
            actual, status = run(command, folder, environment) if not skipped else ([], 80)
            skipped = status == 80
            if not skipped and not matches(expected, actual):
                failures += 1
                print(f"$ {command}")
                changed = merged(expected, actual)
                print("\n".join(difflib.unified_diff(expected, changed, "expected", "actual", lineterm="")))
                expected = changed
            text += comment + words + [f"  {line}".rstrip() for line in expected]
    if os.environ.get("TARN_UPDATE") and failures:
        with open(path, "w", encoding="utf-8") as file:
            file.write("\n".join(text + rest) + "\n")
        print(f"{failures} outputs of {path} were rewritten; review them")
    elif failures:
        sys.exit(f"{failures} of {len(parts)} commands differ; TARN_UPDATE=1 rewrites {path}")


main()
