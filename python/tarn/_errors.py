"""Exceptions. Their text is that of the program: what is wrong, where, and what to do."""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Problem:
    """One problem of a deck, a structure file or an argument.

    Lines and columns count from 1; 0 stands for the whole file.
    """

    file: str
    line: int
    column: int
    key: str  #: "section.key" or "section" of a deck; empty if unknown
    message: str
    advice: str  #: the part of the message that says what to do; may be empty


class TarnError(Exception):
    """Base class of all errors of tarn.

    Attributes
    ----------
    problems : tuple of Problem
        All problems that were found; empty if the error has no place in a file.
    """

    def __init__(self, message: str, problems: Iterable[tuple[str, int, int, str, str, str]] = ()):
        super().__init__(message)
        self.problems = tuple(Problem(*problem) for problem in problems)

    def __reduce__(self) -> tuple[Any, ...]:
        fields = [tuple(vars(problem).values()) for problem in self.problems]
        return type(self), (str(self), fields)


class InputError(TarnError, ValueError):
    """An invalid argument, structure file or folder."""


class DeckError(InputError):
    """An invalid deck, with all its problems."""


class TarnWarning(UserWarning):
    """A result that asks for an action, such as a longer run. Its text is that of the program."""


class NumericalError(TarnError, ArithmeticError):
    """A simulation blew up, or an iteration did not converge."""


class FileError(TarnError, OSError):
    """A file cannot be read or written."""


class MissingFileError(FileError, FileNotFoundError):
    """A file that does not exist."""


#: Options of the program that are arguments of functions.
_ARGUMENTS = {"--resume": "resume=True", "--overwrite": "overwrite=True"} | {
    f"--{name.replace('_', '-')}": f"{name}=..."
    for name in ("out", "schemes", "steps", "beads", "free_ring", "frequencies", "reference")
    + ("skip", "replicas", "frame", "replica", "model", "device", "threads")
}


def name_arguments(error: BaseException | None) -> None:
    """Adds to a message that names options of the program the arguments that they are here."""
    if isinstance(error, InputError):
        options = dict.fromkeys(re.findall(r"(?<![\w-])--[a-z]+(?:-[a-z]+)*", str(error)))
        names = [_ARGUMENTS[option] for option in options if option in _ARGUMENTS]
        if names and "(In Python: " not in str(error):
            error.args = (f"{error} (In Python: {', '.join(names)})",)


@contextmanager
def reading(*paths: str) -> Iterator[None]:
    """Errors of reading files of which one does not exist become MissingFileError."""
    try:
        yield
    except InputError as error:
        name_arguments(error)
        raise
    except FileError as error:
        if all(map(os.path.lexists, paths)):
            raise
        raise MissingFileError(str(error)) from None


class DeviceError(TarnError, RuntimeError):
    """A requested device cannot be used."""
